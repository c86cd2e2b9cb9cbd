"""What a `write` clause asks about removals: which files go, and whether the subject of removed text is gone."""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.file_writes import written_by
from deia.watch.turn.edits import deleted_files
from deia.watch.turn.removed_names import GONE, MADE, file_name, identifiers, is_of_tests, subject_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from deia.watch.turn.parsed_turn import Reading

DELETING = frozenset(("rm", "unlink", "trash", "remove-item", "del"))
MOST_TEXT = 60_000  # characters of removed text in which names are looked for


def deleted_paths(reading: Reading) -> Iterator[str]:
    """Yield the paths of the files that a tool call is about to delete."""
    turn = reading.turn
    if turn.role != "tool_call":
        return
    yield from deleted_files(turn)
    for command in (spoken.command for spoken in reading.commands):
        program, words = command.program.lower(), command.arguments
        if program in DELETING:
            yield from written_by(command)
        elif program == "git" and words[:1] == ("rm",) and "--cached" not in words:
            yield from (word for word in words[1:] if word[:1] != "-")


def gone_subject(reading: Reading, before: Collection[str], own: Collection[str], *, path: str = "") -> str:
    """Return why a removed text or file has nothing to protect, or "": what it mentions or tests was removed already.

    `before` are the context words of earlier turns and `own` those of this one, which count if it also changes files
    of tests: otherwise a test that stands beside the code would be its own subject. A file of tests that the
    conversation itself created has nothing to protect either.
    """
    if path and MADE + file_name(path) in before:
        return "the file was created in this conversation"
    counts = path or any(is_of_tests(change.path) for change in reading.changes)
    name = _gone_name(reading, (*before, *own) if counts else before, path)
    return f"{name}, which it is about, was removed in this conversation" if name else ""


def _gone_name(reading: Reading, remembered: Collection[str], path: str) -> str:
    gone = {word.removeprefix(GONE) for word in remembered if word.startswith(GONE)}
    if not gone:
        return ""
    paths = [path, *(change.path for change in reading.changes)]
    about = next(
        (name for changed_path in paths if changed_path and (name := subject_of(changed_path)) and f"{name}." in gone),
        "",
    )
    if about:
        return about
    removed = "\n".join(change.old for change in reading.changes)[:MOST_TEXT]
    return next((name for name in identifiers(removed) if name in gone), "")
