"""Open a keyword index in a folder where nothing can be written, as in a container with a read-only file system.

tantivy takes a lock when it opens an index, for which it writes a file. Links to the index's files, in a temporary
folder, make one that can be locked; the files stay open when the links are gone.
"""

from __future__ import annotations

import os
import tempfile

import tantivy

from deia import files

LOCK = ".tantivy-"  # how the names of tantivy's lock files begin
OPENING = f"{LOCK}meta.lock"  # the one that opening takes


def is_read_only(folder: str) -> bool:
    """Return whether tantivy cannot lock the index in a folder."""
    lock = f"{folder}/{OPENING}"
    return not files.writable(lock if files.exists(lock) else folder)


def searcher_of(folder: str) -> tuple[tantivy.Schema, tantivy.Searcher]:
    """Return the schema and a searcher of an index; raise ValueError or OSError if it cannot be opened."""
    with tempfile.TemporaryDirectory() as linked:
        for name in files.names(folder):
            if not name.startswith(LOCK):
                os.symlink(os.path.abspath(f"{folder}/{name}"), f"{linked}/{name}")
        index = tantivy.Index.open(linked)
        index.config_reader("manual")
        return index.schema, index.searcher()
