"""Train the verdict of a search for code: whether a sentence is about something that a library of code has.

    python tools/train_code_verdict.py [--write] [--tiers keyword,static,compact] [--kept FOLDER] WHEEL…

A WHEEL is a package from PyPI; none may be the standard library or a copy of a part of it, which is what
bench/functions.py judges on. The code of each is taken in without its docstrings. Questions of its own are first
paragraphs of its docstrings. Foreign are those of the other packages and, of another kind, everyday ones. Each package
in turn is left out of the training for the test. `--write` puts what all of them taught into deia/models/search.json,
and the test results into search.measured.json.
"""
# ruff: noqa: S311, S603 - the same questions each time; it starts `deia ingest`

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from asked_commons import EVERYDAY, ROOT, Seen
from train_confidence import LEVELS, THRESHOLDS, auc, interval, probability, trained, write

from deia.knowledge import Query
from deia.librarian import Librarian
from deia.search.pipeline import find_candidates, observe_ranking
from deia.search.question.interpret import interpret
from deia.search.question.terms import read_question
from deia.search.ranking.retrieve import choose_tier
from deia.search.ranking.weights import OF_CODE

sys.path.append(str(ROOT / "bench"))

from functions import LEFT_OUT, Function, functions_of, is_met, without_docstrings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deia.search.catalog import Catalog

    Floats = NDArray[np.float64]

TIERS = ("keyword", "static", "compact")
OWN, FOREIGN = 200, 200  # questions of a library
MOST_FILES = 300  # of a package
SEED = 7
# Wanted: the threshold is where both are equally far from it. What is answered is the mean of both kinds of foreign
# questions; a docstring of another package often says what a function here does, too.
MOST_LOST, MOST_ANSWERED = {"keyword": 0.04, "static": 0.04, "compact": 0.02}, 0.2


class Library(NamedTuple):
    """A library of code, and the questions that are about it."""

    name: str
    catalog: Catalog
    own: Sequence[Function]


def unpacked(wheel: Path, target: Path) -> list[Function]:
    """Write the code of a wheel without its docstrings, and return its functions."""
    found: list[Function] = []
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py") and LEFT_OUT.isdisjoint(Path(name).parts)]
        for name in random.Random(SEED).sample(sorted(names), min(MOST_FILES, len(names))):
            try:
                found += functions_of(*without_docstrings(archive.read(name).decode()), name, target)
            except (SyntaxError, ValueError):
                continue
    return found


def libraries(wheels: Sequence[Path], place: Path, tier: str) -> Iterator[Library]:
    """Take in each package by itself; `tier` is the best one that is asked."""
    for wheel in wheels:
        name = wheel.name.partition("-")[0].lower()
        own = [one for one in unpacked(wheel, place / name / "code") if one.question]
        yield Library(name, taken_in(place / name, tier), own)


def taken_in(place: Path, tier: str) -> Catalog:
    """Take the code that lies in a folder into a library of its own, and open that."""
    commons = place / "commons"
    commons.mkdir(exist_ok=True)
    (commons / "deia.toml").touch()
    deia = [str(Path(sys.executable).with_name("deia")), "--commons", str(commons)]
    plain = {**os.environ, "DEIA_TIER": "static"}  # else it would start to encode, and the compile would not wait
    ran = subprocess.run([*deia, "ingest", str(place / "code")], capture_output=True, text=True, check=True, env=plain)
    told = ran.stdout.strip().splitlines()
    subprocess.run([*deia, "compile", "--tier", tier], capture_output=True, check=True)
    print(f"{place.name}: {told[-1]}", flush=True)
    catalog = Librarian(commons, ledger=False)._compiled.open_library()  # noqa: SLF001 - it is to be looked into
    if catalog is None:
        sys.exit(f"{place.name} has no library")
    return catalog


def observations(some: Sequence[Library], tier: str) -> list[Seen]:
    """Ask every library questions of its own and foreign ones."""
    chance, seen = random.Random(SEED), []
    everyday = EVERYDAY.read_text("utf-8").splitlines()
    for library in some:
        own = chance.sample(list(library.own), min(OWN, len(library.own)))
        others = [(each.name, one.question) for each in some if each is not library for one in each.own]
        foreign = chance.sample(others, min(FOREIGN, len(others)))
        for one in own:
            observed, answered = asked(library.catalog, tier, one.question, one)
            seen.append(Seen(library.name, (library.name,), "code", observed, answered, observed))
        for of, text in [*foreign, *(("everyday", text) for text in everyday)]:
            kind = "everyday" if of == "everyday" else "code"
            observed, _ = asked(library.catalog, tier, text)
            seen.append(Seen(of, (library.name,), kind, observed, False, observed))
    return seen


def asked(catalog: Catalog, tier: str, text: str, wanted: Function | None = None) -> tuple[tuple[float, ...], bool]:
    """Ask a question; return what the verdict looks at, and whether the best passage is the function wanted."""
    meaning = choose_tier(catalog, tiers=() if tier == "keyword" else (tier,))
    understood = interpret(catalog, Query(text=text))
    question = read_question(understood.query.text, catalog, strong=understood.strong)
    found = find_candidates(
        catalog, question, understood.query.but(limit=5), meaning=meaning, filters=understood.filters
    )
    answered = False
    if wanted and found.ranked:
        document = catalog.document_at(found.ranked[0].number)
        path = document.entry.path.partition("/")[2]
        answered = is_met(wanted, path, document.passages[found.ranked[0].ordinal])
    return tuple(observe_ranking(catalog, found, meaning)), answered


def shares(tests: Sequence[Seen], likely: Floats, least: float) -> dict[str, NDArray[np.bool_]]:
    """Return which own questions are lost, and which foreign ones are answered, by their kinds."""
    found = likely >= least
    kinds = np.array(["own" if each.belongs else each.kind for each in tests])
    return {kind: found[kinds == kind] != (kind == "own") for kind in ("own", "code", "everyday")}


def threshold(tier: str, tests: Sequence[Seen], likely: Floats) -> float:
    """Return the probability from which a question belongs: both shares are equally far from their targets."""

    def worst(least: float) -> float:
        told = shares(tests, likely, least)
        answered = (told["code"].mean() + told["everyday"].mean()) / 2
        return float(max(told["own"].mean() / MOST_LOST[tier], answered / MOST_ANSWERED))

    return min(THRESHOLDS, key=worst)


def main() -> None:
    """Take the packages in, ask, train, test, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--kept", type=Path)
    parser.add_argument("wheels", nargs="+", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made:
        place = options.kept or Path(made)
        own = {"DEIA_STATE": f"{place}/state", "DEIA_CACHE": f"{place}/cache", "DEIA_TRUST": "*"}
        os.environ.update({**own, "DEIA_STARTER": "false"})
        tiers = options.tiers.split(",")
        some = list(libraries(options.wheels, place, "compact" if "compact" in tiers else "static"))
        for tier in tiers:
            seen = observations(some, tier)
            learned, measured = report(tier, seen)
            if options.write:
                write(f"{tier}{OF_CODE}", learned, measured)


def report(tier: str, seen: Sequence[Seen]) -> tuple[dict[str, object], dict[str, object]]:
    """Test with every package left out, then train on all; return what was learned and the test results."""
    names = sorted({each.to[0] for each in seen})
    tests, likely = [], []
    for name in names:
        rest = trained([each for each in seen if name not in (*each.to, each.of)])
        test = [each for each in seen if each.to == (name,)]
        tests += test
        likely.append(probability(rest["belongs"], [each.observed for each in test]))
    every = np.concatenate(likely)
    least = threshold(tier, tests, every)
    told = shares(tests, every, least)
    own = np.array([each.belongs for each in tests])
    measured = {
        "lost": interval(told["own"]), "answered": interval(told["code"]), "everyday": interval(told["everyday"]),
        "auc": round(auc(every, own), 3),
    }  # fmt: skip
    print(tier, least, measured, flush=True)
    return {**trained(seen), "least": least, "levels": list(LEVELS)}, measured


if __name__ == "__main__":
    main()
