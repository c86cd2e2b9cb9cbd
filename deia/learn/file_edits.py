"""Changes as edits of the files that people write: few lines change, and comments and order stay.

A document that the index does not describe is described in its own metadata. Malformed files, indexes of old versions,
and files that are not the project's own are not edited.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from functools import partial

from deia.commons.index.documents import DOCUMENT_BYTES
from deia.commons.index.load_commons import Commons
from deia.commons.index.read_index import find_index
from deia.commons.index.shapes import V1
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.front_matter import FENCE, metadata_end
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.commons.triggers.cases import ENDINGS
from deia.commons.triggers.read_triggers import FOLDER
from deia.commons.write.import_notes import SETTINGS, parsed_settings, says_exactly
from deia.commons.write.revise_lesson import describing_clusters, with_yaml
from deia.commons.write.trash import change_listings
from deia.fast_json import Json, dumps
from deia.learn.changes import ADD, ANY, CASES, CONCEPT, DOCUMENT, DROP, FORMS, INDEX, PERSON, SETTING, Change
from deia.learn.line_diff import line_diff, plain_text
from deia.match.tokeniser import fold
from deia.problems import CommonsError
from deia.records import ACTIONS

Texts = dict[str, str]  # path → the file's new text, with \n as the end of a line

CONCEPTS, PATTERNS = "concepts", "query_patterns"
# A new key of a trigger or of an index is put after the first of these keys that exists.
AFTER = {
    "unless": ("context", "when"), "action": ("timing", "urgency"), "status": ("title",),
    CONCEPTS: (PATTERNS, "clusters"), PATTERNS: ("clusters",),
}  # fmt: skip
STRENGTH = ("off", *ACTIONS)


def is_editable(commons: Commons, ident: str, *, of: str) -> bool:
    """Return whether a document or trigger of a commons is described in a file that an edit can change."""
    if of == DOCUMENT:
        return any(entry.id == ident for entry in commons.entries) and commons.index.shape in ("", V1)
    return any(trigger.id == ident and trigger.path.startswith(f"{FOLDER}/") for trigger in commons.triggers)


def edit_texts(commons: Commons, changes: Iterable[Change]) -> Texts:
    """Return the new texts of the files that some changes touch; `commons` is the project's own, as it is now."""
    texts: Texts = {}
    for change in changes:
        path, edit = _edit(commons, change)
        before = texts[path] if path in texts else _text(commons.root, path)
        texts[path] = after = edit(before)
        _refuse_broken(path, after)
    return texts


def diff_of(commons: Commons, changes: Iterable[Change]) -> list[str]:
    """Return the lines that some changes would change, as a unified diff."""
    lines: list[str] = []
    for path, text in edit_texts(commons, changes).items():
        lines += line_diff(path, plain_text(safe_files.read_bytes(commons.root, path)), text, around=1)
    return lines


def files_touched(commons: Commons, changes: Iterable[Change]) -> tuple[str, ...]:
    """Return the paths of the files that some changes would touch."""
    return tuple(dict.fromkeys(_edit(commons, change)[0] for change in changes))


def _edit(commons: Commons, change: Change) -> tuple[str, Callable[[str], str]]:
    """Return the path of the file that a change touches, and a function that changes the file's text."""
    if change.of == INDEX:
        return _index_path(commons), lambda text: _with_index(text, change)
    if change.of == SETTING:
        return SETTINGS, lambda text: with_form(text, change.target, str(change.value))
    if change.of == PERSON:
        raise CommonsError(f"{change.summary()} is no change of the commons.", fix=f"Type: deia mute {change.target}")
    if change.of == DOCUMENT:
        entry = next((entry for entry in commons.entries if entry.id == change.target), None)
        if entry is None:
            raise CommonsError(f"There is no document {change.target!r} any more.", fix="Type: deia learn propose")
        clusters = describing_clusters(commons.index.source, change.target)
        if clusters:
            in_force = entry.values().get(change.field, ())
            edit_item = partial(_with_changed_item, change=change, in_force=in_force)
            return _index_path(commons), lambda text: change_listings(text, clusters, edit_item)
        return entry.path, lambda text: _with_metadata(text, change)
    trigger = next((trigger for trigger in commons.triggers if trigger.id == change.target), None)
    if trigger is None or not trigger.path.startswith(f"{FOLDER}/"):
        fix = "Type: deia learn propose"
        raise CommonsError(f"There is no trigger {change.target!r} of the project's own.", fix=fix)
    if change.kind == CASES:
        known = (case.path for case in commons.cases if case.trigger == trigger.id and case.path)
        beside = trigger.path.rpartition(".")[0] + ENDINGS[0]  # which may have to be created
        return next(known, beside), lambda text: _with_cases(text, change)
    return trigger.path, lambda text: _with_trigger(text, change)


def _index_path(commons: Commons) -> str:
    """Return the path of the index, which must be of the version that can be edited."""
    path = find_index(commons.root)
    if not path or commons.index.shape != V1:
        fix = "Type: deia index migrate" if path else "Type: deia index build"
        raise CommonsError("There is no index of version 1.0 to write into.", fix=fix)
    return path


def _text(root: str, path: str) -> str:
    """Return the text of a file, empty if there is none."""
    safe_files.checked_place(root, path)
    if not os.path.lexists(os.path.join(root, path)):
        return ""
    read = safe_files.read_text(root, path, limit=max(safe_files.YAML_BYTES, DOCUMENT_BYTES))
    if not read.readable:
        raise CommonsError(f"{path} cannot be read.", read.problems)
    text = read.text.replace("\r\n", "\n")
    _refuse_broken(path, text)
    return text


def _refuse_broken(path: str, text: str) -> None:
    if path.endswith((".yaml", ".yml")):
        problems = [problem for problem in read_yaml(text, path=path).problems if problem.severity == "error"]
        if problems:
            raise CommonsError(
                f"{path} has errors, so it is not touched.", problems, fix="Correct these by hand first:"
            )


# --- the index ---


def _with_index(text: str, change: Change) -> str:
    name = CONCEPTS if change.kind == CONCEPT else PATTERNS
    top = read_yaml(text, path="").value
    if not isinstance(top, Map) or not top.get(name):
        new: Json = {change.target: list(change.words)} if change.kind == CONCEPT else [change.value]
        if isinstance(top, Map) and name in top:
            return yaml_blocks.change_value(text, (name,), lambda _: yaml_blocks.style(new))
        return yaml_blocks.insert_block(text, yaml_blocks.to_yaml({name: new}, like=text), after=_after(top, name))
    if change.kind == CONCEPT:
        return yaml_blocks.change_value(text, (name,), lambda concepts: _with_concept(concepts, change))
    return yaml_blocks.change_value(text, (name,), lambda patterns: yaml_blocks.with_items(patterns, [change.value]))


def _with_concept(concepts: MutableMapping[object, object], change: Change) -> MutableMapping[object, object]:
    """Return the concepts with the change's words added to the one it names, or to a new one."""
    name = next((name for name in concepts if fold(str(name)) == fold(change.target)), None)
    if name is None:
        concepts[yaml_blocks.style(change.target)] = yaml_blocks.style(list(change.words))
        return concepts
    words = concepts[name]
    if isinstance(words, list):
        yaml_blocks.with_items(words, [word for word in change.words if word not in words])
    else:
        concepts[name] = yaml_blocks.style(list(dict.fromkeys((str(words), *change.words))))
    return concepts


def _without_words(value: object, words: Sequence[str]) -> object:
    """Return a list without some words, changed in place; a single value that is one of them becomes an empty list."""
    if not isinstance(value, list):
        return yaml_blocks.style([]) if str(value) in words else value
    for at in reversed(range(len(value))):
        if str(value[at]) in words:
            del value[at]
    return value


def _without_clauses(value: object, change: Change) -> object:
    """Return the clauses of a trigger without those that a change drops; the list is changed in place.

    Raise CommonsError if none of these is written there as the change has it, or if no clause would be left.
    """
    positions = [at for at, item in enumerate(value) if item in change.items] if isinstance(value, list) else []
    if not isinstance(value, list) or not positions or len(positions) == len(value):
        fix = "Take the clause out by hand."
        raise CommonsError(f"The clause of {change.target} is not one of several in its file.", fix=fix)
    for at in reversed(positions):
        del value[at]
    return value


def _after(top: object, name: str) -> str:
    """Return the key after which a new key belongs, "" for the end."""
    return next((key for key in AFTER.get(name, ()) if isinstance(top, Map) and key in top), "")


def _with_changed_item(items: list[object], change: Change, in_force: Sequence[str]) -> list[object]:
    """Return a cluster's documents with the change made to the one that it names.

    `in_force` are the words that count today, which may come from the document's own metadata.
    """
    for item in items:
        if isinstance(item, dict) and str(item.get("id", "")) == change.target:
            if change.kind in (ADD, DROP) and not item.get(change.field) and in_force:
                item[change.field] = yaml_blocks.style(list(in_force))
            item[change.field] = _changed_value(item.get(change.field), change)
    return items


def _changed_value(value: object, change: Change) -> object:
    """Return the value of a field after a change, as the YAML writer needs it."""
    if change.kind == ADD:
        known = value if isinstance(value, list) else [value]
        return yaml_blocks.with_items(value, [item for item in _added(change) if item not in known])
    if change.field == ANY:
        return _without_clauses(value, change)
    if change.kind == DROP:
        return _without_words(value, change.words)
    return yaml_blocks.style(change.value)


def _new_value(change: Change) -> Json:
    return list(_added(change)) if change.kind == ADD else change.value


def _added(change: Change) -> Sequence[Json]:
    """Return what a change adds to a list: clauses, or words."""
    return change.items if change.field == ANY else change.words


# --- a document's own metadata ---


def _with_metadata(text: str, change: Change) -> str:
    """Return a document with a field of its metadata changed; the metadata is created if there is none."""
    text = with_yaml(text)
    lines = text.split("\n")
    end = metadata_end(lines)
    if not end and change.kind == DROP:
        return text
    if not end:
        return f"{FENCE}\n{yaml_blocks.to_yaml({change.field: _new_value(change)})}{FENCE}\n\n{text}"
    head = "\n".join(lines[1:end]) + "\n"
    _refuse_broken("metadata.yaml", head)
    return "\n".join([lines[0], *_with_field(head, (change.field,), change).rstrip("\n").split("\n"), *lines[end:]])


def _with_field(text: str, path: tuple[str, ...], change: Change) -> str:
    """Return a mapping's text with a field changed, or put after the field that it belongs after."""
    top = read_yaml(text, path="").value
    holder = top.get(path[0]) if len(path) > 1 and isinstance(top, Map) else top
    if isinstance(holder, Map) and path[-1] in holder:
        return yaml_blocks.change_value(text, path, lambda value: _changed_value(value, change))
    if change.kind == DROP:
        return text
    block = yaml_blocks.to_yaml({path[-1]: _new_value(change)}, like=text)
    return yaml_blocks.insert_block(text, block, after=_after(top, path[-1]))


# --- triggers and their cases ---


def _with_trigger(text: str, change: Change) -> str:
    """Return a file of triggers with one changed: its lines are read as a mapping, changed, and put back."""
    top = read_yaml(text, path="").value
    items = top if isinstance(top, Items) else Items()
    at = next((n for n, item in enumerate(items) if isinstance(item, Map) and item.get("id") == change.target), -1)
    if at < 0:
        raise CommonsError(f"There is no trigger {change.target!r} any more.", fix="Type: deia learn propose")
    lines = text.split("\n")
    start = items.at(at) - 1
    end = _item_end(lines, start, items.at(at + 1) - 1 if at + 1 < len(items) else len(lines))
    first = lines[start].lstrip(" ")
    if not first.startswith("- "):
        raise CommonsError(f"{change.target} does not begin a line of its own.", fix="Write it as `- id: …`.")
    dash = len(lines[start]) - len(first)
    margin = dash + 2
    mapping = "\n".join(line[margin:] for line in lines[start:end]) + "\n"
    trigger = items[at]
    when = trigger.get("when") if isinstance(trigger, Map) else None
    path = ("when", change.field) if isinstance(when, Map) and change.field in when else (change.field,)
    new = _with_field(mapping, path, change).rstrip("\n").split("\n")
    block = [" " * margin + line if line.strip() else "" for line in new]
    block[0] = " " * dash + "- " + block[0][margin:]
    return "\n".join([*lines[:start], *block, *lines[end:]])


def _item_end(lines: Sequence[str], start: int, end: int) -> int:
    """Return the end of the list item that begins at line `start`.

    Blank lines before `end`, and comments no deeper than the dash, belong to what follows.
    """
    dash = len(lines[start]) - len(lines[start].lstrip(" "))
    while end - 1 > start and (lines[end - 1][: dash + 1].strip() or not lines[end - 1].strip()):
        end -= 1
    return end


def _with_cases(text: str, change: Change) -> str:
    top = read_yaml(text, path="").value
    values = list(change.items)
    if not isinstance(top, Map) or change.target not in top:
        block = yaml_blocks.to_yaml({change.target: {change.field: values}}, like=text)
        return yaml_blocks.insert_block(text, block, after="") if text.strip() else block

    def with_cases(cases: dict[str, object] | None) -> dict[str, object]:
        """Return the trigger's cases with the new ones."""
        cases = cases or yaml_blocks.style({})
        cases[change.field] = yaml_blocks.with_items(cases.get(change.field), values)
        return cases

    return yaml_blocks.change_value(text, (change.target,), with_cases)


def with_form(text: str, trigger: str, action: str) -> str:
    """Return the settings with the most that a trigger may do.

    Raise CommonsError if the file is broken, or `forms` is written in a way that this edit cannot change.
    """
    before = parsed_settings(text)
    forms = before.get(FORMS, {})
    line = f"{trigger} = {dumps(action)}"
    after = _with_line(text, trigger, line)
    if not isinstance(forms, dict) or not says_exactly(after, {**before, FORMS: {**forms, trigger: action}}):
        fix = f"Write it there yourself: in the table {FORMS}, {line}"
        raise CommonsError(f"{SETTINGS} has {FORMS} in a form that deia learn does not change.", fix=fix)
    return after


def _with_line(text: str, trigger: str, line: str) -> str:
    """Return the settings with a line in the table of forms, in place of the one about the same trigger."""
    lines = text.split("\n")
    header = next((at for at, text in enumerate(lines) if _bare(text) == f"[{FORMS}]"), -1)
    if header < 0:
        return "\n".join([*([text.rstrip("\n"), ""] if text.strip() else []), f"[{FORMS}]", line, ""])
    end = next((at for at in range(header + 1, len(lines)) if lines[at].lstrip().startswith("[")), len(lines))
    known = next((at for at in range(header + 1, end) if _bare(lines[at].partition("=")[0]) == trigger), -1)
    if known >= 0:
        _, mark, comment = lines[known].partition("#")
        lines[known] = f"{line}  #{comment}" if mark else line
    else:
        last = max(at for at in range(header, end) if lines[at].strip())
        lines.insert(last + 1, line)
    return "\n".join(lines)


def _bare(text: str) -> str:
    return text.partition("#")[0].strip().strip("\"'").replace(" ", "")


def is_undone_form(now: bytes | None, then: bytes | None) -> bool:
    """Return whether undoing a change of the settings would only make triggers stronger again."""
    try:
        before, after = (
            parsed_settings((data or b"").decode("utf-8", "replace").replace("\r\n", "\n")) for data in (now, then)
        )
    except CommonsError:
        return False
    old, new = (values.pop(FORMS, {}) for values in (before, after))
    if before != after or not isinstance(old, dict) or not isinstance(new, dict):
        return False
    return all(_strength(new.get(name)) >= _strength(old.get(name)) for name in {*old, *new})


def _strength(action: Json) -> int:
    """Return how strong a form is: no form is the strongest, as it bounds nothing, and an unknown one the mildest."""
    if action is None:
        return len(STRENGTH)
    return STRENGTH.index(action) if isinstance(action, str) and action in STRENGTH else -1
