"""Writing the index changes only what it must, is idempotent, and never overwrites what could not be read."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from deia.commons.checks import lint
from deia.commons.index.read_index import load_index
from deia.commons.source_files import yaml_blocks
from deia.commons.source_files.safe_files import replace_file
from deia.commons.source_files.yaml_reader import read_mapping, read_yaml
from deia.commons.write import index_store
from deia.knowledge import Entry
from deia.problems import CommonsError
from tests.commons.index.test_read_index import V1

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commons.conftest import Write

CAREFUL = """\
# The index of our team.
version: "1.0"     # never change this
last_updated: '2026-01-01'
total_documents: 7

our_own_field: {kept:   "as is"}
# ====== clusters ======
clusters:
  # ------ one ------
  one:
    description:   "Spaces   and quotes"
    documents:
      - id: a      # the first
        path: bok/x/a.md
        title: 'A'
        summary: A long summary that its author
          wrote on two lines.
        keywords:
          - k
        urgency: high
        platform: Netlify

  two:
    description: two
    documents: []
    urgency_distribution:
      high: 4   # a guess

# ====== views ======
platform_index:
  # platforms
  Netlify:
    - a   # the first one
  gone: [a]
urgency_index:
  high: {description: "Bad", documents: [a], common_scenarios: ["x"]}
"""


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_only_the_lines_that_change_are_touched(tmp_path: Path, write: Write) -> None:
    write("bok/x/a.md", "---\naudience: [devs]\n---\n# A\n")
    write("bok/x/new.md", "---\ntitle: New thing\nurgency: low\ntags: [t]\n---\n# New\n\nIt breaks.\n")
    path = write("commons_index.yaml", CAREFUL)
    text = index_store.build(str(tmp_path), write=True, today="2026-11-20")
    assert path.read_text(encoding="utf-8") == text
    old, new = CAREFUL.split("\n"), text.split("\n")
    gone = [line for line in old if line not in new]
    assert gone == [
        "last_updated: '2026-01-01'",
        "total_documents: 7",
        "    urgency_distribution:",
        "      high: 4   # a guess",
        "  gone: [a]",
    ]
    assert "    - a   # the first one" in new
    assert "last_updated: '2026-11-20'" in new
    index = load_index(str(tmp_path))
    assert {entry.id: entry.clusters for entry in index.entries} == {"a": ("one",), "x-new": ("x",)}
    assert [p for p in lint(str(tmp_path)) if p.code != "thin-entry"] == []


def test_building_twice_gives_the_same_bytes_whatever_the_day(tmp_path: Path, write: Write) -> None:
    write("bok/x/a.md", "# A\n")
    write("bok/b.md", "# B: with a colon, yes\n\nNo.\n")
    write("commons_index.yaml", CAREFUL)
    first = index_store.build(str(tmp_path), write=True, today="2026-11-20")
    assert index_store.build(str(tmp_path), write=True, today="2026-12-24") == first
    assert (tmp_path / "commons_index.yaml").read_text(encoding="utf-8") == first


def test_building_without_writing_leaves_every_file_alone(tmp_path: Path, write: Write) -> None:
    write("bok/b.md", "# B\n")
    write("commons_index.yaml", CAREFUL)
    before = files(tmp_path)
    index_store.build(str(tmp_path), write=False, today="2026-11-20")
    assert files(tmp_path) == before


def test_a_commons_without_an_index_gets_one(tmp_path: Path, write: Write) -> None:
    write("bok/platforms/dns.md", "---\nplatform: Netlify\nurgency: high\n---\n# Changing DNS records\n\nTake care.\n")
    index_store.build(str(tmp_path), write=True, today="2026-11-20")
    index = load_index(str(tmp_path))
    (entry,) = index.entries
    assert (entry.id, entry.summary, entry.clusters) == ("platforms-dns", "Take care.", ("platforms",))
    assert entry.keywords == ("netlify", "changing", "records")
    assert lint(str(tmp_path)) == []


@pytest.mark.parametrize("dashes", ["", "  "])
def test_an_entry_is_added_in_the_style_of_the_file(tmp_path: Path, write: Write, dashes: str) -> None:
    margin = f"    {dashes}"
    first = f"{margin}- id: a\n{margin}  path: bok/a.md\n{margin}  title: A # x\n"
    text = f"version: '1.0'\nclusters:\n  one:\n    documents:\n{first}"
    write("commons_index.yaml", text)
    entry = Entry(
        id="b", path="bok/b.md", title="yes", keywords=("no", "1.0", "k: v"), platforms=("p", "q"), extra={"fix": "x"}
    )
    new = index_store.add_entry(str(tmp_path), entry, "one")
    assert new.startswith(text.replace("clusters", "total_documents: 2\ntotal_clusters: 1\nclusters"))
    assert f"\n    {dashes}- id: b\n    {dashes}  path: bok/b.md\n" in new
    added = load_index(str(tmp_path)).entries[1]
    assert (added.title, added.keywords, added.platforms, added.extra) == (
        "yes",
        ("no", "1.0", "k: v"),
        ("p", "q"),
        {"fix": "x"},
    )


def test_an_entry_can_found_a_cluster(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", V1)
    index_store.add_entry(str(tmp_path), Entry(id="n", path="bok/n.md", title="N"), "fresh")
    index = load_index(str(tmp_path))
    assert (index.clusters[-1].id, index.clusters[-1].description, index.problems) == (
        "fresh",
        "Documents about fresh",
        (),
    )
    assert index.entries[-1].clusters == ("fresh",)


@pytest.mark.parametrize(("ident", "path"), [("nuclear", "bok/n.md"), ("n", "bok/dns.md")])
def test_an_entry_that_is_there_is_not_added_again(tmp_path: Path, write: Write, ident: str, path: str) -> None:
    write("commons_index.yaml", V1)
    before = files(tmp_path)
    with pytest.raises(CommonsError, match="already has"):
        index_store.add_entry(str(tmp_path), Entry(id=ident, path=path, title="N"), "safety")
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "version: '1.0'\nclusters:\n  a: {}\n  a: {}\n",
        "just text",
        "clusters: {a: !!python/none x}",
        "version: '1.0'\nclusters: {}\nx: *y\n",
    ],
)
def test_an_index_with_errors_of_form_is_never_written(tmp_path: Path, write: Write, text: str) -> None:
    write("commons_index.yaml", text)
    write("bok/b.md", "# B\n")
    before = files(tmp_path)
    changes: tuple[Callable[[], str], ...] = (
        lambda: index_store.build(str(tmp_path), write=True, today="2026-11-20"),
        lambda: index_store.migrate(str(tmp_path), write=True),
        lambda: index_store.add_entry(str(tmp_path), Entry(id="n", path="bok/n.md", title="N"), "a"),
    )
    for change in changes:
        with pytest.raises(CommonsError) as error:
            change()
        assert error.value.fix
    assert files(tmp_path) == before


def test_an_index_in_one_line_of_brackets_is_refused_not_mangled(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", "{version: '1.0', clusters: {}}\n")
    write("bok/b.md", "# B\n")
    before = files(tmp_path)
    with pytest.raises(CommonsError, match="does not begin a line"):
        index_store.build(str(tmp_path), write=True)
    assert files(tmp_path) == before


def test_an_old_shape_is_migrated_with_a_backup(tmp_path: Path, write: Write) -> None:
    old = (
        "patterns:\n- {id: README, path: bok\\README.md, title: Book, category: ., summary: s, tags: []}\n"
        "- {id: README, path: bok\\git\\README.md, title: 'Git: all', category: Git, severity: High,"
        " confidence: Proven}\n"
    )
    write("master-index.yaml", old)
    write("bok/README.md", "# Book\n")
    write("bok/git/README.md", "# Git\n")
    assert index_store.migrate(str(tmp_path), write=False) == index_store.migrate(str(tmp_path), write=True)
    assert (tmp_path / "master-index.yaml.before-migrate").read_text(encoding="utf-8") == old
    index = load_index(str(tmp_path))
    assert (index.shape, index.problems) == ("v1.0", ())
    assert [(e.id, e.path, e.urgency, e.extra.get("confidence")) for e in index.entries] == [
        ("README", "bok/README.md", "", None),
        ("git-readme", "bok/git/README.md", "high", "Proven"),
    ]
    assert index_store.migrate(str(tmp_path), write=True) == (tmp_path / "master-index.yaml").read_text(
        encoding="utf-8"
    )


def test_a_json_index_becomes_the_yaml_index(tmp_path: Path, write: Write) -> None:
    write(
        "index.json",
        json.dumps([{"id": "a", "title": "A", "path": "bok/a.md", "summary": "s", "metadata": {"tags": ["t"]}}]),
    )
    index_store.migrate(str(tmp_path), write=True, today="2026-11-20")
    assert sorted(os.listdir(tmp_path)) == ["commons_index.yaml", "index.json.before-migrate"]
    assert load_index(str(tmp_path)).entries[0].tags == ("t",)


def test_a_backup_is_never_overwritten(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", "patterns:\n- {id: a, path: bok/a.md, title: A}\n")
    write("commons_index.yaml.before-migrate", "precious")
    before = files(tmp_path)
    with pytest.raises(CommonsError, match="exists already"):
        index_store.migrate(str(tmp_path), write=True)
    assert files(tmp_path) == before


def test_migrating_v1_changes_nothing(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", V1)
    before = files(tmp_path)
    assert index_store.migrate(str(tmp_path), write=True) == V1
    assert files(tmp_path) == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_behind(tmp_path: Path, write: Write) -> None:
    path = write("commons_index.yaml", "old")
    path.chmod(0o640)
    replace_file(str(path), "new")
    assert (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert os.listdir(tmp_path) == ["commons_index.yaml"]


def test_windows_line_ends_survive(tmp_path: Path) -> None:
    path = tmp_path / "commons_index.yaml"
    path.write_bytes(b"version: '1.0'\r\nclusters:\r\n  one:\r\n    documents: []\r\n")
    index_store.add_entry(str(tmp_path), Entry(id="a", path="bok/a.md", title="A"), "one")
    data = path.read_bytes()
    assert b"- id: a\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_value_that_is_put_back_gives_the_same_text() -> None:
    for key in read_mapping(CAREFUL):
        assert (
            read_yaml(yaml_blocks.change_value(CAREFUL, (key,), lambda value: value), path="f").value
            == read_yaml(CAREFUL, path="f").value
        )
    assert yaml_blocks.change_value(CAREFUL, ("our_own_field",), lambda value: value).count("# =====") == 2
