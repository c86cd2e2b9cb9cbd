"""What git reads from its command line: settings and aliases, programs it runs, options with a value.

Only the words and the environment of one command count; the repository's own configuration is not read.
"""

from __future__ import annotations

from deia.tables import Tables
from deia.watch.shell.nodes import options_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GLOBALS = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
TABLES = Tables(__file__)
VALUES = TABLES.pairs("values")
LONG_NAMES = TABLES.pairs("long names")
CONNECTING = TABLES.words("connecting")
TRANSPORTS = TABLES.listed("transports")
PROGRAMS = TABLES.listed("programs")
MOST_SETTINGS = 64


def settings_of(words: Sequence[str], environment: Sequence[str]) -> list[str]:
    """Return the settings that git gets for this command alone, as `name=value`: by `-c` and the environment."""
    settings: list[str] = []
    at = 1
    while at < len(words) and words[at][:1] == "-":
        word = words[at]
        if word == "-c":
            settings += words[at + 1 : at + 2]
        elif word.startswith("-c"):
            settings.append(word[2:])
        at += 1 + (f" {word} " in f" {GLOBALS} ")
    variables = dict(setting.partition("=")[::2] for setting in environment if setting.startswith("GIT_CONFIG_"))
    for number in range(min(len(variables), MOST_SETTINGS)):
        name = variables.get(f"GIT_CONFIG_KEY_{number}")
        if name is not None:
            settings.append(f"{name}={variables.get(f'GIT_CONFIG_VALUE_{number}', '')}")
    quoted = variables.get("GIT_CONFIG_PARAMETERS", "").split("'")
    settings += [part for part in quoted if "=" in part.strip("=")]
    return [setting for setting in settings[:MOST_SETTINGS] if "=" in setting]


def unaliased_git(words: list[str], settings: Sequence[str]) -> list[str]:
    """Return the words with an alias of these settings spelled out; `["!", script]` if it is a shell command."""
    at = options_end(list(words), 1, GLOBALS)
    if at >= len(words):
        return words
    prefix = f"alias.{words[at]}=".lower()
    meaning = next((setting[len(prefix) :] for setting in settings if setting.lower().startswith(prefix)), "")
    if meaning.startswith("!"):
        return ["!", " ".join((meaning[1:], *words[at + 1 :]))]
    return [*words[:at], *meaning.split(), *words[at + 1 :]] if meaning.split() else words


def programs_run(words: Sequence[str], environment: Sequence[str]) -> list[str]:
    """Return the command lines that settings or the environment make git run: editors, pagers, transports."""
    at = options_end(list(words), 1, GLOBALS)
    names = PROGRAMS if "".join(words[at : at + 1]) not in CONNECTING else (*PROGRAMS, *TRANSPORTS)
    command_lines = []
    for assignment in environment:
        name, _, value = assignment.partition("=")
        if value and (name in names or name.lower() in names):
            command_lines.append(value)
    return command_lines


def without_values(arguments: list[str]) -> list[str]:
    """Return git's arguments without the values of options, so that no value is taken for an option or a path."""
    at = options_end(["git", *arguments], 1, GLOBALS) - 1
    if at >= len(arguments):
        return arguments
    takes = f" {VALUES.get(arguments[at], '')} "
    kept = [word for word in arguments[:at] if word != "--"] + arguments[at : at + 1]
    at += 1
    while at < len(arguments):
        word = arguments[at]
        kept.append(word)
        if word == "--":
            return [*kept, *arguments[at + 1 :]]
        at += 2 if f" {word} " in takes else 1
    return kept


def long_names(program: str, arguments: Sequence[str]) -> dict[str, str]:
    """Return the long name of each short option of a program (for git, of its sub-command), as in its manual."""
    key = program.lower()
    if key == "git":
        at = options_end(["git", *arguments], 1, GLOBALS) - 1
        key = f"git {arguments[at]}" if at < len(arguments) else key
    pairs = (pair.partition("=") for pair in LONG_NAMES.get(key, "").split())  # short=long
    return {f"-{short}": f"--{long}" for short, _, long in pairs}
