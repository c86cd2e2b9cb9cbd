"""The files that a shell command writes, edits or deletes, told from its words alone: `tee`, `cp`, `sed -i`, `dd of=`.

Tables of programs and of what each does with its arguments; sources of a copy are not written. Refuses to look at the
disk, so a destination is taken for a folder only where it is written as one.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.nodes import option_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.watch.shell.nodes import Command

# Every plain argument is written or deleted; the options that take the next word as their value.
EACH = {
    "rm": "", "rmdir": "", "unlink": "", "tee": "", "sponge": "-f", "truncate": "-s --size -r --reference",
    "shred": "-n --iterations -s --size", "touch": "-t -d --date -r --reference",
}  # fmt: skip
# The last plain argument is where the others go.
LAST = {
    "cp": "-S --suffix -t --target-directory", "mv": "-S --suffix -t --target-directory",
    "ln": "-S --suffix -t --target-directory",
    "install": "-m --mode -o --owner -g --group -S --suffix -t --target-directory",
    "rsync": "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from --chmod --chown"
    " --partial-dir --temp-dir -T --log-file --max-size --min-size --bwlimit --link-dest --compare-dest --port",
    "scp": "-i -P -o -l -F -c -S -J -D -X",
}  # fmt: skip
TARGET = "-t --target-directory"
REMOTE = frozenset(("rsync", "scp"))
# The value of an option is written.
OPTION = {"curl": "-o --output", "wget": "-O --output-document", "sort": "-o --output", "openssl": "-out"}
# Edited where they stand, if an option says so: the letter of it, and the options that take a value.
IN_PLACE = {
    "sed": "-e --expression -f --file -l --line-length", "gsed": "-e --expression -f --file",
    "perl": "-e -E -I -M", "ruby": "-e -I -r", "yq": "-I --indent -o --output-format -p --input-format",
}  # fmt: skip
SCRIPTED = frozenset(("sed", "gsed", "yq"))  # the first plain argument is what is done, unless an option gave it
SCRIPTS = ("-e", "--expression", "-f", "--file")
# PowerShell's cmdlets: the name of the parameter that is written, and at which place it stands without its name.
CMDLETS = {
    "set-content": ("path literalpath", 0), "add-content": ("path literalpath", 0),
    "clear-content": ("path literalpath", 0), "out-file": ("filepath literalpath", 0),
    "tee-object": ("filepath literalpath", 0), "export-csv": ("path literalpath", 0),
    "export-clixml": ("path literalpath", 0), "new-item": ("path name", 0), "remove-item": ("path literalpath", 0),
    "rename-item": ("path literalpath", 0), "copy-item": ("destination", 1), "move-item": ("destination", 1),
}  # fmt: skip
SWITCHES = frozenset(
    "-force -append -nonewline -recurse -noclobber -confirm -whatif -passthru -notypeinformation -container".split()
)
# Programs whose every plain argument is a path.
WRITING_PROGRAMS = frozenset((*EACH, "cp", "mv", "ln", "install"))
# The lines of a patch that name a file.
FILE_HEADS = ("*** Update File: ", "*** Add File: ", "*** Move to: ")
DELETED_HEAD = "*** Delete File: "
PATCH_HEADS = (*FILE_HEADS, DELETED_HEAD)
DATA = "\0"  # stands for an argument that is only data


def written_by(command: Command) -> Iterator[str]:
    """Give the paths that a command writes, edits or deletes, redirections included."""
    yield from (target for operator, target in command.redirects if ">" in operator and target)
    program = command.program.lower()
    words = [DATA if word and at in command.data else word for at, word in enumerate(command.arguments)]
    yield from (path for path in _named(program, words) if path not in {"", DATA})


def _named(program: str, words: list[str]) -> Iterator[str]:
    if program in EACH:
        yield from _plain(words, EACH[program])
    elif program in LAST:
        yield from _destinations(program, words)
    elif program in IN_PLACE and any(_says_in_place(word) for word in words):
        yield from _edited(program, words)
    elif program in OPTION:
        value = option_value(_unjoined(words, OPTION[program]), OPTION[program])
        yield from (value,) if value and value != "-" else ()
    elif program == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    elif program in CMDLETS:
        yield from _of_cmdlet(words, *CMDLETS[program])


def _plain(words: list[str], takes: str) -> list[str]:
    """Give the words that are neither options nor their values."""
    valued = frozenset(takes.split())
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return found + words[at + 1 :]
        if word[:1] != "-" or word == "-":
            found.append(word)
        elif word in valued or (word[1:2] != "-" and f"-{word[-1]}" in valued):
            at += 1
        at += 1
    return found


def _destinations(program: str, words: list[str]) -> Iterator[str]:
    """Give what a copy makes: the destination, and in a folder what it gets there."""
    named = option_value(words, TARGET) if program not in REMOTE else None
    plain = _plain(words, LAST[program])
    sources, target = (plain, named) if named else (plain[:-1], plain[-1] if len(plain) > 1 else "")
    if not target or (program in REMOTE and ":" in target[2:]):
        return
    yield from (*(sources if program == "mv" else ()), target)
    if named or len(sources) > 1 or target.endswith("/") or target in {".", ".."}:
        folder = target.rstrip("/")
        yield from (f"{folder}/{name}" for source in sources if (name := source.rpartition("/")[2]))


def _says_in_place(word: str) -> bool:
    """Say whether an option edits in place: `-i`, `-i.bak`, `-pi`, `-ni`, `--in-place=.bak`, `--inplace`."""
    if word[:2] == "--":
        return word.partition("=")[0] in {"--in-place", "--inplace"}
    return word[:1] == "-" and "i" in word[1:4]


def _edited(program: str, words: list[str]) -> list[str]:
    plain = [word for word in _plain(words, IN_PLACE[program]) if word]  # BSD writes `-i ''`
    given = any(word.partition("=")[0] in SCRIPTS or word[:2] == "-e" for word in words)
    return plain[1:] if program in SCRIPTED and not given and len(plain) > 1 else plain


def _unjoined(words: list[str], names: str) -> list[str]:
    """Give the words with `-ofile`, and `-sSLo file` of curl, taken apart."""
    short = next(name for name in names.split() if name[1:2] != "-")
    found: list[str] = []
    for word in words:
        if word[:1] == "-" and word[1:2] != "-" and len(word) > 2 and len(short) == 2 and short[1] in word:
            rest = word.partition(short[1])[2]
            found += [short, rest] if rest else [short]
        else:
            found.append(word)
    return found


def _of_cmdlet(words: list[str], names: str, place: int) -> Iterator[str]:
    """Give the paths of a cmdlet, whose parameters may be cut short and whose values may be lists."""
    positional = []
    at, is_named = 0, False
    while at < len(words):
        word = words[at]
        name = word[1:].rstrip(":").lower() if word[:1] == "-" else ""
        if not name:
            positional.append(word)
        elif f"-{name}" not in SWITCHES:
            at += 1
            if any(known.startswith(name) for known in names.split()) and at < len(words):
                is_named = True
                yield from _listed(words[at])
        at += 1
    if not is_named and len(positional) > place:
        yield from _listed(positional[place])


def _listed(word: str) -> list[str]:
    return [part.strip("'\" ") for part in word.split(",") if part.strip("'\" ")]
