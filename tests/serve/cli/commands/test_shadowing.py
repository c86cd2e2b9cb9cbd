"""A trigger that hides one of a lower layer is told wherever triggers are shown; a pack needs leave for grave ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

pytestmark = pytest.mark.slow

HIDER = """\
- id: {id}
  title: Painting a shop
  status: {status}
  urgency: low
  message: Paint dries slowly.
  {extra}
  documents: [{{id: {document}, mode: full_context}}]
  when: {{any: [{{phrase: paint shop}}]}}
"""
GUARD = "rm-home-or-root"  # of the starter; critical, and holds


def hider(ident: str, *, status: str = "deprecated", extra: str = "", document: str = "colours") -> str:
    return HIDER.format(id=ident, status=status, extra=extra, document=document)


@pytest.fixture(autouse=True)
def _starter(monkeypatch: pytest.MonkeyPatch, deia: Deia) -> None:
    monkeypatch.setenv("DEIA_STARTER", "true")


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    for name, text in {"triggers/paint.yaml": hider(GUARD), "bok/colours.md": "# Colours\n\nRed is slow."}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_pack_that_hides_a_holding_trigger_of_the_starter_needs_leave(deia: Deia, team: Path, commons: Path) -> None:
    refused = deia("pack", "add", str(team))
    assert refused.code == 2
    assert f"hides `{GUARD}` of the starter (critical, hold)" in refused.err
    assert "--allow-hiding" in refused.err
    assert not (commons / "deia.lock").exists()
    assert not (commons / "packs").exists()
    taken = deia("pack", "add", str(team), "--allow-hiding")
    assert taken.code == 0
    assert f"! hides `{GUARD}` of the starter" in taken.out
    for words in (("lint",), ("trigger", "lint"), ("trigger", "list")):
        assert f"hides `{GUARD}` of the starter" in deia(*words).out, words
    (row,) = [one for one in json.loads(deia("trigger", "list", "--json").out) if one["hides"]]
    assert row["id"] == GUARD


def test_leave_holds_for_the_triggers_it_was_given_for(deia: Deia, team: Path) -> None:
    deia("pack", "add", str(team), "--allow-hiding")
    assert deia("pack", "update").code == 0
    (team / "triggers" / "more.yaml").write_text(hider("git-force-push-main"), encoding="utf-8")
    grave = [one for one in json.loads(deia("trigger", "list", "--json").out) if one["action"] == "hold"]
    other = next(one["id"] for one in grave if one["origin"] == "starter")
    (team / "triggers" / "more.yaml").write_text(hider(other), encoding="utf-8")
    refused = deia("pack", "update")
    assert refused.code == 2
    assert other in refused.err
    assert GUARD not in refused.err
    assert deia("pack", "update", "--allow-hiding").code == 0
    assert deia("pack", "update").code == 0


def test_a_pack_that_hides_a_mild_trigger_is_taken_in_and_told(deia: Deia, team: Path) -> None:
    rows = json.loads(deia("trigger", "list", "--json").out)
    mild = next(one["id"] for one in rows if one["origin"] == "starter" and one["action"] == "note"
                and one["urgency"] != "critical")  # fmt: skip
    (team / "triggers" / "paint.yaml").write_text(hider(mild, status="experimental"), encoding="utf-8")
    taken = deia("pack", "add", str(team))
    assert taken.code == 0
    assert f"! hides `{mild}` of the starter" in taken.out


def test_an_own_trigger_that_hides_one_is_a_warning_until_it_says_that_it_is_meant(deia: Deia, commons: Path) -> None:
    place = commons / "triggers" / "own.yaml"
    place.write_text(hider(GUARD, document="site-checklist"), encoding="utf-8")
    told = deia("lint")
    assert told.code == 0
    assert "hidden-trigger" in told.out
    assert "hides: starter" in told.out
    place.write_text(hider(GUARD, document="site-checklist", extra="hides: starter"), encoding="utf-8")
    assert "hidden-trigger" not in deia("lint").out
    assert f"! hides `{GUARD}`" in deia("trigger", "list").out


def test_an_exact_copy_hides_nothing(deia: Deia, commons: Path, tmp_path: Path) -> None:
    text = hider("paint", status="experimental", document="site-checklist")
    (commons / "triggers" / "own.yaml").write_text("# copied\n" + text, encoding="utf-8")
    pack = tmp_path / "pack" / "triggers"
    pack.mkdir(parents=True)
    (pack / "paint.yaml").write_text(text, encoding="utf-8")
    assert deia("pack", "add", str(pack.parent)).code == 0
    assert "hidden-trigger" not in deia("lint").out


def test_names_in_the_settings_that_nothing_has_are_errors_with_their_lines(deia: Deia, commons: Path) -> None:
    text = """\
[forms]
no-such-trigger = "off"
critcal = "note"
site-delete = "note"

[exceptions]
"nope" = ["x"]
"""
    (commons / "deia.toml").write_text(text, encoding="utf-8")
    told = deia("lint")
    assert told.code == 1
    assert "deia.toml:2: error: [forms] names `no-such-trigger`" in told.out
    assert "deia.toml:3: error: [forms] names `critcal`" in told.out
    assert "Did you mean critical?" in told.out
    assert "deia.toml:7: error: [exceptions] names `nope`" in told.out
    assert "3 errors, 0 warnings." in told.out
    assert deia("compile").code == 1
    assert "3 problems (3 errors)" in deia("compile").out
    assert "3 errors and 0 warnings" in deia("doctor").out


def test_everything_that_is_wrong_in_the_settings_is_told_at_once_by_line(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text('bogus = 1\n\nlimit = "x"\n', encoding="utf-8")
    told = deia("lint")
    assert told.code == 1
    assert "deia.toml:1: error: unknown setting 'bogus'" in told.out
    assert "deia.toml:3: error: limit = 'x'" in told.out
