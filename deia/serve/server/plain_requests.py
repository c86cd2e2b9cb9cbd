"""`GET /search?q=…` and `POST /upload?name=FILE&collection=NAME`: two tools without MCP, for curl and scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import SEARCH_TOOL
from deia.serve.server.dispatch import call, find_tool, prepare
from deia.serve.server.library_tools import index_source, start
from deia.serve.server.limits import MOST_BODY
from deia.serve.server.tool_arguments import SourceArguments

SHORT = {"q": "query"}  # parameters with another name than that of the tool
MOST_PARAMETERS = 20
MOST_DIGITS = 9
TOOL = "index_source"  # who is offered this tool may upload
READ_ONLY = "Set DEIA_TOKEN, and omit --read-only and --collection."


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


async def upload_answer(
    assembled: Assembled, query_string: bytes, body: Callable[[], Awaitable[bytes | None]]
) -> tuple[int, Mapping[str, Json]]:
    """Return the status and what was registered, or an error and what to do; taking the file in has begun then."""
    if all(tool.name != TOOL for tool in assembled.handlers.tools):
        return 403, {"error": "clients of this server can only read", "fix": READ_ONLY}
    content, desk = await body(), assembled.desk
    if content is None:
        return 413, {"error": f"the file did not arrive whole; it may have at most {MOST_BODY} bytes"}

    def take() -> Mapping[str, Json]:
        """Keep the file and start taking it in."""
        values = parameters(query_string)
        name, collection = values.pop("name", ""), values.pop("collection", "")
        if values or not name:
            raise QueryError("an upload has a name, and may have a collection", fix="Post to /upload?name=FILE")
        reply = index_source(desk, SourceArguments(source=name, collection=collection), body=content)
        start(desk, reply.source)
        return reply.fields

    try:
        return 202, await assembled.desk_thread.run(take)
    except DeiaError as error:
        return 400, {"error": error.message, "fix": error.fix}
