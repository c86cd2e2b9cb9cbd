"""`deia learn` as a person types it: what is proposed was tried, what is applied can be taken back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from deia import spool
from deia.commons.index.load_commons import load_commons

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

MORE = {
    "bok/dns-records.md": "# Keeping the domain records\n\nThis is about domain records. Write them down first.\n",
    "bok/invoices.md": "# Sending invoices by mail\n\nThis is about invoices. Ask the owner first.\n",
}
NOISE, NEEDED = "I will delete the staging copy of the shop site now", "I will delete the shop site for good"


@pytest.fixture
def used(commons: Path) -> Path:
    """Fill a ledger: people find the domain records only in other words, and a trigger is noise beside a copy."""
    for path, text in MORE.items():
        (commons / path).write_text(text, encoding="utf-8")
    events: list[dict[str, Any]] = []
    for number in range(3):
        who = {"conversation": f"c{number}"}
        asked = {"event": "query", "confidence": "high", **who}
        events.append({**asked, "query": "nameserver zone export", "matched": False, "docs": []})
        events.append({**asked, "query": "domain records", "matched": True, "docs": ["dns-records"]})
        events.append({"event": "read", "doc": "dns-records", "via": "cli", **who})
    for number, text in enumerate((NOISE, f"{NOISE} please", NEEDED)):
        who = {"conversation": f"talk{number}"}
        fired = {"event": "injection", "trigger": "site-delete", "outcome": "shown", "docs": [], **who}
        events.append({**fired, "id": f"fired-{number}"})
        verdict = "useful" if text == NEEDED else "noise"
        events.append({"event": "feedback", "of": f"fired-{number}", "verdict": verdict})
        place = commons / "said" / f"{number}.jsonl"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({**who, "role": "user", "content": text}) + "\n", encoding="utf-8")
    folder = commons / "telemetry" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate(events):
        day = f"2026-11-{18 + number // 3 % 3}"  # of several days, since one machine's signs count once a day
        stamp = {"ts": f"{day}T10:00:{number:02d}.000Z", "v": 1, "id": f"e-{number}"}
        with (folder / f"{day}-x.jsonl").open("ab") as file:
            file.write(spool.encoded({**stamp, **event}))
    return commons


def proposals(deia: Deia, *arguments: str) -> dict[str, dict[str, Any]]:
    told = json.loads(deia("learn", "propose", "--json", *arguments).out)
    return {one["kind"]: one for one in told["proposals"]}


def contents(root: Path) -> dict[str, bytes]:
    kept = [path for path in root.rglob("*") if path.is_file() and "telemetry" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


@pytest.mark.slow
def test_words_that_found_a_document_only_later_become_its_own(deia: Deia, used: Path) -> None:
    (change,) = proposals(deia)["keywords"]["changes"]
    assert (change["target"], sorted(change["value"])) == ("dns-records", ["export", "nameserver", "zone"])
    told = deia("learn", "propose", "--diff").out
    assert "+keywords: [export, nameserver, zone]" in told
    assert "hit@1 0 → 1" in told
    assert "dns-records" not in deia("search", "nameserver zone export").out
    assert deia("learn", "apply", proposals(deia)["keywords"]["id"]).code == 0
    assert "dns-records" in deia("search", "nameserver zone export").out


@pytest.mark.slow
def test_what_was_applied_is_taken_back_byte_for_byte_and_logged(deia: Deia, used: Path) -> None:
    before = contents(used)
    found = proposals(deia, "--transcripts", "said")
    assert {"keywords", "unless", "case"} <= set(found)
    assert f"{len(found)} proposals applied" in deia("learn", "apply", "--all").out
    assert load_commons(str(used)).problems == ()
    assert deia("trigger", "test").code == 0
    for _ in found:
        assert deia("learn", "undo").code == 0
    assert contents(used) == before
    logged = json.loads(deia("learn", "log", "--json").out)
    assert {one["id"] for one in logged} == {one["id"] for one in found.values()}
    assert all(one["undone"] for one in logged)
    assert deia("learn", "undo").code == 2


@pytest.mark.slow
def test_a_noisy_trigger_gets_a_word_that_silences_it_and_the_turns_as_cases(deia: Deia, used: Path) -> None:
    found = proposals(deia, "--transcripts", "said")["unless"]
    unless, cases = found["changes"]
    assert unless["value"] == ["staging copy"]
    assert (cases["field"], cases["value"][0]) == ("silent", NOISE)
    assert (found["effect"]["before"]["noise"], found["effect"]["after"]["noise"]) == (2.0, 0.0)
    assert found["effect"]["after"]["of use"] == 1.0
    assert "unless" not in proposals(deia)  # the ledger alone has no turns


def test_what_harms_a_golden_question_is_not_proposed(deia: Deia, used: Path) -> None:
    text = "- query: nameserver zone export\n  documents: [invoices]\n- query: export the zone\n  nothing: true\n"
    (used / "golden.yaml").write_text(text, encoding="utf-8")
    found = proposals(deia).get("keywords")
    assert found is None or not {"zone", "export"} & set(found["changes"][0]["value"])


def test_a_question_about_a_document_of_a_pack_or_of_nobody_changes_nothing(deia: Deia, used: Path) -> None:
    (used / "bok/dns-records.md").unlink()
    assert "keywords" not in proposals(deia)


def test_without_a_log_nothing_is_proposed_and_the_signs_are_told(deia: Deia, commons: Path) -> None:
    told = deia("learn", "propose")
    assert (told.code, "0 questions in the log" in told.out) == (1, True)
    assert "somebody called the answer useful" in deia("learn").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("apply",), ("apply", "kw-none"), ("undo", "x"), ("propose", "--transcripts", "nowhere"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(deia: Deia, commons: Path, arguments: tuple[str, ...]) -> None:
    told = deia("learn", *arguments)
    assert told.code == 2
    assert told.err.startswith("deia: ")
    assert "Traceback" not in told.err


def test_proposals_that_were_damaged_are_asked_for_again(deia: Deia, used: Path, environ: dict[str, str]) -> None:
    proposals(deia)
    for path in sorted((used.parent / "home").rglob("learn/*.json")):
        path.write_text('{"proposals": [3]}', encoding="utf-8")
    told = deia("learn", "apply", "--all")
    assert (told.code, "deia learn propose" in told.err) == (2, True)
