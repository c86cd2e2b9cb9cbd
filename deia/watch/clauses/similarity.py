"""Sentences that say what an exemplar says in other words: the words nominate, their sum of vectors is compared.

A place counts where a word for the exemplar's act stands, most of its other words stand near, and what stands there
is, with each such word put back to the exemplar's own, as close to the exemplar as the compiler found it has to be.
Refuses to tell doing from mentioning, for which similarity is blind: that is for the stance of the act.
"""

from __future__ import annotations

from itertools import pairwise

from deia.errors import ArtefactError
from deia.match.static_vectors import open_static, similarities
from deia.records import TYPE_CHECKING, Record
from deia.text import words as words_of
from deia.watch.clauses.exemplar_words import meaning_of, worded
from deia.watch.prose.intent import is_order, is_plan, is_under_way
from deia.watch.prose.regions import BREAK, sentence
from deia.watch.prose.stance import act_of, rule
from deia.watch.prose.stance_classifier import UNKNOWN, judge_sentence
from deia.watch.prose.stance_names import ANNOUNCED, DENIALS, REPORTED, REQUESTED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, KeysView, Mapping, Sequence
    from typing import Any

    from deia.match.static_vectors import Static
    from deia.watch.turn.parsed_turn import Reading

    Encode = Callable[[str], Sequence[float]]
    Token = tuple[str, int, int]

# Words that carry the grammar of an order or announcement and not its subject.
STOP_WORDS = frozenset(
    """
    a about ahead also am an and any are as at be because been being but by can could d did do does doing don for
    from get gets getting go goes going gone gonna got had has have having he her here hers him his how i if in into is
    isn it its just let lets ll m may me might more must my need needs no not now of off on onto or our ours out over
    please re s shall she should so some still such t than that the their theirs them then there these they this those
    to too until up us ve very want wants was way we were what when where which while who whom whose why will with
    within without won would yes you your yours
    """.split()
)
# How far from the word for the act others may stand, in words and in characters; together the characters are at most
# what two segments of the gate share, so that the words of a place always lie in one of them.
WORDS_BEFORE, WORDS_AFTER = 6, 14
CHARACTERS_BEFORE, CHARACTERS_AFTER = 70, 130
# Where a pronoun follows the act, what it is done to stands before it, perhaps in the sentence before.
LOOKING_BACK = (16, 6, 140, 60)
POINTERS = frozenset("it them that this those these".split())
ARTICLES = frozenset(("a", "an", "the", "this", "any", "no"))  # before a word that is no verb: "a clear picture"
JOINING = ("-", "_", "/")
MOST_APART = 5  # words from a verb to its particle, this one counted: "turn the old git hook off"
MOVING = frozenset(("into", "onto"))
JOINS = frozenset("and then so but before after".split())
# What stands between the thing that an act is done to and the place where that thing is.
PLACING = frozenset("from in inside under within of on at for".split())
# Where what an act is done to ends, and something else is said.
ENDING = frozenset(
    "and so because since but if when while that which where who lets then until after before as".split()
)
# Words for all of something: an exemplar that has one is about all of it, so that a sentence about one is not alike.
ALL = frozenset(
    "all every everything each whole entire entirely complete completely altogether totally anything rest lot"
    " both".split()
)
# Nouns that make the one before them a mere name for what they are: "the repository class", "the site icon".
NAMED = frozenset(
    "class classes function functions method methods field fields column columns button buttons icon icons label labels"
    " title message messages warning warnings doc docs documentation section sections handler handlers type types"
    " variable variables route routes endpoint endpoints component components prop props parameter parameters argument"
    " arguments flag flags comment comments string strings index indexes constraint constraints link links banner modal"
    " form forms model models import imports reference references call calls wrapper template templates path paths"
    " validation parser parsing logic lookup helper helpers fixture fixtures mock mocks page pages menu tab tabs item"
    " attribute attributes header headers option options badge example examples mention mentions error errors log logs"
    " element elements block blocks name names count counter id ids listener listeners property properties"
    " constant constants pattern patterns card cards picker dialog dialogs popup tooltip tooltips dropdown widget"
    " widgets badges reminder reminders banners panel panels toast screen screens sidebar navbar footer heading"
    " headings subtitle chapter chapters paragraph paragraphs article articles tutorial faq animation animations"
    " spinner avatar thumbnail thumbnails placeholder placeholders screenshot screenshots".split()
)
MOST_COMPOUND = 2  # words after the exemplar's that may still name the thing: "the branch protection status page"
SAID_OF_TIME = ("for now", "for good", "from scratch", "for once", "in full", "at once")
LIKELY = 0.5  # of the classifier, that an act is being done or asked for
TELLING = 0.9  # of the greatest weight, from which on a word tells as much
MOST_QUANTIFIED = 4  # groups of an exemplar beside which a word for all tells something
MOST_ACTS = 100  # words for the act of an exemplar that are looked at in a turn
# Words for acts in a turn, over all exemplars: of 10,862 real turns the one with the most has 2,650. A text of nothing
# but such words would take most of a second.
MOST_LOOKED_AT = 20_000
MOST_COMPARED = 40  # places of a clause in a turn; each costs some 50 µs


class Place(Record):
    """Where a text says what an exemplar says, and how close it comes to it."""

    exemplar: str
    score: float
    verb: tuple[int, int]
    end: int  # of the nearest other word of the exemplar behind the verb, or of the verb
    first: int  # of what was compared
    last: int


class Exemplar(Record):
    """An exemplar as compiled, with its groups ready to be looked up."""

    text: str
    code: bytes
    least: int  # weight of the words that nominate a sentence
    weights: tuple[int, ...]  # of the groups, that of the act first
    groups: tuple[Mapping[str, str], ...]  # every word of a group → what it is compared as
    pairs: Mapping[str, Collection[str]]  # verbs that say the act with a particle → these
    placed: bool  # "remove the file from the history": what the act is done to may be anything there
    parts: tuple[tuple[int, KeysView[str], bool, bool], ...]  # of each other group: weight, words, must be, tells

    def weight(self, present: Collection[str]) -> int:
        """Give the weight of the words of which one is present, the act's taken for granted; 0 if one must not fail.

        That is one for all of something, and what tells the most: an exemplar on env files is not about files.
        """
        found, told = self.weights[0], not self.parts
        for weight, group, must, tells in self.parts:
            if not group.isdisjoint(present):
                found += weight
                told = told or tells
            elif must:
                return 0
        return found if told else 0

    @property
    def own(self) -> dict[str, str]:
        """What each of the words is compared as: the exemplar's own as they are, of others the first group decides."""
        found = {word: said for group in reversed(self.groups) for word, said in group.items()}
        return {**found, **{said: said for said in found.values()}}


def wants_all(groups: Sequence[Collection[str]]) -> bool:
    """Say whether a short exemplar is about all of something: then a word for all must be there."""
    quantified = [not ALL.isdisjoint(group) for group in groups]
    return any(quantified) and quantified.count(False) <= MOST_QUANTIFIED


def content_words(tokens: Sequence[str]) -> list[str]:
    """Give the words that carry meaning, in order."""
    return [word for word in tokens if word not in STOP_WORDS and len(word) > 1]


def exemplars_of(value: Any, chosen: Sequence[int] | None = None) -> tuple[Exemplar, ...]:
    """Give the exemplars of a compiled clause, or some of them by number."""
    records = value["e"] if chosen is None else [value["e"][number] for number in chosen]
    known = {number: _looked_up(value["g"][number]) for number in {one for record in records for one in record[4]}}
    return tuple(
        Exemplar(
            text=text,
            code=bytes.fromhex(code),
            least=least,
            weights=tuple(weights),
            groups=(groups := tuple(known[number] for number in numbers)),
            pairs=_pairs(value["g"][numbers[0]]),
            placed=_is_placed(text.split()),
            parts=_parts(weights[1:], groups),
        )
        for text, code, least, weights, numbers in records
    )


def _parts(
    weights: Sequence[int], groups: Sequence[Mapping[str, str]]
) -> tuple[tuple[int, KeysView[str], bool, bool], ...]:
    wanted, telling = wants_all(groups), TELLING * max(weights, default=0)
    return tuple(
        (weight, group.keys(), wanted and not ALL.isdisjoint(group), weight >= telling)
        for weight, group in zip(weights, groups[1:], strict=True)
    )


def _is_placed(said: Sequence[str]) -> bool:
    """Say whether an exemplar names the place of a thing; in "remove everything under root" the place is the thing."""
    text = " ".join(said)
    for words in SAID_OF_TIME:
        text = text.replace(words, "anew")
    said = text.split()
    return any(word in PLACING and word != "of" and before not in ALL for before, word in pairwise(said))


def _pairs(group: str) -> dict[str, list[str]]:
    """Give the verbs of a group that say the act with a particle, with these."""
    written = [pair.partition("=") for pair in group.rpartition("|")[2].split()]
    return {verb: after.split(",") for verb, _, after in written}


def _looked_up(group: str) -> dict[str, str]:
    own, alike, near, _ = group.split("|")
    return {**{word: word for word in near.split()}, **dict.fromkeys(alike.split(), own), own: own}


def places(clause: Any, reading: Reading, encode: Encode | None = None) -> Iterator[Place]:
    """Give the places of a turn's prose that come as close to an exemplar of a compiled clause as they have to.

    `encode` makes a text's vector, of the model that the clause was compiled with; by default the static vectors that
    came with deia. Where these cannot be read, or are not those of the clause, nothing is close.
    """
    value = meaning_of(clause)
    chosen = worded(value, reading.words.places)
    if not chosen:
        return
    if encode is None:
        static = opened()
        if static is None or static.digest != value["d"]:
            return
        encode = static.encode
    compared = 0
    for number, exemplar in zip(chosen, exemplars_of(value, chosen), strict=True):
        least = value["t"][number]
        for place, window in nominated(exemplar, reading):
            compared += 1
            if compared > MOST_COMPARED:
                return
            score = closeness(exemplar, window, encode)
            if score >= least:
                yield place.but(score=score)


def closeness(exemplar: Exemplar, window: Sequence[str], encode: Encode) -> float:
    """Give the cosine of the words around a place with an exemplar's, its own words standing for those like them."""
    own = exemplar.own
    vector = encode(" ".join(own.get(word, word) for word in content_words(window)))
    found = similarities(vector, exemplar.code, len(vector))
    return found[0] if found else 0.0


def nominated(exemplar: Exemplar, reading: Reading) -> Iterator[tuple[Place, list[str]]]:
    """Give the places that hold a word for the act and enough of the other words, with all the words around."""
    words = reading.words
    act, *others = exemplar.groups
    denies = not DENIALS.isdisjoint(words_of(exemplar.text))  # "merge without review" is no denial of merging
    heard = {at for word in act for at in words.places.get(word, ())}
    heard.update(at for word in exemplar.pairs for at in words.places.get(word, ()))
    for at in sorted(heard)[:MOST_ACTS] if reading.acts <= MOST_LOOKED_AT else ():
        reading.acts += 1
        verb = words.tokens[at]
        after = _after_act(exemplar, words.tokens, at, reading.prose.text)
        if not after:
            continue
        back = _looks_back(words.tokens, at, after)
        if (at, back) not in reading.windows:
            reading.windows[at, back] = _around(words.tokens, at, reading, back=back)
        window, around, present = reading.windows[at, back]
        if exemplar.weight(present) < exemplar.least or (denies and not _denied(window)):
            continue
        _, start, end = verb
        behind = [last for word, first, last in around if first >= end and any(word in one for one in others)]
        if back or not _of_another(exemplar, window, verb, reading.prose.text):
            place = Place(
                exemplar=exemplar.text, score=0.0, verb=(start, end), end=end if denies or not behind else behind[0],
                first=window[0][1], last=window[-1][2],
            )  # fmt: skip
            said = next(iter(act.values()))
            yield place, [said if token[1] == start else token[0] for token in window]


def _after_act(exemplar: Exemplar, tokens: Sequence[Token], at: int, text: str) -> int:
    """Give the number of the word after the act that begins at a word, or 0 where its particle is missing."""
    word, start, end = tokens[at]
    particles = exemplar.pairs.get(word, ())
    for place in range(at + 1, min(at + 1 + MOST_APART, len(tokens))) if particles else ():
        if tokens[place][0] in particles:
            return at + 1 if place > at + 1 else place + 1
        if tokens[place][0] == BREAK:
            break
    compound = text[end : end + 1] in JOINING and text[end + 1 : end + 2].isalnum()  # "the force-with-lease push"
    before = text[max(start - 2, 0) : start]
    compound = compound or (before[-1:] in JOINING and before[:-1].strip() != "") or before == " -"  # "plan -destroy"
    named = at > 0 and tokens[at - 1][0] in ARTICLES and not word.endswith("ing")
    return at + 1 if word in exemplar.groups[0] and not (compound or named) else 0


def _looks_back(tokens: Sequence[Token], at: int, after: int) -> bool:
    """Say whether what an act is done to stands before it: "the site is a mess, just blow it away"."""
    return any(token[0] in POINTERS for token in tokens[max(at + 1, after - 1) : after + 1])


def _denied(window: Sequence[Token]) -> bool:
    return any(word in DENIALS or word == "t" for word, _, _ in window)


def _of_another(exemplar: Exemplar, window: Sequence[Token], verb: Token, text: str) -> bool:
    """Hear that the act is done to something else: "remove the tabs from all files", "delete the repository class"."""
    own_object, others = False, exemplar.groups[1:]
    after = [token for token in window if token[1] > verb[1]]
    if _is_moved(after) and MOVING.isdisjoint(exemplar.text.split()):
        return True
    pairs = zip(after, [*after[1:], ("", -1, -1)], ["", *(token[0] for token in after)], strict=False)
    for at, ((word, first, end), (following, start, _), before) in enumerate(pairs):
        if word in ALL or word in exemplar.pairs.get(verb[0], ()):
            continue
        if any(word in group for group in others):
            if start - end == 1 and text[end] == "-" and not any(following in group for group in others):
                return True
            return (word in NAMED and before in NAMED) or _names_another(others, after[at:])
        if word in PLACING and not exemplar.placed and (own_object or first == verb[2] + 1):
            return True
        if own_object and word in ENDING:
            return True
        own_object = own_object or word not in STOP_WORDS
    return False


def _names_another(others: Sequence[Collection[str]], tokens: Sequence[Token]) -> bool:
    """Hear that an exemplar's words begin a name for another thing: "the branch protection docs page"."""
    strange = 0
    for (_, _, end), (word, start, _) in pairwise(tokens):
        own = any(word in group for group in others)
        if start - end != 1 or word in STOP_WORDS:
            return False
        if word in NAMED and (strange or not own):
            return True
        strange = 0 if own else strange + 1
        if strange >= MOST_COMPOUND:
            return False
    return False


def _is_moved(after: Sequence[Token]) -> bool:
    """Hear that the act puts a thing somewhere, before anything else is said: "drop the hooks folder into src"."""
    joined = next((at for at, token in enumerate(after) if token[0] in JOINS), len(after))
    return any(token[0] in MOVING for token in after[:joined])


def _around(
    tokens: Sequence[Token], at: int, reading: Reading, *, back: bool
) -> tuple[list[Token], list[Token], frozenset[str]]:
    """Give the words around an act, those of them that what it is done to may stand among, and these as a set."""
    window, start = _window(tokens, at, reading, back=back), tokens[at][1]
    around = [token for token in window if token[1] > start or (back and token[1] < start)]
    return window, around, frozenset(token[0] for token in around)


def _window(tokens: Sequence[Token], at: int, reading: Reading, *, back: bool = False) -> list[Token]:
    """Give the words of the same sentence around a word, as far as they count for it."""
    most = LOOKING_BACK if back else (WORDS_BEFORE, WORDS_AFTER, CHARACTERS_BEFORE, CHARACTERS_AFTER)
    _, start, end = tokens[at]
    first, last = sentence(reading.prose.text, start, end)
    first = start - most[2] if back else max(first, start - most[2])
    last = min(last, start + most[3])
    low = high = at
    while low > 0 and at - low < most[0] and tokens[low - 1][1] >= first and tokens[low - 1][0] != BREAK:
        low -= 1
    while high + 1 < len(tokens) and high - at < most[1] and tokens[high + 1][2] <= last:
        if tokens[high + 1][0] == BREAK:
            break
        high += 1
    return list(tokens[low : high + 1])


def stance_of(place: Place, reading: Reading) -> tuple[str, str]:
    """Give the stance of a place's act, and its sentence; it counts as doing only if rules and classifier agree."""
    start, end = place.verb
    stance, around = reading.stance_at(start, end, place.end)
    first, last = sentence(reading.prose.text, start, place.end)
    act = act_of(reading.prose.masked, (first, last), place.verb, place.end)
    if reading.turn.role == "user" and is_order(act) and rule(act) in {"", REQUESTED, ANNOUNCED}:
        return REQUESTED, around
    if stance not in {ANNOUNCED, REQUESTED, RUNNING} or is_plan(act) or is_under_way(act):
        return stance, around
    said = around[start - act.reach - first :] if act.resolved else around
    at = start - first - (len(around) - len(said))
    try:
        heard, doing = judge_sentence(said, (at, at + end - start))
    except ArtefactError:  # without the classifier the rules decide
        return stance, around
    if (heard, doing) == UNKNOWN:  # hardly English, which exemplars are
        return REPORTED, around
    if doing >= LIKELY:
        return stance, around
    return heard if heard not in {ANNOUNCED, REQUESTED, RUNNING} else REPORTED, around


# --- the vectors ---

_OPEN: list[Static | None] = []


def opened() -> Static | None:
    """Give the static vectors, mapped when first asked for, or None where they cannot be read."""
    if not _OPEN:
        try:
            _OPEN.append(open_static())
        except ArtefactError:
            _OPEN.append(None)
    return _OPEN[0]
