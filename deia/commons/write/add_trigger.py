"""Append a drafted trigger and its cases to `triggers/<topic>.yaml` and its case file.

The new lines come last; what was there before is neither overwritten nor reordered.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.slugs import slug
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.commons.triggers.read_triggers import FOLDER
from deia.fast_json import Json
from deia.knowledge import EFFECTS
from deia.problems import CommonsError

SCHEMAS = tuple(f"triggers/schema/{name}.json" for name in ("cases", "index", "triggers"))


def schema_line(root: str, path: str) -> str:
    """Return the first line of a new file in `triggers/`, or an empty text if the commons has no schemas."""
    name = "cases" if ".cases." in path else "triggers"
    exists = os.path.isfile(os.path.join(root, f"triggers/schema/{name}.json"))
    return f"# yaml-language-server: $schema=schema/{name}.json\n" if exists else ""


Collection = TypeVar("Collection", Map, Items)

DRAFT = (
    "# Drafted from a sentence. Correct it, and add what people really say or type before the mistake.\n"
    f"# action: {'; '.join(f'{name}: {effect}' for name, effect in EFFECTS.items())}.\n"
)


def trigger_text(trigger: Mapping[str, Json]) -> str:
    """Return a drafted trigger as an item of a trigger file."""
    return DRAFT + yaml_blocks.to_yaml([dict(trigger)])


def drafted_effect(text: str) -> str:
    """Return a sentence for the person about what a drafted trigger does when it fires, and how to change that."""
    action = next(name for name in EFFECTS if f"\n  action: {name}\n" in text)
    return f"The draft's action is {action}: {EFFECTS[action]}. --action, or that line of the file, changes it."


def cases_text(ident: str, *, fires: Sequence[Json], silent: Sequence[Json]) -> str:
    """Return the cases of a trigger as an item of a case file."""
    return yaml_blocks.to_yaml({ident: {"fires": list(fires), "silent": list(silent)}})


@with_write_lock
def write_draft(root: str, topic: str, *, ident: str, trigger: str, cases: str) -> tuple[str, str]:
    """Append a trigger and its cases to the files of a topic and return their paths."""
    name = slug(topic)
    paths = (f"{FOLDER}/{name}.yaml", f"{FOLDER}/{name}.cases.yaml")
    texts = [_appended(root, path, added) for path, added in zip(paths, (trigger, cases), strict=True)]
    _parse_checked(texts[0], paths[0], Items)
    if ident not in _parse_checked(texts[1], paths[1], Map):
        raise CommonsError(f"The cases cannot be appended to {paths[1]}.", fix="Use another --topic.")
    for path, text in zip(paths, texts, strict=True):
        safe_files.write_text(root, path, text)
    return paths


def _appended(root: str, path: str, added: str) -> str:
    """Return the text of a file with lines added at its end."""
    safe_files.checked_place(root, path)
    if not os.path.lexists(os.path.join(root, path)):
        return schema_line(root, path) + added
    content = safe_files.read_text(root, path, limit=safe_files.YAML_BYTES)
    if content.problems:
        raise CommonsError(
            f"{path} cannot be appended to.", content.problems, fix="Correct it first, or use another --topic:"
        )
    before = content.text.rstrip("\n")
    ends = "\r\n" if "\r\n" in before else "\n"
    known = read_yaml(content.text, path=path).value
    text = f"{before}\n\n{added}" if before else added
    after = read_yaml(text, path=path).value
    is_unchanged = (
        known is None
        or (isinstance(known, Items) and isinstance(after, Items) and after[: len(known)] == known)
        or (isinstance(known, Map) and isinstance(after, Map) and {**after, **known} == after)
    )
    if not is_unchanged:
        raise CommonsError(f"{path} has a form that cannot be appended to.", fix="Use another --topic.")
    return text.replace("\r\n", "\n").replace("\n", ends)


def _parse_checked(text: str, path: str, expected: type[Collection]) -> Collection:
    """Return the parsed content of a text."""
    parsed = read_yaml(text, path=path)
    if parsed.problems or not isinstance(parsed.value, expected):
        fix = "Correct it first, or use another --topic:"
        raise CommonsError(f"{path} cannot be appended to.", parsed.problems, fix=fix)
    return parsed.value
