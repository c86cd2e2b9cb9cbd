"""Whatever breaks the state that answers come from is noticed in the next answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.compile.take_in import registered_sources, take_in
from deia.errors import QueryError
from deia.folders import LIBRARY_SOURCES, library_folder
from deia.ingest.source import FolderSource, typed
from deia.librarian import Librarian
from tests.audit.conftest import ASKED, LESSONS, index_of
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    Opened = Callable[[], Librarian]

CHUNK: dict[str, object] = {
    "id": "docs:a.md#0:passage", "parent_id": None, "children": [], "level": 0, "path": "a.md", "title": "Pumps",
    "type": "markdown", "lines": [1, 1], "page": None, "heading": "Pumps", "metadata": {}, "content": "They run.",
}  # fmt: skip


def removed(index: Path) -> None:
    index.unlink()


def unparseable(index: Path) -> None:
    index.write_text("clusters: [\n", encoding="utf-8")


def emptied(index: Path) -> None:
    index.write_text("", encoding="utf-8")


def halved(index: Path) -> None:
    index.write_text(index_of("site"), encoding="utf-8")


def unreadable(index: Path) -> None:
    outside = index.parent.parent / "outside.yaml"
    shutil.move(index, outside)
    index.symlink_to(outside)


def replaced(index: Path) -> None:
    index.unlink()
    index.mkdir()


WAYS: dict[Callable[[Path], None], str] = {
    removed: "commons_index.yaml is gone; it had 4 entries",
    unparseable: "commons_index.yaml:1 cannot be used",
    emptied: "commons_index.yaml:1 cannot be used: The index is an empty file, which is not a known shape; it had 4",
    halved: "commons_index.yaml has lost 3 of its 4 entries",
    unreadable: "commons_index.yaml cannot be read; it had 4 entries",
    replaced: "commons_index.yaml cannot be used",
}


@pytest.mark.parametrize("die", WAYS, ids=lambda die: die.__name__)
def test_a_dead_index_is_noticed_in_the_next_answer_until_a_person_accepts_it(
    opened: Opened, root: Path, die: Callable[[Path], None]
) -> None:
    assert opened().query(ASKED).audit.steps["state"]["issues"] == []  # type: ignore[index,call-overload]
    die(root / "commons_index.yaml")
    for _ in range(2):
        answer = opened().query(ASKED)
        assert any(warning.startswith(WAYS[die]) for warning in answer.audit.warnings), answer.audit.warnings
        assert answer.to_dict()["audit"]["state"]["isValid"] is False
    compile_commons(str(root), environ=os.environ, force=True)  # as a repair in the background does
    assert not opened().audit().is_valid
    compile_commons(str(root), environ=os.environ, force=True, requested=True)
    assert opened().audit().is_valid is (die in {removed, halved})


def test_an_index_that_is_back_is_sound(opened: Opened, root: Path) -> None:
    index = root / "commons_index.yaml"
    text = index.read_text(encoding="utf-8")
    removed(index)
    assert not opened().audit().is_valid
    index.write_text(text, encoding="utf-8")
    assert opened().query(ASKED).audit.steps["state"] == {
        "isValid": True, "issues": [], "stats": {"sources": 0, "chunks": 4, "vectors": 4},
    }  # fmt: skip


def test_a_commons_whose_only_mark_was_its_index_is_not_silently_another(
    opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "deia.toml").unlink()
    (root / "commons_index.yaml").unlink()
    (root.parent / "deia.toml").write_text("# the commons above\n", encoding="utf-8")
    monkeypatch.chdir(root)
    found = Librarian(ledger=False)
    assert found.root == str(root.parent)
    assert f"{root}/commons_index.yaml is gone; it had 4 entries" in found.query(ASKED).audit.warnings[0]
    assert opened is not None


def test_a_document_whose_file_is_gone_never_ranks_first_with_an_empty_quotation(opened: Opened, root: Path) -> None:
    (root / "bok" / "queue.md").unlink()
    answer = opened().query(ASKED)
    assert answer.confidence == "low"
    assert "the index lists documents whose files are gone: `bok/queue.md`" in answer.audit.warnings
    assert opened().query("signing keys queue").primary[0].id == "keys"


def test_a_document_that_goes_while_nobody_compiles_is_missed(opened: Opened, root: Path) -> None:
    served = Librarian(root, ledger=False, keep_fresh=False)
    assert served.query(ASKED).confidence == "high"
    (root / "bok" / "queue.md").unlink()
    warnings = served.query(ASKED).audit.warnings
    assert "bok/queue.md is gone since the commons was compiled" in warnings
    assert opened().query(ASKED).confidence == "low"


def test_an_edited_document_is_compiled_before_the_next_answer(opened: Opened, root: Path) -> None:
    (root / "bok" / "queue.md").write_text(
        "# The queue\n\nNow restarts keep all jobs of the queue.\n", encoding="utf-8"
    )
    answer = opened().query(ASKED)
    assert "Now restarts keep" in answer.primary[0].passage
    assert answer.to_dict()["audit"]["state"]["isValid"]


def test_vectors_that_are_missing_are_made_again_and_that_is_said(opened: Opened) -> None:
    asked = opened()
    [codes] = Path(asked.derived).glob("catalog-*/static.codes")
    codes.unlink()
    answer = opened().query(ASKED)
    assert answer.confidence == "high"
    assert any("lacks static.codes" in warning for warning in answer.audit.warnings)
    assert opened().query(ASKED).audit.warnings == ()


def test_files_that_cannot_be_written_leave_the_last_answer_with_a_warning(opened: Opened, root: Path) -> None:
    """A disk that is full looks like this: nothing new can be written."""
    assert opened().query(ASKED).confidence == "high"
    (root / "bok" / "queue.md").write_text("# The queue\n\nA restart drops jobs of the queue.\n", encoding="utf-8")
    building = Path(opened().derived, f"building-{os.getpid()}")
    building.write_text("in the way", encoding="utf-8")
    answer = opened().query(ASKED)
    assert answer.confidence == "high"
    assert any("cannot write compiled files" in warning for warning in answer.audit.warnings)
    building.unlink()
    assert opened().query(ASKED).audit.warnings == ()


def test_sources_of_the_library_that_change_or_go_are_named(opened: Opened, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pumps.md").write_text("# Pumps\n\nThey run dry when the valve is shut.\n", encoding="utf-8")
    opened().ingest(FolderSource(path=str(docs)))
    asked = "when do pumps run dry?"
    answer = opened().query(asked)
    assert (answer.audit.warnings, answer.to_dict()["audit"]["state"]["stats"]["sources"]) == ((), 1)
    (docs / "pumps.md").write_text("# Pumps\n\nThey never run dry, since a sensor stops them.\n", encoding="utf-8")
    path = f"{os.path.realpath(docs)}/pumps.md"
    assert opened().query(asked).audit.warnings == (f"the source docs changed since it was taken in: {path}",)
    shutil.rmtree(docs)
    assert opened().query(asked).audit.warnings == (f"the source docs is gone from {os.path.realpath(docs)}",)
    assert opened().audit().to_dict()["stale"] == ["docs"]


def test_a_source_whose_changes_cannot_be_seen_is_not_said_to_have_changed(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(json.dumps(CHUNK), encoding="utf-8")
    take_in(opened().root, [typed(str(tmp_path / "docs.jsonl"), kind="chunks")], os.environ)
    assert opened().audit().to_dict()["stale"] == []
    assert opened().query("when do pumps run?").audit.warnings == ()


def test_a_source_that_failed_is_told_in_one_sentence(opened: Opened, tmp_path: Path) -> None:
    for text in (json.dumps(CHUNK), "no chunk\n"):
        (tmp_path / "docs.jsonl").write_text(text, encoding="utf-8")
        take_in(opened().root, [typed(str(tmp_path / "docs.jsonl"), kind="chunks")], os.environ)
    (warning,) = opened().query(ASKED).audit.warnings
    assert warning.startswith("the source docs could not be taken in: ")
    assert "docs.jsonl:1: this is no exported chunk" in warning
    assert warning.endswith("Write it as deia source export does")


def test_a_source_of_which_nothing_ever_came_is_no_warning_of_every_search(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text("no chunk\n", encoding="utf-8")
    take_in(opened().root, [typed(str(tmp_path / "docs.jsonl"), kind="chunks")], os.environ)
    assert opened().query(ASKED).audit.warnings == ()
    (listed,) = registered_sources(opened().root, os.environ)
    assert (listed.status, "this is no exported chunk" in listed.error) == ("failed", True)


def test_a_failure_that_an_older_deia_recorded_is_told_without_the_password_in_its_address(
    opened: Opened, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    take_in(opened().root, [typed(str(tmp_path / "docs"))], os.environ)
    place = "https://me:hunter2@example.org/shop.git"
    old = {"shop": {"status": "failed", "error": f"{place}: it is gone", "place": place, "kind": "git"}}
    Path(library_folder(opened().root, os.environ), LIBRARY_SOURCES).write_text(json.dumps(old), encoding="utf-8")
    (warning,) = opened().query(ASKED).audit.warnings
    assert "https://[secret]@example.org/shop.git: it is gone" in warning


def test_a_client_may_skip_steps_but_none_that_there_is_not(opened: Opened) -> None:
    answer = opened().query(ASKED, skip=("state", "quality", "classification")).to_dict()
    assert {"state", "quality", "classification"}.isdisjoint(answer["audit"])
    with pytest.raises(QueryError, match="there is no step 'tests'"):
        opened().query(ASKED, skip=("tests",))
    assert len(LESSONS) == 4


FULL = """
mount -t tmpfs -o size=60m tmpfs "$DEIA_CACHE" || exit 77
"$PYTHON" -P -m deia.serve.main search queue > /dev/null || exit 78
dd if=/dev/zero of="$DEIA_CACHE/fill" bs=1M 2> /dev/null
echo "More of it." >> bok/queue.md
exec "$PYTHON" -P -m deia.serve.main search queue
"""


def in_a_namespace(script: str, root: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the shell that mounts something over the cache, which nobody else sees."""
    if not shutil.which("unshare"):
        pytest.skip("there are no namespaces of mounts here")
    cache.mkdir()
    environ = {**os.environ, "DEIA_CACHE": str(cache), "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = ["unshare", "--mount", "sh", "-c", script]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    if done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"no namespace or no mount here: {done.stderr}")
    return done


def test_a_full_disk_is_said_in_the_next_answer(root: Path, tmp_path: Path) -> None:
    done = in_a_namespace(FULL, root, tmp_path / "full")
    assert "No space left on device" in done.stdout, done.stderr


READ_ONLY = """
"$PYTHON" -P -m deia.serve.main search queue > /dev/null || exit 78
mount --bind "$DEIA_CACHE" "$DEIA_CACHE" || exit 77
mount -o remount,ro,bind "$DEIA_CACHE" || exit 77
"$PYTHON" -P -m deia.serve.main search queue || exit 79
echo "More of it." >> bok/queue.md
"$PYTHON" -P -m deia.serve.main search queue || exit 80
"$PYTHON" -P -m deia.serve.main check "Assistant: I will now list files."  # which may not judge by old triggers
"""


def test_what_is_compiled_answers_where_nothing_can_be_written(root: Path, tmp_path: Path) -> None:
    done = in_a_namespace(READ_ONLY, root, tmp_path / "cache")
    assert done.returncode == 2, done.stderr
    assert "cannot write compiled files" in done.stderr
    assert done.stdout.count("bok/queue.md") >= 2
    assert "answered from what was compiled last" in done.stdout
