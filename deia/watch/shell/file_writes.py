"""The files that a shell command writes, edits or deletes, by its words alone: `tee`, `cp`, `sed -i`, `dd of=`.

Tables say what each program does with its arguments; the sources of a copy are not written. The disk is not looked at,
so a destination counts as a folder only if it is written as one.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.shell.nodes import Command, option_value

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = Tables(__file__)
EACH = TABLES.pairs("each")
LAST = TABLES.pairs("last")
TARGET = "-t --target-directory"
REMOTE = frozenset(("rsync", "scp"))
OPTION = TABLES.pairs("option")
IN_PLACE = TABLES.pairs("in place")
SCRIPTED = frozenset(("sed", "gsed", "yq"))  # the first plain argument is the script, unless an option gives it
SCRIPTS = ("-e", "--expression", "-f", "--file")
CMDLETS = TABLES.pairs("cmdlets")
COPIES = ("copy-item", "move-item")  # cmdlets that write their second argument if it is not named
SWITCHES = TABLES.words("switches")
# Programs whose every plain argument is a path.
WRITING_PROGRAMS = frozenset((*EACH, "cp", "mv", "ln", "install"))
DATA = "\0"  # in place of an argument that is only data


def written_by(command: Command) -> Iterator[str]:
    """Yield the paths that a command writes, edits or deletes, including its redirections."""
    yield from (target for operator, target in command.redirects if ">" in operator and target)
    program = command.program.lower()
    words = [DATA if word and at in command.data else word for at, word in enumerate(command.arguments)]
    yield from (path for path in _paths_in_arguments(program, words) if path not in {"", DATA})


def _paths_in_arguments(program: str, words: list[str]) -> Iterator[str]:
    """Yield the paths that a program's own arguments name."""
    if program in EACH:
        yield from _plain(words, EACH[program])
    elif program in LAST:
        yield from _destinations(program, words)
    elif program in IN_PLACE and any(_edits_in_place(word) for word in words):
        yield from _edited(program, words)
    elif program in OPTION:
        value = option_value(_unjoined(words, OPTION[program]), OPTION[program])
        yield from (value,) if value and value != "-" else ()
    elif program == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    elif program in CMDLETS:
        yield from _cmdlet_paths(words, CMDLETS[program], place=int(program in COPIES))


def _plain(words: list[str], takes: str) -> list[str]:
    """Return the words that are neither options nor their values."""
    valued = frozenset(takes.split())
    result: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return result + words[at + 1 :]
        if word[:1] != "-" or word == "-":
            result.append(word)
        elif word in valued or (word[1:2] != "-" and f"-{word[-1]}" in valued):
            at += 1
        at += 1
    return result


def _destinations(program: str, words: list[str]) -> Iterator[str]:
    """Yield what a copy writes: the destination, and the files that it gets if it is a folder."""
    named = option_value(words, TARGET) if program not in REMOTE else None
    plain = _plain(words, LAST[program])
    sources, target = (plain, named) if named else (plain[:-1], plain[-1] if len(plain) > 1 else "")
    if not target or (program in REMOTE and ":" in target[2:]):
        return
    yield from (*(sources if program == "mv" else ()), target)
    if named or len(sources) > 1 or target.endswith("/") or target in {".", ".."}:
        folder = target.rstrip("/")
        yield from (f"{folder}/{name}" for source in sources if (name := source.rpartition("/")[2]))


def _edits_in_place(word: str) -> bool:
    """Return whether an option edits in place: `-i`, `-i.bak`, `-pi`, `-ni`, `--in-place=.bak`, `--inplace`."""
    if word[:2] == "--":
        return word.partition("=")[0] in {"--in-place", "--inplace"}
    return word[:1] == "-" and "i" in word[1:4]


def _edited(program: str, words: list[str]) -> list[str]:
    plain = [word for word in _plain(words, IN_PLACE[program]) if word]  # BSD writes `-i ''`
    has_script = any(word.partition("=")[0] in SCRIPTS or word[:2] == "-e" for word in words)
    return plain[1:] if program in SCRIPTED and not has_script and len(plain) > 1 else plain


def _unjoined(words: list[str], names: str) -> list[str]:
    """Return the words with `-ofile`, and `-sSLo file` of curl, split into option and value."""
    short = next(name for name in names.split() if name[1:2] != "-")
    result: list[str] = []
    for word in words:
        if word[:1] == "-" and word[1:2] != "-" and len(word) > 2 and len(short) == 2 and short[1] in word:
            rest = word.partition(short[1])[2]
            result += [short, rest] if rest else [short]
        else:
            result.append(word)
    return result


def _cmdlet_paths(words: list[str], names: str, *, place: int) -> Iterator[str]:
    """Yield the paths of a cmdlet, whose parameters may be abbreviated and whose values may be lists."""
    positional = []
    at, has_path = 0, False
    while at < len(words):
        word = words[at]
        name = word[1:].rstrip(":").lower() if word[:1] == "-" else ""
        if not name:
            positional.append(word)
        elif f"-{name}" not in SWITCHES:
            at += 1
            if any(parameter.startswith(name) for parameter in names.split()) and at < len(words):
                has_path = True
                yield from _list_items(words[at])
        at += 1
    if not has_path and len(positional) > place:
        yield from _list_items(positional[place])


def _list_items(word: str) -> list[str]:
    return [part.strip("'\" ") for part in word.split(",") if part.strip("'\" ")]
