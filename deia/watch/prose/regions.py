"""The regions of a turn's text: prose, code, quotations and tables. To mention an act is not to announce it.

`cut` returns the words of the prose with their positions, breaks that no phrase may cross, and the spans of code and of
quotations. It takes one pass over the lines and knows only Markdown's own marks.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import spans

if TYPE_CHECKING:
    from collections.abc import Iterator

BREAK = "\n"  # a token that no phrase crosses
FENCES = ("```", "~~~")
CLOSING = {"`": "`", '"': '"', "\u201c": "\u201d", "\u00ab": "\u00bb", "'": "'", "\u2018": "\u2019"}
SINGLE_MARKS = "'\u2018"
ESCAPED_MARK = '\\"'
FEWEST_WORDS = 2  # inside marks that make it code or a quotation
MOST_APOSTROPHES = 20  # inside one quotation in single marks
LONGEST_QUOTE = 600  # characters; a mark that has not closed by then opened nothing
UNDECIDED, NO_MARK = -2, -1  # instead of where a mark closes
FULL_STOPS = "\n\u3002\uff01\uff1f"  # end of a line, and the East Asian marks, which need no space after them
SPACED_STOPS = ".!?;"
LONGEST_SENTENCE = 400  # characters before the span, and after it
UNSPOKEN = (">", "|", "\u2502", "\u2503", "\u2551")  # beginnings of quoted lines and of rows of tables
BULLETS = ("- ", "* ", "+ ", "• ", "#")
SHELL_FENCES = frozenset(
    ("", "bash", "sh", "shell", "console", "zsh", "shell-session", "terminal", "powershell", "ps1", "cmd", "bat")
)  # fmt: skip


class Code(Record):
    """A span of code in prose: a fenced block, or code inside a line."""

    start: int
    end: int
    language: str = ""
    block: bool = False


class Prose(Record):
    """A turn's text with its words outside code and quotations, and the spans of both."""

    text: str
    masked: str  # the same length, with code and quotations blanked
    tokens: tuple[tuple[str, int, int], ...]  # (word, start, end); BREAK tokens between blocks
    codes: tuple[Code, ...]
    quotes: tuple[tuple[int, int], ...]


def cut(text: str) -> Prose:
    """Return the regions of a text."""
    kept: list[str] = []
    breaks: list[int] = []
    codes: list[Code] = []
    quotes: list[tuple[int, int]] = []
    fence, language, opened = "", "", 0
    at = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        mark = stripped[:3]
        if fence:
            if mark == fence and not stripped.strip(fence[0]):
                codes.append(Code(start=opened, end=at, language=language, block=True))
                fence = ""
            kept.append(" " * len(line))
        elif mark in FENCES:
            fence, language, opened = mark, stripped.strip(mark[0]).strip().lower(), at + len(line)
            kept.append(" " * len(line))
            breaks.append(at)
        elif stripped.startswith(UNSPOKEN):
            quotes.append((at, at + len(line)))
            kept.append(" " * len(line))
            breaks.append(at)
        else:
            if not stripped or stripped.startswith(BULLETS) or _is_numbered(stripped):
                breaks.append(at)
            kept.append(_inline(line, at, codes, quotes))
        at += len(line)
    if fence:
        codes.append(Code(start=opened, end=at, language=language, block=True))
    masked = "".join(kept)
    tokens = tuple(_with_breaks(spans(masked), breaks))
    return Prose(text=text, masked=masked, tokens=tokens, codes=tuple(codes), quotes=tuple(quotes))


def unwrapped(prompt: str) -> str:
    """Return a prompt without one pair of quotation marks around all of it.

    One host's command line puts them there, and people paste prompts with them; what is inside is said, not quoted.
    """
    bare = prompt.strip()
    closing = CLOSING.get(bare[:1], "`")
    if closing == "`" or len(bare) < 2 or bare[-1] != closing:
        return prompt
    inner = bare[1:-1]
    if closing == "'":  # an apostrophe closes nothing
        closed = any(char == "'" and not inner[at + 1 : at + 2].isalnum() for at, char in enumerate(inner))
        return prompt if closed else inner
    return prompt if closing in inner.replace(ESCAPED_MARK, "") else inner.replace(ESCAPED_MARK, '"')


def _is_numbered(line: str) -> bool:
    """Return whether a line is an item of a numbered list, `1.` or `1)`."""
    rest = line.lstrip("0123456789")
    return len(rest) < len(line) and rest.startswith((".", ")"))


def _with_breaks(tokens: list[tuple[str, int, int]], breaks: list[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the tokens with a BREAK token at each of the breaks."""
    waiting = iter(sorted(breaks))
    following = next(waiting, None)
    for token in tokens:
        while following is not None and following <= token[1]:
            yield BREAK, following, following
            following = next(waiting, None)
        yield token


def _inline(line: str, base: int, codes: list[Code], quotes: list[tuple[int, int]]) -> str:
    """Return a line with code and quotations of several words blanked; a single word in marks stays."""
    if not any(mark in line for mark in CLOSING):
        return line
    kept: list[str] = []
    at = 0
    while at < len(line):
        end = closing(line, at) if line[at] in CLOSING else NO_MARK
        if end < 0:
            kept.append(line[at])
            at += 1
            continue
        inner = line[at + 1 : end].strip("`")
        if len(inner.split()) < FEWEST_WORDS:
            kept.append(line[at : end + 1])
        else:
            kept.append(" " * (end + 1 - at))
            if line[at] == "`":
                codes.append(Code(start=base + at, end=base + end + 1))
            else:
                quotes.append((base + at, base + end + 1))
        at = end + 1
    return "".join(kept)


def closing(line: str, at: int) -> int:
    """Return where a mark at `at` closes; NO_MARK if it opens nothing, UNDECIDED if it may close in text to come."""
    char, most = line[at], at + LONGEST_QUOTE
    if char == "`":
        ticks = next((count for count in (3, 2) if line.startswith("`" * count, at)), 1)
        end = line.find("`" * ticks, at + ticks, most)
        return end + ticks - 1 if end >= 0 else UNDECIDED
    if at and (line[at - 1].isalnum() or (char == '"' and line[at - 1] in "=\\")):
        return NO_MARK
    end = line.find(CLOSING[char], at + 1, most)
    for _ in range(MOST_APOSTROPHES):
        if end < 0:
            return UNDECIDED
        if char not in SINGLE_MARKS or not line[end + 1 : end + 2].isalnum():
            return end
        end = line.find(CLOSING[char], end + 1, most)
    return NO_MARK


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentence around a span: to a full stop, a question or exclamation mark or a line's end."""
    least, most = max(start - LONGEST_SENTENCE, 0), min(end + LONGEST_SENTENCE, len(text))
    first = max(least, *[_last(text, mark, least, start) + 1 for mark in FULL_STOPS])
    first = max(first, *[_last(text, mark, first, start, spaced=True) + 1 for mark in SPACED_STOPS])
    last = min(most, *[_first(text, mark, end, most) for mark in FULL_STOPS])
    last = min(last, *[_first(text, mark, end, last, spaced=True) for mark in SPACED_STOPS])
    return first, min(last + 1, len(text))


def _last(text: str, mark: str, least: int, end: int, *, spaced: bool = False) -> int:
    """Return where a mark last occurs in a part of a text, or -1.

    `spaced` requires white space or the end of the text after the mark.
    """
    at = text.rfind(mark, least, end)
    while spaced and at >= 0 and not _is_spaced(text, at):
        at = text.rfind(mark, least, at)
    return at


def _first(text: str, mark: str, start: int, most: int, *, spaced: bool = False) -> int:
    """Return where a mark first occurs in a part of a text, or the part's end; `spaced` as in `_last`."""
    at = text.find(mark, start, most)
    while spaced and at >= 0 and not _is_spaced(text, at):
        at = text.find(mark, at + 1, most)
    return at if at >= 0 else most


def _is_spaced(text: str, at: int) -> bool:
    return at + 1 >= len(text) or text[at + 1].isspace()
