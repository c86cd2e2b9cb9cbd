"""Mails: one message, or those of a mailbox, each under its subject, with who wrote it and when."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.errors import MessageError

from deia.ingest.readers.html_page import read_html
from deia.ingest.readers.markdown_lines import MarkdownLines, spaced
from deia.ingest.reading import RECORDS, Reading, ReadingError
from deia.ingest.text_encoding import encoding_named
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from email.message import EmailMessage

    from deia.fast_json import Json

START = re.compile(rb"^From [^\n]*\n", re.MULTILINE)  # of a message in a mailbox
SHOWN = ("From", "To", "Cc", "Date")
MOST_PARTS = 200
MOST_NAMED = 5  # attachments; of more, their number is told
LONGEST_NAME = 100
LONGEST_HEADER = 500
# What the parser of the standard library raises about headers that it does not expect.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError, MessageError)


def read_mails(path: str, content: bytes) -> Reading:
    """Return the messages of a file; attachments are named, not read."""
    is_box = START.match(content) is not None
    messages = START.split(content)[1:] if is_box else [content]
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


def _write(message: EmailMessage, lines: MarkdownLines, unread: list[str]) -> list[str]:
    """Write a message, add its attachments to those that are not read, and return what else there is to say."""
    lines.page()
    lines.heading(1, _header(message, "Subject") or "(no subject)")
    lines.paragraph("\n".join(f"{name}: {value}" for name in SHOWN if (value := _header(message, name))))
    bodies: dict[str, str] = {}
    notes: list[str] = []
    for number, part in enumerate(message.walk()):
        kind = part.get_content_type()
        name = _attached(part)
        if name or number > MOST_PARTS:
            unread.append(name or str(number))
        elif kind in {"text/plain", "text/html"}:
            bodies.setdefault(kind, _decoded(part))
    if "text/plain" not in bodies and "text/html" in bodies:
        try:
            lines.markdown(read_html("", bodies["text/html"].encode("utf-8", "replace")).text)
        except ReadingError as error:
            notes.append(f"The message is HTML: {error}")
    for block in re.split(r"\n\s*\n", bodies.get("text/plain", "")):
        lines.paragraph(block.strip("\n"))
    return notes


def _header(message: EmailMessage, name: str) -> str:
    """Return a header's text; what is malformed in it is left out."""
    try:
        return spaced(str(message[name] or ""))[:LONGEST_HEADER]
    except MALFORMED:
        return ""


def _attached(part: EmailMessage) -> str:
    return (
        spaced(part.get_filename() or "(unnamed)")[:LONGEST_NAME]
        if part.get_content_disposition() == "attachment"
        else ""
    )


def _decoded(part: EmailMessage) -> str:
    data = part.get_payload(decode=True)
    text = data if isinstance(data, bytes) else b""
    encoding = encoding_named(part.get_content_charset() or "") or "utf-8"
    return text.decode(encoding, "replace").replace("\r\n", "\n")
