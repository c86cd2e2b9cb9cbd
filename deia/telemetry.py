"""The log for programs that answer by other means: an event of theirs beside deia's own, redacted like these."""

from __future__ import annotations

from deia.errors import QueryError
from deia.librarian import Librarian
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.fast_json import Json

EVENTS = ("query", "injection", "feedback", "read", "index", "maintenance", "error")
OWN = ("ts", "v", "id")  # fields of every event
OTHER_NAMES = {"librarian_query": "query"}


def log_event(
    *,
    event: str = "query",
    agent_id: str = "python",
    query: str = "",
    matched: bool | str | None = None,
    docs_returned: int | Sequence[str] | None = None,
    response_time_ms: float = 0.0,
    **fields: Json,
) -> str:
    """Write an event to the log of the working folder's commons; return its id, or "" if logging is off.

    `docs_returned` is how many documents were returned, or their ids.

    Raises:
        QueryError: there is no such event, a field is one that deia fills in, or a number makes no sense.
    """
    name = OTHER_NAMES.get(event, event)
    if name not in EVENTS:
        raise QueryError(f"there is no event {event!r}", fix=f"Known are: {', '.join((*EVENTS, *OTHER_NAMES))}.")
    if own := [field for field in fields if field in OWN]:
        raise QueryError(f"deia itself fills in {own[0]}", fix="Give your field another name.")
    _check_numbers(docs_returned, response_time_ms)
    known = {"query": query, "matched": matched, "response_time_ms": response_time_ms}
    returned = {"returned": docs_returned} if isinstance(docs_returned, int) else {"docs": list(docs_returned or ())}
    present = {key: value for key, value in {**known, **returned, **fields}.items() if value not in ("", None)}
    return Librarian(agent=agent_id).log(name, present)


def _check_numbers(docs_returned: object, response_time_ms: float) -> None:
    """Raise QueryError about a number of documents or a time that can be none; a list of documents is fine."""
    is_number = type(docs_returned) is int and docs_returned >= 0
    if not is_number and not isinstance(docs_returned, (list, tuple, set, frozenset, type(None))):
        fix = "Say how many, or give a list of their ids."
        raise QueryError(f"docs_returned {docs_returned!r} is no number of documents", fix=fix)
    if type(response_time_ms) not in (int, float) or not 0 <= response_time_ms < float("inf"):
        raise QueryError(f"response_time_ms {response_time_ms!r} is no time", fix="Give milliseconds, such as 12.5.")
