"""The guard guards itself: tool calls that would weaken deia in the person's name are refused, each time.

This is code and no trigger, so no setting, mute or exception lifts it. A person types the same in a terminal of theirs.
What only reads, mentions, prints or searches passes, as does an edit of a host's settings that leaves the hook alone.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import one_line, shorten
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.templates import is_dry
from deia.watch.silence.command_effects import calls_deia, code_effects, code_of, command_effects, harmless_filter
from deia.watch.silence.file_effects import ADDED, CODED, GONE, PART, SEALED, WHOLE, Effect, plain_name, tool_effects
from deia.watch.silence.protected_places import SCRIPTS, SETTINGS_FILES, Places, is_profile, text_at
from deia.watch.silence.weakened_text import (
    TOP,
    VARIABLES,
    WEAKENING,
    is_weak_variable,
    names_hook,
    weak_settings,
    weak_variables,
    weakened_host,
)
from deia.watch.turn.tool_call import (
    COMMAND_FIELDS,
    MOST_CALL,
    SILENT_TOOLS,
    WRITE_TOOLS,
    is_shell,
    strings,
    watched_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deia.watch.shell.nodes import Command

REFUSED = (
    "deia refused this call: {reason}. Only the person may do what weakens deia, in a terminal of theirs; it never"
    " passes as a tool call, however it is written. You may tell them what was stopped and why."
)
SPOKEN = frozenset(
    "mute mode allow uninstall remove trust untrust user collection".split()
)  # commands that are the person's
# Beginnings of the ids of proposals that weaken guards which are not the project's own.
MILDER = ("form-", "mute-")
LISTS = (["user", "list"], ["collection", "list"])  # of the same families, which only show
SHOWING = frozenset(("--list", "--help", "-h", "--off", "--remove", "--dry-run"))  # options that make them harmless
VALUED = frozenset(("--commons", "--folder", "--path", "--for", "--port", "--trigger"))  # whose value is any next word
PAGE = "/page"  # the path of the page of a server of deia
HELP = frozenset(("--help", "-h"))
TERMINAL_MAKERS = frozenset(("script", "expect", "unbuffer", "socat"))
REMOVING = frozenset(("uninstall", "remove", "rm", "unlink", "disable", "delete", "purge"))
INSTALLERS = frozenset(
    "pip pipx uv uvx conda mamba micromamba poetry pdm rye pixi hatch brew claude gemini codex copilot qwen apt apt-get"
    " dnf npm pnpm yarn".split()
)
HOSTS = frozenset("claude codex gemini copilot cursor-agent droid amp opencode kiro-cli q cline qwen".split())
EXPORTERS = frozenset("export set setx setenv declare typeset readonly launchctl systemctl tmux".split())
PASSIVE_TOOLS = WRITE_TOOLS | SILENT_TOOLS  # their input is text that they do not run
SHELL_INPUT = "chars"  # the field that one host's tool types into a running shell
MOST_SHOWN = 160
MOST_TEXT = 200_000  # characters of a script that is written


def refusal(turn: Turn, *, folder: str, environ: Mapping[str, str], state: str = "") -> str:
    """Return why a tool call that would weaken deia is refused, or ""; `folder` is the working folder."""
    places = Places(folder, environ, state=state)
    reason = next(_reasons(turn, places), "")
    return REFUSED.format(reason=shorten(one_line(reason), MOST_SHOWN)) if reason else ""


def _reasons(turn: Turn, places: Places) -> Iterator[str]:
    for line in _lines(turn):
        language = "powershell" if "powershell" in turn.tool.lower() or "pwsh" in turn.tool.lower() else "bash"
        yield from _line_reasons(line, places, language)
    if not is_shell(turn):
        yield from _file_reasons(tool_effects(turn), places, "")
    if plain_name(turn.tool) not in PASSIVE_TOOLS and any(PAGE in text for text in strings(turn.tool_input)):
        from deia.watch.silence.page_address import names_page  # noqa: PLC0415 - hardly any call names such a path

        if names_page(turn.tool_input, places.state):
            yield "it would use the page of deia, which only the person may use"


def _lines(turn: Turn) -> Iterator[str]:
    """Yield the command lines that a call runs: those of shells, and of tools of other servers that take a command."""
    if is_shell(turn):
        yield watched_command(turn)
        return
    name = plain_name(turn.tool)
    fields = (SHELL_INPUT,) if name == "write_stdin" else () if name in PASSIVE_TOOLS else COMMAND_FIELDS
    for field in fields:
        value = (turn.tool_input or {}).get(field)
        if isinstance(value, (list, tuple)):
            value = " ".join(word for word in value if isinstance(word, str))
        if isinstance(value, str) and value:
            yield value[:MOST_CALL]


def _line_reasons(line: str, places: Places, language: str = "bash") -> Iterator[str]:
    commands = parse_commands(line, shell=language)
    for command in commands:
        yield from _command_reasons(command)
    for command in commands:
        effects = list(command_effects(command))
        if is_dry(command):
            effects = [effect for effect in effects if any(effect.path == target for _, target in command.redirects)]
        code = code_of(command)
        yield from _file_reasons((*effects, *code_effects(code)) if code else effects, places, command.folder, commands)
    if language == "powershell":
        yield from map(_setting_variable, weak_variables(line.replace("$env:", "set ")))


def _command_reasons(command: Command) -> Iterator[str]:
    """Yield why a command is refused for what it runs, whatever files it touches."""
    program = command.program.lower().removesuffix(".exe")
    for setting in command.environment:
        name, _, value = setting.partition("=")
        if is_weak_variable(name, value):
            yield _setting_variable(setting)
    arguments = [word for at, word in enumerate(command.arguments) if at not in command.data]
    if program in EXPORTERS:
        yield from map(_setting_variable, _exported(program, arguments))
    words = _deia_words(program, arguments, command.stdin if command.through[-1:] == ("xargs",) else "")
    plain = [word for at, word in enumerate(words) if not at or words[at - 1] not in VALUED]
    showing = HELP if words[:1] == ["page"] else SHOWING
    showing = showing - {"--remove"} if words[:1] in (["trust"], ["mode"]) else showing  # removing weakens, too
    if words and showing.isdisjoint(plain):
        yield from _own_command(words, has_terminal=not TERMINAL_MAKERS.isdisjoint(command.through))
    if program in INSTALLERS | HOSTS and REMOVING.intersection(arguments) and not is_dry(command):
        named = any(word.partition("@")[0].partition("=")[0].partition("[")[0] == "deia" for word in arguments)
        hooks = program in HOSTS and {"hooks", "features", "hook"}.intersection(arguments)
        if named or hooks:
            yield f"`{' '.join((program, *arguments))}` would take deia away"
    if program in HOSTS and any(_switches_off(word) for word in command.arguments):
        yield f"it would start {program} with its hooks switched off"
    if calls_deia(code_of(command)):
        yield "this code would silence deia"


def _setting_variable(setting: str) -> str:
    return f"{setting} would switch deia off or weaken it"


def _exported(program: str, arguments: list[str]) -> Iterator[str]:
    """Yield the weakening variables that `export`, `set -x`, `setx`, `setenv` and the like set."""
    for at, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        after = "".join(arguments[at + 1 : at + 2])
        if equals:
            weak = is_weak_variable(name, value)
        else:
            weak = is_weak_variable(word, after) if after else program == "export" and word in VARIABLES
        if weak:
            yield word if equals else f"{word}={after}"


def _deia_words(program: str, arguments: list[str], stdin: str) -> list[str]:
    """Return the words that deia itself is given, or nothing if another program runs."""
    words = [*arguments, *stdin.split()]
    if program.startswith(("python", "pypy", "py")) and program not in {"pytest", "pylint", "pyright"}:
        at = next((at for at, word in enumerate(words) if _is_deia(word)), -1)
        words = words[at + 1 :] if at >= 0 else []
    elif not _is_deia(program):
        return []
    return words[2:] if words[:1] == ["--commons"] else words


def _is_deia(word: str) -> bool:
    name = word.replace("\\", "/").lower()
    return name in {"deia", "deia.serve", "deia.serve.main"} or name.endswith(("/deia", "deia/serve/main.py"))


def _own_command(words: list[str], *, has_terminal: bool) -> Iterator[str]:
    """Yield why a command of deia is refused; `has_terminal` if the call makes a terminal, in which deia may ask."""
    plain = [word for word in words if word[:1] != "-"]
    word = plain[0] if plain else ""
    if plain == ["mode"] or plain in LISTS:  # it only shows
        return
    if word in SPOKEN or (word == "install" and "--uninstall" in words):
        yield f"`deia {' '.join(words)}` would silence deia, take it out, or change whom it trusts or serves"
    elif word == "page":
        yield f"`deia {' '.join(words)}` would open the page, which only the person may use"
    elif plain[:2] in (["trigger", "replay"], ["triggers", "replay"]) and (
        has_terminal or any(word.startswith("--mu") for word in words)
    ):
        yield f"`deia {' '.join(words)}` would silence deia"
    elif plain[:2] == ["learn", "apply"] and any(name.startswith(MILDER) for name in plain[2:]):
        yield f"`deia {' '.join(words)}` would make a guard of deia milder"
    elif word == "config" and plain[1:2] in (["set"], ["unset"]):
        name = "".join(plain[2:3]).partition("=")[0].partition(".")[0]
        if name in WEAKENING:
            yield f"`deia {' '.join(words)}` would weaken deia"


def _switches_off(word: str) -> bool:
    bare = "".join(word.split()).lower()
    return '"disableallhooks":true' in bare or bare in {"features.hooks=false", "--disable=hooks"}


def _file_reasons(
    effects: Iterator[Effect] | list[Effect] | tuple[Effect, ...],
    places: Places,
    folder: str,
    commands: list[Command] | None = None,
) -> Iterator[str]:
    """Yield why a call is refused for what it does to files; edits of one file are taken together."""
    together: dict[str, list[Effect]] = {}
    inside = places.may_hold(folder or places.folder)  # then a bare name may name a file in a protected folder
    for effect in effects:
        if not (inside or places.may_hold(effect.path) or "deia" in (effect.new or "").lower()):
            continue
        together.setdefault(places.located(effect.path, folder), []).append(effect)
    for path, changes in together.items():
        deep = any(change.kind in {GONE, SEALED} for change in changes)
        if places.is_own(path, deep=deep):
            yield f"{changes[0].path} belongs to deia itself"
            continue
        for host_file in dict.fromkeys(places.host_files(path, deep=deep)):
            yield from _host_reasons(host_file, changes, places, commands or [])
        yield from _text_reasons(path, changes)


def _host_reasons(path: str, changes: list[Effect], places: Places, commands: list[Command]) -> Iterator[str]:
    before = text_at(path)
    guarded = before is None or names_hook(before)
    after = before or ""
    whole = before is not None
    for change in changes:
        new = _new_text(change, after, places, commands)
        if change.kind in {GONE, SEALED} or new is None:
            if guarded:
                yield f"deia's hook would go from {change.path}"
            return
        if change.kind == CODED or (change.kind == PART and change.old and change.old not in after):
            whole = whole and change.kind == CODED
            lost = weakened_host(change.old, change.new or "", whole=False)
            if lost:
                yield f"{lost} {change.path}"
        after = new
    lost = weakened_host(before or "", after, whole=whole, own=not path.lower().endswith((".json", ".toml")))
    if lost:
        yield f"{lost} {changes[0].path}"


def _new_text(change: Effect, before: str, places: Places, commands: list[Command]) -> str | None:
    """Return the text of a file after a change, or None if the call does not show it."""
    if change.kind == PART:
        return (
            before.replace(change.old, change.new or "", -1 if change.every else 1)
            if change.old
            else (before + (change.new or ""))
        )
    if change.kind == CODED:
        return before
    if change.kind == ADDED:
        return None if change.new is None else before + change.new
    if change.new is None and change.kind == WHOLE:
        if _by_harmless_filter(change, commands):
            return before
        return text_at(places.located(change.source)) or None if change.source else None
    return change.new


def _by_harmless_filter(change: Effect, commands: list[Command]) -> bool:
    """Return whether jq or yq rewrites a file without touching hooks."""
    for command in commands:
        if command.program == "sponge" or (command.program == "yq" and change.old):
            return any(harmless_filter(other.arguments) for other in commands if other.program in {"jq", "yq"})
        targets = {target for _, target in command.redirects}
        if command.program in {"jq", "yq"} and change.source in targets and harmless_filter(command.arguments):
            return True
    return False


def _text_reasons(path: str, changes: list[Effect]) -> Iterator[str]:
    """Yield why a file of settings, variables or commands may not get this text."""
    name = path.lower().rpartition("/")[2]
    profile = is_profile(path)
    if name in SETTINGS_FILES:
        yield from _settings_reasons(path, changes, TOP if name == "pyproject.toml" else "")
    if not (profile or name.endswith(SCRIPTS) or any((change.new or "")[:2] == "#!" for change in changes)):
        return
    for change in changes:
        old, new = change.old, (change.new or "")[:MOST_TEXT]
        if profile:
            known = set(weak_variables(old))
            yield from (_setting_variable(setting) for setting in weak_variables(new) if setting not in known)
        if "deia" in new:
            known = {reason for command in parse_commands(old) for reason in _command_reasons(command)}
            for command in parse_commands(new):
                yield from (reason for reason in _command_reasons(command) if reason not in known)


def _settings_reasons(path: str, changes: list[Effect], top: str) -> Iterator[str]:
    """Yield why a file of deia's settings may not get a setting that weakens deia."""
    before = text_at(path) or ""
    for change in changes:
        old, new = change.old, change.new or ""
        if change.kind == PART and old and old in before:
            old, new = before, before.replace(old, new, -1 if change.every else 1)
        elif change.kind == ADDED and top:
            old, new = before, before + "\n" + new
        elif change.kind == WHOLE:
            old, new = before, new if change.new is not None else _scripted(change.old)
        known = set(weak_settings(old, top=top))
        for setting in weak_settings(new, top=top):
            if setting not in known:
                yield f"{setting} in {change.path} would weaken deia"


def _scripted(script: str) -> str:
    """Return the settings that a script of sed puts into a file, as far as its own text names them."""
    lines: list[str] = []
    for line in script.replace("\\n", "\n").replace("\\", "").splitlines():
        at = max(line.rfind(name) for name in WEAKENING)
        lines += [line[at:].partition("/")[0]] if at >= 0 else []
    return "\n".join(lines)
