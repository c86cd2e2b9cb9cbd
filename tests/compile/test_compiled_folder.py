from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from deia import freshness
from deia.compile.compiled_folder import write_trigger_stamps

if TYPE_CHECKING:
    from pathlib import Path


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
