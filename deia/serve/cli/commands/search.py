"""`deia search` for click, made from the same table of flags as the quick path; for help, completion and complaints."""

from __future__ import annotations

from typing import Any

import click

from deia.match.keyword import FILTERS
from deia.serve.cli.commands.shared_options import given_commons
from deia.serve.cli.flags import SEARCH, Flag
from deia.serve.cli.quick_search import search as answer
from deia.serve.cli.shell_completion import complete_filter


def _option(flag: Flag) -> click.Option:
    kind: Any = str
    if flag.choices:
        kind = click.Choice(flag.choices)
    elif flag.most:
        kind = click.IntRange(flag.least, flag.most)
    metavar = None if flag.choices else flag.metavar
    names = [flag.name, flag.field]
    offered = complete_filter if flag.name[2:] in FILTERS and not flag.choices else None
    return click.Option(
        names, type=kind, metavar=metavar, multiple=flag.repeated, help=flag.help, shell_complete=offered
    )


def _search(*, words: tuple[str, ...], commons: str | None, **given: Any) -> int:
    options = {name: value for name, value in given.items() if value not in (None, ())}
    return answer(text=" ".join(words), commons=commons or given_commons(), **options)


search = click.Command(
    "search",
    callback=_search,
    params=[
        click.Argument(["words"], nargs=-1, metavar="[QUESTION]…"),
        *map(_option, SEARCH),
    ],
    help="""Ask the commons.

    Gives the documents that answer, or says that nothing here does. Exits with 0 where documents were found, 1 where
    none were, 2 on an error.""",
    short_help="Ask the commons.",
)
