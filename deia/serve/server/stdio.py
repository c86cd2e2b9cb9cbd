"""An MCP server on standard input and output: the first answers at once, the library loaded meanwhile, a clean end.

Ends when the client closes its side, or at a signal; what was begun is finished first.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import os
import threading
from typing import TYPE_CHECKING, Any

from deia.folders import state_folder
from deia.serve.server.greeting import Greeter, early
from deia.serve.server.signals import end_at_signals
from deia.serve.server.wire import NOT_A_REQUEST, NOT_JSON, Wire, private_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.lowlevel.server import Server

    from deia.serve.server.desk import Desk

END = b""


class Inbox:
    """Lines from the reading thread; before a loop is there they wait."""

    def __init__(self, wire: Wire, greeter: Greeter) -> None:
        self._wire, self._greeter = wire, greeter
        self._early: collections.deque[bytes] = collections.deque()
        self._put: Callable[[bytes], None] = self._early.append
        self._handing = threading.Lock()

    def take(self, line: bytes) -> None:
        """Take a line, answering it at once where that can be."""
        with self._handing:
            if not self._greeter.done:
                early(self._greeter, self._wire.write, line)
            self._put(line)

    def ended(self) -> None:
        """Take note that no more will come."""
        with self._handing:
            self._put(END)

    def hand_over(self, queue: asyncio.Queue[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """From here on put lines into a queue of the loop, those first that came before."""

        def put(line: bytes) -> None:
            """Put a line into the queue from the reading thread."""
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(queue.put_nowait, line)

        with self._handing:
            self._greeter.done = True
            while self._early:
                queue.put_nowait(self._early.popleft())
            self._put = put


def serve_stdio(make_desk: Callable[[], Desk], offered: Sequence[Mapping[str, Any]]) -> None:
    """Serve until the client leaves.

    Raises:
        DeiaError: there is no commons to serve, or no standard input or output to serve it on.
    """
    wire = private_wire()
    desk = make_desk()
    greeter = Greeter(offered)
    inbox = Inbox(wire, greeter)
    wire.start(inbox.take, inbox.ended)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # a host shows standard error as the server's own trouble
    asyncio.run(_serve(desk, offered, wire, inbox, greeter))


async def _serve(desk: Desk, offered: Sequence[Mapping[str, Any]], wire: Wire, inbox: Inbox, greeter: Greeter) -> None:
    from deia.serve.server.assembling import Assembled  # noqa: PLC0415 - the SDK, while the first answers are given

    queue: asyncio.Queue[bytes] = asyncio.Queue()
    inbox.hand_over(queue, asyncio.get_running_loop())
    stop = asyncio.Event()
    end_at_signals(stop.set)
    assembled = Assembled(desk, offered, audit_state=state_folder(os.environ), transport="stdio")
    serving = asyncio.ensure_future(_converse(assembled.server, queue, wire, greeter))
    keeping = asyncio.ensure_future(assembled.keeper.run())
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, keeping, stopping):
        task.cancel()
    await asyncio.gather(serving, keeping, stopping, return_exceptions=True)
    assembled.clerk.leave()


async def _converse(server: Server[Any], queue: asyncio.Queue[bytes], wire: Wire, greeter: Greeter) -> None:
    import anyio  # noqa: PLC0415 - with the SDK

    send_in, receive_in = anyio.create_memory_object_stream[Any](0)
    send_out, receive_out = anyio.create_memory_object_stream[Any](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_pump_in, queue, wire, send_in)
        group.start_soon(_pump_out, wire, greeter, receive_out)
        await server.run(receive_in, send_out, server.create_initialization_options())
        await asyncio.sleep(0)
        group.cancel_scope.cancel()


async def _pump_in(queue: asyncio.Queue[bytes], wire: Wire, send: Any) -> None:
    import anyio  # noqa: PLC0415 - with the SDK
    import mcp_types as types  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    async with send:
        while (line := await queue.get()) != END and not wire.closed:
            wire.taken()
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError as error:
                torn = error.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid"
                wire.refuse(NOT_JSON if torn else NOT_A_REQUEST, "not JSON" if torn else "not a JSON-RPC 2.0 message")
                continue
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await send.send(SessionMessage(message))


async def _pump_out(wire: Wire, greeter: Greeter, receive: Any) -> None:
    async with receive:
        async for item in receive:
            message = item.message
            identity = getattr(message, "id", None)
            if identity in greeter.answered and not hasattr(message, "method"):
                greeter.answered.discard(identity)
                continue
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            if not await asyncio.to_thread(wire.write, data):
                return
