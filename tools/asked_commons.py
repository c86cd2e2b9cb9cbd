"""Labelled sets as commons of several sizes and kinds, asked their own questions and foreign ones, as training data.

A set is compiled as it is. Sets to measure on are also compiled with the documents of a few questions only, like the
small commons that most teams have. Parts of sets, and several sets in one, are only for training: each of ten sets has
a size, a subject and a breadth of its own, and what is learned from one would otherwise be taken for true of all.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "bench"))

from retrieval import QUESTIONS, compiled, judgements, rows  # noqa: E402 - the line above makes it importable

from deia.knowledge import Query  # noqa: E402
from deia.match.tiers import open_tier  # noqa: E402
from deia.match.tokeniser import question_words  # noqa: E402
from deia.search.pipeline import candidates_by_meaning, find_candidates, observe_ranking  # noqa: E402
from deia.search.question.interpret import interpret  # noqa: E402
from deia.search.question.terms import read_question  # noqa: E402
from deia.search.ranking.retrieve import choose_tier, judging_meaning  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.search.catalog import Catalog

EVERYDAY = Path(__file__).with_name("foreign_questions.txt")
ANSWERED = Path(__file__).with_name("answered_elsewhere.tsv")
SAMPLE = 120  # questions of a commons, evenly spread
OTHERS = 24  # of each other set
EVERYDAY_STEP = 2
FEW = 30  # questions whose documents make a small commons
TESTED = ("whole", "small")  # the others are there to train with
PARTS = (0.15, 0.4)  # of a set's questions, whose documents make a part of it
STEPS = (1, 3)  # to the other two of three sets in one
MOST_OF_EACH = 400  # documents of each of them
# Sets that share a subject: a question to one may well be answered by another, so that it counts as neither.
RELATED = (
    {"tldr-nl2bash", "git", "gcloud", "systemd", "openssl", "postgres", "syscalls", "stdlib"},
    {"k8s-runbooks", "gcloud", "systemd"},
    {"owasp-checklist", "openssl"},
    {"openssl", "syscalls"},
    {"sklearn", "torch", "sympy"},
    {"stdlib", "ruff", "torch", "syscalls"},
    {"networkx", "sympy"},
    {"debianfaq", "systemd"},
    {"debianfaq", "tldr-nl2bash"},
    {"debianfaq", "git"},
    {"perlfaq", "pythonfaq"},
    {"perlfaq", "tldr-nl2bash"},
    {"perlfaq", "syscalls"},
    *({"pythonfaq", other} for other in ("networkx", "ruff", "sklearn", "stdlib", "sympy", "torch")),
    {"celery", "django", "pythonfaq", "scrapy", "sphinx", "sqlalchemy"},
    {"apache", "bind", "django", "openstack", "postfix", "tomcat", "varnish"},
    {"postgres", "sqlalchemy", "django"},
    {"erlang", "llvm", "syscalls"},
    {"k8s-runbooks", "openstack", "celery"},
    *({"owasp-checklist", other} for other in ("apache", "bind", "django", "openstack", "postfix", "tomcat")),
    *({"systemd", other} for other in ("apache", "bind", "openstack", "postfix", "varnish")),
    *(
        {general, other}
        for general in ("debianfaq", "perlfaq", "starter", "tldr-nl2bash")
        for other in (
            "apache", "bind", "celery", "django", "erlang", "llvm", "openstack", "postfix", "scrapy", "sphinx",
            "sqlalchemy", "tomcat", "varnish",
        )
    ),
    *(
        {"starter", other}
        for other in (
            "k8s-runbooks", "owasp-checklist", "tldr-nl2bash", "gcloud", "git", "openssl", "postgres", "ruff",
            "stdlib", "syscalls", "systemd", "debianfaq", "perlfaq", "pythonfaq",
        )
    ),
)  # fmt: skip


class Seen(NamedTuple):
    """The features observed for one question."""

    of: str  # where the question comes from
    to: tuple[str, ...]  # the sets that it was put to
    kind: str  # of commons and of question
    observed: tuple[float, ...]
    answered: bool  # the best document is a right one
    belonging: tuple[float, ...]  # observed where word vectors searched, if words alone did; else as `observed`

    @property
    def belongs(self) -> bool:
        """Whether the question is one of the sets' own."""
        return self.of in self.to


class Commons(NamedTuple):
    """A set, some of it, or several, compiled; a document's id has its set before it."""

    folders: tuple[str, ...]
    size: str
    catalog: Catalog
    documents: set[str]


def remembering(name: str) -> None:
    """Make a tier remember its questions, since every commons is asked the same ones."""
    tier = open_tier(name)
    tier.vector = cache(tier.vector)


def asked(catalog: Catalog, tier: str, text: str) -> tuple[tuple[float, ...], tuple[float, ...], str]:
    """Ask one question; return the observed features, those that tell whether it belongs, and the best document."""
    meaning = choose_tier(catalog, tiers=() if tier == "keyword" else (tier,))
    if meaning.name != tier:
        sys.exit(f"there is no {tier} tier: {meaning.warning}")
    interpretation = interpret(catalog, Query(text=text))
    question = read_question(interpretation.query.text, catalog, strong=interpretation.strong)
    query, filters = interpretation.query.but(limit=5), interpretation.filters
    candidates = find_candidates(catalog, question, query, meaning=meaning, filters=filters)
    best = candidates.documents[0].entry.id if candidates.documents else ""
    observed = tuple(observe_ranking(catalog, candidates, meaning))
    by_meaning = candidates_by_meaning(catalog, candidates, query, meaning=meaning, filters=filters)
    if by_meaning is None:
        return observed, observed, best
    return observed, tuple(observe_ranking(catalog, by_meaning, judging_meaning(catalog, meaning))), best


@cache
def asked_by(folder: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the questions of a set, clean and misspelt in turn, each with the documents that answer it."""
    clean, misspelt = (rows(folder, name) for name in QUESTIONS)
    judged = judgements(folder)
    every = [query for pair in zip(clean, misspelt, strict=True) for query in pair]
    return tuple(
        (query["text"], frozenset(named(folder, document) for document in judged.get(query["_id"], ())))
        for query in every
    )


def named(folder: str, document: str) -> str:
    """Return a document's id with its set, as a number: the set's name is a word that questions contain."""
    return f"{crc32(os.path.basename(folder).encode()):08x}-{document}"


def spread(listed: Sequence[Any], most: int) -> Sequence[Any]:
    """Return some of a list, from all over it; an odd step takes clean and misspelt ones."""
    return listed[:: max(1, len(listed) // most) | 1]


def shortened(text: str, number: int) -> str:
    """Return a question as somebody in a hurry types it: its one to three longest words."""
    found = [word[0] for word in question_words(text)]
    kept = sorted(found, key=len, reverse=True)[: 1 + number % 3]
    return " ".join(word for word in found if word in kept)


def related(one: str, other: str) -> bool:
    """Return whether two sets share a subject."""
    return any({os.path.basename(one), os.path.basename(other)} <= together for together in RELATED)


def questions_to(each: Commons, folders: Sequence[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield what a commons is asked: where the question comes from, its words, and the documents that answer it."""
    for folder in each.folders:
        own = [(text, right & each.documents) for text, right in asked_by(folder) if right & each.documents]
        yield from ((folder, text, right) for text, right in spread(own, SAMPLE // len(each.folders)))
    for other in folders:
        if not any(other == folder or related(other, folder) for folder in each.folders):
            yield from ((other, text, frozenset()) for text, _ in spread(asked_by(other), OTHERS))
    for number, text in enumerate(EVERYDAY.read_text("utf-8").splitlines()[::EVERYDAY_STEP]):
        yield f"everyday {number % 2}", text, frozenset()


def answered_elsewhere() -> set[tuple[str, str]]:
    """Return the foreign questions that a set answers, each with the set."""
    with open(ANSWERED, encoding="utf-8", newline="") as file:
        every = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["set"], row["question"]) for row in every if row["answers"] == "yes"}


def observations(commons: Sequence[Commons], tier: str) -> list[Seen]:
    """Ask every commons its own questions, the others' and everyday ones, each also shortened."""
    folders = list(dict.fromkeys(folder for each in commons for folder in each.folders))
    answered = answered_elsewhere()
    seen = []
    for each in commons:
        for number, (of, text, right) in enumerate(questions_to(each, folders)):
            if each.size != "small" and any((os.path.basename(folder), text) in answered for folder in each.folders):
                continue
            for short in (False, True):
                asking = shortened(text, number) if short else text
                observed, belonging, best = asked(each.catalog, tier, asking)
                kind = f"{each.size}{' short' * short}"
                seen.append(Seen(of, each.folders, kind, observed, best in right, belonging))
    return seen


class Press(NamedTuple):
    """Where and how commons are made."""

    place: str
    tiers: Sequence[str]
    kept: str

    def made(self, folders: Sequence[str], size: str, wanted: Iterable[str] | None = None) -> Commons:
        """Compile the documents of some sets, or those of them that are selected."""
        kept = None if wanted is None else set(wanted)
        every = [{**row, "_id": named(each, row["_id"])} for each in folders for row in rows(each, "corpus.jsonl")]
        some = [row for row in every if kept is None or row["_id"] in kept]
        source = os.path.join(self.place, f"{' and '.join(map(os.path.basename, folders))} {size}")
        os.makedirs(source)
        with open(os.path.join(source, "corpus.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in some)
        catalog = compiled(source, os.path.join(source, "catalog"), tiers=self.tiers, kept=self.kept)
        return Commons(tuple(folders), size, catalog, {row["_id"] for row in some})


def answering(folder: str, most: int) -> list[str]:
    """Return the documents that answer some of a set's questions."""
    every = sorted(judgements(folder).items())
    return [named(folder, document) for query in spread(every, most) for document in query[1]]


def opened(folders: Sequence[str], also: Sequence[str], beside: Sequence[str], press: Press) -> Iterator[Commons]:
    """Compile all sets as they are, those to measure on also as small ones, then parts of each and several in one.

    Sets beside these are only trained with, also as they are.
    """
    every = [*folders, *also]
    for folder in every:
        yield press.made([folder], "whole")
    for folder in folders:
        yield press.made([folder], "small", answering(folder, FEW))
    for folder in beside:
        yield press.made([folder], "beside")
    for folder in (*every, *beside):
        for part in PARTS:
            yield press.made([folder], f"part {part}", answering(folder, int(part * len(judgements(folder)))))
    for at in range(len(every)):
        together = list(dict.fromkeys([every[at], *(every[(at + step) % len(every)] for step in STEPS)]))
        yield press.made(together, "several", [name for each in together for name in first_of(each)])


def first_of(folder: str) -> list[str]:
    """Return some of a set's documents: those that answer questions before the others."""
    every = [named(folder, row["_id"]) for row in rows(folder, "corpus.jsonl")]
    return list(dict.fromkeys([*answering(folder, MOST_OF_EACH), *every]))[:MOST_OF_EACH]
