"""Why a commons is the one in use, in words."""

from __future__ import annotations

from collections.abc import Mapping

from deia.folders import is_packaged, nearest_commons


def why_this_commons(root: str, *, environ: Mapping[str, str], explicit: str, start: str) -> str:
    """Return why `deia.folders.find_commons` chose a commons for a person in the folder `start`."""
    if explicit:
        return "--commons"
    if environ.get("DEIA_COMMONS"):
        return "DEIA_COMMONS"
    if is_packaged(root) and nearest_commons(start) != root:
        return "the starter commons, as there is none here or above"
    return "nearest from the working folder upwards"
