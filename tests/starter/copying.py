"""A copy of the starter commons, without the project around it."""

from __future__ import annotations

import shutil
from pathlib import Path

from deia.folders import STARTER


def copy_starter(folder: Path) -> None:
    """Copy the index, the triggers and the documents of the starter commons to a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(STARTER) / "commons_index.yaml", folder)
    for name in ("triggers", "bok"):
        shutil.copytree(Path(STARTER) / name, folder / name)
