"""Drafts for the index, from what came of questions: each a small change that might help, not yet tried.

One function a kind. Who has said little is not listened to: every threshold stands here, and what it keeps out is
asked for again by the next people. Refuses to say that a draft is good: only trying it does.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product

from deia.learn.changes import ADD, CONCEPT, DOCUMENT, INDEX, PATTERN, SET, STRENGTH, Change
from deia.learn.proposals import propose
from deia.learn.shelf import COMMON_HERE
from deia.match.terms import fold
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from deia.learn.proposals import Proposal
    from deia.learn.shelf import Shelf
    from deia.learn.signals import Evidence, Pair, Question, Rephrased, Shown

LEAST = 0.75  # weight of a question for a document, such as one opening after another try, for it to count
LEAST_WORD = 1.0  # weight of all questions with a word, for it to be one document's
MOST_WEIGHT = 6.0  # that one question gives
MOST_TURNED = 9  # pairs of a word that went and one that came, when a question was asked anew
SHARE = 0.5  # of the weight of the document that a word speaks for most
# Questions with a word, for it to be a keyword; one is enough for a word that no text here has. Others ask with what
# stands in texts for other documents (measured on alerts: .880 nDCG@10 without learning, .868 with words of one).
SAID = 2
MOST_KEYWORDS = 10  # added to a document at once
SUPPORT = 2  # documents, or people, that must agree on a word for a thing
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


def draft(evidence: Evidence, shelf: Shelf) -> list[Proposal]:
    """Give every draft for the index, by kind; what speaks for most people first."""
    found = [proposal for make in DRAFTS for proposal in sorted(make(evidence, shelf), key=lambda one: -one.weight)]
    return list({proposal.id: proposal for proposal in found}.values())


def _helped(evidence: Evidence, shelf: Shelf) -> list[Pair]:
    return [pair for pair in evidence.pairs if pair.weight >= LEAST and pair.document in shelf.entries]


# --- other words ---


def concepts(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
    """Draft words for one thing: a word that nobody here uses stands in questions whose documents share a name."""
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
                "concept", [Change(kind=CONCEPT, of=INDEX, target=shelf.form(old), value=(typed,))],
                because=f"asked for as {typed!r}, which nobody here writes",
                evidence=list(dict.fromkeys(asked[place]))[:EXAMPLES], weight=agreed[place],
            )  # fmt: skip


def _typed(stem: str, questions: Sequence[str], shelf: Shelf) -> str:
    return next((told[stem] for told in map(shelf.told, questions) if stem in told), stem)


Agreed = dict[tuple[str, str], tuple[float, list[str]]]


def _by_documents(evidence: Evidence, shelf: Shelf) -> Agreed:
    """Give what the documents share that answer questions with an unknown word: one vote a document."""
    holding: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for pair in _helped(evidence, shelf):
        for stem in shelf.told(pair.question):
            if not shelf.known[stem] and not shelf.is_common(stem):
                holding[stem][pair.document].append(pair.question)
    found: Agreed = {}
    for new, by_document in holding.items():
        questions = [one for each in by_document.values() for one in each]
        asked = {stem for one in questions for stem in shelf.told(one)} - {new}
        for old in {stem for document in by_document for stem in shelf.named[document]} - asked:
            votes = sum(old in shelf.named[document] for document in by_document)
            narrow = shelf.naming[old] <= max(SUPPORT, WIDE * len(shelf.entries))
            if votes >= SUPPORT and votes >= AGREE * len(by_document) and narrow and not shelf.is_misspelt(new):
                found[new, old] = (votes + votes / (1 + shelf.naming[old]), questions)
    return found


def _by_rephrasing(rephrased: Sequence[Rephrased], shelf: Shelf) -> Agreed:
    """Give the words that took the place of unknown ones when the same person asked again.

    One vote a person, shared by the pairs that it could be.
    """
    found: Agreed = {}
    for each in rephrased:
        first, then = shelf.told(each.first), shelf.told(each.then)
        new = [stem for stem in first if stem not in then and not shelf.known[stem] and not shelf.is_misspelt(stem)]
        named = shelf.named.get(each.document, frozenset())
        old = [stem for stem in then if stem not in first and stem in named]
        if 0 < len(new) * len(old) <= MOST_TURNED:
            for place in product(new, old):
                weight, questions = found.get(place, (0.0, []))
                found[place] = (weight + each.people / (len(new) * len(old)), [*questions, each.first])
    return found


# --- keywords ---


def keywords(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
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
            said[stem, pair.document] += pair.weight > 0
    own: dict[str, dict[str, float]] = defaultdict(dict)
    for stem, weights in support.items():
        for document, weight in _leading(weights, shelf):
            lacking = document in shelf.own and stem not in shelf.named[document] and not shelf.is_common(stem)
            if lacking and (said[stem, document] >= SAID or not shelf.known[stem]):
                own[document][stem] = weight
    for document, stems in own.items():
        best = sorted(stems, key=lambda stem: (-stems[stem], shelf.known[stem], stem))
        telling = {stem: stems[stem] for stem in [one for one in best if not shelf.is_misspelt(one)][:MOST_KEYWORDS]}
        questions = [pair for pair in asked[document] if not telling.keys().isdisjoint(shelf.told(pair.question))]
        if telling:
            yield _keywords(document, telling, questions, shelf)


def _leading(weights: Mapping[str, float], shelf: Shelf) -> list[tuple[str, float]]:
    """Give the documents whose word it is: those with nearly as much behind them as the first, if they are few."""
    first = max(weights.values())
    held = [(document, weight) for document, weight in weights.items() if weight > 0]
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


def strengths(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
    """Draft a little more standing for documents that are needed often, and less for those that are passed over."""
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


def related(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
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


def patterns(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
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


def refinements(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
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


def reviews(evidence: Evidence, shelf: Shelf) -> Iterator[Proposal]:
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


DRAFTS: tuple[Callable[[Evidence, Shelf], Iterator[Proposal]], ...] = (
    concepts, keywords, strengths, related, patterns, refinements, reviews,
)  # fmt: skip
