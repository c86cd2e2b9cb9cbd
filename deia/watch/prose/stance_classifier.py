"""The classifier of stance: is what a sentence says being done or asked for, or denied, reported, asked, supposed?

A logistic regression over the form of the sentence (stance_form.py), trained by tools/train_stance.py on sentences
written for it, read from deia/models/stance.bin when a stance is first asked for. Knows English only: where a sentence
is hardly English it says "announced" with no opinion. Refuses a torn or foreign file.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.files import read
from deia.folders import MODELS
from deia.records import TYPE_CHECKING
from deia.watch.prose.stance_form import features, form_of, is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAGIC = "deia stance 1"
FILE = "stance.bin"
FIX = "Install deia again: its classifier of stance is damaged."
DOING = ("announced", "requested", "running")
STANCE_OF = {"described": "reported"}  # what is only named or explained
UNKNOWN = ("announced", 1.0)  # of a sentence in another language
E = 2.718281828459045
MOST_JUDGED = 64  # acts that are remembered
LONGEST = 2_000  # characters of a sentence that is remembered
LOADED: list[Model] = []
JUDGED: dict[tuple[str, tuple[int, int] | None], Mapping[str, float]] = {}


class Model:
    """The classifier as read: which words it knows, and a row of weights for each feature, a byte a class."""

    __slots__ = ("bias", "classes", "known", "rows", "scale", "weights")

    def __init__(self, data: bytes) -> None:
        """Read the file's content: five lines of text (magic, classes, words, features, scale and bias), then bytes.

        Raises:
            ArtefactError: the bytes are no whole file of this format.
        """
        parts = data.split(b"\n", 5)
        if len(parts) != 6 or parts[0] != MAGIC.encode():
            raise ArtefactError("the classifier of stance is torn or of another format", fix=FIX)
        try:
            texts = [part.decode().split("\t") for part in parts[1:5]]
            self.scale, *self.bias = (float(number) for number in texts[3])
        except ValueError:
            raise ArtefactError("the classifier of stance is torn", fix=FIX) from None
        self.classes, known, names, _ = texts
        self.known = frozenset(known)
        self.rows = dict(zip(names, range(0, len(names) * len(self.classes), len(self.classes)), strict=True))
        self.weights = memoryview(parts[5]).cast("b")
        if len(self.weights) != len(names) * len(self.classes) or len(self.bias) != len(self.classes):
            raise ArtefactError("the parts of the classifier of stance do not add up", fix=FIX)

    def probabilities(self, found: Iterable[str]) -> list[float]:
        """Give the probability of each class for a sentence's features."""
        count = len(self.classes)
        sums = [0] * count
        for name in found:
            row = self.rows.get(name)
            if row is not None:
                sums = [total + weight for total, weight in zip(sums, self.weights[row : row + count], strict=True)]
        scores = [bias + self.scale * total for bias, total in zip(self.bias, sums, strict=True)]
        most = max(scores)
        shares = [E ** (score - most) for score in scores]
        whole = sum(shares)
        return [share / whole for share in shares]


def loaded() -> Model:
    """Give the shipped classifier, read once a process.

    Raises:
        ArtefactError: the file is missing or torn.
    """
    if not LOADED:
        data = read(f"{MODELS}/{FILE}")
        if data is None:
            raise ArtefactError("the classifier of stance is missing", fix=FIX)
        LOADED.append(Model(data))
    return LOADED[0]


def shares_of(sentence: str, verb: tuple[int, int] | None = None) -> Mapping[str, float]:
    """Give the probability of each stance of an act in a sentence; nothing where the sentence is hardly English.

    `verb` says where the act's verb stands; where it is not known, the sentence is judged as a whole. Many exemplars
    ask for the same act of a turn, so that the last few are remembered.
    """
    if len(sentence) > LONGEST:
        return _shares(sentence, verb)
    found = JUDGED.get((sentence, verb))
    if found is None:
        if len(JUDGED) >= MOST_JUDGED:
            JUDGED.clear()
        found = JUDGED[sentence, verb] = _shares(sentence, verb)
    return found


def _shares(sentence: str, verb: tuple[int, int] | None) -> dict[str, float]:
    model = loaded()
    form = form_of(sentence, verb, model.known)
    if is_foreign(form, sentence):
        return {}
    shares: dict[str, float] = {}
    for name, share in zip(model.classes, model.probabilities(dict.fromkeys(features(form))), strict=True):
        stance = STANCE_OF.get(name, name)
        shares[stance] = shares.get(stance, 0.0) + share
    return shares


def judge_sentence(sentence: str, verb: tuple[int, int] | None = None) -> tuple[str, float]:
    """Give the likeliest stance of an act in a sentence, and how probable it is that the act is done or asked for.

    `verb` as in `shares_of`. A sentence in another language is announced, with a probability of 1.
    """
    shares = shares_of(sentence, verb)
    if not shares:
        return UNKNOWN
    return max(shares, key=shares.__getitem__), sum(shares[name] for name in DOING)
