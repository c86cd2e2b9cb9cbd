"""The one thread in which a desk is asked, and the rim of a server: what goes wrong inside comes out as a sentence.

Refuses to let anything else than an error of deia's own reach the protocol: the rest is logged with its place, and the
client is told only that it happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from deia.errors import ArtefactError, DeiaError
from deia.serve.server.desk import Desk

Done = TypeVar("Done")


class Clerk:
    """Does work for a desk, one piece after the other, off the event loop."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deia-desk")

    async def do(self, work: Callable[[], Done]) -> Done:
        """Do a piece of work; who no longer waits for it leaves, and what has not begun is not done.

        Raises:
            DeiaError: it cannot be done.
        """
        future = self._thread.submit(work)
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
        raise self._told(error) from error

    def _told(self, error: BaseException) -> DeiaError:
        frame, where = error.__traceback__, ""
        while frame is not None:
            where = f"{frame.tb_frame.f_code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{frame.tb_lineno}"
            frame = frame.tb_next
        told = {"error": f"{type(error).__name__}: {error}"[:500], "where": where}
        self.desk.librarian.log("error", told)
        return ArtefactError(
            f"something went wrong inside deia ({type(error).__name__} at {where})",
            fix="Ask in another way; a person may look into it with: deia log --event error",
        )

    def leave(self) -> None:
        """Finish what has begun, and nothing more."""
        self._thread.shutdown(wait=True, cancel_futures=True)
