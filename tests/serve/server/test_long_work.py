"""Long compiles are told of and cancelled, broad questions narrowed down, and vectors of another model noticed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest

from deia.compile.compiler import compile_commons
from deia.serve.server.audit_trail import audit_folder
from tests.derived import derived
from tests.serve.server.conftest import await_ready, end_server, make_place, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp import Client

    from tests.serve.server.conftest import Place, Served

pytestmark = pytest.mark.slow

ERAS = [{}, {"mode": "legacy"}]
MANY = 60
OTHER_VERSION = {"deia": "0.0.0", "about": "of another", "catalog_digest": "of another"}  # its digests hold its version


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Give a commons of which every document speaks of harbours, and most are about ships."""
    place = make_place(tmp_path_factory.mktemp("large"))
    lines = []
    for number in range(MANY):
        cluster = "ships" if number % 3 else "cranes"
        path = f"bok/{cluster}/number-{number}.md"
        (place.root / path).parent.mkdir(exist_ok=True)
        words = " ".join(f"word{number}x{each}" for each in range(40))
        (place.root / path).write_text(f"# Harbour {cluster} {number}\n\nThe harbour: {words}.\n", encoding="utf-8")
        lines.append(
            f"      - {{id: {cluster}-{number}, path: {path}, title: Harbour {cluster} {number},"
            " summary: Of a harbour., keywords: [harbour]}"
        )
    own = {name: [line for line in lines if f"id: {name}-" in line] for name in ("ships", "cranes")}
    text = "".join(f"  {name}:\n    documents:\n" + "\n".join(each) + "\n" for name, each in own.items())
    (place.root / "commons_index.yaml").write_text(f'version: "1.0"\nclusters:\n{text}', encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def broad(large: Place) -> Iterator[Served]:
    """Give a server over it."""
    running = start_server(large, "--rate", "0")
    await_ready(running)
    yield running
    assert end_server(running) == 0


def compiling(place: Place) -> set[str]:
    """Give the processes that compile this commons."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{name}/cmdline").read_text(encoding="utf-8")
        except OSError:
            continue
        if "deia.serve.server.recompile" in command and str(place.root) in command:
            found.add(name)
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes cannot be looked at here")
@pytest.mark.parametrize("options", ERAS)
def test_who_cancels_a_call_ends_the_compile_that_it_waits_for(large: Place, options: dict[str, Any]) -> None:
    shutil.rmtree(derived(large.root, large.environ), ignore_errors=True)
    seen: set[str] = set()

    async def main() -> None:
        async with large.client(**options) as client:
            with anyio.fail_after(20), anyio.CancelScope() as scope:

                async def hear(_progress: float, _total: float | None, message: str | None) -> None:
                    assert message == "compiling the commons"
                    seen.update(compiling(large))
                    scope.cancel()

                await client.call_tool("list_documents", {}, progress_callback=hear)  # type: ignore[arg-type]  # names
            assert scope.cancelled_caught
            with anyio.fail_after(10):
                while seen & compiling(large):  # noqa: ASYNC110 - nobody tells of it
                    await asyncio.sleep(0.02)
            again = await client.call_tool("query_global_commons", {"query": "word7x3"})
            assert again.structured_content["documents"]["primary"][0]["id"] == "ships-7"

    asyncio.run(main())
    assert seen
    assert not compiling(large)
    audit = "".join(path.read_text() for path in Path(audit_folder(str(large.root), large.environ)).glob("*.jsonl"))
    assert '"outcome":"cancelled"' in audit


@pytest.mark.parametrize("options", ERAS)
def test_a_question_that_is_too_broad_is_narrowed_by_the_person(broad: Served, options: dict[str, Any]) -> None:
    asked: list[Any] = []

    async def choose(_context: object, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        asked.append(params.requested_schema["properties"]["choice"]["enum"])
        return types.ElicitResult(action="accept", content={"choice": "cranes"})

    async def close(_context: object, _params: types.ElicitRequestFormParams) -> types.ElicitResult:
        return types.ElicitResult(action="cancel")

    async def narrowed(client: Client) -> None:
        answer = (await client.call_tool("query_global_commons", {"query": "harbour"})).structured_content
        assert "reason" not in answer or answer["reason"] != "query_too_broad"
        shown = [*answer["documents"]["primary"], *answer["documents"]["secondary"]]
        assert shown
        assert all(one["id"].startswith("cranes-") for one in shown)

    async def left(client: Client) -> None:
        answer = (await client.call_tool("query_global_commons", {"query": "harbour"})).structured_content
        assert answer["reason"] == "query_too_broad"
        assert set(answer["available_clusters"]) >= {"ships", "cranes"}

    broad.run(narrowed, elicitation_callback=choose, **options)
    assert asked == [["ships", "cranes"]]
    broad.run(left, elicitation_callback=close, **options)
    broad.run(left, **options)


# --- vectors of another model ---


@pytest.fixture
def other_model(large: Place) -> Iterator[Place]:
    """Give the commons compiled, as it seems, with another model of meaning than is here."""
    compile_commons(str(large.root), environ=large.environ)
    folder = derived(large.root, large.environ)
    header = folder / (folder / "catalog").read_text(encoding="ascii").strip() / "catalog.json"
    value = json.loads(header.read_text(encoding="utf-8"))
    for tier in value["tiers"].values():
        tier["digest"] = "0" * len(tier["digest"])
    header.write_text(json.dumps(value), encoding="utf-8")
    yield large
    shutil.rmtree(folder)


@pytest.mark.parametrize("tier", ["static", "auto", "keyword"])
def test_vectors_of_another_model_are_refused_or_warned_of(other_model: Place, tier: str) -> None:
    other_model.environ["DEIA_TIER"] = tier

    async def main() -> None:
        async with other_model.client() as client:
            result = await client.call_tool("query_global_commons", {"query": "how was word7x3 loaded?"})
            text = "\n".join(part.text for part in result.content if part.type == "text")
            assert bool(result.is_error) is (tier == "static")
            if tier == "static":
                assert "deia compile" in text
                words = await client.call_tool("query_global_commons", {"query": "word7x3", "mode": "keywords"})
                assert words.structured_content["matched_documents"]
            elif tier == "auto":
                warnings = result.structured_content["audit"]["warnings"]
                assert any("deia compile" in one for one in warnings)

    try:
        asyncio.run(main())
    finally:
        del other_model.environ["DEIA_TIER"]


def test_files_of_another_version_are_compiled_anew(large: Place) -> None:
    compile_commons(str(large.root), environ=large.environ)
    manifest = derived(large.root, large.environ) / "manifest.json"
    value = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**value, **OTHER_VERSION}), encoding="utf-8")

    async def main() -> None:
        async with large.client() as client:
            await client.call_tool("list_documents", {})
            with anyio.fail_after(20):
                while json.loads(manifest.read_text(encoding="utf-8"))["deia"] != value["deia"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

    asyncio.run(main())


def test_files_of_another_version_are_compiled_anew_though_the_first_try_failed(place: Place) -> None:
    manifest, lock = derived(place.root, place.environ) / "manifest.json", derived(place.root, place.environ) / "lock"
    value = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**value, **OTHER_VERSION}), encoding="utf-8")
    lock.unlink()
    lock.mkdir()  # so that no compile can begin
    served = start_server(place)
    end = time.monotonic() + 20
    while not json.loads(served.ask("/ready")[1])["trouble"]:
        assert time.monotonic() < end, "it never tried"
        time.sleep(0.05)
    lock.rmdir()
    while json.loads(manifest.read_text(encoding="utf-8"))["deia"] != value["deia"]:
        assert time.monotonic() < end, "it never tried again"
        time.sleep(0.05)
    assert end_server(served) == 0
