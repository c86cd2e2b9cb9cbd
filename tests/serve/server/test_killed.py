"""A server that is killed while clients write: whatever it had acknowledged is there when the next one answers."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.serve.server.conftest import await_ready, connected, end_server, start_server

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from tests.serve.server.conftest import Place, Served

WRITERS = 3
ENOUGH = 8  # acknowledgements, after which the server is killed in the middle of others
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")


class Acknowledged:
    """What clients were told is done."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.removed: set[str] = set()
        self.judged: list[str] = []
        self.count = 0

    async def write(self, served: Served, writer: int) -> None:
        """Save, judge, change and remove lessons until the server is gone."""
        async with connected(served.url, served.shown) as client:
            for number in itertools.count():
                title, note = f"Lesson {writer} of number {number}", f"note {writer} {number}"
                saved = await self.done(client, "save_lesson", title=title, text=f"First {title}.")
                self.texts[saved["id"]] = f"First {title}."
                await self.done(client, "feedback", id=saved["id"], verdict="useful", note=note)
                self.judged.append(note)
                changing = {"title": title, "text": f"Second {title}.", "update": saved["id"]}
                self.texts.pop(saved["id"])  # until it is acknowledged, either text may be there
                await self.done(client, "save_lesson", **changing)
                self.texts[saved["id"]] = f"Second {title}."
                if number % 2:
                    self.texts.pop(saved["id"])
                    await self.done(client, "remove_document", id=saved["id"])
                    self.removed.add(saved["id"])

    async def done(self, client: Client, name: str, **given: Any) -> dict[str, Any]:
        result = await client.call_tool(name, given)
        assert not result.is_error, str(result.content)[:600]
        self.count += 1
        found: dict[str, Any] = result.structured_content or {}
        return found


async def written_until_killed(served: Served) -> Acknowledged:
    said = Acknowledged()
    writing = [asyncio.ensure_future(said.write(served, each)) for each in range(WRITERS)]
    with anyio.fail_after(40):
        while said.count < ENOUGH:
            assert not any(one.done() for one in writing), [str(leaf(one.exception())) for one in writing if one.done()]
            await asyncio.sleep(0.01)
    served.process.kill()
    await asyncio.wait(writing, timeout=20)
    for one in writing:
        one.cancel()
    await asyncio.gather(*writing, return_exceptions=True)
    return said


def feedback_in(root: Path) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for path in (root / "telemetry" / "events").glob("*.jsonl"):
        for line in filter(None, path.read_text(encoding="utf-8").splitlines()):
            event = json.loads(line)
            found[event.get("note", "")] += event["event"] == "feedback"
    return found


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost(place: Place) -> None:
    said = Acknowledged()
    served = start_server(place, "--rate", "0")
    said = asyncio.run(written_until_killed(served))
    served.process.communicate()
    again = start_server(place, "--rate", "0")
    await_ready(again)

    async def look(client: Client) -> None:
        for ident, text in said.texts.items():
            read = (await client.call_tool("read_document", {"document": ident})).structured_content
            assert f"> {text}" in read["text"], (ident, text, read)
        for ident in said.removed:
            assert (await client.call_tool("read_document", {"document": ident})).is_error
        after = await client.call_tool("save_lesson", {"title": "After the kill", "text": "It goes on."})
        assert not after.is_error, after.content

    try:
        again.run(look)
    finally:
        assert end_server(again) == 0
    assert said.texts or said.removed
    found = feedback_in(place.root)
    assert [note for note in said.judged if found[note] != 1] == []


def leaf(error: BaseException | None) -> BaseException | None:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
