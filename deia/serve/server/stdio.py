"""An MCP server on standard input and output: the first answers at once, the library loaded meanwhile, a clean end.

Ends when the client closes its side and has its answers, or at a signal; what was begun is finished first.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deia.folders import state_folder
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk
from deia.serve.server.early_answers import Greeter, early
from deia.serve.server.line_transport import Wire, has_id, private_wire, refuse
from deia.serve.server.shutdown import end_at_signals

END = b""
LINGER = 30.0  # seconds for answers that are under way when the input ends; a compile takes some of them
CANCELLED = "notifications/cancelled"


class Underway:
    """The requests that were taken and have no answer on the wire yet, and the questions put to the client."""

    def __init__(self) -> None:
        self._requests: set[object] = set()
        self._questions: set[object] = set()
        self._idle = asyncio.Event()

    def take(self, message: Any) -> None:
        """Note what came: a request, one that is taken back and is waited for no longer, or an answer."""
        identity, method = getattr(message, "id", None), getattr(message, "method", "")
        if method == CANCELLED:
            taken_back = (message.params or {}).get("requestId")
            self._requests.discard(taken_back if isinstance(taken_back, (str, int)) else None)
        elif method and identity is not None:
            self._requests.add(identity)
        elif not method:
            self._questions.discard(identity)
        self._look()

    def said(self, message: Any) -> None:
        """Note what went out: an answer, or a question."""
        identity = getattr(message, "id", None)
        if hasattr(message, "method"):
            self._questions.update(() if identity is None else (identity,))
        else:
            self._requests.discard(identity)
        self._look()

    def give_up(self) -> None:
        """Note that nobody will be answered any more."""
        self._requests.clear()
        self._look()

    def _look(self) -> None:
        """See whether anything is under way but what waits for an answer of the client, each for one."""
        if len(self._requests) <= len(self._questions):
            self._idle.set()
        else:
            self._idle.clear()

    async def over(self) -> None:
        """Wait until everything is answered that can be without the client, but not for ever."""
        self._look()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await self._idle.wait()


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


def serve_stdio(
    make_desk: Callable[[], Desk], offered: Sequence[Mapping[str, Any]], *, commons: str = "", hooks: bool = False
) -> None:
    """Serve until the client leaves; with `hooks` its host's events too, of the commons that a person named, if any.

    Raises:
        DeiaError: there is no commons to serve, or no standard input or output to serve it on.
    """
    wire = private_wire()
    desk = make_desk()
    greeter = Greeter(offered)
    inbox = Inbox(wire, greeter)
    wire.start(inbox.take, inbox.ended)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # a host shows standard error as the server's own trouble
    asyncio.run(_serve(desk, offered, wire, inbox, greeter, commons=commons if hooks else None))


async def _serve(
    desk: Desk, offered: Sequence[Mapping[str, Any]], wire: Wire, inbox: Inbox, greeter: Greeter, *, commons: str | None
) -> None:
    from deia.serve.server.assemble import Assembled  # noqa: PLC0415 - the SDK, while the first answers are given
    from deia.serve.server.hook_events import Hooks  # noqa: PLC0415 - few servers are asked by hooks

    queue: asyncio.Queue[bytes] = asyncio.Queue()
    inbox.hand_over(queue, asyncio.get_running_loop())
    stop = asyncio.Event()
    end_at_signals(stop.set)
    hooks = Hooks(commons=commons) if commons is not None else None
    assembled = Assembled(desk, offered, audit_state=state_folder(os.environ), transport="stdio", hooks=hooks)
    if hooks is not None:
        await asyncio.to_thread(hooks.warm_up)
    serving = asyncio.ensure_future(_converse(assembled, queue, wire, greeter))
    keeping = asyncio.ensure_future(assembled.keeper.run())
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
    wire.end()
    for task in (serving, keeping, stopping):
        task.cancel()
    await asyncio.gather(serving, keeping, stopping, return_exceptions=True)
    if hooks is not None:
        hooks.leave()
    assembled.leave()


async def _converse(assembled: Assembled, queue: asyncio.Queue[bytes], wire: Wire, greeter: Greeter) -> None:
    import anyio  # noqa: PLC0415 - with the SDK

    send_in, receive_in = anyio.create_memory_object_stream[Any](0)
    send_out, receive_out = anyio.create_memory_object_stream[Any](0)
    server, underway = assembled.server, Underway()

    async def read_on() -> None:
        """Pass messages on until the input ends, and close when all of them are answered."""
        async with send_in:
            await _pump_in(queue, wire, send_in, underway)
            wire.end()
            assembled.librarianship.subscribers.close()  # who listens to changes would be waited for
            await underway.over()

    async with anyio.create_task_group() as group:
        group.start_soon(read_on)
        group.start_soon(_pump_out, wire, greeter, receive_out, underway)
        await server.run(receive_in, send_out, server.create_initialization_options())
        await asyncio.sleep(0)
        group.cancel_scope.cancel()


async def _pump_in(queue: asyncio.Queue[bytes], wire: Wire, send: Any, underway: Underway) -> None:
    import anyio  # noqa: PLC0415 - with the SDK
    import mcp_types as types  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    while (line := await queue.get()) != END and not wire.closed:
        wire.taken()
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await asyncio.to_thread(refuse, wire, line)
            continue
        if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and has_id(line):
            await asyncio.to_thread(refuse, wire, line)  # its id is of no form that an answer could carry
            continue
        underway.take(message)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await send.send(SessionMessage(message))


async def _pump_out(wire: Wire, greeter: Greeter, receive: Any, underway: Underway) -> None:
    async with receive:
        async for item in receive:
            message = item.message
            answers = None if hasattr(message, "method") else getattr(message, "id", None)
            if answers in greeter.answered:
                greeter.answered.discard(answers)
                underway.said(message)
                continue
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            if not await asyncio.to_thread(wire.write, data):
                break
            underway.said(message)
    underway.give_up()
