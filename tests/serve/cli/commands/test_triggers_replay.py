from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import QueryError
from deia.evaluate.replay_files import PART_LINES, Plan, parts_of, replay_files, transcript_files
from deia.librarian import Librarian

if TYPE_CHECKING:
    from pathlib import Path

    from deia.watch.authoring.replay import Tally
    from tests.serve.conftest import Deia, Process


@pytest.fixture
def plan(commons: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Plan:
    for name in ("DEIA_STATE", "DEIA_STARTER"):
        monkeypatch.setenv(name, environ[name])
    librarian = Librarian(commons, ledger=False)
    librarian.open_artefact()
    return Plan(artefacts=(f"{librarian.derived}/triggers",), examples=2)


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def row(conversation: str, text: str, **more: Any) -> dict[str, Any]:
    return {"conversation_id": conversation, "role": "user", "text": text, **more}


def shown(tally: Tally) -> dict[str, list[str]]:
    return {trigger: [one.place for one in examples] for trigger, examples in tally.after.examples.items()}


def test_rows_of_conversations_that_interleave_keep_each_its_own_memory(plan: Plan, tmp_path: Path) -> None:
    said = "I will delete the site"
    rows = [row("a", said, turn=7), row("b", "hello"), row("a", said), row("b", said, turn=9), row("a", said)]
    path = write(tmp_path / "rows.jsonl", rows)
    tally = replay_files([path], plan)
    assert (tally.turns, tally.conversations, tally.after.fired) == (5, 2, {"site-delete": 2})
    assert shown(tally) == {"site-delete": [f"{path}:a:7", f"{path}:b:9"]}


def test_a_file_that_is_one_conversation_is_one_however_long_it_is(plan: Plan, tmp_path: Path) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "delete the site"}}
    quiet = {"type": "user", "message": {"role": "user", "content": "hello"}}
    path = write(tmp_path / "long.jsonl", [quiet, said, *[quiet] * (2 * PART_LINES), said])
    assert len(list(parts_of([path]))) == 3
    tally = replay_files([path], plan)
    assert (tally.turns, tally.conversations) == (2 * PART_LINES + 3, 1)
    assert shown(tally) == {"site-delete": [f"{path}:2"]}


def test_lines_that_are_conversations_of_their_own_are_replayed_so(plan: Plan, tmp_path: Path) -> None:
    one = {"messages": [{"role": "user", "content": "delete the site"}]}
    tally = replay_files([write(tmp_path / "set.jsonl", [one, one, one])], plan)
    assert tally.after.fired == {"site-delete": 3}


@pytest.mark.slow
def test_several_processes_come_to_the_same_as_one(plan: Plan, tmp_path: Path) -> None:
    texts = ("delete the site", "hello", "don't delete the site", "remove our site")
    rows = [row(f"c{number % 13}", texts[number % 4], turn=number) for number in range(1000)]
    paths = [write(tmp_path / "rows.jsonl", rows), str(tmp_path / "talk.md")]
    (tmp_path / "talk.md").write_text("User: delete the site\nAssistant: no", encoding="utf-8")
    alone, together = (replay_files(paths, plan, jobs=jobs) for jobs in (1, 2))
    assert (alone.turns, alone.conversations, alone.after.fired) == (1002, 14, together.after.fired)
    assert (together.turns, together.conversations) == (1002, 14)
    assert shown(alone) == shown(together)


def test_the_working_folder_of_a_transcript_gives_its_signs(commons: Path, plan: Plan, tmp_path: Path) -> None:
    triggers = (commons / "triggers" / "sites.yaml").read_text(encoding="utf-8")
    (commons / "triggers" / "sites.yaml").write_text(
        triggers.replace("- id: site-delete\n", "- id: site-delete\n  context: [netlify]\n"), encoding="utf-8"
    )
    Librarian(commons, ledger=False).open_artefact()
    here = tmp_path / "site"
    here.mkdir()
    (here / "netlify.toml").touch()
    line = {"type": "user", "cwd": str(here), "message": {"role": "user", "content": "delete the site"}}
    assert replay_files([write(tmp_path / "with.jsonl", [line])], plan).after.fired == {"site-delete": 1}
    line["cwd"] = str(tmp_path)
    assert replay_files([write(tmp_path / "without.jsonl", [line])], plan).after.fired == {}


def test_folders_are_searched_in_order_and_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.jsonl", "1.md", "0.png"):
        (tmp_path / name).touch()
    assert transcript_files([str(tmp_path)]) == [str(tmp_path / "1.md"), str(tmp_path / "b" / "2.jsonl")]
    with pytest.raises(QueryError, match="there is no transcript nowhere"):
        transcript_files(["nowhere"])


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"{", b'{"a": 1}', b"[[[[", b'{"messages": 3}\n{'])
def test_no_file_breaks_a_replay(plan: Plan, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.jsonl").write_bytes(content)
    assert replay_files([str(tmp_path / "odd.jsonl")], plan).after.fired == {}


# --- the command ---


def test_the_command_tells_counts_rates_and_examples(deia: Deia, commons: Path) -> None:
    write(commons / "t.jsonl", [row("a", "hello"), row("a", "I will delete the site")])
    told = deia("trigger", "replay", "t.jsonl")
    assert told.code == 0
    assert "2 turns in 1 conversation, judged in " in told.out
    assert "deia would have spoken once, 500 per 1,000 turns." in told.out
    assert "t.jsonl:a, turn 2, user: I will delete the site" in told.out
    assert 'because phrase "delete the site"' in told.out
    assert "2 of 3 triggers never fired." in told.out
    fields = json.loads(deia("trigger", "replay", "t.jsonl", "--json", "--examples", "0").out)
    assert (fields["turns"], fields["per_1000"]) == (2, 500)
    assert [(one["trigger"], one["fired"], one["examples"]) for one in fields["triggers"]] == [("site-delete", 1, [])]
    assert fields["never_fired"] == ["site-missing", "site-rename"]


def test_an_older_commons_shows_what_a_change_would_change(deia: Deia, commons: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    (older / "triggers").mkdir(parents=True)
    (older / "deia.toml").touch()
    text = (commons / "triggers" / "sites.yaml").read_text(encoding="utf-8")
    (older / "triggers" / "sites.yaml").write_text(text.replace("{delete|remove} … site", "rename … site"))
    write(commons / "t.jsonl", [row("a", "I will delete the site"), row("b", "let me rename the site")])
    told = deia("trigger", "replay", "t.jsonl", "--against", str(older)).out
    assert "1 firings there; 1 are new, 1 are gone." in told
    assert told.index("New:") < told.index("t.jsonl:a, turn 1", told.index("New:")) < told.index("Gone:")
    fields = json.loads(deia("trigger", "replay", "t.jsonl", "--against", str(older), "--json").out)
    assert [one["examples"][0]["place"] for one in fields["against"]["gone"]] == ["t.jsonl:b:1"]


def test_what_cannot_be_replayed_is_refused(deia: Deia) -> None:
    assert "there is no transcript nowhere" in deia("trigger", "replay", "nowhere").err
    assert deia("trigger", "replay", ".", "--against", "nowhere").code == 2


@pytest.mark.slow
def test_several_processes_work_from_the_command_line(process: Process, commons: Path) -> None:
    write(commons / "t.jsonl", [row(f"c{number}", "delete the site") for number in range(20)])
    done = process("trigger", "replay", "t.jsonl", "--jobs", "2", "--examples", "0")
    assert b"would have spoken 20 times" in done.stdout, done.stderr


def test_what_is_no_transcript_is_told_and_is_no_all_clear(deia: Deia, commons: Path) -> None:
    (commons / "old").mkdir()
    (commons / "old" / "notes.md").write_text("# Notes\n\ndelete the site\n", encoding="utf-8")
    assert deia("trigger", "replay", "old").code == 1  # nothing in it could be read
    write(commons / "old" / "t.jsonl", [row("a", "I will delete the site")])
    told = deia("trigger", "replay", "old")
    assert (told.code, told.out.count("would have spoken once")) == (0, 1)
    assert "1 file is not a transcript and was skipped, such as old/notes.md" in told.err.replace("\\", "/")
    named = deia("trigger", "replay", "old/notes.md", "old/t.jsonl")
    assert named.code == 2
    assert "old/notes.md is not a transcript: it is not JSON, and no line says who speaks" in named.err
