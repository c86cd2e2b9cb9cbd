"""What somebody typed, understood: what kind of thing it is, what to look for, what must hold, and how to say so.

It refuses values of fields that the commons does not have, by name and with the nearest ones; all else is taken as it
is.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.match.keyword import ALSO, DATES, FILTERS, NAMED, NOT, NUMBERS, TITLE, filter_key
from deia.match.spelling import nearest
from deia.match.tokeniser import terms
from deia.records import TYPE_CHECKING, Record
from deia.search.question import dates
from deia.search.question.classify import AUDIENCE, COMMAND, CONVERSATIONAL, ERROR, PLATFORM, Kind, Known, kind_of
from deia.search.question.exact_match import holding_phrase, holding_word
from deia.search.question.syntax import read_syntax

if TYPE_CHECKING:
    from deia.knowledge import Query
    from deia.match.keyword import Filters, Wanted
    from deia.search.catalog import Catalog
    from deia.search.question.syntax import Field, Typed

LISTED = 8  # values that a message names
MEANT = 2  # of them that are perhaps meant
BY_FILTERS = "filters"
TOLD = 300  # characters of what is said about an understood question
AS_TYPED = (COMMAND, CONVERSATIONAL, PLATFORM, AUDIENCE)


class Understood(Record):
    """A question, ready to be asked."""

    query: Query  # with the text to look for, and a platform or an audience that the text named
    kind: str
    filters: Filters
    strong: tuple[str, ...] = ()
    told: str = ""  # how it was understood, where that is not as it stands
    warnings: tuple[str, ...] = ()


def understand(catalog: Catalog, query: Query) -> Understood:
    """Understand a question and its filters.

    Raises:
        QueryError: a filter names what the commons does not have.
    """
    filters: dict[str, Wanted] = dict(_given(catalog, query))
    if not query.text.strip():
        return Understood(query=query, kind=BY_FILTERS, filters=filters)
    kind, typed = _read(catalog, query.text)
    if kind.name in (PLATFORM, AUDIENCE) and not filters:
        return _overview(query, kind)
    if typed.plain:
        told = f"{kind.name}: {kind.text[:TOLD]}" if kind.name in (ERROR, COMMAND) and kind.text != query.text else ""
        return Understood(
            query=query.but(text=kind.text), kind=kind.name, filters=filters, strong=_spelled(kind), told=told
        )
    said, warnings = _narrow(catalog, typed, filters)
    asked = query.but(text=kind.text, **_alone(typed, query))
    return Understood(
        query=asked,
        kind=kind.name if typed.words.strip() else BY_FILTERS,
        filters=filters,
        strong=_spelled(kind),
        told="; ".join([*([kind.text[:TOLD]] if kind.text.strip() else []), *said]),
        warnings=tuple(warnings),
    )


def _read(catalog: Catalog, text: str) -> tuple[Kind, Typed]:
    """Give the kind of a text and its syntax; what a machine said or is told has none, unless it begins with one."""
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
    return bool(typed.phrases and first[0] in '"“„') or any(first.startswith(f"{each.name}:") for each in typed.fields)


def _known(catalog: Catalog) -> Known:
    return Known(
        is_platform=lambda name: catalog.keyword.has("platform", name),
        audiences=lambda: catalog.keyword.values("audience"),
    )


def _overview(query: Query, kind: Kind) -> Understood:
    """Ask for the documents of a platform or an audience in place of a search."""
    name = "platform" if kind.name == PLATFORM else "audience"
    return Understood(
        query=query.but(text="", **{name: kind.value}),
        kind=kind.name,
        filters={name: kind.value},
        told=f"all documents of the {name} {kind.value}",
    )


def _spelled(kind: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(" ".join(kind.strong))))


def _alone(typed: Typed, query: Query) -> dict[str, str]:
    """Give a platform or an audience that is all that was asked for, so that its overview is given."""
    if typed.words.strip() or len(typed.fields) != 1 or typed.fields[0].negated:
        return {}
    field = typed.fields[0]
    return {field.name: field.value} if field.name in FILTERS and not getattr(query, field.name) else {}


# --- what must hold --------------------------------------------------------------------------------------------------


def _given(catalog: Catalog, query: Query) -> dict[str, str]:
    """Give the filters beside the text."""
    given = {name: value for name in FILTERS if (value := str(getattr(query, name))).strip()}
    for name, value in given.items():
        _check(catalog, name, value)
    return given


def _check(catalog: Catalog, name: str, value: str) -> None:
    """Refuse a value that no document has.

    Raises:
        QueryError: there is no such value.
    """
    if catalog.keyword.has(name, value):
        return
    known = catalog.keyword.values(name)
    if not known:
        raise QueryError(f"no document has the {name} {value!r}.", fix=f"Nor any other {name}; leave the filter out.")
    near = nearest(filter_key(value), known)
    meant = f"Did you mean {' or '.join(near[:MEANT])}? " if near else ""
    listed = f"Known are: {', '.join(known[:LISTED])}{', …' if len(known) > LISTED else ''}."
    raise QueryError(f"no document has the {name} {value!r}.", fix=meant + listed)


def _narrow(catalog: Catalog, typed: Typed, filters: dict[str, Wanted]) -> tuple[list[str], list[str]]:
    """Add to the filters what the text demands; give what to say about it, and warnings."""
    said: list[str] = []
    for field in typed.fields:
        _add(filters, field, _wanted(catalog, field))
        said.append(f"{'not ' * field.negated}{field.name}: {field.value}")
    warnings: list[str] = []
    for phrase in typed.phrases:
        numbers = holding_phrase(catalog, phrase)
        if not numbers and typed.sentence:  # inside of a sentence it may be the asker's own, and no demand
            warnings.append(f'nothing here says "{phrase}" word for word; its words were looked for')
            continue
        before = filters.get(NUMBERS)
        filters[NUMBERS] = numbers & before if isinstance(before, frozenset) else numbers
        said.append(f'word for word: "{phrase}"')
        if not numbers:
            warnings.append(f'nothing here says "{phrase}" word for word; leave out the quotation marks')
    without = [holding_word(catalog, word) for word in typed.without]
    without += [holding_phrase(catalog, phrase) for phrase in typed.without_phrases]
    if any(without):
        filters[NOT + NUMBERS] = frozenset[int]().union(*without)
    said += [f"without: {word}" for word in typed.without]
    said += [f'without: "{phrase}"' for phrase in typed.without_phrases]
    return said, warnings


def _add(filters: dict[str, Wanted], field: Field, wanted: Wanted) -> None:
    """Add a field: of the same field twice either value will do, of days and titles both must."""
    name = NOT + field.name if field.negated else field.name
    if not field.negated and isinstance(filters.get(name), str) and field.name in FILTERS:
        name = ALSO + name  # the filter beside the text holds as well
    before = filters.get(name)
    if isinstance(before, range) and isinstance(wanted, range):
        start = max(before.start, wanted.start)
        filters[name] = range(start, max(start, min(before.stop, wanted.stop)))
    elif isinstance(before, str) and isinstance(wanted, str):
        filters[name] = f"{before} {wanted}"
    elif isinstance(before, tuple) and isinstance(wanted, tuple):
        filters[name] = (*before, *wanted)
    else:
        filters[name] = wanted


def _wanted(catalog: Catalog, field: Field) -> Wanted:
    """Give what a field must hold.

    Raises:
        QueryError: the commons has no such value, or a date is none.
    """
    if field.name in DATES:
        found = dates.days(field.value)
        if found is None:
            raise QueryError(f"{field.name}:{field.value} names no day.", fix=dates.ADVICE)
        return found
    if field.name == TITLE:
        _check_title(catalog, field.value)
        return field.value
    if field.name in NAMED:
        _check(catalog, field.name, field.value)
    return (field.value,)


def _check_title(catalog: Catalog, value: str) -> None:
    """Refuse words that no title holds.

    Raises:
        QueryError: there is such a word.
    """
    listed = terms(value)
    lost = [
        word
        for word, stem in zip(listed, catalog.keyword.stems(listed), strict=True)
        if not catalog.keyword.titled(stem)
    ]
    if lost or not listed:
        near = [known for each in catalog.vocabularies() for word in lost for known in each.corrections(word)][:LISTED]
        advice = f"Near it are: {', '.join(near)}." if near else "Ask without `title:`, in the words of the text."
        raise QueryError(f"no title holds {' '.join(lost) or value!r}.", fix=advice)
