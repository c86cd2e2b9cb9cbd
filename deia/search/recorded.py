"""A question that the commons answers by its index: the documents that it names there come first.

Whoever records a question with its documents has said what answers it; a verdict on what else was found is not needed.
"""

from __future__ import annotations

from deia.match.keyword import NUMBERS
from deia.match.tokeniser import fold
from deia.records import TYPE_CHECKING
from deia.search.lifetimes import outdated
from deia.search.question.terms import stem_weights
from deia.search.ranking.rank import Ranked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.match.keyword import Filters
    from deia.search.build_answer import Candidates
    from deia.search.catalog import Catalog, Pattern
    from deia.search.question.terms import Question

END = "?!. "  # what may be missing at the end of a question
LONGER = 8  # characters by which two spellings of one question may differ: spaces, and what may be at its end


def repeated(catalog: Catalog, text: str) -> Pattern | None:
    """Return the past question of which a text is a wording, if the index says what answers it."""
    asked = _folded(text)
    for number, wordings in enumerate(catalog.wordings() if asked else ()):
        near = [wording for wording in wordings if abs(len(wording) - len(text)) <= LONGER]
        if asked in map(_folded, near) and (past := catalog.pattern(number)).documents:
            return past
    return None


def _folded(wording: str) -> str:
    return fold(wording).rstrip(END)


def with_recorded(
    catalog: Catalog, candidates: Candidates, past: Pattern, filters: Filters, *, limit: int
) -> Candidates | None:
    """Return candidates with the documents of a past question first; None if none of these holds and passes."""
    best = candidates.shown[0].score if candidates.shown else 1.0
    found = {document.number: document for document in candidates.shown}
    first = [
        (found.get(number) or Ranked(number=number, score=best, ordinal=ordinal)).but(score=best)
        for number, ordinal in _named(catalog, candidates.question, past, filters, candidates.today)
    ]
    if not first:
        return None
    leading = {document.number for document in first}
    shown = [*first, *(document for document in candidates.shown if document.number not in leading)][:limit]
    documents = [catalog.document_at(document.number) for document in shown]
    stems = catalog.keyword.stems_by_passage(
        [document.entry.id for document in documents], [*stem_weights(candidates.question)]
    )
    return candidates.but(shown=shown, documents=documents, stems=stems, past=past)


def _named(
    catalog: Catalog, question: Question, past: Pattern, filters: Filters, today: str
) -> Iterator[tuple[int, int]]:
    """Yield the number of each document that a past question names and that passes, with the passage to show."""
    numbers = catalog.keyword.numbers_by_id(past.documents)
    holding = (number for ident in past.documents if (number := numbers.get(ident)) is not None)
    for number in holding:
        if outdated(catalog.document_at(number).entry, today) or not catalog.text_size(number):
            continue
        only: Filters = {**filters, NUMBERS: frozenset({number})}
        hits = catalog.keyword.passages(stem_weights(question), filters=only, limit=1)
        if hits or catalog.keyword.numbers(filters=only):
            yield number, hits[0][1] if hits else 0
