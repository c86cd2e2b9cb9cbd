"""The hooks of a git repository that compile its lessons as soon as git has brought them.

Git ignores how such a hook ends, and the compile runs in the background, so git neither fails nor waits.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from deia.errors import HostError
from deia.serve.setup.host_settings.hook_file import RUNNABLE
from deia.serve.setup.settings_changes import Part

GIT = "git"  # stands in the place of a host
HOOKS = ("post-merge", "post-checkout", "post-rewrite")  # git runs them after a pull, and after a rebase
SHELL = "#!/bin/sh\n"
MARK = "# Made by `deia install git`: compiles the lessons that git brought, in the background.\n"
QUIET = "< /dev/null > /dev/null 2>&1"
PLACES = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-path", "hooks")
PATIENCE = 20  # seconds


def entering_parts(root: str) -> list[Part]:
    """Return the hooks of the repository that holds a commons; raise HostError if they cannot be deia's."""
    places = _places(root)
    if not places:
        raise HostError("no git repository holds this commons", where=root, fix="Type: git init, and try again.")
    top, own, hooks = places
    commons = os.path.relpath(os.path.realpath(root), os.path.realpath(top))
    command = [sys.executable, "-P", "-m", "deia.serve.main", "--commons", commons.replace("\\", "/"), "compile"]
    line = f"[ ! -x {shlex.quote(sys.executable)} ] || ({shlex.join(command)} {QUIET} &)\n"
    if not _is_below(hooks, own):
        problem = "is where this repository's hooks are kept, and another program looks after that folder"
        raise HostError(problem, where=hooks, fix=_advice(line))
    return [_part(f"{hooks}/{name}", line) for name in HOOKS]


def leaving_parts(folder: str) -> list[Part]:
    """Return the hooks of the repository around a folder, to remove what is deia's of them."""
    places = _places(folder)
    return [_part(f"{places[-1]}/{name}", "") for name in HOOKS] if places and _is_below(places[-1], places[1]) else []


def _places(folder: str) -> Sequence[str]:
    """Return the top of a folder's working tree, git's folder and that of the hooks; nothing without a repository."""
    command = ["git", "-C", folder, *PLACES]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)  # noqa: S603 - git
    except (OSError, subprocess.SubprocessError):
        return ()
    lines = os.fsdecode(ran.stdout).splitlines()
    return lines if ran.returncode == 0 and len(lines) == len(PLACES) - 3 else ()


def _is_below(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _advice(line: str) -> str:
    return f"Nothing was written. To compile there, too, add this line to its {', '.join(HOOKS)}: {line.rstrip()}"


def _part(path: str, line: str) -> Part:
    def enter(text: str) -> str:
        """Return a hook with deia's line; raise HostError if somebody else wrote it."""
        before, mark, after = text.partition(MARK)
        if text.strip() and not mark:
            raise HostError("is a hook of somebody else's", where=path, fix=_advice(line))
        return before + mark + line + after.partition("\n")[2] if mark else SHELL + MARK + line

    def take_out(text: str) -> str:
        """Return a hook without deia's line; the empty text if nothing else is in it."""
        before, mark, after = text.partition(MARK)
        rest = before + after.partition("\n")[2] if mark else text
        return "" if rest == SHELL else rest

    return Part(host=GIT, path=path, enter=enter, take_out=take_out, mode=RUNNABLE)
