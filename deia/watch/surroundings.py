"""The surroundings of a turn that is judged inside a process: clock, folder signs, mutes and exceptions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from deia.folders import NOWHERE
from deia.records import Turn
from deia.watch.clauses.folder_signs import files_around, signs_around
from deia.watch.clauses.importers import importers_in
from deia.watch.silence.exceptions import Touched, excepted
from deia.watch.silence.modes import read_mode
from deia.watch.silence.mutes import muted_triggers
from deia.watch.watcher import Surroundings


def look_around(
    turn: Turn, *, folder: str, root: str, state: str, derived: str = "", exceptions: Mapping[str, Sequence[str]]
) -> Surroundings:
    """Return the surroundings of a turn for work in `folder`, with the mutes in the person's `state` folder.

    Whoever works `NOWHERE` on this machine learns nothing of its files.
    """
    now = time.time()
    touched = Touched(turn, folder)
    muted = muted_triggers(state, folder=folder, now=now, touched=touched) | excepted(exceptions, touched, root=root)
    is_here = folder != NOWHERE
    importers = importers_in(derived, folder) if derived and is_here else None
    return Surroundings(
        now=now,
        folder=signs_around(folder) if is_here else None,
        exists=files_around(folder) if is_here else None,
        importers=importers,
        muted=muted,
        mode=lambda: read_mode(state),
    )
