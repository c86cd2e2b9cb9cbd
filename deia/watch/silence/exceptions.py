"""Which paths a turn touches, according to its text alone, and whether they match the globs of an exception or mute.

A turn matches only if everything it names matches, so that one excepted folder in a command line silences nothing about
the others. Nothing is looked up on the disk.
"""

from __future__ import annotations

from deia import files
from deia.globs import matches_glob
from deia.records import TYPE_CHECKING, Turn
from deia.watch.clauses.confirm import written_paths
from deia.watch.shell.file_writes import WRITING_PROGRAMS
from deia.watch.turn.parsed_turn import Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


# Programs all of whose plain arguments are paths; for other programs only an argument with a slash counts as a path.
FILE_PROGRAMS = WRITING_PROGRAMS | frozenset(
    ("find", "rimraf", "srm", "remove-item", "ri", "del", "erase", "rd", "trash", "scrub", "del-cli")
)
NOWHERE = "\0"  # a path that is known only when the command runs, so it matches no glob


class Touched:
    """The paths that a turn touches, worked out when a mute or an exception first asks."""

    __slots__ = ("_folder", "_paths", "_turn")

    def __init__(self, turn: Turn, folder: str) -> None:
        self._turn = turn
        self._folder = folder.replace("\\", "/").rstrip("/") or "/"
        self._paths: tuple[list[str], list[str]] | None = None  # certain and possible paths

    def lies_in(self, globs: Iterable[str], base: str) -> bool:
        """Return whether the turn acts only on paths that match one of some globs, relative to the folder `base`."""
        if self._paths is None:
            paths = [(resolved(path, self._folder), is_path) for path, is_path in _possible_paths(self._turn)]
            self._paths = (
                [path for path, is_path in paths if is_path],
                [path for path, is_path in paths if not is_path],
            )
        certain, possible = self._paths
        globs = tuple(globs)
        if any(not _is_in(path, globs, base) for path in certain):
            return False
        return bool(certain) or any(_is_in(path, globs, base) for path in (self._folder, *possible))


def excepted(exceptions: Mapping[str, Sequence[str]], touched: Touched, *, root: str) -> frozenset[str]:
    """Return the triggers that a project's settings except where this turn acts."""
    return frozenset(trigger for trigger, globs in exceptions.items() if touched.lies_in(globs, root))


def _possible_paths(turn: Turn) -> Iterator[tuple[str, bool]]:
    """Yield what may be a path in a tool call, and whether it certainly is one."""
    if turn.role != "tool_call":
        return
    reading = Reading(turn)
    yield from ((path, True) for path in written_paths(reading))
    for command in (spoken.command for spoken in reading.commands):
        plain = (word for at, word in enumerate(command.arguments) if word[:1] != "-" and at not in command.data)
        for argument in plain:
            is_path = command.program.lower() in FILE_PROGRAMS or "/" in argument or "\\" in argument
            yield argument, is_path or argument[:1] in {"~", "$", "*"} or argument in {".", ".."}


def resolved(path: str, folder: str) -> str:
    """Return the full path without `.` and `..`, or `NOWHERE` if the path depends on the shell."""
    path = path.replace("\\", "/")
    if path[:1] in {"~", "$"} or "://" in path or "`" in path:
        return NOWHERE
    whole = path if path.startswith("/") or path[1:2] == ":" else f"{folder}/{path}"
    return ("" if whole[1:2] == ":" else "/") + files.without_dots(whole)


def _is_in(path: str, globs: Collection[str], base: str) -> bool:
    return any(lies_in(path, glob, base) for glob in globs)


def lies_in(path: str, glob: str, base: str) -> bool:
    """Return whether a full path matches a glob relative to `base`; a plain folder includes everything in it."""
    glob = glob.replace("\\", "/").removeprefix("./").rstrip("/")
    if not glob.startswith("/") and glob[1:2] != ":":
        start = base.replace("\\", "/").rstrip("/") + "/"
        if not (path + "/").startswith(start):
            return False
        path = path[len(start) :]
    options = {glob, glob.removesuffix("/**"), glob.removeprefix("**/")}
    return any(matches_glob(option, path) or matches_glob(f"{option}/*", path) for option in options if option)
