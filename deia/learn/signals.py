"""Signals: what came of each answer and of each firing, according to the ledger.

What people said is kept apart from what they did.

Every signal has one weight, in one table that is shown beside its use. A weight counts once for each person, however
often they repeat it. As one process can pose as many people, it also counts at most once for each machine and day.
What follows from the signals is decided in `index_drafts` and `trigger_drafts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection, ask, ask_records
from deia.ledger.warehouse_schema import MINUTES, VOICE
from deia.records import Record
from deia.tables import Tables

TABLES = Tables(__file__)
MOST_QUESTIONS = 5_000  # distinct questions, the most frequent first
MOST_PAIRS = 20_000
SECONDS = 120  # within this time, two questions without a common word count as the same one in other words
MOST_JUDGED = 20  # judged firings of a trigger that are looked at
TOGETHER = 3  # people who must have opened two documents together


class Signal(Record):
    """One thing that can come of an answer or of a firing, and how much it counts."""

    name: str
    of: str  # answer | firing
    explicit: bool  # somebody said it on purpose, rather than showing it by what they did
    weight: float
    means: str


SIGNALS = tuple(
    Signal(name=name, of=of, explicit=means.startswith("somebody"), weight=float(weight), means=means)
    for of, table in (("answer", TABLES.pairs("answer")), ("firing", TABLES.pairs("firing")))
    for name, value in table.items()
    for weight, _, means in (value.partition(" "),)
)
WEIGHTS: Mapping[tuple[str, str], Signal] = {(signal.of, signal.name): signal for signal in SIGNALS}


class Pair(Record):
    """A question and a document, with how many people gave each signal."""

    question: str
    document: str
    signals: Mapping[str, int]
    people: int = 1

    @property
    def weight(self) -> float:
        """The total weight of the signals."""
        return total_weight("answer", self.signals)


class JudgedFiring(Record):
    """A firing that somebody judged: what it did, its reason if the ledger keeps reasons, and whether it was good."""

    action: str = ""
    because: str = ""
    is_good: bool = False
    voice: str = ""  # whose judgement it is


class FiringSignals(Record):
    """A trigger, with how often each signal was given."""

    trigger: str
    signals: Mapping[str, int]
    fired: int
    first: str  # day
    last: str
    called_noise: int = 0  # voices that said noise or wrong; one that says both counts once
    judged: tuple[JudgedFiring, ...] = ()  # the latest

    @property
    def weight(self) -> float:
        """The total weight of the signals."""
        return total_weight("firing", self.signals)


class Question(Record):
    """A question, summed up over all the times it was asked."""

    text: str
    times: int
    people: int
    answered: float  # the share of the times that it was answered


class Rephrased(Record):
    """A question that failed, and the one with which the same person then succeeded."""

    first: str
    then: str
    document: str  # the one that was opened, or answered best
    people: int


class Together(Record):
    """Two documents that the same people opened within half an hour."""

    first: str
    then: str
    people: int


class Shown(Record):
    """How often a document was among the first three of an answer, was opened, and was passed over for another."""

    document: str
    shown: int
    opened: int
    passed_over: int


class Evidence(Record):
    """Everything that proposals are made from."""

    pairs: tuple[Pair, ...] = ()
    firings: tuple[FiringSignals, ...] = ()
    questions: tuple[Question, ...] = ()
    rephrased: tuple[Rephrased, ...] = ()
    together: tuple[Together, ...] = ()
    shown: tuple[Shown, ...] = ()
    days: int = 0  # with events; a single line cannot stretch them
    asked: int = 0
    worded: int = 0  # questions whose words were kept


def total_weight(of: str, signals: Mapping[str, int]) -> float:
    """Return the sum of the weights of some signals, given how often each occurred."""
    return sum(WEIGHTS[of, name].weight * count for name, count in signals.items())


def read_evidence(connection: Connection, *, settled: Mapping[str, str] = MappingProxyType({})) -> Evidence:
    """Return what the ledger says came of questions and of firings.

    `settled` is when each trigger was last changed because of its signals; earlier ones do not count against it again.
    """
    changed = [list(settled), list(settled.values())]
    judged: dict[str, list[JudgedFiring]] = {}
    for trigger, action, because, is_good, voice in ask(connection, STATEMENTS["judged"].sql, changed):
        firing = JudgedFiring(action=action or "", because=because or "", is_good=is_good, voice=voice or "")
        judged.setdefault(trigger, []).append(firing)
    days, asked, worded = ask(
        connection,
        """SELECT count(DISTINCT ts::DATE), count(*) FILTER (event = 'query'),
            count(query) FILTER (event = 'query') FROM events""",
    )[0]
    return Evidence(
        pairs=_pairs((row[0], row[1], row[2], row[3]) for row in ask(connection, STATEMENTS["pairs"].sql)),
        firings=tuple(
            FiringSignals(trigger=row[0], fired=row[1], first=row[2] or "", last=row[3] or "", called_noise=row[4],
                  signals=dict(zip(_FIRING_SIGNALS, row[5:], strict=True)), judged=tuple(judged.get(row[0], ())))
            for row in ask(connection, STATEMENTS["firings"].sql, changed)
        ),
        questions=ask_records(connection, Question, STATEMENTS["questions"].sql),
        rephrased=ask_records(connection, Rephrased, STATEMENTS["rephrased"].sql),
        together=ask_records(connection, Together, STATEMENTS["together"].sql),
        shown=ask_records(connection, Shown, STATEMENTS["shown"].sql),
        days=days, asked=asked, worded=worded,
    )  # fmt: skip


def read_conversations(connection: Connection) -> dict[tuple[str, str], float]:
    """Return the weight of each trigger's signals in each conversation, by conversation and trigger."""
    rows = ask(connection, STATEMENTS["by_conversation"].sql)
    return {(row[0], row[1]): total_weight("firing", dict(zip(_PLACED, row[2:], strict=True))) for row in rows}


def _pairs(rows: Iterable[tuple[str, str, str, int]]) -> tuple[Pair, ...]:
    signals: dict[tuple[str, str], dict[str, int]] = {}
    people: dict[tuple[str, str], int] = {}
    for question, document, name, count in rows:
        pair = (question, document)
        signals.setdefault(pair, {})[name] = count
        people[pair] = max(people.get(pair, 0), count)
    return tuple(
        Pair(question=pair[0], document=pair[1], signals=counts, people=people[pair])
        for pair, counts in sorted(signals.items())
    )


# A person who opens nothing of an answer and asks again did not find what they wanted, even if the search was sure.
# Then the two questions must share documents or words, since a sure answer may have been read where it was shown.
_TRIED_AGAIN = """
SELECT p.*, list_has_any(p.docs, p.again_docs) OR list_has_any(
    list_filter(string_split(p.asked, ' '), lambda w: len(w) > 3), string_split(p.again, ' ')) AS is_near
FROM successions p JOIN resolutions f ON f.who = p.who AND f.ts = p.ts
WHERE p.answered <> 'yes' OR (f.opened IS NULL AND is_near)
"""

_FIRING_SIGNALS = ("useful", "prevented", "noise", "wrong", "muted", "changed", "repeated", "read", "again")
_PLACED = ("useful", "prevented", "noise", "wrong", "muted", "repeated")
STATEMENTS = read_statements(
    __file__, voice=VOICE, tried_again=_TRIED_AGAIN, seconds=SECONDS, minutes=MINUTES, most=MOST_QUESTIONS,
    most_pairs=MOST_PAIRS, together=TOGETHER, most_judged=MOST_JUDGED,
)  # fmt: skip
