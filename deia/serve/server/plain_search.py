"""`GET /search?q=…`: the search tool without MCP, for curl and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import SEARCH_TOOL
from deia.serve.server.dispatch import call, find_tool, prepare

SHORT = {"q": "query"}  # parameters with another name than that of the tool
MOST_PARAMETERS = 20
MOST_DIGITS = 9


async def search_answer(assembled: Assembled, query_string: bytes) -> tuple[int, Mapping[str, Json]]:
    """Return the status and the answer, which is what the search tool answers, or an error and what to do."""

    def ask() -> Mapping[str, Json]:
        """Return what the tool answers."""
        tool = find_tool(assembled.handlers.tools, SEARCH_TOOL)
        return call(assembled.desk, prepare(assembled.desk, tool, _values(query_string))).fields

    try:
        return 200, await assembled.desk_thread.run(ask)
    except DeiaError as error:
        return 400, {"error": error.message, "fix": error.fix}


def _values(query_string: bytes) -> dict[str, Json]:
    """Return the parameters as arguments of the tool; raise QueryError if there are none."""
    values = {SHORT.get(name, name): value for name, value in parameters(query_string).items()}
    if not values:
        raise QueryError("there is no question", fix="Ask: /search?q=WORDS")
    return {name: int(value) if _is_number(value) and name == "limit" else value for name, value in values.items()}


def parameters(query_string: bytes) -> dict[str, str]:
    """Return the parameters of a request; raise QueryError if they cannot be read."""
    try:
        return dict(parse_qsl(query_string.decode("ascii"), errors="strict", max_num_fields=MOST_PARAMETERS))
    except ValueError as error:
        raise QueryError("the parameters cannot be read", fix="Write them as name=WORDS, encoded as UTF-8.") from error


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
