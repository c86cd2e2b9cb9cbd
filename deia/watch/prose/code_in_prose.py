"""What a sentence says about the code in it: that the code is about to run, or only what it is.

"Simplest path: `x`", "I'm clearing it with `x`", "then `x` and re-import", "`x` gets us a clean state" mean to run it;
"`x` discards everything", "use this rather than `x`", "the error came from `x`" do not. Code that nothing says to run
is quoted.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.text import spans, words
from deia.watch.prose.intent import BEST, FINITE, INTENTIONS, OPENERS, PAST, REASONS, RUNS, SUBJECTS
from deia.watch.prose.regions import sentence
from deia.watch.prose.stance import CONTRACTED, NEGATIONS, NOT_DENIED, TELLING, WRITING, judge_act
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, QUOTED, REQUESTED, SUPPOSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.prose.regions import Code, Prose

TABLES = Tables(__file__)
# Word tables, of lower-case words. LEAD is the part of the sentence before the code, TAIL the part after it.

# LEAD: verbs before code that is meant to run.
RUNNING = RUNS | frozenset("do doing try use call start go proceed ll will commit push".split())
# LEAD, last word: the code is not to run. "rather than `x`", "without `x`".
AGAINST = frozenset("than of not never without avoid unlike vs no nor".split())
AGAINST_IF_NEGATED = frozenset(("of",))  # only after a negation: "instead of `x`", but not "a round of `x`"
# LEAD: a step or a proposal. "Next step: `x`", "then `x`".
LABELS = BEST | frozenset("next step steps then now finally proposal workaround command approach after that".split())
CHAINED = frozenset("then next first finally now second third lastly followed by".split())
MEANS_WORDS = frozenset("with via by using through".split())  # LEAD, last word, after an announced act
BEING = frozenset(("m", "am", "re", "are"))
CONDITIONS = frozenset("if when whenever unless would could might d suppose imagine should".split())
LOOKING = TABLES.words("looking")
RECALLING = TABLES.words("recalling")
# TAIL: "`x` should fix it", "`x` gets us going", "`x` please".
HELPS = frozenset("fix do clear solve sort unblock help work get give bring resolve take cure settle clean".split())
GIVES = frozenset("gets gives buys lets brings leaves saves puts".split())
RECIPIENTS = frozenset(("us", "me", "you"))
PLEASING = frozenset("please pls plz now then again first".split())
# First words.
SERVING = frozenset((("it", "is"), ("does", "it"), ("does", "the"), ("takes", "care"), ("comes", "next")))
FOLLOWING = frozenset("then afterwards after".split())  # "`x`, then I …", "`x` and afterwards we …"
MOST_TO_SUBJECT = 4  # words from there to the subject
STEPS = frozenset(("step", "thing", "move", "stop"))  # "the next step is `x`"

MOST_BLANK = 400  # characters of blank lines between code and the text above it
MOST_OPENING = 10  # words of a lead that opens with a form in -ing
MOST_TO_BEST = 5  # words from "is" to the superlative


def stance_of_code(prose: Prose, code: Code) -> str:
    """Return the stance of a span of code by the words around it.

    ANNOUNCED, REQUESTED, NEGATED, ASKED or SUPPOSED; QUOTED if nothing says that it is to run.
    """
    end = lead_end(prose.text, code.start) if code.block else code.start
    first, last = sentence(prose.text, max(end - 1, 0), end)
    lead = spans(prose.text[first:end])
    tail = [] if code.block else words(_tail(prose, code.end))
    if _is_against([word for word, _, _ in lead]):
        return NEGATED
    run_verbs = [span for span in lead if span[0] in RUNNING]
    if run_verbs:
        _, start, after = run_verbs[-1]
        verb_stance = judge_act(prose.text, (first, last), (first + start, first + after), first + after)
        if verb_stance in {ANNOUNCED, REQUESTED, NEGATED} or run_verbs[-1] is lead[-1]:
            return verb_stance
    lead_words = words(prose.masked[first:end])
    stance = _stance_by_lead(prose.masked[first:end], lead_words, tail)
    if stance == ANNOUNCED and _tail(prose, code.end).rstrip().endswith("?"):
        return ASKED
    return stance


def lead_end(text: str, start: int) -> int:
    """Return where the text before a block of code ends, above its fence and blank lines."""
    fence = max(text.rfind("\n", 0, start - 1), 0)
    first = max(fence - MOST_BLANK, 0)
    return first + len(text[first:fence].rstrip())


def _tail(prose: Prose, at: int) -> str:
    """Return the rest of the sentence after the code, with other code blanked."""
    _, last = sentence(prose.masked, at, at)
    return prose.masked[at:last]


def _is_against(lead: Sequence[str]) -> bool:
    """Return whether the last words before the code are "rather than", "instead of", "without" or the like."""
    last = "".join(lead[-1:])
    return last in AGAINST - AGAINST_IF_NEGATED or (last in AGAINST_IF_NEGATED and "".join(lead[-2:-1]) in NEGATIONS)


def _stance_by_lead(lead: str, lead_words: Sequence[str], tail: Sequence[str]) -> str:
    """Return the stance by the words before the code; if they are only openers, by the words after it."""
    if _denies(lead_words):
        return NEGATED
    if not set(lead_words) - OPENERS - {"a", "one", "simply"}:
        return _stance_by_tail(lead_words, tail)
    if CONDITIONS.intersection(lead_words):
        return SUPPOSED
    if lead.rstrip().endswith(":") and _goes_on(tail) and not RECALLING.intersection(lead_words):
        return ANNOUNCED
    if not _is_stated(tail) and (_is_labelled(lead) or _names_best(lead_words)):
        return ANNOUNCED
    is_means = lead_words[-1] in MEANS_WORDS and _is_announcing(lead_words[:-1])  # "I'm clearing it with `x`"
    is_meant = is_means or _is_chained(lead_words) or _opens_with_action(lead_words)
    return ANNOUNCED if is_meant else QUOTED


def _denies(lead: Sequence[str]) -> bool:
    """Return whether the first negation among the words denies something, unlike "don't forget"."""
    for at, word in enumerate(lead):
        if word in NEGATIONS or (word == "t" and at > 0 and lead[at - 1] in CONTRACTED):
            return "".join(lead[at + 1 : at + 2]) not in NOT_DENIED
    return False


def _stance_by_tail(lead: Sequence[str], tail: Sequence[str]) -> str:
    """Return the stance by the words after the code: "`x` should fix it", "`x` gets us going", "`x` please"."""
    first, second = (*tail[:2], "", "")[:2]
    if first in PLEASING:
        return REQUESTED
    helps = first in {"should", "will", "ought", "ll"} and HELPS.intersection(tail[1:3])
    gives = first in GIVES and second in RECIPIENTS
    serves = (first, second) in SERVING or (
        first == "and" and lead[-1:] in (["a"], ["one"])
    )  # "a `x` and it runs again"
    best = first == "is" and any(_is_superlative(word) for word in tail[1:MOST_TO_BEST])
    return ANNOUNCED if helps or gives or serves or best or _goes_on(tail) or _is_chained(lead) else QUOTED


def _goes_on(tail: Sequence[str]) -> bool:
    """Return whether the words after the code say what its speaker does next: "`x` and then I clone it again"."""
    start = 1 if tail[:1] == ["and"] else 0
    if not FOLLOWING.intersection(tail[start : start + 1]):
        return False
    at = next((at for at in range(start + 1, min(len(tail), MOST_TO_SUBJECT)) if tail[at] in {"i", "we"}), 0)
    following = "".join(tail[at + 1 : at + 2])
    return at > 0 and following not in PAST and not following.endswith("ed")


def _is_stated(tail: Sequence[str]) -> bool:
    """Return whether the words after the code state something about it: "The fix: `x` in `y` is now wrapped"."""
    end = next((at for at, word in enumerate(tail) if word in REASONS), len(tail))
    return not FINITE.isdisjoint(tail[:end])


def _is_superlative(word: str) -> bool:
    """Return whether a word looks like a superlative: "best", "simplest"."""
    return word == "best" or (word.endswith("est") and len(word) > 5 and word not in {"latest", "request"})


def _is_labelled(lead: str) -> bool:
    """Return whether a label comes before the code: "Simplest path: `x`", "Plan: 1) `x`", "I'm resetting: `x`"."""
    colon = lead.rfind(":")
    if colon < 0 or any(not (word.isdigit() or word in CHAINED | {"and"}) for word in words(lead[colon:])):
        return False
    clause = lead[:colon]
    label = words(clause[max(clause.rfind(mark) for mark in (",", ";", "\u2014", "(")) + 1 :])
    if not label or RECALLING.intersection(label) or TELLING.intersection(label) or WRITING.intersection(label):
        return False
    is_named_step = len(label) <= MOST_TO_BEST and any(word in LABELS or _is_superlative(word) for word in label)
    return is_named_step or _is_announcing(label)


def _is_announcing(lead: Sequence[str]) -> bool:
    """Return whether the words say that somebody acts or is about to: "I'm switching it off", "I'll clear it"."""
    if any(word in PAST or (word.endswith("ed") and len(word) > 4) for word in lead[:3]):
        return False
    is_intended = SUBJECTS.intersection(lead) and INTENTIONS.intersection(lead)
    pairs = zip(lead, lead[1:], strict=False)  # noqa: RUF007 - itertools is not free
    is_doing = any(first in BEING and second.endswith("ing") for first, second in pairs)
    return bool(is_intended or (is_doing and SUBJECTS.intersection(lead)) or _opens_with_action(lead))


def _opens_with_action(lead: Sequence[str]) -> bool:
    """Return whether the words open with an action in -ing: "Going with `x`", "Clearing the cache via `x`"."""
    first = next((word for word in lead if word not in OPENERS), "")
    is_action = first.endswith("ing") and len(first) > 4 and first not in LOOKING | TELLING | WRITING
    return (is_action and len(lead) <= MOST_OPENING) or lead[:2] == ["time", "for"]


def _names_best(lead: Sequence[str]) -> bool:
    """Return whether the words are "the cleanest fix is", "next step is" or the like."""
    is_step = "next" in lead and not STEPS.isdisjoint(lead[-2:])
    return lead[-1:] == ["is"] and (is_step or any(_is_superlative(word) for word in lead))


def _is_chained(lead: Sequence[str]) -> bool:
    """Return whether the code is a step in a chain: "I'll copy the rows and then `x`", "then `x`, and re-import"."""
    if lead[-1:] not in [[word] for word in CHAINED]:
        return False
    return set(lead) <= OPENERS | CHAINED | {"after", "that"} or _is_announcing(lead)
