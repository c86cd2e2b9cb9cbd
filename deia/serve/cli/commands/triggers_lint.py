"""`deia trigger lint`: problems of triggers that are formally correct."""

from __future__ import annotations

import time

import click

from deia import fast_json
from deia.commons.layers.merge_layers import load_layers
from deia.commons.layers.shadowing import hiding_problems
from deia.compile.manifest import read_manifest
from deia.compile.triggers.linting import lint_triggers
from deia.librarian import Librarian
from deia.problems import Problem
from deia.serve.cli import colours, output
from deia.serve.cli.ci_reports import CI_FORMS, from_here, print_problems
from deia.serve.cli.commands.shared_options import commons_option, form_option, named_commons
from deia.text import counted


@click.command("lint", short_help="Show triggers that never fire, overlap, are slow, or have weak cases.")
@form_option("text", "json", *CI_FORMS)
@commons_option
def lint(*, form: str) -> int:
    """Show triggers that can never fire, overlap, slow down every turn, have slow patterns, or have weak cases.

    This checks the project's own triggers, also against those of the layers below. Errors in the files are shown by
    `deia lint`. If a trigger can never fire, exits 1.
    """
    librarian = Librarian(named_commons() or None, agent="cli", ledger=False)
    artefact = librarian.open_artefact()
    layers = load_layers(librarian.root, starter=librarian.settings.starter, trusted=librarian.settings.trusted)
    layers = layers if librarian.settings.starter_triggers else layers.without_starter_triggers()
    own, layered = layers.stack[0], layers.merged()
    manifest = read_manifest(librarian.derived)
    problems = lint_triggers(artefact, own.triggers, layered.cases, ungated=manifest.ungated, clock=time.perf_counter)
    problems = [*hiding_problems(layers.stack), *problems]
    if form in CI_FORMS:
        print_problems(form, "deia trigger lint", [at.but(path=from_here(librarian.root, at.path)) for at in problems])
    elif form == "json":
        output.say(fast_json.dumps([problem.values() for problem in problems]))
    else:
        colours.say("\n".join((*map(str, problems), _summary(problems, len(own.triggers)))), colours.PROBLEMS)
    return int(any(problem.severity == "error" for problem in problems))


def _summary(problems: list[Problem], triggers: int) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    return f"{counted(triggers, 'trigger')}, {counted(errors, 'error')}, {counted(warnings, 'warning')}."
