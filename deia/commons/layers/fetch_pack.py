"""Fetch the source of a pack: a folder as it is, or one commit of a git repository into a temporary folder.

Git is kept from doing anything but fetching: no other protocols, options, hooks, submodules or prompts.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

from deia import files
from deia.problems import CommonsError
from deia.records import Record

PROTOCOLS = ("https://", "ssh://", "file://")
SHORT_SSH = re.compile(r"[\w.-]+@[\w.-]+:[\w./~-]+")
REV = re.compile(r"[A-Za-z0-9_][\w./-]{0,199}")
SECONDS = 300
SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
    "-c", "protocol.https.allow=always", "-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always",
    "-c", "submodule.recurse=false", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.required=false",
)  # fmt: skip
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:file", "GIT_LFS_SKIP_SMUDGE": "1"}
STEERING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TEMPLATE_DIR", "GIT_EXTERNAL_DIFF")


class Fetched(Record):
    """The folder of a fetched source, and its commit if it came from git."""

    folder: str
    commit: str = ""


def is_git(source: str) -> bool:
    """Return whether a source is a git URL rather than a folder."""
    return source.startswith(PROTOCOLS) or (not os.path.exists(source) and bool(SHORT_SSH.fullmatch(source)))


def fetch(source: str, *, rev: str, into: str, environ: Mapping[str, str]) -> Fetched:
    """Return the folder of a source; a git URL is fetched into `into`, an empty folder."""
    if not is_git(source):
        return Fetched(folder=_folder(source, rev))
    if not all(char.isprintable() and not char.isspace() for char in source):
        raise CommonsError("The URL contains spaces or control characters.", fix="Remove them.")
    if rev and (not REV.fullmatch(rev) or ".." in rev):
        raise CommonsError(f"{rev!r} is not the name of a branch, tag or commit.", fix="Use --rev main, or a commit.")
    for words in (
        ("init", "--quiet", "--template="),
        ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source, rev or "HEAD"),
        ("checkout", "--quiet", "--detach", "FETCH_HEAD"),
    ):
        _git(words, into, environ)
    return Fetched(folder=into, commit=_git(("rev-parse", "FETCH_HEAD"), into, environ).strip())


def _folder(source: str, rev: str) -> str:
    if "://" in source or source.startswith("-"):
        known = ", ".join(PROTOCOLS)
        scheme = f": {source.partition('://')[0]}:// is not supported" if "://" in source else ""
        fix = f"Name a folder, or a git URL that begins with {known}."
        raise CommonsError(f"{source!r} cannot be fetched{scheme}.", fix=fix)
    if not os.path.isdir(source):
        raise CommonsError(f"There is no folder {source}.", fix="Name a folder that holds a commons, or a git URL.")
    if rev:
        raise CommonsError("--rev needs a git URL, and this is a folder.", fix="Leave it out, or use file://…")
    return files.forward(os.path.abspath(source))


def _git(words: tuple[str, ...], folder: str, environ: Mapping[str, str]) -> str:
    variables = {name: value for name, value in environ.items() if name not in STEERING}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and checked arguments, no shell
            ["git", *SAFE, *words],  # noqa: S607 - the person's own git
            cwd=folder, env={**variables, **VARIABLES}, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=SECONDS,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise CommonsError("git is not installed.", fix="Install it, or name a folder.") from error
    except subprocess.TimeoutExpired as error:
        raise CommonsError(
            f"git took more than {SECONDS} s.", fix="Try again, or clone it and name the folder."
        ) from error
    if done.returncode:
        message = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise CommonsError(f"git failed: {message}", fix="Check the URL, the --rev and your access.")
    return done.stdout.decode("utf-8", "replace")
