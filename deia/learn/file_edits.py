"""Changes as edits of the files that people write: the fewest lines, comments and order kept, read back at once.

A document that the index does not describe is described in its own metadata. Refuses files that cannot be read without
errors of form, indexes of old shapes, and whatever is not the project's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deia.commons.index.documents import DOCUMENT_BYTES
from deia.commons.index.load_commons import Commons
from deia.commons.index.read_index import find_index
from deia.commons.index.shapes import V1
from deia.commons.source_files import safe_files, yaml_blocks
from deia.commons.source_files.front_matter import FENCE, FENCES_END, FRONT_LINES
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.commons.triggers.cases import ENDINGS
from deia.commons.triggers.read_triggers import FOLDER
from deia.errors import CommonsError
from deia.learn.changes import ADD, CASES, CONCEPT, DOCUMENT, DROP, INDEX, Change
from deia.match.tokeniser import fold
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    Texts = dict[str, str]  # path → what the file is to hold; lines end in \n

LIST = "documents"
CONCEPTS, PATTERNS = "concepts", "query_patterns"
# Behind which keys of a trigger or of an index a new one is put, the first that is there.
AFTER = {
    "unless": ("context", "when"), "action": ("timing", "urgency"), "status": ("title",),
    CONCEPTS: (PATTERNS, "clusters"), PATTERNS: ("clusters",),
}  # fmt: skip


def is_editable(commons: Commons, ident: str, *, of: str) -> bool:
    """Say whether a document or trigger of a commons is described where an edit can reach it."""
    if of == DOCUMENT:
        return any(entry.id == ident for entry in commons.entries) and commons.index.shape in ("", V1)
    return any(one.id == ident and one.path.startswith(f"{FOLDER}/") for one in commons.triggers)


def edited(commons: Commons, changes: Iterable[Change]) -> Texts:
    """Give the new texts of the files that some changes touch; `commons` is the project's own, as it is now.

    Raises:
        CommonsError: a file cannot be read or edited, or what a change names is gone.
    """
    texts: Texts = {}
    for change in changes:
        path, edit = _edit(commons, change)
        before = texts[path] if path in texts else _text(commons.root, path)
        texts[path] = after = edit(before)
        _refuse_broken(path, after)
    return texts


def touched(commons: Commons, changes: Iterable[Change]) -> tuple[str, ...]:
    """Give the files that some changes would touch.

    Raises:
        CommonsError: what a change names is gone, or there is no index to write into.
    """
    return tuple(dict.fromkeys(_edit(commons, change)[0] for change in changes))


def _edit(commons: Commons, change: Change) -> tuple[str, Callable[[str], str]]:
    """Give the file that a change touches, and what it does to its text."""
    if change.of == INDEX:
        return _index_path(commons), lambda text: _with_index(text, change)
    if change.of == DOCUMENT:
        entry = next((one for one in commons.entries if one.id == change.target), None)
        if entry is None:
            raise CommonsError(f"There is no document {change.target!r} any more.", fix="Type: deia learn propose")
        listed = _clusters(commons.index.source, change.target)
        if listed:
            given = entry.values().get(change.field, ())
            return _index_path(commons), lambda text: _with_entry(text, listed, change, given)
        return entry.path, lambda text: _with_metadata(text, change)
    trigger = next((one for one in commons.triggers if one.id == change.target), None)
    if trigger is None or not trigger.path.startswith(f"{FOLDER}/"):
        fix = "Type: deia learn propose"
        raise CommonsError(f"There is no trigger {change.target!r} of the project's own.", fix=fix)
    if change.kind == CASES:
        return _cases_path(commons, change.target, trigger.path), lambda text: _with_cases(text, change)
    return trigger.path, lambda text: _with_trigger(text, change)


def _index_path(commons: Commons) -> str:
    path = find_index(commons.root)
    if not path or commons.index.shape != V1:
        fix = "Type: deia index migrate" if path else "Type: deia index build"
        raise CommonsError("There is no index of version 1.0 to write into.", fix=fix)
    return path


def _cases_path(commons: Commons, trigger: str, path: str) -> str:
    known = next((case.path for case in commons.cases if case.trigger == trigger and case.path), "")
    return known or path.rpartition(".")[0] + ENDINGS[0]


def _text(root: str, path: str) -> str:
    if safe_files.leaves_commons(path):
        raise CommonsError(f"The path {path} leaves the commons.", fix="Correct it by hand.")
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
        problems = [one for one in read_yaml(text, path=path).problems if one.severity == "error"]
        if problems:
            raise CommonsError(f"{path} has errors, so it is not touched.", problems, fix="Mend these by hand first:")


# --- the index ---


def _with_index(text: str, change: Change) -> str:
    name = CONCEPTS if change.kind == CONCEPT else PATTERNS
    top = read_yaml(text, path="").value
    if not isinstance(top, Map) or not top.get(name):
        new: Any = {change.target: list(change.value)} if change.kind == CONCEPT else [_pattern(change)]
        if isinstance(top, Map) and name in top:
            return yaml_blocks.change_value(text, (name,), lambda _: yaml_blocks.style(new))
        return yaml_blocks.insert_block(text, yaml_blocks.to_yaml({name: new}, like=text), after=_after(top, name))
    if change.kind == CONCEPT:
        return yaml_blocks.change_value(text, (name,), lambda found: _concepts(found, change))
    return yaml_blocks.change_value(text, (name,), lambda found: _more(found, [_pattern(change)]))


def _pattern(change: Change) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in change.value.items()}


def _concepts(found: Any, change: Change) -> Any:
    known = next((name for name in found if fold(str(name)) == fold(change.target)), None)
    if known is None:
        found[yaml_blocks.style(change.target)] = yaml_blocks.style(list(change.value))
    elif isinstance(found[known], list):
        _more(found[known], [word for word in change.value if word not in found[known]])
    else:
        found[known] = yaml_blocks.style(list(dict.fromkeys((str(found[known]), *change.value))))
    return found


def _more(found: Any, new: Iterable[Any]) -> Any:
    """Add to a list that is being rewritten; where there was one value or none, a list is made."""
    if not isinstance(found, list):
        return yaml_blocks.style([*([] if found in (None, "") else [found]), *new])
    if not found:
        return yaml_blocks.style(list(new))
    found.extend(yaml_blocks.style(one) for one in new)
    return found


def _fewer(found: Any, gone: Iterable[Any]) -> Any:
    """Take values out of a list that is being rewritten; one value that is to go leaves an empty list."""
    words = {str(one) for one in gone}
    if not isinstance(found, list):
        return yaml_blocks.style([]) if str(found) in words else found
    for at in reversed(range(len(found))):
        if str(found[at]) in words:
            del found[at]
    return found


def _after(top: Any, name: str) -> str:
    return next((one for one in AFTER.get(name, ()) if isinstance(top, Map) and one in top), "")


def _clusters(source: Mapping[str, Any], ident: str) -> list[str]:
    """Give the clusters in which the index describes a document, rather than naming it."""
    held = source.get("clusters")
    return [
        str(name)
        for name, body in (held.items() if isinstance(held, dict) else ())
        if isinstance(body, dict)
        and any(isinstance(item, dict) and str(item.get("id", "")) == ident for item in body.get(LIST) or ())
    ]


def _with_entry(text: str, clusters: Iterable[str], change: Change, given: Any) -> str:
    """Change an entry of the index; `given` is what counts now, which may come from the document's own metadata."""
    for cluster in clusters:
        text = yaml_blocks.change_value(
            text, ("clusters", cluster, LIST), lambda found: _described(found, change, given)
        )
    return text


def _described(found: Any, change: Change, given: Any) -> Any:
    for item in found:
        if isinstance(item, dict) and str(item.get("id", "")) == change.target:
            if change.kind in (ADD, DROP) and not item.get(change.field) and given:
                item[change.field] = yaml_blocks.style(list(given))
            _change_field(item, change)
    return found


def _change_field(item: Any, change: Change) -> None:
    if change.kind == ADD:
        given = item.get(change.field)
        have = given if isinstance(given, list) else [given]
        item[change.field] = _more(given, [one for one in change.value if one not in have])
    elif change.kind == DROP:
        item[change.field] = _fewer(item.get(change.field), change.value)
    else:
        item[change.field] = yaml_blocks.style(change.value)


# --- a document's own metadata ---


def _with_metadata(text: str, change: Change) -> str:
    lines = text.split("\n")
    end = 0
    if lines[0].rstrip() == FENCE:
        end = next((at for at, line in enumerate(lines[1:FRONT_LINES], 1) if line.rstrip() in FENCES_END), 0)
    if not end and change.kind == DROP:
        return text
    if not end:
        value = list(change.value) if change.kind == ADD else change.value
        return f"{FENCE}\n{yaml_blocks.to_yaml({change.field: value})}{FENCE}\n\n{text}"
    head = "\n".join(lines[1:end]) + "\n"
    _refuse_broken("metadata.yaml", head)
    return "\n".join([lines[0], *_with_field(head, (change.field,), change).rstrip("\n").split("\n"), *lines[end:]])


def _with_field(text: str, path: tuple[str, ...], change: Change) -> str:
    """Change a field of a mapping, or put it behind the field that it belongs behind."""
    top = read_yaml(text, path="").value
    holder = top.get(path[0]) if len(path) > 1 and isinstance(top, Map) else top
    if isinstance(holder, Map) and path[-1] in holder:
        if change.kind == ADD:
            return yaml_blocks.change_value(text, path, lambda found: _more(found, _missing(found, change)))
        if change.kind == DROP:
            return yaml_blocks.change_value(text, path, lambda found: _fewer(found, change.value))
        return yaml_blocks.change_value(text, path, lambda _: yaml_blocks.style(change.value))
    if change.kind == DROP:
        return text
    value = list(change.value) if change.kind == ADD else change.value
    return yaml_blocks.insert_block(
        text, yaml_blocks.to_yaml({path[-1]: value}, like=text), after=_after(top, path[-1])
    )


def _missing(found: Any, change: Change) -> list[Any]:
    return [one for one in change.value if one not in (found if isinstance(found, list) else [found])]


# --- triggers and their cases ---


def _with_trigger(text: str, change: Change) -> str:
    """Change one item of a file that is a list: it is cut out as a mapping, changed, and put back."""
    top = read_yaml(text, path="").value
    items = top if isinstance(top, Items) else Items()
    at = next((n for n, one in enumerate(items) if isinstance(one, Map) and one.get("id") == change.target), -1)
    if at < 0:
        raise CommonsError(f"There is no trigger {change.target!r} any more.", fix="Type: deia learn propose")
    lines = text.split("\n")
    start = items[at].line - 1
    end = items[at + 1].line - 1 if at + 1 < len(items) else len(lines)
    dash = len(lines[start]) - len(lines[start].lstrip(" "))
    while end - 1 > start and (lines[end - 1][: dash + 1].strip() or not lines[end - 1].strip()):
        end -= 1  # blank lines, and comments that stand no deeper than the dash, belong to what comes next
    if not lines[start].lstrip(" ").startswith("- "):
        raise CommonsError(f"{change.target} does not begin a line of its own.", fix="Write it as `- id: …`.")
    margin = dash + 2
    block = [" " * margin + lines[start][margin:], *lines[start + 1 : end]]
    mapping = "\n".join(line[margin:] for line in block) + "\n"
    path = ("when", change.field) if change.field in (items[at].get("when") or ()) else (change.field,)
    new = _with_field(mapping, path, change).rstrip("\n").split("\n")
    put = [" " * margin + line if line.strip() else "" for line in new]
    put[0] = " " * dash + "- " + put[0][margin:]
    return "\n".join([*lines[:start], *put, *lines[end:]])


def _with_cases(text: str, change: Change) -> str:
    top = read_yaml(text, path="").value
    values = list(change.value)
    if not isinstance(top, Map) or change.target not in top:
        block = yaml_blocks.to_yaml({change.target: {change.field: values}}, like=text)
        return yaml_blocks.insert_block(text, block, after="") if text.strip() else block
    return yaml_blocks.change_value(text, (change.target,), lambda found: _cases(found, change.field, values))


def _cases(found: Any, field: str, values: list[Any]) -> Any:
    found = found or yaml_blocks.style({})
    found[field] = _more(found.get(field), values)
    return found
