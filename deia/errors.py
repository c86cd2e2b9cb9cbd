"""Everything deia raises on purpose, under one root.

An error says where, what was found, what was wanted, and what to type next; it never hides one of several problems.

DeiaError
├── CommonsError    the index, the documents or the triggers have problems (all of them at once)
├── SettingsError   deia.toml, an environment variable or a flag
├── ArtefactError   .deia/ is missing, stale, torn or from another version
├── QueryError      a question that cannot be asked (an unknown filter value)
└── HostError       an agent host's settings cannot be read or written
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Sequence


ENDS = (".", "!", "?", "…", ":")  # of a sentence


class Problem(Record):
    """One thing that is wrong in a file that a person wrote."""

    path: str  # relative to the commons
    line: int  # from 1; 0 where no line applies
    found: str
    fix: str = ""  # what to do, in the imperative
    code: str = "problem"  # a short kebab-case name, stable, for tools and documentation
    severity: str = "error"  # error | warning

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.severity}: {self.found}" + (f" {self.fix}" if self.fix else "") + f" [{self.code}]"


class DeiaError(Exception):
    """The root: `where` is `file:line` or empty, the message says what was found and wanted, `fix` what to type."""

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        told = f"{self.where}: {self.message}" if self.where else self.message
        if not self.fix:
            return told
        return f"{told}{'' if told[-1:] in ENDS else '.'} {self.fix}"


class CommonsError(DeiaError):
    """The commons cannot be used as it is; `problems` holds every problem found, not just the first."""

    def __init__(self, message: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "") -> None:
        super().__init__(message, where=where, fix=fix)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(str, self.problems)))


class SettingsError(DeiaError):
    """Settings are malformed or unknown; where they are several, `problems` holds them all."""

    def __init__(self, message: str, *, where: str = "", fix: str = "", problems: Sequence[SettingsError] = ()) -> None:
        super().__init__(message, where=where, fix=fix)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(str, self.problems)))


class ArtefactError(DeiaError):
    """The compiled files cannot be trusted; `fix` says which command mends them."""


class QueryError(DeiaError):
    """A question names something that the commons does not have."""


class HostError(DeiaError):
    """An agent host's own settings file cannot be used."""
