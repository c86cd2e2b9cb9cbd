from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from deia import freshness
from deia.compile import compiled_folder
from deia.compile.compiled_folder import write_trigger_stamps
from deia.compile.compiler import compile_commons
from deia.folders import derived_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest


def test_what_a_hook_compares_at_every_call_is_written_last(tmp_path: Path) -> None:
    """A hook that comes between the two writes would otherwise tell of a change that was just seen to."""
    root, folder = tmp_path / "commons", tmp_path / "derived"
    (root / "triggers").mkdir(parents=True)
    (root / "triggers" / "git.yaml").write_text("triggers: {}\n")
    folder.mkdir()
    (folder / freshness.OWN).mkdir()  # the write fails there
    with contextlib.suppress(OSError):
        write_trigger_stamps(str(root), str(folder), {"triggers/git.yaml": ""})
    assert "triggers/git.yaml" in (folder / freshness.TRIGGERS).read_text()


def test_of_very_many_documents_only_their_folders_are_looked_at(
    tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_folder, "MOST_CHECKED", 20)
    root = tmp_path / "commons"
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    names = [f"bok/lesson-{number}.md" for number in range(30)]
    for name in names:
        (root / name).write_text(f"# {name}\n\nA lesson.\n", encoding="utf-8")
    compile_commons(str(root), environ=environ, requested=True)
    derived = derived_folder(str(root), environ)
    os.utime(root / names[0], (1, 1))
    assert not freshness.changed(derived, str(root), freshness.DOCUMENTS)
    (root / "bok/another.md").write_text("# Another\n", encoding="utf-8")
    assert freshness.changed(derived, str(root), freshness.DOCUMENTS) == "bok"
    compile_commons(str(root), environ=environ)
    os.utime(root / "deia.toml", (1, 1))
    assert freshness.changed(derived, str(root), freshness.DOCUMENTS) == "deia.toml"
