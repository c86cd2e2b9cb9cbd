"""Put the starter commons, which is at the repository's root, into the wheel as `deia/starter/`.

Hatch runs this. An editable install gets no copy, since it reads the starter in place.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STARTER = ("commons_index.yaml", "triggers", "bok", "docs/ERRORS.md")  # `deia explain` reads the page


class WheelStarter(BuildHookInterface[Any]):
    """A hook of the wheel's build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Include the starter in a wheel, but not in an editable install."""
        if version == "standard":
            build_data["force_include"] |= {f"{self.root}/{name}": f"deia/starter/{name}" for name in STARTER}
