"""The thread in which a desk works.

Only deia's own errors reach the protocol. Any other is logged with its place, and the client learns only that it
happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from deia.errors import ArtefactError, DeiaError
from deia.serve.server.desk import Desk

Value = TypeVar("Value")


class DeskThread:
    """Runs tasks for a desk one after another, outside the event loop."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deia-desk")

    async def run(self, task: Callable[[], Value]) -> Value:
        """Run a task with what the person trusts now; if the caller is cancelled before it begins, it is not run."""
        future = self._thread.submit(self._do, task)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait([waiting])
        finally:
            if not waiting.done():
                future.cancel()
        error = waiting.exception()
        if error is None:
            return waiting.result()
        if isinstance(error, DeiaError):
            raise error
        raise self._log(error) from error

    def _do(self, task: Callable[[], Value]) -> Value:
        self.desk.follow_trust()
        return task()

    def _log(self, error: BaseException) -> DeiaError:
        """Log an unexpected error and return one for the client."""
        frame, where = error.__traceback__, ""
        while frame is not None:
            where = f"{frame.tb_frame.f_code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{frame.tb_lineno}"
            frame = frame.tb_next
        self.desk.librarian.log("error", {"error": f"{type(error).__name__}: {error}"[:500], "where": where})
        return ArtefactError(
            f"something went wrong inside deia ({type(error).__name__} at {where})",
            fix="Try another question; a person can see the details with: deia log --event error",
        )

    def close(self) -> None:
        """Finish the task that is running and start no other."""
        self._thread.shutdown(wait=True, cancel_futures=True)
