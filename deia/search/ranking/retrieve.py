"""Retrieve passages for a query: by words, and by meaning if the catalog has vectors for it.

The best passages by words are compared with the query's meaning, and passages that only the meaning finds are added, so
that a query in other words than the document's succeeds. Filters apply to both before anything is cut off. Vectors that
another model made are not used, and the answer warns about that.
"""

from __future__ import annotations

from operator import mul

from deia.errors import ArtefactError
from deia.folders import LIBRARY_PREFIX
from deia.match.keyword import ALSO, NOT, NUMBERS
from deia.match.spelling import edits_allowed, worth_keeping
from deia.match.static_vectors import Static
from deia.match.tiers import CHOICES, KEYWORD_TIER, RESCORED, TIERS, TRANSFORMER, Tier, open_tier
from deia.match.tokeniser import is_in_another_script
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import Catalog, StoredTier
from deia.search.question.asset_filters import collection_names
from deia.search.question.terms import Question, Term, corrected_text, information, stem_weights, unknown_words
from deia.search.ranking.layer_preference import own_among_more
from deia.search.ranking.rank import ABOUT, Evidence, Likeness
from deia.search.ranking.weights import WORDS_ALONE, is_usual

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from deia.match.keyword import Filters
    from deia.match.tiers import Vector
    from deia.match.vector_store import Vectors
    from deia.search.ranking.rank import Hit, Ranked


PASSAGES = 200  # requested by words at first
MOST_PASSAGES = 3_200
# Passages near in meaning: selected by their signs, and kept by their cosines (keeping 30 and 100 measured alike). Of
# the ten best documents, .977 are as if all passages were compared where 90 are selected, .982 with 120; nDCG@10 alike.
COARSELY, EXACTLY = 120, 30
FAR = 400  # instead of COARSELY with lists: of 150,000 passages, .74 of the ten nearest are among 90, .90 among 400
MOST_COUNTED_OUT = 10_000  # documents that pass a filter, up to which all of them are looked up
MOST_LIKELY = 10_000  # passages
MOST_RESPELLED = 4  # words of a query, of which each takes a millisecond
BY_WORD = (TIERS[1], KEYWORD_TIER, WORDS_ALONE)  # the tiers whose verdicts read a question word by word
CODE = "code"  # the type of documents that are not ranked as a whole
BY_WORDS = "searched by words only: "  # begins the warning that another model made the vectors
RESCORED_NOTE = "the sentence model compared the best passages only, because not all are encoded for it yet"


class Meaning(Record):
    """The semantic tier that takes part in a search, or none and a warning that says why."""

    tier: Tier | None = None
    warning: str = ""
    rescorer: Tier | None = None  # which compares the best passages again

    @property
    def name(self) -> str:
        """The tier's name, as an answer shows it."""
        tier = self.rescorer or self.tier
        return tier.name if tier else KEYWORD_TIER


def choose_tier(catalog: Catalog, *, tiers: Iterable[str] = TIERS, collection: str = "", text: str = "") -> Meaning:
    """Return the first of the tiers whose vectors are in the catalog and were made by the installed model.

    Where a collection keeps to word vectors, the sentence model takes part only in questions that name others. It
    learned English, and takes all texts of other scripts for alike: a question in one is not asked of it. A person's
    own model may know the language.
    """
    warning, is_plain = "", keeps_to_words(catalog, collection) or is_in_another_script(text)
    for full_name in tiers:
        if is_plain and full_name in (TIERS[0], RESCORED):
            continue
        if full_name == RESCORED:
            by_words = choose_tier(catalog, tiers=(TIERS[1],))
            if by_words.tier:
                return by_words.but(rescorer=open_tier(TIERS[0]), warning=warning or RESCORED_NOTE)
        name, _, model = full_name.partition(":")
        stored = catalog.tiers.get(name)
        if stored is None and name != TRANSFORMER:
            continue
        try:
            problem = _model_problem(stored, model) if name == TRANSFORMER else ""
            tier = None if problem else open_tier(full_name)
            if tier and stored and tier.digest == stored.digest:
                catalog.vectors(name)
                return Meaning(tier=tier, warning=warning)
            if stored and (tier or model):  # the embedder changed: no other model takes its place unasked
                problem = problem or f"the commons was compiled with another {name} model than this deia has"
                return Meaning(warning=f"{BY_WORDS}{problem}; type: deia compile --force")
        except ArtefactError as error:
            problem = error.message
        warning = warning or f"searched without {name} meaning: {problem}; type: deia compile"
    return Meaning(warning=warning)


def keeps_to_words(catalog: Catalog, collection: str) -> bool:
    """Return whether any of some collections, named with commas between them, keeps to word vectors."""
    names = {name.partition("/")[0] for name in collection_names(collection)}
    return bool(catalog.plain) and (not names or not names.isdisjoint(catalog.plain or ()))


def usual_tier(catalog: Catalog, collection: str, setting: str) -> str:
    """Return the tier of a question that names none: that of the collections that it names, else that of the setting.

    For collections of both kinds, and for everything, it is the tier that all have vectors of.
    """
    is_set = catalog.plain is not None and bool(collection.strip()) and not keeps_to_words(catalog, collection)
    return CHOICES[0] if is_set and setting == TIERS[1] else setting


def _model_problem(stored: StoredTier | None, model: str) -> str:
    """Return why a person's own model cannot be used, or ""; checked before loading it, which takes seconds."""
    if not model:
        return "no model is set, as `deia config model use MODEL` would"
    if stored is None:
        return f"the commons was compiled without {model}"
    return "" if stored.model == model else f"the commons was compiled with {stored.model or None}, not with {model}"


def retrieve(catalog: Catalog, question: Question, *, meaning: Meaning, filters: Filters, limit: int) -> Evidence:
    """Return the passages that match a query's words, and the similarity in meaning of these and the nearest others.

    As many passages are requested as it takes to find `limit` documents; each passage of code in the library is one.
    """
    if not question.terms:
        return Evidence(hits=[])
    most = max(PASSAGES, 2 * limit)
    while True:
        hits = catalog.keyword.passages(stem_weights(question), filters=filters, limit=most)
        enough = len({document for document, _, _ in hits}) >= limit
        if enough or len(hits) < most or most >= MOST_PASSAGES:
            break
        most *= 4
    likeness = _likeness(catalog, question, hits, meaning.tier, filters) if meaning.tier else None
    documents = {number for number, _, _ in hits}.union(likeness.documents if likeness else ())
    return Evidence(hits=hits, likeness=likeness, code=_code_among(catalog, documents))


def _code_among(catalog: Catalog, documents: Collection[int]) -> frozenset[int]:
    """Return which documents are code; a lesson whose category is `code` is not, since only the library has code."""
    if not catalog.keyword.has("type", CODE):
        return frozenset()
    numbers = catalog.keyword.numbers(filters={"type": CODE, NUMBERS: frozenset(documents)})
    return frozenset(number for number in numbers if catalog.id(number).startswith(LIBRARY_PREFIX))


def question_vector(question: Question, tier: Tier) -> Vector:
    """Return the vector of a query as it is searched for.

    For word vectors, misspelt words that the commons lacks are spelled as they know them: the parts of such a word say
    nothing. The sentence model reads them as they are.
    """
    respelled: dict[str, str] = {}
    if isinstance(tier.model, Static):
        lacked = [word for word in unknown_words(question) if worth_keeping(word) and edits_allowed(len(word))]
        respelled = {word: near for word in lacked[:MOST_RESPELLED] if (near := tier.model.respelled(word))}
    return tier.encode(corrected_text(question, respelled))


def _likeness(catalog: Catalog, question: Question, hits: Sequence[Hit], tier: Tier, filters: Filters) -> Likeness:
    """Compare the query's meaning with the passages that words found, and with the passages nearest to it."""
    vectors, vector = catalog.vectors(tier.name), question_vector(question, tier)
    near = _near_elsewhere(catalog, tier.name, vector, filters) if catalog.engine else None
    near = _near(catalog, vectors, vector, filters) if near is None else near
    by_words = [vectors.passage(document, ordinal) for document, ordinal, _ in hits]
    compared = list(dict.fromkeys((*near, *by_words)))
    cosines = dict(zip(compared, tier.similarities(vector, vectors.passages(compared)), strict=True))
    near = sorted(near, key=lambda passage: (-cosines[passage], passage))[:EXACTLY]
    passages = {
        (document, ordinal): cosines[passage] for (document, ordinal, _), passage in zip(hits, by_words, strict=True)
    }
    passages.update({vectors.place(passage): cosines[passage] for passage in near})
    documents = sorted({document for document, _ in passages})
    similarities = tier.similarities(vector, vectors.documents(documents))
    return Likeness(passages=passages, documents=dict(zip(documents, similarities, strict=True)))


def _near_elsewhere(catalog: Catalog, tier: str, vector: Vector, filters: Filters) -> list[int] | None:
    """Return the nearest passages that pass the filters as an engine finds them; None if it cannot answer.

    If few documents pass, the engine is told which; else it is asked for more until enough passages pass.
    """
    engine = catalog.engine
    passing = catalog.keyword.count(filters=filters) if filters else len(catalog)
    if engine is None or not any(vector):
        return None
    if filters and passing <= MOST_COUNTED_OUT:
        return engine.near(catalog, tier, vector, catalog.keyword.numbers(filters=filters), most=EXACTLY)
    most = EXACTLY * max(1, len(catalog) // max(1, passing))
    while (passages := engine.near(catalog, tier, vector, None, most=most)) is not None and filters:
        kept = _passing(catalog, catalog.vectors(tier), passages, filters)
        if len(kept) >= EXACTLY or len(passages) < most:
            return kept[:EXACTLY]
        most *= 4
        if most > MOST_LIKELY:
            return engine.near(catalog, tier, vector, catalog.keyword.numbers(filters=filters), most=EXACTLY)
    return passages


def _passing(catalog: Catalog, vectors: Vectors, passages: Sequence[int], filters: Filters) -> list[int]:
    """Return the passages whose documents pass the filters."""
    documents = frozenset(vectors.place(passage)[0] for passage in passages)
    among = catalog.keyword.numbers(filters={**filters, ALSO * (1 + len(filters)) + NUMBERS: documents})
    return [passage for passage in passages if vectors.place(passage)[0] in among]


def _near(catalog: Catalog, vectors: Vectors, vector: Vector, filters: Filters) -> list[int]:
    """Return the passages whose signs agree best with a query's, among those that pass the filters."""
    # If many documents of a large catalog pass, they are not looked up one by one: enough more passages are taken, and
    # the index then tells which of them pass.
    coarsely = COARSELY if vectors.lists is None else FAR
    if not filters:
        return vectors.near(vector, most=coarsely)
    passing = catalog.keyword.count(filters=filters) if vectors.lists else 0
    if passing > MOST_COUNTED_OUT:
        likely = vectors.near(vector, most=min(MOST_LIKELY, 2 * coarsely * len(catalog) // passing))
        kept = _passing(catalog, vectors, likely, filters)
        if len(kept) >= EXACTLY:
            return kept[: 2 * coarsely]
    return vectors.near(vector, most=coarsely, among=catalog.keyword.numbers(filters=filters))


# --- what the verdict looks at ---


def set_filters(filters: Filters) -> Filters:
    """Return the filters that were set: quoted and excluded words are words of the query."""
    return {name: value for name, value in filters.items() if not name.startswith(NOT) and NUMBERS not in name}


def judging_meaning(catalog: Catalog, meaning: Meaning) -> Meaning:
    """Return the meaning that the verdict looks at: that of the search, or word vectors if words alone were searched.

    Such a search keeps its order. The vectors only tell whether what was found is about the question.
    """
    return meaning if meaning.tier else choose_tier(catalog, tiers=TIERS[1:])


def judging_tier(catalog: Catalog, meaning: Meaning) -> str:
    """Return the name under which the verdict has weights for what it looks at."""
    return meaning.name if judging_meaning(catalog, meaning).tier else WORDS_ALONE


def as_judged(catalog: Catalog, question: Question, ranked: Sequence[Ranked], meaning: Meaning) -> Sequence[Ranked]:
    """Return ranked documents with the likenesses that the verdict looks at.

    If words alone ranked them, these are those of the passage to show and of the whole document.
    """
    tier = judging_meaning(catalog, meaning).tier
    if meaning.tier or tier is None or not ranked:
        return ranked
    vectors, vector = catalog.vectors(tier.name), question_vector(question, tier)
    best = vectors.passages(vectors.passage(document.number, document.ordinal) for document in ranked)
    whole = vectors.documents(document.number for document in ranked)
    cosines = zip(ranked, tier.similarities(vector, best), tier.similarities(vector, whole), strict=True)
    return [document.but(likeness=(1 - ABOUT) * passage + ABOUT * about) for document, passage, about in cosines]


def as_typed(catalog: Catalog, question: Question, tier: str) -> Question:
    """Return a question as the verdict of a tier reads it, in which usual words were not misspelt.

    The commons lacks such a word, so that a search had better try the nearest one it has; but it was asked about. The
    sentence model's verdict was trained with questions as they were corrected, and does as well.
    """
    if tier not in BY_WORD:
        return question
    corrected = [term.typed for term in question.terms if term.part and term.corrected and not _is_cut_anew(term)]
    stems = dict(zip(corrected, catalog.keyword.stems(corrected), strict=True)) if corrected else {}
    meant = [typed for typed, stem in stems.items() if is_usual(stem)]
    if not meant:
        return question
    lacked = information(0, catalog.keyword.worded)
    kept = (term for term in question.terms if not (term.corrected and term.typed in meant))
    return question.but(terms=(*kept, *(Term(typed=typed, stem="", information=lacked) for typed in meant)))


def _is_cut_anew(term: Term) -> bool:
    """Return whether only the spaces of a word were corrected."""
    return term.typed in term.corrected or term.typed == term.corrected.replace(" ", "")


# --- affinity ---

# A homonym finds a passage in a commons about something else: *a minimum branching* finds one about Git. The other
# passages are then unlike the query.
SAMPLE = 64  # passages, evenly spread; 32, 64, 128 and all of them measured alike
MOST_OF_ONE, MUCH_MORE = 4, 2  # of passages, one in 4, and twice what a document has on average
MOST = 2.0  # limits the result: if hardly two of a few passages are alike, a ratio to that means nothing


def affinity(catalog: Catalog, question: Question, meaning: Meaning, filters: Filters) -> float:
    """Return the similarity of a query with the passages that pass, relative to that of these with each other.

    About 0 for an unrelated query; also 0 without a tier, or with a person's own model, with which no weight was
    learned. A project's own documents count, too, by themselves: a few may be about something else than the many that
    came with deia. (Of 240 questions about eight checklists beside the starter, .029 instead of .033 were refused, of
    217 about eight commands .129 instead of .171, and no more of 650 foreign ones were answered.)
    """
    if meaning.tier is None or meaning.name == TRANSFORMER:
        return 0.0
    tier, vectors = meaning.tier, catalog.vectors(meaning.tier.name)
    vector = question_vector(question, tier)
    own = {} if filters else own_among_more(catalog)
    choices = (filters, own) if own else (filters,)
    samples = (sample for choice in choices for sample in _samples(catalog, vectors, choice))
    middles = (tier.middle(vectors.passages(sample)) for sample in samples if sample)
    return max((relative_similarity(vector, middle) for middle in middles), default=0.0)


def _samples(catalog: Catalog, vectors: Vectors, filters: Filters) -> Iterator[Sequence[int]]:
    """Yield passages of the documents that pass the filters, evenly spread.

    If one document has many of them, as a table of 100,000 rows beside a few notes would, the documents count, too,
    each alike.
    """
    few = bool(filters) and catalog.keyword.count(filters=filters) <= MOST_COUNTED_OUT
    passing: Sequence[int] = sorted(catalog.keyword.numbers(filters=filters)) if few else range(catalog.numbers)
    among: Sequence[int] = [at for number in passing for at in vectors.of(number)] if few else range(len(vectors))
    yield among[:: max(1, -(-len(among) // SAMPLE))]
    wordless = catalog.keyword.begun_without_words
    if wordless or _is_uneven(vectors, among, len(passing)):
        yield _sample_of_each(vectors, [number for number in passing if number not in wordless])


def _is_uneven(vectors: Vectors, passages: Sequence[int], documents: int) -> bool:
    """Return whether one document has more than a quarter of some passages, and much more than others have."""
    most = max(1, len(passages) // MOST_OF_ONE, MUCH_MORE * len(passages) // max(1, documents))
    # The passages of a document are next to each other, so that more than `most` are at one of these places.
    return any(vectors.count(vectors.place(passage)[0]) > most for passage in passages[most::most])


def _sample_of_each(vectors: Vectors, documents: Sequence[int]) -> list[int]:
    """Return a few passages of each of some documents, or one of each of those that are evenly spread if many are."""
    each = max(1, SAMPLE // max(1, len(documents)))
    spread = documents[:: max(1, -(-len(documents) // SAMPLE))]
    return [at for number in spread for at in vectors.of(number)[:: max(1, -(-vectors.count(number) // each))]]


def relative_similarity(question: Sequence[float], middle: Sequence[float]) -> float:
    """Return the mean cosine of a query with passages, relative to that among the passages, from their mean vector.

    The mean cosine of unit vectors with a vector is its dot product with their mean; the mean among themselves is
    therefore the square of the mean's length.
    """
    among = sum(map(mul, middle, middle))
    return max(-MOST, min(MOST, sum(map(mul, question, middle)) / among)) if among else 0.0
