"""The beginning of every hook: whether deia is off, and what a quiet call needs. Refuses to import where it is off."""

import gc
import sys

if sys.platform == "win32":
    from nt import environ, stat  # `os` itself costs a millisecond

    KEY = str
else:
    from posix import environ, stat

    KEY = str.encode


def start() -> None:
    """Answer one event, unless deia is off."""
    if is_off():
        return
    gc.disable()  # the process ends before there is anything to collect: 1 ms of a turn that is judged
    from deia.serve.hooks.run import run  # noqa: PLC0415 - a muted hook imports nothing

    run(sys.argv[1:])


def is_off() -> bool:
    """Say whether DEIA_OFF or the file `off` in the state folder (see deia.folders.state_folder) silences deia."""
    if _set("DEIA_OFF") not in {"", "0"}:
        return True
    base = _set("XDG_STATE_HOME") or _set("LOCALAPPDATA") or (_set("HOME") or _set("USERPROFILE")) + "/.local/state"
    try:
        stat((_set("DEIA_STATE") or base + "/deia") + "/off")
    except (OSError, ValueError):
        return False
    return True


def _set(name: str) -> str:
    value: str | bytes = environ.get(KEY(name), "")
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
