"""Sources as they were read, even when somebody writes during the compile, and the file that keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.compile.sources import NOTHING, Known, as_read, read_known, read_sources, write_known

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_while_the_commons_is_read_is_left_for_the_next_compile(tmp_path: Path) -> None:
    for name in ("bok/a.md", "triggers/a.yaml", "notes/out.md", "deia.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n", encoding="utf-8")
    root = str(tmp_path)
    before = read_sources(root, {}, starter=False, trusted=True)
    (tmp_path / "triggers/a.yaml").write_text("# changed\n", encoding="utf-8")
    (tmp_path / "triggers/b.yaml").write_text("# new\n", encoding="utf-8")
    (tmp_path / "bok/b.md").write_text("# New\n", encoding="utf-8")
    extra_documents = ["bok/a.md", "bok/b.md", "notes/out.md"]
    later = read_sources(root, before, extra_documents=extra_documents, starter=False, trusted=True)
    assert {"triggers/b.yaml", "bok/b.md", "notes/out.md"} <= set(later)
    sources_read = as_read(before, later, extra_documents=extra_documents)
    assert list(sources_read) == ["bok/a.md", "deia.toml", "notes/out.md", "triggers/a.yaml"]
    assert sources_read["triggers/a.yaml"] == before["triggers/a.yaml"] != later["triggers/a.yaml"]
    again = read_sources(root, sources_read, starter=False, trusted=True)
    changed = ("triggers/a.yaml", "triggers/b.yaml", "bok/b.md")
    assert again.items() - sources_read.items() == {(path, later[path]) for path in changed}
    assert as_read(again, again, extra_documents=extra_documents) == again


@pytest.mark.parametrize("name", ["triggers", "bok"])
def test_a_folder_that_is_a_link_out_of_the_commons_is_not_looked_through(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "commons", tmp_path / "outside"
    outside.mkdir()
    (outside / "a.yaml").write_text("[]\n", encoding="utf-8")
    (outside / "a.md").write_text("# A\n", encoding="utf-8")
    root.mkdir()
    (root / name).symlink_to(outside)
    assert read_sources(str(root), {}, starter=False, trusted=True) == {}
    (root / name).unlink()
    (root / "inner").mkdir()
    (root / "inner/a.yaml").write_text("[]\n", encoding="utf-8")
    (root / "inner/a.md").write_text("# A\n", encoding="utf-8")
    (root / name).symlink_to(root / "inner")
    assert len(read_sources(str(root), {}, starter=False, trusted=True)) == 1


def test_sources_come_back_as_they_were_written_but_for_paths_that_are_no_line(tmp_path: Path) -> None:
    value = f"12 34 {'a' * 64}"
    sources = {"bok/a b.md": value, "bok/\udcff.md": value, "bok/two\nlines.md": value, "deia.toml": value}
    place = str(tmp_path / "sources")
    write_known(place, Known("token", sources))
    kept = {path: value for path in sources if "\n" not in path}
    assert read_known(place) == Known("token", kept)


@pytest.mark.parametrize("cut", [1, 30, 90, 95, 190])
def test_a_torn_record_of_sources_says_nothing(tmp_path: Path, cut: int) -> None:
    place = tmp_path / "sources"
    write_known(str(place), Known("token", {f"bok/{name}.md": f"12 34 {'a' * 64}" for name in "abc"}))
    place.write_bytes(place.read_bytes()[:-cut])
    assert read_known(str(place)) == NOTHING
