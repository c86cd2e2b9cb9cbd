"""The tools for the library: taking a source in, and listing the sources.

An agent may name a folder of the project, a public address, or hand a text over; what else a person takes in, a person
types. Taking in runs in a process of its own, since it may take minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from deia import files
from deia.compile.take_in import keep_upload, open_library, registered_sources, update
from deia.errors import DeiaError, QueryError
from deia.fast_json import Json
from deia.ingest.source import FOLDER, S3, UPLOAD, Source, checked, typed
from deia.search.rendering.columns import plain
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.tool_arguments import SourceArguments
from deia.text import counted

PERSON = "A person can type: deia ingest SOURCE"


def index_source(desk: Desk, arguments: SourceArguments) -> Reply:
    """Register a source and start taking it in; a text that is handed over becomes a document of `upload`."""
    if desk.collections:
        raise QueryError("this server gives collections away and takes nothing in", fix=PERSON)
    source = _source(desk, arguments)
    if source.kind == UPLOAD:
        keep_upload(desk.root, arguments.source, arguments.content.encode(), os.environ)
    with open_library(desk.root, os.environ) as library:
        source = library.register(source).source
    _start(desk.root, source.name)
    text = f"Taking in {plain(source.name)}; list_sources says when it is done."
    return Reply(fields={"name": source.name, "collection": source.collection, "status": "pending"}, text=text)


def _source(desk: Desk, arguments: SourceArguments) -> Source:
    """Return the source that is meant; raise an error if it is not one that an agent may take in."""
    if arguments.content:
        return checked(Source(kind=UPLOAD, place="", name=UPLOAD))
    source = typed(arguments.source)
    if source.kind == S3 or (source.kind == FOLDER and not _is_below(source.place, desk)):
        raise QueryError("an agent takes in folders of the project and public addresses only", fix=PERSON)
    if source.kind != FOLDER and os.path.isabs(source.place):
        raise QueryError("a repository on this machine is not taken in for an agent", fix=PERSON)
    described = source.but(collection=arguments.collection, branch=arguments.branch)
    return checked(described.but(filter=(arguments.filter,) if arguments.filter else ()))


def _is_below(place: str, desk: Desk) -> bool:
    return any(f"{place}/".startswith(f"{files.real(folder).rstrip('/')}/") for folder in (desk.root, desk.folder))


def _start(root: str, name: str) -> None:
    command = (sys.executable, "-P", "-m", "deia.serve.server.library_tools", root, name)
    process = subprocess.Popen(  # noqa: S603 - this interpreter, and a module of deia
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ,
        start_new_session=True,
    )  # fmt: skip
    threading.Thread(target=process.wait, daemon=True).start()  # so that no dead process is left


def list_sources(desk: Desk) -> Reply:
    """Return every source with its status."""
    sources = [] if desk.collections else registered_sources(desk.root, os.environ)
    listed: list[dict[str, Json]] = [
        {
            "name": one.source.name, "type": one.source.kind, "place": one.source.place, "status": one.status,
            "collection": one.source.collection, "documents": one.documents, "chunks": one.chunks, "failed": one.failed,
            "error": one.error, "checked": one.checked,
        }
        for one in sources
    ]  # fmt: skip
    lines = [
        f"{plain(one.source.name)}: {one.status}, {counted(one.documents, 'document')} ({plain(one.source.place)})"
        for one in sources
    ]
    return Reply(fields={"sources": listed}, text="\n".join(lines) or "Nothing was taken in yet.")


def main() -> int:
    """Take in the source that the arguments name."""
    root, name = sys.argv[1:]
    try:
        update(root, [name], os.environ)
    except DeiaError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
