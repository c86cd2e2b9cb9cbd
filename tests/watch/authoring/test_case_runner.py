from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.triggers.read_triggers import load_triggers
from deia.compile.compiler import compile_commons
from deia.knowledge import Case
from deia.records import Turn
from deia.watch.authoring.replay import run_case, run_cases
from deia.watch.gate.artefact import Artefact, open_artefact
from tests.derived import private

if TYPE_CHECKING:
    from pathlib import Path

TRIGGERS = """\
- id: site-delete
  title: Deleting a site
  urgency: high
  message: It loses its records.
  documents: [{id: d}]
  when: {any: [{phrase: "delete … site"}], context: [netlify]}
"""
NOW = 1_000_000.0


@pytest.fixture
def artefact(tmp_path: Path) -> Artefact:
    (tmp_path / "triggers").mkdir()
    (tmp_path / "bok").mkdir()
    (tmp_path / "triggers" / "t.yaml").write_text(TRIGGERS, encoding="utf-8")
    (tmp_path / "bok" / "d.md").write_text("---\ntitle: D\n---\ntext\n", encoding="utf-8")
    (tmp_path / "commons_index.yaml").write_text("version: '1.0'\nclusters: {}\n", encoding="utf-8")
    assert load_triggers(str(tmp_path)).triggers
    environ = private(tmp_path, HOME=str(tmp_path))
    return open_artefact(compile_commons(str(tmp_path), environ=environ).folder + "/triggers")


def case(*texts: str, fires: bool, files: tuple[str, ...] = ()) -> Case:
    turns = tuple(Turn(role="user", text=text, index=number) for number, text in enumerate(texts, 1))
    return Case(trigger="site-delete", fires=fires, turns=turns, cwd_files=files)


def test_a_case_that_fires_on_its_last_turn_holds(artefact: Artefact) -> None:
    result = run_case(artefact, case("netlify is broken", "delete the site", fires=True), now=NOW)
    assert (result.holds, result.turn, result.stage) == (True, 2, "fires")


def test_firing_too_early_is_no_firing(artefact: Artefact) -> None:
    result = run_case(artefact, case("delete the netlify site", "hello", fires=True), now=NOW)
    assert (result.holds, result.turn, result.stage) == (False, 2, "gate")


def test_silence_means_every_turn(artefact: Artefact) -> None:
    result = run_case(artefact, case("delete the netlify site", "hello", fires=False), now=NOW)
    assert (result.holds, result.turn, result.stage) == (False, 1, "fires")
    assert run_case(artefact, case("delete the site", fires=False), now=NOW).holds


def test_the_files_of_the_folder_are_context(artefact: Artefact) -> None:
    assert not run_case(artefact, case("delete the site", fires=True), now=NOW).holds
    assert run_case(artefact, case("delete the site", fires=True, files=("netlify.toml",)), now=NOW).holds


def test_each_case_is_a_conversation_of_its_own(artefact: Artefact) -> None:
    one = case("delete the netlify site", fires=True)
    assert [result.holds for result in run_cases(artefact, [one, one], now=NOW)] == [True, True]


def test_where_a_trigger_stopped_is_told(artefact: Artefact) -> None:
    result = run_case(artefact, case("don't delete the netlify site", fires=True), now=NOW)
    assert result.stage == "stance"
    assert "negated" in result.detail


def test_a_case_without_turns_fires_nothing(artefact: Artefact) -> None:
    assert not run_case(artefact, case(fires=True), now=NOW).holds
    assert run_case(artefact, case(fires=False), now=NOW).holds
