"""Files that are handed over to a server: over HTTP and MCP, with progress if the client wants to hear of it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from deia.ingest.source import UPLOAD
from deia.serve.server.limits import MOST_BODY
from tests.serve.server.conftest import copied, end_server, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.serve.server.conftest import Place, Served

PATIENCE = 40.0
ERAS = [{}, {"mode": "legacy"}]


@pytest.fixture(scope="module")
def served(template: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = start_server(copied(template, tmp_path_factory.mktemp("uploads")), "--rate", "0")
    yield running
    assert end_server(running) == 0


def post(served: Served, query: str, body: bytes, **options: Any) -> tuple[int, dict[str, Any]]:
    status, answer, _ = served.ask(f"/upload?{query}", body=body, **options)
    return status, json.loads(answer)


def wait_for_answer(served: Served, question: str, path: str) -> None:
    until = time.monotonic() + PATIENCE
    while path.encode() not in served.ask(f"/search?q={question}")[1]:
        assert time.monotonic() < until, "it was never found"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_file_that_is_posted_is_found(served: Served) -> None:
    status, answer = post(served, "name=Pump%20notes.md", b"# Pump\n\nThe gasket is made of graphite.\n")
    assert (status, answer["status"], answer["path"]) == (202, "pending", "library:upload/pump-notes.md")
    wait_for_answer(served, "gasket+of+graphite", answer["path"])


def working(root: Path) -> int:
    """Return how many processes take in uploads of a commons; the watch of its library starts others."""
    lines = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            lines.append(Path(f"/proc/{name}/cmdline").read_bytes() if name.isdigit() else b"")
    words = (b"library_process", str(root).encode(), f"\0{UPLOAD}".encode())
    return sum(all(word in line for word in words) for line in lines)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are counted in /proc")
def test_many_files_are_taken_in_by_one_process_at_a_time(served: Served) -> None:
    most, paths = 0, []
    for number in range(12):
        status, answer = post(served, f"name=part-{number}.md", f"# Part\n\nThe rivet{number} holds.\n".encode())
        assert status == 202
        paths.append(answer["path"])
        most = max(most, working(served.place.root))
    for number, path in enumerate(paths):
        wait_for_answer(served, f"rivet{number}", path)
        most = max(most, working(served.place.root))
    assert most == 1


def test_a_file_has_the_collection_that_is_asked_for(served: Served) -> None:
    status, answer = post(served, "name=a.md&collection=Manuals", b"# Valve\n\nThe spindle is left-handed.\n")
    assert (status, answer["collection"], answer["path"]) == (202, "manuals", "library:manuals/a.md")
    wait_for_answer(served, "spindle+left-handed", answer["path"])


@pytest.mark.parametrize(
    ("query", "body", "status", "said"),
    [
        ("", b"x", 400, "has a name"),
        ("name=", b"x", 400, "has a name"),
        ("name=a.md&mode=0777", b"x", 400, "has a name"),
        ("name=run.sh", b"#!/bin/sh", 400, "not taken"),
        ("name=..%2F..%2F.bashrc", b"x", 400, "not taken"),
        ("name=a.md%00.exe", b"x", 400, "not taken"),
        ("name=%FF%FE.md", b"x", 400, "cannot be read"),
        ("name=a.md", b"", 400, "is empty"),
        ("name=a.md", b"x" * (MOST_BODY + 1), 413, "at most"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(
    served: Served, query: str, body: bytes, status: int, said: str
) -> None:
    got, answer = post(served, query, body)
    assert (got, said in answer["error"]) == (status, True), answer


def test_a_body_without_a_length_is_measured_as_it_comes(served: Served) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(MOST_BODY // (1 << 20) + 2):
            yield b"x" * (1 << 20)

    headers = {**served.shown, "Transfer-Encoding": "chunked"}
    connection = http.client.HTTPConnection(served.host, served.port)
    with contextlib.closing(connection), contextlib.suppress(OSError):  # the server may close before all is sent
        connection.request("POST", "/upload?name=huge.md", body=pieces(), headers=headers)
        assert connection.getresponse().status == 413
    kept = Path(served.place.environ["DEIA_STATE"], "library").rglob("huge*")
    assert (served.ask("/health")[0], list(kept)) == (200, [])


@pytest.mark.slow
def test_only_who_may_write_uploads(served: Served, place: Place) -> None:
    assert served.but(token="").ask("/upload?name=a.md", body=b"x")[0] == 401
    assert served.ask("/upload?name=a.md", body=b"x", headers={"Origin": "https://evil.example"})[0] == 403
    assert served.ask("/upload?name=a.md")[0] == 405
    for arguments, token in ((("--read-only",), "a-token-of-these-tests"), ((), "")):
        reading = start_server(place, *arguments, token=token)
        status, body, _ = reading.ask("/upload?name=a.md", body=b"x")
        assert (status, b"can only read" in body) == (403, True)
        assert end_server(reading) == 0


@pytest.mark.slow
@pytest.mark.parametrize("options", ERAS)
def test_a_client_that_wants_progress_hears_of_files_and_passages(place: Place, options: dict[str, Any]) -> None:
    folder = place.root / "handbook"
    folder.mkdir()
    for number in range(700):  # more than one batch
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nwords of {number}\n", encoding="utf-8")
    heard: list[tuple[float, float | None, str | None]] = []

    async def main() -> None:
        async with place.client(**options) as client:

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                heard.append((progress, total, message))

            result = await client.call_tool("index_source", {"source": str(folder)}, progress_callback=hear)  # names
            assert result.structured_content == {"name": "handbook", "status": "processed"}
            assert result.content[0].text.startswith("Indexed 700 documents, 700 chunks, ")  # type: ignore[union-attr]
            answer = await client.call_tool("query_global_commons", {"query": "words of 699"})
            assert "library:handbook/699.md" in answer.content[0].text  # type: ignore[union-attr]
            gone = await client.call_tool(
                "index_source",
                {"source": "https://localhost:1/x"},
                progress_callback=hear,
            )
            assert gone.is_error
            assert "this machine or its network" in gone.content[0].text  # type: ignore[union-attr]

    asyncio.run(main())
    done = [progress for progress, _, _ in heard]
    assert len(done) > 1
    assert done == sorted(set(done))
    assert heard[-1] == (700.0, 700.0, "700 of 700 files, 700 passages")


@pytest.mark.slow
def test_who_cancels_interrupts_the_taking_in_and_the_next_time_goes_on_there(place: Place) -> None:
    folder = place.root / "handbook"
    folder.mkdir()
    for number in range(3_000):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nwords of {number}\n", encoding="utf-8")
        os.utime(folder / f"{number}.md", (1_600_000_000, 1_600_000_000))

    async def main() -> None:
        async with place.client() as client:
            with anyio.CancelScope() as scope:

                async def hear(_progress: float, _total: float | None, _message: str | None) -> None:
                    scope.cancel()

                await client.call_tool("index_source", {"source": str(folder)}, progress_callback=hear)  # type: ignore[arg-type]  # names
            assert scope.cancelled_caught
            with anyio.fail_after(PATIENCE):
                while True:
                    listed = await client.call_tool("list_sources", {})
                    (source,) = listed.structured_content["sources"]
                    if source["status"] == "pending":
                        break
                    await asyncio.sleep(0.05)
            assert 0 < source["documents"] < 3_000

    asyncio.run(main())


@pytest.mark.slow
def test_a_client_that_wants_no_progress_does_not_wait_and_hands_over_what_is_no_text(place: Place) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": "Grease the shaft." + " " * 300_000}
    content = base64.b64encode(json.dumps({"nbformat": 4, "cells": [cell]}).encode()).decode()

    async def main() -> None:
        async with place.client() as client:
            arguments = {"source": "shaft.ipynb", "content": content, "encoding": "base64"}
            result = await client.call_tool("index_source", arguments)
            assert result.structured_content["status"] == "pending"
            until = time.monotonic() + PATIENCE
            status = ""
            while status != "processed":
                assert time.monotonic() < until
                await asyncio.sleep(0.1)
                listed = await client.call_tool("list_sources", {})
                status = listed.structured_content["sources"][0]["status"]
            shown = await client.call_tool("read_document", {"document": "library:upload/shaft.ipynb"})
            assert "Grease the shaft." in shown.content[0].text  # type: ignore[union-attr]

    asyncio.run(main())
