"""Stance: is an act announced, asked for or running, or denied, reported, asked about, supposed, only tried dry?

Rules over the words of one clause of an English sentence, before and after the act. Where no rule speaks the act counts
as announced: other languages and bare imperatives are not second-guessed.
"""

from __future__ import annotations

from deia.text import words

ANNOUNCED, REQUESTED, NEGATED, REPORTED = "announced", "requested", "negated", "reported"
ASKED, SUPPOSED, QUOTED, DRY_RUN = "asked", "asked", "quoted", "dry_run"

NEGATIONS = frozenset("not never without avoid avoiding cannot refuse refused stop prevent prevents forbid forbidden no nor"
                      " neither dont don't nobody instead rather".split())  # fmt: skip
CONTRACTED = frozenset(
    "don won can shouldn doesn didn isn aren wouldn couldn mustn needn haven hasn hadn wasn weren ain".split()
)
NOT_NEGATED = frozenset(("forget", "hesitate", "worry", "mind", "only", "just", "wait", "fail", "care"))
INTENTIONS = frozenset("ll will going gonna let lets about plan planning want wants need needs proceed shall must please now next"
                       " ready intend start starting begin should ahead try trying".split())  # fmt: skip
SUBJECTS = frozenset(("i", "we", "you", "let", "lets", "us", "me"))
QUESTIONS = frozenset("what how why when where which who whose does do did is are was were has have will would".split())
PROPOSALS = frozenset(("should", "shall", "can", "could", "may", "would", "will"))
SUPPOSITIONS = frozenset("if when whenever unless would could might may imagine suppose suppose hypothetically until once "
                         "before after while someone somebody anyone people users".split())  # fmt: skip
BEEN = frozenset("was were been had has have got being already just recently previously since who somebody someone they he she"
                 " which that".split())  # fmt: skip
COMING = frozenset(("be", "get", "getting", "being", "is", "are"))
DRY = (("dry", "run"), ("dryrun",), ("simulate",), ("simulation",), ("preview",))
PAST = frozenset("began blew broke brought built chose did drew forgot froze gave went kept lost made overwrote ran redid rewrote"
                 " sent threw took tore undid wrote wiped left".split())  # fmt: skip
GERUND_TOPICS = frozenset("after before without instead about for by of when while avoid from risk against on".split())
SPLITTERS = ",:—–()"  # where one clause of a sentence ends; a negation before them does not reach over


def judge_act(text: str, sentence: tuple[int, int], act: tuple[int, int]) -> str:
    """Give the stance of the act at `act` (start and end in `text`) within its sentence."""
    first, last = sentence
    start, end = act
    before_all = text[first:start]
    clause = before_all[_clause_start(before_all) :]
    before = words(clause)
    verb = (words(text[start:end]) or [""])[0]
    question = text[end:last].rstrip().endswith(("?", "？"))
    opening = words(text[first:end])
    for rule in (_negated, _dry, _intended, _asked, _reported, _supposed):
        stance = rule(before, verb, opening, question=question, sentence=text[first:last])
        if stance:
            return stance
    return ANNOUNCED


def _clause_start(before: str) -> int:
    return max(before.rfind(mark) for mark in SPLITTERS) + 1


def _negated(before: list[str], verb: str, opening: list[str], **_: object) -> str:  # noqa: ARG001 - one signature
    scope = before[-8:]
    for at, word in enumerate(scope):
        denies = word in NEGATIONS or (word == "t" and at > 0 and scope[at - 1] in CONTRACTED)
        follows = scope[at + 1] if at + 1 < len(scope) else ""
        if denies and follows not in NOT_NEGATED and not (word == "no" and follows in {"longer", "need"} and at > 4):
            return NEGATED
    return ""


def _dry(before: list[str], verb: str, opening: list[str], *, sentence: str, **_: object) -> str:  # noqa: ARG001
    said = words(sentence)
    pairs = set(zip(said, said[1:], strict=False))
    return DRY_RUN if any(tuple(dry) in pairs or (len(dry) == 1 and dry[0] in said) for dry in DRY) else ""


def _intended(before: list[str], verb: str, opening: list[str], *, question: bool, **_: object) -> str:
    """ "I'll delete", "going to delete", "please delete", "can you delete …?", "should we delete …?"."""  # noqa: D400
    near = before[-6:]
    told = [word for word in near if word in INTENTIONS]
    if verb.endswith(("ed", "s")) and not (COMING & set(near)):
        return ""
    if question:
        return REQUESTED if opening[:1] and opening[0] in PROPOSALS and set(opening[1:2]) & SUBJECTS else ""
    if not told or {"if", "when", "whenever", "would"} & set(near) or _third_person(near):
        return ""
    return REQUESTED if "please" in told or "you" in near else ANNOUNCED


def _third_person(near: list[str]) -> bool:
    """ "The script will delete …" tells what something does; "I will", "we need to" and "let me" announce."""  # noqa: D400
    modal = next((at for at, word in enumerate(near) if word in {"will", "must", "should", "needs", "wants"}), -1)
    return modal > 0 and not (set(near[:modal]) & SUBJECTS)


def _asked(before: list[str], verb: str, opening: list[str], *, question: bool, **_: object) -> str:  # noqa: ARG001
    first = next((word for word in opening if word not in {"and", "so", "but", "hey", "hi", "ok", "okay", "then"}), "")
    if first in {
        "what",
        "how",
        "why",
        "explain",
        "describe",
        "does",
        "did",
        "is",
        "are",
        "was",
        "which",
        "who",
        "where",
    }:
        return ASKED
    return ASKED if question or (first in QUESTIONS and question) else ""


def _reported(before: list[str], verb: str, opening: list[str], **_: object) -> str:
    near = set(before[-4:])
    if verb in PAST or (verb.endswith("ed") and len(verb) > 3):
        coming = before[-1:] and before[-1] in COMING and not near & {"was", "were", "been", "had", "has", "have"}
        return "" if coming else REPORTED
    if verb.endswith("ing"):
        return _gerund(before, opening)
    if before and verb.endswith("s") and not verb.endswith(("ss", "us", "is")):
        return REPORTED
    return REPORTED if near & {"tried", "did", "used", "managed", "wanted", "had", "asked", "told"} else ""


def _gerund(before: list[str], opening: list[str]) -> str:
    if before and before[-1] in GERUND_TOPICS:
        return REPORTED
    return (
        REPORTED if {"was", "were", "been"} & set(before[-3:]) or (before[-1:] and opening[0] in GERUND_TOPICS) else ""
    )


def _supposed(before: list[str], verb: str, opening: list[str], **_: object) -> str:  # noqa: ARG001
    near = set(before[-6:])
    return SUPPOSED if near & SUPPOSITIONS and not near & {"let", "ll", "please"} else ""
