"""Prints one line for a host's status line: what deia said last in this conversation, and whether it is silenced.

The host runs it as `python -I -S statusline.py` at every change of the conversation, with JSON on standard input. It
never writes files; whatever the input, it prints one line or nothing and exits with 0.
"""

from __future__ import annotations

import sys
import time

if __name__ == "__main__":  # Python does not know yet where the package is: two folders above this file
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("/deia/serve/")[0] or ".")

from deia import files, folders, freshness
from deia.durations import ago
from deia.errors import DeiaError
from deia.fast_json import Json, loads
from deia.records import TYPE_CHECKING
from deia.serve.hooks.start import is_off
from deia.text import one_line, shorten
from deia.watch.gate.artefact import open_artefact
from deia.watch.memory.history import PastInjection, past_injections
from deia.watch.silence.mutes import muted_triggers

if TYPE_CHECKING:
    from collections.abc import Mapping


MOST_INPUT = 4_000_000  # bytes
MOST_CHARS = 200
MOST_NAMED = 2  # triggers of the last injection that are named


def status_line(event: Json, *, environ: Mapping[str, str], commons: str = "", now: float) -> str:
    """Return the line for a host's description of a conversation; missing and malformed fields count as empty."""
    if is_off():
        return "deia: off (deia mute --all --off)"
    fields = event if isinstance(event, dict) else {}
    workspace = fields.get("workspace")
    folder = _text(fields.get("cwd")) or _text(workspace.get("current_dir") if isinstance(workspace, dict) else "")
    state, conversation = folders.state_folder(environ), _text(fields.get("session_id"))
    folder = files.forward(folder)
    past = past_injections(state, conversation) if conversation else []
    muted = muted_triggers(state, folder=folder, now=now, conversation=conversation)
    parts = [
        *_last_injection(past, now),
        f"{len(muted)} muted" if muted else "",
        *_trouble(folder, environ, commons, now),
    ]
    return shorten(one_line(f"deia: {', '.join(filter(None, parts)) or 'watching'}"), MOST_CHARS)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _last_injection(past: list[PastInjection], now: float) -> list[str]:
    """Return the triggers of the last injection, and the number of injections in this conversation."""
    if not past:
        return []
    last = past[-1]
    more = len(last.triggers) - MOST_NAMED
    named = " and ".join(last.triggers[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return [f"{named} {ago(now - last.at)}", f"{len(past)} this session"]


def _trouble(folder: str, environ: Mapping[str, str], commons: str, now: float) -> list[str]:
    """Return what silences deia or makes its lessons old: quiet hours, nothing compiled, changed sources."""
    try:
        root = folders.find_commons(folder, environ=environ, explicit=commons)
        derived = folders.derived_folder(root, environ)
        quiet = open_artefact(f"{derived}/triggers").meta.settings.get("quiet")
    except DeiaError as error:
        return [f"{error.message} ({error.fix.removeprefix('Type: ').rstrip('.')})" if error.fix else error.message]
    parts = []
    if quiet:
        from deia.watch.verdict.quiet_hours import is_within  # noqa: PLC0415 - hardly any project has quiet hours

        parts = ["quiet hours"] if is_within(quiet, now) else []
    return [*parts, "sources changed (deia compile)"] if freshness.changed(derived, root, freshness.TRIGGERS) else parts


def read_event(data: bytes) -> Json:
    """Parse what a host sent; None if it is not JSON."""
    try:
        event: Json = loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None
    return event


def main(arguments: list[str]) -> None:
    """Print the line for the event on standard input."""
    named = arguments[arguments[:1] == ["status-line"] :]  # the launcher passes its whole command on
    commons = named[1] if named[:1] == ["--commons"] and len(named) > 1 else ""
    try:
        data = sys.stdin.buffer.read(MOST_INPUT) if sys.stdin is not None else b""
        line = status_line(read_event(data), environ=files.environment(), commons=commons, now=time.time())
        sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except (OSError, ValueError):
        files.system._exit(0)  # noqa: SLF001 - the host is gone, so nothing can be written


if __name__ == "__main__":
    main(sys.argv[1:])
