"""What `deia doctor` looks at, and what it finds; and why a commons is the one in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from deia.folders import is_packaged, nearest_commons
from deia.records import Record
from deia.serve.setup.host_settings.hosts_table import USER, Machine

FINE, WARNING, DEAD = "fine", "warning", "dead"


class Patient(Record):
    """The place and the person that `deia doctor` looks at."""

    folder: str
    machine: Machine
    explicit: str = ""  # the commons that --commons named
    tell: Callable[[str], object] = str  # is called with what is being done if that takes long; ignores it by default

    def owns(self, scope: str) -> bool:
        """Return whether what stands in the settings of a scope is the person's, or of a project that they trust.

        Anybody can put a command or an address into a repository, and `deia doctor` may be typed in any.
        """
        return scope == USER or not self.machine.fence


class Finding(Record):
    """One thing that is in order or not, and what to do about it."""

    level: str  # fine | warning | dead
    text: str
    cure: str = ""


def _finding(level: str, text: str, cure: str = "") -> Finding:
    return Finding(level=level, text=text, cure=cure)


fine = partial(_finding, FINE)
warning = partial(_finding, WARNING)  # it works, but not as it should
dead = partial(_finding, DEAD)  # it does not work; `deia doctor` exits with 1


def why_this_commons(root: str, *, environ: Mapping[str, str], explicit: str, start: str) -> str:
    """Return why `deia.folders.find_commons` chose a commons for a person in the folder `start`."""
    if explicit:
        return "--commons"
    for name in ("DEIA_COMMONS", "DEIA_DOCS"):
        if environ.get(name):
            return name
    if is_packaged(root) and nearest_commons(start) != root:
        return "the starter commons, as there is none here or above"
    return "nearest from the working folder upwards"
