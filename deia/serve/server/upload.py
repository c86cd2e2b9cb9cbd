"""`POST /upload?name=FILE&collection=NAME`: a file for the library, as `index_source` takes it, without MCP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.serve.server.assemble import Assembled
from deia.serve.server.library_tools import index_source, start
from deia.serve.server.limits import MOST_BODY
from deia.serve.server.plain_search import parameters
from deia.serve.server.tool_arguments import SourceArguments

TOOL = "index_source"  # who is offered this tool may upload
READ_ONLY = "Set DEIA_TOKEN, and omit --read-only and --collection."


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
