"""Git as a program that only fetches and reads: no other protocols, options, hooks, submodules or prompts."""

from __future__ import annotations

import re
import subprocess

from deia.errors import DeiaError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REV = re.compile(r"[A-Za-z0-9_][\w./-]{0,199}")
SHORT_SSH = re.compile(r"[\w.-]+@[\w.-]+:[\w./~-]+")
SECONDS = 300
SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
    "-c", "protocol.https.allow=always", "-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always",
    "-c", "submodule.recurse=false", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.required=false",
    "-c", "gc.autoDetach=false",
)  # fmt: skip
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:file", "GIT_LFS_SKIP_SMUDGE": "1"}
STEERING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TEMPLATE_DIR", "GIT_EXTERNAL_DIFF")


class GitError(DeiaError):
    """Git is missing, took too long or failed, or was to be given what could be taken for something else."""


def check_address(address: str) -> None:
    """Raise GitError if an address contains what no address contains."""
    if address.startswith("-") or not all(char.isprintable() and not char.isspace() for char in address):
        raise GitError("The URL contains spaces or control characters.", fix="Remove them.")


def is_revision(name: str) -> bool:
    """Return whether a name can be that of a branch, a tag or a commit."""
    return bool(REV.fullmatch(name)) and ".." not in name


def command(*words: str) -> list[str]:
    """Return the command line of git with these words."""
    return ["git", *SAFE, *words]


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git, without what would lead it elsewhere."""
    return {**{name: value for name, value in environ.items() if name not in STEERING}, **VARIABLES}


def run_git(words: Sequence[str], folder: str, environ: Mapping[str, str]) -> bytes:
    """Return what git prints; raise GitError if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and checked arguments, no shell
            command(*words), cwd=folder, env=variables(environ), stdin=subprocess.DEVNULL, capture_output=True,
            check=False, timeout=SECONDS,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise GitError("git is not installed.", fix="Install it, or name a folder.") from error
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git took more than {SECONDS} s.", fix="Try again, or clone it and name the folder.") from error
    if done.returncode:
        message = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise GitError(f"git failed: {message}", fix="Check the URL, the branch or revision, and your access.")
    return done.stdout
