"""Load scripts from outside the package, so that tests can compare them with what they wrote."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def loaded(path: Path) -> ModuleType:
    """Load a script of the project as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # its records look their types up there
    spec.loader.exec_module(module)
    return module
