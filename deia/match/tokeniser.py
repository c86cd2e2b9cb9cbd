"""The tokeniser shared by indexing and querying.

Words are folded (case and accents). A name is kept whole and also split into its parts: `KubePodCrashLooping` gives
kubepodcrashlooping, kube, pod, crash, looping. snake_case, dotted.names, kebab-case and paths are treated alike, so
that all spellings of a name share one term. Stemming is left to the index, and stop words are removed from queries
only. Any text is accepted, in time linear in its length.
"""

from __future__ import annotations

import unicodedata
from itertools import chain

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_TERM = 64  # characters; longer words are hashes, base64 and the like, which nobody types in full
LATIN_END = "\u0250"  # after the Latin letters with accents; the rarer ones are between U+1E00 and U+1EFF
JOINERS = "_-./\\:"
CACHED_WORDS = 100_000
CACHED_CHARACTERS = 5_000

# Words that carry a query's grammar and not its subject. Words that name programs (find, make, go) are not listed.
STOP_WORDS = frozenset(
    """
    a about all also am an and any are arent as at be because been being between but by can cannot cant could couldnt
    did didnt do does doesnt doing dont for from had has have having he her here hers him his how i id if ill im in into
    is isnt it its ive just lets like may me might must my myself need needs no not of off on or our ours ourselves
    please shall she should so some such than that thats the their theirs them then there these they this those to too
    us versus very vs want wants was wasnt way we were what whats when where whether which while who whom whose why will
    with within wont would you your yours yourself
    """.split()
)


def words(text: str) -> list[tuple[str, ...]]:
    """Return the words of a text in order, each as a tuple of terms: the whole first, then the parts of a name."""
    return [word for word in map(_WORDS.__getitem__, _tokens(text)) if word]


def terms(text: str) -> list[str]:
    """Return every term of a text, in order and with repeats, as the index needs them."""
    return [*chain.from_iterable(map(_WORDS.__getitem__, _tokens(text)))]


def _tokens(text: str) -> list[str]:
    """Split a text. Apostrophes go first: `translate` is fast only if each character becomes one character."""
    return text.replace("'", "").translate(_CHARACTERS).split()


def question_words(text: str) -> list[tuple[str, ...]]:
    """Return the distinct words of a query without its stop words."""
    return [word for word in dict.fromkeys(words(text)) if len(word) > 1 or word[0] not in STOP_WORDS]


def spelled_out(text: str) -> str:
    """Return a text with names split as a language model reads them: `KubePod` becomes `Kube Pod`."""
    return " ".join(_spelled_out(token) for token in text.split())


def _spelled_out(token: str) -> str:
    if token[1:] == token[1:].lower() and "_" not in token:
        return token
    return " ".join(part for piece in token.split("_") for part in _humps(piece))


def is_in_another_script(text: str) -> bool:
    """Return whether most letters of a text are of another script than Latin."""
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    return 2 * sum(not ("\u1e00" <= letter <= "\u1eff" or letter < LATIN_END) for letter in letters) > len(letters)


def distinct(word_list: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the distinct terms of some words, in order."""
    return list(dict.fromkeys(term for word in word_list for term in word))


def fold(text: str) -> str:
    """Return a name in the normalised spelling in which filters and identifiers are compared."""
    return " ".join("".join(text.translate(_ACCENTS)).casefold().split())


# --- characters ------------------------------------------------------------------------------------------------------


def _without_accents(character: str) -> str:
    """Decompose a single character; normalising a whole text is not linear for long runs of accents."""
    if "\ud800" <= character <= "\udfff":  # a lone surrogate, which no index can store
        return ""
    if "가" <= character <= "힣":  # Hangul syllables would decompose into letters
        return character
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces: kana, Han, Thai, Lao, Khmer."""
    code = ord(character)
    return 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0x0E00 <= code <= 0x0EFF or 0x1780 <= code <= 0x17FF


class _Table(dict[int, str]):
    """A table for `str.translate` that computes the replacement of each character on first use."""

    def __missing__(self, code: int) -> str:
        made = self.make(chr(code))
        if len(self) < CACHED_CHARACTERS:
            self[code] = made
        return made

    def make(self, character: str) -> str:
        """Return the replacement of a character."""
        return _without_accents(character)


class _WordTable(_Table):
    def make(self, character: str) -> str:
        """Keep letters, digits and joiners, drop apostrophes and accents, and turn everything else into spaces."""
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
    """A cache of the terms of single tokens: most words of a text have occurred before."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        """Return the terms of a token that is not cached."""
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
    """Split CamelCase: `HTTPServerError` becomes HTTP, Server, Error."""
    if piece[1:] == piece[1:].lower() or piece.isupper():
        return [piece]
    cuts = [0, *(at for at in range(1, len(piece)) if _begins_hump(piece, at))]
    return [piece[start:end] for start, end in zip(cuts, [*cuts[1:], len(piece)], strict=True)]


def _begins_hump(piece: str, at: int) -> bool:
    return piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower())
