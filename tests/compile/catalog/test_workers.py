"""Documents come to the same bytes in any process, and a compile succeeds without other processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
from typing import TYPE_CHECKING

import pytest

from deia.compile.catalog import workers
from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.catalog.document_store import Volume, volumes
from deia.compile.catalog.prepare import Prepared, prepared
from deia.compile.catalog.workers import each_prepared
from deia.folders import PACKAGE
from deia.knowledge import Document, Entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXTS = (
    "# Pods\n\nA Horizontal Pod Autoscaler (HPA) restarts `KubePodCrashLooping`.\n",
    "",
    "## Ünïcode\n\nfür 中文 \ud800 half, it's snake_case and \x0b controls\n",
    "# Long\n\n" + "one more paragraph of words\n\n" * 90,
    "```\ncode only\n```",
)


@pytest.fixture(autouse=True)
def _few_documents_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PARALLEL_FROM", 20)
    monkeypatch.setattr(workers, "BATCH", 7)
    monkeypatch.setattr(workers, "_processes", lambda: 2)


def built(folder: Path) -> dict[str, bytes]:
    """Build a catalog; return the files whose bytes depend on the documents alone."""
    documents = [
        Document(path=f"bok/{number}.md", title=f"Title {number}", text=f"{TEXTS[number % 5]} {number}", first_line=2)
        for number in range(40)
    ]
    entries = [
        Entry(
            id=f"d{number}", path=f"bok/{number}.md", title=f"GitPush {number}", tags=("é", "b"), clusters=("all",),
            extra={"type": "note", "strength": 0.5}, line=number,
        )
        for number in range(36)
    ]  # fmt: skip
    folder.mkdir()
    report = build_catalog(entries, documents, [], [], str(folder))
    assert report.documents == 40
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "catalog.json"}


def alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Build the same catalog in this process."""
    with monkeypatch.context() as patch:
        patch.setattr(workers, "PARALLEL_FROM", 10_000)
        patch.setattr(workers, "BATCH", 11)
        return built(folder)


def test_other_processes_come_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = alone(tmp_path / "here", monkeypatch)
    assert len(here) > 10
    assert built(tmp_path / "there") == here


def test_what_other_processes_do_not_do_is_done_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = alone(tmp_path / "here", monkeypatch)
    monkeypatch.setattr(workers, "prepared", _die_elsewhere)
    assert built(tmp_path / "there") == here


def _die_elsewhere(batch: Sequence[Volume], *, static: bool, with_passages: bool) -> Prepared:
    """Prepare documents in the tests' own process, and end any other one."""
    if multiprocessing.parent_process():
        os._exit(1)
    return prepared(batch, static=static, with_passages=with_passages)


@pytest.mark.parametrize(
    ("main", "executable", "count"),
    [
        ("/usr/bin/deia", "/usr/bin/python3", 2), ("C:\\Scripts\\deia.exe\\__main__.py", "python.exe", 2),
        (f"{PACKAGE}/compile/library_encoding.py", "/usr/bin/python3", 2), ("/usr/bin/deia", "/opt/editor", 1),
        ("/home/deia/script.py", "/usr/bin/python3", 1), ("/usr/bin/deia", "", 1),
    ],
)  # fmt: skip
def test_only_a_program_of_deia_starts_processes(
    monkeypatch: pytest.MonkeyPatch, main: str, executable: str, count: int
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(sys.modules["__main__"], "__file__", main, raising=False)
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(workers, "MOST_PROCESSES", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert workers._processes() == min(count, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)


def test_who_stops_asking_leaves_no_process_behind() -> None:
    shelved = volumes([], [Document(path=str(number), title="", text=TEXTS[0]) for number in range(40)])
    batches = each_prepared(shelved, static=False, with_passages=lambda: False)
    first_volumes, result = next(batches)
    assert [len(texts) for texts in result.texts] == [1] * len(first_volumes)
    batches.close()
    assert multiprocessing.active_children() == []
