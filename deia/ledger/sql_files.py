"""SQL statements, kept in a file beside the module that uses them: `gaps.sql` beside `gaps.py`.

A statement begins with a line `-- [name]`; what follows the name there, and in the comment lines below, describes it.
"""

from __future__ import annotations

from deia import files
from deia.errors import DeiaError
from deia.records import Record


class Statement(Record):
    """A statement, and a description of its rows."""

    purpose: str
    sql: str


def read_statements(module: str, **values: object) -> dict[str, Statement]:
    """Return the statements beside a module, given its `__file__`; `{name}` in the file stands for one of `values`."""
    path = module.rpartition(".")[0] + ".sql"
    data = files.read(path)
    if data is None:
        raise DeiaError(f"{path}, a file of deia itself, cannot be read", fix="Install deia again")
    text = "\n" + data.decode().replace("\r", "")
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return {name: _statement(body) for name, _, body in (part.partition("]") for part in text.split("\n-- [")[1:])}


def _statement(body: str) -> Statement:
    lines = body.strip().replace("\n-- ", " ").split("\n")
    return Statement(purpose=lines[0].removeprefix("-- "), sql="\n".join(lines[1:]))
