"""Drafting a trigger and its cases from a sentence such as `Never run prisma migrate reset on production`.

The draft is a proposal for a person to correct. It is made from the command in the sentence, or else from its verb and
object, with near misses derived from them: an `act` clause if both belong to known classes, or else a phrase. Words
that are not recognised are left out. English only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from deia.commons.source_files.slugs import slug
from deia.fast_json import Json
from deia.records import Record
from deia.tables import Tables
from deia.text import one_line, shorten, words
from deia.watch.authoring.act_drafts import KnownAct, WordClasses, known_act
from deia.watch.clauses.folder_signs import SIGNS
from deia.watch.prose.phrases import BETWEEN
from deia.watch.shell.parse import parse_commands

MOST_CHARS = 400  # of a sentence that are read
TABLES = Tables(__file__)
RUN = TABLES.words("run")
PROGRAMS = TABLES.words("programs")
STOPS = TABLES.words("stops")
OPENINGS = TABLES.phrases("openings")
BEFORE_VERB = TABLES.words("before verb")
MODALS = TABLES.words("modals")
LY_VERBS = TABLES.words("ly verbs")
SILENT_E = TABLES.words("silent e")
PRODUCTION = frozenset(("production", "prod", "live"))
GRAVE = TABLES.words("grave")
STRICT = frozenset(("never", "not", "don", "dont", "must"))
OBJECT_WORDS = 3
REASON = "What happened, and what to do instead"
PLACES = frozenset(("on", "in", "against", "to", "at"))
EFFECTS = TABLES.words("effects")
NO_ACTS = TABLES.words("no acts")
DOUBLED_L = frozenset(("cancell", "labell", "modell", "travell"))
NAMED_ACTS = TABLES.pairs("named acts")
DETERMINERS = TABLES.words("determiners")
NO_CLASSES = WordClasses()

Cases = tuple[Json, ...]  # as their file holds them: a text, or a mapping with turns


class Proposal(Record):
    """A draft of a trigger, its cases in the form of their file, and the topic whose file suits them."""

    trigger: Mapping[str, Any]
    fires: Cases
    silent: Cases
    topic: str


class Act(Record):
    """The act that a sentence is about: a command line, or a verb with its object."""

    command: str = ""
    verb: str = ""
    object: str = ""
    known: KnownAct | None = None  # if verb and object belong to classes

    @property
    def verbs(self) -> list[str]:
        """The verbs: several if they are alternatives."""
        return self.verb.strip("{}").split("|")

    @property
    def clause(self) -> dict[str, Json]:
        """The clause that matches it."""
        if self.command:
            return {"command": _template(self.command)}
        return {"act": self.known.clause} if self.known else {"phrase": f"{self.verb} … {self.object}"}


def propose(
    sentence: str, *, documents: Sequence[str], today: str, classes: WordClasses = NO_CLASSES
) -> Proposal | None:
    """Return a draft for a sentence, or None if it contains neither a command nor a verb with an object."""
    text = one_line(sentence)[:MOST_CHARS].strip()
    act = _act(text)
    padded_text = f" {' '.join(words(text))} "
    names = (name for name in NAMED_ACTS if f" {' '.join(words(name))} " in padded_text and not act.command)
    # A command, with its alternatives, that does an act which has a name.
    named_command = NAMED_ACTS.get(next(names, ""), "")
    if not (act.command or act.object or named_command):
        return None
    if not act.command and act.object:
        act = act.but(known=known_act(act.verbs, act.object.split(), classes))
    if named_command and not act.known:
        act = Act(command=_spellings(named_command)[0])
    context = _context(text, act)
    is_grave = bool(GRAVE.intersection(words(text)))
    is_strict = bool(STRICT.intersection(words(text)[:3]))
    urgency = "critical" if is_grave and is_strict else "high" if is_grave or is_strict else "medium"
    clauses: list[Json] = [{"command": named_command}] if named_command else []  # the command that does it
    clauses += [] if named_command and act.command else [act.clause]
    trigger: dict[str, Any] = {
        "id": slug(" ".join([act.command or f"{act.verb} {act.object}", *context[:1]])),
        "title": shorten(text.rstrip("."), 100),
        "status": "experimental",
        "urgency": urgency,
        "action": drafted_action(urgency, has_command=bool(act.command)),
        "message": f"{text.rstrip('.')}.",
        "documents": [{"id": document, "mode": "full_context", "reason": REASON} for document in documents],
        "when": {"any": clauses},
        **({"context": list(context)} if context else {}),
        "since": today,
    }  # fmt: skip
    fires, silent = _command_cases(act.command, context) if act.command else _phrase_cases(act, context)
    others = [command for command in _spellings(named_command) if command != act.command]
    fires = (*(_tool_case(command, _context_turns(context)) for command in others), *fires)
    program = words(_template(act.command).split()[0])[:1] if act.command else words(act.object)[-1:]
    topic = slug("".join(program) or "".join(context[:1]) or "lessons")
    return Proposal(trigger=trigger, fires=fires, silent=silent, topic=topic)


def drafted_action(urgency: str, *, has_command: bool) -> str:
    """Return the action of a draft: hold for a critical command, warn for anything else critical or high, or note."""
    if urgency == "critical" and has_command:
        return "hold"
    return "warn" if urgency in {"critical", "high"} else "note"


# --- what the sentence is about ---


def _act(text: str) -> Act:
    text = without_effect(text)
    quoted = next((part.strip() for part in text.split("`")[1::2] if _is_command(part)), "")
    command = quoted or _plain_command(" ".join(_from_verb(text))) or _plain_command(text)
    if command:
        return Act(command=command)
    passive = _passive(text)
    if passive:
        return passive
    tokens = _from_verb(text)
    verbs = _verbs(tokens)
    following = words(" ".join(_until_stop(tokens[2 * len(verbs) - 1 :]))) if verbs else []
    object_words = [word for word in following if word not in BETWEEN][:OBJECT_WORDS]
    if object_words:
        object_words[-1] = _singular(object_words[-1])
    verb = verbs[0] if len(verbs) == 1 else "{" + "|".join(verbs) + "}"
    return Act(verb=verb if verbs else "", object=" ".join(object_words))


def _spellings(command: str) -> list[str]:
    """Return a command once for each of the alternatives in its braces; an empty list for an empty text."""
    start, _, rest = command.partition("{")
    inside, _, end = rest.partition("}")
    return [start + word + end for word in inside.split("|")] if command else []


def without_effect(text: str) -> str:
    """Return a sentence up to its effect: `Running jobctl purge` of `Running jobctl purge deletes all jobs`."""
    tokens = text.split()
    bare_words = [word.lower().strip(",.:;!") for word in tokens]
    first = "".join(bare_words[:1])
    if not (names_by_verb(first) or first in PROGRAMS):  # it does not begin with an act
        return text
    following = [*bare_words[1:], ""]
    for at, word in enumerate(bare_words):
        is_verb = word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        if at > 1 and (word in EFFECTS or (is_verb and following[at] in DETERMINERS)):
            return " ".join(tokens[:at])
    return text


def names_by_verb(word: str) -> bool:
    """Return whether the first word of a sentence is a verb in -ing: `Restarting the queue`."""
    return len(word) > 5 and word.endswith("ing") and word.isalpha() and word not in NO_ACTS


def _is_command(text: str) -> bool:
    return any(command.program and _is_program_name(command.program) for command in parse_commands(text.strip())[:1])


def _is_program_name(word: str) -> bool:
    return bool(word) and all(char.isalnum() or char in "-_.:/" for char in word)


def _plain_command(text: str) -> str:
    """Return the words from a program's name up to the first word of ordinary prose, or ""."""
    tokens = text.rstrip(".!").replace(",", " , ").split()
    for at, word in enumerate(tokens):
        bare = word.strip("\"'")
        follows_run = at > 0 and tokens[at - 1].lower() in RUN and at + 1 < len(tokens) and bare.lower() not in BETWEEN
        if bare in PROGRAMS or (follows_run and _is_program_name(bare) and bare.islower()):
            command = " ".join(token.strip("\"'") for token in [bare, *_until_article(tokens[at + 1 :])])
            if _is_command(command) and (" " in command or bare in PROGRAMS):
                return command
    return ""


def _until_stop(tokens: Sequence[str]) -> list[str]:
    end = next((at for at, word in enumerate(tokens) if word.lower() in STOPS or word == ","), len(tokens))
    return list(tokens[:end])


def _until_article(tokens: Sequence[str]) -> list[str]:
    """Return the words of a command within prose, up to an article or preposition or a comma."""
    before_stop = _until_stop(tokens)
    ends = (at for at, word in enumerate(before_stop) if word.lower() in BETWEEN and word != "all")
    return before_stop[: next(ends, len(before_stop))]


def _from_verb(text: str) -> list[str]:
    """Return the words from the verb on, without places, times, openings, prohibitions and adverbs before it."""
    rest, before = _after_place(text), ""
    while rest != before:
        before = rest
        rest = _after_opening(rest)
        first, _, after = rest.partition(" ")
        second = after.partition(" ")[0].lower()
        word = first.lower().strip(",.:;!")
        is_adverb = word.endswith("ly") and len(word) > 4 and word not in LY_VERBS
        is_stop = word == "stop" and second.endswith("ing")
        if word in BEFORE_VERB or is_adverb or is_stop or (word == "do" and second in ("not", "never")):
            rest = after.lstrip()
    return rest.replace(",", " , ").split()


def _after_place(text: str) -> str:
    """Return the text without a place, time or condition before it: `In production, never …`, `If tests fail, …`."""
    plain = text.replace("\u2019", "'")
    tokens = plain.split()
    if not tokens or tokens[0].lower() not in STOPS | {"in", "if"}:
        return plain
    if "," in plain and plain.lower().split(",", 1)[0].split()[:1] != ["before"]:
        return plain.split(",", 1)[1].strip()
    at = next((at for at, word in enumerate(tokens) if word.lower() in ("never", "don't", "do", "always")), 0)
    return " ".join(tokens[at:])


def _passive(text: str) -> Act | None:
    """Return the act of a passive sentence such as `The billing worker must not be restarted`, or None."""
    tokens = _after_place(text).rstrip(".!").split()
    lowered = [token.lower() for token in tokens]
    modal_at = next((at for at, word in enumerate(lowered) if word in MODALS), 0)
    be_at = next((at for at in range(modal_at + 1, min(modal_at + 4, len(tokens))) if lowered[at] == "be"), 0)
    participle = "".join(words(tokens[be_at + 1])[:1]) if modal_at and 0 < be_at < len(tokens) - 1 else ""
    subject = [word for word in words(" ".join(tokens[:modal_at])) if word not in BETWEEN and word not in BEFORE_VERB]
    if not participle.endswith("ed") or not subject:
        return None
    *modifiers, noun = subject[-OBJECT_WORDS:]
    return Act(verb=_base(participle[:-2] + "ing"), object=" ".join([*modifiers, _singular(noun)]))


def _after_opening(text: str) -> str:
    """Return the text without its opening: `Never`, `Don't`, `Be careful when you`."""
    lowered = text.lower().replace("\u2019", "'")
    for opening in sorted(OPENINGS, key=len, reverse=True):
        if lowered.startswith(opening + " "):
            return text[len(opening) + 1 :]
    return text


def _verbs(tokens: Sequence[str]) -> list[str]:
    """Return the base form of the verb, or of several verbs joined by `or` or `and`."""
    verbs: list[str] = []
    at = 0
    while at < len(tokens) and (word := "".join(words(tokens[at])[:1])):
        verbs.append(_base(word))
        if at + 2 >= len(tokens) or tokens[at + 1].lower() not in ("or", "and") or len(verbs) > OBJECT_WORDS:
            break
        at += 2
    return verbs


def _base(word: str) -> str:
    """Return the base form of a verb that may end in -ing."""
    if not word.endswith("ing") or len(word) < 6:
        return word
    stem = word[:-3]
    if stem in SILENT_E:
        return stem + "e"
    doubled = stem[-1] == stem[-2] and (stem[-1] not in "lsz" or stem in DOUBLED_L)
    return stem[:-1] if doubled else stem


def _singular(word: str) -> str:
    """Return a noun in the singular, since the compiler adds the plural."""
    if not word.endswith("s") or len(word) < 4 or word.endswith(("ss", "us", "is", "dns")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zes")) else word[:-1]


def _context(text: str, act: Act) -> tuple[str, ...]:
    """Return the platforms or stage in which the sentence places the act, unless the act itself names them."""
    act_words = {*words(act.command), *words(act.object)}
    sentence_words = words(text)
    if PRODUCTION.intersection(word for before, word in pairwise(sentence_words) if before in PLACES) - act_words:
        return ("production", "prod")
    platforms = [word for word in sentence_words if word in SIGNS and word not in act_words]
    return tuple(dict.fromkeys(platforms))[:2]


def _template(command: str) -> str:
    """Return a command as a clause: what runs behind `npx` and the like, with special characters escaped."""
    parsed = parse_commands(command)[-1:]
    text = " ".join([parsed[0].program, *parsed[0].arguments]) if parsed else command
    for mark in "\\{}|":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


# --- cases ---


def _command_cases(command: str, context: Sequence[str]) -> tuple[Cases, Cases]:
    before = _context_turns(context)
    runs = [_tool_case(line, before) for line in (command, f"cd app && {command}")]
    mentions = (f"don't run `{command}`", f"what does `{command}` do?", f"someone ran `{command}` last year")
    noted = f'git commit -m "docs: never {command.replace(chr(34), "")}"'
    harmless = (f"echo {command!r}", noted, f"{command} --help", f"{command} --dry-run")
    silent = [_user_case(text, before) for text in mentions] + [_tool_case(line, before) for line in harmless]
    return (*runs, _user_case(f"I'll run `{command}` now", before)), (
        *silent,
        *((_tool_case(command, []),) if context else ()),
    )


def _phrase_cases(act: Act, context: Sequence[str]) -> tuple[Cases, Cases]:
    before = _context_turns(context)
    verb, thing = (act.known.verb, act.known.object) if act.known else (act.verbs[0], act.object)
    act_text = f"{verb} the {thing}"
    fires = [f"I'm going to {act_text}", f"please {act_text}"]
    mentions = [*act.known.silent] if act.known else []
    mentions += [f"don't {act_text}", f"what happens if I {act_text}?", f"someone decided to {act_text} last year"]
    silent = [_user_case(text, before) for text in (*mentions, f"```\n{act_text}\n```")]
    silent += [
        _tool_case(f"grep -rn {act_text!r} docs", before),
        _user_case(f"do a dry run: {act_text}", before),
        *((_user_case(f"I'm going to {act_text}", []),) if context else ()),
    ]
    return tuple(_user_case(text, before) for text in (act.known.fires if act.known else fires)), tuple(silent)


def _context_turns(context: Sequence[str]) -> list[Json]:
    return [{"role": "user", "text": f"this is about {context[0]}"}] if context else []


def _tool_case(command: str, before: Sequence[Json]) -> Json:
    return {"turns": [*before, {"role": "tool_call", "tool": "Bash", "tool_input": {"command": command}}]}


def _user_case(text: str, before: Sequence[Json]) -> Json:
    return {"turns": [*before, {"role": "user", "text": text}]} if before else text
