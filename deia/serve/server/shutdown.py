"""Signal handlers with which a server ends after the requests in progress."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable


def end_at_signals(end: Callable[[], None]) -> None:
    """Call `end` in the running event loop when the process receives SIGINT or SIGTERM."""
    if sys.platform == "win32":
        return  # its event loop has no signal handlers; an interrupt ends the process, which damages no file
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
