"""Scans files and folders; the problems of a file are remembered until the file or the triggers change.

Each snippet of a file is judged as if an agent were about to run it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import deia
from deia import fast_json, files
from deia.firing import Firing
from deia.folders import cache_folder
from deia.ingest.source import FOLDER, UNLISTED, Found, Source
from deia.ingest.source_kinds.from_folder import FolderFiles
from deia.problems import CommonsError, Problem
from deia.records import ACTIONS, Record, Turn
from deia.scan.snippets import Snippet, UnreadableFileError, kind_by_first_line, kind_by_name, snippets
from deia.text import one_line, shorten
from deia.watch.authoring.replay import Replay
from deia.watch.clauses.folder_signs import signs_around
from deia.watch.gate.artefact import Artefact, open_artefact
from deia.watch.memory.log import fingerprint
from deia.watch.silence.exceptions import Touched, excepted
from deia.watch.verdict.judge import FolderSigns

MOST_BYTES = 1_000_000  # of a script; a larger one is reported as left out
START = 200  # characters that tell whether a file without an ending is a script
WORTH_PROCESSES = 400  # files; from this number on, starting more processes (.3 s each) pays off
AT_ONCE = 50  # files that are sent to a process together
MOST_PROCESSES = 16

Rows = list[dict[str, Any]]  # the fields of a file's problems


class Scanned(Record):
    """What was scanned, and the problems in it."""

    problems: tuple[Problem, ...]
    files: int  # scripts and build files, read or remembered
    unchanged: int  # of these, the ones that were not read again


class Rules(Record):
    """What files are judged by."""

    triggers: str  # path of the compiled triggers
    exceptions: Mapping[str, Sequence[str]]  # the settings' exceptions: trigger → globs
    root: str  # of the commons, from which these globs count

    @property
    def stamp(self) -> str:
        """A stamp that differs as soon as earlier results may no longer hold."""
        exceptions = repr(sorted(self.exceptions.items()))
        return f"{deia.__version__} {files.stamp(self.triggers)} {fingerprint(exceptions):x}"


def scan_paths(paths: Sequence[str], rules: Rules, *, exclude: Sequence[str], environ: Mapping[str, str]) -> Scanned:
    """Return what the triggers find in files and folders; paths are shown as they were typed.

    Raises:
        CommonsError: there is no such file or folder.
        SourceError: a glob of `exclude` cannot be read.
    """
    gone = [path for path in paths if not (os.path.isfile(path) or os.path.isdir(path))]
    if gone:
        raise CommonsError(
            f"there is no file or folder {gone[0]}", fix="Give paths that exist, or none for this folder"
        )
    parts = [_scan_path(path, rules, tuple(exclude), environ) for path in dict.fromkeys(paths)]
    problems = {(problem.path, problem.line, problem.code): problem for part in parts for problem in part.problems}
    return Scanned(
        problems=tuple(problems.values()),
        files=sum(part.files for part in parts),
        unchanged=sum(part.unchanged for part in parts),
    )


def _scan_path(path: str, rules: Rules, exclude: tuple[str, ...], environ: Mapping[str, str]) -> Scanned:
    top = os.path.abspath(path)
    remembered = f"{cache_folder(environ)}/scans/{fingerprint(files.real(top)):016x}.json"
    known = _remembered(remembered, rules)
    source = Source(kind=FOLDER, place=top, exclude=exclude)
    found = [file for file in FolderFiles(source).files() if file.stamp != UNLISTED]
    candidates = [file for file in found if _may_be_script(top, file.path)]
    changed = [file for file in candidates if not file.stamp or known.get(file.path, [""])[0] != file.stamp]
    results = {file.path: known[file.path] for file in candidates if file.path in known}
    results |= {file.path: [file.stamp, rows] for file, rows in _scan_files(changed, source, rules)}
    scripts = {name: rows for name, (_, rows) in sorted(results.items()) if rows is not None}
    files.keep(remembered, fast_json.dumps({"rules": rules.stamp, "files": results}).encode())
    shown = path if os.path.isdir(top) else os.path.dirname(path)
    return Scanned(
        problems=tuple(
            Problem(**{**row, "path": os.path.normpath(os.path.join(shown, name)).replace(os.sep, "/")})
            for name, rows in scripts.items()
            for row in rows
        ),
        files=len(scripts),
        unchanged=len(scripts.keys() - {file.path for file in changed}),
    )


def _may_be_script(top: str, path: str) -> bool:
    return "." not in path.rpartition("/")[2] or bool(kind_by_name(f"{top}/{path}"))


def _remembered(path: str, rules: Rules) -> dict[str, Any]:
    """Return the earlier results by path, each a stamp and the problems; none if the rules have changed."""
    data = files.read(path)
    try:
        kept = fast_json.loads(data.decode()) if data else {}
    except ValueError:
        return {}
    return kept["files"] if isinstance(kept, dict) and kept.get("rules") == rules.stamp else {}


# --- in one process or several ---


def _scan_files(changed: Sequence[Found], source: Source, rules: Rules) -> Iterator[tuple[Found, Rows | None]]:
    """Yield each file with its problems, or with None if it is not a script."""
    processes = min(os.cpu_count() or 1, MOST_PROCESSES)
    if len(changed) < WORTH_PROCESSES or processes == 1:
        scanner = Scanner(source, rules)
        yield from ((file, scanner.scan(file)) for file in changed)
        return
    batches = [changed[at : at + AT_ONCE] for at in range(0, len(changed), AT_ONCE)]
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(source, rules)) as pool:
        for batch, results in zip(batches, pool.map(_scan_batch, batches), strict=True):
            yield from zip(batch, results, strict=True)


_scanners: list[Scanner] = []  # that of this process, if it was started for scanning


def _begin(source: Source, rules: Rules) -> None:
    _scanners.append(Scanner(source, rules))


def _scan_batch(batch: Iterable[Found]) -> list[Rows | None]:
    return [_scanners[0].scan(file) for file in batch]


class Scanner:
    """Reads and judges the files of a folder."""

    def __init__(self, source: Source, rules: Rules) -> None:
        self._artefact = open_artefact(rules.triggers)
        self._rules = rules
        self._top = source.place
        self._files = FolderFiles(source)
        self._folder = self._top if os.path.isdir(self._top) else os.path.dirname(self._top)
        self._signs = signs_around(self._folder)

    def scan(self, file: Found) -> Rows | None:
        """Return the fields of a file's problems, or None if it is not a script or cannot be read."""
        data = self._files.read(file)
        if data is None:
            return None
        text = data.decode("utf-8-sig", "replace")
        kind = kind_by_name(f"{self._top}/{file.path}") or kind_by_first_line(text[:START])
        if not kind:
            return None
        if len(data) > MOST_BYTES:
            large = f"It has {len(data):,} bytes, and at most {MOST_BYTES:,} are scanned."
            return [Problem(path=file.path, line=0, found=large, code="file-too-large", severity="warning").values()]
        problems = scan_text(self._artefact, file.path, kind, text, signs=self._signs, excepted=self._excepted)
        return [problem.values() for problem in problems]

    def _excepted(self, path: str) -> frozenset[str]:
        """Return the triggers that the settings except in a file."""
        touched = Touched(Turn(role="tool_call", text="", tool="Write", tool_input={"file_path": path}), self._folder)
        return excepted(self._rules.exceptions, touched, root=self._rules.root)


# --- one file ---


MOST_FOUND = 20  # places in one snippet
LONGEST_SHOWN = 120  # characters of the command
PARDON = "deia: ignore"  # in a comment of the line, or of the line above: `# deia: ignore[TRIGGER, TRIGGER]`
SERIOUS = "warn"  # the mildest action that makes a problem an error


def scan_text(
    artefact: Artefact,
    path: str,
    kind: str,
    text: str,
    *,
    signs: FolderSigns | None = None,
    excepted: Callable[[str], Collection[str]] = lambda _path: (),
) -> list[Problem]:
    """Return the problems in a file, by line; what the triggers would warn of, ask about or hold is an error.

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
    """Yield the firings with their lines; a trigger fires once a turn, so each act is cut out before the next turn."""
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
