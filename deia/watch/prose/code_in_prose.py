"""What a sentence makes of the code in it: whether it says that the code is about to run, or only shows it.

"Simplest path: `x`", "I'm clearing it with `x`", "then `x` and re-import", "`x` gets us a clean state" mean to run it;
"`x` discards everything", "use this rather than `x`", "the error came from `x`" do not. Refuses to guess: code of which
nothing says that it is meant is quoted.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import spans, words
from deia.watch.prose.intent import BEST, FINITE, OPENERS, PAST, REASONS, RUNS
from deia.watch.prose.regions import sentence
from deia.watch.prose.stance import (
    CONTRACTED,
    INTENTIONS,
    NEGATIONS,
    NOT_NEGATED,
    SUBJECTS,
    TELLING,
    WRITING,
    judge_act,
)
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, QUOTED, REQUESTED, SUPPOSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.prose.regions import Code, Prose

# Verbs that say that the code after them is meant to run.
RUNNING = RUNS | frozenset("do doing try use call start go proceed ll will commit push".split())
MOST_BLANK = 400  # characters of blank lines between code and what leads up to it
# What stands right before code that is not to run: "rather than `x`", "instead of `x`".
AGAINST = frozenset("than of not never without avoid unlike vs no nor".split())
OF = frozenset(("of",))  # after one of these it is against: "instead of"; else it is not: "a round of"
LABELS = BEST | frozenset("next step steps then now finally proposal workaround command approach after that".split())
CHAINED = frozenset("then next first finally now second third lastly followed by".split())
MEANS = frozenset("with via by using through".split())  # of an act that is being announced
BEING = frozenset(("m", "am", "re", "are"))
UNTIL = frozenset("if when whenever unless would could might d suppose imagine should".split())
# Openings in -ing that are about something, and do nothing to it.
LOOKING = frozenset(
    "looking reading seeing checking reviewing inspecting mentioning documenting quoting noting describing explaining"
    " showing printing searching grepping logging considering discussing warning avoiding according depending regarding"
    " concerning following during nothing anything something everything assuming knowing meaning including missing"
    " failing existing testing comparing listing finding blocking forbidding preventing replacing wrapping parsing"
    " matching asking telling thinking".split()
)
# What a label that only names or recalls has in it.
RECALLING = frozenset(
    "error errors output log logs example examples eg warning docs doc documentation says said history was were did ran"
    " failed reason cause usage syntax forbidden blocked denied dangerous bad wrong saw seen note notes caught contains"
    " includes included like means shows showed reported ever had has have been is".split()
)
HELPS = frozenset("fix do clear solve sort unblock help work get give bring resolve take cure settle clean".split())
GIVES = frozenset("gets gives buys lets brings leaves saves puts".split())
RECIPIENTS = frozenset(("us", "me", "you"))
PLEASING = frozenset("please pls plz now then again first".split())
MOST_OPENING = 10  # words of a lead that opens in -ing
MOST_TO_BEST = 5  # words from "is" to the superlative


def stance_of_code(prose: Prose, code: Code) -> str:
    """Give the stance of a span of code: announced or asked for by the words around it, or against it, or quoted."""
    end = lead_end(prose.text, code.start) if code.block else code.start
    first, last = sentence(prose.text, max(end - 1, 0), end)
    lead = spans(prose.text[first:end])
    tail = [] if code.block else words(_tail(prose, code.end))
    if _is_against([word for word, _, _ in lead]):
        return NEGATED
    verbs = [span for span in lead if span[0] in RUNNING]
    if verbs:
        _, start, after = verbs[-1]
        judged = judge_act(prose.text, (first, last), (first + start, first + after), first + after)
        if judged in {ANNOUNCED, REQUESTED, NEGATED} or verbs[-1] is lead[-1]:
            return judged
    said = words(prose.masked[first:end])
    stance = _of_words(prose.masked[first:end], said, tail)
    if stance == ANNOUNCED and _tail(prose, code.end).rstrip().endswith("?"):
        return ASKED
    return stance


def lead_end(text: str, start: int) -> int:
    """Give where the text before a block of code ends: above its fence and blank lines."""
    fence = max(text.rfind("\n", 0, start - 1), 0)
    first = max(fence - MOST_BLANK, 0)
    return first + len(text[first:fence].rstrip())


def _tail(prose: Prose, at: int) -> str:
    """Give the rest of the sentence that code stands in, with other code blanked."""
    _, last = sentence(prose.masked, at, at)
    return prose.masked[at:last]


def _is_against(lead: Sequence[str]) -> bool:
    before = "".join(lead[-1:])
    return before in AGAINST - OF or (before in OF and "".join(lead[-2:-1]) in NEGATIONS)


def _of_words(lead: str, said: Sequence[str], tail: Sequence[str]) -> str:
    """Give the stance by the words before code, and after it where it opens its sentence."""
    if _denies(said):
        return NEGATED
    if not set(said) - OPENERS - {"a", "one", "simply"}:
        return _of_tail(said, tail)
    if UNTIL.intersection(said):
        return SUPPOSED
    if not _is_stated(tail) and (_labelled(lead) or _is_best(said)):
        return ANNOUNCED
    meant = _chained(said) or _by_means(said) or _opening(said)
    return ANNOUNCED if meant else QUOTED


def _denies(said: Sequence[str]) -> bool:
    for at, word in enumerate(said):
        if word in NEGATIONS or (word == "t" and at > 0 and said[at - 1] in CONTRACTED):
            return "".join(said[at + 1 : at + 2]) not in NOT_NEGATED
    return False


def _of_tail(said: Sequence[str], tail: Sequence[str]) -> str:
    """Hear "`x` should fix it", "`x` gets us going", "`x` it is", "`x` please", "then `x`"."""
    first, second = (*tail[:2], "", "")[:2]
    if first in PLEASING:
        return REQUESTED
    helps = first in {"should", "will", "ought", "ll"} and HELPS.intersection(tail[1:3])
    gives = first in GIVES and second in RECIPIENTS
    chosen = (first, second) in {("it", "is"), ("does", "it"), ("does", "the")}
    best = first == "is" and any(_is_superlative(word) for word in tail[1:MOST_TO_BEST])
    return ANNOUNCED if helps or gives or chosen or best or _chained(said) else QUOTED


def _is_stated(tail: Sequence[str]) -> bool:
    """Hear that something is said of the code: "The fix: `x` in `y` is now wrapped"."""
    end = next((at for at, word in enumerate(tail) if word in REASONS), len(tail))
    return not FINITE.isdisjoint(tail[:end])


def _is_superlative(word: str) -> bool:
    return word == "best" or (word.endswith("est") and len(word) > 5 and word not in {"latest", "request"})


def _labelled(lead: str) -> bool:
    """Hear "Simplest path: `x`", "Plan: 1) `x` 2) `y`", "Reverting everything: `x`", "I'm switching it off: `x`"."""
    colon = lead.rfind(":")
    if colon < 0 or any(not (word.isdigit() or word in CHAINED | {"and"}) for word in words(lead[colon:])):
        return False
    clause = lead[:colon]
    label = words(clause[max(clause.rfind(mark) for mark in (",", ";", "\u2014", "(")) + 1 :])
    if not label or RECALLING.intersection(label) or TELLING.intersection(label) or WRITING.intersection(label):
        return False
    named = len(label) <= MOST_TO_BEST and any(word in LABELS or _is_superlative(word) for word in label)
    return named or _is_announcing(label)


def _is_announcing(said: Sequence[str]) -> bool:
    """Hear that somebody does or is about to do something: "I'm switching it off", "I'll clear it", "resetting it"."""
    if any(word in PAST or (word.endswith("ed") and len(word) > 4) for word in said[:3]):
        return False
    spoken = SUBJECTS.intersection(said) and INTENTIONS.intersection(said)
    doing = any(one in BEING and two.endswith("ing") for one, two in zip(said, said[1:], strict=False))  # noqa: RUF007
    return bool(spoken or (doing and SUBJECTS.intersection(said)) or _opening(said))


def _opening(said: Sequence[str]) -> bool:
    """Hear what opens in -ing and is not about looking: "Going with `x`", "Clearing the cache via `x`"."""
    first = next((word for word in said if word not in OPENERS), "")
    opens = first.endswith("ing") and len(first) > 4 and first not in LOOKING | TELLING | WRITING
    return (opens and len(said) <= MOST_OPENING) or said[:2] == ["time", "for"]


def _is_best(said: Sequence[str]) -> bool:
    """Hear "the cleanest fix is `x`"."""
    return said[-1:] == ["is"] and any(_is_superlative(word) for word in said)


def _chained(said: Sequence[str]) -> bool:
    """Hear "I'll copy the rows and then `x`", "then `x`, and re-import"."""
    if said[-1:] not in [[word] for word in CHAINED]:
        return False
    return set(said) <= OPENERS | CHAINED | {"after", "that"} or _is_announcing(said)


def _by_means(said: Sequence[str]) -> bool:
    """Hear "I'm clearing it with `x`", "we'll get rid of it via `x`"."""
    return bool(said) and said[-1] in MEANS and _is_announcing(said[:-1])
