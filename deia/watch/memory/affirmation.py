"""Whether a turn says yes, and nothing else, to what the turn before it announced.

The module lists ways to say yes in several languages. An answer that hesitates, asks or adds a condition is no yes.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.memory.log import MOST_ANSWER

if TYPE_CHECKING:
    from deia.records import Turn

# Words that say yes on their own, unless a word of `BUT` is in the answer.
YES = frozenset(
    "yes yep yup yeah yea y approved confirmed agreed lgtm absolutely definitely certainly indeed affirmative aye"
    " s\u00ed dale adelante confirmo hazlo ja jo jawohl einverstanden oui ouais sim confirmado evet tamam"
    " \u0434\u0430 \u0430\u0433\u0430 \u043e\u043a".split()
)
# Words of scripts without spaces, and words that begin many other sentences: a yes only if they are the whole answer.
YES_WHOLE = frozenset(
    "si \u662f \u662f\u7684 \u597d \u597d\u7684 \u53ef\u4ee5 \u884c \u5bf9 \u55ef \u7ee7\u7eed \u306f\u3044"
    " \u304a\u9858\u3044\u3057\u307e\u3059 \u7d9a\u3051\u3066 \ub124 \uc608 \uadf8\ub798".split()
)
FILLERS = frozenset("please oh ah well and so ok okay great perfect bitte".split())
# Words that often begin other sentences: a yes only in an answer of a few words.
WEAK = frozenset(
    "ok okay k sure fine good great right alright proceed continue approve confirm bien bon gut klar genau gerne passt"
    " vale claro pode isso beleza tak ano da hai".split()
)
MOST_AFTER_WEAK = 3  # words
# Phrases that say yes.
YES_PHRASES = (
    ("go", "ahead"), ("go", "for", "it"), ("do", "it"), ("do", "that"), ("sounds", "good"), ("looks", "good"),
    ("go", "on"), ("carry", "on"), ("make", "it", "so"), ("of", "course"), ("please", "do"), ("all", "right"),
    ("d", "accord"), ("vas", "y"), ("mach", "das"), ("mach", "es"), ("leg", "los"), ("por", "supuesto"),
    ("pode", "fazer"), ("\u0434\u0435\u043b\u0430\u0439",),
    ("let", "s", "go"), ("lets", "go"), ("let", "s", "do", "it"),
)  # fmt: skip
SIGNS = ("\U0001f44d", "\u2705", "\U0001f680", "\U0001f44c", "\u2714")
# Words that turn a yes into something else.
BUT = frozenset(
    "no not don t dont never stop wait but however hold instead rather unless until first before after later without"
    " except only cancel abort skip nope nah if maybe perhaps why what how which when"
    " nein nicht kein aber warte erst nur pero espera primero n\u00e3o nao mas non pas mais attends"
    " \u043d\u0435 \u043d\u0435\u0442".split()
)
MARKS = " .!~\u3002\uff01\uff5e"
MOST_WORDS = 12
APPROVED_PLANS = frozenset(("exitplanmode", "exit_plan_mode"))  # tools that return only after the plan was approved


def affirms(turn: Turn) -> bool:
    """Return whether a turn says yes and nothing else: a short answer, or the approval of a plan."""
    if turn.role == "tool_result":
        if turn.failed:
            return False
        if turn.tool.lower() in APPROVED_PLANS:
            return True
    text = turn.text.strip()
    answer = words(text)
    if len(text) > MOST_ANSWER or len(answer) > MOST_WORDS or "?" in text or BUT.intersection(answer):
        return False
    if not answer or text.strip(MARKS).lower() in YES_WHOLE:
        return bool(answer) or text.startswith(SIGNS)
    first = "".join(answer[int(answer[0] in FILLERS) :][:1])
    if first in YES or any(_has_phrase(answer, phrase) for phrase in YES_PHRASES):
        return True
    return (answer[0] in WEAK or first in WEAK) and len(answer) <= MOST_AFTER_WEAK


def _has_phrase(answer: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(answer[at : at + size]) == phrase for at in range(3))
