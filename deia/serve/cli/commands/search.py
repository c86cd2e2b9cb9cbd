"""`deia search` as a click command, from the same table of options as the quick path; for help and errors."""

from __future__ import annotations

from typing import Any

import click

from deia.match.keyword import FILTERS
from deia.serve.cli.commands.shared_options import named_commons
from deia.serve.cli.commands.typed_words import WordsCommand
from deia.serve.cli.flags import SEARCH, Flag
from deia.serve.cli.quick_search import search as answer
from deia.serve.cli.shell_completion import complete_filter


def _option(flag: Flag) -> click.Option:
    kind: click.Choice[str] | click.IntRange | type[str] = str
    if flag.choices:
        kind = click.Choice(flag.choices)
    elif flag.most:
        kind = click.IntRange(flag.least, flag.most)
    if flag.means[0]:
        return click.Option([flag.name, flag.field], is_flag=True, help=flag.help)
    metavar = None if flag.choices else flag.metavar
    names = [flag.name, flag.field]
    complete = complete_filter if flag.name[2:] in FILTERS and not flag.choices else None
    return click.Option(
        names, type=kind, metavar=metavar, multiple=flag.repeated, help=flag.help, shell_complete=complete
    )


def _search(*, words: tuple[str, ...], commons: str | None, json: bool, **values: Any) -> int:
    options = {name: value for name, value in values.items() if value not in (None, ())}
    if json and options.setdefault("form", "json") != "json":
        raise click.UsageError(f"Use --json or --format {options['form']}, not both.")
    return answer(text=" ".join(words), commons=commons or named_commons(), **options)


search = WordsCommand(
    "search",
    callback=_search,
    params=[click.Argument(["words"], nargs=-1, metavar="[QUESTION]…"), *map(_option, SEARCH)],
    help="""Search the commons.

    Shows the documents that answer the question. If nothing matches, exits 1; after an error, 2.""",
    short_help="Search the commons.",
)
