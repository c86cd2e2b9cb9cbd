"""The word gate: which few triggers a turn could fire, decided by set membership of its words alone.

The cost follows the turn, not the number of triggers. Long turns are cut into overlapping segments, so that words at
opposite ends of a log do not add up to a phrase (54 times faster than one blob at 50 KB and 10,000 triggers).
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.gate.artefact import ASKED
from deia.watch.turn.tool_call import (
    FILE_READERS,
    PATH_FIELDS,
    SILENT_TOOLS,
    WHOLE_TOOLS,
    WRITE_TOOLS,
    bounded,
    command_of,
    is_shell,
    turn_segments,
    watched_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact

WHO = {"user": 1, "assistant": 2, "tool_call": 4, "tool_result": 8, "system": 0}
EVERYBODY = 15
# In a row, beside who it counts for: its words may lie anywhere in the turn, must lie in one sentence or line, or must
# be a phrase, or of a pattern of what is written. Above these bits stands the number of the clause it is a row of, from
# 1, or 0 where it is of several.
WIDE, NEAR, IN_LINE, PHRASED, WRITTEN = 16, 32, 64, 128, 256
CLAUSE = 9  # bits below the number of a clause
EVERY = -1  # stands for all clauses of a trigger
SPEAKING = 3  # a person or the assistant
# Signs that a command line says more than its words do: escapes, base64.
HIDING = ("$'", "base64", "owershell", "OWERSHELL", "pwsh")
# Words that no text can hold stand for what a turn is.
A_TOOL = "\x01tool"
A_WRITE = "\x01write"
A_CHANGE = "\x01change"  # a write that shows what it writes
A_WHOLE = "\x01whole"
SAID = "\x01said"  # somebody may speak here
A_PART, A_FIELD = "\x01part ", "\x01field "  # of a tool's name, and of its input: what a `tool` clause asks for
A_LINE = "\x01line"  # of every row of a command: its words stand in one line, unless there is a block of code
# What looks in a command line like a redirection into a file, and writes none.
NO_FILES = ("2>&1", "2>/dev/null", ">/dev/null", "> /dev/null", "=>", "->")
A_READ = "\x01read"  # this host tells what is read, so what it does not tell of was not
FILE = "\x01file "  # how a file's name is told from a context word
MOST_SHOWN = 2000  # characters of a command in which files are looked for
MOST_FILES = 8
LONGEST_NAME = 80


def candidates(
    artefact: Artefact, turn: Turn, *, stand: Callable[[Artefact, Turn, set[int]], set[int]] | None = None
) -> tuple[dict[int, set[int]], list[str]]:
    """Give the triggers whose required words a turn holds, and the context words seen in it.

    Triggers go by number, ascending, each with the numbers of its clauses whose words are there, or `EVERY`. `stand` is
    asked, where nothing but words of phrases would have the turn read, which of those rows to believe.
    """
    bit = WHO[turn.role]
    found: dict[int, set[int]] = {target: {EVERY} for target, who in artefact.meta["ungated"] if who & bit}
    about = _about(artefact, turn)
    groups: set[bytes] = set()
    apart: set[int] = set()
    near: set[int] = set()
    for segment in turn_segments(turn):
        present = {*words(segment), *about, *_unseen(turn, segment)}
        groups |= groups_present(artefact, present, bit, found, apart=apart, near=near)
    phrased = {number for number in near if artefact.row(number)[1] & (PHRASED | WRITTEN)}
    near -= phrased
    if near:
        from deia.watch.gate.proximity import said_together  # noqa: PLC0415 - most turns have no such words

        text = bounded(turn).text if turn.role != "tool_call" else watched_text(turn)
        _take(artefact, said_together(artefact, text, near, near=NEAR, always=(SAID, A_LINE)), found)
    _take(artefact, (number for number in apart if artefact.row(number)[2] <= groups), found)
    judged = artefact.meta["triggers"] + artefact.meta["marks"]
    if phrased and stand is not None:
        asked = phrased
        if any(number < judged for number in found):  # what is said is read anyway
            asked = {number for number in phrased if artefact.row(number)[1] & WRITTEN}
        phrased = (phrased - asked) | (stand(artefact, turn, asked) if asked else set())
    _take(artefact, phrased, found)
    contexts = artefact.meta["contexts"]
    seen = sorted(contexts[number - judged] for number in found if number >= judged)
    if artefact.meta["paths"] and turn.role == "tool_call":
        seen += files_shown(turn)
    return {number: found[number] for number in sorted(found) if number < judged}, seen


def _take(artefact: Artefact, rows: Iterable[int], found: dict[int, set[int]]) -> None:
    """Add to what was found what some rows lead to."""
    for number in rows:
        target, who, _ = artefact.row(number)
        found.setdefault(target, set()).add((who >> CLAUSE) - 1)


def wait_in_vain(artefact: Artefact, numbers: Collection[int], log: bytes) -> bool:
    """Say whether all of some triggers wait for what neither a conversation's log nor this turn says."""
    if b'"marks"' in log:
        return False
    waited = artefact.meta["waiting"]
    return all(str(number) in waited and waited[str(number)] not in numbers for number in numbers)


def files_shown(turn: Turn) -> list[str]:
    """Give the names of the files that a call reads or writes, as the conversation's memory keeps them.

    Without their folders, since those are written in many ways; of a shell command, every word that looks like a file.
    """
    if is_shell(turn):
        paths = [word.strip("'\"();,") for word in command_of(turn)[:MOST_SHOWN].split() if _may_name(word)]
    else:
        given: Any = turn.tool_input or {}
        paths = [path for name in PATH_FIELDS if isinstance(path := given.get(name), str)]
    names = {path.replace("\\", "/").rpartition("/")[2][-LONGEST_NAME:] for path in paths[:MOST_FILES]}
    shown = [FILE + name for name in sorted(names) if name]
    return [*shown, A_READ] if turn.tool.lower() in FILE_READERS else shown


def _may_name(word: str) -> bool:
    """Say whether a word of a command may be a file: `src/x.py`, `Makefile`."""
    return "." in word[1:-1] or word[:1].isupper()


def _unseen(turn: Turn, segment: str) -> list[str]:
    """Give the words that a shell will see where the text does not show them: quoted in parts, base64, a fork bomb."""
    if turn.role != "tool_call" or not is_shell(turn):
        return []
    bare = segment.replace("\\\n", "").replace("\\", "").replace("'", "").replace('"', "")
    found = words(bare) if len(bare) < len(segment) else []
    if "()" in segment and "|" in segment and "&" in segment:
        found += ("fork", "bomb")
    if any(sign in segment for sign in HIDING):
        from deia.watch.shell.obfuscation import hidden_text  # noqa: PLC0415 - hardly any line hides its words

        found += words(hidden_text(segment))
    return found


def _about(artefact: Artefact, turn: Turn) -> tuple[str, ...]:
    if turn.role != "tool_call":
        return (SAID, A_LINE)
    name = turn.tool.lower()
    how: tuple[str, ...] = (SAID,) if name not in SILENT_TOOLS else ()
    if name in WRITE_TOOLS:
        how = (A_WRITE, A_CHANGE)
    elif is_shell(turn):
        how = (A_WRITE, A_CHANGE) if _prints_into_files(command_of(turn)) else (A_WRITE,)
    parts = [A_PART + part for part in artefact.meta["parts"] if part in name]
    given: Any = turn.tool_input or {}
    fields = [A_FIELD + field for field in artefact.meta["fields"] if field in given]
    return (A_TOOL, A_LINE, *how, *((A_WHOLE,) if name in WHOLE_TOOLS else ()), *parts, *fields)


def _prints_into_files(command: str) -> bool:
    """Say whether a command line may show what it writes into files."""
    if ">" in command:
        for sign in NO_FILES:
            command = command.replace(sign, "")
    return ">" in command or "tee " in command or ("sed " in command and (" -i" in command or "--in-place" in command))


def groups_present(
    artefact: Artefact,
    present: set[str],
    bit: int,
    found: dict[int, set[int]],
    *,
    apart: set[int] | None = None,
    near: set[int] | None = None,
) -> set[bytes]:
    """Give the groups that some words belong to; add to `found` what the rows lead to whose groups are all there.

    Of rows whose words may lie further apart than a segment is long, those that are not all there go to `apart`, and
    those whose words must lie closer to `near`.
    """
    groups = set[bytes]().union(*map(artefact.groups_of, present))
    for entries in map(artefact.entries_of, [group for group in groups if group[0] != ASKED]):
        for entry in entries:
            number, who, *others = entry.split()
            if groups.issuperset(others):
                _reached(artefact, int(number), bit, found, near=near)
            elif apart is not None and int(who) & WIDE and int(who) & bit:
                apart.add(int(number))
    return groups


def _reached(artefact: Artefact, number: int, bit: int, found: dict[int, set[int]], *, near: set[int] | None) -> None:
    """Take a row whose groups are all there."""
    target, who, _ = artefact.row(number)
    if not who & bit or (target in found and (who >> CLAUSE) - 1 in found[target]):
        return
    if near is not None and (who & (NEAR | PHRASED | WRITTEN) or (who & IN_LINE and bit & SPEAKING)):
        near.add(number)
    else:
        _take(artefact, (number,), found)
