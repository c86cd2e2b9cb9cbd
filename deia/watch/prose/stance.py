"""Stance: is an act announced, asked for or running, or denied, reported, done, asked about, supposed, only tried dry?

Rules over the words of one clause of an English sentence, before and after the act, and a classifier of the sentence's
form (stance_model.py). Where no rule speaks the classifier decides; a rule is overruled only where the classifier is
sure that what looks reported is meant. In languages that nobody taught deia an act counts as announced.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.prose.intent import (
    BASE_FORMS,
    DONE,
    OPENERS,
    PAST,
    is_order,
    is_plan,
    is_subject,
    is_under_way,
    resolving_at,
)
from deia.watch.prose.languages import foreign_stance
from deia.watch.prose.stance_classifier import DOING as MEANT
from deia.watch.prose.stance_classifier import shares_of
from deia.watch.prose.stance_names import (
    ANNOUNCED,
    ASKED,
    DENIALS,
    DRY_RUN,
    NARROWER,
    NEGATED,
    REPORTED,
    REQUESTED,
    RUNNING,
    SUPPOSED,
    Act,
)

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

# Chosen on tools/stance with the frame of each sentence held out (tools/train_stance.py prints the table).
# There the rules that deny, ask, suppose or hear a doing are right more often than a classifier that contradicts.
DOUBT = 0.2  # where no rule speaks, an act less probably done or asked for than this is neither
SURE = 0.9  # what a rule takes for reported is being done or asked for from here on

NEGATIONS = DENIALS | frozenset(
    "avoid avoiding cannot refuse refused stop prevent prevents forbid forbidden nor neither dont nobody instead rather"
    " block blocks blocked reject rejects disallow disallows prohibit prohibits".split()
)
CONTRACTED = frozenset(  # what stands before 't
    "don won can shouldn doesn didn isn aren wouldn couldn mustn needn haven hasn hadn wasn weren ain".split()
)
DO_FORMS = frozenset(("don", "doesn", "didn"))  # after the act: of a relative clause, "what git doesn't track"
NOT_NEGATED = frozenset(
    "forget hesitate worry mind only just wait fail care choice doubt problem worries objects minds".split()
)
INTENTIONS = frozenset(
    "ll will going gonna let lets plan planning want wants need needs proceed shall must please now next ready"
    " intend start starting begin should ahead try trying".split()
)
SUBJECTS = frozenset(("i", "we", "you", "let", "lets", "us", "me"))
MODALS = frozenset(("will", "would", "can", "could", "may", "might", "should"))  # "will deleting it help"
QUESTIONS = frozenset("what how why explain describe does did is are was which who where".split())
INDIRECT = frozenset(("how", "whether", "why"))  # "to see how a force push works"
TELLING = frozenset(
    "explain explaining describe describing tell telling show showing check checking wonder wondering know understand"
    " clarify ask asking curious outline".split()
)
TOLD_OF = frozenset("what whether how why if which who where".split())
WRITING = frozenset("write add draft create document writing adding drafting creating".split())
WRITTEN = frozenset(
    "test tests doc docs documentation story stories guide runbook page section paragraph chapter article post"
    " tutorial example comment note spec scenario checklist faq".split()
)
FOR_IT = frozenset(("for", "about", "on", "of", "that", "which", "covering", "when", "where"))
OBJECT_WORDS = 4  # between "write" and what is written, between "tell" and what is told
# What stands behind is said of itself again: "tell me what is in it before you delete it", "… and then delete it".
RELEASING = frozenset("then before after so but until while as now".split())
JOINED = frozenset("and just please also simply now finally i we you ll will go ahead".split())
ASKING_YOU = ("can you ", "could you ", "would you ", "can u ", "could u ", "can we just ")  # also without a mark
ASKING = tuple(
    f"{modal} {who} " for modal in ("should", "shall", "can", "could", "may", "would", "will") for who in SUBJECTS
)
PROPOSING = (
    "do you want me ", "want me to ", "would you like me ", "would you mind ", "do you mind ", "why don t ",
    "why dont ",
    "shouldn t we ", "shouldnt we ", "how about ", "is it ok if i ", "ok if i ", "mind if i ",
)  # fmt: skip
WISHING = (("d", "rather"), ("would", "rather"))  # "I'd rather delete it"
WISHES = frozenset("great nice good lovely appreciate appreciated grateful glad happy".split())
FILLERS = frozenset(("and", "so", "but", "hey", "hi", "ok", "okay", "then"))
SUPPOSITIONS = frozenset(
    "if when whenever unless would can could might may imagine suppose hypothetically until once before after while"
    " someone somebody anyone people users".split()
)
COMING = frozenset(("be", "get", "getting", "being", "is", "are"))
GONE = frozenset(("was", "were", "been", "had", "has", "have"))
TOLD = frozenset(("tried", "did", "used", "managed", "wanted", "had", "asked", "told"))
DRY_WORDS = frozenset(("dryrun", "simulate", "simulation", "preview"))
MANNERS = frozenset(("force", "hard", "git", "bulk", "mass"))  # in front of the verb: "force pushed"
BESIDE_TELLING = OPENERS | frozenset("can could would will you u i we let us me s ll to want need them it".split())
DETERMINERS = frozenset("a an the this that these those any every each our my your its their no".split())
NOUN_LEADS = frozenset(
    "allow allows allowed enable enables permit permits support supports require requires via of".split()
)
# What makes an act of a noun: "do a force push".
DOING = frozenset(
    "take taking use using choose go with do doing make making perform performing run running need needs want try"
    " trying start starting execute executing let fazer faire hacer".split()
)
# Said right after it: what the act only names, or what is said of it ("force push can destroy …").
THINGS = frozenset(
    "semantics behavior behaviour policy policies workflow protection rule rules setting settings option"
    " options flag flags detection prevention guard warning button endpoint handler support mode strategy"
    " event events can could may might is was were would has had does".split()
)
OWNED = frozenset("policy policies protection rule rules mode".split())  # of an order: "set execution policy to …"
MEANS = frozenset("i we ll will going gonna let lets please".split())  # "To delete it I'll run …"
AFTER = 3  # words after the phrase that may say so
GERUND_LEADS = frozenset(
    "now then and so just also start begin keep re currently still am m im i we to for s next busy is are".split()
)
BEING = frozenset(
    ("m", "im", "am", "re", "are", "is", "be", "start", "starting", "begin", "avoid", "let", "ll", "will")
)
GERUND_TOPICS = frozenset("after before without instead about for by of when while avoid from risk against on".split())
SPLITTERS = (",", ":", "\u2014", "\u2013", "(", ")")  # where a clause ends; a negation before does not reach over


def judge_act(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int, *, ordering: bool = False) -> str:
    """Give the stance of an act: where its verb stands in `text`, and where its phrase ends, within its sentence.

    What looks like an order is one where it is said by somebody who is `ordering`, a person.
    """
    first, last = sentence
    act = act_of(text, sentence, verb, end)
    clause = text[verb[0] - act.reach : verb[0]]
    foreign = foreign_stance(clause, text[verb[0] : end], text[end:last], question=act.question)
    if foreign:
        return _dry(act) or foreign
    ruled = rule(act)
    if ordering and ruled in {"", REQUESTED, ANNOUNCED} and is_order(act) and not is_subject(act):
        return REQUESTED
    first = verb[0] - act.reach if act.resolved else first
    try:
        shares = shares_of(text[first:last], (verb[0] - first, verb[1] - first))
    except ArtefactError:  # without the classifier the rules decide
        shares = {}
    if DONE.intersection(act.following):  # "publish to npm failed" is over, whatever it sounds like
        return ruled
    return settle(ruled, shares) if shares else ruled or ANNOUNCED


def act_of(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int) -> Act:
    """Give an act as words, from where its verb and its phrase stand within its sentence."""
    first, last = sentence
    clause = text[first : verb[0]]
    cut = max(clause.rfind(mark) for mark in SPLITTERS)
    mark = clause[cut : cut + 1] if cut >= 0 else ""
    resolved = resolving_at(clause, cut)
    cut = max(cut, resolved)
    named = _plain(text[verb[0] : end])
    before = tuple(_plain(clause[cut + 1 :]))
    return Act(
        before=before,
        verb=next((word for word in named if word not in MANNERS), "".join(named[:1])),
        after_verb=tuple(_plain(text[verb[1] : end])),
        opening=tuple(_plain(text[first : verb[1]])),
        said=tuple(_plain(text[first:last])),
        question=text[end:last].rstrip().endswith(("?", "\uff1f")),
        following=tuple(words(text[end:last])[:AFTER]),
        aside=not before and mark == "(",
        reach=len(clause) - cut - 1,
        mark=mark,
        resolved=resolved >= 0,
    )


def rule(act: Act) -> str:
    """Give the stance by the first rule that speaks, or the empty text."""
    return next((stance for one in RULES if (stance := one(act))), "")


def settle(ruled: str, shares: Mapping[str, float]) -> str:
    """Give the stance between what a rule says, or none, and the probability of each stance by the classifier."""
    probable = sum(shares[stance] for stance in MEANT)
    if not ruled:
        ruled = likeliest(shares, MEANT if probable >= DOUBT else shares.keys() - set(MEANT))
    elif ruled == REPORTED and probable > SURE:
        ruled = likeliest(shares, MEANT)
    narrow = NARROWER.get(ruled)
    return narrow if narrow and shares[narrow] > shares[ruled] else ruled


def likeliest(shares: Mapping[str, float], among: Container[str]) -> str:
    """Give the most probable of some stances."""
    return max((stance for stance in shares if stance in among), key=shares.__getitem__)


def _plain(text: str) -> list[str]:
    """Give the words of a text; that of an option is none of the sentence's own (`--no-verify` denies nothing)."""
    return words(text.replace("--no-", "--") if "--no-" in text else text)


def _named(act: Act) -> str:
    """Hear an act that is only named: "(force-push)", "the delete button", "our force push policy", "it succeeded"."""
    if act.question:
        return ""
    if act.opening[:1] == ("to",) and len(act.opening) == 2:  # "To delete it you need the owner role"
        return ANNOUNCED if MEANS.intersection(act.said) else REPORTED
    if act.aside or DONE.intersection(act.following) or _names_thing(act):
        return REPORTED
    named = DETERMINERS.intersection(act.before[-2:]) or NOUN_LEADS.intersection(act.before[-1:])
    if act.verb.endswith(("ed", "ing")) or not named:
        return ""
    return "" if DOING.intersection(act.before) else REPORTED


def _names_thing(act: Act) -> bool:
    """Hear "force push policy", "the push could …"; not an order whose object it is: "set execution policy to …"."""
    ordered = is_order(act) and act.after_verb and act.opening[-1] not in MANNERS
    return not (THINGS - OWNED if ordered else THINGS).isdisjoint(act.following[:1])


def _urged(act: Act) -> str:
    """Hear what is only denied in form: "why don't you delete it", "don't forget to …", "no choice but to …"."""
    if _opens(act, PROPOSING):
        return REQUESTED
    if act.verb.endswith(("ed", "s")) or _denies(act.before, NEGATIONS):
        return ""
    if not _denies(act.before, NEGATIONS, excused=frozenset()):
        return ""
    return ANNOUNCED if {"i", "we"} & set(act.near) else REQUESTED


def _opens(act: Act, openings: tuple[str, ...]) -> bool:
    """Say whether the sentence, or the clause of the act, begins with some words; small ones before are skipped."""
    first = next((at for at, word in enumerate(act.opening) if word not in FILLERS), 0)
    return any(" ".join((*words, "")).startswith(openings) for words in (act.opening[first:], act.before))


def _negated(act: Act) -> str:
    scope = act.before[-8:]
    denied = _denies(scope, NEGATIONS) or _denies(act.after_verb, DENIALS, contracted=CONTRACTED - DO_FORMS)
    return NEGATED if denied else ""


def _denies(
    scope: Sequence[str],
    negations: frozenset[str],
    excused: frozenset[str] = NOT_NEGATED,
    contracted: frozenset[str] = CONTRACTED,
) -> bool:
    for at, word in enumerate(scope):
        if tuple(scope[max(at - 1, 0) : at + 1]) in WISHING:
            continue
        denies = word in negations or (word == "t" and at > 0 and scope[at - 1] in contracted)
        if denies and "".join(scope[at + 1 : at + 2]) not in excused:
            return True
    return False


def _planned(act: Act) -> str:
    return RUNNING if is_under_way(act) else ANNOUNCED if is_plan(act) else ""


def _told(act: Act) -> str:
    """Hear what is to be told or written of: "can you explain what deleting it does?", "add a test for deleting it".

    A second act beside the telling is one of its own: "explain why it fails and delete it".
    """
    for heads, objects, stance in ((TELLING, TOLD_OF, ASKED), (WRITING, WRITTEN, REPORTED)):
        at = _governed(act.before, heads, objects)
        if at < 0 or (stance == REPORTED and FOR_IT.isdisjoint(act.before[at + 1 : at + 3])):
            continue
        rest = act.before[at + 1 :]
        if RELEASING.isdisjoint(rest) and not _joined(rest, act.verb):
            return stance
        if _joined(rest, act.verb) and BESIDE_TELLING.issuperset(set(act.before[:at]) - heads - WRITTEN - DETERMINERS):
            return ANNOUNCED if {"i", "we", "let"} & set(act.before[:at]) else REQUESTED
    return ""


def _governed(before: Sequence[str], heads: Container[str], objects: Container[str]) -> int:
    """Give the place of the first of some words that follows closely on one of the others, or -1."""
    idle = 2 if tuple(before[:3]) == ("you", "know", "what") else 0  # "you know what, just delete it"
    head = next((at for at, word in enumerate(before) if at >= idle and word in heads), len(before))
    return next((at for at in range(head + 1, min(head + 2 + OBJECT_WORDS, len(before))) if before[at] in objects), -1)


def _joined(rest: Sequence[str], verb: str) -> bool:
    """Say whether an `and` joins the act to the telling, and not to another act that is told of."""
    at = next((at for at in range(len(rest) - 1, -1, -1) if rest[at] == "and"), -1)
    if at < 0 or verb.endswith(("ing", "ed", "s")) or not JOINED.issuperset(rest[at:]):
        return False
    return rest[:1] != ("to",)  # "how to make and delete a site"


def _explained(act: Act) -> str:
    """Hear "to see how a force push works", "do I need to delete it", "will deleting it help"."""
    first, second = (*act.opening[:2], "", "")[:2]
    asks = first == "do" and second in {"i", "we", "they"}
    asks = asks or (first in MODALS and len(act.opening) == 2 and act.verb.endswith("ing"))
    return ASKED if asks or INDIRECT.intersection(act.before[-3:]) else ""


def _given(act: Act) -> str:
    """Hear "let's say we delete it", "should anyone delete it, call me"."""
    first, second = (*act.opening[:2], "", "")[:2]
    pairs = zip(act.before, act.before[1:], strict=False)
    if any(one in {"s", "lets"} and other == "say" for one, other in pairs):
        return SUPPOSED
    return (
        SUPPOSED if first == "should" and second not in SUBJECTS and len(act.opening) > 2 and not act.question else ""
    )


def _dry(act: Act) -> str:
    pairs = zip(act.said, act.said[1:], strict=False)
    return DRY_RUN if ("dry", "run") in pairs or DRY_WORDS.intersection(act.said) else ""


def _intended(act: Act) -> str:
    """Hear "I'll delete", "going to delete", "please delete", "can you delete …?", "should we delete …?"."""
    near = set(act.near)
    if act.verb.endswith(("ed", "s")) and act.verb not in BASE_FORMS and not COMING & near:
        return ""
    if _proposed(act):
        return REQUESTED
    if act.before[-2:] in WISHING:
        return ANNOUNCED
    told = INTENTIONS & near or ("about", "to") in zip(act.near, act.near[1:], strict=False)
    if act.question or not told or {"if", "when", "whenever", "would"} & near or _third_person(act.near):
        return ""
    return REQUESTED if {"please", "you"} & near else ANNOUNCED


def _proposed(act: Act) -> bool:
    """Hear "can you delete it?", "why don't we delete it", "it would be great if you could delete it"."""
    if WISHES.intersection(act.near) and "you" in act.before[-2:] and {"can", "could", "would"} & set(act.near):
        return True
    return _opens(act, ASKING_YOU) or (act.question and _opens(act, ASKING))


def _third_person(near: Sequence[str]) -> bool:
    """Hear that something else acts: "the script will delete …"; "I will", "we need to" and "let me" announce."""
    if ("lets", "you") in set(zip(near, near[1:], strict=False)):  # noqa: RUF007 - itertools is not free
        return True
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
        if len(act.opening) == 1 and is_subject(act):
            return REPORTED
        topic = (last in GERUND_TOPICS and "middle" not in near) or {"was", "were", "been"} & set(act.before[-3:])
        of_another = last and last not in GERUND_LEADS and not BEING & set(act.near)
        return REPORTED if topic or of_another or (last and act.before[0] in GERUND_TOPICS) else ""
    if last and act.verb.endswith("s") and not act.verb.endswith(("ss", "us", "is")):
        return REPORTED
    return REPORTED if near & TOLD else ""


def _supposed(act: Act) -> str:
    pairs = set(zip(act.near, act.near[1:], strict=False))
    near = set(act.near) - ({"once"} if pairs & {("once", "and"), ("once", "more"), ("once", "again")} else set())
    return SUPPOSED if near & SUPPOSITIONS and not near & {"let", "ll", "please"} else ""


RULES = (_urged, _negated, _dry, _told, _explained, _given, _named, _planned, _intended, _asked, _reported, _supposed)
