"""The commands that a file would run, as an agent's shell would receive them, with the line where each begins.

The name or the first line of a file says which kind of script or build file it is.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterator

from pathspec import GitIgnoreSpec

from deia.commons.source_files.yaml_reader import Items, Map, Value, read_yaml
from deia.records import Record
from deia.tables import Tables

TABLES = Tables(__file__)
BASH, POWERSHELL = "Bash", "PowerShell"  # tools, by whose names a turn's language is known
COMMAND_KEYS = TABLES.words("command keys")
POWERSHELL_KEYS = frozenset(("pwsh", "powershell"))
DOCKER_RUN = re.compile(r"[ \t]*(?:ONBUILD[ \t]+)?(?:RUN|CMD|ENTRYPOINT)[ \t]+((?:--[a-z]+=\S+[ \t]+)*)", re.IGNORECASE)
DOCUMENT_START = re.compile(r"^---[ \t]*$", re.MULTILINE)
BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?$")  # the text begins on the next line
HEREDOC = re.compile(r"<<-?[ \t]*[\"']?([A-Za-z_]\w{0,40})")
MAKE_VARIABLE = re.compile(r"\$\(([A-Za-z_][\w.]{0,80})\)")
LEADING_NAME = re.compile(r'\s*("(?:[^"\\]|\\.)*")')  # a line's first JSON string
END = "END_OF_FILE"
END_MARK = re.compile(f"{END}_*")
MAGIC_CELLS = ("%%bash", "%%sh", "%%script bash", "%%script sh")


class Snippet(Record):
    """Commands of a file, and where they are."""

    line: int  # of the file, on which the text begins
    text: str
    tool: str = BASH
    shift: int = 0  # lines of the text before those of the file


class UnreadableFileError(Exception):
    """A file is not what its name says; the text tells where and why."""


def snippets(kind: str, text: str) -> list[Snippet]:
    """Return what a file of a kind would run.

    Raises:
        UnreadableFileError: it is no YAML or JSON although it should be.
    """
    return [snippet for snippet in READERS[kind](text) if snippet.text.strip()]


def _shell(text: str) -> Iterator[Snippet]:
    yield Snippet(line=1, text=text)


def _powershell(text: str) -> Iterator[Snippet]:
    yield Snippet(line=1, text=text, tool=POWERSHELL)


def _given_to(program: str) -> Callable[[str], Iterator[Snippet]]:
    """Return a reader of files that are handed to a program as a heredoc."""

    def read(text: str) -> Iterator[Snippet]:
        longest = max(END_MARK.findall(text), key=len, default="")
        end = f"{longest}_" if longest else END
        yield Snippet(line=1, text=f"{program} <<'{end}'\n{text}\n{end}\n", shift=1)

    return read


def _workflow(text: str) -> Iterator[Snippet]:
    """Yield the commands of a build file in YAML: the texts under keys that hold commands."""
    lines = text.splitlines()
    first = 1
    for part in DOCUMENT_START.split(text):
        parsed = read_yaml(part, path="", first_line=first)
        first += part.count("\n")
        if parsed.value is None and parsed.problems:
            problem = parsed.problems[0]
            raise UnreadableFileError(f"line {problem.line}: {problem.found}")
        for snippet in _commands_below(parsed.value, ""):
            is_block = BLOCK.search(lines[snippet.line - 1])
            yield snippet.but(line=snippet.line + 1) if is_block else snippet


def _commands_below(value: Value, key: str, line: int = 0) -> Iterator[Snippet]:
    """Yield the texts in a value that are under a key for commands, with the line of the key or item."""
    if isinstance(value, Map):
        for name, inner in value.items():
            yield from _commands_below(inner, name, value.at(name))
    elif isinstance(value, Items):
        for at, inner in enumerate(value):
            yield from _commands_below(inner, key, value.at(at))
    elif isinstance(value, str) and key in COMMAND_KEYS:
        yield Snippet(line=line, text=value, tool=POWERSHELL if key in POWERSHELL_KEYS else BASH)


def _dockerfile(text: str) -> Iterator[Snippet]:
    lines = text.splitlines()
    last_places = {line.strip(): at for at, line in enumerate(lines)}
    at = 0
    while at < len(lines):
        instruction, start = DOCKER_RUN.match(lines[at]), at
        heredoc = HEREDOC.search(lines[at]) if instruction else None
        if heredoc and last_places.get(heredoc[1], at) > at:
            at += 1
            while lines[at].strip() != heredoc[1]:
                at += 1
            yield Snippet(line=start + 2, text="\n".join(lines[start + 1 : at]))
        elif instruction:
            while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
                at += 1
            command = "\n".join((lines[start][instruction.end() :], *lines[start + 1 : at + 1]))
            yield Snippet(line=start + 1, text=_listed(command))
        at += 1


def _listed(command: str) -> str:
    """Return a command as a shell would receive it, even if it is written as a JSON list."""
    if not command.startswith("["):
        return command
    try:
        words = json.loads(command)
    except (ValueError, RecursionError):
        return command
    shells = len(words) > 2 and str(words[1]).startswith("-") and str(words[1]).endswith("c")
    return str(words[2]) if shells else " ".join(map(str, words))


def _makefile(text: str) -> Iterator[Snippet]:
    """Yield each recipe; make's own `$(NAME)` becomes the shell's `${NAME}`, and `$$` is a dollar."""
    recipe: list[str] = []
    start = 0
    for number, line in enumerate((*text.splitlines(), ""), 1):
        if line.startswith("\t"):
            start = start or number
            recipe.append(MAKE_VARIABLE.sub(r"${\1}", line[1:].lstrip("@-+")).replace("$$", "$"))
        elif recipe:
            yield Snippet(line=start, text="\n".join(recipe))
            recipe, start = [], 0


def _package(text: str) -> Iterator[Snippet]:
    """Yield the scripts of a package, each from the line that names it."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(str(error)) from error
    content = content if isinstance(content, dict) else {}
    lines: dict[str, int] = {}  # by the name with which they begin
    for at, line in enumerate(text.splitlines(), 1):
        if name := LEADING_NAME.match(line):
            lines.setdefault(name[1], at)
    for table in (content.get("scripts"), content.get("tasks")):
        for name, script in table.items() if isinstance(table, dict) else ():
            command = "\n".join(map(str, script)) if isinstance(script, list) else script
            if isinstance(command, str):
                yield Snippet(line=lines.get(json.dumps(name, ensure_ascii=False), 1), text=command)


def _notebook(text: str) -> Iterator[Snippet]:
    """Yield what the code cells give to a shell, and their Python, with the lines of the file as it is stored."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise UnreadableFileError("no notebook in JSON") from error
    at = 0
    for cell in cells if isinstance(cells, list) else ():
        source = cell.get("source") if isinstance(cell, dict) and cell.get("cell_type") == "code" else None
        code = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
        if code.strip():
            first = json.dumps(code.splitlines()[0], ensure_ascii=False)[:-1]
            position = text.find(first, at)
            at = max(position, at)
            yield from _cell(code, text.count("\n", 0, at) + 1)


def _cell(code: str, line: int) -> Iterator[Snippet]:
    if code.startswith(MAGIC_CELLS):
        yield Snippet(line=line + 1, text=code.partition("\n")[2])
        return
    lines = code.splitlines()
    for number, code_line in enumerate(lines):
        if code_line.lstrip().startswith("!"):
            yield Snippet(line=line + number, text=code_line.lstrip()[1:])
    python = "\n".join("" if code_line.lstrip().startswith(("!", "%")) else code_line for code_line in lines)
    yield from (snippet.but(line=line) for snippet in _given_to("python3 -")(python))


READERS: dict[str, Callable[[str], Iterator[Snippet]]] = {
    "shell": _shell, "powershell": _powershell, "workflow": _workflow, "dockerfile": _dockerfile,
    "makefile": _makefile, "package": _package, "notebook": _notebook, "sql": _given_to("psql"),
    "python3": _given_to("python3 -"), "node": _given_to("node -"), "ruby": _given_to("ruby -"),
    "perl": _given_to("perl -"),
}  # fmt: skip


# --- kinds of files ---


INTERPRETERS = {"python": "python3", "node": "node", "ruby": "ruby", "perl": "perl", "pwsh": "powershell"}


@functools.cache
def _globs() -> dict[str, list[tuple[str, GitIgnoreSpec]]]:
    """Return the kinds and their globs by the ending that a name must have, "" for those without one.

    A file is compared with the few globs of its own ending, since a large repository has 100,000 files.
    """
    by_ending: dict[str, dict[str, list[str]]] = {}
    for kind, globs in TABLES.lists("kinds").items():
        for glob in globs:
            ending = os.path.splitext(glob)[1].lower()
            anywhere = glob if glob.startswith("**/") else f"**/{glob}"
            by_ending.setdefault("" if "*" in ending else ending, {}).setdefault(kind, []).append(anywhere)
    return {
        ending: [(kind, GitIgnoreSpec.from_lines(patterns)) for kind, patterns in kinds.items()]
        for ending, kinds in by_ending.items()
    }


def kind_by_name(path: str) -> str:
    """Return the kind of a file by its path, or "" if that does not show it."""
    ending = os.path.splitext(path)[1].lower()
    for kind, globs in (*_globs().get(ending, ()), *(_globs()[""] if ending else ())):
        if globs.match_file(path):
            return str(kind)
    return ""


def kind_by_first_line(text: str) -> str:
    """Return the kind of a script by the interpreter in its `#!` line, or "" if no known one is named."""
    first = text.partition("\n")[0]
    words = first[2:].replace("/", " ").split() if first.startswith("#!") else ()
    for word in words:
        for name, kind in INTERPRETERS.items():
            if word.startswith(name):
                return kind
        if word.endswith("sh"):
            return "shell"
    return ""
