"""Acts that are intended: announced, requested, planned, ordered or under way, by the form of their sentence.

"I'll delete it", "the plan is to wipe it", "just drop it". Not counted is an act that is only named, as in "deleting it
is dangerous".
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.text import words
from deia.watch.prose.stance_names import ANNOUNCED, REQUESTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.prose.stance_names import Act

# Tables of lower-case words; `intent.txt` names the place at which each is looked for.
TABLES = Tables(__file__)
OPENERS = TABLES.words("openers")
PAST = TABLES.words("past")
BASE_FORMS = TABLES.words("base forms")
BEST = TABLES.words("best")
ATTEMPTS = TABLES.phrases("attempts")
DONE = TABLES.words("done")
BEING_AT = tuple(tuple(phrase.split()) for phrase in TABLES.phrases("being at"))
OPENING_DOING = tuple(tuple(phrase.split()) for phrase in TABLES.phrases("opening doing"))
NOT_DOING = TABLES.words("not doing")
REASONS = TABLES.words("reasons")
FINITE = TABLES.words("finite")
RUNS = TABLES.words("runs")
# The start of what somebody says they will do. A denial before it denies something else ("since nobody uses it I'll
# …"), unless one of OPINIONS is right before it ("I don't think I'll …") and not followed by one of CONCLUDING.
RESOLUTIONS = (
    " i'll ", " i will ", " i'm ", " i am ", " we'll ", " we will ", " we're ", " we are ", " let me ", " let's ",
)  # fmt: skip
OPINIONS = TABLES.words("opinions")
CONCLUDING = frozenset(("so", "then", "but", "and"))
INTENTIONS = TABLES.words("intentions")
SUBJECTS = frozenset(("i", "we", "you", "let", "lets", "us", "me"))
ASKING_YOU = tuple(f"{phrase} " for phrase in TABLES.phrases("asking you"))
ASKING = tuple(
    f"{modal} {subject} " for modal in ("should", "shall", "can", "could", "may", "would", "will")
    for subject in SUBJECTS
)  # fmt: skip
WISHES = TABLES.words("wishes")
FILLERS = frozenset(("and", "so", "but", "hey", "hi", "ok", "okay", "then"))  # skipped at the start of a sentence
PASSIVE_AUXILIARIES = frozenset(("be", "get", "getting", "being", "is", "are"))  # "will be deleted"
WISHING = (("d", "rather"), ("would", "rather"))  # "I'd rather delete it" denies nothing


def is_plan(act: Act) -> bool:
    """Return whether an act is planned: "the plan is to start over", "fix: wipe it", "let me try wiping it"."""
    if act.verb.endswith("ing") and act.before[-1:] == ("try",) and not act.question:
        return any(" ".join(act.before[:-1]).endswith(opening) for opening in ATTEMPTS)
    if act.question:
        return False
    lead = act.before[:-2] if act.before[-2:] == ("is", "to") else ()
    if act.mark == ":" and not set(act.before) - OPENERS:  # "simplest fix: wipe it"
        lead = act.opening[: len(act.opening) - 1 - len(act.before)]
    return any(word in BEST or (word.endswith("est") and len(word) > 4) for word in lead)


def is_order(act: Act) -> bool:
    """Return whether an act opens its sentence as an order: "just delete it, nobody needs it", "ok, drop it"."""
    before = act.opening[:-1]
    if act.question or act.aside or not set(before) <= OPENERS or act.verb in PAST:
        return False
    return not act.verb.endswith(("ed", "ing", "s")) or act.verb in BASE_FORMS


def is_under_way(act: Act) -> bool:
    """Return whether an act is under way: "Skipping the hook, it only complains", "On to dropping the schema"."""
    # Nothing stands before the act in its clause but "I'm", "we are now just" or the like.
    is_progressive = act.before[:2] in BEING_AT and not set(act.before[2:]) - OPENERS
    opens = act.opening[:-1] in OPENING_DOING or not set(act.opening[:-1]) - OPENERS or is_progressive
    if not opens or act.question or not act.verb.endswith("ing") or act.verb in NOT_DOING:
        return False
    return not is_subject(act) and DONE.isdisjoint(act.following) and REASONS.isdisjoint(act.after_verb)


def is_subject(act: Act) -> bool:
    """Return whether the act is its sentence's subject: "deleting files is dangerous", "skipping it hides errors"."""
    following = act.sentence[len(act.opening) :]
    end = next((at for at, word in enumerate(following) if at and word in REASONS), len(following))
    return not FINITE.isdisjoint(following[:end])


def resolving_at(clause: str, cut: int) -> int:
    """Return the index in a clause at which somebody begins to say what they will do ("… I'll"), or -1.

    `cut` is the index of the mark before the clause that the act stands in. Something must stand between the two.
    """
    lowered = clause.lower().replace("\u2019", "'")
    at = max(lowered.rfind(resolution, cut + 2) for resolution in RESOLUTIONS)
    if at < 0 or len(lowered) != len(clause):
        return -1
    lead = words(clause[cut + 1 : at])
    return -1 if not lead or (lead[-1] not in CONCLUDING and OPINIONS.intersection(lead[-3:])) else at


def intended_stance(act: Act) -> str:
    """Return REQUESTED or ANNOUNCED for "please delete", "can you delete …?", "I'll delete", "going to delete"."""
    near = set(act.near)
    if act.verb.endswith(("ed", "s")) and act.verb not in BASE_FORMS and not PASSIVE_AUXILIARIES & near:
        return ""
    if _proposed(act):
        return REQUESTED
    if act.before[-2:] in WISHING:
        return ANNOUNCED
    is_intended = INTENTIONS & near or ("about", "to") in zip(act.near, act.near[1:], strict=False)
    if act.question or not is_intended or {"if", "when", "whenever", "would"} & near or _third_person(act.near):
        return ""
    return REQUESTED if {"please", "you"} & near else ANNOUNCED


def _proposed(act: Act) -> bool:
    """Return whether the act is proposed: "can you delete it?", "it would be great if you could delete it"."""
    if WISHES.intersection(act.near) and "you" in act.before[-2:] and {"can", "could", "would"} & set(act.near):
        return True
    return opens_with(act, ASKING_YOU) or (act.question and opens_with(act, ASKING))


def _third_person(near: Sequence[str]) -> bool:
    """Return whether something else acts, as in "the script will delete …", rather than "I", "we" or "you"."""
    if ("lets", "you") in set(zip(near, near[1:], strict=False)):  # noqa: RUF007 - itertools is not free
        return True
    modal = next((at for at, word in enumerate(near) if word in {"will", "must", "should", "needs", "wants"}), -1)
    return modal > 0 and not SUBJECTS.intersection(near[:modal])


def opens_with(act: Act, openings: tuple[str, ...]) -> bool:
    """Return whether the sentence, its leading fillers skipped, or the act's clause begins with an opening."""
    first = next((at for at, word in enumerate(act.opening) if word not in FILLERS), 0)
    return any(" ".join((*words, "")).startswith(openings) for words in (act.opening[first:], act.before))
