"""What `deia doctor` looks at, and what it finds; and why a commons is the one in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deia.folders import is_packaged, nearest_commons
from deia.records import Record
from deia.serve.setup.host_settings.hosts_table import Machine

FINE, WARNING, DEAD = "fine", "warning", "dead"


class Patient(Record):
    """The place and the person that `deia doctor` looks at."""

    folder: str
    machine: Machine
    explicit: str = ""  # the commons that --commons named
    tell: Callable[[str], object] = str  # is called with what is being done if that takes long; ignores it by default


class Finding(Record):
    """One thing that is in order or not, and what to do about it."""

    level: str  # fine | warning | dead
    text: str
    cure: str = ""


def fine(text: str, cure: str = "") -> Finding:
    """Return a finding that something is in order."""
    return Finding(level=FINE, text=text, cure=cure)


def warning(text: str, cure: str = "") -> Finding:
    """Return a finding that something works, but not as it should."""
    return Finding(level=WARNING, text=text, cure=cure)


def dead(text: str, cure: str = "") -> Finding:
    """Return a finding that something does not work; `deia doctor` exits with 1."""
    return Finding(level=DEAD, text=text, cure=cure)


def why_this_commons(root: str, *, environ: Mapping[str, str], explicit: str, start: str) -> str:
    """Return why `deia.folders.find_commons` chose a commons for a person in the folder `start`."""
    if explicit:
        return "--commons"
    if environ.get("DEIA_COMMONS"):
        return "DEIA_COMMONS"
    if is_packaged(root) and nearest_commons(start) != root:
        return "the starter commons, as there is none here or above"
    return "nearest from the working folder upwards"
