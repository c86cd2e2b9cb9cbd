"""Make a new commons: the files of the folder `new_commons`, and ignore lines.

Nothing is ever overwritten, except the schemas for editors by those of this version.
"""

from __future__ import annotations

import os

from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files
from deia.commons.source_files.write_lock import hold_write_lock
from deia.commons.write import index_store
from deia.commons.write.add_lesson import SCHEMAS
from deia.folders import INDEX_NAMES
from deia.problems import CommonsError
from deia.records import Record

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "new_commons")
EXAMPLES = ("bok/patterns/read-before-you-overwrite.md", "triggers/examples.yaml", "triggers/examples.cases.yaml")
OTHERS = ("telemetry/README.md", "deia.toml", *SCHEMAS)
DAY = b"{today}"  # in the templates, stands for the day on which they are copied
GITIGNORE = ".gitignore"
IGNORED = (".deia-writing", ".trash/", "telemetry/events/")


class CreatedCommons(Record):
    """The files that a new commons was given, and those that existed already."""

    written: tuple[str, ...]
    existed: tuple[str, ...]


def create_commons(folder: str, *, today: str) -> CreatedCommons:
    """Make a commons in `folder`, adding only what is missing."""
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, ValueError) as error:
        raise CommonsError(f"The folder {folder!r} cannot be created: {error}.", fix="Name another folder.") from error
    with hold_write_lock(folder):
        return _create_missing(folder, today=today)


def _create_missing(folder: str, *, today: str) -> CreatedCommons:
    index = find_index(folder)
    with_examples = not index and not os.path.isdir(os.path.join(folder, "bok"))  # lessons need no example
    paths = (INDEX_NAMES[0], *EXAMPLES, *OTHERS) if with_examples else OTHERS
    templates = {path: safe_files.read_bytes(TEMPLATE, path) or b"" for path in paths}
    existed = [path for path in paths if os.path.lexists(os.path.join(folder, path))]
    written = [path for path in paths if path not in existed]
    for path in written:
        safe_files.create(folder, path, templates[path].replace(DAY, today.encode()))
    outdated = [path for path in SCHEMAS if path in existed and safe_files.read_bytes(folder, path) != templates[path]]
    for path in outdated:
        safe_files.write_bytes(folder, path, templates[path])
    if _add_ignore_lines(folder):
        written.append(GITIGNORE)
    if index:
        existed.insert(0, index)
    else:
        index_store.build(folder, write=True, today=today)
        written = [*dict.fromkeys((INDEX_NAMES[0], *written))]
    return CreatedCommons(
        written=(*written, *outdated), existed=tuple(path for path in existed if path not in outdated)
    )


def _add_ignore_lines(folder: str) -> bool:
    """Add the folders that no repository should contain to `.gitignore`; return whether any was missing."""
    data = safe_files.read_bytes(folder, GITIGNORE) or b""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    missing = [name for name in IGNORED if name not in {line.strip().lstrip("/") for line in lines}]
    if not missing:
        return False
    if os.path.islink(os.path.join(folder, GITIGNORE)):
        raise CommonsError(
            "The .gitignore is a link, and links are not followed.", fix=f"Add {', '.join(missing)} to it."
        )
    separator = b"" if not data or data.endswith(b"\n") else b"\n"
    safe_files.write_bytes(folder, GITIGNORE, data + separator + "".join(f"{name}\n" for name in missing).encode())
    return True
