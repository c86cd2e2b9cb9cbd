"""The stance of an act in a sentence: announced, requested, running, denied, reported, done, asked, supposed, dry run.

Rules look at the words of the act's clause in an English sentence, before and after the act. A classifier judges the
form of the sentence (stance_classifier.py). Where no rule applies the classifier decides; it overrules a rule only when
it is sure that an act which looks reported is meant. In languages that `languages` does not know, an act counts as
announced.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.text import words
from deia.watch.prose.intent import (
    BASE_FORMS,
    DONE,
    FILLERS,
    OPENERS,
    PASSIVE_AUXILIARIES,
    PAST,
    SUBJECTS,
    WISHING,
    intended_stance,
    is_order,
    is_plan,
    is_subject,
    is_under_way,
    opens_with,
    resolving_at,
)
from deia.watch.prose.languages import foreign_stance
from deia.watch.prose.stance_classifier import DOING as MEANT
from deia.watch.prose.stance_classifier import probabilities_of
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

# Chosen on the sentences of tools/stance with the frame of each sentence held out (tools/train_stance.py prints the
# table). Where a rule and the classifier contradict each other, the rules that find a denial, a question, a supposition
# or an action are right more often than the classifier; only the rule that finds a report is not.
DOUBT = 0.2  # without a rule, an act that is less probably done or asked for than this is neither
SURE = 0.9  # from this probability on, an act that a rule calls reported counts as done or asked for

# Word tables; `stance.txt` says what each is for. The rules below ask whether words of the act's clause are in one of
# these sets: in `before`, the words between the start of the clause and the verb, unless a comment says otherwise.
# `deia.text.words` lowers the case and drops punctuation, so that "don't" is "don", "t" and "I'll" is "i", "ll".
TABLES = Tables(__file__)
NEGATIONS = DENIALS | TABLES.words("negations")
CONTRACTED = TABLES.words("contracted")
DO_FORMS = frozenset(("don", "doesn", "didn"))  # after the act these begin a relative clause: "what git doesn't track"
NOT_DENIED = TABLES.words("not denied")
PROPOSING = tuple(f"{phrase} " for phrase in TABLES.phrases("proposing"))
OWN_INTENTIONS = TABLES.words("own intentions")
MODALS = frozenset(("will", "would", "can", "could", "may", "might", "should"))  # "will deleting it help"
QUESTIONS = TABLES.words("questions")
INDIRECT = frozenset(("how", "whether", "why"))  # "to see how a force push works"
TELLING = TABLES.words("telling")
TOLD_CLAUSE_STARTS = TABLES.words("told clause starts")
WRITING = TABLES.words("writing")
WRITTEN = TABLES.words("written")
TOPIC_WORDS = frozenset(("for", "about", "on", "of", "that", "which", "covering", "when", "where"))
MOST_OBJECT_WORDS = 4  # between "write" and what is written, or between "tell" and the clause that is told
RELEASING = TABLES.words("releasing")
JOINED = TABLES.words("joined")
BESIDE_TELLING = OPENERS | TABLES.words("beside telling")
SUPPOSITIONS = TABLES.words("suppositions")
PAST_AUXILIARIES = frozenset(("was", "were", "been", "had", "has", "have"))
TELLERS = frozenset("i we ve have has had just already successfully now also then done ok okay so".split())
MEANS = frozenset(("with", "using", "via"))  # first words of a phrase about how an act is done
PAST_HELPERS = frozenset(("tried", "did", "used", "managed", "wanted", "had", "asked", "told"))
DRY_WORDS = frozenset(("dryrun", "simulate", "simulation", "preview"))

# Acts that are only named: "the delete button", "our force push policy".
MANNERS = frozenset(("force", "hard", "git", "bulk", "mass"))  # part of the act, before its verb: "force pushed"
DETERMINERS = TABLES.words("determiners")
NOUN_LEADS = TABLES.words("noun leads")
PERFORMING = TABLES.words("performing")
THINGS = TABLES.words("things")
SETTABLE_THINGS = frozenset("policy policies protection rule rules mode".split())  # "set execution policy to …"
FOLLOWING_WORDS = 3  # words after the act's phrase that are looked at
GERUND_LEADS = TABLES.words("gerund leads")
BEING = TABLES.words("being")
GERUND_TOPICS = TABLES.words("gerund topics")

# Marks that end a clause: a denial before one of them does not reach past it.
CLAUSE_MARKS = (",", ":", "\u2014", "\u2013", "(", ")")


def judge_act(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int, *, ordering: bool = False) -> str:
    """Return the stance of an act in a sentence of `text`.

    `sentence` and `verb` are the spans of the sentence and of the act's verb, `end` is where the act's phrase ends.
    With `ordering`, a person speaks: what has the form of an order then is a request.
    """
    first, last = sentence
    act = act_of(text, sentence, verb, end)
    clause = text[verb[0] - act.reach : verb[0]]
    foreign = foreign_stance(clause, text[verb[0] : end], text[end:last], question=act.question)
    if foreign:
        return _dry_run_rule(act) or foreign
    stance = rule(act)
    if ordering and stance in {"", REQUESTED, ANNOUNCED} and is_order(act) and not is_subject(act):
        return REQUESTED
    first = verb[0] - act.reach if act.resolved else first
    try:
        probabilities = probabilities_of(text[first:last], (verb[0] - first, verb[1] - first))
    except ArtefactError:  # the classifier's file is missing or damaged: the rules decide alone
        probabilities = {}
    if _is_over(act):
        return stance
    return settle(stance, probabilities, is_told=_is_told(act)) if probabilities else stance or ANNOUNCED


def act_of(text: str, sentence: tuple[int, int], verb: tuple[int, int], end: int) -> Act:
    """Return the act as words, from the spans of its sentence and verb and the end of its phrase."""
    first, last = sentence
    clause = text[first : verb[0]]
    clause_cut = max(clause.rfind(mark) for mark in CLAUSE_MARKS)
    mark = clause[clause_cut : clause_cut + 1] if clause_cut >= 0 else ""
    resolved = resolving_at(clause, clause_cut)
    clause_cut = max(clause_cut, resolved)
    phrase_words = _words_of(text[verb[0] : end])
    before = tuple(_words_of(clause[clause_cut + 1 :]))
    return Act(
        before=before,
        verb=next((word for word in phrase_words if word not in MANNERS), "".join(phrase_words[:1])),
        after_verb=tuple(_words_of(text[verb[1] : end])),
        opening=tuple(_words_of(text[first : verb[1]])),
        sentence=tuple(_words_of(text[first:last])),
        question=text[end:last].rstrip().endswith(("?", "\uff1f")),
        following=_following(words(text[end:last])[:FOLLOWING_WORDS]),
        aside=not before and mark == "(",
        reach=len(clause) - clause_cut - 1,
        mark=mark,
        resolved=resolved >= 0,
    )


def _following(words_after: Sequence[str]) -> tuple[str, ...]:
    """Return words after an act without those that only describe a noun, such as "failed" in "the failed release"."""
    return tuple(
        word for at, word in enumerate(words_after)
        if not (at and word in DONE and words_after[at - 1] in DETERMINERS)
    )  # fmt: skip


def rule(act: Act) -> str:
    """Return the stance that the first matching rule gives, or ""."""
    return next((stance for stance_rule in RULES if (stance := stance_rule(act))), "")


def settle(stance: str, probabilities: Mapping[str, float], *, is_told: bool = False) -> str:
    """Return the stance, given the one of the rules ("" for none) and the classifier's probability of each stance.

    `is_told` is whether the sentence certainly tells of the act, so that the classifier cannot overrule a report.
    """
    meant_probability = sum(probabilities[candidate] for candidate in MEANT)
    if not stance:
        stance = likeliest(probabilities, MEANT if meant_probability >= DOUBT else probabilities.keys() - set(MEANT))
    elif stance == REPORTED and meant_probability > SURE and not is_told:
        stance = likeliest(probabilities, MEANT)
    narrower = NARROWER.get(stance)
    return narrower if narrower and probabilities[narrower] > probabilities[stance] else stance


def likeliest(probabilities: Mapping[str, float], allowed: Container[str]) -> str:
    """Return the most probable of the allowed stances."""
    return max((stance for stance in probabilities if stance in allowed), key=probabilities.__getitem__)


def _words_of(text: str) -> list[str]:
    """Return the words of a text. The `no` of an option such as `--no-verify` is left out, as it denies nothing."""
    return words(text.replace("--no-", "--") if "--no-" in text else text)


def _naming_rule(act: Act) -> str:
    """Return REPORTED if the act is only named: "(force-push)", "the delete button", "our force push policy".

    Also if it is over ("it succeeded"). "To delete it …" is ANNOUNCED if the speaker then says "I'll …", else REPORTED.
    """
    if act.question:
        return ""
    if act.opening[:1] == ("to",) and len(act.opening) == 2:  # "To delete it you need the owner role"
        return ANNOUNCED if OWN_INTENTIONS.intersection(act.sentence) else REPORTED
    if act.aside or _is_over(act) or _names_thing(act):
        return REPORTED
    follows_noun_lead = DETERMINERS.intersection(act.before[-2:]) or NOUN_LEADS.intersection(act.before[-1:])
    if act.verb.endswith(("ed", "ing")) or not follows_noun_lead:
        return ""
    return "" if PERFORMING.intersection(act.before) else REPORTED


def _is_over(act: Act) -> bool:
    """Return whether an act is over, whatever its form: "publish to npm failed", but not "clear the failed release"."""
    at = next((at for at, word in enumerate(act.following) if word in DONE), -1)
    return at == 0 or (at > 0 and act.following[at - 1] not in DETERMINERS)


def _names_thing(act: Act) -> bool:
    """Return whether the act is part of a name or a subject: "force push policy", "the push could …".

    In an order, settable things are its object instead: "set execution policy to …". What follows an object is a thing
    of its own: "ready to push the tag to start the release workflow".
    """
    if DETERMINERS.intersection(act.after_verb):
        return False
    has_object = is_order(act) and act.after_verb and act.opening[-1] not in MANNERS
    return not (THINGS - SETTABLE_THINGS if has_object else THINGS).isdisjoint(act.following[:1])


def _urging_rule(act: Act) -> str:
    """Return a stance for a denial that urges: "why don't you delete it", "no choice but to delete it"."""
    if opens_with(act, PROPOSING):
        return REQUESTED
    if act.verb.endswith(("ed", "s")) or _denies(act.before, NEGATIONS):
        return ""
    if not _denies(act.before, NEGATIONS, excused=frozenset()):
        return ""
    return ANNOUNCED if {"i", "we"} & set(act.near) else REQUESTED


def _denial_rule(act: Act) -> str:
    """Return NEGATED if one of the eight words before the act, or its own phrase, denies it."""
    scope = act.before[-8:]
    is_denied = _denies(scope, NEGATIONS) or _denies(act.after_verb, DENIALS, contracted=CONTRACTED - DO_FORMS)
    return NEGATED if is_denied else ""


def _denies(
    scope: Sequence[str],
    negations: frozenset[str],
    excused: frozenset[str] = NOT_DENIED,
    contracted: frozenset[str] = CONTRACTED,
) -> bool:
    """Return whether the words contain a negation that the next word does not cancel ("don't forget to …")."""
    for at, word in enumerate(scope):
        if tuple(scope[max(at - 1, 0) : at + 1]) in WISHING:
            continue
        denies = word in negations or (word == "t" and at > 0 and scope[at - 1] in contracted)
        if denies and "".join(scope[at + 1 : at + 2]) not in excused:
            return True
    return False


def _plan_rule(act: Act) -> str:
    """Return RUNNING for an act under way, ANNOUNCED for one that is planned."""
    return RUNNING if is_under_way(act) else ANNOUNCED if is_plan(act) else ""


def _telling_rule(act: Act) -> str:
    """Return ASKED for an act to be explained, REPORTED for one to be written about.

    "Can you explain what deleting it does?" and "add a test for deleting it" do not ask for the act. In "explain why it
    fails and delete it" the second act is asked for all the same.
    """
    for heads, objects, stance in ((TELLING, TOLD_CLAUSE_STARTS, ASKED), (WRITING, WRITTEN, REPORTED)):
        position = _object_position(act.before, heads, objects)
        if position < 0 or (stance == REPORTED and TOPIC_WORDS.isdisjoint(act.before[position + 1 : position + 3])):
            continue
        between = act.before[position + 1 :]
        if not _is_joined(between, act.verb):
            if RELEASING.isdisjoint(between):
                return stance
            continue
        lead = set(act.before[:position])
        if BESIDE_TELLING.issuperset(lead - heads - WRITTEN - DETERMINERS):
            return ANNOUNCED if {"i", "we", "let"} & lead else REQUESTED
    return ""


def _object_position(before: Sequence[str], heads: Container[str], objects: Container[str]) -> int:
    """Return the index of the first of `objects` within a few words after the first of `heads`, or -1."""
    skipped = 2 if tuple(before[:3]) == ("you", "know", "what") else 0  # "you know what, just delete it"
    head = next((at for at, word in enumerate(before) if at >= skipped and word in heads), len(before))
    return next(
        (at for at in range(head + 1, min(head + 2 + MOST_OBJECT_WORDS, len(before))) if before[at] in objects), -1
    )


def _is_joined(between: Sequence[str], verb: str) -> bool:
    """Return whether an "and" joins the act to the telling, rather than to another act that is told about."""
    at = next((at for at in range(len(between) - 1, -1, -1) if between[at] == "and"), -1)
    if at < 0 or verb.endswith(("ing", "ed", "s")) or not JOINED.issuperset(between[at:]):
        return False
    return between[:1] != ("to",)  # "how to make and delete a site"


def _question_about_rule(act: Act) -> str:
    """Return ASKED for "to see how a force push works", "do I need to delete it", "will deleting it help"."""
    first, second = (*act.opening[:2], "", "")[:2]
    is_question = first == "do" and second in {"i", "we", "they"}
    is_question = is_question or (first in MODALS and len(act.opening) == 2 and act.verb.endswith("ing"))
    return ASKED if is_question or INDIRECT.intersection(act.before[-3:]) else ""


def _supposing_rule(act: Act) -> str:
    """Return SUPPOSED for "let's say we delete it" and "should anyone delete it, call me"."""
    first, second = (*act.opening[:2], "", "")[:2]
    pairs = zip(act.before, act.before[1:], strict=False)
    if any(word in {"s", "lets"} and next_word == "say" for word, next_word in pairs):
        return SUPPOSED
    is_condition = first == "should" and second not in SUBJECTS and len(act.opening) > 2 and not act.question
    return SUPPOSED if is_condition else ""


def _dry_run_rule(act: Act) -> str:
    """Return DRY_RUN if the sentence mentions a dry run or a simulation."""
    pairs = zip(act.sentence, act.sentence[1:], strict=False)
    return DRY_RUN if ("dry", "run") in pairs or DRY_WORDS.intersection(act.sentence) else ""


def _question_rule(act: Act) -> str:
    """Return ASKED if the sentence is a question."""
    first = next((word for word in act.opening if word not in FILLERS), "")
    return ASKED if act.question or first in QUESTIONS else ""


def _report_rule(act: Act) -> str:
    """Return REPORTED if the verb's form or the words before it tell of something past, general or somebody else's."""
    near, last = set(act.before[-4:]), "".join(act.before[-1:])
    if act.verb in MEANS and _is_told(act):
        return REPORTED
    if _is_past(act.verb):
        return "" if last in PASSIVE_AUXILIARIES and not near & PAST_AUXILIARIES else REPORTED
    if act.verb.endswith("ing"):
        if len(act.opening) == 1 and is_subject(act):
            return REPORTED
        is_topic = (last in GERUND_TOPICS and "middle" not in near) or {"was", "were", "been"} & set(act.before[-3:])
        has_own_subject = last and last not in GERUND_LEADS and not BEING & set(act.near)
        return REPORTED if is_topic or has_own_subject or (last and act.before[0] in GERUND_TOPICS) else ""
    if last and act.verb.endswith("s") and not act.verb.endswith(("ss", "us", "is")):
        return REPORTED
    return REPORTED if near & PAST_HELPERS else ""


def _is_past(verb: str) -> bool:
    return verb in PAST or (verb.endswith("ed") and verb not in BASE_FORMS and len(verb) > 3)


def _is_told(act: Act) -> bool:
    """Return whether a clause tells of an act that its speaker did: "Force pushed.", "I've committed with …"."""
    opening = next((word for word in (*act.before, act.verb) if word not in TELLERS), "")
    return _is_past(opening) and (act.verb in MEANS or _is_past(act.verb))


def _condition_rule(act: Act) -> str:
    """Return SUPPOSED after a condition such as "if" or "might"."""
    pairs = set(zip(act.near, act.near[1:], strict=False))
    near = set(act.near) - ({"once"} if pairs & {("once", "and"), ("once", "more"), ("once", "again")} else set())
    return SUPPOSED if near & SUPPOSITIONS and not near & {"let", "ll", "please"} else ""


RULES = (
    _urging_rule,
    _denial_rule,
    _dry_run_rule,
    _telling_rule,
    _question_about_rule,
    _supposing_rule,
    _naming_rule,
    _plan_rule,
    intended_stance,
    _question_rule,
    _report_rule,
    _condition_rule,
)
