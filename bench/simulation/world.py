"""A simulated world with a known truth: documents about hidden topics, people who use other words for them, triggers.

A topic and a task each have the commons' own name and one that half of the people use instead; a document is about one
of each. Some questions are about things that nobody wrote down. A noisy trigger fires on talk about an innocent thing
that always names itself. As time goes by things get new names, and nobody uses the old ones any more. Everything
follows from a seed.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA

from deia.match.spelling import edits_allowed
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPICS, TASKS = 24, 10
A_DOCUMENT_EACH = 4  # tasks of a topic that are written down
NOISY = 4
STARTS = "b d f g k l m n p r s t v z br dr gr kl pl tr st".split()
MIDDLES = "a e i o u ai ou".split()
ENDS = "lt mb nd rk st xo pra vin dor mek tas lun zik gor".split()
FILLERS = (
    "Read this before the next change.", "The team met this twice last year.", "Keep a copy of what was there.",
    "Write down what you saw, and when.", "Ask the owner if in doubt.",
)  # fmt: skip
ASKED = (
    "how do I {task} the {topic}",
    "{topic} {task} fails",
    "what to do to {task} a {topic}",
    "{task} {topic} safely",
)
# What is measured is asked in other sentences than what is learned from.
ASKED_LATER = ("{topic} does not {task} any more", "problem: {topic} {task}", "help with {topic}, {task} please")
FOREIGN = 0.15  # of the questions are about things that nobody wrote down
OTHER = 0.5  # of the people have other words than the index


class Told(Record):
    """A document of the world, with the truth about it."""

    id: str
    topic: int
    task: int


class Wanted(Record):
    """A question of the world: its words, and the document that answers it, empty if none does."""

    text: str
    document: str
    untouched: bool = False  # in the commons' own words, which nothing should change


class Said(Record):
    """A turn of the world that a trigger listens to."""

    text: str
    trigger: str
    is_needed: bool


class World:
    """Everything that is true in it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        known, acted = TOPICS + TASKS, 2 * NOISY
        words = self._words(4 * known + acted + 2 * NOISY)
        take = iter(words)
        self._own, self._other, self._later, self._foreign = ([next(take) for _ in range(known)] for _ in range(4))
        self._acts, self._things, self._innocent, self._innocent_later = (
            [next(take) for _ in range(NOISY)] for _ in range(4)
        )
        self.topics, self.tasks = self._own[:TOPICS], self._own[TOPICS:]
        # The order in which things get new names: topics, tasks, and behind them the innocent things.
        self._order = self._random.sample(range(known + NOISY), known + NOISY)
        self.documents = [
            Told(id=f"{self.topics[topic]}-{self.tasks[task]}", topic=topic, task=task)
            for topic in range(TOPICS)
            for task in self._random.sample(range(TASKS), A_DOCUMENT_EACH)
        ]
        self.files = self._files()

    def _words(self, number: int) -> list[str]:
        """Make new words; no two are near enough to be taken for misspellings of each other."""
        found: list[str] = []
        while len(found) < number:
            pick = self._random.choice
            word = pick(STARTS) + pick(MIDDLES) + pick(ENDS) + pick(MIDDLES) + pick(ENDS)
            apart = edits_allowed(len(word)) + 2
            if all(OSA.distance(word, other, score_cutoff=apart) >= apart for other in found):
                found.append(word)
        return found

    def renamed(self, share: float) -> frozenset[int]:
        """Return the numbers of the things that have a new name once a share of all has."""
        return frozenset(self._order[: round(share * len(self._order))])

    def _files(self) -> dict[str, str]:
        """Return the commons as its people wrote it: an index, documents, triggers with cases."""
        entries = "".join(self._entry(one) for one in self.documents)
        texts = {f"bok/{one.id}.md": self._text(one) for one in self.documents}
        triggers = "".join(self._trigger(number) for number in range(NOISY))
        cases = "".join(self._cases(number) for number in range(NOISY))
        index = f'version: "1.0"\nclusters:\n  all:\n    description: What the world knows\n    documents:\n{entries}'
        golden = "".join(
            f"- query: how do I {self.tasks[one.task]} the {self.topics[one.topic]}\n  documents: [{one.id}]\n"
            for one in self.documents[::8]
        )
        return {
            "commons_index.yaml": index, "golden.yaml": golden, "triggers/world.yaml": triggers,
            "triggers/world.cases.yaml": cases, **texts,
        }  # fmt: skip

    def _entry(self, one: Told) -> str:
        topic, task = self.topics[one.topic], self.tasks[one.task]
        return (
            f"      - id: {one.id}\n        path: bok/{one.id}.md\n        title: To {task} the {topic}\n"
            f"        summary: What happens when somebody has to {task} the {topic}.\n"
            f"        keywords: [{topic}, {task}]\n"
        )

    def _text(self, one: Told) -> str:
        topic, task = self.topics[one.topic], self.tasks[one.task]
        others = " ".join(self._random.sample(self.topics, 2))
        lines = self._random.sample(FILLERS, 3)
        return f"# To {task} the {topic}\n\nBefore you {task} it: {lines[0]}\n\n{lines[1]} See {others}. {lines[2]}\n"

    def _trigger(self, number: int) -> str:
        act, thing = self._acts[number], self._things[number]
        return (
            f"- id: {act}-{thing}\n  title: To {act} a {thing}\n  status: test\n  urgency: high\n  action: warn\n"
            f"  message: It cannot be undone.\n  documents: [{{id: {self.documents[number].id}, mode: summary_only}}]\n"
            f'  when: {{any: [{{phrase: "{act} … {thing}"}}]}}\n'
        )

    def _cases(self, number: int) -> str:
        act, thing = self._acts[number], self._things[number]
        return f"{act}-{thing}:\n  fires: [I will {act} the {thing} now]\n  silent: [how is the {thing}?]\n"

    def questions(self, chance: random.Random, number: int, *, moved: float, asked: Sequence[str]) -> list[Wanted]:
        """Return what people ask, in sentences of a kind, when a share of the things has `moved` on to a new name."""
        renamed = self.renamed(moved)
        made = []
        for _ in range(number):
            told = chance.choice(self.documents)
            foreign, theirs = chance.random() < FOREIGN, chance.random() < OTHER
            things = (told.topic, TOPICS + told.task)
            words = [self._foreign[chance.randrange(TOPICS)], self._foreign[TOPICS + chance.randrange(TASKS)]]
            if not foreign:
                words = [self._name(thing, renamed, theirs=theirs) for thing in things]
            text = chance.choice(asked).format(topic=words[0], task=words[1])
            untouched = not foreign and words == [self._own[thing] for thing in things]
            made.append(Wanted(text=text, document="" if foreign else told.id, untouched=untouched))
        return made

    def _name(self, thing: int, renamed: frozenset[int], *, theirs: bool) -> str:
        return self._later[thing] if thing in renamed else (self._other if theirs else self._own)[thing]

    def own_words(self, document: str) -> str:
        """Return how a document is asked for in the index's own words, which the most stubborn try in the end."""
        told = next(one for one in self.documents if one.id == document)
        return f"{self.tasks[told.task]} {self.topics[told.topic]}"

    def turns(self, chance: random.Random, number: int, *, moved: float) -> list[Said]:
        """Return what people say to agents: acts that a trigger is for, and harmless talk in the same words."""
        renamed = self.renamed(moved)
        made = []
        for _ in range(number):
            at = chance.randrange(NOISY)
            act, thing = self._acts[at], self._things[at]
            needed = chance.random() < 0.5
            place = chance.choice(["here", "today", "for the team", "at once"])
            innocent = (self._innocent_later if TOPICS + TASKS + at in renamed else self._innocent)[at]
            text = f"I will {act} the {thing} {place}" if needed else (
                f"I will {act} the {innocent} copy of the {thing} {place}"
            )  # fmt: skip
            made.append(Said(text=text, trigger=f"{act}-{thing}", is_needed=needed))
        return made
