"""A made-up world with a known truth: documents about hidden topics, people who have other words for them, triggers.

A topic has the commons' own name and one that people use; a document is about one topic and one task. People ask for
both in their own words, and more and more of them as time goes by; some questions are about things that nobody wrote
down. A noisy trigger fires on talk about an innocent thing that always names itself. Refuses chance: a seed makes all.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

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


class Told(Record):
    """A document of the world, with the truth about it."""

    id: str
    topic: int
    task: int


class Wanted(Record):
    """A question of the world: its words, and the document that answers it, empty where none does."""

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
        self._random = random.Random(seed)  # noqa: S311 - no secret
        words = self._words(3 * TOPICS + 3 * TASKS + 3 * NOISY)
        self.topics, self._called = words[:TOPICS], words[TOPICS : 2 * TOPICS]
        rest = words[2 * TOPICS :]
        self.tasks, self._done = rest[:TASKS], rest[TASKS : 2 * TASKS]
        rest = rest[2 * TASKS :]
        self._foreign, rest = rest[:TOPICS], rest[TOPICS:]
        self._foreign_tasks, rest = rest[:TASKS], rest[TASKS:]
        self._acts, self._things = rest[:NOISY], rest[NOISY : 2 * NOISY]
        self._innocent = rest[2 * NOISY : 3 * NOISY]
        self.documents = [
            Told(id=f"{self.topics[topic]}-{self.tasks[task]}", topic=topic, task=task)
            for topic in range(TOPICS)
            for task in self._random.sample(range(TASKS), A_DOCUMENT_EACH)
        ]

    def _words(self, number: int) -> list[str]:
        """Make words that nobody has met; no two are near enough to be taken for slips of each other."""
        found: dict[str, None] = {}
        while len(found) < number:
            pick = self._random.choice
            found[pick(STARTS) + pick(MIDDLES) + pick(ENDS) + pick(MIDDLES) + pick(ENDS)] = None
        return list(found)

    def files(self) -> dict[str, str]:
        """Give the commons as its people wrote it: an index, documents, triggers with cases."""
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

    def questions(self, chance: random.Random, number: int, *, other: float) -> list[Wanted]:
        """Give what people ask: `other` is the share of them who have other words than the index."""
        made = []
        for _ in range(number):
            told = chance.choice(self.documents)
            foreign = chance.random() < 0.15
            theirs = chance.random() < other
            topic = chance.choice(self._foreign) if foreign else (self._called if theirs else self.topics)[told.topic]
            task = chance.choice(self._foreign_tasks) if foreign else (self._done if theirs else self.tasks)[told.task]
            text = chance.choice(ASKED).format(task=task, topic=topic)
            made.append(Wanted(text=text, document="" if foreign else told.id, untouched=not foreign and not theirs))
        return made

    def turns(self, chance: random.Random, number: int) -> list[Said]:
        """Give what people say to agents: acts that a trigger is for, and harmless talk in the same words."""
        made = []
        for _ in range(number):
            at = chance.randrange(NOISY)
            act, thing = self._acts[at], self._things[at]
            needed = chance.random() < 0.5
            place = chance.choice(["here", "today", "for the team", "at once"])
            text = f"I will {act} the {thing} {place}" if needed else (
                f"I will {act} the {self._innocent[at]} copy of the {thing} {place}"
            )  # fmt: skip
            made.append(Said(text=text, trigger=f"{act}-{thing}", is_needed=needed))
        return made


def in_own_words(questions: Sequence[Wanted]) -> list[Wanted]:
    """Give the questions that nothing should change."""
    return [one for one in questions if one.untouched]
