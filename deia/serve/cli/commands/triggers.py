"""`deia trigger`: the group of commands, and `test`, which runs the cases of triggers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import click

from deia import fast_json
from deia.commons.index.load_commons import Commons, load_commons
from deia.fast_json import Json
from deia.librarian import Librarian
from deia.problems import CommonsError, Problem
from deia.serve.cli import colours, output
from deia.serve.cli.ci_reports import CI_FORMS, Checked, from_here, print_report
from deia.serve.cli.commands.shared_options import commons_option, form_option, named_commons
from deia.serve.cli.commands.triggers_explain import explain
from deia.serve.cli.commands.triggers_lint import lint
from deia.serve.cli.commands.triggers_list import list_triggers
from deia.serve.cli.commands.triggers_new import new
from deia.serve.cli.commands.triggers_replay import replay
from deia.serve.cli.commands.watch_option import watch_option
from deia.serve.cli.shell_completion import complete_triggers
from deia.suggestions import nearest
from deia.text import counted, one_line, shorten
from deia.watch.authoring.replay import CaseResult, run_cases

EXCERPT = 100  # characters of a turn that are shown


@click.group(short_help="Work on triggers: new, list, test, lint, explain, replay.")
def trigger() -> None:
    """Work on the triggers: list them, run their cases, try them on past conversations.

    To see what they did, type: deia stats triggers
    """


for command in (list_triggers, new, lint, explain, replay):
    trigger.add_command(command)


@trigger.command()
@click.argument("ids", nargs=-1, metavar="[ID]…", shell_complete=complete_triggers)
@form_option("text", "json", *CI_FORMS)
@watch_option
@commons_option
def test(*, ids: Sequence[str], form: str) -> int:
    """Run the cases of triggers: examples on which a trigger must fire, or must not fire.

    Without an ID, all cases are run. If a case fails, exits 1.
    """
    librarian = Librarian(named_commons() or None, agent="cli", ledger=False)
    commons = load_commons(librarian.root)
    _check_ids(commons, ids)
    cases = [case for case in commons.cases if not ids or case.trigger in ids]
    results = run_cases(librarian.open_artefact(), cases, now=time.time())
    failures = [result for result in results if not result.holds]
    if form in CI_FORMS:
        print_report(form, "deia trigger test", [_checked(librarian.root, result) for result in results])
    elif form == "json":
        output.say(fast_json.dumps([_fields(result) for result in results]))
    else:
        lines = [line for result in failures for line in _failure(result)]
        colours.say("\n".join((*lines, *_summary(commons, ids, results))), colours.CASES)
    return int(bool(failures))


def _fields(result: CaseResult) -> Json:
    case = result.case
    return {
        "trigger": case.trigger, "path": case.path, "line": case.line, "fires": case.fires, "holds": result.holds,
        "turn": result.turn, "stage": result.stage, "detail": result.detail,
    }  # fmt: skip


def _checked(root: str, result: CaseResult) -> Checked:
    case, (title, *more) = result.case, _failure(result)
    path = from_here(root, case.path)
    found = f"{title.partition(': ')[2]};{' '.join(more)}"
    failure = Problem(path=path, line=case.line, found=found, code="failed-case")
    return Checked(
        group=case.trigger, name=f"{'fires' if case.fires else 'silent'}, {path}:{case.line}",
        problem=None if result.holds else failure,
    )  # fmt: skip


def _check_ids(commons: Commons, ids: Sequence[str]) -> None:
    known = [trigger.id for trigger in commons.triggers]
    for ident in ids:
        if ident not in known:
            raise CommonsError(f"there is no trigger {ident!r}", fix=nearest(ident, known))


def _failure(result: CaseResult) -> Iterator[str]:
    case = result.case
    wanted = "should fire" if case.fires else "should not fire"
    turn = case.turns[result.turn - 1] if case.turns else None
    yield f"{case.path}:{case.line}: {case.trigger} {wanted}, but {'does not' if case.fires else 'fires'}"
    if turn is not None:
        yield f"  turn {result.turn}, {turn.role}: {shorten(one_line(turn.text or str(turn.tool_input)), EXCERPT)}"
    yield f"  {'stopped at ' + result.stage if case.fires else 'because'}: {result.detail}"


def _summary(commons: Commons, ids: Sequence[str], results: Sequence[CaseResult]) -> Iterator[str]:
    covered = {result.case.trigger for result in results}
    tested = [trigger.id for trigger in commons.triggers if not ids or trigger.id in ids]
    failed = sum(not result.holds for result in results)
    yield f"{counted(len(tested), 'trigger')}, {counted(len(results), 'case')}, {failed} failed."
    without_cases = [ident for ident in tested if ident not in covered]
    if without_cases:
        yield f"Without cases: {', '.join(without_cases)}."
    broken = [
        problem for problem in commons.problems if problem.path.startswith("triggers/") and problem.severity == "error"
    ]
    if broken:
        yield f"{counted(len(broken), 'error')} in the trigger files; these triggers are not tested. Type: deia lint"
