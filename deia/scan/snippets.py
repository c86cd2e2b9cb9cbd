"""What a file would run: its commands as an agent's shell would be given them, with the line where each begins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from deia.commons.source_files.yaml_reader import Items, Map, Value, read_yaml
from deia.records import Record

BASH, POWERSHELL = "Bash", "PowerShell"  # tools, by whose names a turn's language is known
# Keys of build files under which commands are written, as a text or as a list of texts.
COMMAND_KEYS = frozenset(
    ("run", "script", "before_script", "after_script", "command", "commands", "cmd", "cmds", "args", "entrypoint",
     "bash", "pwsh", "powershell", "inlineScript", "install", "before_install", "deploy", "build", "pre_build",
     "post_build", "test", "steps")
)  # fmt: skip
POWERSHELL_KEYS = frozenset(("pwsh", "powershell"))
DOCKER_RUN = re.compile(r"[ \t]*(?:ONBUILD[ \t]+)?(?:RUN|CMD|ENTRYPOINT)[ \t]+((?:--[a-z]+=\S+[ \t]+)*)", re.IGNORECASE)
DOCUMENT_START = re.compile(r"^---[ \t]*$", re.MULTILINE)
BLOCK = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?$")  # the text begins on the next line
HEREDOC = re.compile(r"<<-?[ \t]*[\"']?([A-Za-z_]\w{0,40})")
MAKE_VARIABLE = re.compile(r"\$\(([A-Za-z_][\w.]{0,80})\)")
MAGIC_CELLS = ("%%bash", "%%sh", "%%script bash", "%%script sh")


class Snippet(Record):
    """Commands of a file, and where they are."""

    line: int  # of the file, on which the text begins
    text: str
    tool: str = BASH
    shift: int = 0  # lines of the text that stand in front of the file's own


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
        end = "END_OF_FILE"
        while end in text:
            end += "_"
        yield Snippet(line=1, text=f"{program} <<'{end}'\n{text}\n{end}\n", shift=1)

    return read


def _workflow(text: str) -> Iterator[Snippet]:
    """Yield the commands of a build file that is YAML: what stands under a key that holds commands."""
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
    """Yield the texts in a value that stand under a key for commands, with the line of the key or item."""
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
    at = 0
    while at < len(lines):
        begins, start = DOCKER_RUN.match(lines[at]), at
        heredoc = HEREDOC.search(lines[at]) if begins else None
        if heredoc and heredoc[1] in {line.strip() for line in lines[at + 1 :]}:
            at += 1
            while lines[at].strip() != heredoc[1]:
                at += 1
            yield Snippet(line=start + 2, text="\n".join(lines[start + 1 : at]))
        elif begins:
            while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
                at += 1
            written = "\n".join((lines[start][begins.end() :], *lines[start + 1 : at + 1]))
            yield Snippet(line=start + 1, text=_listed(written))
        at += 1


def _listed(written: str) -> str:
    """Return a command that is written as a JSON list as one that a shell would be given."""
    if not written.startswith("["):
        return written
    try:
        words = json.loads(written)
    except ValueError:
        return written
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
    lines = text.splitlines()
    for table in (content.get("scripts"), content.get("tasks")):
        for name, written in table.items() if isinstance(table, dict) else ():
            command = "\n".join(map(str, written)) if isinstance(written, list) else written
            if isinstance(command, str):
                quoted = json.dumps(name, ensure_ascii=False)
                line = next((at for at, line in enumerate(lines, 1) if line.strip().startswith(quoted)), 1)
                yield Snippet(line=line, text=command)


def _notebook(text: str) -> Iterator[Snippet]:
    """Yield what the code cells give to a shell, and their Python; lines count in the file as it is stored."""
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
            found = text.find(first, at)
            at = max(found, at)
            yield from _cell(code, text.count("\n", 0, at) + 1)


def _cell(code: str, line: int) -> Iterator[Snippet]:
    if code.startswith(MAGIC_CELLS):
        yield Snippet(line=line + 1, text=code.partition("\n")[2])
        return
    lines = code.splitlines()
    for number, written in enumerate(lines):
        if written.lstrip().startswith("!"):
            yield Snippet(line=line + number, text=written.lstrip()[1:])
    python = "\n".join("" if written.lstrip().startswith(("!", "%")) else written for written in lines)
    for snippet in _given_to("python3 -")(python):
        yield snippet.but(line=line)


READERS: dict[str, Callable[[str], Iterator[Snippet]]] = {
    "shell": _shell, "powershell": _powershell, "workflow": _workflow, "dockerfile": _dockerfile,
    "makefile": _makefile, "package": _package, "notebook": _notebook, "sql": _given_to("psql"),
    "python3": _given_to("python3 -"), "node": _given_to("node -"), "ruby": _given_to("ruby -"),
    "perl": _given_to("perl -"),
}  # fmt: skip
