"""Gaps of the commons: questions that found nothing or little, grouped by what they are about, each with a draft.

Groups are made of weighted words: with scikit-learn (the extra `learn`) by average-linkage clustering, without it by a
simpler pass that starts a group wherever nothing near is there yet, and says so. Refuses to invent: a draft holds the
questions, the words and the nearest documents, and places for what only a person knows.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence

from deia.ledger import warehouse_schema
from deia.ledger.report_values import Figure, Report, bars, table
from deia.ledger.shared_rows import gather
from deia.ledger.warehouse import ask
from deia.match.tokeniser import terms
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    import duckdb

MOST_QUESTIONS = 2000  # different ones, the most frequent first; their distances are a matrix
MOST_PEOPLE = 1000  # counted of one question
NEAR = 0.25  # cosine of two questions from which they are about one thing
NAMED = 4  # telling terms of a gap
EXAMPLES = 5
SHOWN = 15
OF_GAP = ("gap", "about", "asked", "unanswered", "by", "for example", "nearest")
DRAFTED = "A draft of what is missing: deia telemetry gaps --draft 1"
SMALL_WORDS = warehouse_schema.SMALL_WORDS


class Gap(Record):
    """Questions about one thing that the commons does not answer well."""

    terms: tuple[str, ...]
    questions: tuple[str, ...]  # the most frequent first
    asked: int
    unanswered: int
    people: int
    last: str
    nearest: tuple[str, ...]  # documents that were named in answers, the most frequent first


class Asked(Record):
    """One question that was answered badly or not at all, over all the times it was asked."""

    question: str
    times: int
    unanswered: int
    who: tuple[int, ...]  # numbers of them
    last: str
    docs: tuple[str, ...]


def find_gaps(connection: duckdb.DuckDBPyConnection, *, simple: bool = False) -> list[Gap]:
    """Give the gaps, those that were met most often first; `simple` does without scikit-learn."""
    gather(connection, "asking", "wording", "showing")
    asked = [
        Asked(
            question=row[0],
            times=row[1],
            unanswered=row[2],
            who=tuple(row[3]),
            last=row[4],
            docs=(row[5],) if row[5] else (),
        )
        for row in ask(connection, _LACKING)
    ]
    vectors = weigh([each.question for each in asked])
    asked = [each for each, vector in zip(asked, vectors, strict=True) if vector]
    vectors = [vector for vector in vectors if vector]
    groups = grouped(vectors, simple=simple or not has_clustering())
    gaps = [_gap([asked[at] for at in group], [vectors[at] for at in group]) for group in groups]
    return sorted(gaps, key=lambda gap: (-gap.asked, gap.terms))


# What is answered as often as not, or was answered when it was asked last, is no gap any more.
_LACKING = f"""
WITH lacking AS (
    SELECT asked, count(*) FILTER (answered <> 'yes') AS times, count(*) FILTER (answered = 'no') AS unanswered,
        strftime(max(ts), '%Y-%m-%d') AS last
    FROM asking WHERE asked IS NOT NULL
    GROUP BY 1 HAVING arg_max(answered, ts) <> 'yes' AND avg((answered = 'yes')::INT) < 0.5
),
top AS (
    SELECT text, lacking.* FROM lacking JOIN wording USING (asked) WHERE text <> ''
    ORDER BY times DESC, text LIMIT {MOST_QUESTIONS}
),
met AS (
    SELECT asked, list(DISTINCT who)[1:{MOST_PEOPLE}] AS people, mode(docs[1]) AS doc
    FROM asking JOIN (SELECT asked FROM top) USING (asked) GROUP BY 1
)
SELECT text, times, unanswered, people, top.last, name
FROM top JOIN met USING (asked) LEFT JOIN showing USING (doc) ORDER BY times DESC, text
"""


def has_clustering() -> bool:
    """Say whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def weigh(questions: Sequence[str]) -> list[dict[str, float]]:
    """Give each question's words with their weights (tf-idf, smoothed, of length one); empty where none tells."""
    told = [[word for word in terms(each) if word not in SMALL_WORDS and len(word) > 1] for each in questions]
    holding: dict[str, int] = {}
    for each in told:
        for word in set(each):
            holding[word] = holding.get(word, 0) + 1
    weights = {word: math.log((1 + len(told)) / (1 + number)) + 1 for word, number in holding.items()}
    return [_normal({word: each.count(word) * weights[word] for word in set(each)}) for each in told]


def _normal(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {word: value / length for word, value in sorted(vector.items())} if length else {}


def grouped(vectors: Sequence[Mapping[str, float]], *, simple: bool) -> list[list[int]]:
    """Group vectors that are near each other; give the numbers of each group's members, all in the order given."""
    if len(vectors) < 2:
        return [[at] for at in range(len(vectors))]
    return _by_leaders(vectors) if simple else _by_linkage(vectors)


def _by_leaders(vectors: Sequence[Mapping[str, float]]) -> list[list[int]]:
    """Put every vector into the first group whose middle is near enough, or begin a group with it."""
    groups: list[list[int]] = []
    squares: list[float] = []  # of the lengths of the groups' sums
    sums: dict[str, dict[int, float]] = {}  # word → group → its weight in the group's sum
    for at, vector in enumerate(vectors):
        products: dict[int, float] = {}
        for word, value in vector.items():
            for one, weight in sums.get(word, {}).items():
                products[one] = products.get(one, 0.0) + value * weight
        near = min(products, key=lambda one: (-products[one] / math.sqrt(squares[one]), one), default=-1)
        if near < 0 or products[near] / math.sqrt(squares[near]) < NEAR + 0.1:
            near = len(groups)  # a middle is nearer than members are on average, hence the tenth
            groups.append([])
            squares.append(0.0)
        groups[near].append(at)
        for word, value in vector.items():
            before = sums.setdefault(word, {}).get(near, 0.0)
            sums[word][near] = before + value
            squares[near] += value * (2 * before + value)
    return groups


def _by_linkage(vectors: Sequence[Mapping[str, float]]) -> list[list[int]]:
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415 - a second, and an extra
    from sklearn.feature_extraction import DictVectorizer  # noqa: PLC0415

    rows = DictVectorizer(sparse=False).fit_transform(vectors)
    model = AgglomerativeClustering(
        n_clusters=None, metric="cosine", linkage="average", distance_threshold=1 - NEAR
    ).fit(rows)
    groups: dict[int, list[int]] = {}
    for at, label in enumerate(model.labels_):
        groups.setdefault(int(label), []).append(at)
    return list(groups.values())


def _gap(members: Sequence[Asked], vectors: Sequence[Mapping[str, float]]) -> Gap:
    weights: dict[str, float] = {}
    for each, vector in zip(members, vectors, strict=True):
        for word, value in vector.items():
            weights[word] = weights.get(word, 0.0) + value * math.sqrt(each.times)
    docs = [doc for each in members for doc in each.docs]
    questions = [each.question for each in sorted(members, key=lambda each: -each.times)]
    telling = sorted(weights, key=lambda word: (-weights[word], word))[:NAMED]
    order = [word for question in questions for word in terms(question)]
    return Gap(
        terms=tuple(sorted(telling, key=order.index)),  # as people put them
        questions=tuple(questions),
        asked=sum(each.times for each in members),
        unanswered=sum(each.unanswered for each in members),
        people=len({who for each in members for who in each.who}),
        last=max(each.last or "" for each in members),
        nearest=tuple(sorted(set(docs), key=lambda doc: (-docs.count(doc), doc))[:3]),
    )


def outline(gap: Gap) -> str:
    """Draft the document that a gap lacks: Markdown with front matter, to be filled in by somebody who knows."""
    title = gap.questions[0][:1].upper() + gap.questions[0][1:]
    words = ", ".join(_quoted(term) for term in gap.terms)
    asked = "\n".join(f"- {question}" for question in gap.questions[: EXAMPLES * 2])
    near = "".join(f"- {doc}: say here why it does not answer this, or extend it instead\n" for doc in gap.nearest)
    return f"""---
title: {_quoted(title)}
urgency: medium
keywords: [{words}]
---

# {title}

Asked {gap.asked} times by {gap.people}, last on {gap.last}; {gap.unanswered} times nothing was found.

## The answer in one sentence

TODO

## What people ask

{asked}

## What goes wrong

TODO: what somebody sees who does not know this yet, error messages as they are written.

## What to do

1. TODO

## How to see that it worked

TODO
""" + (f"\n## Near it today\n\n{near}" if near else "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def gaps(connection: duckdb.DuckDBPyConnection) -> Report:
    """Tell what is asked and not answered, grouped by what it is about."""
    found = find_gaps(connection)
    met = [gap for gap in found if gap.asked > 1]
    told = [
        (number, " ".join(gap.terms), gap.asked, gap.unanswered, gap.people, " / ".join(gap.questions[:2]),
         ", ".join(gap.nearest))
        for number, gap in enumerate(found, 1)
    ]  # fmt: skip
    often = [(" ".join(gap.terms[:3]), gap.unanswered, gap.asked - gap.unanswered) for gap in found[:SHOWN]]
    by = "scikit-learn" if has_clustering() else "a simple pass; better groups: pip install 'deia[learn]'"
    return Report(
        name="gaps",
        title="Gaps",
        lead=f"{len(found):,} things were asked that the commons does not answer well."
        if found
        else "No gaps: every question with its words in the ledger was answered.",
        figures=(
            Figure(label="gaps", value=len(found), note=f"{len(met):,} met more than once"),
            Figure(label="questions in them", value=sum(gap.asked for gap in found)),
        ),
        blocks=(
            bars("Most often met", often, unanswered=1, badly_answered=2),
            table("Each gap", OF_GAP, told, most=SHOWN, note=DRAFTED),
        ),
        notes=(f"Grouped by {by}.",) if found else (),
    )
