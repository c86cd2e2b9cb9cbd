"""What a call runs that is not in its own words: scripts, make's recipes, package scripts, SQL files, lines of cron.

Their text is put behind the command, as a heredoc for what runs it, so that it is judged like anything that is typed.
The hook reads it from the working folder or a folder for temporary files; whoever replays a conversation knows what its
own calls wrote (`WrittenFiles`). Of a script that branches by its first argument, one branch counts.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import loads
from deia.folders import NOWHERE
from deia.globs import matches_glob
from deia.records import TYPE_CHECKING, Record, Turn
from deia.watch.shell.nodes import base_name
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.programs import CODE_OPTIONS, SHELLS
from deia.watch.shell.runners import key_of
from deia.watch.turn.build_files import pipeline_deletions, task_block, yaml_commands
from deia.watch.turn.file_changes import changes
from deia.watch.turn.run_texts import (
    MAKES,
    MOST_FILES,
    MOST_TEXT,
    OLDER,
    PACKAGES,
    PIPELINES,
    PLAYER,
    TASKERS,
    YAML,
    disk_reader,
)
from deia.watch.turn.tool_call import (
    LONG_THERE,
    RUN_ENDINGS,
    RUN_MARK,
    command_of,
    is_shell,
    may_run_files,
    watched_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.shell.nodes import Command
    from deia.watch.turn.run_texts import Read

KEPT_ENDINGS = (
    "akefile",
    *dict.fromkeys(PACKAGES.values()),
    ".mk",
    ".cron",
    ".crontab",
    ".txt",
    *YAML,
)  # of other files that may be run
MOST_WRITTEN = 40  # files of a conversation that are remembered
MOST_TARGETS = 50  # of a Makefile, for one call
MOST_SOUGHT = 200  # characters of an excerpt by which its place is found
SOURCING = frozenset((".", "source"))
SHORT_SCRIPTS = frozenset(("test", "start", "stop", "restart"))  # `npm test` is `npm run test`
CODE = {".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".rb": "ruby", ".pl": "perl",
        ".php": "php", ".sql": "psql"}  # fmt: skip
RUNNERS = {"tsx": "node", "ts-node": "node", "bun": "node", "deno": "node"}
DATABASES = frozenset(("psql", "mysql", "mariadb", "sqlite3", "cockroach", "clickhouse-client", "sqlcmd", "mongosh"))
FILE_OPTIONS = frozenset(("-f", "--file", "-i"))
REMOTE = frozenset(("ssh", "docker", "kubectl"))
PRINTED = "$(cat "  # begins what a shell runs that is given the text of files
SUBSTITUTED = "<(cat "
NO_FILE = frozenset(("-c", "-lc", "-m", "-p", "-n", "-l", "--check", "--eval", "--version"))
SETTING = (".env", "/activate", ".bashrc", ".profile", ".zshrc", "nvm.sh")  # sourced all day, and only set variables
RUNNING = SHELLS | SOURCING | frozenset((*CODE_OPTIONS, *RUNNERS))
BETWEEN_LINES = ", \t\r\n"
READING = (".read", "\\i", "source", "\\.")  # words by which a client of a database is told to read a file
CONTAINERS = ("docker", "podman", "nerdctl")
MAKE, PACKAGE, CRON, TASK, BUILD, PUSH = "make", "package", "cron", "task", "build", "push"
INSTALLING = (["install"], ["i"], ["ci"])
FED_SHELLS = frozenset(("at", "batch", "ssh"))  # which run what they are fed, ssh if it starts a shell
NO_LABEL = frozenset(" $(`")  # signs of a line that is no label of a branch
TIMES = frozenset("0123456789*/,-")


def with_files(turn: Turn, read: Read) -> Turn:
    """Return a call with the text of what it runs after its command; the call itself if it runs nothing known."""
    command = watched_command(turn)
    parts, language = [command], "powershell" if "powershell" in turn.tool.lower() else "bash"
    for part in parts:
        for path, snippet in _files_run(parse_commands(part, shell=language), read, part):
            if len(parts) <= MOST_FILES and not any(path in known.partition("\n")[0] for known in parts[1:]):
                parts.append(f"{RUN_MARK}{path}\n{snippet}")
    if len(parts) == 1:
        return turn
    return turn.but(tool_input={**(turn.tool_input or {}), "command": "\n".join(parts)})


def place_in(turn: Turn, excerpt: str) -> str:
    """Return the file that a call runs and in which the excerpt of a match stands, "" if it is the call's own."""
    text = command_of(turn)
    begin = text.rfind(RUN_MARK, 0, max(text.find(excerpt[:MOST_SOUGHT]), 0))
    return text[begin + len(RUN_MARK) : text.find("\n", begin)] if begin >= 0 else ""


class WrittenFiles:
    """The files that the calls of a conversation wrote, as far as the calls show them; others are read by `read`."""

    __slots__ = ("_elsewhere", "_texts")

    def __init__(self, read: Read | None = None) -> None:
        self._elsewhere = read
        self._texts: dict[str, str] = {}

    def widened(self, turn: Turn) -> Turn:
        """Remember what a call writes, and return it with the text of what it runs."""
        if turn.role != "tool_call":
            return turn
        command = command_of(turn) if is_shell(turn) else ""
        if not command or ">" in command or "tee " in command or "sed -i" in command:
            self._remember(turn, command)
        is_known = self._texts or self._elsewhere or "crontab" in command
        return with_files(turn, self._read) if is_known and may_run_files(turn) else turn

    def _remember(self, turn: Turn, command: str) -> None:
        for change in changes(turn, iter(parse_commands(command) if command else ())):
            path = files.without_dots(change.path)
            name = base_name(path)
            if not (name.endswith((*RUN_ENDINGS, *KEPT_ENDINGS)) or "." not in name):
                continue
            before = self._texts.pop(path, "")
            is_part = bool(change.old) and change.old in before
            text = before.replace(change.old, change.new, 1) if is_part else change.new
            self._texts[path] = text[:MOST_TEXT]
            if len(self._texts) > MOST_WRITTEN:
                del self._texts[next(iter(self._texts))]

    def _read(self, path: str) -> str:
        wanted = files.without_dots(path)
        if "*" in wanted:
            texts = [text for known, text in self._texts.items() if matches_glob(f"*/{wanted}", f"/{known}")]
            return "\n".join(texts) or (self._elsewhere(path) if self._elsewhere else "")
        same = (text for known, text in reversed(self._texts.items()) if _is_same(known, wanted))
        return next(same, "") or (self._elsewhere(path) if self._elsewhere else "")


def from_disk(turn: Turn, folder: str) -> Turn:
    """Return a call in a working folder with the text of what it runs, as the call wrote it or the disk has it now."""
    read = disk_reader(folder) if folder != NOWHERE else None
    return WrittenFiles(read).widened(turn) if may_run_files(turn) else turn


def _is_same(known: str, wanted: str) -> bool:
    """Return whether two paths, each perhaps relative to an unknown folder, may be the same file."""
    return known == wanted or known.endswith("/" + wanted) or wanted.endswith("/" + known)


class _Run(Record):
    """One file that a command runs: by what, and with which words (targets, or the name of a script)."""

    path: str
    by: str  # "" if its first line or its ending says it
    given: Sequence[str] = ()
    inside: str = ""  # the beginning of a command that runs it in a container


def _files_run(commands: Sequence[Command], read: Read, line: str) -> Iterator[tuple[str, str]]:
    """Yield the files that the commands of a line run, each with its text as these run it."""
    for at, command in enumerate(commands):
        before = commands[at - 1] if at else command
        piped = before.arguments if before.program == "cat" and f"{before.text} |" in line else ()
        for run in _runs(command, key_of(command.program), piped):
            inside = f"{command.folder}/{run.path}" if command.folder and run.path[:1] not in {"/", "~"} else ""
            text = (read(inside) if inside else "") or read(run.path)
            age = LONG_THERE if text[:1] == OLDER else ""
            for part, snippet in _snippets(run, text.removeprefix(OLDER)) if text.strip() else ():
                yield f"{run.path}{part}{age}", snippet
    if any(command.program == "crontab" for command in commands):
        printed = "\n".join(line for command in commands for line in (*command.arguments, command.stdin))
        yield from ((f"the lines for cron{part}", snippet) for part, snippet in _cron_lines(printed))


def _runs(command: Command, key: str, piped: Sequence[str]) -> Iterator[_Run]:
    """Yield the files that a command runs; `piped` are those whose text it gets through a pipe."""
    plain = [word for word in command.arguments if word[:1] not in {"-", "+"}]
    fed = [*piped, *(target for operator, target in command.redirects if operator == "<")]
    if command.program.startswith(PRINTED):  # `cat x.sh | bash`, `bash -c "$(cat x.sh)"`
        yield from (_Run(path=path, by="bash") for path in command.program[len(PRINTED) : -1].split())
    elif key in MAKES:
        yield from _made(command, key, plain)
    elif key in PACKAGES and not (key == "deno" and plain[:1] != ["task"]):
        yield from (_Run(path=PACKAGES[key], by=PACKAGE, given=[name]) for name in _scripts_run(key, plain))
    elif key in TASKERS:
        yield from (_Run(path=path, by=TASK, given=plain or ["default"]) for path in TASKERS[key])
    elif key == PLAYER:
        yield from _played(command, plain)
    elif key == "git" and plain[:1] == ["push"]:
        yield from (_Run(path=path, by=PUSH) for path in PIPELINES)
    elif key in FED_SHELLS and (key != "ssh" or not SHELLS.isdisjoint(" ".join(plain).split())):
        yield from (_Run(path=path, by="bash") for path in fed)
    elif key == "crontab":
        yield from (_Run(path=path, by=CRON) for path in plain[:1])
    elif REMOTE.isdisjoint(command.through):
        yield from _run_here(command, key, plain, fed)


def _run_here(command: Command, key: str, plain: Sequence[str], fed: Sequence[str]) -> Iterator[_Run]:
    """Yield the files that a container, a client, an interpreter or the command itself runs."""
    if any(through.startswith(CONTAINERS) for through in command.through):
        yield from _in_container(command, plain)
    elif key in DATABASES or (key in RUNNING and not command.stdin):
        named_files = [_option(command, *FILE_OPTIONS)] if key in DATABASES else _first_file(command, plain)
        readings = [word.split() for word in command.arguments if key in DATABASES and word.startswith(READING)]
        for word in filter(None, [*named_files, *fed, *("".join(words[1:2]) for words in readings)]):
            path = word[len(SUBSTITUTED) : -1] if word.startswith(SUBSTITUTED) else word
            yield _Run(path=path, by=key, given=[other for other in plain if other != word and " " not in other])
    else:
        written = next((word for word in command.text.split() if word.endswith("/" + command.program)), "")
        if written or key.endswith(RUN_ENDINGS):
            yield _Run(path=written or command.program, by="", given=plain)


def _played(command: Command, plain: Sequence[str]) -> Iterator[_Run]:
    """Yield the playbooks that a command runs on the hosts of an inventory, unless it only checks."""
    inventory = _option(command, "-i", "--inventory").rstrip("/").rpartition("/")[2].partition(".")[0]
    if "--check" not in command.arguments:
        played = (path for path in plain if path.endswith(YAML))
        yield from (_Run(path=path, by=BUILD, given=[inventory or "all"]) for path in played)


def _in_container(command: Command, plain: Sequence[str]) -> Iterator[_Run]:
    """Yield the script that a container with the working folder runs; it is judged as something that runs in there."""
    script = next((word for word in command.text.split() if word.endswith("/" + command.program)), "")
    begin = command.text.partition(script or command.program)[0]
    if command.program in SHELLS:
        script = "".join(word for word in plain[:1] if word.endswith(RUN_ENDINGS))
    if script[:1] != "/":
        yield _Run(path=script, by="bash", given=plain[1:], inside=begin)


def _made(command: Command, key: str, plain: Sequence[str]) -> Iterator[_Run]:
    """Yield the files whose recipes make runs."""
    inside, named = _option(command, "-C", "--directory"), _option(command, "-f", "--file")
    targets = [word for word in plain if "=" not in word and word not in {inside, named}]
    for name in (named,) if named else MAKES[key]:
        yield _Run(path=f"{inside}/{name}" if inside else name, by=MAKE, given=targets)


def _scripts_run(key: str, plain: list[str]) -> list[str]:
    """Return the script of a package that a packager runs, if any: `npm run build`, `yarn build`, `npm ci`."""
    if plain in INSTALLING:
        return ["install"]
    is_named = plain[:1] in (["run"], ["run-script"], ["task"])
    names = plain[1:] if is_named else plain if key != "npm" else []
    return (names or [word for word in plain[:1] if word in SHORT_SCRIPTS])[:1]


def _snippets(run: _Run, text: str) -> Iterator[tuple[str, str]]:
    """Yield the command lines that stand for a file's text, each with the part of the file that it is."""
    if run.by == PUSH:
        yield "", _as_input("bash", "\n".join(pipeline_deletions(text)))
    elif run.by == MAKE:
        yield from _recipes(text, run.given)
    elif run.by == CRON:
        yield from _cron_lines(text)
    elif run.by == BUILD:
        yield "", _as_input("bash", "\n".join(yaml_commands(text, hosts=run.given[0])))
    elif run.by == TASK:
        blocks = [(name, "\n".join(yaml_commands(task_block(text, name)))) for name in run.given]
        yield from ((f" ({name})", _as_input("bash", lines)) for name, lines in blocks if lines)
    elif run.by == PACKAGE:
        yield from _package_scripts(text, run.given[0])
    else:
        yield "", run.inside + _as_input(run.by or _kind(run.path, text), text, run.given)


def _first_file(command: Command, plain: Sequence[str]) -> list[str]:
    """Return the script that an interpreter is given, none if it is given code or a module, or only sets variables."""
    is_file = not any(word in NO_FILE for word in command.arguments[:2])
    return [word for word in plain if word != "run" and not word.endswith(SETTING)][:1] if is_file else []


def _option(command: Command, *names: str) -> str:
    for at, word in enumerate(command.arguments):
        if word in names:
            return "".join(command.arguments[at + 1 : at + 2])
        if word.startswith("--") and word.partition("=")[0] in names:
            return word.partition("=")[2]
    return ""


def _kind(path: str, text: str) -> str:
    """Return the program that runs a script which is called by its name: by its first line, or by its ending."""
    first = text.partition("\n")[0] if text.startswith("#!") else ""
    named = next((program for program in CODE.values() if program.rstrip("3") in first), "")
    return named or next((program for end, program in CODE.items() if path.endswith(end) and not first), "bash")


def _as_input(program: str, text: str, arguments: Sequence[str] = ()) -> str:
    """Return the command line by which a program gets a text as its input."""
    end = "END_OF_FILE"
    while end in text:
        end += "_"
    if program in SHELLS or program in SOURCING:
        program, text = "bash", _chosen(text, arguments)
    program = RUNNERS.get(program, program)
    words = arguments if program in DATABASES else ["-"] if program in CODE_OPTIONS else []
    return f"{' '.join([program, *words])} <<'{end}'\n{text}\n{end}"


def _chosen(text: str, arguments: Sequence[str]) -> str:
    """Return a script without those branches of `case "$1" in` that the arguments do not choose."""
    if "case " not in text or "$1" not in text.replace("{", ""):
        return text
    kept: list[str] = []
    inside = skipped = is_found = False
    for line in text.splitlines():
        bare = line.strip()
        label, closed, _ = bare.partition(")")
        if bare.startswith("case ") and "$1" in bare.replace("{", ""):
            inside, is_found = True, False
        elif bare.startswith("esac"):
            inside = skipped = False
        elif inside and not skipped and closed and not NO_LABEL.intersection(label.replace(" | ", "|")):
            names = [name.strip(" '\"") for name in label.split("|")]
            is_chosen = "".join(arguments[:1]) in names or ("*" in names and not is_found)
            is_found = is_found or is_chosen
            skipped = not is_chosen
        kept.append("" if skipped else line)
        skipped = skipped and not bare.endswith(";;")
    return "\n".join(kept)


def _recipes(text: str, targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the recipes of targets, the first one by default, and of what these depend on."""
    recipes: dict[str, tuple[list[str], list[str]]] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] in {"\t", " "} and name:
            recipes[name][1].append(line.strip().lstrip("@-+"))
        elif ":" in line and line[:1] not in {"\t", " ", "#", "."} and ":=" not in line:
            names, _, after = line.partition(":")
            name = names.split()[0] if names.split() else ""
            recipes.setdefault(name, (after.partition("#")[0].split(), []))
    wanted = list(targets) or list(recipes)[:1]
    for target in wanted:
        needs, lines = recipes.get(target, ([], []))
        room = max(MOST_TARGETS - len(wanted), 0)
        wanted += [need for need in needs if need not in wanted and need in recipes][:room]
        if lines:
            yield f" ({target})", _as_input("bash", "\n".join(map(_for_shell, lines)))


def _for_shell(line: str) -> str:
    """Return a line of a recipe as a shell gets it: make's own `$(NAME)` as `${NAME}`, and `$$` as a dollar."""
    first, *others = line.split("$(")
    names = [other.partition(")") for other in others]
    own = (f"${{{name}}}{rest}" if name.isidentifier() else f"$({name}{end}{rest}" for name, end, rest in names)
    return (first + "".join(own)).replace("$$", "$")


def _package_scripts(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield a script of a package, with those that run before and after it; of an edit only some lines are known."""
    part = text.strip(BETWEEN_LINES)
    for whole in (text, f'{{"scripts": {{{part}}}}}', f"{{{part}}}}}"):
        try:
            content = loads(whole)
            break
        except ValueError:
            content = None
    scripts = content.get("scripts", content.get("tasks")) if isinstance(content, dict) else None
    for script_name in (f"pre{name}", name, f"post{name}"):
        written = scripts.get(script_name) if isinstance(scripts, dict) else None
        if isinstance(written, str):
            yield f" ({script_name})", _as_input("bash", written)


def _cron_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of the lines for cron in a text."""
    for line in text.splitlines():
        at = 1 if line.startswith("@") else 5
        fields = line.split(None, at)
        if len(fields) > at and (at == 1 or TIMES.issuperset("".join(fields[:at]))):
            yield "", _as_input("bash", fields[at])
