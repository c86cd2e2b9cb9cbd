"""Completion in shells: the scripts, and the ids, triggers and filter values that a person may be typing.

What is compiled is read as it lies: completing never compiles, never complains, and gives nothing where there is
nothing. PowerShell is told here, as click does not know it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from deia import files
from deia.errors import ArtefactError, DeiaError
from deia.folders import derived_folder, find_commons
from deia.search.catalog import open_catalog
from deia.search.find_document import ids
from deia.serve.cli.flags import COMPLETION
from deia.watch.gate.artefact import open_artefact

if TYPE_CHECKING:
    import click

SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM = "deia"
MOST = 200  # that are offered at once
POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:%(complete_var)s = "powershell_complete"
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_INCOMPLETE = $wordToComplete
    try {
        %(prog_name)s | ForEach-Object {
            $value, $help = $_ -split "`t", 2
            if (-not $help) { $help = $value }
            $quoted = if ($value -match "[\\s']") { "'" + $value.Replace("'", "''") + "'" } else { $value }
            [System.Management.Automation.CompletionResult]::new($quoted, $value, "ParameterValue", $help)
        }
    } finally {
        Remove-Item Env:%(complete_var)s, Env:COMP_WORDS, Env:COMP_INCOMPLETE -ErrorAction SilentlyContinue
    }
}
"""


class PowerShell(ShellComplete):
    """Completion for PowerShell, 5.1 and later."""

    name = "powershell"
    source_template = POWERSHELL

    def get_completion_args(self) -> tuple[list[str], str]:
        """Give the words before the one that is being typed, and that one."""
        typed = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        incomplete = os.environ.get("COMP_INCOMPLETE", "").strip("'\"")
        return (typed[:-1] if typed and typed[-1] == incomplete and incomplete else typed), incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Give one line: the value, a tab, and what it is."""
        return f"{item.value}\t{item.help or ''}"


add_completion_class(PowerShell)


def script(shell: str, cli: click.Command) -> str:
    """Give the script that a shell runs to complete `deia`."""
    known = get_completion_class(shell)
    assert known is not None, shell  # noqa: S101 - SHELLS are click's and ours
    maker = known(cli, {}, PROGRAM, COMPLETION)
    # click's own way to it starts a shell to look at its version
    return known.source_template % maker.source_vars()


# --- values ---


def complete_documents(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the ids of documents."""
    return _offered(_ids(_derived(ctx)), typed)


def complete_triggers(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the ids of triggers."""
    return _offered(_triggers(_derived(ctx)), typed)


def complete_filter(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer the values of the filter that an option is named after."""
    return _offered(_values(_derived(ctx), str(parameter.name)), typed)


def _offered(known: Iterable[str], typed: str) -> list[CompletionItem]:
    start = typed.casefold()
    try:
        fitting = sorted(each for each in known if each.casefold().startswith(start) and each.isprintable())
    except (DeiaError, OSError, ValueError):
        return []
    return [CompletionItem(each) for each in fitting[:MOST]]


def _derived(ctx: click.Context) -> str:
    """Give the folder of the compiled files, or nothing where there is no commons."""
    named: Any = ctx.find_root().params.get("commons") or ctx.params.get("commons") or ctx.find_root().obj or ""
    here = os.getcwd().replace("\\", "/")
    try:
        explicit = os.path.abspath(named).replace("\\", "/") if named else ""
        return derived_folder(find_commons(here, environ=os.environ, explicit=explicit), os.environ)
    except (DeiaError, OSError, ValueError):
        return ""


def _ids(derived: str) -> Iterator[str]:
    name = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    return ids(open_catalog(f"{derived}/{name or 'no-catalog'}"))


def _values(derived: str, name: str) -> Iterator[str]:
    folder = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    yield from open_catalog(f"{derived}/{folder or 'no-catalog'}").keyword.values(name)


def _triggers(derived: str) -> Iterator[str]:
    try:
        artefact = open_artefact(f"{derived}/triggers")
    except ArtefactError:
        return
    for number in range(artefact.meta.triggers):
        yield artefact.trigger(number).id
