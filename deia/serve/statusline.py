"""One line for a host's status line: what deia said last in this conversation, how often, and whether it is silenced.

Run by the host as `python -I -S statusline.py` at every change of the conversation, with its JSON on standard input.
It reads and never writes, and whatever it is given it prints one line or nothing and exits with 0.
"""

from __future__ import annotations

import sys
import time

if __name__ == "__main__":  # nobody said where the package is: its folder is two above this file
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("/deia/serve/")[0] or ".")

from deia import files, folders, freshness
from deia.durations import ago
from deia.errors import DeiaError
from deia.fast_json import loads
from deia.records import TYPE_CHECKING
from deia.serve.hooks.start import is_off
from deia.text import one_line, shorten
from deia.watch.gate.artefact import open_artefact
from deia.watch.memory.history import past_injections
from deia.watch.silence.mutes import muted_triggers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from deia.watch.memory.history import PastInjection

MOST_INPUT = 4_000_000  # bytes
MOST_CHARS = 200
NAMED = 2  # triggers of the last time that are named


def status_line(event: Any, *, environ: Mapping[str, str], commons: str = "", now: float) -> str:
    """Give the line for what a host says of a conversation; what is missing or of the wrong type is empty."""
    if is_off():
        return "deia: off (deia mute --all --off)"
    given = event if isinstance(event, dict) else {}
    place = given.get("workspace")
    folder = _text(given.get("cwd")) or _text(place.get("current_dir") if isinstance(place, dict) else "")
    state, conversation = folders.state_folder(environ), _text(given.get("session_id"))
    folder = folder.replace("\\", "/")
    told = past_injections(state, conversation) if conversation else []
    muted = muted_triggers(state, folder=folder, now=now, conversation=conversation)
    parts = [
        *_spoken(told, now),
        f"{len(muted)} muted" if muted else "",
        *_trouble(folder, environ, commons, now),
    ]
    return shorten(one_line(f"deia: {', '.join(filter(None, parts)) or 'watching'}"), MOST_CHARS)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _spoken(told: list[PastInjection], now: float) -> list[str]:
    """Say what was told last, and how often anything was in this conversation."""
    if not told:
        return []
    last = told[-1]
    more = len(last.triggers) - NAMED
    named = " and ".join(last.triggers[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return [f"{named} {ago(now - last.at)}", f"{len(told)} this session"]


def _trouble(folder: str, environ: Mapping[str, str], commons: str, now: float) -> list[str]:
    """Say what keeps deia silent or makes it speak of old lessons: quiet hours, nothing compiled, changed sources."""
    try:
        root = folders.find_commons(folder, environ=environ, explicit=commons)
        derived = folders.derived_folder(root, environ)
        quiet = open_artefact(f"{derived}/triggers").meta.settings.get("quiet")
    except DeiaError as error:
        return [f"{error.message} ({error.fix.removeprefix('Type: ').rstrip('.')})" if error.fix else error.message]
    said = []
    if quiet:
        from deia.watch.verdict.quiet_hours import is_within  # noqa: PLC0415 - hardly any project has quiet hours

        said = ["quiet hours"] if is_within(quiet, now) else []
    return [*said, "sources changed (deia compile)"] if freshness.changed(derived, root, freshness.TRIGGERS) else said


def read_event(data: bytes) -> Any:
    """Give what a host sent; None where it is no JSON."""
    try:
        return loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None


def main(arguments: list[str]) -> None:
    """Print the line for the event on standard input."""
    commons = arguments[1] if arguments[:1] == ["--commons"] and len(arguments) > 1 else ""
    try:
        data = sys.stdin.buffer.read(MOST_INPUT) if sys.stdin is not None else b""
        said = status_line(read_event(data), environ=files.environment(), commons=commons, now=time.time())
        sys.stdout.buffer.write(said.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        files.system._exit(0)  # noqa: SLF001 - the host is gone, and nobody reads a farewell


if __name__ == "__main__":
    main(sys.argv[1:])
