"""Judging: which of a turn's candidates really fire, and where each of the others stopped.

The functions are pure: they take the turn, compiled triggers, memory, clock and folder signs, and return verdicts. The
project's settings can weaken what a trigger asks for, never strengthen it: of the trigger's own action, `max_action`
and the entry of `forms` for the trigger, or else for its urgency, the mildest wins.
"""

from __future__ import annotations

from deia.firing import Firing, Reference
from deia.records import ACTIONS, STOPPING, TYPE_CHECKING, UNTRUSTED, Record, Turn
from deia.text import one_line, shorten, words
from deia.watch.clauses.confirm import Match, confirm
from deia.watch.compiled_trigger import DELETION
from deia.watch.gate.word_gate import EVERY
from deia.watch.prose.stance_names import counts
from deia.watch.shell.templates import gives_option
from deia.watch.turn.tool_call import LONG_THERE, RUN_MARK, command_of
from deia.watch.verdict.earlier_statements import PRODUCTION as ON_PRODUCTION
from deia.watch.verdict.earlier_statements import PRODUCTION_TURNS, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from deia.records import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from deia.records import Action
    from deia.watch.compiled_trigger import CompiledClause, CompiledTrigger, Unless
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.recall import Memory
    from deia.watch.turn.parsed_turn import Reading

    FolderSigns = Callable[
        [Sequence[str]], str
    ]  # context words → the first that the working folder's signs show, or ""
    FileCheck = Callable[[str], bool]  # path → whether there is such a file
    Importers = Callable[[str], int]  # path → how many files import it
else:
    FolderSigns = FileCheck = Importers = object

FIRES = "fires"
# One of these words in the command or sentence itself makes an act one step more urgent.
PRODUCTION = frozenset(("prod", "production"))
HIGHER = {"medium": "high", "high": "critical"}
# The clause kinds for what a tool call itself does. A call that only mentions an act (asks the person, lists tasks,
# instructs a sub-agent) is not stopped: asking is safe, and the act itself will be watched.
DONE_BY_CALL = frozenset(("tool", "write", "sql"))
KNOWING = frozenset((FIRES, "memory", "muted"))  # stages of a trigger that knows the command
LOW = "low"  # the confidence of a firing that rests on a verb alone; see `deia.watch.clauses.deletions`
MILDEST = ACTIONS[0]
MOST_SAID: Action = "warn"  # the most that words alone bring about: a tool call decides whether it is stopped
RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3}
OFF = "off"
STRENGTH = (OFF, *ACTIONS)
STRONGEST = ACTIONS[-1]


class Verdict(Record):
    """What became of a candidate: the stage it reached, and why it stopped there."""

    trigger: str
    stage: str  # clause | stance | unless | earlier | context | muted | memory | sentence | fires
    detail: str
    number: int
    firing: Firing | None = None
    sentence: str = ""  # in which it was said, "" if it was done or failed


class Circumstances(Record):
    """Everything besides the turn itself that a verdict depends on."""

    memory: Memory
    seen: tuple[str, ...] = ()  # context words in this turn
    folder: FolderSigns | None = None
    muted: frozenset[str] = frozenset()
    now: float = 0.0
    recent_turns: int = 30
    marks: Mapping[str, Statement] = {}  # earlier statements that still count, by mark
    exists: FileCheck | None = None
    importers: Importers | None = None


def judge(
    artefact: Artefact, numbers: Mapping[int, Collection[int]], reading: Reading, circumstances: Circumstances
) -> tuple[Verdict, ...]:
    """Return a verdict for each candidate: those that fire first, the most urgent before the others.

    `numbers` maps each candidate's number to the numbers of the clauses to check, or to
    `deia.watch.gate.word_gate.EVERY`.
    """
    verdicts = [_judge_one(artefact, number, clauses, reading, circumstances) for number, clauses in numbers.items()]
    return tuple(sorted(_last_resorts_last(verdicts), key=_order))


def _last_resorts_last(verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """Return the verdicts; a trigger on any deletion counts only where no other trigger knows the command."""
    if not any(verdict.firing and verdict.firing.confidence == LOW for verdict in verdicts):
        return verdicts
    knowing = next((verdict for verdict in verdicts if verdict.stage in KNOWING and not _is_last_resort(verdict)), None)
    if knowing is None:
        return verdicts
    outdone = {"stage": "sentence", "detail": f"{knowing.trigger} knows this command", "firing": None}
    return [verdict.but(**outdone) if _is_last_resort(verdict) else verdict for verdict in verdicts]


def _is_last_resort(verdict: Verdict) -> bool:
    return verdict.firing is not None and verdict.firing.confidence == LOW


def _order(verdict: Verdict) -> tuple[int, int, int, str]:
    firing = verdict.firing
    if firing is None:
        return 2, 0, 0, verdict.trigger
    return int(firing.origin == UNTRUSTED), RANK[firing.urgency], -ACTIONS.index(firing.action), verdict.trigger


def _judge_one(
    artefact: Artefact, number: int, clauses: Collection[int], reading: Reading, circumstances: Circumstances
) -> Verdict:
    trigger = artefact.trigger(number)
    identity = trigger.id
    stage, detail, matches = _matches(trigger, clauses, _ClauseCheck(artefact, reading, circumstances))
    matches = _placed(matches, reading.turn)
    if stage:
        return Verdict(trigger=identity, stage=stage, detail=detail, number=number)
    precondition = _precondition(trigger, circumstances)
    if precondition is None and trigger.otherwise is None:
        return Verdict(trigger=identity, stage="earlier", detail="its precondition was not said before", number=number)
    context = _context(trigger.context, circumstances)
    if context is None:
        words_missing = ", ".join(trigger.context)
        return Verdict(trigger=identity, stage="context", detail=f"none of {words_missing} in sight", number=number)
    because = _because(matches, reading, precondition or "", context)
    if identity in circumstances.muted:
        return Verdict(trigger=identity, stage="muted", detail=because, number=number)
    is_call = reading.turn.role == "tool_call"
    silenced = _silence_reason(trigger, circumstances, acts=is_call and not reading.said)
    if silenced and not (is_call and trigger.action in STOPPING):
        return Verdict(trigger=identity, stage="memory", detail=silenced, number=number)
    is_said = bool(reading.said) and not (is_call and any(match.kind in DONE_BY_CALL for match in matches))
    firing = firing_of(artefact, trigger, reading.turn, because, said=is_said)
    confidence = LOW if matches and matches[-1].kind == DELETION else firing.confidence
    firing = firing.but(act=matches[-1].excerpt if matches else "", told=silenced, confidence=confidence)
    if any(match.told.endswith(LONG_THERE) for match in matches):  # it ran before, perhaps often
        firing = firing.but(action=min(firing.action, MOST_SAID, key=ACTIONS.index))
    if precondition is None:
        # It does no more than `otherwise`, since what would make it serious did not happen before.
        most = trigger.otherwise or firing.action
        firing = firing.but(action=min(firing.action, most, key=ACTIONS.index), urgency="low")
    elif trigger.timing == "pre-action":
        firing = _on_production(firing, matches, circumstances.marks.get(ON_PRODUCTION))
    sentence = matches[-1].around.strip() if is_said and matches and matches[-1].kind != "error" else ""
    return Verdict(trigger=identity, stage=FIRES, detail=because, number=number, firing=firing, sentence=sentence)


def _placed(matches: list[Match], turn: Turn) -> list[Match]:
    """Return the matches, with a remark on those that stand in a file which the call runs."""
    if turn.role != "tool_call" or RUN_MARK not in command_of(turn):
        return matches
    from deia.watch.turn.scripts import place_in  # noqa: PLC0415 - few calls run what a trigger is about

    places = [place_in(turn, match.excerpt) for match in matches]
    return [match.but(told=f"in {place}") if place else match for match, place in zip(matches, places, strict=True)]


def _on_production(firing: Firing, matches: Sequence[Match], mark: Statement | None) -> Firing:
    """Return the firing, more urgent if it happens on production: beside the act's words, or from a mark."""
    if any(PRODUCTION.intersection(words(match.around)) for match in matches):
        return raised(firing)
    if mark is None or mark.ago >= PRODUCTION_TURNS:
        return firing
    return raised(firing).but(because=f"{firing.because}; on production {_statement_age(mark)}")


def raised(firing: Firing) -> Firing:
    """Return a firing that is one step more urgent, unless it is of an untrusted commons."""
    return firing if firing.origin == UNTRUSTED else firing.but(urgency=HIGHER.get(firing.urgency, firing.urgency))


def _statement_age(statement: Statement) -> str:
    turns = "in this turn" if not statement.ago else f"{statement.ago} turn{'s' if statement.ago > 1 else ''} ago"
    return f"by {_quoted(statement.text)} {turns}"


def _precondition(trigger: CompiledTrigger, circumstances: Circumstances) -> str | None:
    """Return how a trigger's precondition was met ("" if it has none), or None if it was not."""
    within = trigger.earlier
    if within is None:
        return ""
    statement = circumstances.marks.get(trigger.waits_for or trigger.id)
    return _statement_age(statement) if statement is not None and (not within or statement.ago <= within) else None


class _ClauseCheck:
    """What a trigger's clauses are checked against: a turn and its circumstances."""

    __slots__ = ("artefact", "circumstances", "reading")

    def __init__(self, artefact: Artefact, reading: Reading, circumstances: Circumstances) -> None:
        self.artefact, self.reading, self.circumstances = artefact, reading, circumstances

    def met(self, clause: CompiledClause, match: Match) -> tuple[bool, str]:
        """Return whether a match meets its clause's conditions, and a detail: `it` was named, a file is as required."""
        if match.stands_for:
            named = match.stands_for in self.circumstances.seen or _was_seen_lately(
                match.stands_for, self.circumstances
            )
            return named, "what it stands for was not named"
        if "subject_gone" in clause.asked:
            return self._is_about(match, gone=bool(clause.asked["subject_gone"]), file="deletes" in clause.asked)
        if not clause.asked or "deletes" in clause.asked:
            return True, ""
        from deia.watch.clauses.file_state import meets  # noqa: PLC0415 - few clauses depend on the state of a file

        memory, exists = self.circumstances.memory, self.circumstances.exists
        turn = self.reading.turn
        if "imported_by" in clause.asked:
            number = self.circumstances.importers(match.excerpt) if self.circumstances.importers else 0
            if number < clause.asked["imported_by"]:
                return False, ""
            if len(clause.asked) == 1:
                return True, f"{number} files import it"
        return meets(clause.asked, match.excerpt, turn, artefact=self.artefact, memory=memory, exists=exists)

    def _is_about(self, match: Match, *, gone: bool, file: bool) -> tuple[bool, str]:
        """Return whether the subject of a removed text or file is gone as required, with a detail to explain it."""
        from deia.watch.clauses.removals import gone_subject  # noqa: PLC0415 - few turns remove what a clause names

        before, own = self.circumstances.memory.seen, self.circumstances.seen
        why = gone_subject(self.reading, before, own, path=match.excerpt if file else "")
        return bool(why) == gone, why


def _was_seen_lately(name: str, circumstances: Circumstances) -> bool:
    memory = circumstances.memory
    return memory.turns - memory.seen.get(name, -(10**9)) < circumstances.recent_turns


def _matches(trigger: CompiledTrigger, clauses: Collection[int], check: _ClauseCheck) -> tuple[str, str, list[Match]]:
    """Return the matches that count, or the stage and reason at which the trigger stopped."""
    matches: list[Match] = []
    stopped = ("clause", "no clause matches")
    for clause in trigger.all:
        match, why = _first_match(trigger, clause, check)
        if match is None:
            return (*why, []) if why else ("clause", f"{clause.kind} {clause.source!r} does not match", [])
        matches.append(match)
    whole = EVERY in clauses or trigger.all
    for clause in trigger.any if whole else [trigger.any[number] for number in sorted(clauses)]:
        match, why = _first_match(trigger, clause, check)
        if match is not None:
            return "", "", [*matches, match]
        stopped = why or stopped
    return (*stopped, []) if trigger.any else ("", "", matches)


def _first_match(
    trigger: CompiledTrigger, clause: CompiledClause, check: _ClauseCheck
) -> tuple[Match | None, tuple[str, str] | None]:
    """Return the first match of a clause whose stance counts and that no `unless` silences, or why there is none."""
    why = None
    for match in confirm(clause, check.reading):
        met, detail = check.met(clause, match)
        if not met:
            why = ("earlier", detail or f"{_quoted(match.excerpt)} is not as it asks")
            continue
        if not counts(match.stance, trigger.stance):
            why = ("stance", f"{match.kind} {_quoted(match.excerpt)} is {match.stance.replace('_', ' ')}")
            continue
        silenced = next((text for text in trigger.unless if _is_present(text, match)), None)
        if silenced is None:
            return match.but(told=detail) if clause.asked else match, None
        why = ("unless", f"{silenced.source!r} stands beside it")
    return None, why


def _is_present(unless: Unless, match: Match) -> bool:
    if unless.flag:
        if match.command is not None:
            return gives_option(unless.flag, match.command)
        return unless.flag in match.around.split()
    around = words(match.around)
    wanted = unless.words
    return bool(wanted) and any(
        all(around[at + offset] in alike for offset, alike in enumerate(wanted))
        for at in range(len(around) - len(wanted) + 1)
    )


def _context(context_words: Sequence[str], circumstances: Circumstances) -> str | None:
    """Return where a required context was seen ("" if none is required), or None if it was not."""
    if not context_words:
        return ""
    here = next((word for word in context_words if word in circumstances.seen), "")
    if here:
        return f'context "{here}"'
    recent = next((word for word in context_words if _was_seen_lately(word, circumstances)), "")
    if recent:
        return f'context "{recent}" some turns ago'
    sign = circumstances.folder(context_words) if circumstances.folder is not None else ""
    return f'context "{sign}" in the folder' if sign else None


def _silence_reason(trigger: CompiledTrigger, circumstances: Circumstances, *, acts: bool) -> str:
    """Return why a trigger that fired before stays silent, or ""; `acts` is whether the turn does the act itself."""
    memory = circumstances.memory
    previous = memory.fired.get(trigger.id)
    repeat = trigger.repeat
    if trigger.id in memory.outdone and repeat and not acts:
        return "another trigger spoke for its sentence in this conversation"
    if previous is None or repeat == 0 or (acts and trigger.id in memory.armed):
        return ""
    if repeat < 0:
        return "it already fired in this conversation"
    return f"it fired less than {repeat:g} s ago" if circumstances.now - previous[0] < repeat else ""


def _because(matches: list[Match], reading: Reading, *reasons: str) -> str:
    turn = reading.turn
    role = turn.role.replace("_", " ")
    parts = [
        f"{match.kind} {_quoted(match.excerpt)} in {role} turn {turn.index}{f': {match.told}' if match.told else ''}"
        for match in matches
    ]
    return "; ".join(dict.fromkeys([*parts, *(reason for reason in reasons if reason)]))


def _quoted(excerpt: str) -> str:
    return '"' + shorten(one_line(excerpt), 100) + '"'


def firing_of(artefact: Artefact, trigger: CompiledTrigger, turn: Turn, because: str, *, said: bool) -> Firing:
    """Return the firing of a compiled trigger on a turn; `said` if the turn only speaks of the act."""
    return Firing(
        trigger=trigger.id,
        title=trigger.title,
        urgency=trigger.urgency,
        action=min(trigger.action, MOST_SAID, key=ACTIONS.index) if said else trigger.action,
        timing=trigger.timing,
        message=trigger.message,
        action_required=trigger.action_required,
        instead=tuple(trigger.instead),
        documents=tuple(
            Reference(id=artefact.document(number)["id"], mode=mode, reason=reason)
            for number, mode, reason in trigger.documents
        ),
        because=because,
        turn=turn.index,
        origin=trigger.origin,
    )


def bounded(verdicts: Iterable[Verdict], settings: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Return the verdicts with the actions that the settings allow; a trigger that they switch off is muted."""
    if settings.get("max_action", STRONGEST) == STRONGEST and not settings.get("forms"):
        return tuple(verdicts)
    off = "the settings of this project switch it off"
    bound = []
    for verdict in verdicts:
        action = allowed_action(verdict.firing, settings) if verdict.firing else None
        if verdict.firing and action:
            bound.append(verdict.but(firing=verdict.firing.but(action=action)))
        else:
            bound.append(verdict.but(stage="muted", detail=off, firing=None) if verdict.firing else verdict)
    return tuple(bound)


def allowed_action(firing: Firing, settings: Mapping[str, Any]) -> Action | None:
    """Return the action that a firing may take by the settings, or None if they switch it off."""
    forms: Mapping[str, str] = settings.get("forms") or {}
    limit = forms.get(firing.trigger, forms.get(firing.urgency, STRONGEST))
    mildest = min((firing.action, settings.get("max_action", STRONGEST), limit), key=STRENGTH.index)
    return None if mildest == OFF else mildest
