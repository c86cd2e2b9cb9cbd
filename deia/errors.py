"""The exceptions that deia raises on purpose, all derived from `DeiaError`.

An error says where the problem is, what is wrong, what was expected and what to type next. If there are several
problems, it reports all of them.

DeiaError
├── CommonsError    the index, the documents or the triggers have problems (all of them at once)
├── SettingsError   deia.toml, an environment variable or a flag is wrong
├── ArtefactError   the compiled files are missing, stale, damaged or from another version
├── QueryError      a query that cannot be answered (an unknown filter value)
└── HostError       an agent host's settings cannot be read or written
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Sequence


SENTENCE_ENDS = (".", "!", "?", "…", ":")


class Problem(Record):
    """One problem in a file that a person wrote."""

    path: str  # relative to the commons
    line: int  # from 1; 0 if no line applies
    found: str  # what is wrong
    fix: str = ""  # what to do about it, in the imperative
    code: str = "problem"  # a short, stable name in kebab-case, for tools and documentation
    severity: str = "error"  # error | warning

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.severity}: {self.found}" + (f" {self.fix}" if self.fix else "") + f" [{self.code}]"


class DeiaError(Exception):
    """Base class: `where` is `file:line` or empty, `message` says what is wrong, `fix` what to type."""

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        if not self.fix:
            return text
        return f"{text}{'' if text[-1:] in SENTENCE_ENDS else '.'} {self.fix}"


class CommonsError(DeiaError):
    """The commons cannot be used as it is; `problems` holds every problem, not only the first."""

    def __init__(self, message: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "") -> None:
        super().__init__(message, where=where, fix=fix)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(str, self.problems)))


class SettingsError(DeiaError):
    """A setting is malformed or unknown; if there are several such errors, `problems` holds them all."""

    def __init__(self, message: str, *, where: str = "", fix: str = "", problems: Sequence[SettingsError] = ()) -> None:
        super().__init__(message, where=where, fix=fix)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join((super().__str__(), *map(str, self.problems)))


class ArtefactError(DeiaError):
    """The compiled files cannot be used; `fix` names the command that repairs them."""


class QueryError(DeiaError):
    """A query names something that the commons does not have."""


class HostError(DeiaError):
    """An agent host's own settings file cannot be used."""
