"""Nothing that writes into a commons writes through a link that leads out of it, or into what is no plain file."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from deia.commons.source_files import safe_files
from deia.commons.source_files.write_lock import LOCK, hold_write_lock
from deia.commons.write import index_store
from deia.commons.write.add_lesson import add_lesson, write_draft
from deia.commons.write.init import create_commons
from deia.commons.write.revise_lesson import revise_lesson
from deia.commons.write.trash import remove_document, restore_document
from deia.learn.apply import CHANGELOG, apply_proposal
from deia.learn.changes import ADD, DOCUMENT, TRIGGER, Change
from deia.learn.proposals import propose
from deia.problems import CommonsError
from deia.serve.setup.toml_text import write_setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.learn.proposals import Proposal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")

VICTIM = b'version: "1.0"\nclusters: {}\n# somebody else\'s\n'
INDEX = """\
version: "1.0"
clusters:
  patterns:
    documents:
      - {id: old, path: bok/patterns/old.md, title: Old, keywords: [old]}
"""
TRIGGERS = """\
- id: old-trigger
  title: Old
  when: [{phrase: old thing}]
  urgency: low
  documents: [old]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/file").write_bytes(VICTIM)
    root = tmp_path / "clone"
    for path, text in {
        "commons_index.yaml": INDEX, "bok/patterns/old.md": "# Old\n\nText.\n", "triggers/old.yaml": TRIGGERS,
    }.items():  # fmt: skip
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def outside(root: Path) -> list[tuple[str, bytes]]:
    """Return everything beside the root, with its content."""
    return [(path.name, path.read_bytes()) for path in sorted((root.parent / "victim").rglob("*")) if path.is_file()]


def keyword(of: str, target: str) -> Proposal:
    field = "keywords" if of == DOCUMENT else "unless"
    change = Change(kind=ADD, of=of, target=target, field=field, value=("new",))
    return propose("keywords", [change], because="a test", evidence=["why?"], weight=1.0)


def apply(root: str, proposal: Proposal) -> object:
    return apply_proposal(root, proposal, now=0.0)


WRITERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "a lesson, into a linked index": ("commons_index.yaml", lambda r: add_lesson(r, title="A new one", today="")),
    "a lesson, into a linked folder": ("bok", lambda r: add_lesson(r, title="A new one", today="")),
    "a lesson, into a linked category": ("bok/patterns", lambda r: add_lesson(r, title="A new one", today="")),
    "a lesson, in place of a link": ("bok/patterns/a-new-one.md", lambda r: add_lesson(r, title="A new one", today="")),
    "index build": ("commons_index.yaml", lambda r: index_store.build(r, write=True)),
    "index migrate": ("commons_index.yaml", lambda r: index_store.migrate(r, write=True)),
    "a trigger": (
        "triggers/old.yaml", lambda r: write_draft(r, "old", ident="x", trigger="- id: x\n", cases="x: {fires: []}\n"),
    ),
    "triggers in a linked folder": (
        "triggers", lambda r: write_draft(r, "new", ident="x", trigger="- id: x\n", cases="x: {fires: []}\n"),
    ),
    "a revised lesson": ("bok/patterns/old.md", lambda r: revise_lesson(r, "old", text="x", today="", stamp="1")),
    "a copy in a linked trash": (".trash", lambda r: revise_lesson(r, "old", text="x", today="", stamp="1")),
    "a removed lesson": ("bok/patterns/old.md", lambda r: remove_document(r, "old", stamp="1", today="")),
    "a removal into a linked trash": (".trash", lambda r: remove_document(r, "old", stamp="1", today="")),
    "learn apply, a document": ("commons_index.yaml", lambda r: apply(r, keyword(DOCUMENT, "old"))),
    "learn apply, a trigger": ("triggers/old.yaml", lambda r: apply(r, keyword(TRIGGER, "old-trigger"))),
    "learn apply, the changelog": (CHANGELOG, lambda r: apply(r, keyword(DOCUMENT, "old"))),
    "learn apply, a linked telemetry folder": ("telemetry", lambda r: apply(r, keyword(DOCUMENT, "old"))),
    "the lock": (LOCK, lambda r: add_lesson(r, title="A new one", today="")),
    "init": (".gitignore", lambda r: create_commons(r, today="")),
    "init, its settings": ("telemetry", lambda r: create_commons(r, today="")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("exists", [True, False], ids=["target", "no target"])
def test_a_link_out_is_refused_and_its_target_stays(root: Path, name: str, *, exists: bool) -> None:
    path, write = WRITERS[name]
    link = root / path
    is_folder = path in {"bok", "bok/patterns", "triggers", ".trash", "telemetry"}
    target = root.parent / "victim"
    if is_folder:
        target = target / "folder"
        if link.exists():
            link.rename(target)
        elif exists:
            target.mkdir()
    else:
        target = target / ("file" if exists else "none")
        if link.exists() and exists:
            target.write_bytes(link.read_bytes())
        link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    index, before = root / "commons_index.yaml", outside(root)
    indexed = None if index.is_symlink() else index.read_bytes()
    with pytest.raises(CommonsError) as caught:
        write(str(root))
    assert outside(root) == before
    assert link.is_symlink()
    assert indexed is None or index.read_bytes() == indexed
    assert str(caught.value)


@pytest.mark.parametrize("target", ["../victim/file", "/dev/null", "/dev/zero"])
def test_a_setting_is_not_written_through_a_link(root: Path, target: str) -> None:
    (root / "deia.toml").symlink_to(target)
    before = outside(root)
    with pytest.raises(Exception, match=r"deia\.toml"):
        write_setting(str(root), "tier", "keyword")
    assert outside(root) == before
    assert (root / "deia.toml").is_symlink()


def test_what_is_restored_from_the_trash_comes_from_the_commons(root: Path) -> None:
    folder = root / ".trash/1-old"
    folder.mkdir(parents=True)
    (folder / "removed.yaml").write_text("id: old\npath: bok/x.md\nlisted: {}\nindex_after: ''\n", encoding="utf-8")
    (folder / "bok").symlink_to(root.parent / "victim")
    (root.parent / "victim/x.md").write_bytes(VICTIM)
    before = outside(root)
    with pytest.raises(CommonsError, match="through a link"):
        restore_document(str(root), "old", today="")
    assert outside(root) == before


@pytest.mark.parametrize("path", ["commons_index.yaml", "triggers/old.yaml", "bok/patterns/old.md"])
def test_links_that_stay_inside_are_written_through_as_before(root: Path, path: str) -> None:
    kept = root / "kept"
    (root / path).rename(kept)
    (root / path).symlink_to(os.path.relpath(kept, (root / path).parent))
    safe_files.write_text(str(root), path, "new")
    assert (root / path).is_symlink()
    assert kept.read_text("utf-8") == "new"


def test_a_root_that_is_itself_reached_through_a_link_is_written_as_before(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert add_lesson(str(link), title="A new one", today="").paths[0] == "bok/patterns/a-new-one.md"
    assert (root / "bok/patterns/a-new-one.md").is_file()


@pytest.mark.parametrize("path", [".git/config", "bok/.git/config", ".GIT/hooks/x"])
def test_gits_own_files_are_never_written(root: Path, path: str) -> None:
    with pytest.raises(CommonsError, match="belongs to git"):
        safe_files.write_bytes(str(root), path, b"x")


@pytest.mark.parametrize("path", ["commons_index.yaml", LOCK, ".gitignore"])
def test_a_pipe_in_the_way_is_refused_at_once(root: Path, path: str) -> None:
    (root / path).unlink(missing_ok=True)
    os.mkfifo(root / path)
    with pytest.raises(CommonsError, match=path):
        create_commons(str(root), today="") if path == ".gitignore" else index_store.build(str(root), write=True)


def test_the_lock_still_keeps_other_processes_out(root: Path) -> None:
    script = (
        "import sys\nfrom deia.commons.source_files.write_lock import hold_write_lock\n"
        "with hold_write_lock(sys.argv[1], wait=0.1): pass\n"
    )
    with hold_write_lock(str(root)):
        run = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, check=False)
    assert b"Another process has been writing" in run.stderr
