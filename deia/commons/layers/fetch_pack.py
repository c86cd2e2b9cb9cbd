"""Fetch the source of a pack: a folder as it is, or one commit of a git repository into a temporary folder.

Git is kept from doing anything but fetching: no other protocols, options, hooks, submodules or prompts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from deia import files
from deia.git_command import SHORT_SSH, GitError, check_address, is_revision, run_git
from deia.problems import CommonsError
from deia.records import Record

PROTOCOLS = ("https://", "ssh://", "file://")


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
    if rev and not is_revision(rev):
        raise CommonsError(f"{rev!r} is not the name of a branch, tag or commit.", fix="Use --rev main, or a commit.")
    try:
        check_address(source)
        for words in (
            ("init", "--quiet", "--template="),
            ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source, rev or "HEAD"),
            ("checkout", "--quiet", "--detach", "FETCH_HEAD"),
        ):
            run_git(words, into, environ)
        return Fetched(folder=into, commit=run_git(("rev-parse", "FETCH_HEAD"), into, environ).decode().strip())
    except GitError as error:
        raise CommonsError(error.message, fix=error.fix) from error


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
