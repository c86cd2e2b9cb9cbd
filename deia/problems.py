"""Problems in files that a person wrote, and the errors that report all of them at once."""

from __future__ import annotations

from deia.errors import DeiaError
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Sequence


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
