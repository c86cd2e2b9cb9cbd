"""Explain what the acts in a turn lack: for each, the clause that it comes nearest to, and the condition that stops it.

The watcher ignores an act that nobody is said to do ("it may wipe the database"). Here it is read as if it were an
order, so that the explanation can name what stands before its verb.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from deia.records import Record, Turn
from deia.text import one_line, spans, words
from deia.watch.compiled_trigger import ACTS, ActWords, CompiledAct, CompiledTrigger
from deia.watch.gate.artefact import Artefact
from deia.watch.prose.act_objects import CLAUSE_MARKS, DETERMINERS, PREPOSITIONS, PRONOUNS, QUANTIFIERS
from deia.watch.prose.acts import BASE, Frame, any_present, beside_object, frames, sentence_ends, unmet
from deia.watch.prose.stance_names import counts
from deia.watch.turn.parsed_turn import Reading

ALIKE = "~"  # begins the class of a word of an exemplar, which is that word with its synonyms
EXEMPLARS = " | "  # between the exemplars of a clause
ORDER = ("do", "what", "not", "where", "how", "near", "all", "stance", "lead", "")  # of conditions, as they are checked
STARTER = "starter"  # the origin of triggers that are not the project's own
SMALL = DETERMINERS | PREPOSITIONS | PRONOUNS | QUANTIFIERS | {"not"}
BY_WHOM = frozenset(("stance", "lead"))  # conditions on who does it, and whether it is meant
MOST_NAMED = 4  # words of a class that are shown
LONGEST = 600  # characters of a sentence, from its verb, that are read
MOST_ACTS = 8  # of a turn that are explained
MOST_COMPARED = 100  # acts of a turn that are compared with clauses; each takes some milliseconds


class ExplainedAct(Record):
    """An act in a turn, and the clause that it comes nearest to; `unmet` is "" if the clause matches."""

    text: str
    verb: str
    verb_classes: tuple[str, ...]
    head: str
    head_classes: tuple[str, ...]
    lead: str  # the words of its clause before the verb
    stance: str
    trigger: str = ""  # "" if no clause is about such an act
    clause: str = ""  # as somebody wrote it
    unmet: str = ""  # do | what | not | where | how | near | all | lead | stance
    why: str = ""  # the condition in words
    start: int = 0  # where the act is in the turn's text, where its verb ends, and where the act ends
    verb_end: int = 0
    end: int = 0


class _Mention(Record):
    """An act that a turn mentions, with the words before its verb; `led` if somebody is said to do it."""

    frame: Frame
    lead: str
    led: bool


class _Clause(Record):
    source: str
    act: CompiledAct
    trigger: CompiledTrigger
    vocabulary: int
    words: frozenset[str]  # of its source


class _Members(Record):
    """Words by their class."""

    verbs: Mapping[str, list[str]]
    nouns: Mapping[str, list[str]]


def explain_acts(artefact: Artefact, turn: Turn, *, triggers: Iterable[str] = ()) -> list[ExplainedAct]:
    """Return the first acts in a turn that come near a clause, at most `MOST_ACTS` of the first `MOST_COMPARED`.

    If `triggers` are named, only their clauses count, and every act is returned, however far from them it is.
    """
    reading = Reading(turn, act_words=artefact.act_words)
    if not reading.is_prose:
        return []
    named = frozenset(triggers)
    clauses = _clauses(artefact)
    nearest: dict[int, tuple[tuple[int, int, bool], ExplainedAct]] = {}  # by where an act begins
    for number in sorted({clause.vocabulary for listed in clauses.values() for clause in listed}):
        known = artefact.act_words(number)
        near = compared = 0
        for mention in _mentions(reading, known, number):
            if near >= MOST_ACTS or compared >= MOST_COMPARED:
                break
            classes = clauses if named else sorted(mention.frame.acts)
            about = {
                id(clause): clause
                for name in classes
                for clause in clauses.get(name, ())
                if clause.vocabulary == number
            }
            wanted = [clause for clause in about.values() if not named or clause.trigger.id in named]
            members = _members(artefact, number)
            explained = _explain(reading, mention, wanted, members, far=bool(named)) if wanted else None
            start = mention.frame.start
            near, compared = near + bool(explained), compared + bool(wanted)
            if explained and (start not in nearest or explained[0] > nearest[start][0]):
                nearest[start] = explained
    return [nearest[start][1] for start in sorted(nearest)][:MOST_ACTS]


@lru_cache(maxsize=1)
def _clauses(artefact: Artefact) -> dict[str, list[_Clause]]:
    """Return the acts of all clauses by the classes of their verbs."""
    clauses: dict[str, list[_Clause]] = {}
    for trigger in map(artefact.trigger, range(artefact.meta.triggers)):
        for clause in trigger.clauses:
            for source, act in clause.acts if clause.kind in ACTS else ():
                source_words = frozenset(words(source))
                act_clause = _Clause(
                    source=source, act=act, trigger=trigger, vocabulary=clause.vocabulary, words=source_words
                )
                for name in act.do:
                    clauses.setdefault(name, []).append(act_clause)
    return clauses


@lru_cache(maxsize=4)
def _members(artefact: Artefact, vocabulary: int) -> _Members:
    """Return the words of each class, for which all words of a vocabulary have to be read."""
    known = artefact.act_words(vocabulary)
    return _Members(verbs=_verbs_of(known), nouns=_nouns_of(known))


def _mentions(reading: Reading, known: ActWords, number: int) -> Iterator[_Mention]:
    """Yield the acts of a turn in their order, also those that nobody is said to do."""
    text, tokens = reading.prose.masked, reading.words.tokens
    led = {frame.start: frame for frame in reading.frames(number)}
    first = 0
    for end in sentence_ends(text, tokens):
        last = tokens[end - 1][2]
        for word, start, _ in tokens[first:end]:
            lead = _lead(text, tokens[first][1], start)
            if start in led:
                yield _Mention(frame=led[start], lead=lead, led=True)
            elif word in known.verbs and lead:
                rest = text[start : min(last, start + LONGEST)]
                frame = next(iter(frames(rest, spans(rest), known)), None)
                if frame and not frame.start:
                    placed = frame.but(start=start, verb_end=start + frame.verb_end, end=start + frame.end)
                    yield _Mention(frame=placed, lead=lead, led=False)
        first = end


def _lead(text: str, first: int, start: int) -> str:
    """Return the words before a verb in its clause, of the sentence that begins at `first`."""
    before = text[first:start]
    cut = max(before.rfind(f"{mark} ") for mark in CLAUSE_MARKS) + 1
    return one_line(before[cut:])


def _explain(
    reading: Reading, mention: _Mention, clauses: Sequence[_Clause], members: _Members, *, far: bool
) -> tuple[tuple[int, int, bool], ExplainedAct] | None:
    """Return how near an act comes to its nearest clause, and an explanation by it; None if it is far from all."""
    frame = mention.frame
    text = reading.prose.text[frame.start : frame.end]
    stance, _ = reading.stance_at(frame.start, frame.verb_end, frame.end)
    turn_words = {*frame.beyond, *words(text)}
    nearness = partial(_nearness, mention=mention, stance=stance, turn_words=turn_words)
    nearest = max(clauses, key=nearness)
    stopped = _stopped_by(nearest, mention, stance)
    if not far and (stopped == "do" or not _shares_object(nearest, mention, turn_words)):
        return None
    if not mention.led and stopped not in BY_WHOM:
        return None
    why = _reasons(nearest, mention, stance, members).get(stopped, str)()
    verb_classes, head_classes = _shown(frame.acts, members.verbs), _shown(frame.things, members.nouns)
    explained = ExplainedAct(
        text=one_line(text), verb=frame.verb, verb_classes=verb_classes, head=frame.head, head_classes=head_classes,
        lead=mention.lead, stance=stance, trigger=nearest.trigger.id, clause=nearest.source, unmet=stopped, why=why,
        start=frame.start, verb_end=frame.verb_end, end=frame.end,
    )  # fmt: skip
    return nearness(nearest), explained


def _shown(classes: Iterable[str], members: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the classes that clauses name and that have several words, without those of exemplars."""
    return tuple(sorted(name for name in classes if not name.startswith(ALIKE) and len(members.get(name, ())) > 1))


def _stopped_by(clause: _Clause, mention: _Mention, stance: str) -> str:
    stopped = unmet(clause.act, mention.frame)
    if stopped:
        return stopped
    if not counts(stance, clause.trigger.stance):
        return "stance"
    return "" if mention.led else "lead"


def _nearness(clause: _Clause, *, mention: _Mention, stance: str, turn_words: set[str]) -> tuple[int, int, bool]:
    """Return how near an act comes to a clause: by the condition that stops it, and by the words that they share."""
    stopped = _stopped_by(clause, mention, stance)
    place = ORDER.index(stopped) if _shares_object(clause, mention, turn_words) or stopped in {"do", ""} else 0
    return place, len(turn_words & clause.words), clause.trigger.origin != STARTER


def _shares_object(clause: _Clause, mention: _Mention, turn_words: set[str]) -> bool:
    """Return whether an act is done to what a clause names, or at least says a word of the clause besides its verb."""
    if not mention.frame.things.isdisjoint(clause.act.what):
        return True
    return bool((turn_words & clause.words).difference(mention.frame.verb.split(), SMALL))


def _reasons(clause: _Clause, mention: _Mention, stance: str, members: _Members) -> Mapping[str, Callable[[], str]]:
    """Return for each condition a function that says in words why an act does not meet it."""
    act, frame, source = clause.act, mention.frame, clause.source
    verb, head = f"{frame.verb!r} is none of them", f"{frame.head!r} is none" if frame.head else "it has none"
    listed = " and ".join(clause.trigger.stance)
    return {
        "do": lambda: f"its verb would have to be {_named(act.do, members.verbs)}, and {verb}",
        "what": lambda: f"its object would have to be {_named(act.what, members.nouns)}, and {head}",
        "not": lambda: f"{_present(act.unlike, frame, source)!r} stands beside its object",
        "where": lambda: f"its object or place would have to say {_options(act.where, source)}",
        "how": lambda: f"its clause would also have to say {_missing(act.how, frame.words, source)}",
        "near": lambda: f"it would also have to say {_missing(act.near, frame.beyond, source)}",
        "all": lambda: "its object would have to have a word such as 'all' or 'every'",
        "lead": lambda: f"after {mention.lead!r} nobody is said to do it, and nobody is asked to",
        "stance": lambda: f"its stance is {stance.replace('_', ' ')}, and {listed} count",
    }


def _present(items: Sequence[Sequence[Sequence[str]]], frame: Frame, source: str) -> str:
    """Return the item that stands beside an act's object, as its clause has it."""
    present = next(item for item in items if any_present([item], beside_object(frame)))
    return " ".join(_as_written(present, source))


def _missing(items: Sequence[Sequence[Sequence[str]]], turn_words: Collection[str], source: str) -> str:
    """Return the missing words of the item that lacks the fewest."""
    missing = min(
        ([forms for forms in item if not any(form in turn_words for form in forms)] for item in items), key=len
    )
    return " and ".join(map(repr, _as_written(missing, source)))


def _as_written(item: Sequence[Sequence[str]], source: str) -> list[str]:
    written: list[str] = []
    for forms in item:
        own = (word for word in words(source) if word in forms and word not in written)
        written.append(next(own, forms[0]))
    return written


def _named(names: Iterable[str], members: Mapping[str, list[str]]) -> str:
    """Return classes with some of their words: `destroy (delete, remove, drop …)`."""
    return " or ".join(_with_examples(name.removeprefix(ALIKE), members.get(name, [])) for name in names)


def _with_examples(name: str, members: Sequence[str]) -> str:
    others = [word for word in members if word != name]
    more = " …" if len(others) > MOST_NAMED else ""
    return f"{name!r} ({', '.join(others[:MOST_NAMED])}{more})" if others else repr(name)


def _verbs_of(known: ActWords) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for first in known.verbs:
        for shape, names, rest in known.forms_of(first):
            for name in names if shape == BASE else ():
                members.setdefault(name, []).append(" ".join((first, *rest)))
    return members


def _nouns_of(known: ActWords) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for noun, names in known.nouns.items():
        if not (noun.endswith("s") and (noun[:-1] in known.nouns or noun[:-2] in known.nouns)):  # no plural
            for name in names.split():
                members.setdefault(name, []).append(noun)
    return members


def requirements(artefact: Artefact, trigger: CompiledTrigger) -> dict[str, list[str]]:
    """Return what each `act` clause and each exemplar of a trigger asks for, in words.

    For an exemplar that names no act, the list is empty.
    """
    asked: dict[str, list[str]] = {}
    for clause in trigger.clauses:
        if clause.kind in ACTS:
            asked |= {source: [] for source in clause.source.split(EXEMPLARS)}
            members = _members(artefact, clause.vocabulary)
            asked |= {source: list(_requirements(source, act, members)) for source, act in clause.acts}
    return asked


def _requirements(source: str, act: CompiledAct, members: _Members) -> Iterator[str]:
    yield f"verb: {_named(act.do, members.verbs)}"
    if act.what:
        yield f"object: {_named(act.what, members.nouns)}"
    asked = {"object or place says": act.where, "clause says": act.how, "says before the next comma": act.near}
    for label, items in {**asked, "object and place do not say": act.unlike}.items():
        if items:
            yield f"{label}: {_options(items, source)}"
    if act.whole:
        yield "object has a word such as 'all' or 'every'"


def _options(items: Sequence[Sequence[Sequence[str]]], source: str) -> str:
    return " or ".join(" + ".join(map(repr, _as_written(item, source))) for item in items)
