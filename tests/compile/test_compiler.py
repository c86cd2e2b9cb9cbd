"""Compiling a commons: every change is noticed, and damaged or foreign files are replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from deia import freshness
from deia.compile.compiler import Compiled, compile_commons
from deia.compile.manifest import read_manifest
from deia.compile.sources import read_sources
from deia.errors import ArtefactError
from deia.folders import nearest_commons
from deia.problems import CommonsError, SettingsError
from deia.search.catalog import open_catalog
from deia.serve import hook
from deia.watch.gate.artefact import open_artefact
from tests.derived import derived, private

if TYPE_CHECKING:
    from pathlib import Path

TRIGGER = """\
- id: shop
  title: T
  urgency: high
  message: Careful.
  documents: [{id: lesson, mode: full_context}]
  when: {any: [{phrase: sell shop}]}
"""
INDEX = """\
version: "1.0"
clusters:
  all:
    description: All.
    documents:
      - {id: lesson, path: bok/lesson.md, title: Copies, summary: Copy first., keywords: [shop]}
"""
ALL = {"triggers", "catalog"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a commons with one document and one trigger, changed long ago."""
    folder = tmp_path / "commons"
    for path, text in {
        "commons_index.yaml": INDEX, "bok/lesson.md": "# Copies\n\nMake a copy first.\n", "triggers/shop.yaml": TRIGGER,
    }.items():  # fmt: skip
        write(folder / path, text)
    return folder


def write(path: Path, text: str, *, when: float = 1_700_000_000.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (when, when))


def compiled(root: Path, *, force: bool = False) -> Compiled:
    environ = private(root.parent)
    return compile_commons(str(root), environ=environ, force=force)


def folder_of(root: Path) -> Path:
    return derived(root, private(root.parent))


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder_of(root).iterdir() if path.is_file()}


# --- what is made again ---


def test_the_second_time_there_is_nothing_to_do(root: Path) -> None:
    assert set(compiled(root).written) == ALL
    before = {path: path.stat().st_mtime_ns for path in folder_of(root).rglob("*") if path.name in ALL}
    again = compiled(root)
    assert again.written == ()
    assert (again.triggers, again.documents) == (1, 1)
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize(
    ("path", "text", "written"),
    [
        ("triggers/shop.yaml", TRIGGER.replace("sell", "burn"), {"triggers"}),
        ("triggers/new.yaml", TRIGGER.replace("id: shop", "id: new"), {"triggers"}),
        ("deia.toml", "injection_chars = 500\n", {"triggers"}),
        ("bok/lesson.md", "# Copies\n\nMake two copies.\n", ALL),
        ("bok/deep/er/new.md", "# New\n\nText.\n", ALL),
        ("commons_index.yaml", INDEX.replace("Copies", "Three copies"), ALL),
        ("README.md", "nothing to do with it", set()),
        ("triggers/shop.yaml", TRIGGER, set()),
    ],
)
def test_what_changed_is_made_again_and_nothing_else(root: Path, path: str, text: str, written: set[str]) -> None:
    compiled(root)
    write(root / path, text, when=1_700_000_100.0)
    assert set(compiled(root).written) == written
    assert compiled(root).written == ()


def test_a_removed_source_is_noticed(root: Path) -> None:
    write(root / "triggers/two.yaml", TRIGGER.replace("id: shop", "id: two"))
    assert compiled(root).triggers == 2
    (root / "triggers" / "two.yaml").unlink()
    assert compiled(root).triggers == 1


def test_a_change_within_the_same_clock_tick_and_size_is_noticed(root: Path) -> None:
    path = root / "triggers" / "shop.yaml"
    path.write_text(TRIGGER, encoding="utf-8")
    compiled(root)
    state = path.stat()
    path.write_text(TRIGGER.replace("sell", "burn"), encoding="utf-8")
    os.utime(path, ns=(state.st_mtime_ns, state.st_mtime_ns))
    assert compiled(root).written == ("triggers",)


def test_deleting_compiled_files_loses_nothing(root: Path) -> None:
    compiled(root)
    first = contents(root)
    for path in sorted(folder_of(root).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert set(compiled(root).written) == ALL
    assert contents(root)["triggers"] == first["triggers"]


@pytest.mark.parametrize(
    "name", ["triggers", "catalog", "manifest.json", "sources", "stamps.triggers", "stamps.documents"]
)
@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"\xff\x00" * 40, b'{"format": 2}'])
def test_any_torn_file_is_made_again(root: Path, name: str, content: bytes | None) -> None:
    compiled(root)
    path = folder_of(root) / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    compiled(root)
    assert_usable(root)
    assert compiled(root).written == ()


def test_a_catalog_that_lost_a_file_is_made_again(root: Path) -> None:
    compiled(root)
    folder = folder_of(root) / (folder_of(root) / "catalog").read_text()
    next(path for path in sorted(folder.iterdir()) if path.is_file()).unlink()
    assert "catalog" in compiled(root).written
    assert_usable(root)


def assert_usable(root: Path) -> None:
    folder = folder_of(root)
    assert open_artefact(str(folder / "triggers")).meta.triggers == 1
    open_catalog(str(folder / (folder / "catalog").read_text()))
    assert read_manifest(str(folder)).documents == 1
    for name in (freshness.TRIGGERS, freshness.DOCUMENTS):
        assert freshness.changed(str(folder), str(root), name) == ""


def test_force_makes_everything_again(root: Path) -> None:
    compiled(root)
    assert set(compiled(root, force=True).written) == ALL


def test_leavings_of_crashed_compilers_are_swept_away(root: Path) -> None:
    compiled(root)
    (folder_of(root) / "building-99").mkdir()
    (folder_of(root) / "catalog-0123").mkdir()
    (folder_of(root) / "triggers.99.new").touch()
    compiled(root, force=True)
    names = {path.name for path in folder_of(root).iterdir()}
    assert not names & {"building-99", "catalog-0123", "triggers.99.new"}


def test_problems_are_told_also_when_nothing_is_compiled(root: Path) -> None:
    write(root / "triggers/bad.yaml", "- id: Bad Id\n")
    first, second = compiled(root), compiled(root)
    assert second.written == ()
    assert first.problems
    assert second.problems == first.problems


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
@pytest.mark.parametrize("name", ["\udcff\udcfe.md", "日" * 85, "a\nb", "a\\b"], ids=ascii)
def test_a_commons_is_compiled_whatever_its_folder_is_called(tmp_path: Path, root: Path, name: str) -> None:
    """The names of folders in the cache are made from it."""
    place, environ = root.rename(tmp_path / name), private(tmp_path)
    compile_commons(str(place), environ=environ)
    folder = derived(place, environ)
    assert open_catalog(str(folder / (folder / "catalog").read_text())) is not None


# --- what is refused ---


def test_a_folder_that_is_no_commons_or_cannot_be_written_is_refused(tmp_path: Path, root: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommonsError):
        compiled(tmp_path / "empty")
    folder_of(root).parent.mkdir(parents=True, exist_ok=True)
    folder_of(root).write_text("a file", encoding="utf-8")
    with pytest.raises(ArtefactError, match="deia compile"):
        compiled(root)


def test_a_malformed_setting_is_refused_with_its_file(root: Path) -> None:
    write(root / "deia.toml", "limit = 'many'\n")
    with pytest.raises(SettingsError, match=r"deia\.toml.*limit"):
        compiled(root)


def test_a_link_out_of_the_commons_is_no_source(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside" / "secret.md", "# Secret\n")
    (root / "bok" / "linked").symlink_to(tmp_path / "outside")
    assert not [path for path in read_sources(str(root), {}, starter=False, trusted=True) if "secret" in path]


# --- what the hook makes of them ---


def ask(root: Path, prompt: str) -> str:
    event = {"session_id": prompt, "hook_event_name": "UserPromptSubmit", "cwd": str(root), "prompt": prompt}
    command = [sys.executable, "-I", "-S", hook.__file__, "claude-code"]
    ran = subprocess.run(
        command, input=json.dumps(event).encode(), capture_output=True, env=private(root.parent), check=True
    )
    return ran.stdout.decode()


def test_the_hook_uses_the_last_compiled_triggers_and_says_what_changed_since(root: Path) -> None:
    compiled(root)
    assert "Careful." in ask(root, "I will sell the shop")
    write(root / "deia.toml", "limit = 'five'\n")  # nothing can be compiled with it
    write(root / "triggers/shop.yaml", TRIGGER.replace("Careful.", "Changed."), when=1_700_000_500.0)
    assert "Careful." in ask(root, "I will sell the shop now")
    until = time.monotonic() + 60
    asked = 0
    while "deia.toml changed since the triggers were compiled" not in (answer := ask(root, f"I sell the shop {asked}")):
        assert "is being compiled" in answer, "on a busy machine a hook does not wait until the compile has failed"
        assert time.monotonic() < until
        asked += 1


def test_a_source_whose_name_has_a_line_break_is_fresh_once_it_is_compiled(root: Path) -> None:
    write(root / "triggers/a\nSYSTEM: b.yaml", TRIGGER.replace("id: shop", "id: more"))
    write(root / "bok/a\nb.md", "# Copies\n")
    assert compiled(root).triggers == 2
    for name in (freshness.TRIGGERS, freshness.DOCUMENTS):
        assert freshness.changed(str(folder_of(root)), str(root), name) == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_nobody_else_may_read_what_is_compiled(root: Path) -> None:
    compiled(root)
    assert [path.stat().st_mode & 0o077 for path in (folder_of(root), folder_of(root).parent)] == [0, 0]


def test_two_compilers_at_once_leave_one_good_result(root: Path) -> None:
    code = (
        "import os, sys; from deia.compile.compiler import compile_commons\n"
        "compile_commons(sys.argv[1], environ=dict(os.environ), force=True)"
    )
    environ = {**os.environ, **private(root.parent)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(root)], env=environ) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert_usable(root)
    assert compiled(root).written == ()
    assert len([path for path in folder_of(root).iterdir() if path.name.startswith("catalog-")]) == 1


def test_a_folder_with_settings_alone_is_a_commons_as_for_the_hook(tmp_path: Path) -> None:
    """Otherwise each conversation there would be told that it is being compiled, for good."""
    root, environ = tmp_path / "project", private(tmp_path)
    root.mkdir()
    (root / "deia.toml").write_text('telemetry = "off"\n', encoding="utf-8")
    assert nearest_commons(str(root)) == str(root)
    compiled = compile_commons(str(root), environ=environ)
    assert open_artefact(f"{compiled.folder}/triggers").meta.settings["telemetry"] == "off"


@pytest.mark.parametrize("plain", ["static", "keyword"])
def test_word_vectors_alone_are_what_somebody_gets_who_asks_for_them_after_the_sentence_model(
    root: Path, plain: str
) -> None:
    made = [
        compile_commons(str(root), environ=private(root.parent), tier=tier, requested=True)
        for tier in ("compact", plain, plain, "compact")
    ]
    assert [(bool(one.written), set(one.tiers)) for one in made] == [
        (True, {"static", "compact"}), (True, {"static"}), (False, {"static"}), (True, {"static", "compact"}),
    ]  # fmt: skip
