"""Make a case of what was tried, run the cases of its trigger, and offer what would mend a false alarm or a missed one.

The case is written where `deia learn apply` would write it, with a line in the changelog, so that it can be taken back.
Every mend that is offered was tried: with it the case holds, and so does every case that held before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from deia import spool
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.source_files import yaml_blocks
from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import read_yaml
from deia.commons.triggers.cases import read_cases
from deia.errors import QueryError
from deia.evaluate.trigger_drafting import proposed
from deia.fast_json import Json
from deia.folders import events_folder
from deia.knowledge import Case, Trigger
from deia.learn.apply import apply_proposal, undo
from deia.learn.changes import ADD, ANY, CASES, DROP, TRIGGER, Change, written
from deia.learn.file_edits import is_editable
from deia.learn.proposals import Proposal, propose
from deia.learn.trials.recorded_turns import case_of
from deia.learn.trials.trigger_trial import TriggerTrial
from deia.learn.trigger_drafts import FiredTurn, phrases
from deia.problems import CommonsError
from deia.records import Record, Turn
from deia.redaction import redact
from deia.serve.page.asked_values import Asked, name, wanted_name
from deia.serve.page.try_turn import tried_turns
from deia.serve.server.desk import Desk
from deia.text import one_line, shorten, words
from deia.watch.authoring.replay import CaseResult, run_case, run_cases
from deia.watch.clauses.folder_signs import files_around, signs_around
from deia.watch.clauses.importers import importers_in
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.recall import InMemoryLog
from deia.watch.turn.scripts import WrittenFiles
from deia.watch.verdict.judge import FIRES
from deia.watch.watcher import Surroundings, watch

BECAUSE = "a person made it on the page"
MOST_TRIED, MOST_OFFERED, MOST_REMEMBERED = 12, 4, 100  # mends
SHOWN = 120  # characters of a turn in the changelog
_offered: dict[str, Proposal] = {}  # by id; the mends that were shown last, until they are applied


def make_case(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Write a case beside its trigger, and return how all cases of the trigger end, with mends if one fails."""
    root, ident = desk.writable, name(asked, "trigger")
    turns, fires = tried_turns(asked), asked.get("fires") is True
    if not turns or not (turns[-1].text.strip() or turns[-1].tool_input):
        raise QueryError("there is nothing to make a case of", fix="Type a sentence or a tool call first.")
    commons = load_commons(root)
    if not is_editable(commons, ident, of=TRIGGER):
        raise CommonsError(
            f"{ident} is not a trigger of this project's own files, so no case can be written beside it",
            fix=f"Mute it here, or give it [exceptions] in deia.toml, or type: deia mute {ident} --folder .",
        )
    case = _same_when_read(desk, commons, ident, turns, fires=fires)
    field = "fires" if fires else "silent"
    change = Change(kind=CASES, of=TRIGGER, target=ident, field=field, value=(case,))
    draft = propose("case", [change], because=BECAUSE, evidence=[_excerpt(turns[-1])], weight=1.0)
    _apply(root, draft)
    commons = load_commons(root)
    results = _run_cases(desk, commons, ident)
    fails = not all(result.holds for result in results)
    mends = _mends(desk, commons, ident, turns, _Made(case=case, fires=fires)) if fails else []
    _offer(mends)
    return {**_outcome(draft, results), "mends": [_shown(proposal) for proposal in mends]}


def _same_when_read(desk: Desk, commons: Commons, ident: str, turns: Sequence[Turn], *, fires: bool) -> Json:
    """Return the case of some turns; raise CommonsError if the trigger judges it otherwise once it is written."""
    trial = TriggerTrial(commons, (), settings=desk.librarian.settings.by_name())
    artefact = trial.compiled(next(trigger for trigger in commons.triggers if trigger.id == ident))
    try:
        case = case_of(turns)
        read = _read_back(case, ident, fires=fires)
        typed = Case(trigger=ident, fires=fires, turns=tuple(turns))
        typed_fires, read_fires = (run_case(artefact, tried, now=time.time()).stage == FIRES for tried in (typed, read))
    except RecursionError as error:
        raise CommonsError("This is nested too deeply for a case.", fix="Leave out the inner lists.") from error
    if not read_fires == typed_fires == _fires_here(desk, artefact, typed):
        was, would = ("stays silent", "fires") if read_fires else ("fires", "stays silent")
        fix = "Leave out what is long or secret, or write the case by hand, with `cwd_files` if it needs this folder."
        raise CommonsError(
            f"{ident} {was} on what was typed, and {would} on it as a case. Nothing was written.", fix=fix
        )
    return case


def _read_back(case: Json, ident: str, *, fires: bool) -> Case:
    """Return a case as it will be read from its file."""
    written = yaml_blocks.to_yaml({ident: {"fires" if fires else "silent": [case]}})
    findings = Findings("the case")
    read = [*read_cases(read_yaml(written, path="the case").value, (ident,), findings)]
    if len(read) != 1:
        raise CommonsError("This cannot be written as a case.", findings.problems, fix="Shorten it.")
    return read[0]


def _fires_here(desk: Desk, artefact: Artefact, case: Case) -> bool:
    """Return whether the trigger of a case fires in the folder of the page, on the turns that the case is about."""
    log, written, folder = InMemoryLog(), WrittenFiles(), desk.folder
    around = Surroundings(
        now=time.time(), folder=signs_around(folder), exists=files_around(folder),
        importers=importers_in(desk.derived, folder), bounded=False,
    )  # fmt: skip
    watched = [watch(artefact, written.widened(turn), log, lambda: around) for turn in case.turns]
    verdicts = [
        verdict for watched_turn in (watched[-1:] if case.fires else watched) for verdict in watched_turn.verdicts
    ]
    return any(verdict.trigger == case.trigger and verdict.stage == FIRES for verdict in verdicts)


def _offer(mends: Sequence[Proposal]) -> None:
    """Remember the mends that are shown, whichever tab shows them."""
    _offered.update({proposal.id: proposal for proposal in mends})
    while len(_offered) > MOST_REMEMBERED:
        del _offered[next(iter(_offered))]


def _excerpt(turn: Turn) -> str:
    return shorten(one_line(redact(turn.text or str(turn.tool_input))), SHOWN)


def _apply(root: str, proposal: Proposal) -> None:
    apply_proposal(root, proposal, now=time.time())
    note_change(root, f"page: {proposal.id}")


def note_change(root: str, change: str) -> None:
    """Log a change of the commons that was made on the page."""
    spool.append(events_folder(root, os.environ), "index", {"actor": "page", "change": change})


def _run_cases(desk: Desk, commons: Commons, ident: str) -> list[CaseResult]:
    """Return how the cases of a trigger end, with the files as they are now."""
    trial = TriggerTrial(commons, (), settings=desk.librarian.settings.by_name())
    trigger = next(trigger for trigger in commons.triggers if trigger.id == ident)
    cases = [case for case in commons.cases if case.trigger == ident]
    return run_cases(trial.compiled(trigger), cases, now=time.time())


def _outcome(applied: Proposal, results: Sequence[CaseResult]) -> dict[str, Json]:
    return {
        "id": applied.id, "trigger": applied.changes[0].target, "cases": [_result(result) for result in results],
        "does": [change.summary() for change in applied.changes],
        "files": sorted({result.case.path for result in results}), "mends": [],
    }  # fmt: skip


def _result(result: CaseResult) -> dict[str, Json]:
    case = result.case
    return {
        "holds": result.holds, "fires": case.fires, "path": case.path, "line": case.line, "stage": result.stage,
        "detail": result.detail, "text": _excerpt(case.turns[-1]) if case.turns else "",
    }  # fmt: skip


class _Made(Record):
    """A case that was made, and whether its trigger has to fire in it."""

    case: Json
    fires: bool


def _mends(desk: Desk, commons: Commons, ident: str, turns: Sequence[Turn], made: _Made) -> list[Proposal]:
    """Return changes of a trigger with which a case holds and no other breaks, tried one by one."""
    trigger = next(trigger for trigger in commons.triggers if trigger.id == ident)
    text = turns[-1].text or str(turns[-1].tool_input)
    weight = 1.0 if made.fires else -1.0
    recorded = FiredTurn(trigger=ident, weight=weight, case=made.case, text=text, conversation="page")
    trial = TriggerTrial(commons, [recorded], settings=desk.librarian.settings.by_name())
    changes = _speaking(trigger, turns[-1]) if made.fires else _silencing(commons, trigger, text)
    drafts = [
        propose(kind, [change], because=BECAUSE, evidence=[_excerpt(turns[-1])], weight=1.0) for kind, change in changes
    ]
    return trial.judge(drafts[:MOST_TRIED])[:MOST_OFFERED]


def _speaking(trigger: Trigger, turn: Turn) -> Iterator[tuple[str, Change]]:
    """Yield clauses that could make a trigger fire on a turn: its command, what it does to what, its sentence."""
    is_call = turn.role == "tool_call"
    text = one_line(redact(turn.text))
    draft = proposed(f"`{text}`" if is_call else text, documents=(), today="", own=trigger.act_words)
    clauses = draft.trigger["when"][ANY] if draft else ()
    wanted = [clause for clause in clauses if ("command" in clause) == is_call]
    if not is_call:
        wanted.append({"meaning": [text]})
    for clause in sorted(wanted, key=lambda clause: "phrase" in clause) if trigger.any else ():
        yield "clause", Change(kind=ADD, of=TRIGGER, target=trigger.id, field=ANY, value=(clause,))


def _silencing(commons: Commons, trigger: Trigger, text: str) -> Iterator[tuple[str, Change]]:
    """Yield words of a turn that could silence the trigger, the longest first, and then each of its clauses."""
    own = set(words(" ".join(str(clause.value) for clause in (*trigger.any, *trigger.all))))
    firing = [case for case in commons.cases if case.trigger == trigger.id and case.fires]
    needed = {word for case in firing for turn in case.turns for word in words(turn.text)}
    free = [phrase for phrase in phrases(text) if not own.intersection(phrase.split()) and phrase not in needed]
    for phrase in sorted(free, key=lambda candidate: (" " in candidate, -len(candidate), candidate)):
        yield "unless", Change(kind=ADD, of=TRIGGER, target=trigger.id, field="unless", value=(phrase,))
    for clause in trigger.any if len(trigger.any) > 1 else ():
        if not clause.language and isinstance(clause.value, str | tuple):
            yield "clause", Change(kind=DROP, of=TRIGGER, target=trigger.id, field=ANY, value=(written(clause),))


def _shown(proposal: Proposal) -> Json:
    return {"id": proposal.id, "does": [change.summary() for change in proposal.changes]}


def mend(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Write a mend that was offered, and return how all cases of its trigger end."""
    proposal = _offered.get(name(asked, "id"))
    if proposal is None:
        raise QueryError("this mend is not offered any more", fix="Make the case again.")
    root = desk.writable
    _apply(root, proposal)
    return _outcome(proposal, _run_cases(desk, load_commons(root), proposal.changes[0].target))


def take_back(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Take back what was written with an id; the files become what they were."""
    root, ident = desk.writable, wanted_name(asked, "id")
    undone = undo(root, ident, now=time.time())
    note_change(root, f"page: undo {undone.id}")
    return {"id": undone.id, "files": [edit.path for edit in undone.files]}
