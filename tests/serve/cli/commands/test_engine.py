"""`deia engine`, `publish`, `pull` and `worker` as people type them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


def test_without_an_engine_that_is_said_with_what_to_type(deia: Deia) -> None:
    shown = deia("engine", "status")
    assert (shown.code, "export DEIA_ENGINE=" in shown.out) == (0, True)
    for command in (("engine", "copy"), ("worker", "--until-done")):
        refused = deia(*command)
        assert refused.code == 2
        assert "export DEIA_ENGINE=" in refused.err


@pytest.mark.slow
def test_a_library_is_published_and_there_is_no_place_for_another(deia: Deia, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/bucket"
    assert "deia ingest" in deia("publish", place).err
    (tmp_path / "pumps.md").write_text("# Pumps\n\nThe impeller turns left.\n", encoding="utf-8")
    assert deia("ingest", str(tmp_path / "pumps.md")).code == 0
    said = json.loads(deia("publish", place, "--json").out)
    assert (said["sequence"], said["is_whole"], said["is_new"]) == (1, True, True)
    assert f"deia pull {place} --key {said['key']}" in deia("publish", place).out
    refused = deia("pull", place, "--key", said["key"])
    assert refused.code == 2
    assert "a library of its own" in refused.err
    assert "is no place to publish to" in deia("publish", "nowhere").err
