"""All parts of a server except its transport: the desks, the recompiler, the protocol's handlers, the signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence

from deia.serve.server.account import FULL, OFF, Account, Books
from deia.serve.server.audit_trail import AuditTrail, audit_folder
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.hook_events import Hooks
from deia.serve.server.library_watch import keep_library_fresh
from deia.serve.server.metrics import Metrics
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


def books_of(desk: Desk, *, transport: str) -> Books:
    """Return where a server over a desk writes down what it is asked, as the settings have it."""
    settings = desk.librarian.settings
    folder = audit_folder(desk.root, os.environ)
    trail = AuditTrail(folder, days=settings.audit_days) if settings.audit != OFF else None
    return Books(metrics=Metrics(), trail=trail, transport=transport, texts=settings.audit == FULL)


class Assembled:
    """The parts of one server; create it in the event loop that will run them."""

    def __init__(self, desk: Desk, tools: Sequence[Tool], *, account: Account, hooks: Hooks | None = None) -> None:
        self.desk = desk
        self.desk_thread = DeskThread(desk)
        self.checker = DeskThread(desk.twin())  # checking a long conversation takes seconds, and others must not wait
        self.recompiler = Recompiler(self.desk_thread)
        self.account = account
        self.handlers = Handlers(self.desk_thread, self.recompiler, account, tools, checker=self.checker, hooks=hooks)
        self.server = self.handlers.server()

    def keep_fresh(self) -> list[asyncio.Future[None]]:
        """Begin to follow changes of the commons and of the library, until these tasks are cancelled."""
        return [asyncio.ensure_future(self.recompiler.run()), asyncio.ensure_future(keep_library_fresh(self.desk))]

    def close(self) -> None:
        """Finish the tasks that are running and start no others."""
        self.desk_thread.close()
        self.checker.close()
