"""What a question says by its form: "exact phrases", -words that must not be there, and field:value.

What only looks like that is words: options of commands (`--force`, `-rf`), negative numbers, quotation marks without a
partner, a colon after a word that is no field, and everything in pasted text of several lines. It refuses nothing;
whether a value exists is found out later.
"""

from __future__ import annotations

from deia.match.keyword import DATES, FILTERS
from deia.match.tokeniser import STOP_WORDS
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIELDS = (*FILTERS, "type", "title", "id", "path", *DATES)
LONGEST = 1_000  # characters of a question that somebody typed and did not paste
OPENING = {'"': '"', "“": "”", "„": "“"}
MARKS = (*OPENING, ":", "-", "\u2212")  # without one of these a text has no syntax
NO_VALUE = ("/", "\\", ":", "=", "^", "~", "*", "(", "[", "{", *OPENING)  # at the beginning of what follows a colon
ENDING = " \t?!.,;:)"  # after a closing quotation mark
LEAST_LETTERS = 3  # after a minus; `-rf` and `-p` are options
SENTENCE = 8  # words beside a quotation that make it part of a sentence, and no demand
# Programs whose options have one dash and are words, or bundles of letters.
DASHING = frozenset(
    """
    find java javac kotlin terraform terragrunt tofu openssl ffmpeg ffprobe gcc g++ cc clang ld tar ps ls cp mv rm mkdir
    chmod chown grep egrep sed awk xargs curl wget ssh scp rsync netstat ss nmap lsof mount powershell pwsh xcodebuild
    keytool convert mogrify adb mvn strace gdb ip iptables
    """.split()
)


class Field(Record):
    """One field:value of a question."""

    name: str
    value: str
    negated: bool = False


class Typed(Record):
    """A question in its parts."""

    words: str  # what is looked for, the words of phrases included
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_phrases: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    sentence: bool = False  # the rest of it is grammar, not keywords

    @property
    def plain(self) -> bool:
        """Whether there was nothing but words."""
        return not (self.phrases or self.without or self.without_phrases or self.fields)


class _Piece(Record):
    text: str
    quoted: bool = False
    negated: bool = False
    name: str = ""


def read_syntax(text: str) -> Typed:
    """Take a question apart."""
    bare = text.strip()
    if not any(mark in bare for mark in MARKS) or len(bare) > LONGEST or len(bare.splitlines()) != 1:
        return Typed(words=text)
    pieces = _without_options(list(_pieces(bare)))
    positive = [piece for piece in pieces if not piece.negated]
    if not any(_says_something(piece) for piece in positive):  # nothing is asked for that could be without something
        pieces = positive = [_as_word(piece) for piece in pieces]
    outside = [word for piece in positive if not piece.quoted and not piece.name for word in piece.text.split()]
    words = [piece.text for piece in positive if not piece.name]
    read = Typed(
        words=" ".join(words),
        phrases=tuple(piece.text for piece in positive if _demands(piece, outside)),
        without=tuple(piece.text for piece in pieces if piece.negated and not piece.quoted and not piece.name),
        without_phrases=tuple(piece.text for piece in pieces if piece.negated and piece.quoted and not piece.name),
        fields=tuple(Field(name=each.name, value=each.text, negated=each.negated) for each in pieces if each.name),
        sentence=len(_content(outside)) < len(outside),
    )
    return Typed(words=text) if read.plain else read


def _demands(piece: _Piece, outside: Sequence[str]) -> bool:
    """Tell whether a quotation must stand in the document: inside of a sentence it names what the asker has.

    Copy "oldfile" to "newfile" demands no document about an oldfile. (Measured on requests in words: when each such
    word had to stand in the document, one in twelve lost its answer.)
    """
    if not piece.quoted or piece.name or not _says_something(piece) or len(outside) >= SENTENCE:
        return False
    content = _content(outside)
    return " " in piece.text or len(content) == len(outside) or len(content) <= 1


def _content(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.strip("?!.,;:").casefold() not in STOP_WORDS]


def _says_something(piece: _Piece) -> bool:
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
    """Give what begins here and where it ends, if it is more than a word."""
    negated = text[at] in "-\u2212" and at + 1 < end
    start = at + negated
    name = text[start:end].partition(":")[0].casefold() if text[start].isalpha() else ""
    if name in FIELDS and start + len(name) + 1 < end:
        value = start + len(name) + 1
        quoted = _quoted(text, value)
        if quoted:
            return _Piece(text=quoted[0], negated=negated, name=name), quoted[1]
        given = text[value:end].rstrip(",;?!")
        return (_Piece(text=given, negated=negated, name=name), end) if _is_value(name, given) else None
    quoted = _quoted(text, start)
    if quoted:
        return _Piece(text=quoted[0], quoted=True, negated=negated), quoted[1]
    if negated and _can_be_left_out(text[start:end]):
        return _Piece(text=text[start:end].rstrip(",;?!."), negated=True), end
    return None


def _is_value(name: str, value: str) -> bool:
    """Tell a value from what only follows a colon: addresses, places in files, code."""
    if not value or value[0] in NO_VALUE or ":" in value:
        return False
    return any(character.isalnum() for character in value) and (name in DATES or value[0] not in "<>")


def _can_be_left_out(word: str) -> bool:
    inside = word.rstrip(",;?!.")
    letters = sum(character.isalpha() for character in inside)
    return word[0].isalpha() and letters >= LEAST_LETTERS and not any(mark in inside for mark in "=:,;()[]{}$*\"'`\\")


def _quoted(text: str, at: int) -> tuple[str, int] | None:
    """Give a quotation that begins here and is closed at the end of a word, and where it ends."""
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
    while rest < len(text) and not text[rest].isspace():  # a question mark after it belongs to nobody
        rest += 1
    return inside, rest


def _without_options(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Give the pieces with what a program makes an option, at the beginning or just before it, as the word it is."""
    found: list[_Piece] = []
    begins = bool(pieces) and _is_program(pieces[0], pieces[1:2])
    for at, piece in enumerate(pieces):
        program = begins or (at > 0 and (_is_program(pieces[at - 1], [piece]) or pieces[at - 1].text.startswith("-")))
        option = program and piece.negated and not piece.quoted and not piece.name
        found.append(_as_word(piece) if option else piece)
    return found


def _is_program(piece: _Piece, following: Sequence[_Piece]) -> bool:
    """Tell whether a word runs a program here: `find . -name` does, "find the guide -dns" does not."""
    word = piece.text.casefold()
    english = word == "find" and bool(following) and not following[0].negated and following[0].text[:1].isalpha()
    return word in DASHING and not english
