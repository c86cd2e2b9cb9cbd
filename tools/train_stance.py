"""Train the classifier of stance on the sentences of tools/stance, print how good it is, and pack it.

    python -m tools.train_stance [--out deia/models]

Framed sentences are frames filled with acts, so that the topic says nothing about the stance; tools/stance/README.md
says how to add some. Needs scikit-learn. Downloads nothing. The same sentences give the same file.
"""
# ruff: noqa: S311 - a command that reports what it did, run from the root and in no package

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from deia.records import STANCES
from deia.watch.prose.regions import sentence
from deia.watch.prose.stance import act_of, rule, settle
from deia.watch.prose.stance_classifier import DOING, FILE, MAGIC, STANCE_OF, WRITTEN_OUT, Model, features, form_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent / "stance"
FORMS = ("do", "does", "doing", "did", "done", "noun", "it")
ACTS_PER_FRAME = 4
WITH_CONTEXT = 0.5  # of the framed sentences
KNOWN_FROM = 3  # frames or sentences in which a word must occur to be known
FEATURE_FROM = 6  # and a feature to count
STRENGTH = 0.3  # of the regression: the inverse of its regularisation
SMALLEST = 0.22  # a feature no weight of which is larger is left out
SENTENCE_WEIGHT = 3.0  # of a sentence written whole against one made from a frame
FOLDS = 6
EDGES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


class Sentence(NamedTuple):
    """A labelled sentence: the place of its act's verb, and from which frame and act it was made."""

    label: str
    text: str
    verb: tuple[int, int]
    frame: int
    act: int  # -1: written whole


def rows(name: str) -> list[list[str]]:
    """Read a file of tab-separated columns, comments left out."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def frames() -> list[tuple[str, str]]:
    """Read the frames: label and text with places for an act's forms."""
    return [(label, text) for name in ("frames_doing.tsv", "frames_not_doing.tsv") for label, text in rows(name)]


def forms_of(act: Sequence[str], mark: str) -> dict[str, str]:
    """Return the forms of an act by the names that frames use, with a mark before and after the verb's first word."""
    _, base, third, gerund, past, participle, noun, thing = act

    def marked(verb: str, rest: str = "") -> str:
        head, _, tail = verb.partition(" ")
        return f"{mark}{head}{mark}{' ' + tail if tail else ''}{' ' + rest if rest else ''}"

    return {
        "do": marked(base, thing), "does": marked(third, thing), "doing": marked(gerund, thing),
        "did": marked(past, thing), "done": marked(participle, thing), "noun": marked(noun),
        "v": marked(base), "vs": marked(third), "ving": marked(gerund), "ved": marked(participle), "it": thing,
    }  # fmt: skip


def filled(frame: str, act: Sequence[str], other: Sequence[str]) -> str:
    """Fill a frame with an act, its verb between asterisks, and with another act if it requires one."""
    text = frame
    for name, value in forms_of(other, "").items():
        text = text.replace(f"{{{name}2}}", value).replace(f"{{{name.capitalize()}2}}", _capital(value))
    for name, value in forms_of(act, "*").items():
        text = text.replace(f"{{{name}}}", value).replace(f"{{{name.capitalize()}}}", _capital(value))
    return text


def _capital(text: str) -> str:
    at = 1 if text.startswith("*") else 0
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def in_context(text: str, chance: random.Random) -> str:
    """Put something before or after a framed sentence that does not change its stance."""
    where, context = chance.choice(rows("contexts.tsv"))
    if where == "before":
        plain = not text.startswith(("I ", "I'", *"-[0123456789✅@"))
        return context + (text[:1].lower() + text[1:] if plain else text)
    ending = len(text.rstrip(".?!")) if text[-1:] in ".?!" else len(text)
    return text[:ending] + context + text[ending:]


def unmarked(label: str, text: str, frame: int, act: int) -> Sentence:
    """Read a text with its verb between asterisks, and cut it to the sentence that the watcher would judge."""
    before, verb, after = text.split("*")
    start, end, whole = len(before), len(before) + len(verb), before + verb + after
    first, last = sentence(whole, start, end)
    return Sentence(label, whole[first:last], (start - first, end - first), frame, act)


def sentences() -> list[Sentence]:
    """Return every labelled sentence: frames filled with acts, plain and in a context, and those written whole."""
    chance = random.Random(1)
    acts, made = rows("acts.tsv"), []
    for number, (label, frame) in enumerate(frames()):
        for act in chance.sample(range(len(acts)), ACTS_PER_FRAME):
            text = filled(frame, acts[act], acts[(act + 31) % len(acts)])
            if chance.random() < WITH_CONTEXT:
                text = in_context(text, chance)
            made.append(unmarked(label, text, number, act))
    first = len(frames())
    return made + [unmarked(label, text, first + at, -1) for at, (label, text) in enumerate(rows("sentences.tsv"))]


def known_words(given: Sequence[Sentence]) -> set[str]:
    """Return the words of the sentences that belong to no act: those that several frames share."""
    counts: Counter[str] = Counter()
    texts = {one.frame: one for one in given}
    written = frames()
    for number, one in texts.items():
        text = _without_places(written[number][1]) if number < len(written) else one.text
        verb = one.verb if number >= len(written) else (0, 0)
        rest = f"{text[: verb[0]]} {text[verb[1] :]}"
        counts.update(set(form_of(rest, None, _Everything()).words))
    extra = {word for given_out in WRITTEN_OUT.values() for word in given_out}
    return {word for word, count in counts.items() if count >= KNOWN_FROM and word.isalpha()} | extra


class _Everything:
    def __contains__(self, word: object) -> bool:
        return True


def _without_places(frame: str) -> str:
    text = frame
    for name in (*FORMS, "v", "vs", "ving", "ved"):
        for place in (name, name.capitalize(), f"{name}2", f"{name.capitalize()}2"):
            text = text.replace(f"{{{place}}}", "0")
    return text


class Trained(NamedTuple):
    """A classifier as numbers."""

    classes: list[str]
    known: set[str]
    names: list[str]
    weights: NDArray[np.int8]
    bias: list[float]
    scale: float

    def packed(self) -> bytes:
        """Return the file that deia/watch/prose/stance_classifier.py reads."""
        lines = (
            MAGIC, "\t".join(self.classes), "\t".join(sorted(self.known)), "\t".join(self.names),
            "\t".join(f"{number:.6g}" for number in (self.scale, *self.bias)),
        )  # fmt: skip
        return "".join(f"{line}\n" for line in lines).encode() + self.weights.tobytes()


def train(given: Sequence[Sentence]) -> Trained:
    """Train on sentences: every word and feature that several frames share, quantised to bytes."""
    known = known_words(given)
    twice = [*given, *given]  # once with the place of the act's verb, once without
    places = [*(one.verb for one in given), *(None for _ in given)]
    found = [set(features(form_of(one.text, verb, known))) for one, verb in zip(twice, places, strict=True)]
    shared: dict[str, set[int]] = {}
    for one, names in zip(twice, found, strict=True):
        for name in names:
            shared.setdefault(name, set()).add(one.frame)
    kept = {name for name, seen in shared.items() if len(seen) >= FEATURE_FROM}
    turned = DictVectorizer(dtype=np.float32)
    matrix = turned.fit_transform([{name: 1 for name in names if name in kept} for names in found])
    weight = [SENTENCE_WEIGHT if one.act < 0 else 1.0 for one in twice]
    model = LogisticRegression(C=STRENGTH, max_iter=400)
    model.fit(matrix, [one.label for one in twice], sample_weight=weight)
    numbers = model.coef_.T - model.coef_.T.mean(axis=1, keepdims=True)  # softmax sees differences only
    names = [str(name) for name in turned.get_feature_names_out()]
    large = [at for at in range(len(names)) if abs(numbers[at]).max() > SMALLEST]
    scale = float(abs(numbers).max() / 127)
    return Trained(
        classes=[str(one) for one in model.classes_],
        known=known,
        names=[names[at] for at in large],
        weights=np.round(numbers[large] / scale).astype(np.int8),
        bias=[float(one) for one in model.intercept_],
        scale=scale,
    )


def judged(model: Model, given: Sequence[Sentence], *, whole: bool = False) -> list[dict[str, float]]:
    """Return the probabilities of each sentence's classes as the product computes them, `whole`: the verb not known."""
    forms = [form_of(one.text, None if whole else one.verb, model.known) for one in given]
    found = [model.probabilities(tuple(dict.fromkeys(features(form)))) for form in forms]
    return [dict(zip(model.classes, shares, strict=True)) for shares in found]


def doing(shares: dict[str, float]) -> float:
    """Return the probability that the act is being done or asked for."""
    return sum(shares[name] for name in DOING)


def folds(given: Sequence[Sentence], kind: str) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """Split so that no frame, or no act, is on both sides; sentences written whole go with the frames."""
    order = list(range(max(one.frame for one in given) + 1))
    random.Random(2).shuffle(order)
    for number in range(FOLDS):
        if kind == "frames":
            out = [one for one in given if order[one.frame] % FOLDS == number]
        elif kind == "acts":
            out = [one for one in given if one.act >= 0 and one.act % FOLDS == number]
        else:  # whole sentences, judged by frames alone
            out = [one for one in given if one.act < 0] if number == 0 else []
        kept = set(map(id, out))
        if out:
            yield [one for one in given if id(one) not in kept], out


def held_out(given: Sequence[Sentence], kind: str, *, whole: bool = False) -> list[tuple[Sentence, dict[str, float]]]:
    """Judge every sentence by a classifier that has not seen its frame, or its act."""
    return [
        pair
        for trained_on, out in folds(given, kind)
        for pair in zip(out, judged(Model(train(trained_on).packed()), out, whole=whole), strict=True)
    ]


def scored(pairs: Sequence[tuple[Sentence, dict[str, float]]]) -> dict[str, Any]:
    """Return accuracy, accuracy per class and the AUC of doing against not doing."""
    right: dict[str, list[bool]] = {}
    for one, shares in pairs:
        right.setdefault(one.label, []).append(max(shares, key=shares.__getitem__) == one.label)
    flat = [value for values in right.values() for value in values]
    auc = roc_auc_score([one.label in DOING for one, _ in pairs], [doing(shares) for _, shares in pairs])
    return {
        "sentences": len(flat),
        "accuracy": round(sum(flat) / len(flat), 4),
        "auc_doing": round(float(auc), 4),
        "accuracy_by_class": {name: round(sum(values) / len(values), 3) for name, values in sorted(right.items())},
    }


def combined(pairs: Sequence[tuple[Sentence, dict[str, float]]]) -> dict[str, Any]:
    """Compare rules alone, classifier alone and both, as to whether the act counts as done or asked for."""
    wanted = [one.label in DOING for one, _ in pairs]
    ruled = [rule(act_of(one.text, (0, len(one.text)), one.verb, one.verb[1])) for one, _ in pairs]
    folded = [{name: sum(shares[one] for one in shares if STANCE_OF.get(one, one) == name) for name in STANCES}
              for _, shares in pairs]  # fmt: skip
    heard = {
        "rules": [(stance or "announced") in DOING for stance in ruled],
        "classifier": [doing(shares) >= 0.5 for _, shares in pairs],
        "both": [settle(stance, shares) in DOING for stance, shares in zip(ruled, folded, strict=True)],
    }
    return {name: _rates(wanted, said) for name, said in heard.items()}


def _rates(wanted: Sequence[bool], said: Sequence[bool]) -> dict[str, float]:
    pairs = list(zip(wanted, said, strict=True))
    return {
        "accuracy": round(sum(one == other for one, other in pairs) / len(pairs), 4),
        "doing_heard": round(sum(other for one, other in pairs if one) / sum(wanted), 4),
        "others_left": round(sum(not other for one, other in pairs if not one) / (len(pairs) - sum(wanted)), 4),
    }


def by_probability(pairs: Sequence[tuple[Sentence, dict[str, float]]]) -> Iterator[str]:
    """Print, for each verdict of the rules, how many acts of a probability are meant: the source of the thresholds."""
    table: dict[tuple[str, int], list[bool]] = {}
    for one, shares in pairs:
        ruled = rule(act_of(one.text, (0, len(one.text)), one.verb, one.verb[1])) or "no rule"
        step = sum(doing(shares) >= edge for edge in EDGES)
        table.setdefault((ruled, step), []).append(one.label in DOING)
    edges = (0.0, *EDGES, 1.0)
    for (ruled, step), values in sorted(table.items()):
        share = sum(values) / len(values)
        yield f"{ruled:10} {edges[step]:.2f}-{edges[step + 1]:.2f} {len(values):5} {share:.2f}"


def provenance(given: Sequence[Sentence], made: Trained, data: bytes, measured: dict[str, Any]) -> dict[str, Any]:
    """Return what the file was made from, and how good it is."""
    texts = b"".join(path.read_bytes() for path in sorted(FOLDER.glob("*.tsv")))
    return {
        "made_by": "tools/train_stance.py",
        "sentences_sha256": hashlib.sha256(texts).hexdigest(),
        "digest": hashlib.sha256(data).hexdigest(),
        "frames": len(frames()),
        "acts": len(rows("acts.tsv")),
        "sentences": dict(sorted(Counter(one.label for one in given).items())),
        "known_words": len(made.known),
        "features": len(made.names),
        "versions": {"numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "held_out": measured,
    }


def main() -> None:
    """Train, measure, write the file and its provenance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("deia/models"))
    given = sentences()
    out: Path = parser.parse_args().out
    by_frame = held_out(given, "frames")
    measured = {
        "frames": scored(by_frame),
        "frames, verb unknown": scored(held_out(given, "frames", whole=True)),
        "acts": scored(held_out(given, "acts")),
        "sentences written whole, by frames alone": scored(held_out(given, "whole")),
        "rules and classifier": combined(by_frame),
    }
    print(json.dumps(measured, indent=1), *by_probability(by_frame), sep="\n")
    made = train(given)
    data = made.packed()
    print(f"{len(given)} sentences, {len(made.known)} known words, {len(made.names)} features, {len(data)} bytes")
    (out / FILE).write_bytes(data)
    told = json.dumps(provenance(given, made, data, measured), indent=2, ensure_ascii=False)
    (out / "stance.provenance.json").write_text(told + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
