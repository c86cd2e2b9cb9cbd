"""SQL statements, kept in a file beside the module that uses them: `gaps.sql` beside `gaps.py`.

A statement begins with a line `-- [name]`; what follows the name there, and in the comment lines below, describes it.
"""

from __future__ import annotations

from deia.records import Record
from deia.tables import text_beside


class Statement(Record):
    """A statement, and a description of its rows."""

    purpose: str
    sql: str


def read_statements(module: str, **values: object) -> dict[str, Statement]:
    """Return the statements beside a module, given its `__file__`; `{name}` in the file stands for one of `values`."""
    text = "\n" + text_beside(module, ".sql")
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return {name: _statement(body) for name, _, body in (part.partition("]") for part in text.split("\n-- [")[1:])}


def _statement(body: str) -> Statement:
    lines = body.strip().replace("\n-- ", " ").split("\n")
    return Statement(purpose=lines[0].removeprefix("-- "), sql="\n".join(lines[1:]))
