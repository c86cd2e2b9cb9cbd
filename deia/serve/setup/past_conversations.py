"""The folders in which the hosts on this machine keep past conversations, as `hosts.toml` names them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from deia.evaluate.replay_files import files_below
from deia.records import Record
from deia.serve.setup.host_settings.hosts_table import SETUPS, USER, Machine, folder_of


class PastConversations(Record):
    """The files in which one host keeps past conversations in one folder."""

    title: str  # of the host
    folder: str
    shown: str  # the folder as a person would write it
    paths: tuple[str, ...]


def past_conversations(machine: Machine, *, newer_than: float = 0.0) -> Iterator[PastConversations]:
    """Yield the hosts' folders that hold conversations that changed after a time; raise QueryError for too many."""
    for setup in SETUPS:
        for place in setup.conversations:
            folder = folder_of(place, USER, machine)
            paths = [path for path in files_below(folder, place.file) if changed_after(path, newer_than)]
            if paths:
                shown = below_home(folder, machine)
                yield PastConversations(title=setup.title, folder=folder, shown=shown, paths=tuple(paths))


def changed_after(path: str, moment: float) -> bool:
    """Return whether a file changed at a moment or after it; 0 is before everything."""
    try:
        return not moment or os.path.getmtime(path) >= moment
    except OSError:
        return False


def places_looked_at(machine: Machine) -> list[str]:
    """Return where past conversations are looked for, with the home folder as `~`."""
    places = [place for setup in SETUPS for place in setup.conversations]
    return [below_home(folder_of(place, USER, machine), machine) for place in places]


def below_home(path: str, machine: Machine) -> str:
    """Return a path as a person would write it, with the home folder as `~`."""
    home = machine.home.rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path
