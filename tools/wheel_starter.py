"""Put the starter commons, which is at the repository's root, into the wheel as `deia/starter/`, read and lowered.

Hatch runs this. An editable install gets no copy, since it reads the starter in place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# In a process of its own, since nothing of deia is installed yet.
MAKE = """
import sys
sys.path.insert(0, ".")
from deia.compile.ready_starter import make_ready
make_ready(sys.argv[1])
"""
STARTER = ("commons_index.yaml", "triggers", "bok", "docs/ERRORS.md")  # `deia explain` reads the page


class WheelStarter(BuildHookInterface[Any]):
    """A hook of the wheel's build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include the starter in a wheel, but not in an editable install."""
        if version == "standard":
            build_data["force_include"] |= {f"{self.root}/{name}": f"deia/starter/{name}" for name in STARTER}
            self._ready = tempfile.TemporaryDirectory()
            command = [sys.executable, "-c", MAKE, self._ready.name]
            subprocess.run(command, check=True, cwd=self.root, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})  # noqa: S603 - itself
            build_data["force_include"][self._ready.name] = "deia/starter/ready"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatch's
        """Remove what was made for a wheel."""
        if version == "standard":
            self._ready.cleanup()
