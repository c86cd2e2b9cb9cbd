from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.commons.write.init import TEMPLATE
from deia.knowledge import EFFECTS, Trigger
from tests.paths import ROOT

if TYPE_CHECKING:
    from deia.records import Action
    from tests.serve.conftest import Deia

SENTENCE = "Never run shopctl site:purge on production"


def test_a_draft_is_shown_ready_to_paste_and_nothing_is_written(deia: Deia, commons: Path) -> None:
    before = sorted(path.name for path in (commons / "triggers").iterdir())
    told = deia("trigger", "new", "--dry-run", *SENTENCE.split(), "--document", "site-checklist")
    assert told.code == 0
    assert "# triggers/shopctl.yaml" in told.out
    assert "- command: shopctl site:purge" in told.out
    assert "context: [production, prod]" in told.out
    assert sorted(path.name for path in (commons / "triggers").iterdir()) == before


@pytest.mark.parametrize(
    "sentence",
    [
        SENTENCE,
        "Don't archive the shop catalogue",
        "Never `shopctl push --force --all` to main",
        "Be careful when renaming or moving warehouses on Heroku",
        "Avoid `kubectl exec pod -- rm -rf /data`",
        "Don't drop the events table before the backup ran",
        "Never turn off the monitoring in production",
    ],
)
def test_what_is_written_passes_its_own_cases(deia: Deia, sentence: str) -> None:
    written = deia("trigger", "new", sentence, "--document", "site-checklist")
    assert written.code == 0, written.err
    ident = written.out.rstrip().rpartition(" ")[2]
    done = deia("trigger", "test", ident)
    assert done.code == 0, done.out
    assert ", 0 failed." in done.out
    assert "Without cases" not in done.out
    assert deia("lint").code == 0
    assert f"{ident}" not in deia("trigger", "lint").out


def test_a_known_act_on_a_known_thing_becomes_an_act_clause(deia: Deia) -> None:
    told = deia(
        "trigger",
        "new",
        "--dry-run",
        "Don't drop the events table before the backup ran",
        "--document",
        "site-checklist",
    )
    assert "- act:\n        do: destroy\n        what: table\n        where: [events]\n" in told.out
    assert "- let me delete the events table\n" in told.out
    assert "- I'll drop the events table icon\n" in told.out


def test_words_that_the_commons_adds_are_known(deia: Deia, commons: Path) -> None:
    words = "verbs: {destroy: [yeet]}\nobjects: {ledger: [ledger, account book]}\n"
    (commons / "triggers" / "act_words.yaml").write_text(words, encoding="utf-8")
    told = deia("trigger", "new", "--dry-run", "Never yeet the billing ledger", "--document", "site-checklist")
    assert "- act:\n        do: destroy\n        what: ledger\n        where: [billing]\n" in told.out
    assert "- can you yeet our billing account book?\n" in told.out


def test_a_draft_is_added_behind_what_is_there_and_nothing_else_changes(deia: Deia, commons: Path) -> None:
    files = [commons / "triggers" / name for name in ("sites.yaml", "sites.cases.yaml")]
    files[0].write_text("# Ours.\n" + files[0].read_text(encoding="utf-8"), encoding="utf-8")
    before = [path.read_text(encoding="utf-8") for path in files]
    assert deia("trigger", "new", SENTENCE, "--document", "site-checklist", "--topic", "sites").code == 0
    after = [path.read_text(encoding="utf-8") for path in files]
    assert [text[: len(old.rstrip())] for text, old in zip(after, before, strict=True)] == [
        old.rstrip() for old in before
    ]
    done = deia("trigger", "test")
    assert done.code == 0
    assert "4 triggers" in done.out
    again = deia("trigger", "new", SENTENCE, "--document", "site-checklist")
    assert again.code == 2
    assert "There is already a trigger shopctl-site-purge-production (triggers/sites.yaml:" in again.err


def test_a_file_that_cannot_be_added_to_is_left_as_it_is(deia: Deia, commons: Path) -> None:
    for text in ("a: 1\n", "- [broken\n", "just text\n"):
        path = commons / "triggers" / "odd.yaml"
        path.write_text(text, encoding="utf-8")
        refused = deia("trigger", "new", SENTENCE, "--document", "site-checklist", "--topic", "odd")
        assert refused.code == 2
        assert path.read_text(encoding="utf-8") == text
        assert not (commons / "triggers" / "odd.cases.yaml").exists()


def test_a_document_is_found_or_asked_for(deia: Deia) -> None:
    assert "- id: site-checklist" in deia("trigger", "new", "--dry-run", "Never delete a site").out
    unknown = deia("trigger", "new", SENTENCE, "--document", "nowhere")
    assert "There is no document 'nowhere'" in unknown.err
    nothing = deia("trigger", "new", "Never feed the llamas after midnight")
    assert nothing.code == 2
    assert "--document" in nothing.err


def test_a_sentence_that_says_nothing_is_refused_with_what_to_say(deia: Deia) -> None:
    refused = deia("trigger", "new", "--dry-run", "hello", "--document", "site-checklist")
    assert refused.code == 2
    assert "put a command in backticks" in refused.err


@given(st.text(max_size=60))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_sentence_raises(deia: Deia, sentence: str) -> None:
    assert deia("trigger", "new", "--dry-run", "--document", "site-checklist", "--", sentence).code in (0, 2)


@pytest.mark.parametrize(
    ("urgency", "named", "action"),
    [("critical", (), "hold"), ("high", (), "warn"), ("medium", (), "note"), ("medium", ("--action", "hold"), "hold")],
)
def test_both_ways_to_a_draft_choose_its_action_alike_and_say_what_it_does(
    deia: Deia, commons: Path, urgency: str, named: tuple[str, ...], action: Action
) -> None:
    title = "Never run shopctl site:purge"
    added = deia("add", "--title", title, "--urgency", urgency, "--trigger", *named)
    assert f"The draft's action is {action}: {EFFECTS[action]}." in added.out
    (written,) = (commons / "triggers").glob("never-run*[!s].yaml")
    assert f"\n  action: {action}\n" in written.read_text()


def test_every_page_says_of_an_action_the_same() -> None:
    schema = json.loads(Path(TEMPLATE, "triggers/schema/triggers.json").read_text(encoding="utf-8"))
    field = schema["items"]["properties"]["action"]
    readme, triggers, settings_page = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/TRIGGERS.md", "docs/SETTINGS.md")
    )
    for effect in EFFECTS.values():
        assert all(effect in page for page in (field["description"], triggers, settings_page)), effect
    default = Trigger(id="", title="", urgency="low", message="", documents=(), who=()).action
    assert field["default"] == default
    assert f"| `action` | no (`{default}`)" in triggers
    assert f"`action` says what happens, and is `{default}` if it is left out" in readme
