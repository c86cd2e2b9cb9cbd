"""Keeps the compiled files up to date while a server runs.

Changed sources are compiled in another process (`python -m deia.serve.server.recompile ROOT [COLLECTION]…`), because a
compile would hold the server's interpreter lock and use its memory. Until that has finished, answers come from the
previous files.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import deia
from deia.compile.manifest import read_manifest
from deia.errors import ArtefactError, DeiaError
from deia.serve.server.desk import LOOK, DeskThread

Report: TypeAlias = Callable[[float, str], Awaitable[None]]

PATIENCE = 60.0  # seconds after a failed compile, at most, until the next
HIDDEN = "the reason is in: deia log --event error"  # it may name documents that this server does not offer
REPORT_EVERY = 0.5  # seconds between two reports of progress
PROGRESS = "compiling the commons"


async def report_nothing(_seconds: float, _message: str) -> None:
    """Report no progress."""


class Recompiler:
    """Watches the sources of a desk; each of `on_change` is awaited when there are new compiled files."""

    def __init__(self, desk_thread: DeskThread) -> None:
        self.desk_thread = desk_thread
        self.on_change: list[Callable[[], Awaitable[None]]] = []
        self.trouble = ""
        self._lock = asyncio.Lock()  # one compile at a time
        self._generation: tuple[bytes | None, tuple[int, int] | None] | None = None
        self._outdated = False  # whether to compile although no source changed

    async def run(self) -> None:
        """Check the sources until cancelled."""
        wait = LOOK
        manifest = await self.desk_thread.run(lambda: read_manifest(self.desk_thread.desk.derived))
        self._outdated = manifest.deia != deia.__version__  # only this shows new models
        while True:
            await asyncio.sleep(wait)
            changed = await self.desk_thread.run(self._changed)
            if changed:
                try:
                    await self.bring_up_to_date()
                except ArtefactError as error:
                    self.trouble = str(error)
            await self._report_change()
            # If the same source is still newer than the compiled files, compiling does not help: check less often.
            unchanged = changed and await self.desk_thread.run(self._changed) == changed
            wait = min(PATIENCE, wait * 2) if unchanged else LOOK

    def _changed(self) -> str:
        desk = self.desk_thread.desk
        outdated = self._outdated or not desk.is_compiled() or desk.is_library_behind()
        return "the compiled files" if outdated else desk.changed_source()

    async def wait_until_compiled(self, report: Report = report_nothing) -> None:
        """Compile the commons if it is not compiled yet; raise ArtefactError if that failed."""
        if not await self.desk_thread.run(self.desk_thread.desk.is_compiled):
            await self.bring_up_to_date(report)

    async def bring_up_to_date(self, report: Report = report_nothing) -> None:
        """Compile what changed and wait until that has finished; cancelling this ends the compile."""
        async with self._lock:
            if not await self.desk_thread.run(self._changed):
                return
            code, output = await self._compile(report)
            self._outdated = self._outdated and bool(code)
        self.trouble = ""
        if code:
            raise self._failure(code, output)
        await self._report_change()

    def _failure(self, code: int, output: str) -> ArtefactError:
        desk = self.desk_thread.desk
        reason = output.strip().rpartition("\n")[2][:400] or f"exit code {code}"
        if desk.collections:
            desk.librarian.log("error", {"error": reason, "where": "compiling collections"})
            reason = HIDDEN
        return ArtefactError(f"the commons could not be compiled: {reason}", fix="A person can type: deia lint")

    async def _compile(self, report: Report) -> tuple[int, str]:
        """Compile in another process and return its exit code and what it wrote to standard error."""
        desk = self.desk_thread.desk
        command = (sys.executable, "-P", "-m", __name__, desk.root, *desk.collections)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, env=os.environ,
        )  # fmt: skip
        began = time.monotonic()
        ending = asyncio.ensure_future(process.communicate())
        try:
            await report(0.0, PROGRESS)
            while not (await asyncio.wait([ending], timeout=REPORT_EVERY))[0]:
                await report(time.monotonic() - began, PROGRESS)
        finally:
            if process.returncode is None:
                process.kill()  # the previous compiled files remain
                await asyncio.shield(ending)
        return process.returncode or 0, ending.result()[1].decode("utf-8", "replace")

    async def _report_change(self) -> None:
        generation = await self.desk_thread.run(self.desk_thread.desk.generation)
        before, self._generation = self._generation, generation  # nothing comes between: reports may overlap
        for callback in self.on_change if before not in (None, generation) else ():
            await callback()


def main() -> int:
    """Compile the commons, or the collections of it, that the arguments name; return 0, or 2 after printing why."""
    from deia.compile.compiler import compile_commons  # noqa: PLC0415 - the server itself never compiles
    from deia.compile.take_in import compile_part_of_library  # noqa: PLC0415 - likewise

    try:
        compile_part_of_library(sys.argv[1], os.environ, sys.argv[2:])
        compile_commons(sys.argv[1], environ=os.environ, collections=sys.argv[2:])
    except DeiaError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
