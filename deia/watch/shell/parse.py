"""Find every command that a command line would run.

That includes commands behind sudo, xargs and `bash -c`, on the far side of ssh and docker, in pipes into a shell, in
`$(…)`, and in code that starts programs. Nothing is run, and only variables that the same text sets are expanded. It
never raises: the hook uses it on whatever an agent is about to type. The work is bounded by the length of the text.
"""

from __future__ import annotations

from deia.watch.shell.arguments import data_arguments, expanded, loop_values, lowered, unaliased
from deia.watch.shell.nodes import Command, Inner, Simple, base_name, options_end, unescape
from deia.watch.shell.posix import LAST_COMMANDS, MAX_COMMANDS, read_bash
from deia.watch.shell.posix_words import MAX_DEPTH
from deia.watch.shell.programs import CODE_OPTIONS, SHELLS, SHORT_NAMES, TRANSPARENT
from deia.watch.shell.runners import key_of
from deia.watch.shell.wrappers import peel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Scripts inside scripts may repeat the text around them, within these limits.
_MAX_REREADING = 4
_EXTRA_READING = 20_000
_MOST_RESERVED = 3  # nested scripts that leave room for the last commands of those around them
_MOST_EXPORTED = 64  # variables; every later command has them
_MOST_NAMES = 16
_LONGEST_VALUE = 400  # characters of a variable whose value replaces its name
# Code in another language has at least one of these characters; without any, the text is a line for a shell.
_CODE_MARKS = frozenset("()=;'\"`[]{}.,+")
_FED_WRAPPERS = (("xargs",), ("parallel",))
_EXPORTERS = frozenset(("export", "declare", "typeset", "readonly", "local", "setenv"))
_MOST_FEEDERS = 4  # commands of a pipe whose text is put before that of what xargs runs
_SHELL_LANGUAGES = ("bash", "powershell", "cmd")
_PRINTERS = frozenset(("echo", "printf", "cat", "print", "write-output"))
# Programs that run their input: what is piped into one of them is a script.
_RUNS_TEXT = SHELLS | frozenset(CODE_OPTIONS) | frozenset(("iex", "invoke-expression"))
_DECODING_OPTIONS = frozenset(("-d", "-D", "-di", "--decode"))
_CHANGE_FOLDER = frozenset(("cd", "pushd", "chdir", "set-location", "sl"))
_PRINT_PATHS = frozenset(("get-childitem", "gci", "ls", "dir", "get-item", "gi"))
_CHANGE_STATE = _CHANGE_FOLDER | frozenset(("alias", "read"))
_REMOVE_PATHS = frozenset(("remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"))


def parse_commands(line: str, *, shell: str = "bash") -> list[Command]:
    """Return the commands that a line, or a whole script, would run, in the order in which they would start.

    `shell` is "bash" (for every POSIX-like shell), "powershell" or "cmd"; another name is read as bash.
    """
    run = _Run(len(line) * _MAX_REREADING + _EXTRA_READING)
    _read_script(run, line, shell, _Place())
    return run.commands


class _Run:
    __slots__ = ("aliases", "budget", "commands", "exported", "folders", "lists", "variables")

    def __init__(self, budget: int) -> None:
        self.commands: list[Command] = []
        self.budget = budget  # characters that may still be read
        self.variables: dict[str, str] = {}
        self.exported: list[str] = []
        self.aliases: dict[str, str] = {}
        self.lists: dict[str, tuple[str, ...]] = {}  # the values of loop variables
        self.folders: list[tuple[int, str]] = []  # for each `cd`: the depth in subshells, and the folder


class _Place:
    """Where a command is: the wrappers around it, and the commands that are listed already."""

    __slots__ = ("depth", "environment", "listed", "through")

    def __init__(
        self,
        through: tuple[str, ...] = (),
        environment: tuple[str, ...] = (),
        depth: int = 0,
        listed: frozenset[str] = frozenset(),
    ) -> None:
        self.through, self.environment = through, environment
        self.depth, self.listed = depth, listed


def _read(script: str, shell: str) -> list[Simple]:
    if shell not in ("powershell", "cmd"):
        return read_bash(script)
    from deia.watch.shell import powershell  # noqa: PLC0415 - a fifth of the parser, and rarely needed

    return powershell.read_powershell(script) if shell == "powershell" else powershell.read_cmd(script)


def _read_script(run: _Run, script: str, shell: str, place: _Place) -> None:
    """List the commands of a script; the first and the last of them if there are too many."""
    if place.depth > MAX_DEPTH or run.budget < len(script):
        return
    run.budget -= len(script) + 1
    outer, run.folders = run.folders, run.folders[-1:]
    simples = _read(script, shell)
    most = MAX_COMMANDS - LAST_COMMANDS * min(place.depth, _MOST_RESERVED)
    for at, simple in enumerate(simples, LAST_COMMANDS):
        if len(run.commands) >= (most if at >= len(simples) else most - LAST_COMMANDS):
            continue
        if simple.text in place.listed:
            continue  # a substitution that is listed already, with the line around it
        while run.folders and run.folders[-1][0] > simple.level:
            run.folders.pop()  # the subshell with that `cd` has ended
        if simple.kind in ("for", "select"):
            _remember_list(run, simple.words)
        elif simple.words:
            _expand(run, simple, _spelled_out(run, simple.words), place)
        else:
            _remember(run, simple, place)
    run.folders = outer


def _remember_list(run: _Run, words: list[str]) -> None:
    name, values = loop_values(words)
    if name and len(run.lists) < _MOST_NAMES:
        run.lists[name] = values


def _remember(run: _Run, simple: Simple, place: _Place) -> None:
    """Keep the variables that a line of assignments sets, and list a redirection without a command."""
    for assignment in simple.assignments:
        name, _, value = assignment.partition("=")
        run.variables[name] = value
    if simple.redirects:
        run.commands.append(
            Command("", through=place.through, redirects=tuple(simple.redirects), stdin=simple.stdin, text=simple.text)
        )


def _value_of(run: _Run, word: str) -> str:
    """Return the value of a word that is a variable set in the same text, else the word."""
    if word[:1] != "$" or not run.variables:
        return word
    name = word[2:-1] if word[:2] == "${" else word[1:]
    return run.variables.get(name, word)


def _path_with_value(run: _Run, word: str) -> str:
    """Return a word with the variable at its beginning replaced by its value, if the same text sets it."""
    if word[:1] != "$" or not run.variables:
        return word
    end = word.find("}") + 1 if word[:2] == "${" else len(word.partition("/")[0])
    value = _value_of(run, word[:end])
    fits = len(value) <= _LONGEST_VALUE and (len(value.split()) == 1 or value[:2] == "$(")
    return value + word[end:] if fits else word


def _spelled_out(run: _Run, words: list[str]) -> list[str]:
    """Return the words with the program spelled out if it is a known variable or a well-known short name."""
    if words[0] in SHORT_NAMES and words[0] not in run.aliases:
        return [*SHORT_NAMES[words[0]], *words[1:]]
    if words[0][:1] not in {"$", "`"}:
        return words
    program = _looked_up_program(words[0])
    if program:
        return [program, *words[1:]]
    spelled = _value_of(run, words[0])
    return words if spelled is words[0] else [*(spelled.split() or [spelled]), *words[1:]]


def _looked_up_program(word: str) -> str:
    """Return the program that a substitution looks up, as in `$(which rm)` or `` `command -v git` ``, else ""."""
    inner = word[2:-1].split() if word[:2] == "$(" else word[1:-1].split()
    finds = inner[:1] == ["which"] or inner[:2] in (["command", "-v"], ["type", "-p"], ["type", "-P"])
    return inner[-1] if finds and len(inner) <= 3 and inner[-1].replace("-", "").isalnum() else ""


def _expand(run: _Run, simple: Simple, words: list[str], place: _Place) -> None:
    """List the command that these words are, or what they run in its place."""
    words = expanded(words, run.lists)
    if words[0] in run.aliases:
        words = _unaliased_words(run, words, place)
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
    elif key in _CHANGE_STATE:
        _keep_for_later(run, key, words, simple.level)
    stdin = simple.stdin or (_output(run, simple.fed) if simple.fed is not None else "")
    inners = peel(key, words, stdin) if place.depth < MAX_DEPTH and run.budget > len(simple.text) else []
    if not inners and simple.fed is not None and not stdin and key in _RUNS_TEXT:
        _run_output(run, simple, words, place)
    if not inners or key not in TRANSPARENT:  # a wrapper is not listed itself if what it runs is
        scripts = frozenset(inner.script for inner in inners if inner.kind in _SHELL_LANGUAGES)
        _list(run, simple, words, place, stdin=stdin, scripts=scripts)
    for inner in inners:
        _enter(run, simple, inner, place)


def _unaliased_words(run: _Run, words: list[str], place: _Place) -> list[str]:
    """Return the words that an alias stands for; for an alias that is a script, list its commands and return none."""
    meaning = run.aliases.pop(words[0])  # an alias is not looked up in itself
    unaliased_words = unaliased(words, meaning)
    if not unaliased_words:
        _read_script(run, meaning, "bash", _Place(place.through, place.environment, place.depth + 1, place.listed))
    return unaliased_words


def _keep_for_later(run: _Run, key: str, words: list[str], level: int) -> None:
    """Keep what a command changes for later ones: an alias, a variable that is read, the working folder."""
    if key == "read":
        _remember_list(run, words)
    elif key == "alias":
        for word in words[1:]:
            name, equals, meaning = word.partition("=")
            if equals and len(run.aliases) < _MOST_NAMES and meaning.strip():
                run.aliases[name] = meaning
    else:
        at = options_end(words, 1, "")
        target = _path_with_value(run, words[at]) if at < len(words) else "~"
        unknown = target == "-" or (target[:1] in "$`" and not target.startswith(("$(mktemp", "$HOME", "$TMP")))
        run.folders.append((level, "" if unknown else target))


def _run_output(run: _Run, simple: Simple, words: list[str], place: _Place) -> None:
    """List `$(…)`, with the commands before it, as what a shell runs that gets its program through a pipe."""
    mark = "$(" + _text_with_feeders(simple).rpartition(" | ")[0] + ")"
    for inner in peel(key_of(base_name(words[0])), words, mark):
        if inner.script == mark:
            within = _Place((*place.through, inner.label), place.environment, place.depth)
            _list(run, simple, [mark], within, stdin="", scripts=frozenset())


def _export(run: _Run, words: list[str]) -> None:
    """Keep what a command adds to the environment of later ones."""
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier() and len(run.exported) < _MOST_EXPORTED:
            run.variables[name] = value
            run.exported.append(word)


def _with_settings(run: _Run, simple: Simple, words: list[str], place: _Place) -> tuple[list[str], _Place]:
    """Return git's words with aliases spelled out, and a place with its settings; list what these make git run."""
    environment = (*run.exported, *place.environment, *simple.assignments)
    if not environment and not any(word.startswith("-c") for word in words[1:8]):
        return words, place
    from deia.watch.shell.git import programs_run, settings_of, unaliased_git  # noqa: PLC0415 - few lines need it

    settings = settings_of(words, environment)
    git_words = unaliased_git(words, settings)
    within = _Place((*place.through, "git"), place.environment, place.depth + 1, place.listed)
    if git_words[0] == "!":
        _read_script(run, git_words[1], "bash", within)
        git_words = words
    for script in programs_run(git_words, (*environment, *settings)):
        _read_script(run, script, "bash", within)
    return git_words, _Place(place.through, (*place.environment, *settings), place.depth, place.listed)


def _list(run: _Run, simple: Simple, words: list[str], place: _Place, *, stdin: str, scripts: frozenset[str]) -> None:
    program = base_name(words[0])
    feeding = simple.fed.words if simple.fed is not None and program.lower() in _REMOVE_PATHS else []
    if feeding and feeding[0].lower() in _PRINT_PATHS:  # PowerShell: `Get-ChildItem x | Remove-Item`
        words = words + [word for word in feeding[1:] if word[:1] != "-"]
    data = data_arguments(key_of(program), words[1:])
    if scripts:  # listed as commands of their own, so not matched again as text
        data |= {at for at, word in enumerate(words[1:]) if word and word in scripts and " " in word}
    run.commands.append(
        Command(
            program,
            tuple(_path_with_value(run, word) for word in words[1:]),
            data=data,
            through=place.through,
            redirects=tuple(simple.redirects),
            stdin=stdin,
            environment=(*run.exported, *place.environment, *simple.assignments),
            folder=run.folders[-1][1] if run.folders else "",
            text=_text_with_feeders(simple, words) if place.through[-1:] in _FED_WRAPPERS else simple.text,
        )
    )


def _text_with_feeders(simple: Simple, words: Sequence[str] = ()) -> str:
    """Return the text of a command with those that are piped into it, which name what xargs deletes."""
    if any(word.startswith(("-a", "--arg-file")) for word in simple.words[1:6]):
        return f"{simple.words[0]} {' '.join(words)}"  # the items are in a file, and its name says nothing about them
    texts = [simple.text]
    for _ in range(_MOST_FEEDERS):
        if simple.fed is None:
            break
        simple = simple.fed
        texts.append(simple.text)
    return " | ".join(reversed(texts))


def _enter(run: _Run, simple: Simple, inner: Inner, place: _Place) -> None:
    listed = place.listed
    if simple.live:
        listed = listed | {live.text for live in simple.live}
    inner_place = _Place(
        (*place.through, inner.label), (*place.environment, *inner.environment), place.depth + 1, listed
    )
    if inner.words:
        run.budget -= sum(map(len, inner.words))
        _expand(run, simple, _spelled_out(run, inner.words), inner_place)
    elif inner.kind in _SHELL_LANGUAGES:
        _read_script(run, _shown(_value_of(run, inner.script)), inner.kind, inner_place)
    else:
        _enter_code(run, simple, inner, inner_place)


def _shown(script: str) -> str:
    """Return the text of a script that is all in a substitution: `bash -c "$(cat <<E …)"`."""
    head, _, body = script.partition("\n")
    end = head.partition("<<")[2].strip(" -'\"")
    return body.rpartition(f"\n{end}")[0] if head.startswith("$(cat <<") and end else script


def _enter_code(run: _Run, simple: Simple, inner: Inner, place: _Place) -> None:
    from deia.watch.shell.embedded_code import commands_in  # noqa: PLC0415 - most lines hold no code of another language

    run.budget -= len(inner.script)
    if not _CODE_MARKS.intersection(inner.script):
        _read_script(run, inner.script, "bash", place)
    for words in commands_in(inner.script, inner.kind):
        if len(words) == 1:
            _read_script(run, words[0], "bash", place)
        elif run.budget > 0:
            run.budget -= sum(map(len, words))
            bare = Simple(simple.start)
            bare.text = simple.text
            _expand(run, bare, words, place)


def _output(run: _Run, simple: Simple) -> str:
    """Return what a command prints into a pipe, as far as its own words show."""
    if not simple.words:
        return ""
    key = key_of(base_name(simple.words[0]))
    if key == "base" and simple.fed is not None and any(word in _DECODING_OPTIONS for word in simple.words[1:]):
        from deia.watch.shell.obfuscation import decoded  # noqa: PLC0415 - hardly any line holds base64

        return decoded("".join(_output(run, simple.fed).split()))
    if key == "jq" and "-n" in simple.words:
        return max(simple.words, key=len)  # its program, which holds the text that it prints
    if key not in _PRINTERS:
        return ""
    if key == "cat":
        return simple.stdin if all(word == "-" for word in simple.words[1:]) else ""
    return printed(key, [_value_of(run, word) for word in simple.words[1:]])


def printed(program: str, words: Sequence[str]) -> str:
    """Return what echo, printf or the like print, given these words."""
    words = list(words)
    if program == "printf":
        return _formatted(words)
    escapes = False
    while words and words[0][:1] == "-" and words[0][1:] and not words[0][1:].strip("neE"):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return unescape(text) if escapes else text


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
