"""Tests of the commands of the protocol: what they print, and what their exit codes tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.audit.test_state import WAYS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.serve.conftest import Deia


@pytest.mark.slow
@pytest.mark.parametrize("die", WAYS, ids=lambda die: die.__name__)
def test_a_dead_index_is_an_error_of_audit_doctor_and_preflight(
    deia: Deia, commons: Path, die: Callable[[Path], None]
) -> None:
    assert (deia("compile").code, deia("audit").code) == (0, 0)
    sound = deia("doctor").out
    index = commons / "commons_index.yaml"
    before = index.read_text(encoding="utf-8")
    die(index)
    if index.is_file() and not index.is_symlink() and index.read_text(encoding="utf-8"):
        index.write_text(f"{before.splitlines()[0]}\nclusters: [\n", encoding="utf-8")
    told = deia("audit")
    assert told.code == 1
    assert "error: " in told.out
    assert "commons_index.yaml" in told.out
    checked = deia("doctor")
    assert checked.code == 1
    wrong = [line for line in checked.out.splitlines() if line.startswith("✗")]
    assert any("commons_index.yaml" in line for line in wrong)
    assert "✗" not in sound
    assert deia("preflight").code == 1


def test_what_is_sound_needs_no_repair(deia: Deia) -> None:
    assert deia("compile").code == 0
    assert deia("repair").out == "There is nothing to repair.\n"
    assert deia("repair", "--undo").code == 2


def test_a_question_is_classified_and_its_search_traced(deia: Deia) -> None:
    told = json.loads(deia("classify", "how do I delete a site?", "--json").out)
    assert (told["type"], told["needsRetrieval"]) == ("procedural", True)
    told = json.loads(deia("classify", "ok, push it straight to master", "--json").out)
    assert (told["type"], told["needsRetrieval"]) == ("conversational", True)
    trace = deia("debug", "before a site is deleted", "--expect", "nonesuch")
    assert trace.code == 1
    assert "nonesuch" in trace.out


def test_what_is_exported_answers_elsewhere_and_no_folder_is_overwritten(deia: Deia, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    assert deia("export", str(folder)).code == 0
    deployment = json.loads((folder / "deployment.json").read_text(encoding="utf-8"))
    assert {check["status"] for check in deployment["preflight"]["checks"]} == {"pass"}
    assert "Before a site is deleted" in deia("search", "before a site is deleted", "--commons", str(folder)).out
    again = deia("export", str(folder))
    assert (again.code, again.out) == (2, "")
    assert "not empty" in again.err
