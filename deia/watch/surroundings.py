"""The surroundings of a turn that is judged inside a process: clock, folder signs, mutes and exceptions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from deia.records import Turn
from deia.watch.clauses.folder_signs import files_around, signs_around
from deia.watch.silence.exceptions import Touched, excepted
from deia.watch.silence.modes import read_mode
from deia.watch.silence.mutes import muted_triggers
from deia.watch.watcher import Surroundings


def look_around(
    turn: Turn, *, folder: str, root: str, state: str, exceptions: Mapping[str, Sequence[str]]
) -> Surroundings:
    """Return the surroundings of a turn for work in `folder`, with the mutes in the person's `state` folder."""
    now = time.time()
    touched = Touched(turn, folder)
    muted = muted_triggers(state, folder=folder, now=now, touched=touched) | excepted(exceptions, touched, root=root)
    return Surroundings(
        now=now, folder=signs_around(folder), exists=files_around(folder), muted=muted, mode=lambda: read_mode(state)
    )
