"""From a sentence to a draft of a trigger and its cases: `Never run prisma migrate reset on production`.

A proposal for a person to correct: the command in the sentence, or else its verb and object, with near misses made from
them. Refuses to be clever: what it does not recognise it leaves out. Pure, and for English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from deia.commons.source_files.slugs import slug
from deia.records import Record
from deia.text import one_line, shorten, words
from deia.watch.clauses.folder_signs import SIGNS
from deia.watch.prose.phrases import BETWEEN
from deia.watch.shell.parse import parse_commands

MOST = 400  # characters of a sentence that are read
RUN = frozenset("run running execute executing use using type typing call calling invoke issue".split())
# Programs by which a sentence without backticks is seen to hold a command; words that are also plain English need a
# verb of running before them.
PROGRAMS = frozenset(
    "git npm npx pnpm yarn bun bunx pip pip3 uv poetry cargo terraform tofu pulumi kubectl helm docker"
    " docker-compose podman aws gcloud az gsutil psql mysql sqlite3 mongosh mongo redis-cli prisma drizzle-kit"
    " supabase firebase netlify vercel heroku flyctl wrangler railway alembic rails dropdb pg_restore pg_dump"
    " mysqladmin rm chmod chown dd mkfs curl wget ssh scp rsync systemctl ansible ansible-playbook gh crontab"
    " kill killall pkill iptables php artisan django-admin".split()
)
STOPS = frozenset(
    "on in at to against before after without unless when while if because since for during from into with and or but"
    " until as by twice again anymore yet now today manually".split()
)
OPENINGS = (
    "please never", "you must never", "we must never", "you should never", "never ever", "never", "do not ever",
    "do not", "don't ever", "don't", "dont", "must not", "should not", "avoid", "stop before you",
    "be careful when you", "be careful with", "be careful when", "warn me before you", "warn me before",
    "warn before", "warn when", "ask me before you", "ask before you", "ask before", "think before you",
    "before you", "always", "you should", "please", "make sure you", "make sure that you", "make sure to", "be sure to",
    "remember to", "remember not to", "try not to", "refrain from", "under no circumstances", "it is forbidden to",
    "you are not allowed to", "i don't want you to", "i do not want you to", "tell me before you", "warn me when you",
    "warn me if you", "confirm with me before you", "check with me before you", "think twice before you",
    "think twice before",
)  # fmt: skip
# What may stand before the verb and is none: who, whether, how.
BEFORE_VERB = frozenset(
    "never not ever no don't dont please always only just also simply really kindly we you i nobody everybody must"
    " mustn't shall should shouldn't may cannot can't can could won't will would to again ever and agents".split()
)
MODALS = frozenset("must should may can shall mustn't shouldn't cannot can't will".split())
LY_VERBS = frozenset("apply reapply reply supply rely multiply comply imply".split())
SILENT_E = frozenset(
    "delet remov wip purg migrat truncat creat recreat overwrit chang updat rotat renam mov merg rebas disabl"
    " enabl scal upgrad releas restor replac writ eras clos expos stor us invalidat revok downgrad scop cach".split()
)
PRODUCTION = frozenset(("production", "prod", "live"))
GRAVE = frozenset(
    "production prod live database drop destroy wipe irreversible lose lost erase truncate purge secrets".split()
)
STRICT = frozenset(("never", "not", "don", "dont", "must"))
OBJECT_WORDS = 3
REASON = "What happened, and what to do instead"
PLACES = frozenset(("on", "in", "against", "to", "at"))
# What an act does, as a lesson says it: there the act ends and its effect begins. Before a determiner any verb is seen
# by its ending alone: `jumbles the queue`.
EFFECTS = frozenset(
    "is are was were has can may will could would must should does deletes drops removes loses breaks kills wipes"
    " destroys resets locks blocks fails causes makes takes leaves needs requires stops creates duplicates truncates"
    " overwrites erases purges restarts invalidates revokes returns throws hides corrupts leaks exposes costs bypasses"
    " skips ignores disconnects sends triggers changes disables empties clears rewrites reverts discards orphans"
    " detaches interrupts aborts crashes hangs undoes voids charges prevents avoids helps fixes solves keeps".split()
)
# Words in -ing with which a sentence begins that names no act.
NO_ACTS = frozenset(
    "nothing something anything everything string missing existing billing pricing warning setting during according"
    " morning evening incoming outgoing remaining following pending meaning spring".split()
)
DOUBLED_L = frozenset(("cancell", "labell", "modell", "travell"))
DETERMINERS = frozenset(
    "the a an all every any each both no some this that these those its it your our their my everything everyone them"
    " half most".split()
)


class Proposal(Record):
    """A draft of a trigger, as the fields of its file, with cases as theirs, and the topic whose file they suit."""

    trigger: Mapping[str, Any]
    fires: tuple[Any, ...]
    silent: tuple[Any, ...]
    topic: str


class _Act(Record):
    """What the sentence is about: a command line, or a verb with its object."""

    command: str = ""
    verb: str = ""
    thing: str = ""


def propose(sentence: str, *, documents: Sequence[str], today: str) -> Proposal | None:
    """Give a draft for a sentence, or None where neither a command nor a verb with an object is seen in it."""
    text = one_line(sentence)[:MOST].strip()
    act = _act(text)
    if not act.command and not act.thing:
        return None
    context = _context(text, act)
    grave = bool(GRAVE.intersection(words(text)))
    strict = bool(STRICT.intersection(words(text)[:3]))
    urgency = "critical" if grave and strict else "high" if grave or strict else "medium"
    clause = {"command": _template(act.command)} if act.command else {"phrase": f"{act.verb} … {act.thing}"}
    trigger: dict[str, Any] = {
        "id": slug(" ".join([act.command or f"{act.verb} {act.thing}", *context[:1]])),
        "title": shorten(text.rstrip("."), 100),
        "status": "experimental",
        "urgency": urgency,
        "action": "hold" if urgency == "critical" and act.command else "warn" if urgency != "medium" else "note",
        "message": f"{text.rstrip('.')}.",
        "documents": [{"id": one, "mode": "full_context", "reason": REASON} for one in documents],
        "when": {"any": [clause]},
        **({"context": list(context)} if context else {}),
        "since": today,
    }  # fmt: skip
    fires, silent = _command_cases(act.command, context) if act.command else _phrase_cases(act, context)
    return Proposal(trigger=trigger, fires=fires, silent=silent, topic=_topic(act, context))


# --- what the sentence is about ---


def _act(text: str) -> _Act:
    text = without_effect(text)
    command = _quoted_command(text) or _plain_command(" ".join(_from_verb(text))) or _plain_command(text)
    if command:
        return _Act(command=command)
    passive = _passive(text)
    if passive:
        return passive
    rest = _from_verb(text)
    verbs = _verbs(rest)
    spoken = words(" ".join(_until_stop(rest[2 * len(verbs) - 1 :]))) if verbs else []
    thing = [word for word in spoken if word not in BETWEEN][:OBJECT_WORDS]
    if thing:
        thing[-1] = _singular(thing[-1])
    verb = verbs[0] if len(verbs) == 1 else "{" + "|".join(verbs) + "}"
    return _Act(verb=verb if verbs else "", thing=" ".join(thing))


def without_effect(text: str) -> str:
    """Give what a sentence says somebody does, without what comes of it: `Running jobctl purge deletes all jobs`."""
    spoken = text.split()
    bare = [word.lower().strip(",.:;!") for word in spoken]
    if not _names_an_act(bare):
        return text
    following = [*bare[1:], ""]
    for at, word in enumerate(bare):
        verb = word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        if at > 1 and (word in EFFECTS or (verb and following[at] in DETERMINERS)):
            return " ".join(spoken[:at])
    return text


def _names_an_act(spoken: Sequence[str]) -> bool:
    """Say whether a sentence begins with an act: a verb in -ing, or a program that it names."""
    first = spoken[0] if spoken else ""
    return names_by_verb(first) or first in PROGRAMS


def names_by_verb(word: str) -> bool:
    """Say whether a word with which a sentence begins is a verb in -ing: `Restarting the queue`."""
    return len(word) > 5 and word.endswith("ing") and word.isalpha() and word not in NO_ACTS


def _quoted_command(text: str) -> str:
    """Give the command in backticks, if what stands there is one."""
    parts = text.split("`")
    return next((part.strip() for part in parts[1::2] if _is_command(part)), "")


def _is_command(text: str) -> bool:
    return any(one.program and _sound(one.program) for one in parse_commands(text.strip())[:1])


def _sound(word: str) -> bool:
    return bool(word) and all(char.isalnum() or char in "-_.:/" for char in word)


def _plain_command(text: str) -> str:
    """Give the words from a program's name up to the first word of ordinary prose."""
    spoken = text.rstrip(".!").replace(",", " , ").split()
    for at, word in enumerate(spoken):
        bare = word.strip("\"'")
        asked = at > 0 and spoken[at - 1].lower() in RUN and at + 1 < len(spoken) and bare.lower() not in BETWEEN
        if bare in PROGRAMS or (asked and _sound(bare) and bare.islower()):
            found = " ".join(one.strip("\"'") for one in [bare, *_until_article(spoken[at + 1 :])])
            if _is_command(found) and (" " in found or bare in PROGRAMS):
                return found
    return ""


def _until_stop(spoken: Sequence[str]) -> list[str]:
    """Give the words up to the one with which something else begins."""
    end = next((at for at, one in enumerate(spoken) if one.lower() in STOPS or one == ","), len(spoken))
    return list(spoken[:end])


def _until_article(spoken: Sequence[str]) -> list[str]:
    """Give the words of a command that stands in prose: up to `on`, `the`, a comma."""
    words_of = _until_stop(spoken)
    end = next((at for at, one in enumerate(words_of) if one.lower() in BETWEEN and one != "all"), len(words_of))
    return words_of[:end]


def _from_verb(text: str) -> list[str]:
    """Give the words from the verb on: without where or when, openings, prohibitions and adverbs before it."""
    rest, before = _after_place(text), ""
    while rest != before:
        before = rest
        rest = _after_opening(rest)
        first, _, after = rest.partition(" ")
        second = after.partition(" ")[0].lower()
        word = first.lower().strip(",.:;!")
        adverb = word.endswith("ly") and len(word) > 4 and word not in LY_VERBS
        stop = word == "stop" and second.endswith("ing")
        if word in BEFORE_VERB or adverb or stop or (word == "do" and second in ("not", "never")):
            rest = after.lstrip()
    return rest.replace(",", " , ").split()


def _after_place(text: str) -> str:
    """Take off where or when: `In production, never …`, `If tests fail, …`."""
    plain = text.replace("\u2019", "'")
    spoken = plain.split()
    if not spoken or spoken[0].lower() not in STOPS | {"in", "if"}:
        return plain
    if "," in plain and plain.lower().split(",", 1)[0].split()[:1] != ["before"]:
        return plain.split(",", 1)[1].strip()
    at = next((at for at, word in enumerate(spoken) if word.lower() in ("never", "don't", "do", "always")), 0)
    return " ".join(spoken[at:])


def _passive(text: str) -> _Act | None:
    """Read `The billing worker must not be restarted`, the act standing behind what it is done to."""
    spoken = _after_place(text).rstrip(".!").split()
    lowered = [word.lower() for word in spoken]
    at = next((at for at, word in enumerate(lowered) if word in MODALS), 0)
    be = next((place for place in range(at + 1, min(at + 4, len(spoken))) if lowered[place] == "be"), 0)
    done = "".join(words(spoken[be + 1])[:1]) if at and 0 < be < len(spoken) - 1 else ""
    subject = [word for word in words(" ".join(spoken[:at])) if word not in BETWEEN and word not in BEFORE_VERB]
    if not done.endswith("ed") or not subject:
        return None
    thing = subject[-OBJECT_WORDS:]
    return _Act(verb=_base(done[:-2] + "ing"), thing=" ".join([*thing[:-1], _singular(thing[-1])]))


def _after_opening(text: str) -> str:
    """Take off how the sentence begins: `Never`, `Don't`, `Be careful when you`."""
    lowered = text.lower().replace("\u2019", "'")
    for opening in sorted(OPENINGS, key=len, reverse=True):
        if lowered.startswith(opening + " "):
            return text[len(opening) + 1 :]
    return text


def _verbs(rest: Sequence[str]) -> list[str]:
    """Give the verb in its base form; several, where they are joined by `or` or `and`."""
    found: list[str] = []
    at = 0
    while at < len(rest) and (word := "".join(words(rest[at])[:1])):
        found.append(_base(word))
        if at + 2 >= len(rest) or rest[at + 1].lower() not in ("or", "and") or len(found) > OBJECT_WORDS:
            break
        at += 2
    return found


def _base(word: str) -> str:
    """Give the base form of a verb that may end in -ing."""
    if not word.endswith("ing") or len(word) < 6:
        return word
    stem = word[:-3]
    if stem in SILENT_E:
        return stem + "e"
    doubled = stem[-1] == stem[-2] and (stem[-1] not in "lsz" or stem in DOUBLED_L)
    return stem[:-1] if doubled else stem


def _singular(word: str) -> str:
    """Give a noun as phrases are authored: the compiler adds the plural."""
    if not word.endswith("s") or len(word) < 4 or word.endswith(("ss", "us", "is", "dns")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zes")) else word[:-1]


def _context(text: str, act: _Act) -> tuple[str, ...]:
    """Give the platform or stage that the sentence sets the act in, where the act itself does not name it."""
    own = {*words(act.command), *words(act.thing)}
    spoken = words(text)
    if PRODUCTION.intersection(word for before, word in pairwise(spoken) if before in PLACES) - own:
        return ("production", "prod")
    named = [word for word in spoken if word in SIGNS and word not in own]
    return tuple(dict.fromkeys(named))[:2]


def _template(command: str) -> str:
    """Write a command as a clause: what runs, behind `npx` and the like, with marks of the template taken literally."""
    parsed = parse_commands(command)[-1:]
    text = " ".join([parsed[0].program, *parsed[0].arguments]) if parsed else command
    for mark in "\\{}|":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


def _topic(act: _Act, context: Sequence[str]) -> str:
    program = words(_template(act.command).split()[0])[:1] if act.command else words(act.thing)[-1:]
    return slug("".join(program) or "".join(context[:1]) or "lessons")


# --- cases ---


def _command_cases(command: str, context: Sequence[str]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    before = _before(context)
    fires = (
        _called(command, before),
        _called(f"cd app && {command}", before),
        _said(f"I'll run `{command}` now", before),
    )
    silent: tuple[Any, ...] = (
        _said(f"don't run `{command}`", before),
        _said(f"what does `{command}` do?", before),
        _said(f"someone ran `{command}` last year", before),
        _called(f"echo {command!r}", before),
        _called(f'git commit -m "docs: never {command.replace(chr(34), "")}"', before),
        _called(f"{command} --help", before),
        _called(f"{command} --dry-run", before),
    )
    return fires, (*silent, *((_called(command, []),) if context else ()))


def _phrase_cases(act: _Act, context: Sequence[str]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    before = _before(context)
    verb = act.verb.strip("{}").split("|")[0]
    said = f"{verb} the {act.thing}"
    fires = (_said(f"I'm going to {said}", before), _said(f"please {said}", before))
    silent: tuple[Any, ...] = (
        _said(f"don't {said}", before),
        _said(f"what happens if I {said}?", before),
        _said(f"someone decided to {said} last year", before),
        _said(f"```\n{said}\n```", before),
        _called(f"grep -rn {said!r} docs", before),
        _said(f"do a dry run: {said}", before),
    )
    return fires, (*silent, *((_said(f"I'm going to {said}", []),) if context else ()))


def _before(context: Sequence[str]) -> list[dict[str, Any]]:
    """Give the turns in which the context comes up."""
    return [{"role": "user", "text": f"this is about {context[0]}"}] if context else []


def _called(command: str, before: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"turns": [*before, {"role": "tool_call", "tool": "Bash", "tool_input": {"command": command}}]}


def _said(text: str, before: Sequence[dict[str, Any]]) -> Any:
    return {"turns": [*before, {"role": "user", "text": text}]} if before else text
