"""What a compile says it is made of is what it has read, whatever is written meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.compile.sources import as_read, read_sources

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_while_the_commons_is_read_is_left_for_the_next_compile(tmp_path: Path) -> None:
    for name in ("bok/a.md", "triggers/a.yaml", "notes/out.md", "deia.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n", encoding="utf-8")
    root = str(tmp_path)
    before = read_sources(root, {}, starter=False)
    (tmp_path / "triggers/a.yaml").write_text("# changed\n", encoding="utf-8")
    (tmp_path / "triggers/b.yaml").write_text("# new\n", encoding="utf-8")
    (tmp_path / "bok/b.md").write_text("# New\n", encoding="utf-8")
    also = ["bok/a.md", "bok/b.md", "notes/out.md"]
    later = read_sources(root, before, also=also, starter=False)
    assert {"triggers/b.yaml", "bok/b.md", "notes/out.md"} <= set(later)
    told = as_read(before, later, also=also)
    assert list(told) == ["bok/a.md", "deia.toml", "notes/out.md", "triggers/a.yaml"]
    assert told["triggers/a.yaml"] == before["triggers/a.yaml"] != later["triggers/a.yaml"]
    again = read_sources(root, told, starter=False)
    changed = ("triggers/a.yaml", "triggers/b.yaml", "bok/b.md")
    assert again.items() - told.items() == {(path, later[path]) for path in changed}
    assert as_read(again, again, also=also) == again
