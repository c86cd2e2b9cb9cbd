"""Which lines of the library's pages link to which: what a search needs to count links as evidence.

A link is kept as it is written, made whole by the page that it is on, and each page tells the names under which others
link to it. Both meet when somebody searches, so a page that comes, changes or goes touches nothing but itself.
"""

from __future__ import annotations

import posixpath
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from deia import files
from deia.ingest.readers.html_page import SCHEME
from deia.search.ranking.links import DATABASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deia.ingest.library_store import Kept, Library, Shelved

    Place = tuple[str, int]  # a name or an address, with the line on which it stands

FORMAT = 1  # of the database, and of what is taken for a link
PATIENCE = 30.0  # seconds to wait for another process that writes
SCHEMA = (
    "create table documents (id integer primary key, name text unique, content text)",
    "create table names (document integer, name text, line integer)",
    "create index names_by_name on names (name)",
    "create index names_of on names (document)",
    "create table links (document integer, line integer, target text)",
    "create index links_of on links (document, line)",
    "create index links_to on links (target)",
)
MOST_LINE = 4_000  # characters of a line in which links are looked for
MOST_PLACES = 5_000  # links of a page, and names
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.{1,300})")
FENCE = re.compile(r" {0,3}(```|~~~)")
LINK = re.compile(r"\]\(<?([^()\s<>]{1,500})|\[\[([^\]|#\n]{1,200})(?:#([^\]|\n]{1,200}))?")
NO_SLUG = re.compile(r"[^\w\- ]")


def update_links(folder: str, library: Library) -> None:
    """Bring the links of a library's pages up to date, in a folder; a database that is damaged is made anew.

    Raise OSError if that is impossible.
    """
    path = f"{folder}/{DATABASE}"
    for last in (False, True):
        try:
            _update(path, library)
            break
        except sqlite3.DatabaseError as error:
            if last:
                raise OSError(f"the links between pages cannot be kept: {error}") from error
            for name in (path, f"{path}-wal", f"{path}-shm"):
                files.remove(name)


def _update(path: str, library: Library) -> None:
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as database:
        run = database.execute
        run("pragma journal_mode = wal")
        run("pragma synchronous = normal")
        run("begin immediate")
        if run("pragma user_version").fetchone() != (FORMAT,):
            for (name,) in run("select name from sqlite_master where type = 'table'").fetchall():
                run(f'drop table "{name}"')
            for statement in (*SCHEMA, f"pragma user_version = {FORMAT}"):
                run(statement)
        known = {name: (number, content) for number, name, content in run("select id, name, content from documents")}
        wanted = {shelved.id: shelved for shelved in library.documents()}
        for name, (number, content) in known.items():
            if name not in wanted or wanted[name].content != content:
                for table, column in (("documents", "id"), ("names", "document"), ("links", "document")):
                    run(f"delete from {table} where {column} = ?", (number,))  # noqa: S608 - names of this module
        for name, shelved in wanted.items():
            if known.get(name, (0, ""))[1] != shelved.content:
                _put(database, shelved, library.kept(shelved.content))
        run("commit")


def _put(database: sqlite3.Connection, shelved: Shelved, kept: Kept) -> None:
    sql = "insert into documents (name, content) values (?, ?)"
    number = database.execute(sql, (shelved.id, shelved.content)).lastrowid
    anchors, addresses = (kept.anchors, kept.links) if shelved.type == "html" else ((), ())
    if shelved.type == "markdown":
        anchors, addresses = markdown_places(kept.text)
    names = {(f"{shelved.id}#{anchor}", line) for anchor, line in anchors} | {(shelved.id, 1)}
    database.executemany("insert into names values (?, ?, ?)", [(number, *name) for name in sorted(names)])
    targets = sorted(set(_targets(shelved.id, anchors, addresses)), key=lambda one: (one[1], one[0]))
    database.executemany("insert into links values (?, ?, ?)", [(number, line, target) for target, line in targets])


def _targets(document: str, anchors: Iterable[Place], addresses: Iterable[Place]) -> Iterator[Place]:
    """Yield the whole address of each link, without the sign beside a heading that links to the heading."""
    lines = dict(anchors)
    for address, line in addresses:
        path, anchor = urldefrag(address)
        if not path and lines.get(anchor) == line:
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), unquote(path))) if path else document
        yield (f"{path}#{unquote(anchor)}" if anchor else path), line


def markdown_places(text: str) -> tuple[list[Place], list[Place]]:
    """Return the headings of a Markdown page by the names that hosts of repositories give them, and its links."""
    anchors: list[Place] = []
    links: list[Place] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        if fence or mark:
            continue
        if heading := HEADING.match(line):
            anchors.append((_slug(heading[1]), number))
        for address, page, section in LINK.findall(line[:MOST_LINE]):
            if page:  # a wiki's
                links.append((f"{page.strip()}.md" + (f"#{_slug(section)}" if section else ""), number))
            elif not SCHEME.match(address):
                links.append((address, number))
    return anchors[:MOST_PLACES], links[:MOST_PLACES]


def _slug(heading: str) -> str:
    return NO_SLUG.sub("", heading.strip().rstrip("#").strip().casefold()).replace(" ", "-")
