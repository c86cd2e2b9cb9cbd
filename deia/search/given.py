"""What a program hands over with a question, checked: it may write anything where a text or a number belongs."""

from __future__ import annotations

import os

from deia.errors import QueryError
from deia.firing import Firing
from deia.knowledge import CONTEXTS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def given_text(question: object, name: str = "the question", *, fix: str = "Ask in words.") -> str:
    """Return a question that is a text; raise QueryError about anything else."""
    if not isinstance(question, str):
        raise QueryError(f"{name} is a {type(question).__name__}, not a text", fix=fix)
    return question


def given_number(number: object, name: str) -> int:
    """Return a whole number; raise QueryError about anything else."""
    if type(number) is not int:
        raise QueryError(f"{name} {number!r:.100} is no whole number", fix="Write it as 10.")
    return number


def given_folder(root: object) -> str:
    """Return a folder that is named by a text or a path; raise QueryError about anything else."""
    path = os.fspath(root) if isinstance(root, os.PathLike) else root
    return given_text(path, "the commons' folder", fix="Name a folder.")


def given_conversation(conversation: object) -> None:
    """Raise QueryError about what is no conversation; its items may be anything that has a text."""
    if conversation is None or isinstance(conversation, (bool, int, float, bytes)):
        problem = f"the conversation is a {type(conversation).__name__}"
        raise QueryError(problem, fix='Write it as ["User: …", "Assistant: …"], or as messages.')


def given_firings(firings: object) -> list[Firing]:
    """Return firings as a list; raise QueryError about anything else."""
    listed: list[Any] = list(firings) if hasattr(firings, "__iter__") else [firings]
    for one in listed:
        if not isinstance(one, Firing):
            raise QueryError(
                f"{type(one).__name__} {one!r:.80} is no firing", fix="Pass on what check_triggers returns."
            )
    return listed


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
