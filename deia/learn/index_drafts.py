"""Drafts for the index, from what came of questions: each a small change that might help, not yet tried.

One function a kind. Who has said little is not listened to: every threshold stands here, and what it keeps out is
asked for again by the next people. Refuses to say that a draft is good: only trying it does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from deia.learn.changes import ADD, CONCEPT, DOCUMENT, DROP, INDEX, PATTERN, SET, STRENGTH, Change
from deia.learn.corpus_words import COMMON_HERE, Shelf
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, Pair, Question, Rephrased, Shown
from deia.match.tokeniser import fold
from deia.records import Record

LEAST = 0.75  # weight of a question for a document, such as one opening after another try, for it to count
LEAST_WORD = 1.0  # weight of all questions with a word, for it to be one document's
MOST_WEIGHT = 6.0  # that one question gives
MOST_TURNED = 9  # pairs of a word that went and one that came, when a question was asked anew
SHARE = 0.5  # of the weight of the document that a word speaks for most
MOST_KEYWORDS = 30  # added to a document at once
SUPPORT = 2  # documents, or people, that must agree on a word for a thing
MEANT = 0.3  # of what came in place of a word must be the one that it is taken to mean: two words each make a half
AGREE = 0.8  # of the documents that answer questions with a new word must share the old one
WIDE = 0.3  # of the documents: a word that names more of them is no other word for anything
STEP, MOST_STRENGTH = 0.25, 1.0  # of the strength of a document
NEEDED, PASSED_OVER = 5.0, 5  # weight of its questions; times that another was opened instead
OFTEN, BY = 3, 2  # times and people that make a frequent question
CLEAR = 0.6  # of a question's weight must be one document's
WORDINGS, PATTERN_WORDS = 4, 3
MOST_RELATED = 3
UNUSED_DAYS, UNUSED_ASKED = 90, 200  # after which a document that was never shown is to be looked at
REVIEW = "review"
EXAMPLES = 5


class Reach(Record):
    """How far the words of a question are believed to carry over to other questions: how many must have said them."""

    name: str
    new: int = 2  # people or questions, for a word that nobody here writes; 0 for never
    known: int = 0  # the same for words that texts here have
    is_wide: bool = False  # also for documents that others have more to say for
    is_standing: bool = False  # whether what is needed often is raised, and what is passed over lowered


# From the least to the most that is taken from a question. How much is right depends on the commons: where each
# document is asked for in several ways, other people ask with the same words; where each has a question of its own
# its words stand in texts for other documents. `serve/learning/reaching` finds out which.
CAREFUL = Reach(name="new words that two have said")
REACHES = (
    CAREFUL,
    Reach(name="new words", new=1),
    Reach(name="words of the first that two have said", new=1, known=2),
    Reach(name="words that two have said", new=1, known=2, is_wide=True),
    Reach(name="every word", new=1, known=1, is_wide=True),
)


def draft(evidence: Evidence, shelf: Shelf, *, reach: Reach = CAREFUL) -> list[Proposal]:
    """Give every draft for the index, by kind; what speaks for most people first."""
    found = [
        proposal for make in DRAFTS for proposal in sorted(make(evidence, shelf, reach), key=lambda one: -one.weight)
    ]
    return list({proposal.id: proposal for proposal in found}.values())


def _helped(evidence: Evidence, shelf: Shelf) -> list[Pair]:
    return [pair for pair in evidence.pairs if pair.weight >= LEAST and pair.document in shelf.entries]


def consistent(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Leave words out of keywords that a concept among the proposals explains: a thing's word is no document's own."""
    explained = {word for one in proposals if one.kind == "concept" for word in one.changes[0].value}
    made = [_but_for(explained, one) if one.kind == "keywords" else one for one in proposals]
    return [one for one in made if one.kind != "keywords" or one.changes[0].value]


def _but_for(words: set[str], proposal: Proposal) -> Proposal:
    change = proposal.changes[0]
    if words.isdisjoint(change.value):
        return proposal
    kept = change.but(value=tuple(word for word in change.value if word not in words))
    return propose(proposal.kind, [kept], because=proposal.because, evidence=proposal.evidence, weight=proposal.weight)


# --- other words ---


def concepts(evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft words for one thing: a word that nobody here writes stands in questions whose documents share a name.

    Where it was made a keyword of some of these before more was known, it is taken out there: it is the thing's.
    """
    agreed: dict[tuple[str, str], float] = defaultdict(float)
    asked: dict[tuple[str, str], list[str]] = defaultdict(list)
    for told in (_by_documents(evidence, shelf), _by_rephrasing(evidence.rephrased, shelf)):
        for place, (weight, questions) in told.items():
            agreed[place] += weight
            asked[place] += questions
    best: dict[str, tuple[str, str]] = {}
    for new, old in sorted(agreed, key=lambda place: (agreed[place], -shelf.naming[place[1]], place)):
        best[new] = (new, old)
    for place in best.values():
        if agreed[place] >= SUPPORT:
            new, old = place
            typed = _typed(new, asked[place], shelf)
            yield propose(
                "concept",
                [Change(kind=CONCEPT, of=INDEX, target=shelf.form(old), value=(typed,)), *_moved(new, shelf)],
                because=f"asked for as {typed!r}, which nobody here writes",
                evidence=list(dict.fromkeys(asked[place]))[:EXAMPLES], weight=agreed[place],
            )  # fmt: skip


def tidied(_evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft the end of keywords that were one document's before they became other words for what several have."""
    for new in sorted(shelf.linked_words()):
        named = {document for document in shelf.called(new) if not shelf.linked(new).isdisjoint(shelf.named[document])}
        changes = [one for one in _moved(new, shelf) if one.target in named]
        if changes and not shelf.is_written(new):
            because = f"{changes[0].value[0]!r} is in `concepts`, and as a keyword stands for these documents alone"
            yield propose("concept", changes, because=because, evidence=(), weight=float(len(changes)))


def _moved(new: str, shelf: Shelf) -> Iterator[Change]:
    """Take a word out of the keywords of documents that keep others."""
    for document, words in shelf.called(new).items():
        if document in shelf.own and len(shelf.entries[document].keywords) > len(words):
            yield Change(kind=DROP, of=DOCUMENT, target=document, field="keywords", value=words)


def _is_open(stem: str, shelf: Shelf) -> bool:
    """Say whether a word could be another word for something: nobody writes it, and it tells something apart."""
    return not shelf.is_written(stem) and not shelf.is_common(stem)


def _unexplained(asked: Iterable[str], document: str, shelf: Shelf) -> frozenset[str]:
    """Give the names of a document that a question says neither itself nor by a word that is known to mean them."""
    said = {stem for each in asked for stem in (each, *shelf.linked(each))}
    return shelf.named.get(document, frozenset()) - said


def _typed(stem: str, questions: Sequence[str], shelf: Shelf) -> str:
    return next((told[stem] for told in map(shelf.told, questions) if stem in told), stem)


Agreed = dict[tuple[str, str], tuple[float, list[str]]]


def _by_documents(evidence: Evidence, shelf: Shelf) -> Agreed:
    """Give what the documents share that answer questions with a new word: one vote a document."""
    holding: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    open_names: dict[tuple[str, str], frozenset[str]] = {}
    for pair in _helped(evidence, shelf):
        asked = shelf.told(pair.question)
        names = _unexplained(asked, pair.document, shelf)
        for stem in asked:
            if _is_open(stem, shelf) and shelf.linked(stem).isdisjoint(shelf.named[pair.document]):
                holding[stem][pair.document].append(pair.question)
                place = (stem, pair.document)
                open_names[place] = open_names.get(place, names) & names
    found: Agreed = {}
    for new, by_document in holding.items():
        if shelf.is_misspelt(new):
            continue
        questions = [one for each in by_document.values() for one in each]
        votes = Counter(old for document in by_document for old in open_names[new, document] - {new})
        for old, count in votes.items():
            if count >= max(SUPPORT, AGREE * len(by_document)) and _is_name(old, new, shelf):
                found[new, old] = (count + count / (1 + shelf.naming[old]), questions)
    return found


def _is_name(old: str, new: str, shelf: Shelf) -> bool:
    """Say whether a word names few documents, and all that are called by the new one."""
    narrow = shelf.naming[old] <= max(SUPPORT, WIDE * len(shelf.entries))
    return narrow and shelf.is_written(old) and all(old in shelf.named[document] for document in shelf.called(new))


def _by_rephrasing(rephrased: Sequence[Rephrased], shelf: Shelf) -> Agreed:
    """Give the words that took the place of new ones when the same person asked again.

    One vote a person, shared by the pairs that it could be.
    """
    found: Agreed = {}
    for each in rephrased:
        first, then = shelf.told(each.first), shelf.told(each.then)
        names = _unexplained(first, each.document, shelf)
        new = [stem for stem in first if stem not in then and _is_open(stem, shelf) and not shelf.is_misspelt(stem)]
        new = [stem for stem in new if shelf.linked(stem).isdisjoint(then)]
        old = [stem for stem in then if stem in names]
        if 0 < len(new) * len(old) <= MOST_TURNED:
            for place in product(new, old):
                if _is_name(place[1], place[0], shelf):
                    weight, questions = found.get(place, (0.0, []))
                    found[place] = (weight + each.people / (len(new) * len(old)), [*questions, each.first])
    every: dict[str, float] = defaultdict(float)
    for place, (weight, _) in found.items():
        every[place[0]] += weight
    return {place: told for place, told in found.items() if told[0] >= MEANT * every[place[0]]}


# --- keywords ---


def keywords(evidence: Evidence, shelf: Shelf, reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft keywords: words of the questions that a document answered, which it does not call itself by."""
    support: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    asked: dict[str, list[Pair]] = defaultdict(list)
    said: dict[tuple[str, str], int] = defaultdict(int)
    for pair in evidence.pairs:
        if pair.document not in shelf.entries or abs(pair.weight) < LEAST:
            continue
        asked[pair.document].append(pair)
        for stem in shelf.told(pair.question):
            support[stem][pair.document] += max(-MOST_WEIGHT, min(MOST_WEIGHT, pair.weight))
            said[stem, pair.document] += pair.people * (pair.weight > 0)
    own: dict[str, dict[str, float]] = defaultdict(dict)
    for stem, weights in support.items():
        least = reach.known if shelf.is_written(stem) else reach.new
        if not least or shelf.is_common(stem):
            continue
        for document, weight in _believed(weights, shelf, reach):
            lacking = document in shelf.own and not shelf.named[document] & {stem, *shelf.linked(stem)}
            if lacking and said[stem, document] >= least:
                own[document][stem] = weight
    for document, stems in own.items():
        best = sorted(stems, key=lambda stem: (-stems[stem], shelf.known[stem], stem))
        telling = {stem: stems[stem] for stem in [one for one in best if not shelf.is_misspelt(one)][:MOST_KEYWORDS]}
        questions = [pair for pair in asked[document] if not telling.keys().isdisjoint(shelf.told(pair.question))]
        if telling:
            yield _keywords(document, telling, questions, shelf)


def _believed(weights: Mapping[str, float], shelf: Shelf, reach: Reach) -> list[tuple[str, float]]:
    """Give the documents whose word it is: all, or those with nearly as much behind them as the first, if few."""
    first = max(weights.values())
    held = [(document, weight) for document, weight in weights.items() if weight > 0]
    if reach.is_wide:
        return [(document, weight) for document, weight in held if weight >= LEAST_WORD]
    few = len(held) <= max(SUPPORT + 1, COMMON_HERE * len(shelf.entries))
    return [(document, weight) for document, weight in held if weight >= max(LEAST_WORD, SHARE * first)] if few else []


def _keywords(document: str, telling: Mapping[str, float], questions: Sequence[Pair], shelf: Shelf) -> Proposal:
    texts = [pair.question for pair in sorted(questions, key=lambda pair: -pair.weight)]
    words = tuple(_typed(stem, texts, shelf) for stem in telling)
    people = sum(pair.people for pair in questions if pair.weight > 0)
    return propose(
        "keywords", [Change(kind=ADD, of=DOCUMENT, target=document, field="keywords", value=words)],
        because=f"{people} found it by asking so", evidence=texts[:EXAMPLES],
        weight=sum(max(0.0, pair.weight) for pair in questions),
    )  # fmt: skip


# --- standing ---


def strengths(evidence: Evidence, shelf: Shelf, reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft a little more standing for documents that are needed often, and less for those that are passed over."""
    if not reach.is_standing:
        return
    needed: dict[str, float] = defaultdict(float)
    asked: dict[str, list[str]] = defaultdict(list)
    for pair in evidence.pairs:
        needed[pair.document] += pair.weight
        asked[pair.document].append(pair.question)
    shown: dict[str, Shown] = {each.document: each for each in evidence.shown}
    for document in sorted(shelf.own & shelf.entries.keys()):
        given = shelf.entries[document].extra.get(STRENGTH, 0)
        now = float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else 0.0
        seen = shown.get(document)
        if needed[document] >= NEEDED and now + STEP <= MOST_STRENGTH:
            why = f"needed often: its questions weigh {needed[document]:g}"
            yield _strength("promote", document, now + STEP, why, asked[document], needed[document])
        elif seen and not seen.opened and seen.passed_over >= PASSED_OVER and now - STEP >= -MOST_STRENGTH:
            why = f"stood first {seen.passed_over} times when another was opened, and was never opened"
            yield _strength("demote", document, now - STEP, why, asked[document], float(seen.passed_over))


def _strength(kind: str, document: str, value: float, why: str, asked: Sequence[str], weight: float) -> Proposal:
    change = Change(kind=SET, of=DOCUMENT, target=document, field=STRENGTH, value=round(value, 2))
    return propose(kind, [change], because=why, evidence=asked[:EXAMPLES], weight=weight)


def related(evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft relations between documents that the same people opened one after the other."""
    beside: dict[str, dict[str, int]] = defaultdict(dict)
    for each in evidence.together:
        known = shelf.entries.get(each.first)
        if known and each.first in shelf.own and each.then in shelf.entries and each.then not in known.related_docs:
            beside[each.first][each.then] = each.people
    for document, others in beside.items():
        best = sorted(others, key=lambda one: (-others[one], one))[:MOST_RELATED]
        yield propose(
            "related", [Change(kind=ADD, of=DOCUMENT, target=document, field="related_docs", value=tuple(best))],
            because=f"opened together by {others[best[0]]} people", evidence=best, weight=float(others[best[0]]),
        )  # fmt: skip


# --- past questions ---


def patterns(evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft past questions: what is asked often and answered by one document, as a golden query from now on."""
    often = {each.text: each for each in evidence.questions if each.times >= OFTEN and each.people >= BY}
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for pair in _helped(evidence, shelf):
        weights[pair.question][pair.document] = pair.weight
    answered: dict[str, list[Question]] = defaultdict(list)
    for text, by_document in weights.items():
        best = max(by_document, key=lambda one: (by_document[one], one))
        if text in often and not _is_pattern(text, shelf) and by_document[best] >= CLEAR * sum(by_document.values()):
            answered[best].append(often[text])
    for document, questions in answered.items():
        texts = [each.text for each in sorted(questions, key=lambda each: -each.times)][:WORDINGS]
        times, people = sum(each.times for each in questions), max(each.people for each in questions)
        because = f"asked {times} times by {people} people or more, and answered by it"
        yield _pattern("pattern", texts, document, because, float(times), shelf)


def refinements(evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft better questions to suggest: how people asked in the end, beside how they began."""
    drafted = {line for one in patterns(evidence, shelf) for line in one.changes[0].value["natural_language"]}
    for each in evidence.rephrased:
        known = each.then in drafted or _is_pattern(each.then, shelf)
        fits = each.document in shelf.entries and not known
        if each.people >= BY and fits and shelf.told(each.then):
            because = f"{each.people} people began with the second and found it by the first"
            yield _pattern("refine", [each.then, each.first], each.document, because, float(each.people), shelf)


def _is_pattern(text: str, shelf: Shelf) -> bool:
    return any(fold(text) == fold(line) for one in shelf.commons.query_patterns for line in one.natural_language)


def _pattern(
    kind: str, texts: Sequence[str], document: str, because: str, weight: float, shelf: Shelf
) -> Proposal:  # fmt: skip
    shared = shelf.told(texts[0])
    words = sorted(shared, key=lambda stem: (stem not in shelf.named[document], shelf.known[stem]))[:PATTERN_WORDS]
    clusters = shelf.entries[document].clusters
    value = {
        "query_keywords": [shared[stem] for stem in shared if stem in words], "natural_language": list(texts),
        **({"primary_cluster": clusters[0]} if clusters else {}), "common_docs": [document],
    }  # fmt: skip
    change = Change(kind=PATTERN, of=INDEX, target=document, value=value)
    return propose(kind, [change], because=because, evidence=texts, weight=weight)


# --- what nobody needs ---


def reviews(evidence: Evidence, shelf: Shelf, _reach: Reach = CAREFUL) -> Iterator[Proposal]:
    """Draft a mark for documents that no answer ever named, in a ledger long enough to say so."""
    if evidence.days < UNUSED_DAYS or evidence.asked < UNUSED_ASKED:
        return
    used = {each.document for each in evidence.shown} | {pair.document for pair in evidence.pairs}
    used |= {reference.id for trigger in shelf.commons.triggers for reference in trigger.documents}
    for document in sorted(shelf.own & shelf.entries.keys() - used):
        if not shelf.entries[document].status:
            yield propose(
                "review", [Change(kind=SET, of=DOCUMENT, target=document, field="status", value=REVIEW)],
                because=f"in no answer of {evidence.asked} in {evidence.days} days", evidence=(), weight=0.0,
            )  # fmt: skip


DRAFTS: tuple[Callable[[Evidence, Shelf, Reach], Iterator[Proposal]], ...] = (
    concepts, tidied, keywords, strengths, related, patterns, refinements, reviews,
)  # fmt: skip
