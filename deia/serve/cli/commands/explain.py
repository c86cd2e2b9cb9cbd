"""`deia explain`: what the code of a problem means."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from deia import files
from deia.errors import QueryError
from deia.folders import STARTER
from deia.records import Record
from deia.search.rendering.columns import wrap
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import json_option
from deia.suggestions import nearest

PAGE = f"{STARTER}/docs/ERRORS.md"  # the page that people read, whose tables are the data
ROW = re.compile(r"\| (`[^|]*`) \| (.*) \|")
ANY_FIELD = "bad-"  # and a field's name: the page describes all of them by one sentence
WIDTH = 100


class Meaning(Record):
    """What one code of a problem means, and the heading under which the page has it."""

    code: str
    about: str
    means: str


@click.command(short_help="Show what the code of a problem means.")
@click.argument("code", required=False)
@json_option
def explain(*, code: str | None, as_json: bool) -> int:
    """Show what the CODE of a problem means, which `deia lint` prints in brackets; without one, show all codes."""
    meanings = {meaning.code: meaning for meaning in _meanings()}
    if code is None:
        lines = [f"{meaning.code:<22} {meaning.about}" for meaning in meanings.values()]
        output.answer([meaning.values() for meaning in meanings.values()], lines, as_json=as_json)
        return output.FOUND
    name = code.strip("[]`").lower()
    if name not in meanings and name.startswith(ANY_FIELD):
        field = name.removeprefix(ANY_FIELD)
        meanings[name] = Meaning(code=name, about="Any file", means=f"a value that the field `{field}` does not allow")
    if name not in meanings:
        raise QueryError(f"there is no problem with the code {name!r}", fix=nearest(name, list(meanings)))
    meaning = meanings[name]
    lines = [f"{name} ({meaning.about})", *(f"  {line}" for line in wrap(f"{meaning.means}.", WIDTH))]
    output.answer(meaning.values(), lines, as_json=as_json)
    return output.FOUND


def _meanings() -> Iterator[Meaning]:
    """Yield what each code means, in the order of the page."""
    about = ""
    for line in (files.read(PAGE) or b"").decode().splitlines():
        if line.startswith("## "):
            about = line[3:]
        row = ROW.fullmatch(line.strip())
        for code in re.findall(r"`([^`]+)`", row[1]) if row else ():
            yield Meaning(code=code, about=about, means=row[2] if row else "")
