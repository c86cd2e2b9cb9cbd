"""Proposals are shown with their lines, applied by their id, and undone."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import DeiaError
from deia.learn.changes import ADD, SET, TRIGGER, Change
from deia.learn.proposals import propose, store_proposals
from deia.serve.page.learning_views import apply, proposals, undo_applied

if TYPE_CHECKING:
    from deia.serve.server.desk import Desk


def stored(desk: Desk, *changes: tuple[str, Change]) -> list[str]:
    made = [
        propose(kind, [change], because="it was noise", evidence=["a turn"], weight=1.0) for kind, change in changes
    ]
    assert store_proposals(desk.root, made, environ=os.environ, at=time.time())
    return [one.id for one in made]


UNLESS = ("unless", Change(kind=ADD, of=TRIGGER, target="site-delete", field="unless", value=("sandbox",)))
GONE = ("milder", Change(kind=SET, of=TRIGGER, target="no-such", field="action", value="note"))


def test_without_proposals_it_says_so(desk: Desk) -> None:
    shown = proposals(desk, {})
    assert (shown["proposals"], shown["applied"], shown["none"]) == ([], [], "There are no proposals yet.")


def test_a_proposal_is_applied_and_undone(desk: Desk) -> None:
    (ident,) = stored(desk, UNLESS)
    listed: Any = proposals(desk, {})["proposals"]
    (shown,) = listed
    assert "+  unless: [sandbox]" in shown["diff"]
    place = Path(desk.root, "triggers/sites.yaml")
    before = place.read_bytes()
    after: Any = apply(desk, {"id": ident})
    assert (after["proposals"], after["applied"][0]["id"]) == ([], ident)
    assert b"sandbox" in place.read_bytes()
    undone: Any = undo_applied(desk, {"id": ident})
    assert undone["applied"][0]["undone"] is True
    assert place.read_bytes() == before


def test_one_that_cannot_be_written_says_so_and_harms_nothing(desk: Desk) -> None:
    (ident,) = stored(desk, GONE)
    listed: Any = proposals(desk, {})["proposals"]
    (shown,) = listed
    assert "cannot be written" in shown["diff"]
    for wrong in (ident, "un-000000"):
        with pytest.raises(DeiaError):
            apply(desk, {"id": wrong})


def test_what_undo_would_do_is_shown_before_it_is_done(desk: Desk) -> None:
    (ident,) = stored(desk, UNLESS)
    applied: Any = apply(desk, {"id": ident})["applied"]
    assert "-  unless: [sandbox]" in applied[0]["diff"]
    changelog = Path(desk.root, "telemetry/CHANGES.jsonl")
    forged = json.loads(changelog.read_text().strip().splitlines()[-1])
    forged["files"][0]["hunks"][0]["old"] = ["  action: note", *(f"  # {n}" for n in range(900))]
    changelog.write_text(json.dumps(forged) + "\n")
    shown: Any = proposals(desk, {})["applied"]
    assert "+  action: note" in shown[0]["diff"]
    assert "lines that are not shown" in shown[0]["diff"]
    assert len(shown[0]["diff"].splitlines()) <= 401
    undone: Any = undo_applied(desk, {"id": ident})["applied"]
    assert undone[0]["diff"] == ""


def test_what_cannot_be_undone_says_why(desk: Desk) -> None:
    (ident,) = stored(desk, UNLESS)
    apply(desk, {"id": ident})
    place = Path(desk.root, "triggers/sites.yaml")
    place.write_text(place.read_text().replace("sandbox", "beach"))
    shown: Any = proposals(desk, {})["applied"]
    assert "cannot be undone: The lines" in shown[0]["diff"]


def test_undo_needs_an_id(desk: Desk) -> None:
    (ident,) = stored(desk, UNLESS)
    apply(desk, {"id": ident})
    with pytest.raises(DeiaError, match="has no id"):
        undo_applied(desk, {})
    assert proposals(desk, {})["applied"][0]["undone"] is False  # type: ignore[index, call-overload]
