"""Signals: what came of each answer and of each firing, by the ledger.

What people said is kept apart from what they did.

Every signal has one weight, in one table that is shown beside its use. A weight counts once for each person, however
often they repeat it. As one process can pose as many people, it also counts at most once for each machine and day.
What follows from the signals is decided in `index_drafts` and `trigger_drafts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from deia.ledger.warehouse import Connection, ask, ask_records
from deia.ledger.warehouse_schema import MINUTES, VOICE
from deia.records import Record

MOST_QUESTIONS = 5_000  # distinct questions, the most frequent first
MOST_PAIRS = 20_000
SECONDS = 120  # within this time two questions without a common word count as one in other words
MOST_JUDGED = 20  # judged firings of a trigger that are looked at
TOGETHER = 3  # people who must have opened two documents together


class Signal(Record):
    """One thing that can come of an answer or of a firing, and how much it counts."""

    name: str
    of: str  # answer | firing
    explicit: bool  # somebody said it on purpose, rather than showing it by what they did
    weight: float
    means: str


# The weights are a judgement, not a measurement: a person's word counts twice as much as a click, silence counts almost
# nothing, and nothing that is only observed outweighs a word.
SIGNALS = (
    Signal(name="useful", of="answer", explicit=True, weight=2.0, means="somebody called the answer useful"),
    Signal(name="prevented", of="answer", explicit=True, weight=2.0, means="somebody said that it prevented a mistake"),
    Signal(name="noise", of="answer", explicit=True, weight=-2.0, means="somebody called the answer noise"),
    Signal(name="wrong", of="answer", explicit=True, weight=-3.0, means="somebody called the answer wrong"),
    Signal(name="opened", of="answer", explicit=False, weight=1.0, means="the document was opened from the answer"),
    Signal(
        name="opened-later", of="answer", explicit=False, weight=0.75,
        means="it was opened after the same one asked in other words",
    ),
    Signal(name="ignored", of="answer", explicit=False, weight=-0.1, means="it stood first, and another was opened"),
    Signal(name="useful", of="firing", explicit=True, weight=2.0, means="somebody called the firing useful"),
    Signal(name="prevented", of="firing", explicit=True, weight=2.0, means="somebody said that it prevented a mistake"),
    Signal(name="noise", of="firing", explicit=True, weight=-2.0, means="somebody called the firing noise"),
    Signal(name="wrong", of="firing", explicit=True, weight=-3.0, means="somebody called the firing wrong"),
    Signal(name="muted", of="firing", explicit=True, weight=-1.0, means="somebody muted the trigger"),
    Signal(name="changed", of="firing", explicit=False, weight=0.5, means="the held call was not made again"),
    Signal(name="repeated", of="firing", explicit=False, weight=-0.5, means="the held call was made again"),
    Signal(name="read", of="firing", explicit=False, weight=1.0, means="its document was opened after it was shown"),
    Signal(name="again", of="firing", explicit=False, weight=-0.25, means="the same error came again after it"),
)  # fmt: skip
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

    `settled` is when a trigger was last changed for what was said of it: what came before is not held against it again.
    """
    changed = [list(settled), list(settled.values())]
    judged: dict[str, list[JudgedFiring]] = {}
    for trigger, action, because, is_good in ask(connection, _JUDGED, changed):
        firing = JudgedFiring(action=action or "", because=because or "", is_good=is_good)
        judged.setdefault(trigger, []).append(firing)
    days, asked, worded = ask(
        connection,
        """SELECT count(DISTINCT ts::DATE), count(*) FILTER (event = 'query'),
            count(query) FILTER (event = 'query') FROM events""",
    )[0]
    return Evidence(
        pairs=_pairs((row[0], row[1], row[2], row[3]) for row in ask(connection, _PAIRS)),
        firings=tuple(
            FiringSignals(trigger=row[0], fired=row[1], first=row[2] or "", last=row[3] or "", called_noise=row[4],
                  signals=dict(zip(_FIRING_SIGNALS, row[5:], strict=True)), judged=tuple(judged.get(row[0], ())))
            for row in ask(connection, _FIRINGS, changed)
        ),
        questions=ask_records(connection, Question, _QUESTIONS),
        rephrased=ask_records(connection, Rephrased, _REPHRASED),
        together=ask_records(connection, Together, _TOGETHER),
        shown=ask_records(connection, Shown, _SHOWN),
        days=days, asked=asked, worded=worded,
    )  # fmt: skip


def read_conversations(connection: Connection) -> dict[tuple[str, str], float]:
    """Return the weight of each trigger's signals in each conversation, by conversation and trigger."""
    rows = ask(connection, _BY_CONVERSATION)
    return {(row[0], row[1]): total_weight("firing", dict(zip(_PLACED, row[2:], strict=True))) for row in rows}


def _pairs(rows: Iterable[tuple[str, str, str, int]]) -> tuple[Pair, ...]:
    """Return the signals by question and document."""
    signals: dict[tuple[str, str], dict[str, int]] = {}
    people: dict[tuple[str, str], int] = {}
    for question, document, name, count in rows:
        place = (question, document)
        signals.setdefault(place, {})[name] = count
        people[place] = max(people.get(place, 0), count)
    return tuple(
        Pair(question=place[0], document=place[1], signals=counts, people=people[place])
        for place, counts in sorted(signals.items())
    )


def _number(of: str, *, only: str = "true") -> str:
    """Return the SQL that counts different values, at most one for each machine and day."""
    return f"least(count(DISTINCT {of}) FILTER ({only}), count(DISTINCT voice) FILTER ({only}))"


# A person who opens nothing of an answer and asks again did not find what they wanted, even if the search was sure.
# Then the two questions must share documents or words, since a sure answer may have been read where it was shown.
_TRIED_AGAIN = """
SELECT p.*, list_has_any(p.docs, p.again_docs) OR list_has_any(
    list_filter(string_split(p.asked, ' '), lambda w: len(w) > 3), string_split(p.again, ' ')) AS is_near
FROM successions p JOIN resolutions f ON f.who = p.who AND f.ts = p.ts
WHERE p.answered <> 'yes' OR (f.opened IS NULL AND is_near)
"""

# Feedback on an answer is about the document that it names, else the one that was opened, else the first one.
_PAIRS = f"""
WITH judged AS (
    SELECT q.asked, coalesce(f.doc, q.opened, q.docs[1]) AS doc, f.verdict AS name, q.who,
        f.voice
    FROM (SELECT *, {VOICE} FROM events) f JOIN resolutions q ON f.about = q.id
    WHERE f.event = 'feedback' AND f.verdict IN ('useful', 'prevented', 'noise', 'wrong')
),
later AS (
    SELECT p.asked, r.opened AS doc, 'opened-later' AS name, p.who, r.voice
    FROM ({_TRIED_AGAIN}) p JOIN resolutions r ON r.who = p.who AND r.ts = p.again_at AND r.opened IS NOT NULL
    WHERE NOT list_contains(p.docs[1:1], r.opened) AND (p.again_at <= p.ts + INTERVAL {SECONDS} SECOND OR p.is_near)
),
signals AS (
    FROM judged
    UNION ALL SELECT asked, opened, 'opened', who, voice FROM resolutions WHERE opened IS NOT NULL
    UNION ALL FROM later
    UNION ALL SELECT asked, docs[1], 'ignored', who, voice FROM resolutions
        WHERE opened IS NOT NULL AND opened <> docs[1]
)
SELECT asked, doc, name, {_number("who")}::BIGINT AS people FROM signals
WHERE asked IS NOT NULL AND asked <> '' AND doc IS NOT NULL AND doc <> ''
GROUP BY 1, 2, 3 ORDER BY people DESC, 1, 2, 3 LIMIT {MOST_PAIRS}
"""

_FIRING_SIGNALS = ("useful", "prevented", "noise", "wrong", "muted", "changed", "repeated", "read", "again")
# Two lists are the parameters: triggers that were changed, and when.
_SETTLED = "settled AS (SELECT unnest(?::VARCHAR[]) AS changed, unnest(?::TIMESTAMP[]) AS changed_at)"
_UNSETTLED = "NOT EXISTS (SELECT 1 FROM settled WHERE changed = {0}.trigger AND {0}.ts < changed_at)"
_FIRINGS = f"""
WITH {_SETTLED}, fired AS (
    SELECT *, outcome = 'held' AND EXISTS (SELECT 1 FROM injections p WHERE p.outcome = 'passed'
        AND p.trigger = i.trigger AND p.who = i.who AND p.ts >= i.ts) AS passed,
        EXISTS (SELECT 1 FROM reads r WHERE r.who = i.who AND list_contains(i.docs, r.doc) AND r.ts >= i.ts
            AND r.ts <= i.ts + INTERVAL {MINUTES} MINUTE) AS was_read,
        starts_with(because, 'error') AND EXISTS (SELECT 1 FROM injections l WHERE l.trigger = i.trigger
            AND l.who = i.who AND l.ts > i.ts AND l.outcome IN ('shown', 'held')) AS came_again
    FROM injections i WHERE outcome IN ('shown', 'held', 'muted') AND {_UNSETTLED.format("i")}
),
said AS (
    SELECT trigger, {_number("about", only="verdict = 'useful'")} AS useful,
        {_number("about", only="verdict = 'prevented'")} AS prevented,
        {_number("about", only="verdict = 'noise'")} AS noise,
        {_number("about", only="verdict = 'wrong'")} AS wrong,
        {_number("about", only="verdict IN ('noise', 'wrong')")} AS called_noise
    FROM feedback f WHERE trigger IS NOT NULL AND {_UNSETTLED.format("f")} GROUP BY 1
)
SELECT f.trigger, count(*) FILTER (outcome <> 'muted'), strftime(min(ts), '%Y-%m-%d'), strftime(max(ts), '%Y-%m-%d'),
    coalesce(any_value(s.called_noise), 0), coalesce(any_value(s.useful), 0),
    coalesce(any_value(s.prevented), 0), coalesce(any_value(s.noise), 0),
    coalesce(any_value(s.wrong), 0), {_number("who", only="outcome = 'muted'")},
    count(DISTINCT voice) FILTER (outcome = 'held' AND NOT passed),
    count(DISTINCT voice) FILTER (outcome = 'held' AND passed),
    count(DISTINCT voice) FILTER (outcome <> 'muted' AND was_read),
    count(DISTINCT voice) FILTER (coalesce(came_again, false))
FROM fired f LEFT JOIN said s ON s.trigger = f.trigger GROUP BY 1 ORDER BY 1
"""

_JUDGED = f"""
WITH {_SETTLED}
SELECT i.trigger, any_value(i.action), any_value(i.because), NOT bool_or(f.verdict IN ('noise', 'wrong'))
FROM injections i JOIN feedback f ON f.about = i.id
WHERE f.verdict IN ('useful', 'prevented', 'noise', 'wrong') AND {_UNSETTLED.format("i")}
GROUP BY i.trigger, i.id
QUALIFY row_number() OVER (PARTITION BY i.trigger ORDER BY max(i.ts) DESC, i.id) <= {MOST_JUDGED}
ORDER BY i.trigger, max(i.ts) DESC, i.id
"""

_PLACED = ("useful", "prevented", "noise", "wrong", "muted", "repeated")
_BY_CONVERSATION = """
SELECT i.conversation, i.trigger, count(DISTINCT f.id) FILTER (verdict = 'useful'),
    count(DISTINCT f.id) FILTER (verdict = 'prevented'), count(DISTINCT f.id) FILTER (verdict = 'noise'),
    count(DISTINCT f.id) FILTER (verdict = 'wrong'), max((i.outcome = 'muted')::INT), max((i.outcome = 'passed')::INT)
FROM injections i LEFT JOIN feedback f ON f.about = i.id
WHERE i.conversation IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
"""

_QUESTIONS = f"""
SELECT asked AS text, count(*) AS times, {_number("who")} AS people, avg((answered = 'yes')::INT) AS answered
FROM queries WHERE asked IS NOT NULL AND asked <> '' GROUP BY 1 ORDER BY times DESC, text LIMIT {MOST_QUESTIONS}
"""

_REPHRASED = f"""
SELECT p.asked AS first, p.again AS "then", coalesce(mode(r.opened), mode(r.docs[1])) AS document,
    least(count(DISTINCT p.who), count(DISTINCT p.voice)) AS people
FROM ({_TRIED_AGAIN}) p JOIN resolutions r ON r.who = p.who AND r.ts = p.again_at
WHERE (r.opened IS NOT NULL OR (r.answered = 'yes' AND p.answered <> 'yes')) AND len(r.docs) > 0
GROUP BY 1, 2 ORDER BY people DESC, 1, 2 LIMIT {MOST_QUESTIONS}
"""

_TOGETHER = f"""
SELECT a.doc AS first, b.doc AS "then", least(count(DISTINCT a.who), count(DISTINCT a.voice)) AS people
FROM reads a JOIN reads b
    ON a.who = b.who AND a.doc <> b.doc AND b.ts >= a.ts AND b.ts <= a.ts + INTERVAL {MINUTES} MINUTE
WHERE a.who <> '?' GROUP BY 1, 2 HAVING people >= {TOGETHER} ORDER BY people DESC, 1, 2 LIMIT {MOST_QUESTIONS}
"""

_SHOWN = """
SELECT doc AS document, count(*) AS shown, count(*) FILTER (opened = doc) AS opened,
    count(DISTINCT voice) FILTER (first AND opened IS NOT NULL AND opened <> doc) AS passed_over
FROM (SELECT unnest(docs[1:3]) AS doc, opened, voice, docs[1] = unnest(docs[1:3]) AS first FROM resolutions)
GROUP BY 1 ORDER BY 1
"""
