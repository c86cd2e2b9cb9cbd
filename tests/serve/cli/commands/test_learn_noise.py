"""Noise as a budget: what was called noise twice gets a milder form, step by step, and nobody's flood moves it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deia import spool
from deia.commons.index.load_commons import load_commons
from deia.learn.apply import CHANGELOG, digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.serve.conftest import Deia

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
DAYS = ("2026-11-18", "2026-11-19")
CALL = 'command "shopctl site:delete" in tool call turn 4'
SAID = 'phrase "delete our other site" in user turn 2'


def ledger(root: Path, day: str, *judged: tuple[str, str], writer: str = "x", **fired: Any) -> None:
    """Write what one machine logged on a day: firings of triggers, each with what somebody said of it."""
    folder = root / "telemetry" / "events"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{day}-{writer}.jsonl").open("ab") as file:
        for number, (trigger, verdict) in enumerate(judged):
            ident = f"{day}-{writer}-{trigger}-{number}"
            common = {"ts": f"{day}T10:00:{number:02d}.000Z", "v": 1, "conversation": f"c-{ident}"}
            outcome = "muted" if verdict == "muted" else "shown"
            firing = {"event": "injection", "id": ident, "trigger": trigger, "outcome": outcome, "docs": []}
            file.write(spool.encoded({**common, **firing, "action": "hold", "because": CALL, **fired}))
            said = {"event": "feedback", "id": f"{ident}-f", "of": ident, "verdict": verdict}
            file.write(spool.encoded({**common, **said}))


def proposed(deia: Deia, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(deia("learn", "propose", "--json", *arguments).out))


def kinds(deia: Deia, *arguments: str) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in proposed(deia, *arguments)["proposals"]}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the commands be typed at a terminal."""
    outer, inner = os.openpty()
    with os.fdopen(inner, encoding="utf-8") as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        yield
    os.close(outer)


@pytest.fixture
def below(commons: Path) -> Path:
    """Move the triggers into a pack, so that they are not the project's own; return the project."""
    packed = commons.parent / "lessons"
    packed.mkdir()
    for name in ("commons_index.yaml", "bok", "triggers"):
        (commons / name).rename(packed / name)
    (commons / "deia.toml").write_text("limit = 4  # documents\n", encoding="utf-8")
    return packed


# --- triggers of the project's own ---


def test_noise_said_on_two_days_makes_a_trigger_milder_by_one_step_with_plain_words(deia: Deia, commons: Path) -> None:
    for day in DAYS:
        ledger(commons, day, ("site-delete", "noise"))
    milder = kinds(deia)["milder"]
    assert milder["does"] == ["site-delete: action: ask"]
    assert "cannot be undone" in milder["warning"]
    told = deia("learn", "apply", "--all")
    assert (told.code, "was left out" in told.err) == (2, True)
    assert deia("learn", "apply", milder["id"]).code == 0
    assert next(one for one in load_commons(str(commons)).triggers if one.id == "site-delete").action == "ask"


@pytest.mark.parametrize("verdicts", [("noise",) * 30, ("noise", "wrong"), ("useful", "noise", "wrong", "muted")])
def test_one_process_that_poses_as_thirty_conversations_moves_nothing(
    deia: Deia, commons: Path, verdicts: tuple[str, ...]
) -> None:
    for writer in ("1", "2", "3"):  # on Windows each process has a file of its own
        ledger(commons, DAYS[0], *(("site-delete", verdict) for verdict in verdicts), writer=writer)
    found = proposed(deia)
    assert (found["proposals"], found["advice"]) == ([], [])


def test_a_trigger_that_is_useful_as_often_stays_as_it_is(deia: Deia, commons: Path) -> None:
    for day in DAYS:
        ledger(commons, day, ("site-delete", "noise"))
        ledger(commons, day, ("site-delete", "useful"), writer="y")
    assert kinds(deia) == {}


@pytest.mark.slow
def test_what_was_said_before_a_change_is_not_held_against_the_trigger_again(deia: Deia, commons: Path) -> None:
    for day in DAYS:
        ledger(commons, day, ("site-rename", "noise"), action="ask")
    first = kinds(deia)["milder"]
    assert first["does"] == ["site-rename: action: warn"]
    assert deia("learn", "apply", first["id"]).code == 0
    assert kinds(deia) == {}
    for day in ("2199-01-01", "2199-01-02"):
        ledger(commons, day, ("site-rename", "noise"), action="warn")
    assert kinds(deia)["milder"]["does"] == ["site-rename: action: note"]
    assert deia("learn", "undo").code == 0
    assert kinds(deia)["milder"]["does"] == ["site-rename: action: warn"]


@pytest.mark.slow
def test_noise_of_talk_leaves_the_hold_of_calls_and_takes_the_clause_out_that_heard_it(
    deia: Deia, commons: Path
) -> None:
    text = (commons / "triggers/sites.cases.yaml").read_text(encoding="utf-8")
    (commons / "triggers/sites.cases.yaml").write_text(text.replace("    - I will delete the shop site now\n", ""))
    for day in DAYS:
        ledger(commons, day, ("site-delete", "noise"), action="warn", because=SAID)
    removal = kinds(deia)["clause"]
    assert removal["changes"][0]["value"] == [{"phrase": "{delete|remove} … site"}]
    assert "2 of the 2 noisy firings" in removal["because"]
    assert '-      - phrase: "{delete|remove} … site"' in deia("learn", "propose", "--diff").out
    assert deia("learn", "apply", removal["id"]).code == 0
    assert "Nothing fires" in deia("check", "I will delete the shop site now").out
    assert "site-delete" in deia("check", "--role", "tool_call", "shopctl site:delete").out
    assert kinds(deia) == {}
    assert deia("learn", "undo").code == 0
    assert "site-delete" in deia("check", "I will delete the shop site now").out


@pytest.mark.slow
def test_a_clause_that_a_case_needs_is_named_and_not_taken_out(deia: Deia, commons: Path) -> None:
    for day in DAYS:
        ledger(commons, day, ("site-delete", "noise"), action="warn", because=SAID)
    found = proposed(deia)
    assert found["proposals"] == []
    (line,) = found["advice"]
    assert "phrase '{delete|remove} … site' (triggers/sites.yaml:" in line
    assert "1 of its cases need it" in line
    assert line in deia("learn", "propose").out


def test_a_clause_that_was_useful_elsewhere_is_named_and_not_taken_out(deia: Deia, commons: Path) -> None:
    text = (commons / "triggers/sites.cases.yaml").read_text(encoding="utf-8")
    (commons / "triggers/sites.cases.yaml").write_text(text.replace("    - I will delete the shop site now\n", ""))
    for day in (*DAYS, "2026-11-20"):
        ledger(commons, day, ("site-delete", "noise"), action="warn", because=SAID)
    ledger(commons, DAYS[0], ("site-delete", "useful"), action="warn", because=SAID, writer="y")
    assert "also fired where it was useful" in proposed(deia)["advice"][0]


@pytest.mark.slow
def test_a_note_that_is_noise_and_whose_reasons_were_not_kept_is_named(deia: Deia, commons: Path) -> None:
    for day in DAYS:
        ledger(commons, day, ("site-missing", "noise"), action="note", because="")
    assert "nothing says which clause" in proposed(deia)["advice"][0]


# --- labels ---


def label(root: Path, *conversations: str, **fields: str) -> list[str]:
    """Write labels of some conversations into a file; return the arguments that name it."""
    row = {"trigger": "site-rename", "label": "noise", **fields}
    lines = [json.dumps({**row, "conversation_id": one}) for one in conversations]
    (root / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return ["--labels", "labels.jsonl"]


@pytest.mark.slow
def test_labels_of_two_conversations_count_and_those_of_one_do_not(deia: Deia, commons: Path) -> None:
    assert kinds(deia, *label(commons, "a", "a", "a", action="ask")) == {}
    milder = kinds(deia, *label(commons, "a", "b", action="ask"))["milder"]
    assert milder["does"] == ["site-rename: action: warn"]
    assert deia("learn", "apply", milder["id"]).code == 0
    assert kinds(deia, *label(commons, "a", "b", action="ask")) == {}  # the labels may be older than the change


@pytest.mark.slow
def test_labels_that_do_not_say_what_a_firing_did_leave_holds_and_questions_as_they_are(
    deia: Deia, commons: Path
) -> None:
    found = proposed(deia, *label(commons, "a", "b"))
    assert found["proposals"] == []
    assert "nobody called its ask of calls noise twice" in found["advice"][0]
    assert kinds(deia, *label(commons, "a", "b", trigger="site-missing")) == {}  # a note has no milder action


@pytest.mark.slow
def test_with_transcripts_only_the_labels_count_whose_firings_still_happen(deia: Deia, commons: Path) -> None:
    def say(command: str) -> None:
        call = {"turn": 1, "role": "tool_call", "tool": "Bash"}
        rows = [{**call, "conversation_id": one, "tool_input": {"command": f"{command} {one}"}} for one in "ab"]
        lines = map(json.dumps, rows)
        (commons / "talk.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    arguments = [*label(commons, "a", "b"), "--transcripts", "talk.jsonl"]
    say("shopctl site:list")
    found = proposed(deia, *arguments)
    assert (found["proposals"], found["advice"]) == ([], [])
    say("shopctl site:rename")
    assert kinds(deia, *arguments)["milder"]["does"] == ["site-rename: action: warn"]


def test_a_file_without_labels_is_refused_in_words(deia: Deia, commons: Path) -> None:
    (commons / "labels.jsonl").write_text('{"a": 1}\n[[[\n\xff', encoding="utf-8")
    for name in ("labels.jsonl", "nowhere.jsonl"):
        told = deia("learn", "propose", "--labels", name)
        assert (told.code, "Traceback" in told.err, name in told.err) == (2, False, True)


# --- triggers of another layer ---


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
def test_a_trigger_of_another_layer_gets_a_form_of_this_project_that_can_be_taken_back(
    deia: Deia, commons: Path, below: Path
) -> None:
    assert deia("pack", "add", str(below)).code == 0
    for day in DAYS:
        ledger(commons, day, ("site-rename", "noise"), action="ask")
    form = kinds(deia)["form"]
    assert form["does"] == ["deia.toml: forms: site-rename: warn"]
    assert deia("learn", "apply", form["id"]).code == 0
    before = "limit = 4  # documents\n"
    assert (commons / "deia.toml").read_text(encoding="utf-8") == f'{before}\n[forms]\nsite-rename = "warn"\n'
    assert kinds(deia) == {}
    assert deia("learn", "undo").code == 0
    assert (commons / "deia.toml").read_text(encoding="utf-8") == before


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
def test_settings_that_were_created_for_a_form_are_gone_again_after_undo(
    deia: Deia, commons: Path, below: Path
) -> None:
    (commons / "deia.toml").unlink()
    (commons / "commons_index.yaml").write_text('version: "1.0"\nclusters: {}\n', encoding="utf-8")
    assert deia("pack", "add", str(below)).code == 0
    for day in DAYS:
        ledger(commons, day, ("site-rename", "noise"), action="ask")
    assert deia("learn", "apply", kinds(deia)["form"]["id"]).code == 0
    assert (commons / "deia.toml").read_text(encoding="utf-8") == '[forms]\nsite-rename = "warn"\n'
    assert "site-rename (high, warn)" in deia("check", "--role", "tool_call", "shopctl site:rename a b").out
    assert deia("learn", "undo").code == 0
    assert not (commons / "deia.toml").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("text", ['forms = {site-delete = "ask"}\n', "limit = [\n"])
def test_settings_that_cannot_be_edited_are_left_as_they_are(deia: Deia, commons: Path, below: Path, text: str) -> None:
    assert deia("pack", "add", str(below)).code == 0
    for day in DAYS:
        ledger(commons, day, ("site-rename", "noise"), action="ask")
    form = kinds(deia)["form"]
    (commons / "deia.toml").write_text(text, encoding="utf-8")
    told = deia("learn", "apply", form["id"])
    assert (told.code, "Traceback" in told.err, "deia.toml" in told.err) == (2, False, True)
    assert (commons / "deia.toml").read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
def test_a_critical_hold_of_another_layer_is_named_plainly_and_left_out_of_all(
    deia: Deia, commons: Path, below: Path
) -> None:
    assert deia("pack", "add", str(below)).code == 0
    for day in DAYS:
        ledger(commons, day, ("site-delete", "noise"))
    form = kinds(deia)["form"]
    assert form["does"] == ["deia.toml: forms: site-delete: ask"]
    assert "but:     this trigger is critical and holds calls" in deia("learn", "propose").out
    assert deia("learn", "apply", "--all").code == 2
    assert "forms" not in (commons / "deia.toml").read_text(encoding="utf-8")
    assert deia("learn", "apply", form["id"]).code == 0


@pytest.mark.slow
def test_only_a_person_at_a_terminal_makes_a_guard_of_another_layer_milder(
    deia: Deia, commons: Path, below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deia("pack", "add", str(below)).code == 0
    for day in DAYS:
        ledger(commons, day, ("site-rename", "noise"), action="ask")
    form = kinds(deia)["form"]
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        told = deia("learn", "apply", form["id"])
    assert (told.code, "only a person at a terminal" in told.err) == (2, True)
    assert "forms" not in (commons / "deia.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("now", "old"),
    [
        ("limit = 4\n", "hold = false"), ("limit = 4\n[forms]\n", 'site-delete = "off"'),
        ("limit = 4\n[forms]\n", 'critical = "note"'), ("limit = 4\n[forms]\n", "]broken"),
    ],
)  # fmt: skip
def test_a_forged_changelog_cannot_weaken_the_settings_by_undo(deia: Deia, commons: Path, now: str, old: str) -> None:
    (commons / "deia.toml").write_text(now, encoding="utf-8")
    lines = now.split("\n")
    hunk = {"at": len(lines) - 1, "old": [old, ""], "new": [""], "above": lines[-3:-1], "below": []}
    edit = {"path": "deia.toml", "before": "0" * 64, "after": digest(now.encode()), "hunks": [hunk]}
    line = {"at": "2026-01-01", "id": "form-1", "does": ["x"], "because": "y", "files": [edit]}
    (commons / CHANGELOG).parent.mkdir(exist_ok=True)
    (commons / CHANGELOG).write_text(json.dumps(line) + "\n", encoding="utf-8")
    told = deia("learn", "undo")
    assert (told.code, "Nothing was changed" in told.err) == (2, True)
    assert (commons / "deia.toml").read_text(encoding="utf-8") == now


# --- a person without a commons ---


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
def test_without_a_project_a_noisy_warning_of_the_starter_may_be_muted_for_oneself(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    told = json.loads(deia("trigger", "list", "--json").out)
    mild = next(one["id"] for one in told if one["action"] == "warn" and one["urgency"] == "high")
    held = next(one["id"] for one in told if one["action"] == "hold" and one["urgency"] == "critical")
    events = json.loads(deia("config", "--json").out)["events"]["value"]
    for day in DAYS:
        ledger(folder, day, (mild, "noise"), (held, "noise"), action="warn", because="")
    os.makedirs(os.path.dirname(events), exist_ok=True)
    (folder / "telemetry" / "events").rename(events)
    found = proposed(deia)
    (mute,) = found["proposals"]
    assert mute["does"] == [f"{mild}: muted for you, on this machine"]
    assert held in found["advice"][0]
    assert deia("learn", "apply", mute["id"]).code == 0
    assert mild in deia("mute", "--list").out
    assert mild not in str(proposed(deia))
