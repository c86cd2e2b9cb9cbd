"""The one tokeniser, for what is indexed and for what is asked.

Words are folded; names are split into their parts and kept whole: `KubePodCrashLooping` gives kubepodcrashlooping,
kube, pod, crash, looping; snake_case, dotted.names, kebab-case and paths are treated alike, so that the three
spellings of one name meet in one term. It refuses to know a language: stemming is the index's business, and the list
of stop words is for questions only. Every text is acceptable and costs time in proportion to its length.
"""

from __future__ import annotations

import unicodedata
from itertools import chain

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_TERM = 64  # longer words are hashes, base64 and the like, which nobody types whole
JOINERS = "_-./\\:"
CACHED_WORDS = 100_000
CACHED_CHARACTERS = 5_000

# Words that carry the grammar of a question and not its subject. Those that name programs (find, make, go) stay.
STOP_WORDS = frozenset(
    """
    a about all also am an and any are arent as at be because been being but by can cannot cant could couldnt did
    didnt do does doesnt doing dont for from had has have having he her here hers him his how i id if ill im in into
    is isnt it its ive just lets like may me might must my myself need needs no not of off on or our ours ourselves
    please shall she should so some such than that thats the their theirs them then there these they this those to
    too us very want wants was wasnt way we were what whats when where whether which while who whom whose why will
    with within wont would you your yours yourself
    """.split()
)


def words(text: str) -> list[tuple[str, ...]]:
    """Give the words of a text in order, each as its terms: the whole first, then its parts where it is a name."""
    return [word for word in map(_WORDS.__getitem__, _tokens(text)) if word]


def terms(text: str) -> list[str]:
    """Give every term of a text, in order and with repeats, as the index wants them."""
    return [*chain.from_iterable(map(_WORDS.__getitem__, _tokens(text)))]


def _tokens(text: str) -> list[str]:
    """Cut a text; without the apostrophes a character becomes one, which is what `translate` is fast at."""
    return text.replace("'", "").translate(_CHARACTERS).split()


def question(text: str) -> list[tuple[str, ...]]:
    """Give the distinct words of a question without its stop words."""
    return [word for word in dict.fromkeys(words(text)) if len(word) > 1 or word[0] not in STOP_WORDS]


def spelled_out(text: str) -> str:
    """Give a text with its names in their parts, as a language model reads them: `KubePod` is Kube Pod."""
    return " ".join(_spelled_out(token) for token in text.split())


def _spelled_out(token: str) -> str:
    if token[1:] == token[1:].lower() and "_" not in token:
        return token
    return " ".join(part for piece in token.split("_") for part in _humps(piece))


def distinct(found: Iterable[tuple[str, ...]]) -> list[str]:
    """Give the terms of some words once each, in order."""
    return list(dict.fromkeys(term for word in found for term in word))


def fold(text: str) -> str:
    """Give a name in the one spelling by which filters and identifiers are compared."""
    return " ".join("".join(text.translate(_ACCENTS)).casefold().split())


# --- characters ------------------------------------------------------------------------------------------------------


def _without_accents(character: str) -> str:
    """Decompose one character alone, which keeps long runs of accents linear (normalising a whole text is not)."""
    if "\ud800" <= character <= "\udfff":  # half a character, which no index can store
        return ""
    if "가" <= character <= "힣":  # Hangul syllables would fall apart into their letters
        return character
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _unspaced(character: str) -> bool:
    """Tell whether a character belongs to a script that writes no spaces: kana, Han, Thai, Lao, Khmer."""
    code = ord(character)
    return 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0x0E00 <= code <= 0x0EFF or 0x1780 <= code <= 0x17FF


class _Table(dict[int, str]):
    """What `str.translate` puts in a character's place, worked out once for each character met."""

    def __missing__(self, code: int) -> str:
        made = self.make(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = made
        return made

    def make(self, character: str) -> str:
        """Give what stands for a character."""
        return _without_accents(character)


class _WordTable(_Table):
    def make(self, character: str) -> str:
        """Keep letters, digits and joiners; drop apostrophes and accents; make a space of all else."""
        if character in "'\u2019\u02bc\u00ad\u200b\u200c\u200d\ufeff":
            return ""
        if character in JOINERS:
            return character
        plain = _without_accents(character)
        if not plain:
            return ""
        kept = "".join(part if part.isalnum() else " " for part in plain)
        return f" {character} " if _unspaced(character) and kept.strip() else kept


_ACCENTS = _Table()
_CHARACTERS = _WordTable()

# --- words -----------------------------------------------------------------------------------------------------------


class _Words(dict[str, tuple[str, ...]]):
    """The terms of single tokens, remembered: most words of a text have been met before."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        """Give the terms of a token that was not met before."""
        made = _split(token)
        if len(self) >= CACHED_WORDS:
            self.clear()
        self[token] = made
        return made


def _split(token: str) -> tuple[str, ...]:
    if token.isascii() and token.isalnum() and token[1:] == token[1:].lower():  # an ordinary word
        return (token.lower()[:LONGEST_TERM],)
    pieces = token.translate(_TO_SPACES).split()
    parts = [part.casefold()[:LONGEST_TERM] for piece in pieces for part in _humps(piece)]
    if len(parts) < 2:
        return tuple(parts)
    whole = ("." if all(part.isdigit() for part in parts) else "").join(parts)  # 1.23 is not 12.3
    return tuple(dict.fromkeys([whole, *parts] if len(whole) <= LONGEST_TERM else parts))


_WORDS = _Words()
_TO_SPACES = {ord(joiner): " " for joiner in JOINERS}


def _humps(piece: str) -> list[str]:
    """Split CamelCase: HTTPServerError is HTTP, Server, Error."""
    if piece[1:] == piece[1:].lower() or piece.isupper():
        return [piece]
    cuts = [0, *(at for at in range(1, len(piece)) if _begins_hump(piece, at))]
    return [piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True)]


def _begins_hump(piece: str, at: int) -> bool:
    return piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower())
