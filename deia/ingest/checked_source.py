"""Whether what somebody asks of a source makes sense, whoever asks: a person, an agent or a program."""

from __future__ import annotations

import os
from collections.abc import Sequence

from deia import files
from deia.durations import read_duration
from deia.ingest.checked_config import checked_config
from deia.ingest.source import (
    CHUNKS,
    FOLDER,
    GIT,
    UPLOAD,
    URL,
    Source,
    SourceError,
    UnknownHostError,
    password_in,
    refuse_empty,
    refuse_missing,
    slug,
)
from deia.ingest.source_kinds.globs_of_source import spec

WANTED = {str: "text", tuple: "list of texts", int: "whole number", bool: "truth value", dict: "table of settings"}


def checked(source: Source) -> Source:
    """Return a source with its names as `slug` writes them; raise SourceError if its options make no sense."""
    _refuse_other_types(source)
    if source.kind != UPLOAD:
        refuse_empty(source.place)
    if source.kind in (FOLDER, CHUNKS):
        refuse_missing(source.place, source.place)
    checked_config(source.chunker)
    try:
        _ = source.track and read_duration(source.track)
    except ValueError as error:
        raise SourceError(str(error), fix="Write it as --track 15m") from error
    _refuse_useless_choices(source)
    if source.kind in (GIT, URL) and password_in(source.place):  # it would be kept, and fetched by every server
        fix = "Leave it out. For git, a credential helper or an ssh key knows it; a page can be downloaded."
        raise SourceError("the address holds a password", fix=fix)
    place = _repository(source.place) if source.kind == GIT else source.place
    return source.but(place=place, name=slug(source.name), collection=slug(source.collection))


def refuse_address(source: Source, known: Sequence[Source]) -> None:
    """Raise SourceError if a source that is not `known` is at an address from which nothing would be fetched.

    A host that nothing resolves is none: the network may be away.
    """
    if any(one.name == source.name for one in known):
        return
    try:
        if source.kind == URL:
            from deia.ingest.source_kinds.safe_fetch import check_host  # noqa: PLC0415 - the network, which folders lack

            check_host(source.place, private=source.private)
        elif source.kind == GIT:
            from deia.ingest.source_kinds.from_git import checked_address  # noqa: PLC0415 - likewise

            checked_address(source)
    except UnknownHostError:
        return


def _refuse_other_types(source: Source) -> None:
    """Raise SourceError if a program wrote a value of another type than a field has."""
    values = source.values()
    for name, usual in Source(kind="", place="").values().items():
        value = values[name]
        is_list = isinstance(value, tuple)
        if type(value) is not type(usual) or (is_list and not all(isinstance(text, str) for text in value)):
            raise SourceError(f"{name} = {value!r} makes no sense", fix=f"Write a {WANTED[type(usual)]}.")


def _refuse_useless_choices(source: Source) -> None:
    """Raise SourceError if a tag is empty, a glob names nothing, or a branch is that of no repository."""
    if "" in map(str.strip, source.tags):
        raise SourceError("a tag is empty", fix="Leave it out, or write a word.")
    for globs in (source.filter, source.exclude, source.include):
        spec(globs)
    if source.filter and all(glob.startswith("!") for glob in source.filter):
        fix = "Leave files out with --exclude, or begin with a filter such as *.md"
        raise SourceError(f"the filter {source.filter[0]!r} takes nothing in", fix=fix)
    if source.branch and source.kind != GIT:
        fix = "Leave the branch out, or name a git repository with --type git"
        raise SourceError(f"a {source.kind} has no branch {source.branch!r}", fix=fix)


def _repository(place: str) -> str:
    """Return the address of a repository; a folder that was named from another one gets its full path."""
    if ":" in place:
        return place
    folder = place if os.path.isabs(place) else files.real(os.path.abspath(os.path.expanduser(place)))
    if not os.path.isdir(folder):
        fix = "Use an address that begins with https:// or ssh://, or the folder of a repository."
        raise SourceError(f"there is no repository at {place[:200]!r}", fix=fix)
    return folder
