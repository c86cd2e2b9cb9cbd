"""Stance: is an act announced, asked for or running, or denied, reported, asked about, supposed, only tried dry?

Rules over the words of one clause of an English sentence, before and after the act. Where no rule speaks the act counts
as announced: other languages and bare imperatives are not second-guessed.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

ANNOUNCED, REQUESTED, NEGATED, REPORTED = "announced", "requested", "negated", "reported"
ASKED, QUOTED, DRY_RUN = "asked", "quoted", "dry_run"  # what is only supposed counts as asked about

DENIALS = frozenset(("not", "never", "without", "no"))
NEGATIONS = DENIALS | frozenset(
    "avoid avoiding cannot refuse refused stop prevent prevents forbid forbidden nor neither dont nobody instead rather"
    " block blocks blocked reject rejects disallow disallows prohibit prohibits".split()
)
CONTRACTED = frozenset(  # what stands before 't
    "don won can shouldn doesn didn isn aren wouldn couldn mustn needn haven hasn hadn wasn weren ain".split()
)
NOT_NEGATED = frozenset(("forget", "hesitate", "worry", "mind", "only", "just", "wait", "fail", "care"))
INTENTIONS = frozenset(
    "ll will going gonna let lets about plan planning want wants need needs proceed shall must please now next ready"
    " intend start starting begin should ahead try trying".split()
)
SUBJECTS = frozenset(("i", "we", "you", "let", "lets", "us", "me"))
QUESTIONS = frozenset("what how why explain describe does did is are was which who where".split())
PROPOSALS = frozenset(("should", "shall", "can", "could", "may", "would", "will"))
FILLERS = frozenset(("and", "so", "but", "hey", "hi", "ok", "okay", "then"))
SUPPOSITIONS = frozenset(
    "if when whenever unless would could might may imagine suppose hypothetically until once before after while someone"
    " somebody anyone people users".split()
)
COMING = frozenset(("be", "get", "getting", "being", "is", "are"))
GONE = frozenset(("was", "were", "been", "had", "has", "have"))
TOLD = frozenset(("tried", "did", "used", "managed", "wanted", "had", "asked", "told"))
DRY_WORDS = frozenset(("dryrun", "simulate", "simulation", "preview"))
PAST = frozenset(
    "began blew broke brought built chose did drew forgot froze gave went kept lost made overwrote ran redid rewrote"
    " sent threw took tore undid wrote left".split()
)
GERUND_TOPICS = frozenset("after before without instead about for by of when while avoid from risk against on".split())
SPLITTERS = (",", ":", "\u2014", "\u2013", "(", ")")  # where a clause ends; a negation before does not reach over
NEAR = 6  # words before the act that can colour it


class Act(Record):
    """An act in its sentence, as words."""

    before: tuple[str, ...]  # of the same clause
    verb: str
    after_verb: tuple[str, ...]  # to the end of the phrase
    opening: tuple[str, ...]  # the sentence up to and with the verb
    said: tuple[str, ...]  # the whole sentence
    question: bool

    @property
    def near(self) -> tuple[str, ...]:
        """The words just before the act."""
        return self.before[-NEAR:]


def judge_act(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int) -> str:
    """Give the stance of an act: where its verb stands in `text`, and where its phrase ends, within its sentence."""
    first, last = sentence
    clause = text[first : verb[0]]
    act = Act(
        before=tuple(words(clause[max(clause.rfind(mark) for mark in SPLITTERS) + 1 :])),
        verb=(words(text[verb[0] : verb[1]]) or [""])[0],
        after_verb=tuple(words(text[verb[1] : end])),
        opening=tuple(words(text[first : verb[1]])),
        said=tuple(words(text[first:last])),
        question=text[end:last].rstrip().endswith(("?", "\uff1f")),
    )
    return next((stance for rule in RULES if (stance := rule(act))), ANNOUNCED)


def _negated(act: Act) -> str:
    scope = act.before[-8:]
    denied = _denies(scope, NEGATIONS) or _denies(act.after_verb, DENIALS)
    return NEGATED if denied else ""


def _denies(scope: Sequence[str], negations: frozenset[str]) -> bool:
    for at, word in enumerate(scope):
        denies = word in negations or (word == "t" and at > 0 and scope[at - 1] in CONTRACTED)
        if denies and "".join(scope[at + 1 : at + 2]) not in NOT_NEGATED:
            return True
    return False


def _dry(act: Act) -> str:
    pairs = zip(act.said, act.said[1:], strict=False)
    return DRY_RUN if ("dry", "run") in pairs or DRY_WORDS.intersection(act.said) else ""


def _intended(act: Act) -> str:
    """Hear "I'll delete", "going to delete", "please delete", "can you delete …?", "should we delete …?"."""
    near = set(act.near)
    if act.verb.endswith(("ed", "s")) and not COMING & near:
        return ""
    if act.question:
        proposed = act.opening[:1] and act.opening[0] in PROPOSALS and act.opening[1:2] and act.opening[1] in SUBJECTS
        return REQUESTED if proposed else ""
    told = INTENTIONS & near
    if not told or {"if", "when", "whenever", "would"} & near or _third_person(act.near):
        return ""
    return REQUESTED if "please" in told or "you" in near else ANNOUNCED


def _third_person(near: Sequence[str]) -> bool:
    """Hear that something else acts: "the script will delete …"; "I will", "we need to" and "let me" announce."""
    modal = next((at for at, word in enumerate(near) if word in {"will", "must", "should", "needs", "wants"}), -1)
    return modal > 0 and not SUBJECTS.intersection(near[:modal])


def _asked(act: Act) -> str:
    first = next((word for word in act.opening if word not in FILLERS), "")
    return ASKED if act.question or first in QUESTIONS else ""


def _reported(act: Act) -> str:
    near, last = set(act.before[-4:]), "".join(act.before[-1:])
    if act.verb in PAST or (act.verb.endswith("ed") and len(act.verb) > 3):
        return "" if last in COMING and not near & GONE else REPORTED
    if act.verb.endswith("ing"):
        topic = last in GERUND_TOPICS or {"was", "were", "been"} & set(act.before[-3:])
        return REPORTED if topic or (last and act.opening[0] in GERUND_TOPICS) else ""
    if last and act.verb.endswith("s") and not act.verb.endswith(("ss", "us", "is")):
        return REPORTED
    return REPORTED if near & TOLD else ""


def _supposed(act: Act) -> str:
    near = set(act.near)
    return ASKED if near & SUPPOSITIONS and not near & {"let", "ll", "please"} else ""


RULES = (_negated, _dry, _intended, _asked, _reported, _supposed)
