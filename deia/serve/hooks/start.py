"""The start of every hook. If deia is off, nothing else is imported."""

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
    gc.disable()  # the process ends before there is anything to collect, which saves 1 ms of a judged turn
    from deia.serve.hooks.run import run  # noqa: PLC0415 - a muted hook imports nothing

    run(sys.argv[1:])


def is_off() -> bool:
    """Return whether DEIA_OFF or the file `off` in the state folder (see deia.folders.state_folder) silences deia."""
    if _variable("DEIA_OFF") not in {"", "0"}:
        return True
    home = _variable("HOME") or _variable("USERPROFILE")
    base = _variable("XDG_STATE_HOME") or _variable("LOCALAPPDATA") or home + "/.local/state"
    try:
        stat((_variable("DEIA_STATE") or base + "/deia") + "/off")
    except (OSError, ValueError):
        return False
    return True


def _variable(name: str) -> str:
    value: str | bytes = environ.get(KEY(name), "")
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
