"""What a server does when it is told to end: it finishes what is under way, and goes."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable


def end_at_signals(end: Callable[[], None]) -> None:
    """Have `end` called in the running loop when the process is interrupted or told to terminate."""
    if sys.platform == "win32":
        return  # its loop takes no handlers; an interrupt ends the process there, and no file is ever half written
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
