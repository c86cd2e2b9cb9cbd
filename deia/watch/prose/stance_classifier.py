"""The classifier of stance: how probable it is that an act is announced, requested, denied, reported and so on.

A logistic regression over the form of the sentence, which is what is left when its topic is taken away: known words
stay, others are replaced by their shape (`<ing>`, `<ed>`, `<x>`), contractions are written out, and the words around
the act's verb become features with a position. tools/train_stance.py trains it on sentences written for it, and
it is read from deia/models/stance.bin when it is first needed. It has no opinion on a sentence that is hardly English.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.files import read
from deia.folders import MODELS
from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.text import spans

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

MAGIC = "deia stance 1"
FILE = "stance.bin"
FIX = "Install deia again."
DOING = ("announced", "requested", "running")
STANCE_OF = {"described": "reported"}  # the class of acts that are only named or explained
E = 2.718281828459045
MOST_JUDGED = 64  # results that are kept
LONGEST = 2_000  # characters of a sentence whose result is kept
LOADED: list[Model] = []
JUDGED: dict[tuple[str, tuple[int, int] | None], Mapping[str, float]] = {}
MOST_READ = 600  # characters of a sentence on either side of its act
ACT, END = "<act>", "<>"
SHAPES = frozenset(("base", "s", "ed", "ing", "noun"))
CUTS = frozenset((",", ":", "("))
REACH = 8  # words of the act's clause that are read, on either side of it
NOT = "not"

TABLES = Tables(__file__)
WRITTEN_OUT = TABLES.lists("written out")
AFTER_APOSTROPHE = TABLES.pairs("after apostrophe")
STEMS_BEFORE_NT = TABLES.pairs("stems before nt")
IRREGULAR = TABLES.words("irregular")
LIKE_PAST = TABLES.words("like past")
NAMING = ("tion", "ment", "sion", "ance", "ence", "ity", "ness")
SUBJECTS = TABLES.words("subjects")
HELPERS = TABLES.words("helpers")
CLAUSE_MARKS = {",": ",", ":": ":", ";": ":", "(": "(", ")": ",", "\u2014": ",", "\u2013": ",", "\n": ":"}
FOREIGN = TABLES.words("foreign")
SHARED = TABLES.words("shared")
ENGLISH_SHARE = 8  # in a sentence of more than FEW words, one in so many must be a known English word
FEW = 5
KINDS = TABLES.pairs("kinds")
KINDS_OF: dict[str, list[str]] = {}
for _kind, _members in KINDS.items():
    for _member in _members.split():
        KINDS_OF.setdefault(_member, []).append(_kind)


class Form(Record):
    """A sentence as known words, shapes and marks, and the index of the act's verb among them (-1 for none)."""

    words: tuple[str, ...]
    at: int
    shape: str  # of the verb
    ending: str  # the mark that ends the sentence
    bullet: str  # the kind of line: item, ticked, number or none


def form_of(sentence: str, verb: tuple[int, int] | None, known: Container[str]) -> Form:
    """Return the form of a sentence around the verb at the span `verb`; without a verb, of the sentence alone."""
    start = verb[0] if verb else 0
    first = max(start - MOST_READ, 0)
    text = sentence[first : start + MOST_READ]
    words: list[str] = []
    at, before, shape = -1, 0, ""
    for word, begin, end in spans(text):
        if verb and at < 0 and first + begin >= start:
            words += _mark(text[before:begin])
            at, shape = len(words), shape_of(word)
            words.append(ACT)
        else:
            _append_word(word, text[before:begin], words, known)
        before = end
    return Form(words=tuple(words), at=at, shape=shape, ending=_ending(text), bullet=_bullet(text))


def _append_word(word: str, gap: str, words: list[str], known: Container[str]) -> None:
    """Append a word and the mark before it: a contraction is written out, an unknown word becomes its shape."""
    if gap in {"'", "\u2019"} and words:
        _append_contraction(word, words)
        return
    words += _mark(gap)
    if gap.endswith(" --") or gap == "--":
        words.append("<option>")
        return
    words += [
        part if part in known or part in KINDS_OF else _shape_beside(part) for part in WRITTEN_OUT.get(word, (word,))
    ]


def _append_contraction(word: str, words: list[str]) -> None:
    """Append the second half of a contraction, written out; the first half is the last of `words`."""
    stem = words[-1]
    if word == "t":
        words[-1] = STEMS_BEFORE_NT.get(stem, stem[:-1] if stem[:1] != "<" else "do")
        words.append(NOT)
    elif word == "s" and stem == "let":
        words.append("us")
    else:
        words.append(AFTER_APOSTROPHE.get(word, "'" + word if word == "s" else "<x>"))


def _mark(gap: str) -> list[str]:
    """Return the clause-ending mark in the gap between two words, as a list of one or none."""
    if gap in {" ", ""}:
        return []
    mark = next((CLAUSE_MARKS[char] for char in gap if char in CLAUSE_MARKS), "")
    return [mark] if mark else [","] if " - " in gap else []


def _ending(text: str) -> str:
    """Return the mark that ends the text: "?", "!", ":" or ""."""
    last = text.rstrip()[-1:]
    return "?" if last in {"?", "\uff1f"} else last if last in {"!", ":"} else ""


def _bullet(text: str) -> str:
    """Return what kind of line begins here: a list item, a ticked item, a number, or none of these."""
    line = text.lstrip()[:8]
    if "[x]" in line.lower() or line[:1] in {"✅", "✓", "✔"}:
        return "ticked"
    if line[:1] in {"-", "*", "•", "+"}:
        return "item"
    return "number" if line[:1].isdigit() or line[:1] == "[" else ""


def shape_of(word: str) -> str:
    """Return the shape of a verb: base, s, ed, ing, or noun for a noun made of a verb."""
    if word in IRREGULAR or (
        word.endswith("ed") and len(word) > 4 and not word.endswith("eed") and word not in LIKE_PAST
    ):
        return "ed"
    if word.endswith("ing") and len(word) > 4:
        return "ing"
    if word.endswith(NAMING):
        return "noun"
    return "s" if word.endswith("s") and not word.endswith(("ss", "us", "is")) else "base"


def _shape_beside(word: str) -> str:
    """Return the shape of an unknown word beside the act."""
    if word[:1].isdigit():
        return "<number>"
    shape = shape_of(word)
    if shape in {"ed", "ing"}:
        return f"<{shape}>"
    return "<ly>" if word.endswith("ly") else "<x>"


def is_foreign(form: Form, sentence: str) -> bool:
    """Return whether a sentence is hardly English, so that its form means nothing."""
    kept = [word for word in form.words if word not in CUTS]
    foreign = len(FOREIGN.intersection(word for word, _, _ in spans(sentence[:MOST_READ])))
    english = sum(word[:1] != "<" for word in kept)
    if foreign:
        return foreign >= english - sum(word in SHARED for word in kept)
    return len(kept) > max(english * ENGLISH_SHARE, FEW) or not (english or sentence.isascii())


def features(form: Form) -> Iterator[str]:
    """Yield the names of a sentence's features; those around the act only if its position is known."""
    yield from _sentence_features(form)
    if form.at >= 0:
        yield from _neighbour_features(form)
        yield from _clause_features(form)


def _sentence_features(form: Form) -> Iterator[str]:
    """Yield the features of the whole sentence: its words, pairs, triples, opening and ending."""
    words, ending = form.words, form.ending
    plain = tuple(form.shape if word == ACT else word for word in words)
    plain = tuple(f"<{word}>" if word in SHAPES else word for word in plain)
    opening = (*plain[:3], END, END, END)
    yield from (f"e={ending}", f"b={form.bullet}", f"o1={opening[0]}", f"o12={opening[0]} {opening[1]}")
    yield from (f"o123={' '.join(opening[:3])}", f"o1e={opening[0]} {ending}", f"o12e={' '.join(opening[:2])} {ending}")
    for before, word, after in zip((END, *plain), plain, (*plain[1:], END), strict=False):
        yield from (f"w={word}", f"ww={before} {word}", f"www={before} {word} {after}")
        for kind in KINDS_OF.get(word, ()):
            yield from (f"K={kind}", f"Kw={kind} {after}")
    yield from _kinds("O", plain[:3])


def _neighbour_features(form: Form) -> Iterator[str]:
    words, at, shape = form.words, form.at, form.shape
    left = (END, END, END, *words[:at])[-3:]
    right = (*words[at + 1 : at + 4], END, END)[:2]
    yield from (f"v={shape}", f"ve={shape} {form.ending}", f"at={min(at, 7)}")
    yield from (f"1={left[2]}", f"2={left[1]}", f"1v={left[2]} {shape}", f"12={left[1]} {left[2]}")
    yield from (f"123={' '.join(left)}", f"12v={left[1]} {left[2]} {shape}")
    yield from (f"r1={right[0]}", f"r12={right[0]} {right[1]}")


def _clause_features(form: Form) -> Iterator[str]:
    """Yield the features of the act's own clause, of those before it and of what follows."""
    words, at, shape = form.words, form.at, form.shape
    cut = next((place for place in range(at - 1, -1, -1) if words[place] in CUTS), -1)
    clause = words[cut + 1 : at]
    yield f"k={clause[0] if clause else '<act>'}"
    yield f"kv={' '.join(clause[:2]) or '<act>'} {shape}"
    yield f"cut={words[cut] if cut >= 0 else ''}"
    yield f"cutv={words[cut] if cut >= 0 else ''} {len(clause) and 1} {shape}"
    yield from {f"c={word}" for word in clause[-REACH:] if word[:1] != "<"}
    yield from {f"p={word}" for word in words[: max(cut, 0)] if word[:1] != "<"}
    yield from {f"r={word}" for word in words[at + 1 : at + 1 + REACH] if word[:1] != "<"}
    yield from {f"f={word}" for word in words[at + 1 + REACH :] if word[:1] != "<"}
    subject, helper = _last(clause, SUBJECTS), _last(clause, HELPERS)
    yield from _kinds("C", clause[-REACH:])
    yield from _kinds("P", words[: max(cut, 0)])
    yield from _kinds("N", words[max(at - 3, 0) : at])
    yield from _kinds("R", words[at + 1 : at + 1 + REACH])
    yield from _kinds("F", words[at + 1 + REACH :])
    yield from _kinds("1", words[max(at - 1, 0) : at])
    yield from _kinds("O", words[: min(at, 2)])
    yield from (f"{name} {shape}" for name in _kinds("CV", clause[-REACH:]))
    yield f"s={subject} {shape}"
    yield f"sh={subject} {helper} {shape}"
    yield f"hn={helper} {'not' in clause} {shape}"


def _kinds(place: str, words: Sequence[str]) -> set[str]:
    return {f"{place}={kind}" for word in words for kind in KINDS_OF.get(word, ())}


def _last(words: Sequence[str], wanted: frozenset[str]) -> str:
    return next((word for word in reversed(words) if word in wanted), "")


class Model:
    """The classifier: the words it knows, and for each feature a row of weights, one byte a class."""

    __slots__ = ("bias", "classes", "known", "rows", "scale", "weights")

    def __init__(self, data: bytes) -> None:
        """Read the file's content: five lines of text (magic, classes, words, features, scale and bias), then bytes.

        Raises:
            ArtefactError: the content is incomplete or of another format.
        """
        parts = data.split(b"\n", 5)
        if len(parts) != 6 or parts[0] != MAGIC.encode():
            raise ArtefactError("The classifier of stance is damaged, or of another version of deia.", fix=FIX)
        try:
            texts = [part.decode().split("\t") for part in parts[1:5]]
            self.scale, *self.bias = (float(number) for number in texts[3])
        except ValueError:
            raise ArtefactError("The classifier of stance is damaged.", fix=FIX) from None
        self.classes, known, names, _ = texts
        self.known = frozenset(known)
        self.rows = dict(zip(names, range(0, len(names) * len(self.classes), len(self.classes)), strict=True))
        self.weights = memoryview(parts[5]).cast("b")
        if len(self.weights) != len(names) * len(self.classes) or len(self.bias) != len(self.classes):
            raise ArtefactError("The classifier of stance is damaged: its parts do not fit together.", fix=FIX)

    def probabilities(self, features: Iterable[str]) -> list[float]:
        """Return the probability of each class for a sentence's features."""
        count = len(self.classes)
        sums = [0] * count
        for name in features:
            row = self.rows.get(name)
            if row is not None:
                sums = [total + weight for total, weight in zip(sums, self.weights[row : row + count], strict=True)]
        scores = [bias + self.scale * total for bias, total in zip(self.bias, sums, strict=True)]
        most = max(scores)
        shares = [E ** (score - most) for score in scores]
        whole = sum(shares)
        return [share / whole for share in shares]


def loaded() -> Model:
    """Return the shipped classifier, which is read once a process.

    Raises:
        ArtefactError: the file is missing or damaged.
    """
    if not LOADED:
        data = read(f"{MODELS}/{FILE}")
        if data is None:
            raise ArtefactError("The classifier of stance is missing.", fix=FIX)
        LOADED.append(Model(data))
    return LOADED[0]


def probabilities_of(sentence: str, verb: tuple[int, int] | None = None) -> Mapping[str, float]:
    """Return the probability of each stance of an act in a sentence; empty if the sentence is hardly English.

    `verb` is the span of the act's verb; without it the sentence is judged as a whole. Many exemplars ask about the
    same act of a turn, so the last few results are kept.
    """
    if len(sentence) > LONGEST:
        return _probabilities_of(sentence, verb)
    probabilities = JUDGED.get((sentence, verb))
    if probabilities is None:
        if len(JUDGED) >= MOST_JUDGED:
            JUDGED.clear()
        probabilities = JUDGED[sentence, verb] = _probabilities_of(sentence, verb)
    return probabilities


def _probabilities_of(sentence: str, verb: tuple[int, int] | None) -> dict[str, float]:
    model = loaded()
    form = form_of(sentence, verb, model.known)
    if is_foreign(form, sentence):
        return {}
    probabilities: dict[str, float] = {}
    for name, probability in zip(model.classes, model.probabilities(dict.fromkeys(features(form))), strict=True):
        stance = STANCE_OF.get(name, name)
        probabilities[stance] = probabilities.get(stance, 0.0) + probability
    return probabilities
