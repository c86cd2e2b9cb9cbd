"""The tools for the library: taking a source in, and listing the sources.

An agent may name a folder of the project or a public address, or hand a text over; anything else has to be typed by a
person. Taking in runs in a process of its own, since it may take minutes.
"""

from __future__ import annotations

import asyncio
import binascii
import os
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import TypeAlias

from deia import fast_json, files
from deia.compile.encoding_progress import read_encoding
from deia.compile.take_in import is_up_to_date, keep_upload, open_library, registered_sources, said_of_replica
from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX, derived_folder, library_collections
from deia.ingest.checked_source import checked, refuse_address
from deia.ingest.library_store import PENDING, PROCESSED, PROCESSING
from deia.ingest.naming import said_of
from deia.ingest.source import FOLDER, S3, UPLOAD, Source, refuse_empty, slug, typed
from deia.search.rendering.columns import plain
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.library_process import command
from deia.text import counted

Report: TypeAlias = Callable[[float, float, str], Awaitable[None]]  # how many, of how many in all, and in words

PERSON = "A person can type: deia ingest SOURCE"
PERSONS = ("exclude", "include", "depth", "tags", "chunker", "private", "track")  # what an agent cannot set


def index_source(
    desk: Desk, *, source: str, collection: str = "", content: str | bytes = "", encoding: str = "", **fields: str
) -> Reply:
    """Register a source, which is then to be taken in; content that is handed over becomes a document of `upload`."""
    own = library_collections(desk.collections)
    if desk.collections and not (slug(collection) in own and (content or isinstance(content, bytes))):
        raise QueryError("you may not take that in, or not there", fix=f"You can upload files to: {', '.join(own)}.")
    if content or isinstance(content, bytes):
        body = content if isinstance(content, bytes) else _bytes_of(content, encoding)
        if desk.collections:
            _refuse_taken(desk, slug(collection))
        described, kept_path = keep_upload(desk.root, source, body, os.environ, collection=collection)
    else:
        described, kept_path = _source(desk, source, collection=collection, **fields), ""
    with open_library(desk.root, os.environ) as library:
        known = [entry.source for entry in library.registry()]
        ready = _as_persons_set_it(library.named(described), known)
        refuse_address(ready, known)
        registered = library.register(ready)
    name = registered.source.name
    said = "" if desk.collections else said_of(registered.source, known)  # others' sources are nobody's business
    path = {"path": f"{LIBRARY_PREFIX}{registered.prefix}{kept_path}"} if kept_path else {}
    return Reply(
        fields={"name": name, "collection": registered.source.collection, "status": PENDING, **path},
        text=plain(f"Taking in {name}; list_sources says when it is done. {said}".rstrip()),
        source=name,
    )


def _as_persons_set_it(source: Source, known: Sequence[Source]) -> Source:
    """Return an agent's source with what persons have set for it, and without what they exclude of the same place."""
    before = next((one for one in known if one.name == source.name), None)
    if before:
        return source.but(**{name: getattr(before, name) for name in PERSONS})
    beside = [one.exclude for one in known if source.place and (one.kind, one.place) == (source.kind, source.place)]
    return source.but(exclude=tuple(dict.fromkeys(chain(source.exclude, *beside))))


def _refuse_taken(desk: Desk, collection: str) -> None:
    """Raise QueryError if the name for uploads is that of a source elsewhere, of which the asker may know nothing."""
    for registered in registered_sources(desk.root, os.environ):
        is_own = (registered.source.kind, registered.source.collection) == (UPLOAD, collection)
        if registered.source.name == f"{UPLOAD}-{collection}" and not is_own:
            raise QueryError("files cannot be uploaded there", fix=PERSON)


def _bytes_of(content: str, encoding: str) -> bytes:
    if not encoding:
        return content.encode("utf-8", "replace")
    try:
        return binascii.a2b_base64(content, strict_mode=True)
    except ValueError as error:
        raise QueryError(f"the content is no base64: {error}", fix="Encode the file, or omit encoding.") from error


_waiting: dict[str, dict[str, None]] = {}  # by root: the sources that are to be taken in, while a process works
_lock = threading.Lock()


def start(desk: Desk, name: str) -> None:
    """Have a source taken in in the background; one process at a time takes in all that came meanwhile."""
    with _lock:
        is_working = desk.root in _waiting
        _waiting.setdefault(desk.root, {})[name] = None
    if not is_working:
        threading.Thread(target=_take_in_all, args=(desk.root,), daemon=True).start()


def _take_in_all(root: str) -> None:
    """Take in the sources that wait, until none does; those that cannot be taken in now stay registered as pending."""
    devnull = subprocess.DEVNULL
    while True:
        with _lock:
            names = [*_waiting[root]]
            if not names:
                del _waiting[root]
                return
            _waiting[root].clear()
        with suppress(OSError):
            subprocess.run(  # noqa: S603 - this interpreter, and a module of deia
                command(root, names), stdin=devnull, stdout=devnull, stderr=devnull, start_new_session=True, check=False
            )


async def finish(desk: Desk, name: str, report: Report) -> Reply:
    """Take a source in and report the progress; cancelling this interrupts it, and the next call goes on from there."""
    pipe, devnull = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command(desk.root, [name]), stdin=devnull, stdout=pipe, stderr=devnull
    )
    last: dict[str, Json] = {}
    try:
        while process.stdout and (line := await process.stdout.readline()):
            last = fast_json.loads(line.decode("ascii"))
            done, of = last.get("files"), last.get("of")
            if isinstance(done, int) and isinstance(of, int):
                await report(done, of, f"{done} of {of} files, {last['chunks']} passages")
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.shield(process.wait())
    if last.get("error") or not last.get("text"):
        raise QueryError(f"{plain(name)} was not taken in: {last.get('error') or 'it broke off'}", fix=PERSON)
    return Reply(fields={"name": name, "status": PROCESSED}, text=str(last["text"]))


def _source(desk: Desk, place: str, *, collection: str, branch: str = "", filter: str = "") -> Source:  # noqa: A002 - as the tool calls it
    """Return the source that is meant; raise an error if it is not one that an agent may take in."""
    refuse_empty(place)  # which would be the whole project
    inside = f"{desk.root}/{place}"  # wherever the server was started
    source = typed(inside if not files.is_absolute(files.forward(place)) and files.exists(inside) else place)
    own = tuple(f"{files.real(folder).rstrip('/')}/" for folder in (desk.root, desk.folder))
    if source.kind == S3 or (source.kind == FOLDER and not f"{source.place}/".startswith(own)):
        raise QueryError("an agent takes in folders of the project and public addresses only", fix=PERSON)
    source = checked(source.but(collection=collection, branch=branch, filter=(filter,) if filter else ()))
    if source.kind != FOLDER and os.path.isabs(source.place):
        raise QueryError("a repository on this machine is not taken in for an agent", fix=PERSON)
    return source


def list_sources(desk: Desk) -> Reply:
    """Return every source with its status."""
    own = library_collections(desk.collections)
    entries = registered_sources(desk.root, os.environ) if own or not desk.collections else []
    sources = [entry for entry in entries if not desk.collections or entry.source.collection in own]
    if desk.collections:  # where a source is on this machine is nobody else's business
        sources = [entry.but(source=entry.source.but(place=""), error=entry.error and "it failed") for entry in sources]
    if not is_up_to_date(desk.root, os.environ, desk.derived):  # answers do not use it yet
        sources = [entry.but(status=PROCESSING) if entry.status == PROCESSED else entry for entry in sources]
    listed: list[dict[str, Json]] = [
        {
            "name": entry.source.name, "type": entry.source.kind, "place": entry.source.place, "status": entry.status,
            "collection": entry.source.collection, "documents": entry.documents, "chunks": entry.chunks,
            "failed": entry.failed, "error": entry.error, "checked": entry.checked,
        }
        for entry in sources
    ]  # fmt: skip
    lines = [
        f"{plain(entry.source.name)}: {entry.status}, "
        f"{counted(entry.documents, 'document')} ({plain(entry.source.place)})"
        for entry in sources
    ]
    place = f"{derived_folder(desk.root, os.environ)}/library"
    encoding = "" if desk.collections else read_encoding(place).sentence(time.time())
    lines += [f"{encoding}."] if sources and encoding else []
    nothing = said_of_replica(desk.root, os.environ) or "Nothing was taken in yet."
    return Reply(fields={"sources": listed}, text="\n".join(lines) or nothing)
