"""Lists of what passes a filter: the most urgent first, and where both are as urgent one's own before the starter's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.compile.catalog import build_catalog
from deia.folders import STARTER_PREFIX
from deia.knowledge import Document, Entry, Query
from deia.search.ask import search
from deia.search.catalog import open_catalog

if TYPE_CHECKING:
    from pathlib import Path


def test_ones_own_stands_before_the_starters_where_both_are_as_urgent(tmp_path: Path) -> None:
    paths = {"a-starter": f"{STARTER_PREFIX}bok/a.md", "b-own": "bok/b.md", "c-starter": f"{STARTER_PREFIX}bok/c.md"}
    urgency = {"a-starter": "high", "b-own": "high", "c-starter": "critical"}
    entries = [
        Entry(id=name, path=path, title=name, urgency=urgency[name], platforms=("shopctl",))
        for name, path in paths.items()
    ]
    documents = [Document(path=path, title=name, text="Words.\n") for name, path in paths.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), built_at="2026-11-20T10:00:00Z", sources=())
    catalog = open_catalog(str(tmp_path))
    for query in (Query(text="", urgency="high"), Query(text="", platform="shopctl")):
        listed = [result.id for result in search(catalog, query, checked_at="2026-11-20T10:00:00Z").primary]
        assert listed == [name for name in ("c-starter", "b-own", "a-starter") if query.platform or name[0] != "c"]
