"""The simulated world: rounds of use, proposals that are all accepted, and two commons that do not learn.

The real search, triggers, ledger, proposals and edits take part; only the people are made up. The test questions are
asked again each round, and were never in a ledger. It writes only to a temporary folder.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from typing import TYPE_CHECKING, Any

from simulation.plot import panels
from simulation.world import ASKED, ASKED_LATER, World

from deia import spool
from deia.commons.index.load_commons import load_commons
from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.triggers.build_artefact import compile_triggers, payloads
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.word_forms import forms_source
from deia.knowledge import Query
from deia.learn.apply import apply_proposal
from deia.learn.changes import ADD, DOCUMENT, Change, change_commons
from deia.learn.corpus_words import Vocabulary, bags
from deia.learn.trials.index_trial import TIERS
from deia.learn.trials.propose import Sources, propose_all
from deia.records import Record, Turn
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.settings import DEFAULTS
from deia.watch.authoring.replay import Replay
from deia.watch.gate.artefact import open_artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simulation.world import Said, Wanted

    from deia.commons.index.load_commons import Commons
    from deia.search.answer import Answer

ARMS = {"learning": "deia learn", "none": "no learning", "naive": "every word a keyword"}
QUESTIONS, TURNS, JUDGED, JUDGED_TURNS = 240, 40, 200, 80  # of a round
DRIFT = 0.1  # of the things get a new name in a round of the second half; in the first everybody's words stay
AGAIN, TELLS = 0.5, 0.4  # of those who find nothing ask anew; of those who see a trigger fire say what it was worth
START = 1_795_168_800.0
DAY = 86_400.0
FIGURES = {
    "hit@1": "right document first", "untouched": "the same, asked in the index's words",
    "abstention": "nothing found where nothing is", "precision": "firings that were needed",
    "recall": "needed firings that came",
}  # fmt: skip


class Arm:
    """One of the three commons, compiled."""

    def __init__(self, name: str, folder: str, world: World) -> None:
        self.name, self.root = name, os.path.join(folder, name)
        for path, text in world.files.items():
            place = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        self.added: list[Change] = []
        self.compile()

    def compile(self) -> None:
        """Update the compiled files with what was learned."""
        commons = change_commons(load_commons(self.root), self.added)
        self.commons = commons
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "catalog")
            os.mkdir(place)
            build_catalog(
                commons.entries, commons.documents, commons.clusters, commons.query_patterns, place,
                concepts=commons.concepts, tiers=TIERS,
            )  # fmt: skip
            self.catalog = open_catalog(place)
            self.catalog.vectors(TIERS[0])
            self.catalog.vocabularies()
            self.catalog.concept_groups  # noqa: B018 - read while the folder is there
            self.catalog.patterns(())
            with open(os.path.join(folder, "triggers"), "wb") as file:
                file.write(_triggers(commons))
            self.artefact = open_artefact(os.path.join(folder, "triggers"))

    def asked(self, text: str) -> Answer:
        """Return the answer to a question."""
        return search(self.catalog, Query(text=text), tiers=TIERS)

    def found(self, text: str) -> list[str]:
        """Return the documents of an answer."""
        return [one.id for one in self.asked(text).documents]

    def fires(self, said: Said) -> bool:
        """Return whether a turn's trigger fires."""
        fired = Replay(self.artefact).judge(Turn(role="user", text=said.text))
        return any(firing.trigger == said.trigger for firing in fired)


def _triggers(commons: Commons) -> bytes:
    settings = DEFAULTS.by_name()
    identity = {"deia": "", "digest": "", "forms": forms_source()}
    return compile_triggers(
        commons.triggers, payloads(commons), settings=settings, identity=identity, marks=ALWAYS
    )[0]  # fmt: skip


def simulated(
    *, rounds: int, seed: int, drift: float = DRIFT, questions: int = QUESTIONS,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:  # fmt: skip
    """Return the figures of every round of every commons; the first is before anybody learned.

    Each commons is asked `questions` questions per round. In the second half of the rounds a share `drift` of the
    things gets a new name in each.
    """
    world = World(seed)
    steady = rounds - rounds // 2
    figures: dict[str, dict[str, list[float]]] = {arm: {name: [] for name in FIGURES} for arm in ARMS}
    with tempfile.TemporaryDirectory(prefix="deia-simulation-") as folder:
        arms = [Arm(name, folder, world) for name in ARMS]
        for number in range(rounds + 1):
            moved = min(1.0, drift * max(0, number - steady))
            for arm in arms:
                tell(f"round {number} of {rounds}, {ARMS[arm.name]}")
                # The same people each time, so that nothing moves by chance.
                measured = _measured(arm, world, random.Random(f"{seed} judged"), moved)
                for name, value in measured.items():
                    figures[arm.name][name].append(value)
                if number < rounds and arm.name != "none":
                    chance = random.Random(f"{seed} used {number}")
                    asked = world.questions(chance, questions, moved=moved, asked=ASKED)
                    turns = world.turns(chance, TURNS, moved=moved)
                    _learn(arm, world, Round(number=number, questions=tuple(asked), turns=tuple(turns)), chance)
    return {"rounds": rounds, "seed": seed, "drift": drift, "steady": steady, "figures": figures}


def _measured(arm: Arm, world: World, chance: random.Random, moved: float) -> dict[str, float]:
    asked = world.questions(chance, JUDGED, moved=moved, asked=ASKED_LATER)
    turns = world.turns(chance, JUDGED_TURNS, moved=moved)
    found = {one.text: arm.found(one.text) for one in asked}
    right = [found[one.text][:1] == [one.document] for one in asked if one.document]
    same = [found[one.text][:1] == [one.document] for one in asked if one.untouched]
    refused = [not found[one.text] for one in asked if not one.document]
    fired = [one for one in turns if arm.fires(one)]
    needed = sum(one.is_needed for one in turns)
    good = sum(one.is_needed for one in fired)
    told = {
        "hit@1": _share(right), "untouched": _share(same), "abstention": _share(refused),
        "precision": good / len(fired) if fired else 1.0, "recall": good / needed if needed else 1.0,
    }  # fmt: skip
    return {name: round(value, 4) for name, value in told.items()}


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 1.0


class Round(Record):
    """What people do in a round, the same in every commons."""

    number: int
    questions: tuple[Wanted, ...]
    turns: tuple[Said, ...]


def _learn(arm: Arm, world: World, done: Round, chance: random.Random) -> None:
    """Let people use a commons for a round, and let it learn from that by its method."""
    if arm.name == "naive":
        arm.added += list(_naive(arm, done.questions))
    else:
        ledger, transcripts = os.path.join(arm.root, "telemetry/events"), os.path.join(arm.root, "said")
        _use(arm, world, done.questions, Diary(ledger, done.number), chance)
        _talk(arm, done.turns, Diary(ledger, done.number, first=1000), transcripts, chance)
        environ = {"DEIA_STARTER": "false", "DEIA_TRUST": "*", "DEIA_STATE": os.path.join(arm.root, "state")}
        sources = Sources(ledgers=(ledger,), transcripts=(transcripts,))
        found = propose_all(arm.root, sources, environ=environ, artefact=lambda: arm.artefact)
        for proposal in found.proposals:
            apply_proposal(arm.root, proposal, now=START + DAY * done.number)
    arm.compile()


def _naive(arm: Arm, questions: Sequence[Wanted]) -> Iterator[Change]:
    """Add every word of a question to the document that the person opened, otherwise to the first that was shown."""
    vocabulary = Vocabulary(arm.commons, own=frozenset(), elsewhere=bags()[:1])
    for one in questions:
        found = arm.found(one.text)
        document = one.document if one.document in found else (found[0] if found else "")
        words = tuple(vocabulary.words_by_stem(one.text).values())
        if document and words:
            yield Change(kind=ADD, of=DOCUMENT, target=document, field="keywords", value=words)


class Diary:
    """A day's segments of a ledger, written as the world's people go on: each has a machine, since one is one voice."""

    def __init__(self, folder: str, day: int, *, first: int = 0) -> None:
        os.makedirs(folder, exist_ok=True)
        self._beginning = os.path.join(folder, spool.timestamp(START + DAY * day)[:10])
        self._now = START + DAY * day
        self._number, self._day = first, day

    def write(self, event: str, later: float = 10.0, **fields: Any) -> str:
        """Write an event some seconds later; return its id."""
        self._now += later
        self._number += 1
        identity = f"{self._day}-{self._number}"
        line = {"ts": spool.timestamp(self._now), "v": 1, "event": event, "id": identity, **fields}
        with open(f"{self._beginning}-{fields.get('conversation', 'world')}.jsonl", "ab") as file:
            file.write(spool.encoded(line))
        return identity


def _use(arm: Arm, world: World, questions: Sequence[Wanted], diary: Diary, chance: random.Random) -> None:
    """Ask and open what fits; people who find nothing ask again in the index's words, or give up."""
    for number, one in enumerate(questions):
        who = f"{diary.write('maintenance')}-{number}"
        if _asked(arm, one.text, one.document, who, diary) or not one.document:
            continue
        if chance.random() < AGAIN:
            _asked(arm, world.own_words(one.document), one.document, who, diary)


def _asked(arm: Arm, text: str, document: str, who: str, diary: Diary) -> bool:
    """Ask, and open the document if it is there; return whether it was."""
    answer = arm.asked(text)
    found = [one.id for one in answer.documents]
    diary.write(
        "query", 20, query=text, matched=answer.matched, confidence=answer.confidence, docs=found, conversation=who
    )
    if document in found:
        diary.write("read", 15, doc=document, via="world", conversation=who)
    return document in found


def _talk(arm: Arm, turns: Sequence[Said], diary: Diary, folder: str, chance: random.Random) -> None:
    """Say things to agents; if a trigger fires, some people give feedback."""
    os.makedirs(folder, exist_ok=True)
    for one in turns:
        who = f"talk-{diary.write('maintenance')}"
        with open(os.path.join(folder, f"{who}.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps({"conversation_id": who, "role": "user", "content": one.text}) + "\n")
        if arm.fires(one):
            shown = diary.write("injection", trigger=one.trigger, outcome="shown", docs=[], conversation=who)
            if chance.random() < TELLS:
                verdict = "useful" if one.is_needed else "noise"
                diary.write("feedback", of=shown, verdict=verdict, conversation=who)


# --- what is shown ---


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as lines for a terminal."""
    for name, means in FIGURES.items():
        yield f"{name}: {means}"
        for arm, told in ARMS.items():
            values = found["figures"][arm][name]
            yield f"  {told:22}{'  '.join(f'{value:.2f}' for value in values)}"
    yield (
        "The first figure is before anybody learned; each further one after a round of use. After round"
        f" {found['steady']} a share of {found['drift']:g} of the things gets a new name in each."
    )


def draw(found: Mapping[str, Any]) -> str:
    """Return the figures as SVG: one panel per figure, one line per commons."""
    series = {
        f"{name}: {means}": {told: found["figures"][arm][name] for arm, told in ARMS.items()}
        for name, means in FIGURES.items()
    }
    told = f"{found['drift']:.0%} renamed a round"
    return panels(series, below="rounds of use", turn=found["steady"], from_then=told)
