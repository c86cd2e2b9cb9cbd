"""The word gate: find the few triggers that a turn could fire, only by looking up its words.

The cost depends on the length of the turn, not on the number of triggers. Long turns are cut into overlapping segments,
so that words at opposite ends of a log do not make a phrase (54 times faster than one text at 50 KB and 10,000
triggers).
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import words
from deia.watch.gate.artefact import UNINDEXED_BYTE, Artefact
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
    from collections.abc import Callable, Collection, Iterable, Mapping

    Matched = dict[int, set[int]]  # targets by number, each with the numbers of its clauses

WHO = {"user": 1, "assistant": 2, "tool_call": 4, "tool_result": 8, "system": 0}
EVERYBODY = 15
# Flags of a row, above the bits of the roles it counts for. Its words may be anywhere in the turn, must be in one
# sentence, must be in one line, must be a phrase, or must belong to a pattern of written text. Above these bits is the
# number of the row's clause, from 1, or 0 if the row is of several clauses.
WIDE, NEAR, IN_LINE, PHRASED, WRITTEN = 16, 32, 64, 128, 256
CLAUSE = 9  # bits below the number of a clause
EVERY = -1  # instead of the number of a clause: all clauses of a trigger
SPEAKING = 3  # roles: a person or the assistant
# Signs that a shell reads other words in a command line than it shows: escapes, base64.
HIDING = ("$'", "base64", "owershell", "OWERSHELL", "pwsh")
# Words that no text can contain stand for properties of the turn.
A_TOOL = "\x01tool"
A_WRITE = "\x01write"
A_CHANGE = "\x01change"  # a write whose call shows the new text
A_DELETION = "\x01deletion"  # a command that may delete something through any client
A_PACKAGE = "\x01package"  # a command that may install a package with nearly the name of a popular one
A_WHOLE = "\x01whole"  # a write of a whole file
SAID = "\x01said"  # the turn may be speech
A_PART, A_FIELD = "\x01part ", "\x01field "  # a part of a tool's name, a field of its input, as `tool` clauses want
A_LINE = "\x01line"  # in every row of a command: its words are in one line, unless the text has a code block
# Signs in a command line that look like a redirection into a file and are none.
NO_FILES = ("2>&1", "2>/dev/null", ">/dev/null", "> /dev/null", "=>", "->")
A_PRINTED = "\x01printed"  # a result that may be a program's output, or a person's turn, in which it may be pasted
A_RESULT = "\x01result"  # a tool's result, whatever the tool
A_READ = "\x01read"  # the host reports calls that read files, so a file that is not reported was not read
FILE = "\x01file "  # begins the name of a file among context words
MOST_SHOWN = 2000  # characters of a command in which file names are looked for
MOST_FILES = 8
# Parts of the words in deia/watch/clauses/deletions.txt.
DELETING = (
    "delet", "destroy", "purg", "remove", "deploy", "provision", "terminat", "nuke", "wipe", "erase", "deregister",
    "revoke", "truncat", " del ", " drop ", "archive", "trim", "discard", "unpublish", "detach", "_close", "-prune",
    "teardown", "shutdown", "clear", "evict", "unregister", "yank", "deactivate", "cancel", "unsubscribe",
    "void(", "/void", "/kill", "/reset", " reset ", "/forget", "/abandon", "voided", "anonymi", "decommission",
    "unlist", ".del(", " unset ", " empty ", " expire ", " prune", "invalidat", "retire", " forget ", "unlink",
    "rmtree", "rmsync", "rm_r", ".rm(", ".rm ",
)  # fmt: skip
REACHING = (" rm ", " rm-", " rb ", " stop", "scp ", "rsync ", "flush", " kill ", "drop")
INSTALLING = ("pip", "npm", "npx", "yarn", "bun", "uv", "cargo", "poetry", "pdm", "rye ")  # parts of clients
REMOVING = ("rm", "unlink", "rmdir", "trash")  # programs that delete files
LONGEST_NAME = 80
OWN_SIGNS = ("deia", "_commons", "Librarian_")  # parts of the names of the tools of deia's own server


def candidates(
    artefact: Artefact, turn: Turn, *, second_gate: Callable[[Artefact, Turn, set[int]], set[int]] | None = None
) -> tuple[dict[int, set[int]], list[str]]:
    """Return the triggers whose required words are in a turn, and the context words seen in it.

    Triggers are given by number, ascending, each with the numbers of its clauses whose words are present, or `EVERY`.
    If only words of phrases or of written text would have the turn parsed, `second_gate` decides which of those rows
    count.
    """
    if turn.tool and _is_own(turn):
        return {}, []
    bit, meta = WHO[turn.role], artefact.meta
    matched: dict[int, set[int]] = {target: {EVERY} for target, who in meta.ungated if who & bit}
    properties = _properties(artefact, turn)
    groups: set[bytes] = set()
    apart: set[int] = set()
    near: set[int] = set()
    for segment in turn_segments(turn):
        present = {*words(segment), *properties, *_hidden_words(turn, segment)}
        groups |= groups_present(artefact, present, bit, matched, apart=apart, near=near)
    phrased = {number for number in near if artefact.row(number)[1] & (PHRASED | WRITTEN)}
    near -= phrased
    if near:
        from deia.watch.gate.proximity import said_together  # noqa: PLC0415 - most turns have no such words

        text = bounded(turn).text if turn.role != "tool_call" else watched_text(turn)
        _add_targets(artefact, said_together(artefact, text, near, near=NEAR, always=(SAID, A_LINE)), matched)
    _add_targets(artefact, (number for number in apart if artefact.row(number)[2] <= groups), matched)
    first_context = meta.triggers + meta.marks
    if phrased and second_gate is not None:
        open_rows = phrased
        if any(number < first_context for number in matched):  # speech is parsed anyway
            open_rows = {number for number in phrased if artefact.row(number)[1] & WRITTEN}
        phrased = (phrased - open_rows) | (second_gate(artefact, turn, open_rows) if open_rows else set())
    _add_targets(artefact, phrased, matched)
    contexts = [number - first_context for number in matched if number >= first_context]
    names = meta.contexts.split("\n") if contexts else ()
    seen = sorted(names[number] for number in contexts)
    if meta.paths and turn.role == "tool_call":
        seen += files_shown(turn)
    if meta.names and turn.role == "tool_call" and _may_remove(turn):
        from deia.watch.turn.removed_names import removed_names  # noqa: PLC0415 - few turns remove anything

        seen += removed_names(turn)
    return {number: matched[number] for number in sorted(matched) if number < first_context}, seen


def _is_own(turn: Turn) -> bool:
    """Return whether a turn is a call of deia's own server, or its result."""
    if not any(sign in turn.tool for sign in OWN_SIGNS):
        return False
    from deia.watch.turn.own_tools import is_own  # noqa: PLC0415 - hardly any tool is deia's

    return is_own(turn)


def _may_remove(turn: Turn) -> bool:
    """Return whether a call may remove names of a project or create files: an edit, or such a command."""
    if turn.tool.lower() in WRITE_TOOLS:
        return True
    command = command_of(turn) if is_shell(turn) else ""
    return ">" in command or any(f"{program} " in command for program in REMOVING)


def _add_targets(artefact: Artefact, rows: Iterable[int], matched: dict[int, set[int]]) -> None:
    """Add the targets of some rows to `matched`, with the numbers of their clauses."""
    for number in rows:
        target, who, _ = artefact.row(number)
        matched.setdefault(target, set()).add((who >> CLAUSE) - 1)


def wait_in_vain(artefact: Artefact, numbers: Mapping[int, Collection[int]], log: bytes) -> bool:
    """Return whether these triggers wait for marks that neither the conversation's log nor this turn sets.

    Clauses that only take a mark back do not count either, as long as it is not set.
    """
    waiting, marks = artefact.meta.waiting, artefact.meta.ending
    for number, clauses in numbers.items():
        mark = str(number if str(number) in marks else waiting.get(str(number), ""))
        if not mark or _is_set(marks[mark][1], log) or (mark == str(number) and min(clauses) < marks[mark][0]):
            return False
    return True


def _is_set(mark: str, log: bytes) -> bool:
    """Return whether a mark is in force by its last mention in a log, in which an empty text takes it back."""
    name = f'"{mark}":'.encode()
    at = log.rfind(name)
    return at >= 0 and not log.startswith(b'""', at + len(name))


def files_shown(turn: Turn) -> list[str]:
    """Return the names of the files that a call reads or writes, as the conversation's memory keeps them.

    They come without folders, which can be written in many ways. In a shell command, every word that looks like a file
    counts: `src/x.py`, `Makefile`.
    """
    if is_shell(turn):
        words_shown = command_of(turn)[:MOST_SHOWN].split()
        paths = [word.strip("'\"();,") for word in words_shown if "." in word[1:-1] or word[:1].isupper()]
    else:
        tool_input = turn.tool_input or {}
        paths = [path for name in PATH_FIELDS if isinstance(path := tool_input.get(name), str)]
    names = {path.replace("\\", "/").rpartition("/")[2][-LONGEST_NAME:] for path in paths[:MOST_FILES]}
    shown = [FILE + name for name in sorted(names) if name]
    return [*shown, A_READ] if turn.tool.lower() in FILE_READERS else shown


def _hidden_words(turn: Turn, segment: str) -> list[str]:
    """Return words that a shell reads but the text does not show: quoted in parts, in base64, or a fork bomb."""
    if turn.role != "tool_call" or not is_shell(turn):
        return []
    bare = segment.replace("\\\n", "").replace("\\", "").replace("'", "").replace('"', "")
    hidden = words(bare) if len(bare) < len(segment) else []
    if "()" in segment and "|" in segment and "&" in segment:
        hidden += ("fork", "bomb")
    if any(sign in segment for sign in HIDING):
        from deia.watch.shell.obfuscation import hidden_text  # noqa: PLC0415 - hardly any line hides its words

        hidden += words(hidden_text(segment))
    return hidden


def _properties(artefact: Artefact, turn: Turn) -> tuple[str, ...]:
    """Return the words that stand for the properties of a turn."""
    if turn.role != "tool_call":
        is_file = turn.role == "assistant" or turn.tool.lower() in FILE_READERS or turn.tool.lower() in WRITE_TOOLS
        shown = (SAID, A_LINE, A_RESULT) if turn.role == "tool_result" else (SAID, A_LINE)
        return shown if is_file else (*shown, A_PRINTED)
    name = turn.tool.lower()
    kind: tuple[str, ...] = (SAID,) if name not in SILENT_TOOLS else ()
    if name in WRITE_TOOLS:
        kind = (A_WRITE, A_CHANGE)
    elif is_shell(turn):
        command = command_of(turn)
        kind = (A_WRITE, A_CHANGE) if _may_print_into_files(command) else (A_WRITE,)
        lowered = f"{command.lower()} "
        if any(sign in lowered for sign in DELETING) or any(map(lowered.__contains__, REACHING)):
            kind = (*kind, A_DELETION)
        if any(map(lowered.__contains__, INSTALLING)):
            from deia.watch.shell.package_names import may_mistype  # noqa: PLC0415 - few turns install anything

            kind = (*kind, A_PACKAGE) if may_mistype(lowered) else kind
    parts = [A_PART + part for part in artefact.meta.parts if part in name]
    tool_input = turn.tool_input or {}
    fields = [A_FIELD + field for field in artefact.meta.fields if field in tool_input]
    return (A_TOOL, A_LINE, *kind, *((A_WHOLE,) if name in WHOLE_TOOLS else ()), *parts, *fields)


def _may_print_into_files(command: str) -> bool:
    """Return whether a command line may write text that it shows into files."""
    if ">" in command:
        for sign in NO_FILES:
            command = command.replace(sign, "")
    return ">" in command or "tee " in command or ("sed " in command and (" -i" in command or "--in-place" in command))


def groups_present(
    artefact: Artefact, present: set[str], bit: int, matched: Matched, *, apart: set[int], near: set[int] | None = None
) -> set[bytes]:
    """Return the groups that these words belong to, and add the targets of rows with all their groups to `matched`.

    Incomplete rows whose words may be further apart than a segment are added to `apart`; complete rows whose words
    must be closer than a segment are added to `near` instead of `matched`.
    """
    groups = set[bytes]().union(*map(artefact.groups_of, present))
    for entries in map(artefact.entries_of, [group for group in groups if group[0] != UNINDEXED_BYTE]):
        for entry in entries:
            number, who, *others = entry.split()
            if groups.issuperset(others):
                _add_complete(artefact, int(number), bit, matched, near=near)
            elif int(who) & WIDE and int(who) & bit:
                apart.add(int(number))
    return groups


def _add_complete(artefact: Artefact, number: int, bit: int, matched: Matched, *, near: set[int] | None) -> None:
    """Add a row with all its groups to `near` if it requires a closer look, and its target to `matched` otherwise."""
    target, who, _ = artefact.row(number)
    if not who & bit or (target in matched and (who >> CLAUSE) - 1 in matched[target]):
        return
    if near is not None and (who & (NEAR | PHRASED | WRITTEN) or (who & IN_LINE and bit & SPEAKING)):
        near.add(number)
    else:
        _add_targets(artefact, (number,), matched)
