"""Acts in sentences: which verb, done to what, and whether the speaker or the listener is the one to do it.

`frames` reads a text and returns one frame for each act it finds: the classes of its verb, its object's head with the
classes of that, the words beside them and the positions. It uses a list of verbs and nouns, which the compiler
supplies, and closed classes of English words. A verb counts in the base form or in -ing, and only where its left
context makes it an order, a request, an announcement or a plan. Whether the act is denied, asked about or reported is
for `stance`. `unmet` compares an act with the conditions of an `act` clause.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.watch.compiled_trigger import LIGHT
from deia.watch.prose.act_objects import CLAUSE_MARKS, FINITE_VERBS, PREPOSITIONS, ObjectReader, is_adverb, is_joined
from deia.watch.prose.regions import BREAK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from deia.watch.compiled_trigger import ActWords, CompiledAct
    from deia.watch.prose.phrases import Token

TABLES = Tables(__file__)
GOVERNORS = TABLES.words("governors")
ADDRESSED = frozenset(("you", "me", "us"))
ADDRESSED_GOVERNORS = TABLES.words("addressed governors")
MODALS = TABLES.words("modals")
FIRST_PERSONS = TABLES.words("first persons")
DOING_LEADS = TABLES.words("doing leads")
ORDERS = TABLES.words("orders")
INTENDING = frozenset(TABLES.phrases("intending"))
JOINING = frozenset(("and", "so", "then", "but", "ok", "okay"))
CAUSING = frozenset(("let", "make", "have", "help"))  # "let Redis evict keys": whoever lets it happen does it
MOST_CAUSED = 3  # words from it to the verb, the verb included
NAME_SIGNS = "-_/.$@#=\\"  # right before a word: it belongs to an option, a path or a name
SUPPOSING = frozenset(("could", "would", "might", "may", "d"))
WISHES = [[word] for word in ("you", "we", "i", "like", "love", "prefer", "rather", "please")]  # after "could", "would"
STOPS = (".", "!", "?", ";", "\u3002", "\uff01", "\uff1f")
BASE, DOING = "b", "i"  # shapes of a verb: its base form, and the one in -ing
MOST_FRAMES = 60  # of one text
MOST_APART = 6  # words from a verb to its particle, the particle included
REACH = 40  # words of its sentence before a verb, and after it, that are looked at: a sentence may be a megabyte long
PARTS_OF_CODE = TABLES.words("parts of code")
CODE = TABLES.words("code")
STAND_INS = TABLES.words("stand-ins")
PART_OF = frozenset(("from", "of"))


class Frame(Record):
    """An act: a verb, its object and what stands beside them, as lower-case words."""

    verb: str
    acts: frozenset[str]  # classes of the verb
    head: str  # of the object; "" if there is none
    things: frozenset[str]  # classes of the object
    modifiers: frozenset[str]  # other words of the object
    places: frozenset[str]  # words after its prepositions: "from the production server"
    words: frozenset[str]  # of its clause, from the verb or a place before it
    beyond: frozenset[str]  # the same up to the next comma or other mark: "… so that the build passes"
    whole: bool  # whether the object is quantified: all, every, entire
    start: int
    verb_end: int
    end: int


def frames(text: str, tokens: Sequence[Token], vocabulary: ActWords) -> list[Frame]:
    """Return the acts in a text, in their order, at most `MOST_FRAMES`; `tokens` are those of its prose."""
    acts: list[Frame] = []
    objects = ObjectReader(text, tokens, vocabulary)
    first = 0
    for end in sentence_ends(text, tokens):
        for at in range(first, end):
            if tokens[at][0] in vocabulary.verbs:
                acts += _frames_at(objects, first, at, end)
                if len(acts) >= MOST_FRAMES:
                    return acts[:MOST_FRAMES]
        first = end
    return acts


def sentence_ends(text: str, tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the index after the last token of each sentence."""
    for at in range(len(tokens) - 1):
        gap = text[tokens[at][2] : tokens[at + 1][1]]
        if tokens[at][0] == BREAK or "\n" in gap or (len(gap) > 1 and _stops(gap)):
            yield at + 1
    if tokens:
        yield len(tokens)


def _stops(gap: str) -> bool:
    """Return whether the characters between two words end a sentence."""
    return any(stop in gap and (gap.endswith(stop) or gap[gap.find(stop) + 1].isspace()) for stop in STOPS)


def _frames_at(objects: ObjectReader, first: int, at: int, end: int) -> list[Frame]:
    """Return the act whose verb is the token `at`, in the sentence from token `first` to `end`, as a list."""
    text, tokens = objects.text, objects.tokens
    first, end = max(first, at - REACH), min(end, at + REACH)
    word, start, verb_end = tokens[at]
    for shape, classes, rest in objects.vocabulary.forms_of(word):
        after = _after_rest(tokens, at + 1, end, rest)
        if after < 0 or not _is_free(text, tokens, at, after, end):
            continue
        if not _has_lead(text, tokens, first, at, shape):
            continue
        thing = objects.read(after, end, particle=_particle(tokens, after, end, rest) if after == at + 1 else -1)
        if _finite_follows(tokens, after, thing.after, end):
            continue
        acts = frozenset(classes)
        if LIGHT in acts:
            deeds = objects.vocabulary.deeds_of(thing.words)
            acts = (acts - {LIGHT}) | deeds
            if not acts:
                continue
        said_from = _said_from(tokens, first, at)
        words = [token[0] for token in tokens[said_from : max(objects.mark_end(after, end), thing.clause_end)]]
        return [
            Frame(
                verb=" ".join((word, *rest)), acts=acts, head=thing.head, things=thing.classes,
                modifiers=thing.modifiers, places=thing.places, words=frozenset(words[: thing.clause_end - said_from]),
                beyond=frozenset(words), whole=thing.whole, start=start, verb_end=verb_end,
                end=max(thing.end, tokens[after - 1][2]),
            )
        ]  # fmt: skip
    return []


def _said_from(tokens: Sequence[Token], first: int, at: int) -> int:
    """Return the index of the first token that says more about an act: its verb, or what is named before it.

    "In production, drop the table" names a place before the verb, "let Redis evict keys" who does it.
    """
    if tokens[first][0] in PREPOSITIONS:
        return first
    return next((place for place in range(max(first, at - MOST_CAUSED), at) if tokens[place][0] in CAUSING), at)


def _after_rest(tokens: Sequence[Token], at: int, end: int, rest: Sequence[str]) -> int:
    """Return the index after the further words of a verb (`away` of `blow away`), or -1.

    The object may stand before the last of them: "blow the cluster away", "turn it off".
    """
    if all(at + number < end and tokens[at + number][0] == word for number, word in enumerate(rest)):
        return at + len(rest)
    return at if _particle(tokens, at, end, rest) >= 0 else -1


def _particle(tokens: Sequence[Token], at: int, end: int, rest: Sequence[str]) -> int:
    """Return the index of a verb's particle that stands after its object, or -1."""
    if len(rest) != 1:
        return -1
    return next((place for place in range(at, min(at + MOST_APART, end)) if tokens[place][0] == rest[0]), -1)


def _is_free(text: str, tokens: Sequence[Token], at: int, after: int, end: int) -> bool:
    """Return whether a verb is a word of its own, and not part of a name, an option, a path or a call."""
    before, following = text[: tokens[at][1]][-1:], text[tokens[after - 1][2] :][:2]
    if before in NAME_SIGNS and before:
        return False
    if following[:1] in {"(", "_", "="} or (following[:1] in {".", "-", "/", ":"} and following[1:2].isalnum()):
        return False
    return not (after < end and is_joined(text, tokens, after - 1))


def _has_lead(text: str, tokens: Sequence[Token], first: int, at: int, shape: str) -> bool:
    """Return whether what stands before a verb makes its act an order, a request, an announcement or a plan."""
    start = _clause_start(text, tokens, first, at)
    before = [token[0] for token in tokens[start:at]]
    while before and is_adverb(before[-1]):
        before.pop()
    if before[-2:] == ["go", "and"]:  # "go ahead and delete": `ahead` is an adverb
        del before[-2:]
    if shape == DOING:
        mark = text[tokens[start - 1][2] : tokens[start][1]].strip()[:1] if start > first else ""
        return _doing_lead(before, mark)
    sentence = text[tokens[first][1] : tokens[at][1]]
    if sentence.count("(") > sentence.count(")"):
        return False  # "it resets (condense, delete the branch)" explains
    return _base_lead(before, [token[0] for token in tokens[first:start]])


def _clause_start(text: str, tokens: Sequence[Token], first: int, at: int) -> int:
    """Return the index of the first token of the clause in which the token `at` stands."""
    for place in range(at, first, -1):
        gap = text[tokens[place - 1][2] : tokens[place][1]]
        if any(mark in gap for mark in CLAUSE_MARKS) or " - " in gap:
            return place
    return first


def _base_lead(before: Sequence[str], earlier: Sequence[str]) -> bool:
    """Return whether a base form may follow these words of its clause; `earlier` are the words before the clause."""
    if not before:
        return not earlier or _is_led(earlier) or earlier[0] not in FIRST_PERSONS
    last, lead = before[-1], before[:-1]
    if last == "to":
        return _governed(lead)
    if last in MODALS:
        subject = next((word for word in reversed(lead) if not is_adverb(word) and word not in MODALS), "")
        return not lead or subject in FIRST_PERSONS
    if last in FIRST_PERSONS:
        return _asks(lead, last) or (last in {"i", "we"} and set(lead) <= JOINING)  # "so I delete it"
    if last == "s" and lead[-1:] == ["let"]:
        return True
    if last in {"and", "or", "then", "but", "ok", "okay", "so", "yes", "yeah", "sure", "alright", "right", "no", "not"}:
        return last not in {"no", "not"} and (_is_led(lead) if lead else not _is_supposed(earlier))
    reached = range(max(len(before) - MOST_CAUSED, 0), len(before) - 1)
    causing = next((at for at in reached if before[at] in CAUSING), -1)
    return causing == 0 or (causing > 0 and _is_led(before[: causing + 1]))


def _governed(lead: Sequence[str]) -> bool:
    """Return whether "to" and a verb may follow these words as somebody's intention."""
    words = [word for word in lead if not is_adverb(word)]
    if not words:
        return True  # "To delete it, …": the stance tells whether somebody means to
    if words[-1] not in GOVERNORS:
        return False
    if words[-1] in {"have", "need"} and words[-2:-1] and words[-2] in SUPPOSING:
        return False  # "I'd have to reset it"
    if words[-1] in ADDRESSED:
        return not ADDRESSED_GOVERNORS.isdisjoint(words[:-1])
    if words[-1] in {"is", "was", "be"}:
        return len(words) > 1 and words[-2] not in {"it", "this", "that", "which", "there"}
    return True


def _asks(lead: Sequence[str], last: str) -> bool:
    """Return whether these words and a person ask or let: "can you …", "should I …", "let me …", "help me …"."""
    if last in {"let", "lets", "user"}:
        return last == "lets"
    return lead[-1:] in (["let"], ["help"]) or (bool(lead) and lead[-1] in MODALS and len(lead) <= 3)


def _is_led(words: Sequence[str]) -> bool:
    """Return whether words before "and" or a comma are an order or somebody's intention, which the next verb shares."""
    first = next((word for word in words if not is_adverb(word)), "")
    if first in ORDERS:
        return True
    if not set(_pairs(words)).isdisjoint(INTENDING):
        return True
    return "please" in words or (first in MODALS and not FIRST_PERSONS.isdisjoint(words[:3]))


def _is_supposed(words: Sequence[str]) -> bool:
    """Return whether the words before "and" or a comma only suppose something: "I could keep it, then delete …"."""
    at = next((at for at in range(len(words) - 1, -1, -1) if words[at] in SUPPOSING), -1)
    return at > 0 and words[at - 1] != "you" and words[at + 1 : at + 2] not in WISHES


def _pairs(words: Sequence[str]) -> list[str]:
    return [f"{word} {following}" for word, following in zip(words, words[1:], strict=False)]  # noqa: RUF007 - not free


def _doing_lead(before: Sequence[str], mark: str) -> bool:
    """Return whether an -ing form may follow these words of its clause; `mark` is the sign before the clause."""
    if not before:
        return mark not in {",", "("}
    last, lead = before[-1], before[:-1]
    if last in {"m", "am", "re", "are", "be"}:
        return not FIRST_PERSONS.isdisjoint(lead[-3:])
    if last in {"and", "or"}:
        return "".join(lead[:1]).endswith("ing") or "i m" in _pairs(lead)
    return last in DOING_LEADS and (not lead or _is_led(lead) or not FIRST_PERSONS.isdisjoint(lead))


def _finite_follows(tokens: Sequence[Token], after: int, object_after: int, end: int) -> bool:
    """Return whether a finite verb follows, so that the act is a subject: "Rebase creates …", "Deleting it is …"."""
    if any(token[0] in FINITE_VERBS for token in tokens[after : min(after + 1, end)]):
        return True
    return object_after < end and object_after > after and tokens[object_after][0] in FINITE_VERBS


def unmet(act: CompiledAct, frame: Frame) -> str:
    """Return the name of the first condition that an act does not meet, as clauses write it, or "" if it meets all."""
    if frame.acts.isdisjoint(act.do):
        return "do"
    if act.what and frame.things.isdisjoint(act.what):
        return "what"
    if is_in_code(frame) and not names_part(act, frame):
        return "place"
    beside = beside_object(frame)
    if any_present(act.unlike, beside):
        return "not"
    if act.where and not any_present(act.where, beside):
        return "where"
    if act.how and not any_present(act.how, frame.words.difference(frame.verb.split())):
        return "how"
    if act.near and not any_present(act.near, frame.beyond.difference(frame.verb.split())):
        return "near"
    return "all" if act.whole and not frame.whole else ""


def beside_object(frame: Frame) -> set[str]:
    """Return the words of an act's object and place."""
    return {*frame.modifiers, frame.head, *frame.places}


def is_in_code(frame: Frame) -> bool:
    """Return whether an object is a part of code or text: "remove the bucket from the map", "reset it in the mock"."""
    places = frame.places
    if not frame.things.isdisjoint(CODE):
        return False
    part = not places.isdisjoint(PARTS_OF_CODE) and not places.isdisjoint(PART_OF)
    return part or not places.isdisjoint(STAND_INS)


def names_part(act: CompiledAct, frame: Frame) -> bool:
    """Return whether an act itself asks for the part of code that was said: "clear the variables of the function"."""
    parts = frame.places & (PARTS_OF_CODE | STAND_INS)
    asked = (group for items in (act.where, act.how, act.near) for item in items for group in item)
    return any(not parts.isdisjoint(group) for group in asked)


def any_present(items: Iterable[Sequence[Sequence[str]]], words: Collection[str]) -> bool:
    """Return whether a form of each word of one of the items is among some words."""
    return any(all(any(form in words for form in alike) for alike in item) for item in items)
