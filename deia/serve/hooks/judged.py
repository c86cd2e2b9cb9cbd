"""Judges a turn that passed the gate, records the outcome, and hands it over for delivery.

Imported only if there is something to judge. Most judged turns fire nothing, so what only a firing, a mute, a
permission or an exception needs is imported later still.
"""

from __future__ import annotations

import time

from deia import files
from deia.folders import LEAVES, MUTES
from deia.records import TYPE_CHECKING, Turn
from deia.watch import watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.serve.hooks.place import Place
    from deia.serve.hooks.silences import Silences
    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Carries, Forms, Occasion
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import FileLog
    from deia.watch.silence.modes import Mode
    from deia.watch.watcher import Watched


def judged(  # noqa: PLR0913 - a turn, and what its host can carry
    place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, *, numbers: dict[int, set[int]],
    seen: list[str], can: Forms, carries: Carries, content: bytes, waiting: tuple[str, ...],
) -> Said | None:  # fmt: skip
    """Return what to say about a turn that passed the gate and that this process claimed, or None."""
    turn = occasion.turn
    assert turn is not None  # noqa: S101 - for the type checker: the caller has checked it
    watched = _weigh(place, artefact, occasion, turn, log, numbers, seen)
    silenced = any(verdict.stage in watcher.SILENCED for verdict in watched.verdicts)
    if not (watched.firings or watched.passed or silenced or waiting):
        return None
    from deia.serve.hooks.delivery import Delivery, deliver, record  # noqa: PLC0415 - as the module's docstring says

    record(place, artefact, occasion, log, watched)
    hold = bool(artefact.meta.settings["hold"])
    shows_code = "note" in can and occasion.moment == "before_tool"
    code = _code(place, occasion, watched, hold=hold) if shows_code else ""
    delivery = Delivery(can=can, carries=carries, hold=hold, code=code, content=content, waiting=waiting)
    return deliver(delivery, log, turn, watched)


def _weigh(
    place: Place, artefact: Artefact, occasion: Occasion, turn: Turn, log: FileLog, numbers: dict[int, set[int]],
    seen: list[str],
) -> Watched:  # fmt: skip
    now = time.time()
    folder = occasion.folder
    around = watcher.Surroundings(
        now=now, folder=_signs(folder), exists=_files(folder), importers=_importers(place.derived, folder),
        mode=_mode(place),
    )  # fmt: skip
    silences = _silences(place, artefact, occasion, turn, now)
    if silences is not None:
        around = around.but(muted=silences.muted, allowed=silences.allowed)
    watched = watcher.weigh(artefact, turn, log, around, numbers=numbers, seen=seen)
    if silences is not None:
        silences.spend(watched)
    return watched


def _mode(place: Place) -> Callable[[], Mode]:
    """Return a function that reads the mode; only what fires needs it."""

    def read() -> Mode:
        """Return the mode of the person."""
        from deia.watch.silence.modes import read_mode  # noqa: PLC0415 - as above

        return read_mode(place.state)

    return read


def _silences(place: Place, artefact: Artefact, occasion: Occasion, turn: Turn, now: float) -> Silences | None:
    """Return the mutes, permissions and exceptions in force, or None if there were never any."""
    exceptions = artefact.meta.settings.get("exceptions") or {}
    if not (exceptions or any(files.exists(f"{place.state}/{name}") for name in (MUTES, LEAVES))):
        return None
    from deia.serve.hooks.silences import Silences  # noqa: PLC0415 - as the docstring says

    return Silences(place, occasion, turn, exceptions, now)


def _signs(folder: str) -> Callable[[Sequence[str]], str]:
    """Return a function that finds the platforms a folder shows signs of; few triggers call it."""

    def find(wanted: Sequence[str]) -> str:
        """Return the first wanted platform of which the folder shows a sign."""
        from deia.watch.clauses.folder_signs import signs_around  # noqa: PLC0415 - as above

        return signs_around(folder)(wanted)

    return find


def _files(folder: str) -> Callable[[str], bool]:
    """Return a function that checks whether a file exists; few triggers call it."""

    def exists(path: str) -> bool:
        """Return whether the file exists."""
        from deia.watch.clauses.folder_signs import files_around  # noqa: PLC0415 - as above

        return files_around(folder)(path)

    return exists


def _importers(derived: str, folder: str) -> Callable[[str], int]:
    """Return a function that counts what imports a file; few triggers call it."""

    def count(path: str) -> int:
        """Return how many files import the file."""
        from deia.watch.clauses.importers import importers_in  # noqa: PLC0415 - as above

        return importers_in(derived, folder)(path)

    return count


def _code(place: Place, occasion: Occasion, watched: Watched, *, hold: bool) -> str:
    """Return a new code by which the person lets this call pass, or the empty text if nothing stops it."""
    stops = {"ask", "hold"} if hold else {"ask"}
    spoken = watched.injection.triggers if watched.injection else ()
    stopping = [firing.trigger for firing in watched.firings if firing.action in stops and firing.trigger in spoken]
    if not stopping:
        return ""
    from deia.watch.silence.allow import offer  # noqa: PLC0415 - hardly any call is stopped

    return offer(place.state, occasion.conversation, stopping, now=time.time())
