"""Completion in shells: the scripts, and the ids, triggers and filter values that a person may be typing.

Only the compiled files are read, as they are: completion never compiles anything and never shows an error. Support for
PowerShell is added to that of click.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from deia import files
from deia.errors import DeiaError
from deia.folders import derived_folder, find_commons
from deia.search.catalog import Catalog, open_catalog
from deia.search.find_document import ids
from deia.serve.cli.flags import COMPLETION
from deia.settings import NAMES
from deia.tables import text_beside
from deia.watch.gate.artefact import open_artefact

SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM = "deia"
# A zsh without completion of its own knows no `compdef`; `-i` leaves out folders that others may write to, unasked.
ZSH_REGISTERS = "    compdef "
ZSH_PREPARES = "    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }\n"
MOST = 200  # completions that are offered at once


class PowerShell(ShellComplete):
    """Completion for PowerShell, 5.1 and later."""

    name = "powershell"
    source_template = text_beside(__file__, ".ps1")

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is being typed, and that word."""
        typed = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        incomplete = os.environ.get("COMP_INCOMPLETE", "").strip("'\"")
        return (typed[:-1] if typed and typed[-1] == incomplete and incomplete else typed), incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Return one line: the value, a tab, and a description."""
        return f"{item.value}\t{item.help or ''}"


add_completion_class(PowerShell)


def script(shell: str, cli: click.Command) -> str:
    """Return the script that a shell runs to complete `deia`."""
    completer = get_completion_class(shell)
    assert completer is not None, shell  # noqa: S101 - click and this module know all SHELLS
    # click's own `source` also starts a shell to look at its version.
    template = completer.source_template.replace(ZSH_REGISTERS, ZSH_PREPARES + ZSH_REGISTERS)
    return template % completer(cli, {}, PROGRAM, COMPLETION).source_vars()


# --- values ---


def complete_documents(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the ids of documents that begin with what was typed."""
    return _completions(ctx, typed, lambda derived: ids(_catalog(derived)))


def complete_triggers(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the ids of triggers that begin with what was typed."""
    return _completions(
        ctx, typed, lambda derived: (trigger.id for trigger in open_artefact(f"{derived}/triggers").triggers())
    )


def complete_entities(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the names in the graph that begin with what was typed."""
    return _completions(ctx, typed, lambda derived: _entities(f"{derived}/graph", typed.casefold()))


def complete_settings(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the settings whose names begin with what was typed."""
    return [name for name in NAMES if name.startswith(typed)]


def complete_filter(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the values of the filter that the option is named after."""
    return _completions(ctx, typed, lambda derived: _catalog(derived).keyword.values(str(parameter.name)))


def _completions(ctx: click.Context, typed: str, known: Callable[[str], Iterable[str]]) -> list[CompletionItem]:
    """Return what begins with what was typed, of what is known in the folder of the compiled files."""
    named: str = ctx.find_root().params.get("commons") or ctx.params.get("commons") or ctx.find_root().obj or ""
    start = typed.casefold()
    try:
        explicit = files.forward(os.path.abspath(named)) if named else ""
        root = find_commons(files.forward(os.getcwd()), environ=os.environ, explicit=explicit)
        values = known(derived_folder(root, os.environ))
        matching = sorted(value for value in values if value.casefold().startswith(start) and value.isprintable())
    except (DeiaError, OSError, ValueError):
        return []
    return [CompletionItem(value) for value in matching[:MOST]]


def _catalog(derived: str) -> Catalog:
    folder = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    return open_catalog(f"{derived}/{folder or 'no-catalog'}")


def _entities(folder: str, start: str) -> list[str]:
    from deia.graph.graph_store import DATABASE, Graph  # noqa: PLC0415 - few completions need SQLite

    if not files.exists(f"{folder}/{DATABASE}"):
        return []
    sql = "select distinct name from entities where folded >= ? and folded < ? order by folded limit ?"
    with Graph(folder) as graph:
        return [name for (name,) in graph.database.execute(sql, (start, f"{start}\U0010ffff", MOST))]
