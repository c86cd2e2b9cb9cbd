"""The names that a tool call takes out of a project: of functions and types in an edit, and of deleted files.

A conversation remembers them as context words, with the test files that it created, so that a later turn can tell a
test whose subject is gone, or that was only tried out, from a test that is in the way. This runs on turns of which
nothing is judged, so it only splits lines into words.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.turn.edits import ADDED_HEAD, Change, deleted_files, edits_of, field_paths, patched_paths
from deia.watch.turn.tool_call import WHOLE_TOOLS, command_of, is_shell

if TYPE_CHECKING:
    from collections.abc import Iterator

GONE = "\x01gone "  # begins a removed name among context words; that of a file ends with a dot
MADE = "\x01made "  # begins the name of a test file that the conversation created
DEFINING = frozenset("def class func function fn interface struct enum trait type protocol record module".split())
BINDING = frozenset(("const", "let", "var", "val", "static"))  # of interest only at the beginning of a line
BEFORE_DEFINING = frozenset(
    "async export default public private protected internal static final abstract override pub unsafe open data sealed"
    " declare readonly inline suspend extern".split()
)
LEAST_NAME = 4  # characters; shorter names are in every text
MOST_NAME = 60
MOST_NAMES = 12  # of one call
MOST_TEXT = 40_000  # characters of an edit's old text that are looked at
TESTS = frozenset("test tests spec specs e2e testdata fixtures testing".split())
ENDINGS = ("Tests", "Test", "Specs", "Spec")
REMOVING = frozenset(("rm", "unlink", "rmdir", "trash"))  # as deia.watch.gate.word_gate has them
ENDS = frozenset(("&&", "||", ";", "|", "&"))


def removed_names(turn: Turn) -> list[str]:
    """Return the names that a call removes, as context words, and those of test files that it creates.

    What is removed from files of tests does not count.
    """
    names = dict.fromkeys([*_deleted(turn), *(name for change in edits_of(turn) for name in _undefined(change))])
    made = dict.fromkeys(file_name(path) for path in _created_paths(turn) if is_of_tests(path))
    return [*(GONE + name for name in list(names)[:MOST_NAMES]), *(MADE + name for name in list(made)[:MOST_NAMES])]


def _undefined(change: Change) -> Iterator[str]:
    """Yield the names that a change no longer defines or mentions: functions, types, constants, what it renames."""
    if not change.old or is_of_tests(change.path):
        return
    kept = frozenset(identifiers(change.new))
    old = change.old[:MOST_TEXT]
    defined = [old.strip()] if old.strip().isidentifier() else map(_defined, old.splitlines())
    yield from (name for name in defined if LEAST_NAME <= len(name) <= MOST_NAME and name not in kept)


def _defined(line: str) -> str:
    """Return the name that a line of code defines, or ""."""
    words = line.split(None, 8)
    while words and words[0] in BEFORE_DEFINING:
        del words[0]
    if len(words) < 2 or not (words[0] in DEFINING or (words[0] in BINDING and not line[0].isspace())):
        return ""
    rest = line.partition(words[0])[2].lstrip()
    if rest.startswith("("):  # the receiver of a method in Go
        rest = rest.partition(")")[2].lstrip()
    return next(identifiers(rest), "")


def identifiers(text: str) -> Iterator[str]:
    """Yield the identifiers of a text, in order."""
    spaced = "".join([char if char.isalnum() or char == "_" else " " for char in text])
    return (word for word in spaced.split() if not word[0].isdigit())


def _deleted(turn: Turn) -> Iterator[str]:
    """Yield the names of deleted files without folder and extension, each with a dot at its end."""
    for path in _removed_by(command_of(turn)[:MOST_TEXT]) if is_shell(turn) else deleted_files(turn):
        name = stem(path)
        if not is_of_tests(path) and LEAST_NAME <= len(name) <= MOST_NAME:
            yield f"{name}."


def _created_paths(turn: Turn) -> Iterator[str]:
    """Yield the files that a call writes whole: by a tool for that, in a patch, or by a redirection."""
    if is_shell(turn):
        after = command_of(turn)[:MOST_TEXT].split(">")[1:]
        yield from (part.split(None, 1)[0].strip("'\"") for part in after if part.strip())
    elif turn.tool.lower() in WHOLE_TOOLS and "old_str" not in (turn.tool_input or {}):
        yield from field_paths(turn)
    yield from patched_paths(turn, ADDED_HEAD)


def _removed_by(command: str) -> Iterator[str]:
    """Yield what the words of a command line seem to remove; a word too many does no harm."""
    removes = False
    for word in command.replace(";", " ; ").split():
        if word in ENDS:
            removes = False
        elif removes and word[0] != "-":
            yield word.strip("'\"")
        removes = removes or word in REMOVING


def file_name(path: str) -> str:
    """Return the name of a file without its folder."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2][-MOST_NAME:]


def stem(path: str) -> str:
    """Return the name of a file without its folder and all that follows its first dot."""
    return file_name(path).lstrip(".").partition(".")[0]


def is_of_tests(path: str) -> bool:
    """Return whether a file is one of tests, by its name and folders."""
    parts = path.lower().replace("\\", "/")
    for sign in "._-":
        parts = parts.replace(sign, "/")
    return not TESTS.isdisjoint(parts.split("/")) or stem(path).endswith(ENDINGS)


def subject_of(path: str) -> str:
    """Return the name of the file that a file of tests is about: `start` of `start_test.go`, `test_start.py`."""
    name = stem(path)
    for ending in (*ENDINGS, "_test", "_tests", "_spec", "-test", "-spec"):
        name = name.removesuffix(ending)
    return name.removeprefix("test_")
