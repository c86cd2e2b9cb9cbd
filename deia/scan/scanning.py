"""What the triggers find in files: each snippet is judged as if an agent were about to run it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from deia.firing import Firing
from deia.problems import Problem
from deia.records import ACTIONS, Turn
from deia.scan.snippets import Snippet, UnreadableFileError, snippets
from deia.text import one_line, shorten
from deia.watch.authoring.replay import Replay
from deia.watch.gate.artefact import Artefact
from deia.watch.verdict.judge import FolderSigns

MOST_FOUND = 20  # places in one snippet
LONGEST_SHOWN = 120  # characters of the command
PARDON = "deia: ignore"  # in a comment of the line, or of the line above: `# deia: ignore[TRIGGER, TRIGGER]`
SERIOUS = "warn"  # what does at least this is an error


def scan_text(
    artefact: Artefact,
    path: str,
    kind: str,
    text: str,
    *,
    signs: FolderSigns | None = None,
    excepted: Callable[[str], Collection[str]] = lambda _path: (),
) -> list[Problem]:
    """Return what the triggers find in a file, by line: an error each that they would warn of, ask about or hold.

    `signs` finds platforms by the files of the folder, and `excepted` returns the triggers that do not count in a file.
    """
    try:
        parts = snippets(kind, text)
    except UnreadableFileError as error:
        return [
            Problem(path=path, line=0, found=f"It cannot be read: {error}", code="unreadable-file", severity="warning")
        ]
    lines = text.splitlines()
    left_out = excepted(path)
    problems = {
        (line, firing.trigger): _problem(path, line, firing)
        for snippet in parts
        for line, firing in _firings(artefact, snippet, signs)
        if firing.trigger not in left_out and not _is_pardoned(lines, line, firing.trigger)
    }
    return [problems[place] for place in sorted(problems)]


def _firings(artefact: Artefact, snippet: Snippet, signs: FolderSigns | None) -> Iterator[tuple[int, Firing]]:
    """Yield the firings with their lines; a trigger fires once a turn, so what was found is cut out for the next."""
    code = snippet.text
    for _ in range(MOST_FOUND):
        turn = Turn(role="tool_call", text="", tool=snippet.tool, tool_input={"command": code})
        firings = Replay(artefact).judge(turn, folder=signs)
        for firing in firings:
            before = code.count("\n", 0, max(code.find(firing.act), 0))
            is_ours = snippet.shift and code.startswith(firing.act)  # the program that the file is given to
            yield snippet.line + max(before - snippet.shift, 0), firing.but(act="" if is_ours else firing.act)
        acts = [firing.act for firing in firings if firing.act and not (snippet.shift and code.startswith(firing.act))]
        if not any(act in code for act in acts):
            return
        for act in acts:
            code = code.replace(act, ":" + "\n" * act.count("\n"), 1)


def _problem(path: str, line: int, firing: Firing) -> Problem:
    is_serious = ACTIONS.index(firing.action) >= ACTIONS.index(SERIOUS)
    act = shorten(one_line(firing.act), LONGEST_SHOWN)
    instead = f" Instead: {'; '.join(firing.instead)}." if firing.instead else ""
    return Problem(
        path=path,
        line=line,
        found=f"{firing.title}: {act}." if act else f"{firing.title}.",
        fix=f"{firing.action_required or firing.message}{instead}",
        code=firing.trigger,
        severity="error" if is_serious else "warning",
    )


def _is_pardoned(lines: list[str], number: int, trigger: str) -> bool:
    """Return whether the line, or a comment alone above it, says that this trigger is known here."""
    for line in (lines[number - 1 : number], lines[number - 2 : number - 1] if number > 1 else []):
        _, marked, rest = line[0].partition(PARDON) if line else ("", "", "")
        if marked and rest.startswith("[") and trigger in rest[1:].partition("]")[0].replace(",", " ").split():
            return True
    return False
