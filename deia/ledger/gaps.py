"""Gaps of the commons: queries that found nothing or little, grouped by topic, each with the draft of a document.

A draft contains the queries, their words and the nearest documents, and leaves blank what only a person knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from deia.ledger.question_groups import group_questions, weigh
from deia.ledger.report_values import Figure, Report, bars, table
from deia.ledger.shared_rows import gather
from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection, ask_records
from deia.match.tokeniser import terms
from deia.records import Record
from deia.tables import text_beside
from deia.text import counted

MOST_QUESTIONS = 2000  # different queries, the most frequent first
MOST_PEOPLE = 1000  # people counted for one query
TERMS = 4  # terms that describe a gap
EXAMPLES = 5
SHOWN = 15
OF_GAP = ("gap", "about", "asked", "unanswered", "by", "for example", "nearest")
DRAFTED = "A draft of what is missing: deia stats gaps --draft 1"
STATEMENTS = read_statements(__file__, most=MOST_QUESTIONS, people=MOST_PEOPLE)


class Gap(Record):
    """Queries about one thing that the commons does not answer well."""

    terms: tuple[str, ...]
    questions: tuple[str, ...]  # the most frequent first
    asked: int
    unanswered: int
    people: int
    last: str
    nearest: tuple[str, ...]  # documents in the answers, the most frequent first


class OpenQuery(Record):
    """A query that was answered badly or not at all, over all the times it was asked."""

    question: str
    times: int
    unanswered: int
    who: Sequence[int]  # the numbers of the people who asked
    last: str
    doc: str | None  # what their answers usually had first


def find_gaps(connection: Connection) -> list[Gap]:
    """Return the gaps, the most frequent first."""
    gather(connection, "asked_queries", "query_texts", "document_counts")
    queries = ask_records(connection, OpenQuery, STATEMENTS["lacking"].sql)
    vectors = weigh([query.question for query in queries])
    worded = [query for query, vector in zip(queries, vectors, strict=True) if vector]
    vectors = [vector for vector in vectors if vector]
    groups = group_questions([query.question for query in worded], vectors)
    gaps = [_gap([worded[at] for at in group], [vectors[at] for at in group]) for group in groups]
    return sorted(gaps, key=lambda gap: (-gap.asked, gap.terms))


def _gap(members: Sequence[OpenQuery], vectors: Sequence[Mapping[str, float]]) -> Gap:
    weights: dict[str, float] = {}
    for query, vector in zip(members, vectors, strict=True):
        for word, value in vector.items():
            weights[word] = weights.get(word, 0.0) + value * math.sqrt(query.times)
    docs = [query.doc for query in members if query.doc]
    questions = [query.question for query in sorted(members, key=lambda query: -query.times)]
    heaviest = sorted(weights, key=lambda word: (-weights[word], word))[:TERMS]
    order = [word for question in questions for word in terms(question)]
    return Gap(
        terms=tuple(sorted(heaviest, key=order.index)),  # in the order in which people wrote them
        questions=tuple(questions),
        asked=sum(query.times for query in members),
        unanswered=sum(query.unanswered for query in members),
        people=len({who for query in members for who in query.who}),
        last=max(query.last or "" for query in members),
        nearest=tuple(sorted(set(docs), key=lambda doc: (-docs.count(doc), doc))[:3]),
    )


def outline(gap: Gap) -> str:
    """Return the draft of a document that would close a gap: Markdown with front matter for a person to fill in."""
    heading = gap.questions[0][:1].upper() + gap.questions[0][1:]
    near = "".join(f"- {doc}: say why it does not answer this, or extend it instead\n" for doc in gap.nearest)
    return text_beside(__file__, ".md").format(
        title=_quoted(heading), keywords=", ".join(_quoted(term) for term in gap.terms), heading=heading,
        asked=gap.asked, people=gap.people, last=gap.last, unanswered=gap.unanswered,
        questions="\n".join(f"- {question}" for question in gap.questions[: EXAMPLES * 2]),
    ) + (f"\n## Related documents\n\n{near}" if near else "")  # fmt: skip


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def gaps(connection: Connection) -> Report:
    """Return the report on what is asked and not answered, grouped by topic."""
    all_gaps = find_gaps(connection)
    repeated = [gap for gap in all_gaps if gap.asked > 1]
    rows = [
        (number, " ".join(gap.terms), gap.asked, gap.unanswered, gap.people, " / ".join(gap.questions[:2]),
         ", ".join(gap.nearest))
        for number, gap in enumerate(all_gaps, 1)
    ]  # fmt: skip
    often = [(" ".join(gap.terms[:3]), gap.unanswered, gap.asked - gap.unanswered) for gap in all_gaps[:SHOWN]]
    return Report(
        name="gaps",
        title="Gaps",
        lead=f"{counted(len(all_gaps), 'topic')} that the commons does not answer well."
        if all_gaps
        else "No gaps: every question with its words in the log was answered.",
        figures=(
            Figure(label="gaps", value=len(all_gaps), note=f"{len(repeated):,} asked more than once"),
            Figure(label="questions in them", value=sum(gap.asked for gap in all_gaps)),
        ),
        blocks=(
            bars("Most often met", often, unanswered=1, badly_answered=2),
            table("Each gap", OF_GAP, rows, most=SHOWN, note=DRAFTED),
        ),
    )
