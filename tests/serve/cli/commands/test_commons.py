from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.derived import derived

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process


WIDE = """\
- id: wide
  title: W
  urgency: low
  message: M
  documents: [{id: site-checklist}]
  when: {any: [{pattern: "[a-z]{3}"}]}
"""
OLD = """\
patterns:
  - {id: site-checklist, path: bok/site-checklist.md, title: T, category: c, tags: [a], summary: S}
"""


@pytest.mark.slow
def test_compiling_tells_what_was_written(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    assert "Wrote triggers and catalog: 3 triggers, 1 document," in deia("compile").out
    assert "Everything was up to date" in deia("compile").out
    assert "Wrote triggers and catalog" in deia("compile", "--force").out
    assert (derived(commons, environ) / "triggers").exists()


def test_compiling_with_word_vectors_alone_after_the_sentence_model_writes_anew(deia: Deia) -> None:
    tiers = ("compact", "static", "static")
    outcomes = [deia("compile", "--tier", tier).out.partition(" ")[0] for tier in tiers]
    assert outcomes == ["Wrote", "Wrote", "Everything"]


def test_triggers_that_cannot_be_gated_and_problems_are_told(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "wide.yaml").write_text(WIDE + "- id: broken\n", encoding="utf-8")
    done = deia("compile")
    assert done.code == 1
    assert "wide" in done.out
    assert "Type: deia lint" in done.out


def test_a_clean_commons_has_nothing_to_lint(deia: Deia) -> None:
    deia("index", "build", "--write")
    done = deia("lint")
    assert (done.code, done.out) == (0, "0 errors, 0 warnings.\n")


@pytest.fixture
def broken(commons: Path) -> Path:
    """Break the triggers in two places; give the file."""
    path = commons / "triggers" / "sites.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "- id: a,b\n- id: site-delete\n", encoding="utf-8")
    return path


def test_every_problem_is_linted_with_file_and_line(deia: Deia, broken: Path) -> None:
    done = deia("lint")
    assert done.code == 1
    assert broken.exists()
    assert done.out.count("triggers/sites.yaml:") >= 2


def test_no_problem_hides_another_whichever_file_it_is_in(deia: Deia, broken: Path, commons: Path) -> None:
    (commons / "deia.toml").write_text('tier = "x"\nlimits = 3\n', encoding="utf-8")
    (commons / "triggers/syntax.yaml").write_text("- id: [\n", encoding="utf-8")
    (commons / "golden.yaml").write_text("- query: what?\n", encoding="utf-8")
    (commons / "commons_index.yaml").write_text("clusters:\n  a: [\n", encoding="utf-8")
    told = deia("lint")
    assert told.code == 1
    for place in ("deia.toml:1: error: tier", "deia.toml:2: error: unknown setting", "triggers/syntax.yaml:",
                  "golden.yaml:1: error", "commons_index.yaml:", "triggers/sites.yaml:"):  # fmt: skip
        assert place in told.out, place


def test_lint_tells_tools_as_json(deia: Deia, broken: Path) -> None:
    problems = json.loads(deia("lint", "--format", "json").out)
    assert broken.exists()
    assert {"path", "line", "found", "fix", "code", "severity"} == set(problems[0])


def test_lint_annotates_a_pull_request(deia: Deia, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken.parent)
    lines = deia("lint", "--format", "github", "--commons", "..").out.splitlines()
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines)
    assert any("file=sites.yaml,line=" in line for line in lines)


def test_an_index_is_shown_before_it_is_written(deia: Deia, commons: Path) -> None:
    path = commons / "commons_index.yaml"
    before = path.read_bytes()
    shown = deia("index", "build")
    assert "+total_documents: 1" in shown.out
    assert "add --write" in shown.out
    assert path.read_bytes() == before
    assert "Written." in deia("index", "build", "--write").out
    assert "is up to date" in deia("index", "build").out


def test_an_old_index_is_migrated_and_kept(deia: Deia, commons: Path) -> None:
    path = commons / "commons_index.yaml"
    path.write_text(OLD, encoding="utf-8")
    done = deia("index", "migrate", "--write")
    assert "commons_index.yaml.before-migrate" in done.out
    assert (commons / "commons_index.yaml.before-migrate").read_text(encoding="utf-8") == OLD
    assert deia("lint").code == 0 or "unknown-shape" not in deia("lint").out


def test_a_lesson_is_written_indexed_and_found(deia: Deia, commons: Path) -> None:
    text = "Paint them again. Never wash the zebra stripes with bleach."
    done = deia("add", "--title", "Zebra stripes vanish", "--text", text, "--tag", "zoo", "--trigger")
    assert done.code == 0
    assert "wrote bok/patterns/zebra-stripes-vanish.md" in done.out
    assert (commons / "triggers" / "zebra-stripes-vanish.yaml").exists()
    assert deia("search", "zebra", "--format", "paths").out == "bok/patterns/zebra-stripes-vanish.md\n"
    assert deia("trigger", "test", "zebra-stripes-vanish").code == 0
    assert "added zebra-stripes-vanish" in deia("log", "--event", "index").out


def test_after_a_lesson_the_person_hears_what_to_do_next(deia: Deia) -> None:
    told = deia("add", "--title", "Never run `jobctl purge`", "--trigger").out
    assert told.splitlines()[-1] == (
        "Next: fill in bok/patterns/never-run-jobctl-purge.md; review triggers/never-run-jobctl-purge.yaml, then type:"
        " deia trigger test never-run-jobctl-purge"
    )
    assert "Next:" not in deia("add", "Complete", "--text", "Drain the queue first.").out


def test_a_lesson_may_come_from_standard_input(process: Process, commons: Path) -> None:
    done = process("add", "--title", "Striped", "--text", "-", stdin="Grün.\n".encode())
    assert done.returncode == 0
    assert "Grün." in (commons / "bok" / "patterns" / "striped.md").read_text(encoding="utf-8")


def test_a_title_is_given_once(deia: Deia) -> None:
    told = deia("add", "One", "title", "--title", "Another")
    assert (told.code, told.out) == (2, "")
    assert "leave out --title" in told.err


def test_a_lesson_needs_a_title_when_nobody_can_be_asked(process: Process) -> None:
    done = process("add")
    assert done.returncode == 2
    assert b"such as: deia add " in done.stderr


@pytest.mark.parametrize("arguments", [["add", "--title", "x"], ["index", "build", "--write"]])
def test_the_starter_commons_is_not_written_to(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = deia(*arguments)
    assert refused.code == 2
    assert "deia init" in refused.err


def test_a_new_commons_works_at_once(deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = deia("init", str(tmp_path / "new one"))
    assert done.code == 0
    assert "wrote commons_index.yaml" in done.out
    monkeypatch.chdir(tmp_path / "new one")
    assert deia("lint").code == 0
    assert deia("trigger", "test").code == 0
    assert deia("search", "overwrite").code == 0
    assert "kept commons_index.yaml" in deia("init").out


def test_a_file_is_no_place_for_a_commons(deia: Deia, commons: Path) -> None:
    refused = deia("init", str(commons / "commons_index.yaml"))
    assert refused.code == 2
    assert "not a folder" in refused.err


def test_compile_and_lint_count_the_same_problems_and_exit_alike(deia: Deia, commons: Path, broken: Path) -> None:
    (commons / "bok" / "unlisted.md").write_text("# Unlisted\n\nNobody lists it.\n", encoding="utf-8")
    linted = deia("lint")
    count = len(linted.out.splitlines()) - 1
    errors = linted.out.splitlines()[-1].partition(",")[0]
    compiled = deia("compile")
    assert broken.exists()
    assert f"{count} problems ({errors})" in compiled.out
    assert compiled.code == linted.code == 1
    assert deia("compile").code == 1  # though everything is fresh


def test_one_error_is_no_errors(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text('[exceptions]\nnope = ["x"]\n', encoding="utf-8")
    deia("index", "build", "--write")
    assert deia("lint").out.endswith("\n1 error, 0 warnings.\n")
    assert "1 problem (1 error)" in deia("compile").out


def test_check_says_what_was_left_out(deia: Deia, commons: Path, broken: Path) -> None:
    told = deia("check", "nothing of note")
    assert told.code == 0
    assert "Nothing fires" in told.out
    assert "Type: deia lint" in told.err
    broken.write_text("- id: half\n  title: Half\n- id: other\n", encoding="utf-8")
    assert "2 triggers have errors and cannot fire: half, other" in deia("check", "x").err
    broken.write_text("- [", encoding="utf-8")
    assert "triggers/sites.yaml" in deia("check", "x").err
    assert "deia lint" in deia("check", "x").err
    broken.unlink()
    (commons / "triggers" / "sites.cases.yaml").unlink()
    assert deia("check", "x").err == ""


def test_an_outline_that_nobody_filled_in_is_told_and_not_injected(deia: Deia, commons: Path) -> None:
    deia("add", "--title", "Painting the shop red", "--summary", "Red paint dries slowly.", "--trigger")
    place = commons / "triggers" / "painting-the-shop-red.yaml"
    place.write_text(place.read_text(encoding="utf-8").replace("summary_only", "full_context"), encoding="utf-8")
    linted = deia("lint").out
    assert "unfilled-outline" in linted
    assert "bok/patterns/painting-the-shop-red.md:" in linted
    told = deia("check", "please paint the shop red", "--full").out
    assert "FIRES" in told
    assert "Red paint dries slowly." in told
    assert "The steps that avoid it" not in told
    assert "Do instead" not in told


def test_a_lesson_that_names_a_command_gets_a_trigger_on_that_command(deia: Deia, commons: Path) -> None:
    done = deia("add", "--title", "Running jobctl purge deletes all queued jobs", "--urgency", "high", "--trigger")
    assert done.code == 0
    ident = "running-jobctl-purge-deletes-all-queued-jobs"
    drafted = (commons / "triggers" / f"{ident}.yaml").read_text(encoding="utf-8")
    assert "- command: jobctl purge\n" in drafted
    assert ", 0 failed." in deia("trigger", "test", ident).out
    assert ident in deia("check", "--role", "tool_call", "sudo jobctl purge").out
    assert ident not in deia("check", "--role", "tool_call", "jobctl status").out


def test_a_lesson_that_forbids_nothing_gets_no_trigger_and_that_is_said(deia: Deia, commons: Path) -> None:
    done = deia("add", "--title", "Zebra stripes vanish", "--text", "Use `paint stripes` instead.", "--trigger")
    assert done.code == 0
    assert "No trigger was drafted" in done.out
    assert 'deia trigger new "Never …" --document zebra-stripes-vanish' in done.out
    assert not (commons / "triggers" / "zebra-stripes-vanish.yaml").exists()


@pytest.mark.slow
def test_a_commons_below_the_root_of_a_repository_is_said_to_be_out_of_sight(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    told = deia("init", "lessons").out
    assert "above lessons will not use this one" in " ".join(told.split())
    assert f"deia init {root}" in told
    doctor = deia("doctor").out
    assert "no commons here or above, but one in lessons/" in doctor
    assert "will not use this one" not in deia("init").out
    assert "but one in" not in deia("doctor").out
