"""Find sentences that mean the same as an exemplar: words nominate a place, and word vectors compare it.

A place is nominated if it has a word for the exemplar's act and, nearby, most of its other words. It matches if its
words, each replaced by the exemplar's own, are as close to the exemplar as the compiler's threshold demands. Similarity
cannot tell doing from mentioning; the stance of the act decides that.
"""

from __future__ import annotations

from itertools import pairwise

from deia.errors import ArtefactError
from deia.match.static_vectors import open_static, similarities
from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.text import words as words_of
from deia.watch.prose.intent import is_order, is_plan, is_under_way
from deia.watch.prose.regions import BREAK, sentence
from deia.watch.prose.stance import act_of, rule
from deia.watch.prose.stance_classifier import UNKNOWN, judge_sentence
from deia.watch.prose.stance_names import ANNOUNCED, DENIALS, REPORTED, REQUESTED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, KeysView, Mapping, Sequence

    from deia.match.static_vectors import Static
    from deia.watch.compiled_trigger import Meaning
    from deia.watch.prose.phrases import Token
    from deia.watch.turn.parsed_turn import Reading, Window

    Encode = Callable[[str], Sequence[float]]

TABLES = Tables(__file__)
STOP_WORDS = TABLES.words("stop words")
# How far from the act the other words may be, in words and in characters. The characters together are at most the
# overlap of two segments of the gate, so that all words of a place are in one of them.
WORDS_BEFORE, WORDS_AFTER = 6, 14
CHARACTERS_BEFORE, CHARACTERS_AFTER = 70, 130
# The same if a pronoun follows the act: its object comes earlier, perhaps in the sentence before.
LOOKING_BACK = (16, 6, 140, 60)
POINTERS = frozenset("it them that this those these".split())
ARTICLES = frozenset(("a", "an", "the", "this", "any", "no"))  # a word after one is no verb: "a clear picture"
JOINING = ("-", "_", "/")
MOST_APART = 5  # words from a verb to its particle, which is counted: "turn the old git hook off"
MOVING = frozenset(("into", "onto"))
JOINS = frozenset("and then so but before after".split())
# Words between the object of an act and the place where that object is.
PLACING = frozenset("from in inside under within of on at for".split())
# Words before that place, or before what the act is done with.
WHERE = PLACING - {"of", "for"} | {"against", "into", "onto", "over", "to", "behind"}
# Words that end the object of an act.
ENDING = frozenset(
    "and so because since but if when while that which where who lets then until after before as".split()
)
# Words for all of something. An exemplar with one of them does not match a sentence about a single thing.
ALL = frozenset(
    "all every everything each whole entire entirely complete completely altogether totally anything rest lot"
    " both".split()
)
# Nouns that turn the noun before them into a mere name.
NAMED = TABLES.words("named")
MOST_COMPOUND = 2  # words after the exemplar's that may still belong to a name: "the branch protection status page"
ADVERBIALS = ("for now", "for good", "from scratch", "for once", "in full", "at once")
LIKELY = 0.5  # probability, by the classifier, that an act is being done or asked for
TELLING = 0.9  # a word with at least this share of the greatest weight counts as distinctive
MOST_QUANTIFIED = 4  # an exemplar with more groups than that may match without its word for all
MOST_ACTS = 100  # words for one exemplar's act that are looked at in a turn
# Words for acts that are looked at in a turn, over all exemplars. The highest number in 10,862 real turns is 2,650; a
# long text of nothing but such words would take most of a second.
MOST_LOOKED_AT = 20_000
MOST_COMPARED = 40  # places of a clause in a turn; each costs about 50 µs


class Place(Record):
    """A place in a text that was compared with an exemplar."""

    exemplar: str
    score: float  # cosine
    verb: tuple[int, int]
    end: int  # of the nearest other word of the exemplar after the verb, or of the verb
    first: int  # start of the compared words
    last: int  # end of the compared words
    objects: frozenset[str] = frozenset()  # the exemplar's words besides its act, and what may replace them
    where: tuple[Mapping[str, str], ...] = ()  # groups of the exemplar's words that say where


class Exemplar(Record):
    """A compiled exemplar, with its groups ready for lookups."""

    text: str
    code: bytes
    least: int  # weight of the words that nominate a sentence
    weights: tuple[int, ...]  # of the groups; the act's first
    groups: tuple[Mapping[str, str], ...]  # each word of a group → the word that it is compared as
    pairs: Mapping[str, Collection[str]]  # verbs that mean the act together with a particle → these particles
    where: tuple[Mapping[str, str], ...]  # groups of the words behind its first preposition: "on production"
    placed: bool  # "remove the file from the history": the object of the act may be anything there
    parts: tuple[tuple[int, KeysView[str], bool, bool], ...]  # other groups: weight, words, required, distinctive

    def weight(self, present: Collection[str]) -> int:
        """Return the weight of the groups of which a word is present, with the act's; 0 if a required one is missing.

        Required are a word for all of something and one of the most distinctive words: an exemplar on env files does
        not match other files.
        """
        total, has_distinctive = self.weights[0], not self.parts
        for weight, group, required, distinctive in self.parts:
            if not group.isdisjoint(present):
                total += weight
                has_distinctive = has_distinctive or distinctive
            elif required:
                return 0
        return total if has_distinctive else 0

    @property
    def own(self) -> dict[str, str]:
        """The exemplar's own word for each word of its groups; of several groups with a word, the first decides."""
        own_words = {word: own for group in reversed(self.groups) for word, own in group.items()}
        return {**own_words, **{own: own for own in own_words.values()}}


def wants_all(groups: Sequence[Collection[str]]) -> bool:
    """Return whether a short exemplar is about all of something, so that a word for all is required."""
    quantified = [not ALL.isdisjoint(group) for group in groups]
    return any(quantified) and quantified.count(False) <= MOST_QUANTIFIED


def content_words(tokens: Sequence[str]) -> list[str]:
    """Return the words that carry meaning, in order."""
    return [word for word in tokens if word not in STOP_WORDS and len(word) > 1]


def exemplars_of(meaning: Meaning, chosen: Sequence[int] | None = None) -> tuple[Exemplar, ...]:
    """Return the exemplars of a compiled clause, all or some by number."""
    stored = meaning.exemplars if chosen is None else [meaning.exemplars[number] for number in chosen]
    known = {
        number: _parse_group(meaning.groups[number]) for number in {at for *_, numbers in stored for at in numbers}
    }
    return tuple(
        Exemplar(
            text=text,
            code=bytes.fromhex(code),
            least=least,
            weights=tuple(weights),
            groups=(groups := tuple(known[number] for number in numbers)),
            pairs=_parse_pairs(meaning.groups[numbers[0]]),
            where=_where(text, groups),
            placed=_is_placed(text.split()),
            parts=_parts(weights[1:], groups),
        )
        for text, code, least, weights, numbers in stored
    )


def _parts(
    weights: Sequence[int], groups: Sequence[Mapping[str, str]]
) -> tuple[tuple[int, KeysView[str], bool, bool], ...]:
    all_required, distinctive = wants_all(groups), TELLING * max(weights, default=0)
    return tuple(
        (weight, group.keys(), all_required and not ALL.isdisjoint(group), weight >= distinctive)
        for weight, group in zip(weights, groups[1:], strict=True)
    )


def _where(text: str, groups: Sequence[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
    """Return the groups of an exemplar's words behind its first preposition, those of its object left out."""
    for words in ADVERBIALS:
        text = text.replace(words, "")
    tokens = words_of(text)
    at = next((at for at, word in enumerate(tokens) if at and word in WHERE and tokens[at - 1] not in ALL), len(tokens))
    before, behind = set(tokens[:at]), set(tokens[at:])
    return tuple(group for group in groups[1:] if before.isdisjoint(group) and not behind.isdisjoint(group))


def _is_placed(exemplar: Sequence[str]) -> bool:
    """Return whether an exemplar names the place of its object; "remove everything under root" does not."""
    text = " ".join(exemplar)
    for words in ADVERBIALS:
        text = text.replace(words, "anew")
    return any(word in PLACING and word != "of" and before not in ALL for before, word in pairwise(text.split()))


def _parse_pairs(group: str) -> dict[str, list[str]]:
    """Return the verbs of a group that mean the act together with a particle, each with its particles."""
    pairs = [pair.partition("=") for pair in group.rpartition("|")[2].split()]
    return {verb: particles.split(",") for verb, _, particles in pairs}


def _parse_group(group: str) -> dict[str, str]:
    """Return, for each word of a group, the word that it is compared as."""
    own, alike, near, _ = group.split("|")
    return {**{word: word for word in near.split()}, **dict.fromkeys(alike.split(), own), own: own}


def places(meaning: Meaning, reading: Reading, encode: Encode | None = None) -> Iterator[Place]:
    """Yield the places of a turn's prose that are as close to an exemplar of a clause as its threshold.

    `encode` returns a text's vector, in the model that the clause was compiled with; by default the static vectors of
    the installation. If these cannot be read, or are not those of the clause, there are no places.
    """
    chosen = meaning.worded(reading.words.places)
    if not chosen:
        return
    if encode is None:
        static = opened()
        if static is None or static.digest != meaning.digest:
            return
        encode = static.encode
    compared = 0
    for number, exemplar in zip(chosen, exemplars_of(meaning, chosen), strict=True):
        least = meaning.thresholds[number]
        for place, window in nominated(exemplar, reading):
            compared += 1
            if compared > MOST_COMPARED:
                return
            score = closeness(exemplar, window, encode)
            if score >= least:
                yield place.but(score=score)


def closeness(exemplar: Exemplar, window: Sequence[str], encode: Encode) -> float:
    """Return the cosine between a place's words, each replaced by the exemplar's own, and the exemplar."""
    own = exemplar.own
    vector = encode(" ".join(own.get(word, word) for word in content_words(window)))
    scores = similarities(vector, exemplar.code, len(vector))
    return scores[0] if scores else 0.0


def nominated(exemplar: Exemplar, reading: Reading) -> Iterator[tuple[Place, list[str]]]:
    """Yield the places with a word for the act and enough of the other words, with all words around the act."""
    words = reading.words
    act, *others = exemplar.groups
    own_verb = next(iter(act.values()))
    denies = not DENIALS.isdisjoint(words_of(exemplar.text))  # "merge without review" is no denial of merging
    acts = {at for word in (*act, *exemplar.pairs) for at in words.places.get(word, ())}
    for at in sorted(acts)[:MOST_ACTS] if reading.acts <= MOST_LOOKED_AT else ():
        reading.acts += 1
        verb = words.tokens[at]
        after = _after_act(exemplar, words.tokens, at, reading.prose.text)
        if not after:
            continue
        back = _looks_back(words.tokens, at, after)
        window, around, present = _window_of(at, reading, back=back)
        if exemplar.weight(present) < exemplar.least or (denies and not _denied(window)):
            continue
        _, start, end = verb
        ends = [last for word, first, last in around if first >= end and any(word in group for group in others)]
        if back or not _has_other_object(exemplar, window, verb, reading.prose.text):
            place = Place(
                exemplar=exemplar.text, score=0.0, verb=(start, end), end=end if denies or not ends else ends[0],
                first=window[0][1], last=window[-1][2],
                objects=_objects(exemplar),
                where=exemplar.where,
            )  # fmt: skip
            yield place, [own_verb if token[1] == start else token[0] for token in window]


def _objects(exemplar: Exemplar) -> frozenset[str]:
    """Return an exemplar's words besides its act, and what may replace them.

    If it is about what is left out ("merge it without review"), its object may be anything, so its pronouns count.
    """
    words = words_of(exemplar.text)
    pronouns = POINTERS if DENIALS.intersection(words) else frozenset[str]()
    return frozenset(word for group in exemplar.groups[1:] for word in (*group, *group.values())).union(pronouns)


def _after_act(exemplar: Exemplar, tokens: Sequence[Token], at: int, text: str) -> int:
    """Return the number of the token after the act at token `at`; 0 if that is no verb or its particle is missing."""
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
    """Return whether the object of an act comes before it: "the site is a mess, just blow it away"."""
    return any(token[0] in POINTERS for token in tokens[max(at + 1, after - 1) : after + 1])


def _denied(window: Sequence[Token]) -> bool:
    return any(word in DENIALS or word == "t" for word, _, _ in window)


def _has_other_object(exemplar: Exemplar, window: Sequence[Token], verb: Token, text: str) -> bool:
    """Return whether the act has another object: "remove the tabs from all files", "delete the repository class"."""
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
    """Return whether an exemplar's words begin a name for another thing: "the branch protection docs page"."""
    foreign = 0
    for (_, _, end), (word, start, _) in pairwise(tokens):
        own = any(word in group for group in others)
        if start - end != 1 or word in STOP_WORDS:
            return False
        if word in NAMED and (foreign or not own):
            return True
        foreign = 0 if own else foreign + 1
        if foreign >= MOST_COMPOUND:
            return False
    return False


def _is_moved(after: Sequence[Token]) -> bool:
    """Return whether the act moves its object somewhere: "drop the hooks folder into src"."""
    clause_end = next((at for at, token in enumerate(after) if token[0] in JOINS), len(after))
    return any(token[0] in MOVING for token in after[:clause_end])


def _window_of(at: int, reading: Reading, *, back: bool) -> Window:
    """Return the words around an act, those of them that may be its object, and the latter as a set."""
    window = reading.windows.get((at, back))
    if window is None:
        tokens = reading.words.tokens
        around, start = _around(tokens, at, reading, back=back), tokens[at][1]
        objects = [token for token in around if token[1] > start or (back and token[1] < start)]
        window = reading.windows[at, back] = around, objects, frozenset(token[0] for token in objects)
    return window


def _around(tokens: Sequence[Token], at: int, reading: Reading, *, back: bool) -> list[Token]:
    """Return the words around an act that count for it: of the same sentence, or also before it if `back`."""
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
    """Return the stance of a place's act, and its sentence; rules and classifier must agree that it is being done."""
    start, end = place.verb
    stance, around = reading.stance_at(start, end, place.end)
    first, last = sentence(reading.prose.text, start, place.end)
    act = act_of(reading.prose.masked, (first, last), place.verb, place.end)
    if reading.turn.role == "user" and is_order(act) and rule(act) in {"", REQUESTED, ANNOUNCED}:
        return REQUESTED, around
    if stance not in {ANNOUNCED, REQUESTED, RUNNING} or is_plan(act) or is_under_way(act):
        return stance, around
    sentence_end = around[start - act.reach - first :] if act.resolved else around
    at = start - first - (len(around) - len(sentence_end))
    try:
        guess, doing = judge_sentence(sentence_end, (at, at + end - start))
    except ArtefactError:  # without the classifier the rules decide
        return stance, around
    if (guess, doing) == UNKNOWN:  # probably not English, the language of exemplars
        return REPORTED, around
    if doing >= LIKELY:
        return stance, around
    return guess if guess not in {ANNOUNCED, REQUESTED, RUNNING} else REPORTED, around


# --- the vectors ---

_OPEN: list[Static | None] = []


def opened() -> Static | None:
    """Return the static vectors, mapped on first use, or None if they cannot be read."""
    if not _OPEN:
        try:
            _OPEN.append(open_static())
        except ArtefactError:
            _OPEN.append(None)
    return _OPEN[0]
