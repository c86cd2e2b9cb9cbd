from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia.serve.cli.commands.shared_options import message_if_slow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process


def test_a_text_that_fires_is_shown_with_why_and_what_is_injected(deia: Deia) -> None:
    shown = deia("check", "I", "will", "delete", "the", "shop", "site")
    assert shown.code == 0
    assert "FIRES   site-delete (critical, warn)" in shown.out
    assert 'because phrase "delete the shop site"' in shown.out
    assert "add --full" in shown.out
    assert "bok/site-checklist.md" in shown.out
    assert "Save the domain records first." not in shown.out
    assert "Save the domain records first." in deia("check", "I will delete the shop site", "--full").out


def test_a_text_that_fires_nothing_says_so(deia: Deia) -> None:
    assert "Nothing fires in 1 turn." in deia("check", "hello").out


def test_the_exit_code_is_asked_for(deia: Deia) -> None:
    assert deia("check", "delete the site", "--exit-code").code == 1
    assert deia("check", "hello", "--exit-code").code == 0


def test_explaining_shows_where_a_trigger_stopped(deia: Deia) -> None:
    assert "silent  site-delete, at stance" in deia("check", "don't delete the site", "--explain").out
    assert "not considered: keywords missing" in deia("check", "hello", "--explain").out


ACTING = """\
- id: ledger-wiped
  title: Wiping the ledger
  urgency: low
  message: M
  documents: [{id: site-checklist}]
  when: {any: [{meaning: [wipe the whole ledger, the old ledger]}]}
"""


def test_explaining_shows_what_an_act_lacks(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "ledger.yaml").write_text(ACTING, encoding="utf-8")
    near = deia("check", "please erase our ledger", "--explain").out
    assert 'act     "erase our ledger": verb erase (' in near
    assert 'object ledger (of no class); after "please"; requested' in near
    assert (
        "comes nearest to ledger-wiped, `wipe the whole ledger`: its object would have to have a word such as" in near
    )
    assert "Nothing fires in 1 turn." in near
    assert (
        "is what ledger-wiped, `wipe the whole ledger` is about" in deia("check", "--explain", "wipe all ledgers").out
    )
    told = json.loads(deia("check", "please erase our ledger", "--explain", "--format", "json").out)
    assert [(act["trigger"], act["unmet"]) for act in told[0]["acts"]] == [("ledger-wiped", "all")]


@pytest.mark.slow
def test_the_acts_of_a_trigger_are_explained(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "ledger.yaml").write_text(ACTING, encoding="utf-8")
    asked = deia("trigger", "explain", "ledger-wiped")
    assert asked.code == 0
    assert "wipe the whole ledger\n  verb: 'wipe' (" in asked.out
    assert "the old ledger\n  names no act on a thing, and matches nothing" in asked.out
    assert "and 'fence' is none" in deia("trigger", "explain", "ledger-wiped", "I'll wipe the fence").out
    assert "The text names no act." in deia("trigger", "explain", "ledger-wiped", "hello").out
    assert deia("trigger", "explain", "site-missing").code == 1
    wrong = deia("trigger", "explain", "ledger-wipe")
    assert wrong.code == 2
    assert "Did you mean ledger-wiped?" in wrong.err


def test_words_that_the_commons_adds_are_heard_and_explained(deia: Deia, commons: Path) -> None:
    trigger = ACTING.replace(
        "meaning: [wipe the whole ledger, the old ledger]", "act: {do: destroy, what: account-book}"
    )
    (commons / "triggers" / "ledger.yaml").write_text(trigger, encoding="utf-8")
    words = commons / "triggers" / "act_words.yaml"
    words.write_text("verbs: {destroy: [yeet]}\nobjects: {account-book: [ledger, account book]}\n", encoding="utf-8")
    assert "FIRES   ledger-wiped" in deia("check", "please yeet the ledgers").out
    assert "FIRES" not in deia("check", "please yeet the database").out
    assert "object: 'account-book' (account book, ledger)" in deia("trigger", "explain", "ledger-wiped").out
    words.write_text("verbs: {destroy: yeet}\nobject: {}\n", encoding="utf-8")
    linted = deia("lint").out
    assert "triggers/act_words.yaml:1: error: The words of `destroy` are not a list." in linted
    assert "triggers/act_words.yaml:2: error: The field `object` is unknown. Did you mean objects?" in linted


def test_a_muted_trigger_is_not_passed_over_in_silence(deia: Deia) -> None:
    deia("mute", "site-delete")
    assert "silent  site-delete, at muted" in deia("check", "delete the site").out


def test_a_tool_call_is_checked_as_one(deia: Deia) -> None:
    assert "FIRES   site-delete" in deia("check", "--role", "tool_call", "shopctl site:delete x").out
    assert "Nothing fires" in deia("check", "--role", "tool_call", "echo shopctl site:delete x").out


def test_a_failure_is_checked_as_one(deia: Deia) -> None:
    assert "FIRES   site-missing" in deia("check", "--role", "tool_result", "Error: Site not found").out


def test_json_has_a_value_for_every_turn(deia: Deia, commons: Path) -> None:
    lines = [{"role": "user", "text": "hello"}, {"role": "assistant", "content": "I'll delete the site."}]
    (commons / "t.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    turns = json.loads(deia("check", "--file", "t.jsonl", "--format", "json", "--explain").out)
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert [[firing["trigger"] for firing in turn["fired"]] for turn in turns] == [[], ["site-delete"]]
    assert turns[1]["injection"]["documents"] == ["site-checklist"]
    assert turns[1]["verdicts"][0]["stage"] == "fires"


def test_checking_leaves_no_trace(deia: Deia, commons: Path) -> None:
    deia("check", "delete the site")
    deia("check", "delete the site")
    assert "FIRES" in deia("check", "delete the site").out
    assert not (commons / "telemetry").exists()


@pytest.mark.slow
def test_standard_input_is_one_turn(process: Process) -> None:
    done = process("check", "-", stdin=b"I will\nremove the site\n")
    assert b"FIRES   site-delete" in done.stdout
    assert process("check", stdin=b"delete the site").stdout.count(b"FIRES") == 1


def test_what_cannot_be_checked_is_refused(deia: Deia, commons: Path) -> None:
    (commons / "empty").write_text("", encoding="utf-8")
    for arguments, told in (
        (["--file", "nowhere"], "nowhere cannot be read: No such file"),
        (["--file", "empty"], "empty is not a transcript: it is empty"),
        (["--file", "empty", "text"], "not both"),
        (["--role", "robot", "text"], "robot"),
    ):
        refused = deia("check", *arguments)
        assert refused.code == 2
        assert told in refused.err


def test_the_cases_of_a_good_commons_hold(deia: Deia) -> None:
    done = deia("trigger", "test")
    assert done.code == 0
    assert "3 triggers, 4 cases, 0 failed." in done.out
    assert "Without cases: site-rename, site-missing." in done.out


def test_a_case_that_does_not_hold_is_told_with_its_line_and_why(deia: Deia, commons: Path) -> None:
    path = commons / "triggers" / "sites.cases.yaml"
    cases = "site-delete:\n  fires:\n    - don't delete the site\n    - hello\n  silent:\n    - delete the site\n"
    path.write_text(cases, encoding="utf-8")
    done = deia("trigger", "test", "site-delete")
    assert done.code == 1
    assert "triggers/sites.cases.yaml:3: site-delete should fire, but does not" in done.out
    assert "stopped at stance" in done.out
    assert "stopped at gate" in done.out
    assert "triggers/sites.cases.yaml:6: site-delete should not fire, but fires" in done.out
    assert "1 trigger, 3 cases, 3 failed." in done.out


def test_an_unknown_trigger_is_refused_with_the_nearest(deia: Deia) -> None:
    refused = deia("trigger", "test", "site-delte")
    assert refused.code == 2
    assert "site-delete" in refused.err


def test_broken_triggers_are_counted(deia: Deia, commons: Path) -> None:
    with open(commons / "triggers" / "sites.yaml", "a", encoding="utf-8") as file:
        file.write("- id: broken\n")
    assert "in the trigger files; these triggers are not tested" in deia("trigger", "test").out


@pytest.mark.slow
def test_outside_any_commons_the_starter_s_cases_are_run(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = deia("trigger", "test", "rm-home-or-root", "database-drop")
    assert done.code == 0
    assert "site-delete" not in done.out
    assert " 0 failed." in done.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"messages": [\n', "begins like JSON but cannot be parsed: Expecting value in line 2"),
        (b"<!doctype html><html><body>delete the site</body></html>", "no line says who speaks"),
        (b"root:x:0:0:root:/root:/bin/sh\n", "no line says who speaks"),
        (bytes(range(256)) * 8, "it is not text"),
        (b"\xfe\xff" * 40 + b"User: hello", "it is not text"),
        (b" \n", "it is empty"),
    ],
)
def test_what_is_no_transcript_is_no_all_clear(deia: Deia, commons: Path, content: bytes, told: str) -> None:
    (commons / "odd").write_bytes(content)
    refused = deia("check", "--file", "odd")
    assert (refused.code, refused.out) == (2, "")
    assert "odd is not a transcript: " in refused.err
    assert told in refused.err


def test_a_transcript_that_is_cut_off_or_begins_with_a_bracket_is_still_read(deia: Deia, commons: Path) -> None:
    (commons / "cut.jsonl").write_text('{"role": "user", "content": "delete the site"}\n{"role": "us', encoding="utf-8")
    assert "FIRES   site-delete" in deia("check", "--file", "cut.jsonl").out
    (commons / "t.md").write_text("[notes]\n\n**User:** I will delete the site\n", encoding="utf-8")
    assert "FIRES   site-delete" in deia("check", "--file", "t.md").out


def test_nothing_is_not_checked(deia: Deia, process: Process) -> None:
    assert "There is no text" in deia("check", "").err
    assert process("check", stdin=b" \n").returncode == 2


def test_a_slow_compile_is_told_at_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for watched in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda watched=watched: watched)
        with message_if_slow("compiling", after=0.01):
            time.sleep(0.1)
        with message_if_slow("again", after=5):
            pass
        assert capsys.readouterr().err == ("compiling\n" if watched else "")
