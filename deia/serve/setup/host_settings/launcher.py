"""The launcher: a file in the person's state folder that every installed hook starts, and that stays if deia goes.

A host takes some failures of a hook for a block: Python's exit code 2 if it cannot open a file, one host even every
failure. So no host starts deia's own files. It asks a shell to run the launcher if that is there; the launcher starts
the hook if that can be started, and otherwise exits with 0 and says once what is wrong. The commands name no path of
deia or Python, so they stay the same when either moves, and can be shared with people who have no deia. On Windows,
where hosts have no common shell, Python runs a launcher that is written in Python.

The Python that it starts is named by its absolute path, neither a shim, which costs 100 ms at every event, nor a
virtual environment's: the hook needs no third-party package, so it works on if that environment is deleted.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

from deia import files
from deia.errors import HostError
from deia.folders import state_folder
from deia.records import Record
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hosts_table import SETUPS
from deia.serve.startup.bytecode import MADE_SCRIPT

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
PRINT_VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
PATIENCE = 20  # seconds for a start on a busy machine
NAME = "deia-hook"
SAID = "broken"  # the files in the state folder by which each breakage is said once: broken-HOST
USUAL = ".local/state/deia"  # the state folder, in the home folder
STATUS_LINE = "status-line"  # stands in the place of a host
STARTS = "# starts: "  # the line of a launcher that says, as JSON, what it starts
BY_CODE = ("windsurf", "kiro")  # the hosts at which exit code 2 is a hold
SHELL = "/bin/sh"
RUN = 'if [ -r "$1" ]; then . "$1"; fi'
MEND = (
    "To mend it, install deia again and type: deia install {host}. To take the hooks out instead, remove the entries"
    " that name deia-hook from the host's settings."
)


def find_interpreters() -> list[str]:
    """Return the absolute path of an interpreter of this version that starts, then other candidates in case it moves.

    Raise HostError if none starts.
    """
    candidates = [*dict.fromkeys(_candidates())]
    interpreter = next(filter(starts, candidates), "")
    if not interpreter:
        problem = f"no Python interpreter starts; tried {', '.join(candidates)}"
        raise HostError(problem, fix="Reinstall Python, then try again.")
    return [interpreter, *(path for path in candidates if path != interpreter and os.path.isfile(path))]


def _candidates() -> Iterator[str]:
    base = getattr(sys, "_base_executable", "")  # the interpreter behind a virtual environment
    usual = os.path.join(sys.base_prefix, "python.exe" if os.name == "nt" else f"bin/python{VERSION}")
    for path in filter(None, (base, usual, sys.executable)):
        yield os.path.realpath(path)
        yield os.path.abspath(path)


def starts(path: str) -> bool:
    """Return whether `path` is a Python of this version that starts with the options of a hook."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [path, "-I", "-S", "-c", PRINT_VERSION], capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.decode("ascii", "replace") == VERSION


class Target(Record):
    """What a launcher starts."""

    hook: str
    pythons: tuple[str, ...]


# --- how a host starts it ---


def launcher_path(environ: Mapping[str, str]) -> str:
    """Return the launcher's path."""
    return f"{state_folder(environ)}/{NAME}{'.py' if on_windows() else ''}"


def launched_command(interpreter: str, host: str, *, environ: Mapping[str, str], commons: str = "") -> list[str]:
    """Return what a host is to run; `commons` is only for a commons that a person named."""
    arguments = [host, *(("--commons", commons) if commons else ())]
    if on_windows():
        return [interpreter, "-I", "-S", os.path.normpath(launcher_path(environ)), *arguments]
    usual = state_folder(environ) == f"{files.home(environ)}/{USUAL}"
    place = f'"$HOME/{USUAL}/{NAME}"' if usual else shlex.quote(launcher_path(environ))
    return [SHELL, "-c", f'set -- {place} "$@"; {RUN}', "deia", *arguments]


def is_launched(words: Sequence[str]) -> bool:
    """Return whether a command starts the launcher with a shell of its own."""
    return tuple(words[:2]) == (SHELL, "-c") and len(words) > 4 and words[2].endswith(RUN) and NAME in words[2]


def in_shell(words: Sequence[str]) -> str:
    """Return the command as a line for a shell that already runs, so that no second one is started."""
    return words[2].replace('"$@"', shlex.join(words[4:]), 1)


def words_in_shell(line: str) -> list[str]:
    """Return the command that `in_shell` turned into this line; an empty list if it did not."""
    if not (line.startswith("set -- ") and line.endswith(f"; {RUN}") and NAME in line):
        return []
    try:
        place, *arguments = shlex.split(line.removeprefix("set -- ").removesuffix(f"; {RUN}"))
    except ValueError:
        return []
    quoted = f'"{place}"' if place.startswith("$HOME/") else shlex.quote(place)
    return [SHELL, "-c", f'set -- {quoted} "$@"; {RUN}', "deia", *arguments]


# --- the file ---


def launcher_text(pythons: Sequence[str], hook: str, status: str, *, state: str) -> str:
    """Return the launcher's text for interpreters, of which the first that exists counts, and a hook file."""
    starts = json.dumps({"hook": hook, "pythons": list(pythons)})
    return (_windows if on_windows() else _posix)(pythons, hook, status, state=state).replace("@starts@", starts)


def _posix(pythons: Sequence[str], hook: str, status: str, *, state: str) -> str:
    parts = {
        "hook": shlex.quote(hook), "made": shlex.quote(made_script(hook)), "status": shlex.quote(status),
        "pythons": shlex.join(pythons), "said": shlex.quote(f"{state}/{SAID}"),
        "no_python": _why(f"the Python that runs it is gone ({pythons[0]})"),
        "no_program": _why(f"its program is gone ({hook})"),
        "no_start": _why("its program does not start (exit code CODE)").replace("CODE", "'$deia_code'"),
        "holds": " | ".join(f"2,{host}" for host in BY_CODE),
        "speaking": "\n  ".join(
            f"""{host}) printf '{{"{key}":"%s"}}\\n' "$deia_why" ;;""" for host, key in spoken_keys().items()
        ),
    }  # fmt: skip
    return _filled("launcher.sh", parts)


def made_script(hook: str) -> str:
    """Return the path of the hook's script as Python compiled it."""
    return hook.rpartition("/serve/")[0] + f"/{MADE_SCRIPT}"


def _why(reason: str) -> str:
    """Return a message as a shell word, escaped so that it can stand between the quotes of a JSON text."""
    return shlex.quote(json.dumps(_message(reason))[1:-1]).replace("{host}", "'$1'")


def _message(reason: str) -> str:
    return f"deia does nothing at the moment: {reason}. {MEND}"


def _windows(_pythons: Sequence[str], hook: str, _status: str, *, state: str) -> str:
    why = json.dumps(_message(f"its program does not start ({hook})").format(host="HOST"))[1:-1]
    parts = {"hook": repr(hook), "said": repr(f"{state}/{SAID}"), "why": repr(why), "keys": repr(spoken_keys())}
    return _filled("launcher_windows.txt", parts)


def _filled(name: str, parts: Mapping[str, str]) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        text = file.read()
    for part, value in parts.items():
        text = text.replace(f"@{part}@", value)
    return text


def spoken_keys() -> dict[str, str]:
    """Return, by host, the field of an answer to any event that the person or the model gets to read."""
    return {setup.host: setup.tells for setup in SETUPS if setup.tells}


def write_launcher(pythons: Sequence[str], hook: str, status: str, *, environ: Mapping[str, str]) -> str:
    """Write the launcher and forget which breakages of an earlier one were reported; return its path."""
    path, state = launcher_path(environ), state_folder(environ)
    text = launcher_text(pythons, hook, status, state=state)
    if not files.keep(path, text.encode("utf-8", "surrogateescape")):
        fix = f"Give yourself the right to write in {state}."
        raise HostError("the launcher cannot be written", where=path, fix=fix)
    for name in files.names(state):
        if name.startswith(f"{SAID}-"):
            files.remove(f"{state}/{name}")
    return path


def lend_launcher(environ: Mapping[str, str], home: str) -> None:
    """Put a copy of the launcher where the same commands find it in another home folder."""
    files.keep(f"{home}/{USUAL}/{NAME}", files.read(launcher_path(environ)) or b"")


def target_of(path: str) -> Target | None:
    """Return what the launcher at a path starts; None if there is none, or it is not deia's."""
    text = (files.read(path) or b"").decode("utf-8", "surrogateescape")
    line = next((line for line in text.splitlines() if line.startswith(STARTS)), "")
    try:
        starts = json.loads(line.removeprefix(STARTS))
        return Target(hook=str(starts["hook"]), pythons=tuple(map(str, starts["pythons"])))
    except (ValueError, TypeError, KeyError):
        return None
