"""Work whose result a program waits for, or awaits if an event loop runs in its thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Generic, TypeVar

from deia.errors import DeiaError

Done = TypeVar("Done")


class Pending(Generic[Done]):
    """The result of what a thread does while an event loop runs: `await` waits for it, and so does whoever asks."""

    def __init__(self, work: Callable[[], Done]) -> None:
        self._future: Future[Done] = Future()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], Done]) -> None:
        try:
            self._future.set_result(work())
        except (DeiaError, OSError) as error:
            self._future.set_exception(error)
        finally:
            if not self._future.done():  # an error that nobody expects, which the thread prints; else all would wait
                self._future.set_exception(DeiaError("the work broke off", fix="What was printed says why."))

    def __await__(self) -> Generator[object, None, Done]:
        """Wait for the thread without holding up the event loop."""
        from asyncio import wrap_future  # noqa: PLC0415 - it is there, since somebody awaits

        return wrap_future(self._future).__await__()

    def __getattr__(self, name: str) -> object:
        """Return a field of the result, once it is there."""
        return getattr(self._future.result(), name)


def awaitable(work: Callable[[], Done]) -> Done | Pending[Done]:
    """Do some work at once or, if an event loop runs in this thread, in another one."""
    asyncio = sys.modules.get("asyncio")  # importing it takes longer than looking at a thousand files
    try:
        running = asyncio is not None and asyncio.get_running_loop()
    except RuntimeError:
        running = None
    return Pending(work) if running else work()
