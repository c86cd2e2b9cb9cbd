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
INDIRECT = frozenset(("how", "whether", "why"))  # "to see how a force push works"
PROPOSALS = frozenset(("should", "shall", "can", "could", "may", "would", "will"))
FILLERS = frozenset(("and", "so", "but", "hey", "hi", "ok", "okay", "then"))
SUPPOSITIONS = frozenset(
    "if when whenever unless would can could might may imagine suppose hypothetically until once before after while"
    " someone somebody anyone people users".split()
)
COMING = frozenset(("be", "get", "getting", "being", "is", "are"))
GONE = frozenset(("was", "were", "been", "had", "has", "have"))
TOLD = frozenset(("tried", "did", "used", "managed", "wanted", "had", "asked", "told"))
DRY_WORDS = frozenset(("dryrun", "simulate", "simulation", "preview"))
PAST = frozenset(
    "began blew broke brought built chose did drew forgot froze gave went kept lost made overwrote ran redid rewrote"
    " sent threw took tore undid wrote left found begun blown broken chosen done drawn forgotten frozen given gone"
    " overwritten redone rewritten taken thrown torn undone written".split()
)
BASE_FORMS = frozenset(("shred", "embed", "seed", "feed", "need", "proceed", "shed"))  # end like a past tense
MANNERS = frozenset(("force", "hard", "git", "bulk", "mass"))  # in front of the verb: "force pushed"
DETERMINERS = frozenset("a an the this that these those any every each our my your its their no".split())
NOUN_LEADS = frozenset(
    "allow allows allowed enable enables permit permits support supports require requires via of".split()
)
# What makes an act of a noun: "do a force push".
DOING = frozenset(
    "take taking use using choose go with do doing make making perform performing run running need needs want try"
    " trying start starting execute executing let fazer faire hacer".split()
)
DONE = frozenset(  # said right after an act that is over; also in languages whose other words are not read
    "completed complete done succeeded successful successfully finished failed worked blocked rejected refused"
    " realizado conclu\u00eddo concluido feito exitoso completado r\u00e9ussi termin\u00e9 effectu\u00e9 erfolgreich"
    " abgeschlossen".split()
)
# Said right after it: what the act only names, or what is said of it ("force push can destroy …").
THINGS = frozenset(
    "semantics behavior behaviour policy policies workflow protection rule rules setting settings option"
    " options flag flags detection prevention guard warning button endpoint handler support mode strategy"
    " event events can could may might is was were would has had does".split()
)
AFTER = 3  # words after the phrase that may say so
GERUND_LEADS = frozenset("now then and so just also start begin keep re currently am m i we to for s next".split())
BEING = frozenset(("m", "am", "re", "are", "be", "start", "starting", "begin", "avoid", "let", "ll", "will"))
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
    following: tuple[str, ...] = ()  # what is said right after the phrase
    aside: bool = False  # in parentheses, with nothing before it there

    @property
    def near(self) -> tuple[str, ...]:
        """The words just before the act."""
        return self.before[-NEAR:]


def judge_act(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int) -> str:
    """Give the stance of an act: where its verb stands in `text`, and where its phrase ends, within its sentence."""
    first, last = sentence
    clause = text[first : verb[0]]
    cut = max(clause.rfind(mark) for mark in SPLITTERS)
    named = _plain(text[verb[0] : end])
    before = tuple(_plain(clause[cut + 1 :]))
    act = Act(
        before=before,
        verb=next((word for word in named if word not in MANNERS), "".join(named[:1])),
        after_verb=tuple(_plain(text[verb[1] : end])),
        opening=tuple(_plain(text[first : verb[1]])),
        said=tuple(_plain(text[first:last])),
        question=text[end:last].rstrip().endswith(("?", "\uff1f")),
        following=tuple(words(text[end:last])[:AFTER]),
        aside=not before and clause[cut : cut + 1] == "(",
    )
    return next((stance for rule in RULES if (stance := rule(act))), ANNOUNCED)


def _plain(text: str) -> list[str]:
    """Give the words of a text; that of an option is none of the sentence's own (`--no-verify` denies nothing)."""
    return words(text.replace("--no-", "--") if "--no-" in text else text)


def _named(act: Act) -> str:
    """Hear an act that is only named: "(force-push)", "the delete button", "our force push policy", "it succeeded"."""
    if act.question:
        return ""
    if act.aside or DONE.intersection(act.following) or THINGS.intersection(act.following[:1]):
        return REPORTED
    named = DETERMINERS.intersection(act.before[-2:]) or NOUN_LEADS.intersection(act.before[-1:])
    if act.verb.endswith(("ed", "ing")) or not named:
        return ""
    return "" if DOING.intersection(act.before) else REPORTED


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


def _explained(act: Act) -> str:
    """Hear "to see how a force push works", "I wonder whether to delete it"."""
    return ASKED if INDIRECT.intersection(act.before[-3:]) else ""


def _dry(act: Act) -> str:
    pairs = zip(act.said, act.said[1:], strict=False)
    return DRY_RUN if ("dry", "run") in pairs or DRY_WORDS.intersection(act.said) else ""


def _intended(act: Act) -> str:
    """Hear "I'll delete", "going to delete", "please delete", "can you delete …?", "should we delete …?"."""
    near = set(act.near)
    if act.verb.endswith(("ed", "s")) and act.verb not in BASE_FORMS and not COMING & near:
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
    if act.verb in PAST or (act.verb.endswith("ed") and act.verb not in BASE_FORMS and len(act.verb) > 3):
        return "" if last in COMING and not near & GONE else REPORTED
    if act.verb.endswith("ing"):
        topic = last in GERUND_TOPICS or {"was", "were", "been"} & set(act.before[-3:])
        of_another = last and last not in GERUND_LEADS and not BEING & set(act.near)
        return REPORTED if topic or of_another or (last and act.opening[0] in GERUND_TOPICS) else ""
    if last and act.verb.endswith("s") and not act.verb.endswith(("ss", "us", "is")):
        return REPORTED
    return REPORTED if near & TOLD else ""


def _supposed(act: Act) -> str:
    pairs = set(zip(act.near, act.near[1:], strict=False))
    near = set(act.near) - ({"once"} if pairs & {("once", "and"), ("once", "more"), ("once", "again")} else set())
    return ASKED if near & SUPPOSITIONS and not near & {"let", "ll", "please"} else ""


RULES = (_negated, _dry, _explained, _named, _intended, _asked, _reported, _supposed)
