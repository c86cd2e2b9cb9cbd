"""The library through MCP: what an agent may take in, and what only a person may."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile.take_in import keep_upload, registered_sources, take_in
from deia.errors import DeiaError
from deia.folders import library_folder
from deia.ingest.source import FolderSource, SourceError, described
from deia.serve.server.desk import Desk
from deia.serve.server.dispatch import Call, answer, confirmation, find_tool, prepare
from deia.serve.server.library_tools import start
from deia.serve.server.tool_schemas import offered

if TYPE_CHECKING:
    from deia.fast_json import Json
    from tests.serve.server.conftest import Place

PATIENCE = 60.0


def index(desk: Desk, **arguments: str) -> dict[str, Json]:
    reply = answer(desk, Call(tool="index_source", arguments=arguments))
    start(desk, reply.source)
    return dict(reply.fields)


def wait(desk: Desk, name: str) -> dict[str, Json]:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        listed: list[dict[str, Json]] = answer(desk, Call(tool="list_sources", arguments={})).fields["sources"]  # type: ignore[assignment]
        done = next((one for one in listed if one["name"] == name and one["status"] in ("processed", "failed")), None)
        if done:
            return done
        time.sleep(0.1)
    raise AssertionError(listed)


@pytest.mark.parametrize("relative", [True, False])
def test_a_folder_of_the_project_is_taken_in_and_found(desk: Desk, place: Place, *, relative: bool) -> None:
    (place.root / "handbook").mkdir()
    (place.root / "handbook/pump.md").write_text("# Pump\n\nThe impeller turns left.\n", encoding="utf-8")
    assert index(desk, source="handbook" if relative else str(place.root / "handbook"))["status"] == "pending"
    assert wait(desk, "handbook")["documents"] == 1
    found = answer(desk, Call(tool="query_global_commons", arguments={"query": "impeller", "collection": "handbook"}))
    assert "library:handbook/pump.md" in found.text
    shown = answer(desk, Call(tool="read_document", arguments={"document": "library:handbook/pump.md"}))
    assert "> The impeller turns left." in shown.text


@pytest.mark.parametrize("blank", ["", "  ", "\t", "//"])
def test_a_source_without_a_name_is_refused_and_is_not_the_whole_project(desk: Desk, blank: str) -> None:
    with pytest.raises(SourceError, match="names nothing to take in"):
        index(desk, source=blank)
    assert answer(desk, Call(tool="list_sources", arguments={})).fields["sources"] == []


def test_a_dot_is_the_whole_project(desk: Desk) -> None:
    index(desk, source=".")
    assert [one.source.place for one in registered_sources(desk.root, os.environ)] == [desk.root]


def test_passages_are_found_within_a_time_frame_and_with_what_stands_around_them(desk: Desk, place: Place) -> None:
    (place.root / "handbook").mkdir()
    long = " ".join(f"Part {number} of the list is kept on a shelf in the store." for number in range(60))
    text = f"# Pump\n\n## Housing\n\nBolts are tightened crosswise. {long}\n\n## Impeller\n\nThe impeller turns left.\n"
    (place.root / "handbook/pump.md").write_text(text, encoding="utf-8")
    os.utime(place.root / "handbook/pump.md", (1_700_000_000, 1_700_000_000))  # 2023-11-14
    index(desk, source=str(place.root / "handbook"))
    wait(desk, "handbook")

    def asked(**arguments: str) -> dict[str, Json]:
        arguments = {"query": "impeller", "collection": "handbook", "detail": "xml", **arguments}
        call = prepare(desk, find_tool(offered(), "query_global_commons"), arguments)
        reply = answer(desk, call)
        return {"matched": reply.fields["matched"], "text": reply.text}

    assert asked(since="2023-11-14", until="2023-11-14")["matched"] is True
    assert asked(since="2023-11-15")["matched"] is asked(until="2023-11-13")["matched"] is False
    assert "crosswise" not in str(asked()["text"])
    assert "crosswise" in str(asked(expand_context="neighbours")["text"])
    with pytest.raises(DeiaError, match="expand_context"):
        asked(expand_context="everything")


def test_another_filter_makes_another_source_which_the_agent_is_told(desk: Desk, place: Place) -> None:
    (place.root / "handbook").mkdir()
    index(desk, source=str(place.root / "handbook"))
    again = answer(
        desk, Call(tool="index_source", arguments={"source": str(place.root / "handbook"), "filter": "*.md"})
    )
    assert again.fields["name"] == "handbook-2"
    assert "handbook-2 is one more source of the same place, beside handbook." in again.text


def test_an_agent_takes_back_nothing_that_a_person_set(desk: Desk, place: Place) -> None:
    (place.root / "handbook/private").mkdir(parents=True)
    (place.root / "handbook/private/pay.md").write_text("# Pay\n\nThe impeller costs too much.\n", encoding="utf-8")
    (place.root / "handbook/pump.md").write_text("# Pump\n\nThe impeller turns left.\n", encoding="utf-8")
    folder = str(place.root / "handbook")
    take_in(str(place.root), [described(FolderSource(path=folder, exclude=("private/",), tags=("ours",)))], os.environ)
    for arguments in ({}, {"filter": "*.md"}, {"collection": "other"}):
        name = str(index(desk, source=folder, **arguments)["name"])
        assert wait(desk, name)["documents"] == 1
    registered = {one.source.name: one.source for one in registered_sources(str(place.root), os.environ)}
    assert len(registered) == 3
    assert {one.exclude for one in registered.values()} == {("private/",)}
    assert registered["handbook"].tags == ("ours",)


def test_a_text_that_is_handed_over_is_kept(desk: Desk) -> None:
    kept = index(desk, source="notes about pumps.md", content="# Notes\n\nGrease the shaft.\n")
    assert kept["path"] == "library:upload/notes-about-pumps.md"
    assert wait(desk, "upload")["documents"] == 1


def test_what_is_no_text_is_handed_over_as_base64_and_into_a_collection(desk: Desk) -> None:
    workbook = base64.b64encode(notebook("Grease the shaft.")).decode()
    kept = index(desk, source="shaft.ipynb", content=workbook, encoding="base64", collection="Pump notes")
    assert (kept["name"], kept["collection"]) == ("upload-pump-notes", "pump-notes")
    wait(desk, "upload-pump-notes")
    shown = answer(desk, Call(tool="read_document", arguments={"document": str(kept["path"])}))
    assert "Grease the shaft." in shown.text


def notebook(text: str) -> bytes:
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": text, "metadata": {}}]}).encode()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"source": "run.exe", "content": "MZ"}, "not taken"),
        ({"source": ".md", "content": "x"}, "not taken"),
        ({"source": "../../.ssh/authorized_keys", "content": "x"}, "not taken"),
        ({"source": "a.md/", "content": "x"}, "not taken"),
        ({"source": "x" * 2_000, "content": "x"}, "not taken"),
        ({"source": "a.pdf", "content": "no base64!", "encoding": "base64"}, "no base64"),
        ({"source": "a.pdf", "content": "====", "encoding": "base64"}, "no base64"),
    ],
)
def test_what_cannot_be_kept_is_refused(desk: Desk, arguments: dict[str, str], problem: str) -> None:
    with pytest.raises(DeiaError, match=problem):
        index(desk, **arguments)


@given(name=st.text(max_size=60).map(lambda text: f"{text}.md"))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_name_leads_out_of_the_folder_of_uploads(desk: Desk, name: str) -> None:
    library = Path(library_folder(desk.root, os.environ))
    with contextlib.suppress(SourceError):
        _, kept = keep_upload(desk.root, name, b"x", os.environ)
        assert (library / "uploads/upload" / kept).read_bytes() == b"x"
        assert kept in os.listdir(library / "uploads/upload")


@pytest.mark.parametrize(
    "source", ["/etc", "~", "s3://bucket/x", "/", "..", "https://127.0.0.1/x", "https://127.0.0.1/x.git"]
)
def test_what_is_not_the_projects_or_public_an_agent_does_not_take_in(desk: Desk, source: str) -> None:
    problem = "this machine or its network" if source.startswith("https") else "an agent takes in"
    with pytest.raises(DeiaError, match=problem):
        index(desk, source=source)
    assert answer(desk, Call(tool="list_sources", arguments={})).fields == {"sources": []}


def test_a_repository_of_this_machine_is_refused_however_it_is_spelt(
    desk: Desk, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    (place.root / "git@x").mkdir()
    monkeypatch.chdir(place.root)
    with pytest.raises(DeiaError, match="an agent takes in folders of the project"):
        index(desk, source=f"git@x/../{os.path.relpath(tmp_path / 'private', place.root)}")


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
    assert answer(desk, Call(tool="list_sources", arguments={})).fields == {"sources": []}


def test_the_person_is_asked_and_a_server_that_only_reads_does_not_offer_it(desk: Desk) -> None:
    assert confirmation(desk, Call(tool="index_source", arguments={"source": "https://a.example/x"}))
    assert "index_source" not in {tool.name for tool in offered(read_only=True)}
    assert "list_sources" in {tool.name for tool in offered(read_only=True)}
