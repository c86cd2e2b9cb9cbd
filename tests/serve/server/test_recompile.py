"""A server that keeps the compiled files up to date tells each change once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from deia import files
from deia.serve.server.desk import Desk, DeskThread
from deia.serve.server.recompile import Recompiler

if TYPE_CHECKING:
    from pathlib import Path


def test_reports_that_overlap_tell_a_change_once(tmp_path: Path) -> None:
    (tmp_path / "deia.toml").write_text("", encoding="utf-8")
    desk = Desk(str(tmp_path))
    recompiler = Recompiler(DeskThread(desk))
    told: list[str] = []

    async def tell() -> None:
        told.append("changed")

    async def report() -> None:
        recompiler.on_change.append(tell)
        await recompiler._report_change()
        assert files.keep(f"{desk.derived}/triggers", b"new")
        await asyncio.gather(recompiler._report_change(), recompiler._report_change())

    asyncio.run(report())
    assert told == ["changed"]
