"""What a tool call changes in files: the text before and after, as far as the call itself shows it.

An edit shows both, a file written whole only the new text, a patch its lines with their context. Of shell commands,
text that is printed or piped into a file counts, and substitutions of `sed -i`. The disk is never read.
"""

from __future__ import annotations

from deia.globs import matches_path
from deia.records import TYPE_CHECKING, Turn
from deia.watch.compiled_trigger import CHANGE_PATTERNS, CompiledClause, CompiledPattern
from deia.watch.shell.file_writes import written_by
from deia.watch.shell.parse import printed
from deia.watch.turn.edits import Change, edits_of
from deia.watch.turn.regex import find_all, is_in
from deia.watch.turn.tool_call import MOST_CALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deia.watch.shell.nodes import Command

PRINTERS = frozenset(("echo", "printf"))
MOST_SHOWN = 300  # characters of a line that a match shows


def changes(turn: Turn, commands: Iterator[Command]) -> Iterator[Change]:
    """Yield the changes that a tool call makes."""
    yield from edits_of(turn)
    for command in commands:
        yield from _by_command(command)


def _by_command(command: Command) -> Iterator[Change]:
    paths = list(dict.fromkeys(written_by(command)))
    if not paths:
        return
    if command.program in {"sed", "gsed"}:
        for old, new in _substitutions(command.arguments):
            yield from (Change(path=path, old=old, new=new) for path in paths)
        return
    text = printed(command.program, command.arguments) if command.program in PRINTERS else command.stdin
    if text:
        yield from (Change(path=path, old="", new=text) for path in paths)


def _substitutions(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the two halves of each `s/old/new/` among the arguments of sed."""
    for word in arguments:
        if len(word) > 3 and word[0] == "s" and not word[1].isalnum() and word[1] not in "\\ ":
            parts = word.split(word[1])
            if len(parts) == 4:
                yield parts[1], parts[2]


def changed(clause: CompiledClause, made: Iterable[Change]) -> Iterator[tuple[str, str]]:
    """Yield the added or removed lines that a `write` clause looks for, and the same with the path for `unless`."""
    adds, drops, lacks = map(clause.written, CHANGE_PATTERNS)
    for change in made:
        if clause.globs and not any(matches_path(glob, change.path) for glob in clause.globs):
            continue
        old, new = change.old[:MOST_CALL], change.new[:MOST_CALL]
        if lacks and is_in(lacks, new):
            continue
        added = _surplus(adds, new, old) if adds else [""]
        removed = _surplus(drops, old, new) if drops else [""]
        for lines in (added if adds else removed) if added and removed else ():
            yield lines, " ".join(filter(None, (change.path, lines, removed[0] if adds else "")))


def _surplus(pattern: CompiledPattern, text: str, other: str) -> list[str]:
    """Return the lines of a text in which a pattern matches, if it matches there more often than in the other text."""
    # Matches in both texts were moved or are only context, so they count neither as added nor as removed.
    matches = list(find_all(pattern, text))
    if not matches or len(matches) <= sum(1 for _ in find_all(pattern, other)):
        return []
    known = {line.strip() for line in other.splitlines()}
    shown = list(dict.fromkeys(_lines(text, start, end) for start, end in matches))
    return [lines for lines in shown if lines.strip() not in known] or shown[:1]


def _lines(text: str, start: int, end: int) -> str:
    """Return the whole lines that contain a match; very long lines are cut around it."""
    first = max(text.rfind("\n", 0, start) + 1, start - MOST_SHOWN)
    after = text.find("\n", end)
    return text[first : min(after if after >= 0 else len(text), end + MOST_SHOWN)]
