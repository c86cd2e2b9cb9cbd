"""Interpret a query: its kind, the text to search for, and the filters that it sets.

The only errors are values of fields that the commons does not have; the message lists the nearest ones. Everything else
is searched for as it was typed.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.knowledge import Query
from deia.match.keyword import ALSO, DATES, FILTERS, NAMED, NOT, NUMBERS, TITLE, filter_key
from deia.match.tokeniser import terms, words
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import Catalog
from deia.search.question import dates
from deia.search.question.classify import AUDIENCE, COMMAND, CONVERSATIONAL, ERROR, PLATFORM, Kind, Known, kind_of
from deia.search.question.syntax import Field, Typed, read_syntax
from deia.suggestions import did_you_mean

if TYPE_CHECKING:
    from deia.match.keyword import Filters, Wanted


MOST_LISTED = 8  # values named in a message
BY_FILTERS = "filters"
MOST_SHOWN = 300  # characters of the interpretation that an answer shows
AS_TYPED = (COMMAND, CONVERSATIONAL, PLATFORM, AUDIENCE)


class Interpretation(Record):
    """An interpreted query."""

    query: Query  # with the text to search for, and the platform or audience that the text named
    kind: str
    filters: Filters
    strong: tuple[str, ...] = ()
    note: str = ""  # the interpretation, if it differs from the text
    warnings: tuple[str, ...] = ()


def interpret(catalog: Catalog, query: Query) -> Interpretation:
    """Interpret a query and its filters; raise QueryError if a filter names a value that the commons does not have."""
    filters: dict[str, Wanted] = {**_explicit_filters(catalog, query), **_library_filters(catalog, query)}
    if not query.text.strip():
        return Interpretation(query=query, kind=BY_FILTERS, filters=filters)
    kind, typed = _read(catalog, query.text)
    if kind.name in (PLATFORM, AUDIENCE) and not filters:
        return _overview(query, kind)
    if typed.plain:
        rewritten = kind.name in (ERROR, COMMAND) and kind.text != query.text
        note = f"{kind.name}: {kind.text[:MOST_SHOWN]}" if rewritten else ""
        return Interpretation(
            query=query.but(text=kind.text), kind=kind.name, filters=filters, strong=_folded_terms(kind), note=note
        )
    notes, warnings = _add_demands(catalog, typed, filters)
    adapted = query.but(text=kind.text, **_overview_fields(typed, query))
    return Interpretation(
        query=adapted,
        kind=kind.name if typed.words.strip() else BY_FILTERS,
        filters=filters,
        strong=_folded_terms(kind),
        note="; ".join([*([kind.text[:MOST_SHOWN]] if kind.text.strip() else []), *notes]),
        warnings=tuple(warnings),
    )


def _read(catalog: Catalog, text: str) -> tuple[Kind, Typed]:
    """Return the kind of a text and its syntax; errors and commands have no syntax, unless they begin with it."""
    known = _known(catalog)
    kind = kind_of(text, known)
    if kind.name in AS_TYPED:
        return kind, read_syntax("")
    typed = read_syntax(text)
    if typed.plain or (kind.name == ERROR and not _begins_with_syntax(text, typed)):
        return kind, read_syntax("")
    return kind_of(typed.words, known), typed


def _begins_with_syntax(text: str, typed: Typed) -> bool:
    first = text.split(None, 1)[0].casefold()
    if typed.phrases and first[0] in '"“„':
        return True
    return any(first.startswith(f"{field.name}:") for field in typed.fields)


def _known(catalog: Catalog) -> Known:
    return Known(
        is_platform=lambda name: catalog.keyword.has("platform", name),
        audiences=lambda: catalog.keyword.values("audience"),
    )


def _overview(query: Query, kind: Kind) -> Interpretation:
    """Interpret a query as a request for all documents of a platform or an audience."""
    name = "platform" if kind.name == PLATFORM else "audience"
    return Interpretation(
        query=query.but(text="", **{name: kind.value}),
        kind=kind.name,
        filters={name: kind.value},
        note=f"all documents of the {name} {kind.value}",
    )


def _folded_terms(kind: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(" ".join(kind.strong))))


def _overview_fields(typed: Typed, query: Query) -> dict[str, str]:
    """Return the platform or audience if the query consists of nothing else; its overview answers the query."""
    if typed.words.strip() or len(typed.fields) != 1 or typed.fields[0].negated:
        return {}
    field = typed.fields[0]
    return {field.name: field.value} if field.name in FILTERS and not getattr(query, field.name) else {}


# --- filters ---------------------------------------------------------------------------------------------------------


def _explicit_filters(catalog: Catalog, query: Query) -> dict[str, str]:
    """Return the filters that were set beside the text."""
    filters = {name: value for name in FILTERS if (value := str(getattr(query, name))).strip()}
    for name, value in filters.items():
        _check(catalog, name, value)
    return filters


def _library_filters(catalog: Catalog, query: Query) -> Filters:
    if not (query.asset_type or query.collection or query.since or query.until):
        return {}
    from deia.search.question.asset_filters import library_filters  # noqa: PLC0415 - most questions have none of these

    return library_filters(catalog, query)


def _check(catalog: Catalog, name: str, value: str) -> None:
    """Check that some document has a filter's value."""
    if catalog.keyword.has(name, value):
        return
    known = catalog.keyword.values(name)
    if not known:
        raise QueryError(
            f"no document that is searched has the {name} {value!r}.",
            fix=f"None of them has any {name}; leave this filter out.",
        )
    suggestion = did_you_mean(filter_key(value), known)
    listed = f"Known values: {', '.join(known[:MOST_LISTED])}{', …' if len(known) > MOST_LISTED else ''}."
    raise QueryError(f"no document has the {name} {value!r}.", fix=f"{suggestion} {listed}".strip())


def _add_demands(catalog: Catalog, typed: Typed, filters: dict[str, Wanted]) -> tuple[list[str], list[str]]:
    """Add the filters that the text demands; return notes about them, and warnings."""
    notes: list[str] = []
    for field in typed.fields:
        _add_field(filters, field, _filter_value(catalog, field))
        notes.append(f"{'not ' * field.negated}{field.name}: {field.value}")
    warnings: list[str] = []
    for phrase in typed.phrases:
        numbers = documents_with_phrase(catalog, phrase)
        if not numbers and typed.sentence:  # within a sentence, it may be a name of the asker's own
            warnings.append(f'no document contains "{phrase}" word for word; searched for its words instead')
            continue
        others = filters.get(NUMBERS)
        filters[NUMBERS] = numbers & others if isinstance(others, frozenset) else numbers
        notes.append(f'word for word: "{phrase}"')
        if not numbers:
            warnings.append(f'no document contains "{phrase}" word for word; leave out the quotation marks')
    excluded = [documents_with_word(catalog, word) for word in typed.without]
    excluded += [documents_with_phrase(catalog, phrase) for phrase in typed.without_phrases]
    if any(excluded):
        filters[NOT + NUMBERS] = frozenset[int]().union(*excluded)
    notes += [f"without: {word}" for word in typed.without]
    notes += [f'without: "{phrase}"' for phrase in typed.without_phrases]
    return notes, warnings


def _add_field(filters: dict[str, Wanted], field: Field, value: Wanted) -> None:
    """Add a field: for a repeated field either value matches, but of dates and titles all must match."""
    name = NOT + field.name if field.negated else field.name
    if not field.negated and isinstance(filters.get(name), str) and field.name in FILTERS:
        name = ALSO + name  # the filter beside the text must match too
    present = filters.get(name)
    if isinstance(present, range) and isinstance(value, range):
        start = max(present.start, value.start)
        filters[name] = range(start, max(start, min(present.stop, value.stop)))
    elif isinstance(present, str) and isinstance(value, str):
        filters[name] = f"{present} {value}"
    elif isinstance(present, tuple) and isinstance(value, tuple):
        filters[name] = (*present, *value)
    else:
        filters[name] = value


def _filter_value(catalog: Catalog, field: Field) -> Wanted:
    """Return what a field's value means."""
    if field.name in DATES:
        days = dates.days(field.value)
        if days is None:
            raise QueryError(f"{field.name}:{field.value} is not a date.", fix=dates.ADVICE)
        if not days and ".." in field.value:
            first, _, last = field.value.partition("..")
            problem = f"{field.name}:{field.value}: {first!r} is after {last!r}, so there is no day between them."
            raise QueryError(problem, fix=f"Exchange the two: {field.name}:{last}..{first}.")
        return days
    if field.name == TITLE:
        _check_title(catalog, field.value)
        return field.value
    if field.name in NAMED:
        _check(catalog, field.name, field.value)
    return (field.value,)


def _check_title(catalog: Catalog, value: str) -> None:
    """Check that the words occur in titles."""
    listed = terms(value)
    missing = [
        word
        for word, stem in zip(listed, catalog.keyword.stems(listed), strict=True)
        if not catalog.keyword.has_in_title(stem)
    ]
    if missing or not listed:
        near = [
            known for vocabulary in catalog.vocabularies() for word in missing for known in vocabulary.corrections(word)
        ][:MOST_LISTED]
        advice = f"Similar words: {', '.join(near)}." if near else "Search for the words without `title:`."
        raise QueryError(f"no title contains {' '.join(missing) or value!r}.", fix=advice)


# --- exact phrases: the index stores no positions, so the documents with the rarest word are read ---

MOST_READ = 20_000  # documents; takes about a fifth of a second
MOST_PASSAGES = 200_000


def documents_with_word(catalog: Catalog, word: str) -> frozenset[int]:
    """Return the numbers of the documents that contain a word; an unknown name counts as all of its parts."""
    parsed = words(word)
    needed = [part for name in parsed for part in (name[1:] or name)]
    if len(parsed) == 1 and catalog.keyword.frequency(catalog.keyword.stems(parsed[0][:1])[0]):
        needed = list(parsed[0][:1])
    return frozenset(catalog.keyword.documents_with(catalog.keyword.stems(needed), limit=MOST_PASSAGES))


def documents_with_phrase(catalog: Catalog, phrase: str) -> frozenset[int]:
    """Return the numbers of the documents that contain a phrase, ignoring case and line breaks."""
    wanted = _casefolded(phrase)
    needed = {part for word in words(phrase) for part in (word[1:] or word)}
    stems = sorted(catalog.keyword.stems(sorted(needed)), key=lambda stem: (catalog.keyword.frequency(stem), stem))
    if not stems or not catalog.keyword.frequency(stems[0]):
        return frozenset()
    candidates = catalog.keyword.documents_with(stems[:1], limit=MOST_PASSAGES)[:MOST_READ]
    return frozenset(number for number in candidates if _has_phrase(catalog, number, wanted))


def _has_phrase(catalog: Catalog, number: int, wanted: str) -> bool:
    document = catalog.document_at(number)
    if occurs_in(wanted, _casefolded(catalog.text(document))):
        return True
    entry = document.entry
    metadata = (entry.title, entry.summary, entry.action, entry.why_relevant, *entry.keywords, *entry.tags, entry.id)
    return any(occurs_in(wanted, _casefolded(line)) for line in metadata)


def _casefolded(text: str) -> str:
    return " ".join(text.casefold().split())


def occurs_in(phrase: str, text: str) -> bool:
    """Return whether a phrase occurs in a text, not as a part of longer words."""
    at = text.find(phrase)
    while at != -1:
        end = at + len(phrase)
        begins = at == 0 or not (text[at - 1].isalnum() and phrase[0].isalnum())
        ends = end == len(text) or not (text[end].isalnum() and phrase[-1].isalnum())
        if begins and ends:
            return True
        at = text.find(phrase, at + 1)
    return False
