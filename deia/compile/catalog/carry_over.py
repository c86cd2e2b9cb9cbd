"""Where few documents of a large commons changed: carry the previous catalog over, and compile only those again.

Refuses where compiling the whole is simpler, or the only way.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tantivy

from deia.compile.catalog.document_store import DIGEST_SIZE, Volume, digest
from deia.compile.catalog.embeddings import TIER
from deia.compile.catalog.writers import Writers, compile_volumes, take_stems, write_words
from deia.errors import ArtefactError
from deia.match.spelling import worth_keeping
from deia.match.tiers import Tier, kind_of, open_tier
from deia.records import Record
from deia.search.catalog import DIGESTS, KEYWORD, NEW_WORDS, WORDS, Catalog, open_catalog

FEW = 20  # one document in so many may have changed
MOST_NEW_WORDS = 5_000
LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


class Plan(Record):
    """What an incremental compile has to do; numbers are those of the previous catalog."""

    previous: Catalog
    tiers: tuple[str, ...]
    holes: frozenset[int]  # without a document from now on, or before
    changed: Mapping[int, Volume]
    new: tuple[Volume, ...]
    removed: tuple[str, ...]


def plan_changes(
    shelved: Sequence[Volume], previous: str | None, least: int, tiers: Sequence[str], *, quick: bool
) -> Plan | None:
    """Compare with the previous catalog; None where compiling the whole is simpler or the only way.

    A tier that it lacks can only be made whole; who has to be `quick` goes on without it.
    """
    old = _open(previous)
    carried = _carried_tiers(old, tiers, quick=quick) if old else None
    if old is None or carried is None or old.header["chunks"] <= least:
        return None
    known, digests = old.ids(), _digests(old)
    holes, changed, new = set(range(old.numbers)), dict[int, Volume](), list[Volume]()
    for volume in shelved:
        number = known.pop(volume.entry.id, None)
        if number is None:
            new.append(volume)
            continue
        holes.discard(number)
        if digests[number * DIGEST_SIZE : (number + 1) * DIGEST_SIZE] != digest(volume):
            changed[number] = volume
    if (len(changed) + len(new) + len(holes)) * FEW > len(shelved):
        return None
    return Plan(
        previous=old, tiers=carried, holes=frozenset(holes), changed=changed, new=tuple(new), removed=tuple(known)
    )


def plan_revision(changed: Sequence[Volume], previous: str, tiers: Sequence[str], *, quick: bool) -> Plan | None:
    """Plan a compile in which some documents' texts are all that changed."""
    old = _open(previous)
    carried = _carried_tiers(old, tiers, quick=quick) if old else None
    if old is None or carried is None or len(changed) * FEW > len(old):
        return None
    numbers = [old.keyword.number(volume.entry.id) for volume in changed]
    numbered = {number: volume for number, volume in zip(numbers, changed, strict=True) if number is not None}
    if len(numbered) < len(changed):
        return None
    return Plan(previous=old, tiers=carried, holes=frozenset(), changed=numbered, new=(), removed=())


def _carried_tiers(old: Catalog, tiers: Sequence[str], *, quick: bool) -> tuple[str, ...] | None:
    """Give the tiers that can be carried over; None where one has to be made whole, or too many words are new."""
    carried = tuple(name for name in tiers if old.tiers.get(kind_of(name)) == identity(open_tier(name)))
    lacking = set(tiers) - set(carried)
    if len(old.vocabularies()[1]) > MOST_NEW_WORDS or (lacking and not (quick and lacking == {TIER})):
        return None
    return carried


def identity(tier: Tier) -> dict[str, Any]:
    """Give what a catalog remembers of a model."""
    _, _, model = tier.full_name.partition(":")
    return {"digest": tier.digest, "dimensions": tier.dimensions, **({"model": model} if model else {})}


def _open(previous: str | None) -> Catalog | None:
    if previous is None:
        return None
    try:
        return open_catalog(previous)
    except ArtefactError:  # it is only a short cut
        return None


def _digests(old: Catalog) -> bytes:
    with open(os.path.join(old.folder, DIGESTS), "rb") as file:
        return file.read()


def compile_changes(plan: Plan, to: Writers, heard: Callable[[int, int], None]) -> int:
    """Write the catalog that a plan says; give how many passages it holds."""
    to.write_to(_carried_index(plan, to.folder))
    for gone in (*plan.removed, *(volume.entry.id for volume in plan.changed.values())):
        to.writer.delete_documents_by_term("id", gone)
    digests, number = _digests(plan.previous), 0
    for changed in sorted({*plan.changed, *plan.holes, plan.previous.numbers}):
        if number < changed:
            to.copy(plan.previous, range(number, changed), digests)
        if changed in plan.changed:
            compile_volumes([plan.changed[changed]], changed, to)
        elif changed in plan.holes:
            to.leave_out()
        number = changed + 1
    compile_volumes(plan.new, plan.previous.numbers, to)
    _carry_words(plan.previous, to.folder, to.counts)
    heard(1, 1)
    return to.close()


def _carried_index(plan: Plan, folder: str) -> tantivy.Index:
    """Take over the previous index: its segments never change, so they are linked where the system can."""
    old, new = os.path.join(plan.previous.folder, KEYWORD), os.path.join(folder, KEYWORD)
    os.mkdir(new)
    for name in sorted(os.listdir(old)):
        if name.endswith(".json"):  # these are replaced by the writer
            shutil.copyfile(os.path.join(old, name), os.path.join(new, name))
        elif name not in LOCKS:
            _link(os.path.join(old, name), os.path.join(new, name))
    index = tantivy.Index.open(new)
    take_stems(index)
    return index


def carry_file(old: Catalog, folder: str, name: str) -> None:
    """Take over a file of the previous catalog as it is."""
    _link(os.path.join(old.folder, name), os.path.join(folder, name))


def _link(old: str, new: str) -> None:
    try:
        os.link(old, new)
    except OSError:  # another file system, or one without links
        shutil.copyfile(old, new)


def _carry_words(old: Catalog, folder: str, counts: Mapping[str, int]) -> None:
    """Keep the large vocabulary as it is, and write the words it lacks beside it."""
    whole, lately = old.vocabularies()
    new = {word: count for word, count in counts.items() if worth_keeping(word) and not whole.count(word)}
    carry_file(old, folder, WORDS)
    write_words(folder, NEW_WORDS, {**dict(lately.words()), **new})
