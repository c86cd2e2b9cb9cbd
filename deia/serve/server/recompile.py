"""Keeping the compiled files up to date while a server runs: changed sources are noticed and compiled beside it.

Answers go on from the last whole files until the new ones are whole. Refuses to compile twice at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from deia.errors import ArtefactError
from deia.serve.server.desk import LOOK
from deia.serve.server.desk_thread import Clerk

if TYPE_CHECKING:
    Tell = Callable[[float, str], Awaitable[None]]

PATIENCE = 60.0  # seconds after a failed compile, at most, until the next
HIDDEN = "why stands in: deia log --event error"  # it may name what is not offered
TELL = 0.5  # seconds between two words on how far it is


async def tell_nobody(_seconds: float, _message: str) -> None:
    """Say nothing on how far it is."""


class Keeper:
    """Watches the sources of a clerk's desk; `changed` is awaited when new compiled files are there."""

    def __init__(self, clerk: Clerk, *, changed: Callable[[], Awaitable[None]] | None = None) -> None:
        self.clerk = clerk
        self.changed: list[Callable[[], Awaitable[None]]] = [changed] if changed else []
        self.trouble = ""
        self._one = asyncio.Lock()
        self._seen: tuple[Any, ...] | None = None
        self._renew = False  # whether to compile though no source changed

    async def run(self) -> None:
        """Look at the sources for as long as nobody ends it."""
        wait = LOOK
        self._renew = await self.clerk.do(self.clerk.desk.is_of_another_version)
        while True:
            await asyncio.sleep(wait)
            behind = await self.clerk.do(self._behind)
            if behind:
                try:
                    await self.bring_up_to_date()
                except ArtefactError as error:
                    self.trouble = str(error)
            await self._tell_changed()
            same = behind and await self.clerk.do(self._behind) == behind  # compiled and still behind: look less often
            wait = min(PATIENCE, wait * 2) if same else LOOK

    def _behind(self) -> str:
        desk = self.clerk.desk
        return "the compiled files" if self._renew or not desk.is_compiled() else desk.stale()

    async def ready(self, tell: Tell = tell_nobody) -> None:
        """Wait until there is something whole to answer from.

        Raises:
            ArtefactError: it cannot be made.
        """
        if not await self.clerk.do(self.clerk.desk.is_compiled):
            await self.bring_up_to_date(tell)

    async def bring_up_to_date(self, tell: Tell = tell_nobody) -> None:
        """Compile what changed, and wait for it; who is cancelled meanwhile takes the compile with him.

        Raises:
            ArtefactError: it failed; the last whole files stay.
        """
        async with self._one:
            if not await self.clerk.do(self._behind):
                return
            code, said = await self._compile(tell)
            self._renew = self._renew and bool(code)
        self.trouble = ""
        if code:
            told = said.strip().rpartition("\n")[2][:400] or f"exit code {code}"
            if self.clerk.desk.collections:
                self.clerk.desk.librarian.log("error", {"error": told, "where": "compiling collections"})
            reason = HIDDEN if self.clerk.desk.collections else told
            raise ArtefactError(f"the commons could not be compiled: {reason}", fix="A person may type: deia lint")
        await self._tell_changed()

    async def _compile(self, tell: Tell) -> tuple[int, str]:
        desk = self.clerk.desk
        command = (sys.executable, "-P", "-m", "deia.serve.server.compile_process", desk.root, *desk.collections)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, env=os.environ,
        )  # fmt: skip
        began = time.monotonic()
        talking = asyncio.ensure_future(process.communicate())
        try:
            await tell(0.0, "compiling the commons")
            while not (await asyncio.wait([talking], timeout=TELL))[0]:
                await tell(time.monotonic() - began, "compiling the commons")
        finally:
            if process.returncode is None:
                process.kill()  # a compile that is killed leaves what was there
                await asyncio.shield(talking)
        return process.returncode or 0, talking.result()[1].decode("utf-8", "replace")

    async def _tell_changed(self) -> None:
        now = await self.clerk.do(self.clerk.desk.generation)
        if self._seen is not None and now != self._seen:
            self._seen = now
            for each in self.changed:
                await each()
        self._seen = now
