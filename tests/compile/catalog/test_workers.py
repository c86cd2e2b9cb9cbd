"""Documents come to the same bytes in any process, and a compile succeeds without other processes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deia.compile.catalog import workers
from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.catalog.document_store import volumes
from deia.compile.catalog.prepare import as_prepared, packed, plain, prepared, unpacked
from deia.compile.catalog.worker_process import home, read_frame, write_frame
from deia.compile.catalog.workers import each_prepared
from deia.knowledge import Document, Entry

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
    monkeypatch.setattr(workers, "_processors", lambda: 2)


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


def test_documents_that_travelled_are_prepared_as_those_that_stayed() -> None:
    texts = [Document(path=str(number), title="", text=text) for number, text in enumerate(TEXTS)]
    shelved = volumes([], texts)
    batch = prepared(shelved, static=True, with_passages=True)
    values, blobs = packed(shelved)
    travelled = prepared(unpacked(json.loads(json.dumps(values)), blobs), static=True, with_passages=True)
    assert travelled == batch
    value, blobs = plain(batch)
    assert as_prepared(json.loads(json.dumps(value)), blobs) == batch


@pytest.mark.parametrize("arguments", [[], ["/elsewhere/deia/compile"]])
def test_another_installation_prepares_nothing(arguments: list[str]) -> None:
    asked = io.BytesIO()
    values, blobs = packed(volumes([], [Document(path="a", title="", text="a")]))
    write_frame(asked, (values, False, False), blobs)
    command = [sys.executable, "-P", "-m", "deia.compile.catalog.worker_process"]
    outputs = [
        subprocess.run([*command, *args], input=asked.getvalue(), capture_output=True, check=True).stdout
        for args in (arguments, [home()])
    ]
    assert outputs[0] == b""
    assert as_prepared(*read_frame(io.BytesIO(outputs[1]))).texts == [["a a"]]


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
@pytest.mark.parametrize("does", ["exit 1", "cat", "head -c 100 > /dev/null; echo nonsense", "sleep 0.1"])
def test_what_other_processes_do_not_do_is_done_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    here = alone(tmp_path / "here", monkeypatch)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert built(tmp_path / "there") == here


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/ls"])
def test_without_an_interpreter_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    here = alone(tmp_path / "here", monkeypatch)
    monkeypatch.setattr(sys, "executable", program)
    assert built(tmp_path / "there") == here


def test_who_stops_asking_leaves_no_process_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes] | None] = []
    start = workers._start

    def noted() -> subprocess.Popen[bytes] | None:
        """Start a process and record it."""
        started.append(start())
        return started[-1]

    monkeypatch.setattr(workers, "_start", noted)
    shelved = volumes([], [Document(path=str(number), title="", text=TEXTS[0]) for number in range(40)])
    batches = each_prepared(shelved, static=False, with_passages=lambda: False)
    first_volumes, result = next(batches)
    assert [len(texts) for texts in result.texts] == [1] * len(first_volumes)
    batches.close()
    assert [process is not None and process.poll() is not None for process in started] == [True, True]
