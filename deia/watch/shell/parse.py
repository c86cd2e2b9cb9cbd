"""Find every command that a command line would run.

That is also behind sudo, xargs and `bash -c`, on the far side of ssh and docker, in pipes into a shell, in `$(…)`, in
code that starts programs. It runs nothing, expands nothing but a variable whose value stands in the same text, and
never raises: the hook reads with it whatever an agent is about to type. Work is bounded by the length of the text.
"""

from __future__ import annotations

from deia.watch.shell.data_arguments import data_arguments
from deia.watch.shell.expansion import expanded, loop_values, lowered, unaliased
from deia.watch.shell.nodes import Command, Inner, Redirect, Simple, base_name, options_end, unescape
from deia.watch.shell.posix import LAST_COMMANDS, MAX_COMMANDS, read_bash
from deia.watch.shell.posix_words import MAX_DEPTH
from deia.watch.shell.prefixes import key_of
from deia.watch.shell.programs import CODE_OPTIONS, SHELLS, SHORT_NAMES
from deia.watch.shell.wrappers import is_transparent, peel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Command", "Redirect", "parse_commands"]

# Scripts inside scripts may repeat the text they stand in, but not without end.
_MAX_REREADING = 4
_SLACK = 20_000
_MOST_RESERVED = 3  # scripts inside scripts, each of which leaves room for the last commands of those around it
_MOST_EXPORTED = 64  # every later command carries them
_MOST_LISTS = 16
_LONGEST_VALUE = 400  # characters of a variable that is put in the place of its name
# Code in another language has one of these; what has none and stands in its place is a shell line, meant for a shell.
_CODE_MARKS = frozenset("()=;'\"`[]{}.,+")
_FED = (("xargs",), ("parallel",))
_EXPORTERS = frozenset(("export", "declare", "typeset", "readonly", "local", "setenv"))
_FEEDERS = 4  # commands of a pipe that the text of what xargs runs begins with
_PRINTERS = frozenset(("echo", "printf", "cat", "print", "write-output"))
# What runs the text that it is given: piped into one of them, the output of a command is a program.
_RUNS_TEXT = SHELLS | frozenset(CODE_OPTIONS) | frozenset(("iex", "invoke-expression"))
_DECODES = frozenset(("-d", "-D", "-di", "--decode"))
_GOES = frozenset(("cd", "pushd", "chdir", "set-location", "sl"))
_LISTS = frozenset(("get-childitem", "gci", "ls", "dir", "get-item", "gi"))
_KEPT = _GOES | frozenset(("alias", "read"))
_REMOVES = frozenset(("remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"))


def parse_commands(line: str, *, shell: str = "bash") -> list[Command]:
    """Return the commands that a line, or a whole script, would run, in the order in which they would start.

    `shell` is "bash" (for every POSIX-like shell), "powershell" or "cmd"; another name is read as bash.
    """
    run = _Run(len(line) * _MAX_REREADING + _SLACK)
    _read_script(run, line, shell, _Place())
    return run.commands


class _Run:
    """Hold what one call of `parse_commands` gathers."""

    __slots__ = ("aliases", "budget", "commands", "exported", "folders", "lists", "variables")

    def __init__(self, budget: int) -> None:
        self.commands: list[Command] = []
        self.budget = budget  # characters that may still be read
        self.variables: dict[str, str] = {}
        self.exported: list[str] = []
        self.aliases: dict[str, str] = {}
        self.lists: dict[str, tuple[str, ...]] = {}  # variables of loops
        self.folders: list[tuple[int, str]] = []  # where `cd` went, and how deep in subshells


class _Place:
    """Hold where a command stands: what it is behind, and what is already listed there."""

    __slots__ = ("depth", "environment", "listed", "through")

    def __init__(
        self,
        through: tuple[str, ...] = (),
        environment: tuple[str, ...] = (),
        depth: int = 0,
        listed: frozenset[str] = frozenset(),
    ) -> None:
        self.through = through
        self.environment = environment
        self.depth = depth
        self.listed = listed


def _read_powershell(script: str) -> list[Simple]:
    from deia.watch.shell.powershell import read_powershell  # noqa: PLC0415 - a fifth of the parser, hardly ever wanted

    return read_powershell(script)


def _read_cmd(script: str) -> list[Simple]:
    from deia.watch.shell.powershell import read_cmd  # noqa: PLC0415 - as above

    return read_cmd(script)


_READERS: dict[str, Callable[[str], list[Simple]]] = {
    "bash": read_bash,
    "powershell": _read_powershell,
    "cmd": _read_cmd,
}


def _read_script(run: _Run, script: str, shell: str, place: _Place) -> None:
    if place.depth > MAX_DEPTH or run.budget < len(script):
        return
    run.budget -= len(script) + 1
    outer, run.folders = run.folders, run.folders[-1:]
    simples = _READERS.get(shell, read_bash)(script)
    most = MAX_COMMANDS - LAST_COMMANDS * min(place.depth, _MOST_RESERVED)
    for at, simple in enumerate(simples, LAST_COMMANDS):
        if len(run.commands) >= (most if at >= len(simples) else most - LAST_COMMANDS):
            continue
        if simple.text in place.listed:
            continue  # a substitution that the line around already ran
        while run.folders and run.folders[-1][0] > simple.level:
            run.folders.pop()  # the subshell that went there has ended
        if simple.kind in ("for", "select"):
            _remember_list(run, simple.words)
        elif simple.words:
            _expand(run, simple, _known_words(run, simple.words), place)
        else:
            _remember(run, simple, place)
    run.folders = outer


def _remember_list(run: _Run, words: list[str]) -> None:
    name, values = loop_values(words)
    if name and len(run.lists) < _MOST_LISTS:
        run.lists[name] = values


def _remember(run: _Run, simple: Simple, place: _Place) -> None:
    """Keep the variables that a line of assignments sets, and list a redirection that stands alone."""
    for assignment in simple.assignments:
        name, _, value = assignment.partition("=")
        run.variables[name] = value
    if simple.redirects:
        run.commands.append(
            Command("", through=place.through, redirects=tuple(simple.redirects), stdin=simple.stdin, text=simple.text)
        )


def _known(run: _Run, word: str) -> str:
    """Return the value of a word that is a variable set in the same text, else the word."""
    if word[:1] != "$" or not run.variables:
        return word
    name = word[2:-1] if word[:2] == "${" else word[1:]
    return run.variables.get(name, word)


def _known_path(run: _Run, word: str) -> str:
    """Return a word whose variable at the beginning is set in the same text with its value in place."""
    if word[:1] != "$" or not run.variables:
        return word
    end = word.find("}") + 1 if word[:2] == "${" else len(word.partition("/")[0])
    known = _known(run, word[:end])
    fits = len(known) <= _LONGEST_VALUE and (len(known.split()) == 1 or known[:2] == "$(")
    return known + word[end:] if fits else word


def _known_words(run: _Run, words: list[str]) -> list[str]:
    """Return words with a program that is a known variable, or has a well-known short name, spelled out."""
    if words[0] in SHORT_NAMES and words[0] not in run.aliases:
        return [*SHORT_NAMES[words[0]], *words[1:]]
    if words[0][:1] not in {"$", "`"}:
        return words
    found = _looked_up(words[0])
    if found:
        return [found, *words[1:]]
    spelled = _known(run, words[0])
    return words if spelled is words[0] else [*(spelled.split() or [spelled]), *words[1:]]


def _looked_up(word: str) -> str:
    """Give the program that a substitution only finds the place of: `$(which rm)`, `` `command -v git` ``."""
    inner = word[2:-1].split() if word[:2] == "$(" else word[1:-1].split()
    finds = inner[:1] == ["which"] or inner[:2] in (["command", "-v"], ["type", "-p"], ["type", "-P"])
    return inner[-1] if finds and len(inner) <= 3 and inner[-1].replace("-", "").isalnum() else ""


def _expand(run: _Run, simple: Simple, words: list[str], place: _Place) -> None:
    """List the command that these words are, or what they run in its place."""
    words = expanded(words, run.lists)
    if words[0] in run.aliases:
        words = _meant(run, words, place)
        if not words:
            return
    if words[0].isupper() and words[0].isalpha():
        words = lowered(words)
    program = base_name(words[0])
    key = key_of(program)
    if key == "git":
        words, place = _with_settings(run, simple, words, place)
    elif key in _EXPORTERS:
        _export(run, words)
    elif key in _KEPT:
        _keep(run, key, words, simple.level)
    stdin = simple.stdin or (_output(run, simple.fed) if simple.fed is not None else "")
    inners = peel(key, words, stdin) if place.depth < MAX_DEPTH and run.budget > len(simple.text) else []
    if not inners and simple.fed is not None and not stdin and key in _RUNS_TEXT:
        _run_output(run, simple, words, place)
    if not inners or not is_transparent(key):
        scripts = frozenset(inner.script for inner in inners if inner.kind in _READERS)
        _list(run, simple, words, place, stdin=stdin, scripts=scripts)
    for inner in inners:
        _enter(run, simple, inner, place)


def _meant(run: _Run, words: list[str], place: _Place) -> list[str]:
    """Give the words that an alias of the same text stands for; empty where it is a script, which is then read."""
    meaning = run.aliases.pop(words[0])  # an alias is not looked up in itself
    meant = unaliased(words, meaning)
    if not meant:
        _read_script(run, meaning, "bash", _Place(place.through, place.environment, place.depth + 1, place.listed))
    return meant


def _keep(run: _Run, key: str, words: list[str], level: int) -> None:
    """Keep what a line changes for those after it: an alias, a variable that is read, the working folder."""
    if key == "read":
        _remember_list(run, words)
    elif key == "alias":
        for word in words[1:]:
            name, equals, meaning = word.partition("=")
            if equals and len(run.aliases) < _MOST_LISTS and meaning.strip():
                run.aliases[name] = meaning
    else:
        at = options_end(words, 1, "")
        target = _known_path(run, words[at]) if at < len(words) else "~"
        unknown = target == "-" or (target[:1] in "$`" and not target.startswith(("$(mktemp", "$HOME", "$TMP")))
        run.folders.append((level, "" if unknown else target))


def _run_output(run: _Run, simple: Simple, words: list[str], place: _Place) -> None:
    """List what a shell or interpreter runs that gets its program through a pipe: `$(…)`, the commands before it."""
    mark = "$(" + _fed_text(simple).rpartition(" | ")[0] + ")"
    for inner in peel(key_of(base_name(words[0])), words, mark):
        if inner.script == mark:
            within = _Place((*place.through, inner.label), place.environment, place.depth)
            _list(run, simple, [mark], within, stdin="", scripts=frozenset())


def _export(run: _Run, words: list[str]) -> None:
    """Keep what a line puts into the environment of the lines after it."""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier() and len(run.exported) < _MOST_EXPORTED:
            run.variables[name] = value
            run.exported.append(word)


def _with_settings(run: _Run, simple: Simple, words: list[str], place: _Place) -> tuple[list[str], _Place]:
    """Spell out git's alias, and list what its environment makes it run; settings given to it join its environment."""
    environment = (*run.exported, *place.environment, *simple.assignments)
    if not environment and not any(word.startswith("-c") for word in words[1:8]):
        return words, place
    from deia.watch.shell.git import programs_run, settings_of, unaliased_git  # noqa: PLC0415 - wanted by few lines

    settings = settings_of(words, environment)
    meant = unaliased_git(words, settings)
    within = _Place((*place.through, "git"), place.environment, place.depth + 1, place.listed)
    if meant[0] == "!":
        _read_script(run, meant[1], "bash", within)
        meant = words
    for script in programs_run(meant, (*environment, *settings)):
        _read_script(run, script, "bash", within)
    return meant, _Place(place.through, (*place.environment, *settings), place.depth, place.listed)


def _list(run: _Run, simple: Simple, words: list[str], place: _Place, *, stdin: str, scripts: frozenset[str]) -> None:
    program = base_name(words[0])
    if simple.fed is not None and program.lower() in _REMOVES:
        words = words + _listed_paths(simple.fed)
    data = data_arguments(key_of(program), words[1:])
    if scripts:  # read as commands of their own, so not to be matched a second time as text
        data |= {at for at, word in enumerate(words[1:]) if word and word in scripts and " " in word}
    run.commands.append(
        Command(
            program,
            tuple(_known_path(run, word) for word in words[1:]),
            data=data,
            through=place.through,
            redirects=tuple(simple.redirects),
            stdin=stdin,
            environment=(*run.exported, *place.environment, *simple.assignments),
            folder=run.folders[-1][1] if run.folders else "",
            text=_fed_text(simple, words) if place.through[-1:] in _FED else simple.text,
        )
    )


def _listed_paths(feed: Simple) -> list[str]:
    """Give the paths that PowerShell hands on to what removes them: `Get-ChildItem x | Remove-Item`."""
    if not feed.words or feed.words[0].lower() not in _LISTS:
        return []
    return [word for word in feed.words[1:] if word[:1] != "-"]


def _fed_text(simple: Simple, words: Sequence[str] = ()) -> str:
    """Return the text of a command with those that feed it: what is deleted by xargs stands there."""
    if any(word.startswith(("-a", "--arg-file")) for word in simple.words[1:6]):
        return f"{simple.words[0]} {' '.join(words)}"  # the items stand in a file, whose name says nothing of them
    texts = [simple.text]
    for _ in range(_FEEDERS):
        if simple.fed is None:
            break
        simple = simple.fed
        texts.append(simple.text)
    return " | ".join(reversed(texts))


def _enter(run: _Run, simple: Simple, inner: Inner, place: _Place) -> None:
    listed = place.listed
    if simple.live:
        listed = listed | {live.text for live in simple.live}
    within = _Place((*place.through, inner.label), (*place.environment, *inner.environment), place.depth + 1, listed)
    if inner.words:
        run.budget -= sum(map(len, inner.words))
        _expand(run, simple, _known_words(run, inner.words), within)
    elif inner.kind in _READERS:
        _read_script(run, _known(run, inner.script), inner.kind, within)
    else:
        _enter_code(run, simple, inner, within)


def _enter_code(run: _Run, simple: Simple, inner: Inner, within: _Place) -> None:
    from deia.watch.shell.embedded_code import commands_in  # noqa: PLC0415 - most lines hold no code of another language

    run.budget -= len(inner.script)
    if not _CODE_MARKS.intersection(inner.script):
        _read_script(run, inner.script, "bash", within)
    for words in commands_in(inner.script, inner.kind):
        if len(words) == 1:
            _read_script(run, words[0], "bash", within)
        elif run.budget > 0:
            run.budget -= sum(map(len, words))
            bare = Simple(simple.start)
            bare.text = simple.text
            _expand(run, bare, words, within)


def _output(run: _Run, simple: Simple) -> str:
    """Return what a command prints into a pipe, as far as its own words tell."""
    if not simple.words:
        return ""
    key = key_of(base_name(simple.words[0]))
    if key == "base" and simple.fed is not None and any(word in _DECODES for word in simple.words[1:]):
        return _decoded(_output(run, simple.fed))
    if key not in _PRINTERS:
        return ""
    if key == "cat":
        return simple.stdin if all(word == "-" for word in simple.words[1:]) else ""
    words = [_known(run, word) for word in simple.words[1:]]
    if key == "printf":
        return _formatted(words)
    escapes = False
    while words and words[0][:1] == "-" and words[0][1:] and not words[0][1:].strip("neE"):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return unescape(text) if escapes else text


def _decoded(text: str) -> str:
    from deia.watch.shell.obfuscation import decoded  # noqa: PLC0415 - hardly any line holds base64

    return decoded("".join(text.split()))


def _formatted(words: list[str]) -> str:
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        return ""
    template, values = unescape(words[0]), words[1:]
    pieces = template.replace("%b", "%s").replace("%q", "%s").split("%s")
    if len(pieces) == 1:
        return template.replace("%%", "%")
    step = len(pieces) - 1
    filled: list[str] = []
    for at in range(0, max(1, len(values)), step):
        row = values[at : at + step]
        for place, piece in enumerate(pieces):
            filled += (piece, row[place] if place < len(row) else "")
    return "".join(filled)
