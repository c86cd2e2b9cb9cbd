"""An MCP server on standard input and output: one message per line, separate from whatever else the process prints.

It ends when the client closes its side and has all its answers, or at a signal, after the requests in progress. A
daemon thread reads, so that an input that never ends delays nothing. Writing first checks whether there is room, so
that a client that stops reading cannot keep the server from ending. A line that is too long is answered with an error,
and the next line is read as usual.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from deia import fast_json
from deia.errors import HostError
from deia.fast_json import Json
from deia.serve.server.account import Account
from deia.serve.server.assemble import Assembled, books_of, end_at_signals
from deia.serve.server.desk import Desk
from deia.serve.server.hook_events import Hooks
from deia.serve.server.tool_schemas import Tool

MOST_LINE = 4_194_304  # bytes of one message; the SDK has the same limit over HTTP
MOST_WAITING = 256  # lines that are read in advance
PIECE = 65_536  # bytes of one read
ROOM = 4_096  # bytes that a pipe accepts at once if it has any room (POSIX: PIPE_BUF)
LOOK = 0.1  # seconds between two checks whether the client is gone
GRACE = 1.0  # seconds after which, while the server ends, a client that reads nothing counts as gone
TOO_LONG, NOT_JSON, NOT_A_REQUEST = -32600, -32700, -32600
END = b""
LINGER = 30.0  # seconds that answers may take after the end of the input; a compile takes some of them
CANCELLED = "notifications/cancelled"


class Wire:
    """Two private file descriptors, one to read from and one to write to."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._write_lock = threading.Lock()
        self._waiting_room = threading.Semaphore(MOST_WAITING)
        self._is_ending = False
        self._is_writable = _write_poller(target)
        self.closed = False

    def start(self, on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Start a thread that calls `on_line` with each line, and `on_end` once at the end."""
        threading.Thread(target=self._read, args=(on_line, on_end), name="deia-wire", daemon=True).start()

    def taken(self) -> None:
        """Count a line as processed, so that there is room for another."""
        self._waiting_room.release()

    def write(self, data: bytes) -> bool:
        """Write a line; return whether the client can still read."""
        with self._write_lock:
            remaining = memoryview(data + b"\n")
            while remaining and self._wait_for_room():
                try:
                    remaining = remaining[os.write(self._target, remaining[:ROOM]) :]
                except OSError:
                    self.closed = True
        return not self.closed

    def end(self) -> None:
        """From now on, count a client that reads nothing for a while as gone, because the server ends."""
        self._is_ending = True

    def _wait_for_room(self) -> bool:
        """Wait until something can be written; return False if the client is gone."""
        waited = 0.0
        while not self.closed and not self._is_writable():
            waited = waited + LOOK if self._is_ending else 0.0
            self.closed = waited >= GRACE
        return not self.closed

    def refuse(self, code: int, message: str, identity: str | int | None = None) -> None:
        """Answer with an error."""
        error = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
        self.write(fast_json.dumps(error).encode())

    def _read(self, on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        for line in self._lines():
            if len(line) > MOST_LINE:
                self.refuse(TOO_LONG, f"a message may have at most {MOST_LINE} bytes")
            elif line.strip():
                self._waiting_room.acquire()
                on_line(line)
        on_end()

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines; of one that is too long, only as much as shows that it is."""
        buffer = bytearray()
        while piece := self._piece():
            *complete, start = piece.split(b"\n")
            for part in complete:
                buffer += part
                yield bytes(buffer)
                buffer.clear()
            if len(buffer) <= MOST_LINE:
                buffer += start
        if buffer:
            yield bytes(buffer)

    def _piece(self) -> bytes:
        try:
            return os.read(self._source, PIECE)
        except OSError:
            return b""


def refuse_line(wire: Wire, line: bytes) -> None:
    """Answer a line that is not a JSON-RPC message with an error, under its own id if it has one."""
    try:
        message: Json = json.loads(line)
    except ValueError:
        wire.refuse(NOT_JSON, "not JSON")
        return
    except RecursionError:
        wire.refuse(NOT_A_REQUEST, "nested too deeply")
        return
    identity = message.get("id") if isinstance(message, dict) else None
    identity = identity if isinstance(identity, (str, int)) and not isinstance(identity, bool) else None
    wire.refuse(NOT_A_REQUEST, f"not a JSON-RPC 2.0 message: {_problem(message)}", identity)


def _problem(message: Json) -> str:
    if not isinstance(message, dict):
        return "each line must be one object"
    if message.get("jsonrpc") != "2.0":
        return '"jsonrpc": "2.0" is missing'
    if "id" in message and (not isinstance(message["id"], (str, int)) or isinstance(message["id"], bool)):
        return "id must be a string or an integer"
    if not isinstance(message.get("params") or {}, dict):
        return "params must be an object"
    return "method is missing, a character is incomplete, or it is nested too deeply"


def _write_poller(target: int) -> Callable[[], bool]:
    """Return a function that waits a moment for room to write and returns whether there is some."""
    # If the system has no `poll`, the write itself waits.
    if not hasattr(select, "poll"):
        return lambda: True
    poll = select.poll()
    poll.register(target, select.POLLOUT)
    return lambda: bool(poll.poll(LOOK * 1_000))


def private_wire() -> Wire:
    """Reserve standard input and output for the protocol; from now on, prints go to standard error."""
    if sys.stdin is None or sys.stdout is None:  # they were closed, and their numbers may belong to other files now
        fix = "A host starts this and keeps both open; to see its settings: deia serve config HOST"
        raise HostError("there is no standard input or output to serve on", fix=fix)
    source, target = os.dup(0), os.dup(1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    with contextlib.suppress(OSError):  # if there is no standard error either, prints are lost
        os.dup2(2, 1)
    return Wire(source, target)


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
    assembled = Assembled(desk, tools, account=Account(books_of(desk, transport="stdio")), hooks=hooks)
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


async def _pump_in(wire: Wire, stream: MemoryObjectSendStream[SessionMessage | Exception], underway: Underway) -> None:
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
        if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
            await asyncio.to_thread(refuse_line, wire, line)  # its id has a form that an answer cannot contain
            continue
        underway.received(message)
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.send(SessionMessage(message))


async def _pump_out(wire: Wire, stream: MemoryObjectReceiveStream[SessionMessage], underway: Underway) -> None:
    async with stream:
        async for item in stream:
            data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            if not await asyncio.to_thread(wire.write, data):
                break
            underway.sent(item.message)
    underway.give_up()
