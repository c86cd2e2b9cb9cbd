"""`deia ingest` and `deia source` as people type them, and what `deia search` and `deia show` make of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.serve.conftest import Deia

LONG_AGO = 1_600_000_000.0


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    folder = tmp_path / "Pump manuals"
    for name, text in {
        "pump.md": "# The pump\n\n## Impeller\n\nThe impeller turns left.\n",
        "deep/valve.md": "# The valve\n\nThe spindle has a thread.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    return folder


@pytest.fixture
def site(manuals: Path) -> Iterator[str]:
    """The address of a server on this machine that has the manuals."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(manuals))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.slow
def test_what_is_taken_in_is_found_and_shown(deia: Deia, manuals: Path) -> None:
    taken = deia("ingest", str(manuals))
    assert (taken.code, taken.out.splitlines()[-1]) == (0, "Indexed 2 documents, 2 chunks, 5 entities, 3 relations")
    found = deia("search", "which way does the impeller turn", "--layer", "library", "--format", "paths")
    assert found.out.splitlines()[0] == "library:pump-manuals/pump.md"
    shown = deia("show", "library:pump-manuals/pump.md:5")
    assert shown.out.endswith("The impeller turns left.\n")
    assert "Before a site is deleted" in deia("search", "delete a site").out


def test_the_original_is_what_is_edited(deia: Deia, manuals: Path) -> None:
    deia("ingest", str(manuals))
    assert deia("show", "--edit", "library:pump-manuals/pump.md").out.strip() == str(manuals / "pump.md")
    (manuals / "pump.md").unlink()
    assert "no file" in deia("show", "--edit", "library:pump-manuals/pump.md").err


def test_a_source_is_listed_updated_and_removed(deia: Deia, manuals: Path) -> None:
    deia("ingest", str(manuals), "--name", "pumps", "--collection", "all", "--tag", "manual")
    (listed,) = json.loads(deia("source", "list", "--json").out)
    assert (listed["status"], listed["documents"], listed["source"]["collection"]) == ("processed", 2, "all")
    (manuals / "deep/valve.md").unlink()
    assert "0 read, 1 removed" in deia("source", "update").out
    assert deia("source", "remove", "pumps").code == 0
    assert (deia("source", "list").code, deia("source", "update", "pumps").code) == (1, 2)


def test_a_dry_run_says_what_would_be_read_and_reads_nothing(deia: Deia, manuals: Path) -> None:
    planned = deia("ingest", str(manuals), "--dry-run", "--filter", "*.md", "--depth", "0")
    assert planned.out.splitlines() == ["pump-manuals: 1 file would change", "  read     pump.md"]
    assert deia("source", "list").code == 1


def test_a_dry_run_of_what_was_taken_in_says_what_a_second_run_would_read(deia: Deia, manuals: Path) -> None:
    os.utime(manuals / "pump.md")  # so fresh that its time says nothing
    deia("ingest", str(manuals), "--name", "pumps", "--tag", "manual")
    assert deia("ingest", str(manuals), "--tag", "manual", "--dry-run").out == "pumps: 0 files would change\n"
    (manuals / "pump.md").write_text("# Another pump\n", encoding="utf-8")
    assert deia("ingest", str(manuals), "--tag", "manual", "--dry-run").out.splitlines()[1:] == ["  read     pump.md"]
    otherwise = ("ingest", str(manuals), "--chunker", "by_sentence")
    assert "2 files would change" in deia(*otherwise, "--dry-run").out
    assert "2 read" in deia(*otherwise).out


@pytest.mark.slow
def test_the_chunker_that_is_asked_for_cuts(deia: Deia, manuals: Path) -> None:
    (manuals / "long.txt").write_text("One sentence here. " * 200, encoding="utf-8")
    deia("ingest", str(manuals))
    by_itself = json.loads(deia("source", "list", "--json").out)[0]["chunks"]
    assert deia("ingest", str(manuals), "--chunker", "strategy=by_sentence,max_chars=200").code == 0
    assert json.loads(deia("source", "list", "--json").out)[0]["chunks"] > by_itself


def test_two_folders_of_one_name_are_two_sources(deia: Deia, manuals: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / manuals.name
    other.mkdir(parents=True)
    (other / "pump.md").write_text("# Another pump\n", encoding="utf-8")
    deia("ingest", str(manuals), str(other))
    assert [one["source"]["name"] for one in json.loads(deia("source", "list", "--json").out)] == [
        "pump-manuals", "pump-manuals-2",
    ]  # fmt: skip
    refused = deia("ingest", str(tmp_path), "--name", "pump-manuals")
    assert (refused.code, "there is a source" in refused.err) == (2, True)


def test_the_same_folder_with_another_filter_is_another_source_and_by_its_name_it_is_changed(
    deia: Deia, manuals: Path
) -> None:
    deia("ingest", str(manuals))
    planned = deia("ingest", str(manuals), "--filter", "pump.md", "--dry-run")
    second = deia("ingest", str(manuals), "--filter", "pump.md")
    assert second.out.splitlines()[0] == planned.out.splitlines()[0]
    assert second.out.startswith("pump-manuals-2 is one more source of the same place, beside pump-manuals.")
    assert "removed" not in second.out
    deep = ("ingest", str(manuals), "--filter", "deep/*", "--name", "pump-manuals-2")
    assert deia(*deep, "--dry-run").out.startswith("This would change of pump-manuals-2: filter.\n")
    changed = deia(*deep)
    assert changed.out.startswith("Changed of pump-manuals-2: filter.\n")
    listed = json.loads(deia("source", "list", "--json").out)
    assert [(one["source"]["name"], one["documents"]) for one in listed] == [("pump-manuals", 2), ("pump-manuals-2", 1)]


def test_a_filter_that_names_nothing_and_the_branch_of_a_folder_are_refused(deia: Deia, manuals: Path) -> None:
    for option, problem in (("--filter", "names no file"), ("--branch", "has no branch")):
        refused = deia("ingest", str(manuals), option, "[")
        assert (refused.code, problem in refused.err) == (2, True)
    assert deia("source", "list").code == 1


def test_what_failed_and_had_secrets_is_listed_with_its_reason(deia: Deia, manuals: Path) -> None:
    (manuals / "broken.md").write_bytes(b"\0\1\2")
    (manuals / "deploy.md").write_text("token = ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8\n", encoding="utf-8")
    taken = deia("ingest", str(manuals))
    assert "deia source list pump-manuals" in taken.out
    listed = deia("source", "list", "pump-manuals").out
    assert "failed   broken.md" in listed
    assert "deploy.md: Secrets were left out, in line 1." in listed


def test_a_note_on_a_file_is_shown_in_few_words(deia: Deia, manuals: Path) -> None:
    secrets = "\n\n".join(f"password: Tr0ub4dor{n}xkcd{n}" for n in range(400))
    (manuals / "pump.md").write_text(f"# Pump\n\n{secrets}\n", encoding="utf-8")
    html = "".join(f'Content-Disposition: attachment; filename="{"n" * 90}{n}"\n\nx\n--x\n' for n in range(5))
    (manuals / "many.eml").write_text(f"Content-Type: multipart/mixed; boundary=x\n\n--x\n{html}", encoding="utf-8")
    deia("ingest", str(manuals))
    listed = deia("source", "list", "pump-manuals").out.splitlines()
    (line,) = [line for line in listed if "many.eml" in line]
    assert line.endswith("…")
    assert all(len(line) < 500 for line in listed)


def test_an_extra_that_is_missing_is_told_with_what_to_type(
    deia: Deia, manuals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking/tree_sitter.py").write_text("raise ImportError\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lacking"))
    for name in ("valve.py", "pump.py"):
        (manuals / name).write_text("def turn():\n    pass\n", encoding="utf-8")
    told = "To read 2 files more, type: pip install 'deia[code]', then: deia source reprocess --failed"
    assert told in deia("ingest", str(manuals)).out.splitlines()


def test_a_source_that_fails_ends_with_an_error_and_the_others_are_taken_in(deia: Deia, manuals: Path) -> None:
    taken = deia("ingest", "https://localhost:1/x", str(manuals))
    assert (taken.code, "this machine or its network" in taken.err) == (2, True)
    assert "Indexed 2 documents" in taken.out


def test_where_a_source_may_be_stays_as_permitted_until_a_person_says_otherwise(deia: Deia, site: str) -> None:
    page = f"{site}/pump.md"
    assert deia("ingest", page).code == 2
    assert deia("ingest", page, "--private").code == 0
    again = deia("ingest", page, "--tag", "manual")
    assert (again.code, again.out.splitlines()[0]) == (0, "Changed of pump.md: tags.")
    assert deia("source", "update").code == 0
    refused = deia("ingest", page, "--no-private")
    assert refused.code == 2
    assert "--private" in refused.err


def test_what_one_source_may_is_permitted_to_no_other(deia: Deia, site: str) -> None:
    assert deia("ingest", f"{site}/pump.md", "--private").code == 0
    for options in ((f"{site}/deep/valve.md",), (f"{site}/pump.md", "--collection", "other")):
        assert deia("ingest", *options).code == 2


def test_what_is_there_is_taken_in_beside_what_is_missing(deia: Deia, manuals: Path) -> None:
    places = ("no-such-folder", str(manuals / "deep"), "ftp://example.org/x", str(manuals / "pump.md"))
    for option, said in (("--dry-run", "pump.md: 1 file would change"), ("--force", "Indexed 2 documents")):
        taken = deia("ingest", *places, option)
        assert (taken.code, said in taken.out) == (2, True)
        assert "deia: there is nothing at no-such-folder\n" in taken.err
        assert "what ftp:// names is not taken in" in taken.err
    assert len(json.loads(deia("source", "list", "--json").out)) == 2


def test_if_nothing_is_left_of_what_was_named_nothing_is_taken_in(deia: Deia) -> None:
    taken = deia("ingest", "no-such-folder", "nor-this")
    assert (taken.code, "there is nothing at no-such-folder" in taken.err) == (2, True)
    assert deia("source", "list").code == 1


def test_an_untrusted_commons_takes_nothing_in(deia: Deia, manuals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEIA_TRUST", "")
    refused = deia("ingest", str(manuals))
    assert (refused.code, "deia trust" in refused.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "xml"])
def test_what_was_exported_is_taken_in_again_as_it_was(deia: Deia, manuals: Path, tmp_path: Path, form: str) -> None:
    deia("ingest", str(manuals), "--name", "pumps")
    before, place = deia("source", "export", "pumps").out, tmp_path / ("pumps.jsonl" if form == "json" else "pumps")
    if form == "json":
        place.write_text(before, encoding="utf-8")
    else:
        deia("source", "export", "pumps", "--xml", str(place))
    deia("source", "remove", "pumps")
    taken = deia("ingest", str(place), "--type", "chunks")
    assert (taken.code, taken.out.splitlines()[-1]) == (0, "Indexed 2 documents, 2 chunks, 5 entities, 3 relations")
    assert deia("source", "export", "pumps").out == before
    found = deia("search", "which way does the impeller turn", "--layer", "library", "--format", "paths")
    assert found.out.splitlines()[0] == "library:pumps/pump.md"


def test_ids_begin_with_the_collection_so_the_same_export_needs_the_same_one(
    deia: Deia, manuals: Path, tmp_path: Path
) -> None:
    deia("ingest", str(manuals / "pump.md"), "--name", "pumps", "--collection", "shop")
    before = deia("source", "export", "pumps").out
    (tmp_path / "pumps.jsonl").write_text(before, encoding="utf-8")
    for options, is_same in (((), False), (("--collection", "shop"), True)):
        deia("source", "remove", "pumps")
        deia("ingest", str(tmp_path / "pumps.jsonl"), "--type", "chunks", *options)
        after = deia("source", "export", "pumps").out
        assert after
        assert (after == before) is is_same


def test_a_replica_says_where_its_sources_are_listed(
    deia: Deia, manuals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "deia ingest FOLDER" in deia("source", "list").out
    deia("ingest", str(manuals))
    place = f"file://{tmp_path}/bucket"
    key = json.loads(deia("publish", place, "--json").out)["key"]
    for name in ("DEIA_STATE", "DEIA_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "other" / name))
    assert deia("pull", place, "--key", key).code == 0
    assert "library:pump-manuals/pump.md" in deia("search", "which way does the impeller turn", "--format", "paths").out
    for listed in (deia("source", "list"), deia("collection", "list")):
        assert "a replica of another one. Its sources are listed where it is published." in listed.out


@pytest.mark.slow
def test_a_search_without_a_library_imports_nothing_of_it(commons: Path) -> None:
    code = "import sys; from deia.librarian import Librarian; Librarian().query('delete a site'); print(*sys.modules)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "DEIA_COMMONS": str(commons)}
    for _ in range(2):  # the first one compiles
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"pathspec", "deia.ingest.library_store", "_sqlite3"} & loaded
