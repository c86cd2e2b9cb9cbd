"""The syntax of a query: "exact phrases", -words that must be absent, and field:value filters.

Text that only looks like syntax is read as words: command options (`--force`, `-rf`), negative numbers, unpaired
quotation marks, a colon after a word that is not a field, and any pasted text of several lines. Nothing raises an error
here; whether a value exists is checked later.
"""

from __future__ import annotations

from deia.match.keyword import DATES, FILTERS
from deia.match.tokeniser import STOP_WORDS
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIELDS = (*FILTERS, "type", "title", "id", "path", *DATES)
LONGEST = 1_000  # characters; longer queries were pasted, not typed
OPENING = {'"': '"', "“": "”", "„": "“"}
MARKS = (*OPENING, ":", "-", "\u2212")  # a text without any of these has no syntax
# A field's value does not begin with one of these.
NO_VALUE = ("/", "\\", ":", "=", "^", "~", "*", "(", "[", "{", *OPENING)
ENDING = " \t?!.,;:)"  # what may follow a closing quotation mark
LEAST_LETTERS = 3  # of an excluded word; `-rf` and `-p` are options
SENTENCE = 8  # this many words around a quotation make it part of a sentence, and not a demand
# Programs whose options are words or bundles of letters after a single dash.
DASHING = frozenset(
    """
    find java javac kotlin terraform terragrunt tofu openssl ffmpeg ffprobe gcc g++ cc clang ld tar ps ls cp mv rm mkdir
    chmod chown grep egrep sed awk xargs curl wget ssh scp rsync netstat ss nmap lsof mount powershell pwsh xcodebuild
    keytool convert mogrify adb mvn strace gdb ip iptables
    """.split()
)


class Field(Record):
    """One field:value filter in a query."""

    name: str
    value: str
    negated: bool = False


class Typed(Record):
    """The parts of a query."""

    words: str  # what is searched for, including the words of phrases
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_phrases: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    sentence: bool = False  # the rest contains stop words, so it is not a list of keywords

    @property
    def plain(self) -> bool:
        """Whether the query consists of words only."""
        return not (self.phrases or self.without or self.without_phrases or self.fields)


class _Piece(Record):
    text: str
    quoted: bool = False
    negated: bool = False
    name: str = ""


def read_syntax(text: str) -> Typed:
    """Parse a query."""
    bare = text.strip()
    if not any(mark in bare for mark in MARKS) or len(bare) > LONGEST or len(bare.splitlines()) != 1:
        return Typed(words=text)
    pieces = _without_options(list(_pieces(bare)))
    positive = [piece for piece in pieces if not piece.negated]
    if not any(_has_letters(piece) for piece in positive):  # only exclusions: there is nothing to exclude from
        pieces = positive = [_as_word(piece) for piece in pieces]
    outside = [word for piece in positive if not piece.quoted and not piece.name for word in piece.text.split()]
    words = [piece.text for piece in positive if not piece.name]
    read = Typed(
        words=" ".join(words),
        phrases=tuple(piece.text for piece in positive if _is_demand(piece, outside)),
        without=tuple(piece.text for piece in pieces if piece.negated and not piece.quoted and not piece.name),
        without_phrases=tuple(piece.text for piece in pieces if piece.negated and piece.quoted and not piece.name),
        fields=tuple(Field(name=piece.name, value=piece.text, negated=piece.negated) for piece in pieces if piece.name),
        sentence=len(_content(outside)) < len(outside),
    )
    return Typed(words=text) if read.plain else read


def _is_demand(piece: _Piece, outside: Sequence[str]) -> bool:
    """Return whether a quotation must occur in the document; within a sentence it names the asker's own things."""
    if not piece.quoted or piece.name or not _has_letters(piece) or len(outside) >= SENTENCE:
        return False
    content = _content(outside)
    return " " in piece.text or len(content) == len(outside) or len(content) <= 1


def _content(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.strip("?!.,;:").casefold() not in STOP_WORDS]


def _has_letters(piece: _Piece) -> bool:
    return any(character.isalnum() for character in piece.text)


def _as_word(piece: _Piece) -> _Piece:
    text = f'"{piece.text}"' if piece.quoted else piece.text
    return _Piece(text=f"{'-' * piece.negated}{piece.name}{':' if piece.name else ''}{text}")


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = at
        while end < len(text) and not text[end].isspace():
            end += 1
        special = _special(text, at, end)
        yield special[0] if special else _Piece(text=text[at:end])
        at = special[1] if special else end


def _special(text: str, at: int, end: int) -> tuple[_Piece, int] | None:
    """Return the piece that begins here and where it ends, or None for an ordinary word."""
    negated = text[at] in "-\u2212" and at + 1 < end
    start = at + negated
    name = text[start:end].partition(":")[0].casefold() if text[start].isalpha() else ""
    if name in FIELDS and start + len(name) + 1 < end:
        value = start + len(name) + 1
        quoted = _quoted(text, value)
        if quoted:
            return _Piece(text=quoted[0], negated=negated, name=name), quoted[1]
        filter_value = text[value:end].rstrip(",;?!")
        return (_Piece(text=filter_value, negated=negated, name=name), end) if _is_value(name, filter_value) else None
    quoted = _quoted(text, start)
    if quoted:
        return _Piece(text=quoted[0], quoted=True, negated=negated), quoted[1]
    if negated and _can_be_left_out(text[start:end]):
        return _Piece(text=text[start:end].rstrip(",;?!."), negated=True), end
    return None


def _is_value(name: str, value: str) -> bool:
    """Return whether a text is a filter's value, and not an address, a place in a file or code after a colon."""
    if not value or value[0] in NO_VALUE or ":" in value:
        return False
    return any(character.isalnum() for character in value) and (name in DATES or value[0] not in "<>")


def _can_be_left_out(word: str) -> bool:
    inside = word.rstrip(",;?!.")
    letters = sum(character.isalpha() for character in inside)
    return word[0].isalpha() and letters >= LEAST_LETTERS and not any(mark in inside for mark in "=:,;()[]{}$*\"'`\\")


def _quoted(text: str, at: int) -> tuple[str, int] | None:
    """Return the quotation that begins here and where it ends, or None; it must be closed at the end of a word."""
    closing = OPENING.get(text[at]) if at < len(text) else None
    if closing is None:
        return None
    end = text.find(closing, at + 1)
    while end != -1 and end + 1 < len(text) and text[end + 1] not in ENDING:
        end = text.find(closing, end + 1)
    inside = " ".join(text[at + 1 : end].split()) if end != -1 else ""
    if not inside or '"' in inside:
        return None
    rest = end + 1
    while rest < len(text) and not text[rest].isspace():  # skip punctuation after the closing mark
        rest += 1
    return inside, rest


def _without_options(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return the pieces with a program's options turned back into plain words."""
    kept: list[_Piece] = []
    begins = bool(pieces) and _is_program(pieces[0], pieces[1:2])
    for at, piece in enumerate(pieces):
        program = begins or (at > 0 and (_is_program(pieces[at - 1], [piece]) or pieces[at - 1].text.startswith("-")))
        option = program and piece.negated and not piece.quoted and not piece.name
        kept.append(_as_word(piece) if option else piece)
    return kept


def _is_program(piece: _Piece, following: Sequence[_Piece]) -> bool:
    """Return whether a word runs a program here: `find . -name` does, "find the guide -dns" does not."""
    word = piece.text.casefold()
    english = word == "find" and bool(following) and not following[0].negated and following[0].text[:1].isalpha()
    return word in DASHING and not english
