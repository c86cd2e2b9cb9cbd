"""`deia scan`: files are judged as an agent's call would be, and say where."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from deia.scan.scan_folders import MOST_BYTES, WORTH_PROCESSES
from tests.scan.test_snippets import DOCKERFILE, MAKEFILE, NOTEBOOK, PACKAGE, STEP, WORKFLOW

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

FILES = {
    ".github/workflows/ci.yml": WORKFLOW, "Dockerfile": DOCKERFILE, "Makefile": MAKEFILE, "package.json": PACKAGE,
    "notes.ipynb": NOTEBOOK, "tools/wipe": f"#!/bin/sh\n{STEP}\n", "README.md": STEP, "src/shop.sh.txt": STEP,
}  # fmt: skip
PLACES = [
    ".github/workflows/ci.yml:7", ".github/workflows/ci.yml:8", ".github/workflows/ci.yml:9",
    ".github/workflows/ci.yml:12", ".github/workflows/ci.yml:14", "Dockerfile:4", "Dockerfile:7", "Dockerfile:9",
    "Makefile:7", "package.json:5", "notes.ipynb:13", "notes.ipynb:19", "tools/wipe:2",
]  # fmt: skip


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, dated so that nobody has to doubt whether they change again."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))


def test_every_kind_of_file_is_read_and_the_places_are_named(deia: Deia, commons: Path) -> None:
    write(commons, FILES)
    outcome = deia("scan")
    places = [line.partition(": error: ")[0] for line in outcome.out.splitlines() if ": error: " in line]
    assert (outcome.code, sorted(places)) == (1, sorted(PLACES))
    assert "Deleting a shop site: shopctl site:delete --yes. Go through the checklist. [site-delete]" in outcome.out
    assert outcome.out.endswith("6 files: 13 errors, 0 warnings.\n")


def test_a_path_may_be_a_file_or_a_folder_and_is_shown_as_typed(deia: Deia, commons: Path) -> None:
    write(commons, FILES)
    shown = deia("scan", "tools", "./Makefile", str(commons / "package.json"), "--json").out
    assert [row["path"] for row in json.loads(shown)] == ["tools/wipe", "Makefile", str(commons / "package.json")]


def test_nothing_found_exits_0(deia: Deia, commons: Path) -> None:
    write(commons, {"run.sh": "shopctl site:list\necho shopctl site:delete\n"})
    assert (deia("scan").code, deia("scan").out) == (0, "1 file (1 unchanged): 0 errors, 0 warnings.\n")


def test_notes_count_only_if_strict(deia: Deia, commons: Path) -> None:
    triggers = commons / "triggers/sites.yaml"
    triggers.write_text(triggers.read_text("utf-8").replace("action: hold", "action: note"), "utf-8")
    write(commons, {"run.sh": STEP})
    assert (deia("scan").code, deia("scan", "--strict").code) == (0, 1)
    assert "run.sh:1: warning: " in deia("scan").out


def test_what_did_not_change_is_not_read_again(deia: Deia, commons: Path) -> None:
    write(commons, {"a.sh": STEP, "b.sh": STEP})
    assert "2 files: 2 errors" in deia("scan").out
    write(commons, {"b.sh": f"{STEP}\n{STEP} --all\n"})
    assert "2 files (1 unchanged): 3 errors" in deia("scan").out
    (commons / "a.sh").unlink()
    assert "1 file (1 unchanged): 2 errors" in deia("scan").out
    triggers = commons / "triggers/sites.yaml"
    triggers.write_text(triggers.read_text("utf-8").replace("site:delete", "site:remove"), "utf-8")
    assert "1 file: 0 errors" in deia("scan").out, "other triggers, other results"


def test_a_comment_pardons_a_trigger_on_its_line_and_the_next(deia: Deia, commons: Path) -> None:
    lines = [f"{STEP} # deia: ignore[site-delete]", "# deia: ignore[other, site-delete]", STEP, "true", STEP, STEP]
    lines[5] += " # deia: ignore[other]"
    write(commons, {"run.sh": "\n".join(lines)})
    assert [line.split(":")[1] for line in deia("scan").out.splitlines()[:-1]] == ["5", "6"]


def test_what_git_ignores_and_what_is_excluded_is_left_out(deia: Deia, commons: Path) -> None:
    write(commons, {"a.sh": STEP, "out/b.sh": STEP, "old/c.sh": STEP, ".gitignore": "out/\n"})
    assert "2 files: 2 errors" in deia("scan").out
    assert "1 file (1 unchanged): 1 error" in deia("scan", "--exclude", "old/**").out


def test_exceptions_of_the_settings_count(deia: Deia, commons: Path) -> None:
    write(commons, {"a.sh": STEP, "old/b.sh": STEP})
    (commons / "deia.toml").write_text('[exceptions]\nsite-delete = ["old/**"]\n', "utf-8")
    shown = deia("scan").out
    assert ("a.sh:1" in shown, "old/b.sh" in shown) == (True, False)


@pytest.mark.parametrize("form", ["sarif", "junit", "github"])
def test_builds_get_their_own_form(deia: Deia, commons: Path, form: str) -> None:
    write(commons, {"a.sh": f"\n{STEP}"})
    outcome = deia("scan", "--format", form)
    assert outcome.code == 1
    if form == "sarif":
        [result] = json.loads(outcome.out)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]
        assert (result["ruleId"], place["region"]["startLine"]) == ("site-delete", 2)
        assert place["artifactLocation"]["uri"] == "a.sh"
    else:
        assert "a.sh" in outcome.out


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(deia: Deia, commons: Path) -> None:
    write(commons, {"bad.ipynb": "{", "large.sh": "#" * (MOST_BYTES + 1), "run.sh": STEP})
    (commons / "link.sh").symlink_to("/dev/zero")
    shown = deia("scan").out
    assert "bad.ipynb: warning: It cannot be read: no notebook in JSON [unreadable-file]" in shown
    assert "large.sh: warning: It has 1,000,001 bytes, and at most 1,000,000 are scanned. [file-too-large]" in shown
    assert shown.endswith("3 files: 1 error, 2 warnings.\n")


def test_a_path_that_is_not_there_is_an_error(deia: Deia) -> None:
    outcome = deia("scan", "nowhere")
    assert (outcome.code, "there is no file or folder nowhere" in outcome.err) == (2, True)


@pytest.mark.slow
def test_many_files_are_scanned_by_several_processes_with_the_same_result(deia: Deia, commons: Path) -> None:
    count = WORTH_PROCESSES + 1
    write(commons, {f"{number}.sh": f"echo {number}\n{STEP}\n" for number in range(count)})
    rows = json.loads(deia("scan", "--json").out)
    assert sorted((row["path"], row["line"]) for row in rows) == sorted((f"{at}.sh", 2) for at in range(count))
