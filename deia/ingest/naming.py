"""Which name a source gets: its own, that of the known source that it is, or a free one.

Two sources of one place differ in their branch, filter or collection. Whatever else changes, it is the same source.
"""

from __future__ import annotations

from itertools import chain, count

from deia.ingest.source import Source, SourceError, name_for, slug, without_password
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def named(source: Source, known: Sequence[Source]) -> Source:
    """Return a source with a name and a collection, which stays that of the known source if none is given.

    Raise SourceError if its own name is that of a source at another place, or if several known ones may be meant.
    """
    beside = _beside(source, known)
    if source.name:
        before = next((one for one in known if one.name == source.name), None)
        if before and (before.kind, before.place) != (source.kind, source.place):
            fix = f"Choose another name, or type: deia source remove {source.name}"
            raise SourceError(f"there is a source {source.name!r} at {_shown(before)}", fix=fix)
    else:
        before = _meant(source, beside)
    name = before.name if before else source.name or _free(source, beside, {one.name for one in known})
    return source.but(name=name, collection=source.collection or (before.collection if before else name))


def said_of(source: Source, known: Sequence[Source], *, is_planned: bool = False) -> str:
    """Return what a person should know of a source that is registered now, beside those that were known before.

    If that `is_planned`, nothing was changed yet.
    """
    before = next((one.values() for one in known if one.name == source.name), None)
    if before:
        changed = [name for name, value in source.values().items() if before[name] != value]
        what = "This would change of" if is_planned else "Changed of"
        return f"{what} {source.name}: {', '.join(changed)}." if changed else ""
    others = [one.name for one in _beside(source, known)]
    if not others:
        return ""
    how = (
        f"To change {others[0]} instead, type: deia source remove {source.name}, then the same with --name {others[0]}"
    )
    return f"{source.name} is one more source of the same place, beside {', '.join(others)}. {how}"


def _shown(source: Source) -> str:
    return without_password(source.place, source.place)


def _beside(source: Source, known: Sequence[Source]) -> list[Source]:
    """Return the known sources of the same place; what was handed over has none."""
    return [one for one in known if source.place and (one.kind, one.place) == (source.kind, source.place)]


def _meant(source: Source, beside: Sequence[Source]) -> Source | None:
    """Return the known source that is the same, if one is; raise SourceError if it could be any of several."""
    alike = [one for one in beside if (one.branch, one.filter) == (source.branch, source.filter)]
    alike = [one for one in alike if source.collection in ("", one.collection)]
    usual = [one for one in alike if one.collection == one.name]  # as without --collection
    alike = usual if len(usual) == 1 and not source.collection else alike
    if len(alike) > 1:
        names = ", ".join(one.name for one in alike)
        fix = f"Say which one is meant: --name {alike[0].name}"
        raise SourceError(f"{_shown(source)} was taken in several times, as {names}", fix=fix)
    return alike[0] if alike else None


def _free(source: Source, beside: Sequence[Source], taken: set[str]) -> str:
    """Return a name that no source has: the place's, with what is special about the source if the place is known."""
    name = name_for(source)
    special = [slug(text) for text in (source.branch, source.collection) if beside and text]
    candidates: Iterator[str] = chain(
        (name, *(f"{name}-{text}" for text in special)), (f"{name}-{number}" for number in count(2))
    )
    return next(candidate for candidate in candidates if candidate not in taken)
