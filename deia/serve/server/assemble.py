"""All parts of a server except its transport: the desks, the recompiler, the protocol's handlers, the signals."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence

from deia.serve.server.call_log import CallLog
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.hook_events import Hooks
from deia.serve.server.library_watch import keep_library_fresh
from deia.serve.server.protocol import Handlers
from deia.serve.server.recompile import Recompiler
from deia.serve.server.tool_schemas import Tool


def end_at_signals(end: Callable[[], None]) -> None:
    """Call `end` in the running event loop when the process receives SIGINT or SIGTERM."""
    if sys.platform == "win32":
        return  # its event loop has no signal handlers; an interrupt ends the process, which damages no file
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)


class Assembled:
    """The parts of one server; create it in the event loop that will run them."""

    def __init__(
        self, desk: Desk, tools: Sequence[Tool], *, state: str, transport: str, hooks: Hooks | None = None
    ) -> None:
        self.desk = desk
        self.desk_thread = DeskThread(desk)
        self.checker = DeskThread(desk.twin())  # checking a long conversation takes seconds, and others must not wait
        self.recompiler = Recompiler(self.desk_thread)
        self.call_log = CallLog(state, transport=transport)
        self.handlers = Handlers(
            self.desk_thread, self.recompiler, self.call_log, tools, checker=self.checker, hooks=hooks
        )
        self.server = self.handlers.server()

    def keep_fresh(self) -> list[asyncio.Future[None]]:
        """Begin to follow changes of the commons and of the library, until these tasks are cancelled."""
        return [asyncio.ensure_future(self.recompiler.run()), asyncio.ensure_future(keep_library_fresh(self.desk))]

    def close(self) -> None:
        """Finish the tasks that are running and start no others."""
        self.desk_thread.close()
        self.checker.close()
