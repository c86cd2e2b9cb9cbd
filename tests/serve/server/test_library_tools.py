"""The library through MCP: what an agent may take in, and what only a person may."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.errors import DeiaError
from deia.serve.server.desk import Desk
from deia.serve.server.dispatch import arguments_of, call, confirmation
from deia.serve.server.tool_schemas import offered

if TYPE_CHECKING:
    from pathlib import Path

    from deia.fast_json import Json
    from tests.serve.server.conftest import Place

PATIENCE = 60.0


@pytest.fixture
def desk(place: Place, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("HOME", "DEIA_STATE", "DEIA_CACHE", "DEIA_STARTER", "DEIA_TRUST"):
        monkeypatch.setenv(name, place.environ[name])
    monkeypatch.chdir(place.root)
    compile_commons(str(place.root), environ=place.environ)
    return Desk(str(place.root))


def index(desk: Desk, **arguments: str) -> dict[str, Json]:
    return dict(call(desk, arguments_of("index_source", arguments)).fields)


def wait(desk: Desk, name: str) -> dict[str, Json]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        listed: list[dict[str, Json]] = call(desk, arguments_of("list_sources", {})).fields["sources"]  # type: ignore[assignment]
        done = next((one for one in listed if one["name"] == name and one["status"] in ("processed", "failed")), None)
        if done:
            return done
        time.sleep(0.1)
    raise AssertionError(listed)


def test_a_folder_of_the_project_is_taken_in_and_found(desk: Desk, place: Place) -> None:
    (place.root / "handbook").mkdir()
    (place.root / "handbook/pump.md").write_text("# Pump\n\nThe impeller turns left.\n", encoding="utf-8")
    assert index(desk, source=str(place.root / "handbook"))["status"] == "pending"
    assert wait(desk, "handbook")["documents"] == 1
    answer = call(desk, arguments_of("query_global_commons", {"query": "impeller", "collection": "handbook"}))
    assert "library:handbook/pump.md" in answer.text
    shown = call(desk, arguments_of("read_document", {"document": "library:handbook/pump.md"}))
    assert "> The impeller turns left." in shown.text


def test_a_text_that_is_handed_over_is_kept(desk: Desk) -> None:
    index(desk, source="notes about pumps.md", content="# Notes\n\nGrease the shaft.\n")
    assert wait(desk, "upload")["documents"] == 1
    with pytest.raises(DeiaError, match="not taken"):
        index(desk, source="run.exe", content="MZ")


@pytest.mark.parametrize("source", ["/etc", "~", "s3://bucket/x", "/", "..", "https://127.0.0.1/x"])
def test_what_is_not_the_projects_or_public_an_agent_does_not_take_in(desk: Desk, source: str) -> None:
    if source.startswith("https"):
        index(desk, source=source)
        assert "this machine or its network" in str(wait(desk, "x")["error"])
    else:
        with pytest.raises(DeiaError, match="an agent takes in"):
            index(desk, source=source)


def test_a_link_out_of_the_project_is_no_folder_of_it(desk: Desk, place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (place.root / "inside").symlink_to(outside)
    with pytest.raises(DeiaError, match="an agent takes in"):
        index(desk, source=str(place.root / "inside"))


def test_an_untrusted_commons_takes_nothing_in(desk: Desk, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEIA_TRUST", "")
    with pytest.raises(DeiaError, match="do not trust"):
        index(desk, source=str(place.root))
    assert call(desk, arguments_of("list_sources", {})).fields == {"sources": []}


def test_the_person_is_asked_and_a_server_that_only_reads_does_not_offer_it(desk: Desk) -> None:
    assert confirmation(desk, arguments_of("index_source", {"source": "https://a.example/x"}))
    assert "index_source" not in {tool.name for tool in offered(read_only=True)}
    assert "list_sources" in {tool.name for tool in offered(read_only=True)}
