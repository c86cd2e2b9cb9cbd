"""Where the compiled files of a commons are, and an environment of a test's own for making them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deia.folders import derived_folder

if TYPE_CHECKING:
    from collections.abc import Mapping


def derived(root: Path | str, environ: Mapping[str, str]) -> Path:
    """Return the folder of the compiled files of the commons at `root`."""
    return Path(derived_folder(str(root), environ))


def private(folder: Path | str, **more: str) -> dict[str, str]:
    """Return the environment of a person with a state and cache in `folder`, who trusts all, without the starter."""
    own = {"DEIA_STATE": f"{folder}/state", "DEIA_CACHE": f"{folder}/cache"}
    return {**own, "DEIA_STARTER": "false", "DEIA_TRUST": "*", **more}
