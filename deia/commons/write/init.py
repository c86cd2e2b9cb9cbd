"""Make a new commons: an index, one example of everything, settings, ignore lines. Nothing is ever overwritten."""

from __future__ import annotations

import os

from deia.commons.index.read_index import find_index
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.write_lock import hold_write_lock
from deia.commons.write import add_lesson, index_store
from deia.errors import CommonsError
from deia.folders import INDEX_NAMES
from deia.knowledge import Entry
from deia.records import Record

LESSON = "bok/patterns/read-before-you-overwrite.md"
TRIGGERS = "triggers/examples.yaml"
CASES = "triggers/examples.cases.yaml"
GITIGNORE = ".gitignore"
IGNORED = (".deia-writing", ".trash/", "telemetry/events/")
DOCUMENT = """\
---
title: Read before you overwrite
urgency: medium
tags: [git, files]
category: patterns
created: {today}
updated: {today}
verified: {today}
---

# Read before you overwrite

A file that looks generated may hold somebody's only copy of an hour's work.

## What happens

A checkout or a generator replaces a file that had changes nobody had committed. Git cannot bring them back.

## Do instead

```sh
git status --short
git stash push --include-untracked -m "before the checkout"
```

## Recover

Editors keep local history; look there before anything else is saved over it.
"""
TRIGGER = """\
# Each list item is a trigger. This one is an example: change it, or remove it together with its cases.
- id: read-before-you-overwrite
  title: Discarding changes that were never committed
  status: stable
  urgency: medium
  action: note
  message: git checkout and git restore of the whole tree discard uncommitted changes for good.
  action_required: Look at git status, and stash what is not committed.
  documents:
    - {{id: read-before-you-overwrite, mode: summary_only, reason: How to keep the changes first}}
  when:
    any:
      - command: "git checkout -- ."
      - command: "git restore ."
  since: {today}
"""
EXAMPLES = """\
read-before-you-overwrite:
  fires:
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "git checkout -- ."}}]
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "git restore ."}}]
  silent:
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "git checkout main"}}]
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "echo git restore ."}}]
"""
SETTINGS = """\
# Settings of deia for this commons. These are the defaults; `deia config` shows all settings and where each comes from.
# telemetry = "full"            # full, metadata or off
# injection_chars = 6000        # the most characters of one injection
# conversation_chars = 24000    # the most characters of all injections in one conversation
# hold = true                   # whether a `hold` trigger may stop a tool call once
# starter = true                # whether the starter commons is used below this one
"""
TELEMETRY = """\
# Telemetry

`events/` contains one JSON object per line: questions, injections, feedback. It stays on this machine (it is in
`.gitignore`), secrets are redacted before a line is written, and `telemetry = "off"` in `deia.toml` stops it.
"""


class CreatedCommons(Record):
    """The files that a new commons was given, and those that existed already."""

    written: tuple[str, ...]
    existed: tuple[str, ...]


def create_commons(folder: str, *, today: str) -> CreatedCommons:
    """Make a commons in `folder`, adding only what is missing.

    Raises:
        CommonsError: the folder cannot be written, or a path in it leads out of it through a link.
    """
    _make_folder(folder)
    with hold_write_lock(folder):
        return _create_missing(folder, today=today)


def _create_missing(folder: str, *, today: str) -> CreatedCommons:
    fresh = not find_index(folder)
    files = {
        LESSON: DOCUMENT.format(today=today),
        TRIGGERS: TRIGGER.format(today=today),
        CASES: EXAMPLES,
        "telemetry/README.md": TELEMETRY,
        "deia.toml": SETTINGS,
    }
    if not fresh or os.path.isdir(os.path.join(folder, "bok")):  # a commons with lessons needs no example
        files = {path: text for path, text in files.items() if path not in (LESSON, TRIGGERS, CASES)}
    if fresh:
        files = {INDEX_NAMES[0]: _index_text(today, with_lesson=LESSON in files), **files}
    existed = tuple(path for path in files if os.path.lexists(os.path.join(folder, path)))
    written = [path for path in files if path not in existed]
    for path in written:
        add_lesson.create_file(folder, path, files[path])
    if _add_ignore_lines(folder):
        written.append(GITIGNORE)
    if fresh:
        index_store.build(folder, write=True, today=today)
    return CreatedCommons(written=tuple(written), existed=existed if fresh else (find_index(folder), *existed))


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except (OSError, ValueError) as error:
        raise CommonsError(f"The folder {folder!r} cannot be created: {error}.", fix="Name another folder.") from error


def _index_text(today: str, *, with_lesson: bool) -> str:
    entry = Entry(
        id="read-before-you-overwrite",
        path=LESSON,
        title="Read before you overwrite",
        summary="A checkout or a generator replaces files with changes nobody had committed; stash them first.",
        keywords=("git", "checkout", "restore", "overwrite", "uncommitted"),
        audience=("developers",),
        urgency="medium",
        tags=("git", "files"),
        category="patterns",
        created=today,
        updated=today,
        verified=today,
        action="Look at git status, and stash what is not committed.",
    )
    documents = [index_store.as_fields(entry)] if with_lesson else []
    pattern = {
        "query_keywords": ["git", "checkout", "overwrite"],
        "natural_language": ["How do I keep my changes before a checkout?", "git checkout overwrote my file"],
        "primary_cluster": "patterns",
        "urgency": "medium",
        "common_docs": [entry.id],
    }
    top = {
        "version": "1.0",
        "last_updated": today,
        "metadata": {"maintainer": "", "index_format_version": "1.0", "status": "active"},
        "clusters": {
            "patterns": {
                "description": "Ways of working that prevent mistakes",
                "keywords": ["habits"],
                "documents": documents,
            }
        },
        "query_patterns": [pattern] if with_lesson else [],
        "proactive_triggers": [],
    }
    return (
        "# The master index, with one entry per document. `deia index build` updates its views and counts.\n"
        + yaml_blocks.to_yaml(top)
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
