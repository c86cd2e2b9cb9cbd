"""The mode: what each does, where it is kept, and who can change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from deia.firing import Firing
from deia.folders import STARTER
from deia.librarian import Librarian
from deia.records import ACTIONS, UNTRUSTED, Turn
from deia.serve.cli.commands.mode import mode as command
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.recall import Memory
from deia.watch.silence.modes import PRESETS, STRENGTH, Mode, form_in, mode_path, read_mode, table, told, write_mode
from deia.watch.silence.self_protection import refusal
from deia.watch.watcher import Surroundings, decide
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def firing(urgency: Any, action: Any, origin: str = "") -> Firing:
    return Firing(
        trigger="t", title="", urgency=urgency, action=action, timing="pre-action", message="", action_required="",
        instead=(), documents=(), because="", turn=1, origin=origin,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "urgency", "action", "expected"),
    [
        ("standard", "critical", "note", "note"), ("strict", "critical", "warn", "hold"),
        ("strict", "high", "note", "ask"),
        ("strict", "medium", "note", "warn"), ("strict", "medium", "hold", "hold"), ("strict", "low", "note", "note"),
        ("quiet", "critical", "hold", "hold"), ("quiet", "high", "hold", "warn"), ("quiet", "high", "note", "note"),
        ("quiet", "medium", "ask", "note"), ("quiet", "low", "warn", "off"),
    ],
)  # fmt: skip
def test_each_mode_does_what_its_table_says(name: str, urgency: str, action: str, expected: str) -> None:
    assert form_in(Mode(name=name), firing(urgency, action), most="hold") == expected


def test_a_trigger_of_its_own_form_has_it_in_every_mode() -> None:
    for name in PRESETS:
        assert form_in(Mode(name=name, forms={"t": "off"}), firing("critical", "hold"), most="hold") == "off"
        assert form_in(Mode(name=name, forms={"t": "ask"}), firing("low", "note"), most="hold") == "ask"


@given(st.sampled_from(sorted(PRESETS)), st.sampled_from(STRENGTH), st.sampled_from(ACTIONS))
def test_what_is_said_or_comes_from_an_untrusted_commons_is_never_stopped(name: str, own: str, action: str) -> None:
    said = "note" if action in {"ask", "hold"} else action
    for urgency in ("critical", "high", "medium", "low"):
        assert form_in(Mode(name=name, forms={"t": own}), firing(urgency, said), most="warn") in {"off", "note", "warn"}
        assert form_in(Mode(name=name), firing(urgency, "note", UNTRUSTED), most="hold") in {"off", "note"}


def test_a_mode_comes_back_as_it_was_and_nonsense_is_the_standard(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    assert read_mode(state) == Mode()
    chosen = Mode(name="quiet", forms={"a": "off", "b": "hold"})
    assert write_mode(state, chosen)
    assert read_mode(state) == chosen
    assert told(state) == "deia's mode is quiet (a off, b hold)"
    for nonsense in (b"lax\nx y z\n", b"\xff\xfe", b"strict"):
        (tmp_path / "state" / "mode").write_bytes(nonsense)
        assert read_mode(state).forms == {}
    assert read_mode(state).name == "strict"
    assert mode_path(state).endswith("/mode")


@pytest.mark.slow
def test_a_call_is_judged_in_the_mode() -> None:
    artefact = Librarian(STARTER, ledger=False).open_artefact()
    turn = Turn(role="tool_call", text="", tool="Bash", tool_input={"command": "terraform destroy"})
    numbers, seen = candidates(artefact, turn)

    def actions(mode: Mode) -> list[str]:
        around = Surroundings(now=0.0, mode=lambda: mode)
        decision = decide(artefact, turn, Memory(), around, numbers=numbers, seen=seen)
        return [verdict.firing.action for verdict in decision.firing if verdict.firing]

    assert actions(Mode()) == ["hold"]
    assert actions(Mode(forms={"terraform-destroy": "note"})) == ["note"]
    assert actions(Mode(name="quiet", forms={"terraform-destroy": "off"})) == []


def test_only_a_person_at_a_terminal_changes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEIA_STATE", str(tmp_path))
    shown = CliRunner().invoke(command, [])
    assert "The mode is standard." in shown.output
    assert CliRunner().invoke(command, ["quiet"]).exception is not None
    assert read_mode(str(tmp_path)) == Mode()
    monkeypatch.setattr("deia.serve.cli.commands.shared_options.is_person", lambda: True)
    assert CliRunner().invoke(command, ["quiet", "--trigger", "terraform-destroy=ask"]).exception is None
    assert read_mode(str(tmp_path)) == Mode(name="quiet", forms={"terraform-destroy": "ask"})
    assert CliRunner().invoke(command, ["strict", "--remove", "terraform-destroy"]).exception is None
    assert read_mode(str(tmp_path)) == Mode(name="strict")


@pytest.mark.parametrize(
    ("line", "refused"),
    [("deia mode quiet", True), ("deia mode standard --trigger a=off", True), ("deia mode --remove a", True),
     ("deia mode", False), ("deia mode --table", False)],
)  # fmt: skip
def test_an_agents_call_that_would_change_it_is_refused(line: str, *, refused: bool) -> None:
    turn = Turn(role="tool_call", text="", tool="Bash", tool_input={"command": line})
    assert bool(refusal(turn, folder="/home/ada/work", environ={"HOME": "/home/ada"})) == refused


def test_the_page_has_the_table_of_the_command() -> None:
    assert "\n".join(table()) in (ROOT / "docs" / "SETTINGS.md").read_text(encoding="utf-8")
