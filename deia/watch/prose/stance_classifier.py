"""The classifier of stance: how probable it is that an act is announced, requested, denied, reported and so on.

A logistic regression over the form of the sentence (stance_form.py). tools/train_stance.py trains it on sentences
written for it, and it is read from deia/models/stance.bin when it is first needed. It knows English only, and has no
opinion on a sentence that is hardly English.
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
FIX = "Install deia again."
DOING = ("announced", "requested", "running")
STANCE_OF = {"described": "reported"}  # the class of acts that are only named or explained
E = 2.718281828459045
MOST_JUDGED = 64  # results that are kept
LONGEST = 2_000  # characters of a sentence whose result is kept
LOADED: list[Model] = []
JUDGED: dict[tuple[str, tuple[int, int] | None], Mapping[str, float]] = {}


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
    """Return what `probabilities_of` returns, without looking at the kept results."""
    model = loaded()
    form = form_of(sentence, verb, model.known)
    if is_foreign(form, sentence):
        return {}
    probabilities: dict[str, float] = {}
    for name, probability in zip(model.classes, model.probabilities(dict.fromkeys(features(form))), strict=True):
        stance = STANCE_OF.get(name, name)
        probabilities[stance] = probabilities.get(stance, 0.0) + probability
    return probabilities
