"""Write new lessons: document, index entry, and drafts of a trigger and its cases. Nothing is ever overwritten.

A trigger that is drafted without a lesson is appended to `triggers/<topic>.yaml`, its cases to the case file beside it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from deia.commons.index.read_index import find_index, load_index
from deia.commons.layers.lower_ids import lower_ids
from deia.commons.notes.note_text import first_paragraph
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.outline import OUTLINE
from deia.commons.source_files.slugs import slug
from deia.commons.source_files.write_lock import with_write_lock
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.commons.triggers.read_triggers import FOLDER
from deia.commons.write import index_store
from deia.fast_json import Json
from deia.folders import INDEX_NAMES
from deia.knowledge import EFFECTS, Entry
from deia.problems import CommonsError
from deia.records import URGENCIES, Record
from deia.text import one_line

CASES = """\
# List in `fires` what must fire the trigger, and in `silent` what must not, especially near misses. `deia trigger
# test` runs them. A trigger with both can become `status: stable`.
"""
MOST_PARTS = 4  # of a category
EXAMPLE = "Restarting the queue drops its jobs"


class Lesson(Record):
    """A lesson that was added or changed."""

    entry: Entry
    paths: tuple[str, ...]  # of the files written, from the root
    avoided: str = ""  # what already had the id that the title asks for, in words
    kept_summary: str = ""  # which a person wrote, so that it did not follow the new text


@with_write_lock
def add_lesson(  # noqa: PLR0913 - every option is a field of the lesson
    root: str,
    *,
    title: str,
    today: str,
    text: str = "",
    platform: str = "",
    urgency: str = "medium",
    tags: tuple[str, ...] = (),
    keywords: tuple[str, ...] = (),
    summary: str = "",
    category: str = "patterns",
    path: str = "",
    draft: Callable[[Entry], tuple[str, str] | None] | None = None,
) -> Lesson:
    """Write a lesson: its document, its index entry, and a trigger with cases if `draft` returns their texts.

    It is written to `path`, or else to a file named after it in the folder of its category. Its id is one that no
    trigger and no lower layer uses, so that it replaces nothing. Raise CommonsError if the title is empty, the urgency
    unknown, the category no folder, a file or id exists already, or the index is unsound.
    """
    title, category = one_line(title), folder_of(category)
    _check_arguments(title, text, urgency)
    taken = lower_ids(root)
    ident = taken.free_id(slug(title))
    entry = Entry(
        id=ident,
        path=path or f"bok/{category}/{ident}.md",
        title=title,
        summary=one_line(summary) or one_line(first_paragraph(text)) or title,
        keywords=_clean_texts(keywords),
        urgency=urgency,
        tags=_clean_texts(tags),
        platforms=_clean_texts((platform,)),
        category=category,
        created=today,
        updated=today,
        verified=today,
    )
    entry = entry.but(keywords=keywords or index_store.keywords_of(entry))
    files = {entry.path: _document_text(entry, text)} | _trigger_files(root, entry, draft(entry) if draft else None)
    _check_is_new(root, tuple(files), entry.id)
    safe_files.checked_place(root, find_index(root) or INDEX_NAMES[0])
    _write(root, files, entry, today=today)
    return Lesson(entry=entry, paths=(*files, find_index(root)), avoided=taken.owner(slug(title)))


def _write(root: str, files: dict[str, str], entry: Entry, *, today: str) -> None:
    """Write the new files and the entry, or nothing."""
    try:
        for path, content in files.items():
            create_file(root, path, content)
        index_store.add_entry(root, entry, entry.category.split("/")[0], today=today)
    except CommonsError:
        for path in files:  # all of them are new
            with contextlib.suppress(CommonsError):
                safe_files.remove(root, path)
        raise


def _check_arguments(title: str, text: str, urgency: str) -> None:
    if not any(letter.isalnum() for letter in title):
        raise CommonsError(
            "A lesson needs a title with at least one letter, because its id and its file are named after it.",
            fix=f'Write in a few words what goes wrong: "{EXAMPLE}"',
        )
    if "\0" in text:
        raise CommonsError("The text of a lesson has a null character.", fix="Leave it out.")
    if urgency not in URGENCIES:
        raise CommonsError(f"The urgency {urgency!r} is unknown.", fix=f"Use one of {', '.join(URGENCIES)}.")


def _clean_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(one_line, texts))))


def create_file(root: str, path: str, text: str) -> None:
    """Write a new file of the commons, making its folders."""
    safe_files.create(root, path, text.encode("utf-8", "replace"))


def folder_of(category: str) -> str:
    """Return a category, which may have parts (`platforms/netlify`), as a folder below `bok/`.

    Raise CommonsError if it would be another folder than the one that it names.
    """
    parts = category.strip().replace("\\", "/").rstrip("/").split("/") if category.strip() else []
    problem = next((problem for part in parts if (problem := part_problem(part))), "")
    if len(parts) > MOST_PARTS:
        problem = f"has {len(parts)} parts; at most {MOST_PARTS} are accepted"
    if problem:
        fix = "Name a folder below bok/, such as patterns or platforms/netlify."
        raise CommonsError(f"The category {category[:100]!r} {problem}.", fix=fix)
    return "/".join(map(slug, parts)) or "patterns"


def part_problem(part: str) -> str:
    """Return why a part of a path below `bok/` cannot be a folder or a file of that name, or ""."""
    if part in ("", ".."):
        return "leads out of bok/"
    if part.startswith("."):
        return f"has a hidden part: {part[:40]}"
    if not part.isprintable():
        return "has control characters"
    return "" if any(map(str.isalnum, part)) else f"has a part without a letter: {part[:40]}"


def _document_text(entry: Entry, text: str) -> str:
    names = ("title", "urgency", "tags", "category", "created", "updated", "verified")
    values: dict[str, object] = {name: getattr(entry, name) for name in names if getattr(entry, name)}
    if entry.platforms:
        values["platform"] = entry.platforms[0]
    introduction = f"{entry.summary}\n\n" if entry.summary != entry.title else ""
    body = text.strip() or (introduction + OUTLINE).strip()
    head = "" if body.startswith("# ") else f"# {entry.title}\n\n"
    return f"---\n{yaml_blocks.to_yaml(values)}---\n\n{head}{body}\n"


def _trigger_files(root: str, entry: Entry, draft: tuple[str, str] | None) -> dict[str, str]:
    if draft is None:
        return {}
    trigger, cases = draft
    texts = {f"triggers/{entry.id}.yaml": trigger, f"triggers/{entry.id}.cases.yaml": CASES + cases}
    return {path: schema_line(root, path) + text for path, text in texts.items()}


def _check_is_new(root: str, paths: tuple[str, ...], ident: str) -> None:
    for path in paths:
        safe_files.checked_place(root, path)
        if os.path.lexists(os.path.join(root, path)):
            raise CommonsError(f"The file {path} exists already.", fix="Choose another title.")
    if any(entry.id == ident for entry in load_index(root).entries):
        raise CommonsError(f"The index already has an entry {ident}.", fix="Choose another title, or edit that lesson.")


# --- triggers without a lesson ---


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
