"""What a program hands over with a question, checked: it may write anything where a text or a number belongs."""

from __future__ import annotations

from deia.errors import QueryError
from deia.knowledge import CONTEXTS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def given_text(question: object, name: str = "the question") -> str:
    """Return a question that is a text; raise QueryError about anything else."""
    if not isinstance(question, str):
        raise QueryError(f"{name} is a {type(question).__name__}, not a text", fix="Ask in words.")
    return question


def given_filters(limit: object, keywords: object, **filters: object) -> dict[str, Any]:
    """Return these fields of a query; raise QueryError if one is of another type, or is not valid."""
    if type(limit) is not int:
        raise QueryError(f"limit {limit!r} is no whole number", fix="Ask for 1 document or more.")
    words = (keywords,) if isinstance(keywords, str) else keywords or ()
    if not (isinstance(words, (list, tuple, set, frozenset)) and all(isinstance(word, str) for word in words)):
        raise QueryError(f"keywords {keywords!r} are no list of texts", fix='Write them as ["oil", "pump"].')
    texts = {name: given_text("" if value is None else value, name) for name, value in filters.items()}
    if texts["expand_context"] not in ("", *CONTEXTS):
        raise QueryError(
            f"expand_context {texts['expand_context']!r} is unknown", fix=f"Known are: {', '.join(CONTEXTS)}."
        )
    return {"limit": limit, "keywords": tuple(words), **texts}
