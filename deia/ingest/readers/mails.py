"""Mails: one message, or those of a mailbox, each under its subject, with who wrote it and when."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.errors import MessageError
from typing import cast

from deia.ingest.detect import SEPARATOR
from deia.ingest.readers.html_page import read_html
from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.reading import RECORDS, Reading, ReadingError
from deia.ingest.text_encoding import encoding_named
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from email.message import EmailMessage

    from deia.fast_json import Json

# Between the messages of a mailbox whose separators name no date that is known: what headers follow.
UNDATED = re.compile(rb"^From [^\n]*\n(?=[!-9;-~]{1,80}:[ \t])", re.MULTILINE)
SHOWN = ("From", "To", "Cc", "Date")
TEXTS = ("text/plain", "text/html")
FORWARDED = ("message/rfc822", "message/global")
MOST_PARTS = 200
DEEPEST = 20  # parts in parts: below that, all are read as they come
MOST_NAMED = 5  # attachments; of more, their number is told
LONGEST_NAME = 100
LONGEST_HEADER = 500
# What the parser of the standard library raises about headers that it does not expect.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MessageError)


def read_mails(path: str, content: bytes) -> Reading:
    """Return the messages of a file; attachments are named, not read."""
    messages = _messages(content)
    lines, notes, unread = MarkdownLines(), set[str](), list[str]()
    for raw in messages:
        try:
            notes.update(_write(message_from_bytes(raw, policy=policy.default), lines, unread))
        except MALFORMED:
            notes.add("A message is malformed, and only a part of it was read.")
    if len(unread) > MOST_NAMED:
        notes.add(f"{len(unread):,} attachments were not read.")
    else:
        notes.update(f"The attachment {name} was not read." for name in unread)
    title = lines.title if len(messages) == 1 else path.rsplit("/", 1)[-1]
    metadata: dict[str, Json] = {"messages": len(messages), RECORDS: [*lines.pages]}
    return Reading(type="email", title=title, text=lines.text(), metadata=metadata, notes=tuple(sorted(notes)))


def _messages(content: bytes) -> list[bytes]:
    """Return the messages of a mailbox, or the one that the file is."""
    separator = next((each for each in (SEPARATOR, UNDATED) if each.match(content)), None)
    return separator.split(content)[1:] if separator else [content]


def _write(message: EmailMessage, lines: MarkdownLines, unread: list[str]) -> list[str]:
    """Write a message, add its attachments to those that are not read, and return what else there is to say."""
    lines.page()
    notes: list[str] = []
    for number, (part, level) in enumerate(_parts(message, 1)):
        kind = part.get_content_type()
        name = "" if level else _attached(part)
        if name or number > MOST_PARTS:
            unread.append(name or str(number))
        elif level:
            _write_head(part, level, lines)
        elif kind == "text/plain":
            for block in re.split(r"\n\s*\n", _decoded(part)):
                lines.paragraph(block.strip("\n"))
        elif kind == "text/html":
            try:
                lines.markdown(read_html("", _decoded(part).encode("utf-8", "replace")).text)
            except ReadingError as error:
                notes.append(f"The message is HTML: {error}")
    return notes


def _write_head(message: EmailMessage, level: int, lines: MarkdownLines) -> None:
    lines.heading(level, _header(message, "Subject") or "(no subject)")
    lines.paragraph("\n".join(f"{name}: {value}" for name in SHOWN if (value := _header(message, name))))


def _parts(message: EmailMessage, level: int) -> Iterator[tuple[EmailMessage, int]]:
    """Yield a message with the level of its heading, then its parts with 0; so are messages that it forwards."""
    yield message, level
    for part in _leaves(message, 0):
        if not _is_forwarded(part):
            yield part, 0
        elif level < DEEPEST:
            yield from _parts(cast("EmailMessage", part.get_payload(0)), level + 1)
        else:
            yield from ((each, 0) for each in _all(part))


def _leaves(part: EmailMessage, depth: int) -> Iterator[EmailMessage]:
    """Yield what is read or named of a part, in its order: the best of alternatives, of the others what is attached."""
    if not part.is_multipart() or _is_forwarded(part) or (depth and _attached(part)):
        yield part
    elif depth > DEEPEST:
        yield from _all(part)
    else:
        inner = cast("list[EmailMessage]", part.get_payload())
        best = _best(inner) if part.get_content_type() == "multipart/alternative" else None
        for each in inner:
            if best is None or each is best:
                yield from _leaves(each, depth + 1)
            else:
                yield from (attached for attached in each.walk() if _attached(attached))


def _all(part: EmailMessage) -> Iterator[EmailMessage]:
    return (each for each in part.walk() if not each.is_multipart())


def _is_forwarded(part: EmailMessage) -> bool:
    return part.get_content_type() in FORWARDED and part.is_multipart() and not _attached(part)


def _best(alternatives: Sequence[EmailMessage]) -> EmailMessage | None:
    """Return the plain text among alternatives, or else the last one, which is the richest; none without words."""
    richest_first = list(reversed(alternatives))
    ordered = sorted(richest_first, key=lambda part: part.get_content_type() != "text/plain")
    return next((part for part in ordered if _has_words(part)), None)


def _has_words(part: EmailMessage) -> bool:
    texts = (each for each in part.walk() if each.get_content_type() in TEXTS and not _attached(each))
    return any(_decoded(text).strip() for text in texts)


def _header(message: EmailMessage, name: str) -> str:
    """Return a header's text; what is malformed in it is left out."""
    try:
        return spaced(str(message[name] or ""))[:LONGEST_HEADER]
    except MALFORMED:
        return ""


def _attached(part: EmailMessage) -> str:
    """Return the name of a part that is attached, or is a file that the message shows within, unless as a picture."""
    name = spaced(part.get_filename() or "")[:LONGEST_NAME]
    if part.get_content_disposition() == "attachment":
        return name or "(unnamed)"
    is_read = part.is_multipart() or part.get_content_type() in TEXTS or part.get_content_maintype() == "image"
    return "" if is_read else name


def _decoded(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    text = data if isinstance(data, bytes) else b""
    encoding = encoding_named(part.get_content_charset() or "") or "utf-8"
    return text.decode(encoding, "replace").replace("\r\n", "\n")
