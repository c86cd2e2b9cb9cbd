"""An MCP server on standard input and output.

It ends when the client closes its side and has all its answers, or at a signal, after the requests in progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from deia.folders import state_folder
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk
from deia.serve.server.hook_events import Hooks
from deia.serve.server.line_transport import Wire, has_id, private_wire, refuse_line
from deia.serve.server.shutdown import end_at_signals
from deia.serve.server.tool_schemas import Tool

END = b""
LINGER = 30.0  # seconds that answers may take after the end of the input; a compile takes some of them
CANCELLED = "notifications/cancelled"


class Underway:
    """The client's requests that are not answered yet, and the server's questions to the client."""

    def __init__(self) -> None:
        self._requests: set[str | int | None] = set()
        self._questions: set[str | int | None] = set()
        self._idle = asyncio.Event()

    def received(self, message: types.JSONRPCMessage) -> None:
        """Record a message of the client: a request, its cancellation, or an answer to a question."""
        if isinstance(message, types.JSONRPCRequest):
            self._requests.add(message.id)
        elif not isinstance(message, types.JSONRPCNotification):
            self._questions.discard(message.id)
        elif message.method == CANCELLED:
            cancelled = (message.params or {}).get("requestId")
            self._requests.discard(cancelled if isinstance(cancelled, (str, int)) else None)
        self._update()

    def sent(self, message: types.JSONRPCMessage) -> None:
        """Record a message to the client: an answer, or a question."""
        if isinstance(message, types.JSONRPCRequest):
            self._questions.add(message.id)
        elif not isinstance(message, types.JSONRPCNotification):
            self._requests.discard(message.id)
        self._update()

    def give_up(self) -> None:
        """Forget all requests, because the client is gone."""
        self._requests.clear()
        self._update()

    def _update(self) -> None:
        """Count the server as idle if every open request waits for the client to answer a question."""
        if len(self._requests) <= len(self._questions):
            self._idle.set()
        else:
            self._idle.clear()

    async def wait_until_idle(self) -> None:
        """Wait, but not for ever, until all requests are answered that do not wait for the client."""
        self._update()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await self._idle.wait()


def serve_stdio(
    make_desk: Callable[[], Desk], tools: Sequence[Tool], *, commons: str = "", hooks: bool = False
) -> None:
    """Serve until the client leaves; with `hooks` also its host's hook events, for `commons` if that is given."""
    wire = private_wire()
    desk = make_desk()
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # a host shows standard error as a problem of the server
    asyncio.run(_serve(desk, tools, wire, commons=commons if hooks else None))


async def _serve(desk: Desk, tools: Sequence[Tool], wire: Wire, *, commons: str | None) -> None:
    stop = asyncio.Event()
    end_at_signals(stop.set)
    hooks = Hooks(commons=commons) if commons is not None else None
    assembled = Assembled(desk, tools, state=state_folder(os.environ), transport="stdio", hooks=hooks)
    if hooks is not None:
        await asyncio.to_thread(hooks.warm_up)
    serving = asyncio.ensure_future(_converse(assembled, wire))
    stopping = asyncio.ensure_future(stop.wait())
    tasks: list[asyncio.Future[Any]] = [serving, stopping, *assembled.keep_fresh()]
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    wire.end()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if hooks is not None:
        hooks.close()
    assembled.close()


async def _converse(assembled: Assembled, wire: Wire) -> None:
    send_in, receive_in = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    send_out, receive_out = anyio.create_memory_object_stream[SessionMessage](0)
    server, underway = assembled.server, Underway()

    async def read_all() -> None:
        """Pass messages to the SDK until the input ends, and close its stream when all of them are answered."""
        async with send_in:
            await _pump_in(wire, send_in, underway)
            wire.end()
            assembled.handlers.subscribers.close()  # otherwise the open streams would be waited for
            await underway.wait_until_idle()

    async with anyio.create_task_group() as group:
        group.start_soon(read_all)
        group.start_soon(_pump_out, wire, receive_out, underway)
        await server.run(receive_in, send_out, server.create_initialization_options())
        await asyncio.sleep(0)
        group.cancel_scope.cancel()


async def _pump_in(
    wire: Wire, stream: MemoryObjectSendStream[SessionMessage | Exception], underway: Underway
) -> None:  # fmt: skip
    """Pass the lines that the wire reads to the SDK."""
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(line: bytes) -> None:
        """Queue a line; the reading thread calls this."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(lines.put_nowait, line)

    wire.start(put, lambda: put(END))
    while (line := await lines.get()) != END and not wire.closed:
        wire.taken()
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await asyncio.to_thread(refuse_line, wire, line)
            continue
        if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and has_id(line):
            await asyncio.to_thread(refuse_line, wire, line)  # its id has a form that an answer cannot contain
            continue
        underway.received(message)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.send(SessionMessage(message))


async def _pump_out(wire: Wire, stream: MemoryObjectReceiveStream[SessionMessage], underway: Underway) -> None:
    """Write the messages of the SDK to the wire."""
    async with stream:
        async for item in stream:
            data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            if not await asyncio.to_thread(wire.write, data):
                break
            underway.sent(item.message)
    underway.give_up()
