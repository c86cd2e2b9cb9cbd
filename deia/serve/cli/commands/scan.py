"""`deia scan`: what the triggers would say of scripts, builds and migrations, before anybody runs them."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from deia.scan.scan_folders import Rules, scan_paths
from deia.serve.cli.ci_reports import CI_FORMS, print_problems
from deia.serve.cli.commands.shared_options import commons_option, form_option, message_if_slow, open_librarian
from deia.text import counted


@click.command(short_help="Show what the triggers find in scripts, builds and migrations.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, as in .gitignore; repeatable.")
@click.option("--strict", is_flag=True, help="Exit 1 for notes, too.")
@form_option("text", "json", *CI_FORMS)
@commons_option
def scan(*, paths: Sequence[str], exclude: Sequence[str], strict: bool, form: str) -> int:
    """Show what the triggers find in scripts, CI files, Dockerfiles, Makefiles, package scripts, migrations, notebooks.

    PATH is a file or folder, by default this folder; what `.gitignore` names is left out. What an agent would be warned
    of, asked about or stopped at is an error, and exits 1; what it would only be told is a warning. A line that has
    `# deia: ignore[TRIGGER]`, or stands below it, is passed over. Files that did not change are not read again.
    """
    librarian = open_librarian()
    with message_if_slow("The triggers are compiled, which is needed once …"):
        librarian.open_artefact()
    rules = Rules(
        triggers=f"{librarian.derived}/triggers", exceptions=librarian.settings.exceptions, root=librarian.root
    )
    with message_if_slow("Scanning …"):
        scanned = scan_paths(paths or (".",), rules, exclude=exclude, environ=os.environ)
    known = f" ({scanned.unchanged} unchanged)" if scanned.unchanged else ""
    scope = f"{counted(scanned.files, 'file')}{known}: "
    errors = print_problems(form, "deia scan", scanned.problems, scope=scope)
    return int(bool(errors or (strict and scanned.problems)))
