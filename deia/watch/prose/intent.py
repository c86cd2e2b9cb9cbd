"""Acts that are planned, ordered or under way by the form of their sentence: "the plan is to wipe it", "just drop it".

Refuses what has a subject of its own or a question mark, and what only names the act: "deleting it is dangerous".
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.prose.stance_names import Act

OPENERS = frozenset(  # what may stand before an order: "ok so just delete it"
    "and so but hey hi ok okay then just please pls plz simply now also yes yeah yep right alright well next first"
    " finally lol ugh yolo go ahead".split()
)
PAST = frozenset(
    "began blew broke brought built chose did drew forgot froze gave went kept lost made overwrote ran redid rewrote"
    " sent threw took tore undid wrote left found begun blown broken chosen done drawn forgotten frozen given gone"
    " overwritten redone rewritten taken thrown torn undone written".split()
)
BASE_FORMS = frozenset(("shred", "embed", "seed", "feed", "need", "proceed", "shed"))  # end like a past tense
BEST = frozenset(("best", "plan", "idea", "step", "option", "fix", "solution", "way"))
ATTEMPTS = ("let me", "let me just", "let us", "let s", "lets", "i ll", "we ll", "going to")  # … try wiping it
DONE = frozenset(  # said right after an act that is over; also in languages whose other words are not read
    "completed complete done succeeded successful successfully finished failed worked blocked rejected refused"
    " realizado conclu\u00eddo concluido feito exitoso completado r\u00e9ussi termin\u00e9 effectu\u00e9 erfolgreich"
    " abgeschlossen".split()
)
BEING_AT = (("i", "m"), ("i", "am"), ("we", "re"), ("we", "are"))
OPENING_DOING = (("on", "to"), ("now", "on", "to"), ("moving", "on", "to"), ("off", "to"), ("back", "to"))
NOT_DOING = frozenset(
    "considering thinking wondering avoiding preventing regarding assuming supposing according depending".split()
)
REASONS = frozenset("since because so as and to before then but while for that which until after when".split())
# Of a sentence whose subject is the act: "deleting files is dangerous", "skipping hooks hides errors".
FINITE = frozenset(
    "is are was were can could may might must should will would has have had does do did means requires needs takes"
    " breaks causes hides makes leaves removes leads gives costs works fails failed isn doesn won shouldn".split()
)

# Verbs that say that a command after them is meant to run, in a few languages.
RUNS = frozenset(
    "run running rerun execute executing exec type issue invoke launch"
    " ejecutar ejecuta ejecuto correr corro rodar rodo executar executo executa lancer lance executer"
    " ausf\u00fchren ausf\u00fchre starte eseguire eseguo lanciare lancio".split()
)
# Where somebody begins to say what he will do: a denial before it is of something else ("since nobody uses it I'll …"),
# unless it is of his saying or thinking so ("I don't think I'll …").
RESOLVING = (
    " i'll ", " i will ", " i'm ", " i am ", " we'll ", " we will ", " we're ", " we are ", " let me ", " let's ",
)  # fmt: skip
OPINIONS = frozenset(
    "think thinking thought sure believe certain way convinced say said saying mean promise like see know guess suppose"
    " expect claim tell told mention where when if what how why until unless because".split()
)
CONCLUDING = frozenset(("so", "then", "but", "and"))


def is_plan(act: Act) -> bool:
    """Hear "the simplest thing is to wipe it", "the plan is to start over", "let me try wiping it", for any reason."""
    if act.verb.endswith("ing") and act.before[-1:] == ("try",) and not act.question:
        return any(" ".join(act.before[:-1]).endswith(opening) for opening in ATTEMPTS)
    if act.question:
        return False
    led = act.before[:-2] if act.before[-2:] == ("is", "to") else ()
    if act.mark == ":" and not set(act.before) - OPENERS:  # "simplest fix: wipe it"
        led = act.opening[: len(act.opening) - 1 - len(act.before)]
    return any(word in BEST or (word.endswith("est") and len(word) > 4) for word in led)


def is_order(act: Act) -> bool:
    """Say whether an act opens its sentence as an order does: "just delete it, nobody needs it", "ok, drop it"."""
    before = act.opening[:-1]
    if act.question or act.aside or not set(before) <= OPENERS or act.verb in PAST:
        return False
    return not act.verb.endswith(("ed", "ing", "s")) or act.verb in BASE_FORMS


def is_under_way(act: Act) -> bool:
    """Hear "Skipping the hook, it only complains", "On to dropping the schema"; not "Deleting files is dangerous"."""
    opens = act.opening[:-1] in OPENING_DOING or not set(act.opening[:-1]) - OPENERS or _says_so(act.before)
    if not opens or act.question or not act.verb.endswith("ing") or act.verb in NOT_DOING:
        return False
    return not is_subject(act) and DONE.isdisjoint(act.following) and REASONS.isdisjoint(act.after_verb)


def _says_so(before: Sequence[str]) -> bool:
    """Hear "I'm", "we are now just" and their like, with nothing before them in the clause."""
    return before[:2] in BEING_AT and not set(before[2:]) - OPENERS


def is_subject(act: Act) -> bool:
    """Hear that something is said of an act: "deleting files is dangerous", "skipping hooks hides errors"."""
    rest = act.said[len(act.opening) :]
    end = next((at for at, word in enumerate(rest) if at and word in REASONS), len(rest))
    return not FINITE.isdisjoint(rest[:end])


def resolving_at(clause: str, cut: int) -> int:
    """Give where in the words before an act somebody begins to say what he will do, or -1."""
    plain = clause.lower().replace("\u2019", "'")
    at = max(plain.rfind(form, cut + 2) for form in RESOLVING)
    if at < 0 or len(plain) != len(clause):
        return -1
    led = words(clause[cut + 1 : at])
    return -1 if not led or (led[-1] not in CONCLUDING and OPINIONS.intersection(led[-3:])) else at
