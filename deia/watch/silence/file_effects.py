"""What a tool call does to files: which it deletes, writes whole, or changes, and by which text.

More is read here than in `deia.watch.turn.file_changes`, whose callers ask for what is written into code: deletions,
moves and copies count, tools are known by their fields where their name is unknown, and each hunk of a patch stands
alone, so that it can be applied to the file's text. Nothing is written.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record, Turn
from deia.watch.shell.nodes import unescape
from deia.watch.turn.edits import NEW, OLD
from deia.watch.turn.tool_call import PATH_FIELDS, SILENT_TOOLS, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A file is deleted, gets a whole text, a part of one, more at its end, or new rights; or code changes what it loaded.
GONE, WHOLE, PART, ADDED, SEALED, CODED = "gone", "whole", "part", "added", "sealed", "coded"
PATHS = (
    *PATH_FIELDS, "uri", "target", "destination", "newPath", "new_path", "to", "file", "relative_workspace_path",
    "dest", "target_path", "destination_path",
)  # fmt: skip
SOURCES = ("source", "src", "oldPath", "old_path", "from", "source_path", "paths", "files", "file_paths", "file_path",
           "path", "filePath", "target_file")  # fmt: skip
WHOLE_FIELDS = ("content", "contents", "file_text", "text", "new_source", "data", "file_content", "code")
FRAGMENTS = ("code_edit", "insert_text", "new_content", "instructions_edit")
LISTS = ("edits", "replacements", "changes", "operations", "chunks")
READING = tuple("read list get search view grep find open fetch show glob ls stat cat".split())
DELETING = ("delete", "remove", "trash", "unlink", "rm")
MOVING = ("move", "rename", "mv")
INSERTING = ("insert", "append", "add_line")
MOST_EDITS = 200
SEARCH, MIDDLE, REPLACE = "SEARCH", "=======", "REPLACE"


class Effect(Record):
    """One thing that happens to one file."""

    path: str  # as the call names it
    kind: str
    old: str = ""  # what is taken out of a file that is changed in part
    new: str | None = ""  # what is put in; None if the call does not show it
    source: str = ""  # the file whose text it gets, if it is a copy
    every: bool = False  # whether every occurrence is replaced


def tool_effects(turn: Turn) -> Iterator[Effect]:
    """Yield what a tool other than a shell does to files."""
    name = plain_name(turn.tool)
    tool_input: Mapping[str, object] = turn.tool_input or {}
    action = tool_input.get("command") if isinstance(tool_input.get("command"), str) else ""
    if (
        is_shell(turn)
        or name in SILENT_TOOLS
        or action == "view"
        or (name.startswith(READING) and "replace" not in name)
    ):
        return
    if _has_word(name, DELETING) or action == "delete":
        yield from (Effect(path=path, kind=GONE) for path in _paths(tool_input, (*SOURCES, *PATHS)))
    elif _has_word(name, MOVING) or action == "rename":
        sources = _paths(tool_input, SOURCES)
        yield from (Effect(path=path, kind=GONE) for path in sources)
        new = _paths(tool_input, PATHS)
        yield from (Effect(path=path, kind=WHOLE, new=None, source=sources[0] if sources else "") for path in new)
    else:
        inserts = _has_word(name, INSERTING) or action in {"insert", "append"}
        yield from _edits(tool_input, next(iter(_paths(tool_input, PATHS)), ""), inserts=inserts)
    for text in (turn.text, *strings(tool_input)):
        if "*** " in text or "+++ " in text:
            yield from patched(text)


def plain_name(tool: str) -> str:
    """Return a tool's name without the server that offers it and without a version."""
    return tool.rpartition("__")[2].lower().removesuffix("_v2").replace("-", "_")


def _has_word(name: str, words: tuple[str, ...]) -> bool:
    return not set(words).isdisjoint(name.split("_")) or name.startswith(tuple(word for word in words if len(word) > 2))


def _paths(fields: Mapping[str, object], names: tuple[str, ...]) -> list[str]:
    """Return the paths that some fields hold, each once."""
    paths: list[str] = []
    for name in names:
        value = fields.get(name)
        paths += [value] if isinstance(value, str) else []
        paths += [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
    return list(dict.fromkeys(filter(None, paths)))


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := fields.get(name), str)), None)


def _edits(fields: Mapping[str, object], path: str, *, inserts: bool, depth: int = 0) -> Iterator[Effect]:
    old, new = _first(fields, OLD), _first(fields, NEW)
    every = any(fields.get(name) is True for name in ("replace_all", "replaceAll", "allow_multiple"))
    whole, fragment = _first(fields, WHOLE_FIELDS), _first(fields, FRAGMENTS)
    if path and old:
        yield Effect(path=path, kind=PART, old=old, new=new or "", every=every)
    elif path and fragment is not None and (whole is None or inserts):
        yield Effect(path=path, kind=PART, new=fragment)
    elif path and (whole is not None or new is not None):
        text = whole if whole is not None else new or ""
        yield Effect(path=path, kind=PART if inserts or depth else WHOLE, new=text)
    diff = _first(fields, ("diff", "patch", "blocks"))
    if path and diff:
        yield from _blocks(path, diff)
    for name in LISTS if depth < 2 else ():
        items = fields.get(name)
        for item in items[:MOST_EDITS] if isinstance(items, (list, tuple)) else ():
            if hasattr(item, "get"):
                inner = next(iter(_paths(item, PATHS)), path)
                yield from _edits(item, inner, inserts=inserts, depth=depth + 1)


def _blocks(path: str, text: str) -> Iterator[Effect]:
    part, sides = "", {SEARCH: "", REPLACE: ""}
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare.endswith(SEARCH) and bare[:3] in {"---", "<<<"}:
            part, sides = SEARCH, {SEARCH: "", REPLACE: ""}
        elif bare == MIDDLE and part == SEARCH:
            part = REPLACE
        elif bare.endswith(REPLACE) and bare[:3] in {"+++", ">>>"}:
            yield Effect(path=path, kind=PART, old=sides[SEARCH].rstrip("\n"), new=sides[REPLACE].rstrip("\n"))
            part = ""
        elif part:
            sides[part] += line


def patched(text: str) -> Iterator[Effect]:
    """Yield what a patch does, in the form of Codex or of diff; each hunk is an edit of its own."""
    path, before, adding = "", "", False
    old: list[str] = []
    new: list[str] = []
    for line in (*text.splitlines(), "*** End"):
        head = line.startswith(("*** ", "--- ", "+++ ", "diff --git ", "rename "))
        if head or line[:2] == "@@":
            if (old or new) and path:
                joined = "\n".join(new)
                yield Effect(path=path, kind=WHOLE if adding else PART, old="\n".join(old), new=joined)
            old, new = [], []
        if head:
            mark, _, name = line.rpartition(": ") if line[:4] == "*** " else (line[:3], "", _diff_path(line[4:]))
            name = name.strip()
            if mark == "*** Delete File" or (mark == "+++" and name == "/dev/null"):
                yield Effect(path=name if mark != "+++" else before, kind=GONE)
            elif mark == "*** Move to":
                yield Effect(path=path, kind=GONE)
            elif line.startswith("rename from "):
                yield Effect(path=line[12:], kind=GONE)
            adding = mark == "*** Add File" or (mark == "+++" and before == "/dev/null")
            before = name if mark == "---" else before
            path = name if mark in {"*** Update File", "*** Add File", "*** Move to", "+++"} else path
        elif line[:1] in {"+", "-", " "}:
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


def _diff_path(name: str) -> str:
    """Return the path in a head of a diff, without `a/` and the time behind it."""
    name = name.partition("\t")[0].strip()
    return name[2:] if name[:2] in {"a/", "b/"} else name


def printed(program: str, arguments: tuple[str, ...], stdin: str) -> str | None:
    """Return what a command writes to its standard output, or None if its words do not show it."""
    words = list(arguments)
    if program in {"", ":", "true"}:
        return ""
    if program == "echo":
        escapes = False
        while words and words[0][:1] == "-" and words[0][1:] and not words[0][1:].strip("neE"):
            escapes = escapes or "e" in words.pop(0)
        return unescape(" ".join(words)) if escapes else " ".join(words)
    if program == "printf" and words:
        template = unescape(words[0]).replace("%b", "%s")
        return "".join(template.replace("%s", word, 1) for word in words[1:]) if "%s" in template else template
    if program in {"cat", "tee"} and stdin and not [word for word in words if word[:1] != "-"]:
        return stdin
    return stdin if program == "tee" and stdin else None
