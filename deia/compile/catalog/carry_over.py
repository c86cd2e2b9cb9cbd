"""Incremental compiles: if few documents of a large commons changed, carry the previous catalog over."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence

import tantivy

from deia.compile.catalog.document_store import BLOCKS, DIGEST_SIZE, Volume, digest, link_or_copy
from deia.compile.catalog.effort import TIER, code_digest
from deia.compile.catalog.writers import Writers, compile_volumes, expect_stems, write_words
from deia.errors import ArtefactError
from deia.match.spelling import worth_keeping
from deia.match.tiers import Tier, kind_of, open_tier
from deia.records import Record
from deia.search.catalog import DIGESTS, KEYWORD, NEW_WORDS, WORDS, Catalog, StoredTier, open_catalog

FEW = 20  # an incremental compile is worth it if at most one document in so many changed
MOST_NEW_WORDS = 5_000
MOST_BLOCKS = 2 * BLOCKS  # of a catalog that has grown; then it is compiled whole, with larger ones
Fill = Callable[[Sequence[Volume]], Sequence[Volume]]
LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


class Plan(Record):
    """What an incremental compile has to do; documents are numbered as in the previous catalog."""

    previous: Catalog
    tiers: tuple[str, ...]
    holes: frozenset[int]  # numbers without a document from now on
    changed: Mapping[int, Volume]
    new: tuple[Volume, ...]
    removed: tuple[str, ...]


def plan_changes(
    shelved: Sequence[Volume], previous: str | None, least: int, tiers: Sequence[str], *, quick: bool
) -> Plan | None:
    """Compare the documents with the previous catalog; return None if compiling everything is simpler or necessary.

    A tier that the previous catalog lacks requires compiling everything; a `quick` compile goes on without it.
    """
    old, carried = _carried(previous, tiers, quick=quick)
    if old is None or old.header["chunks"] <= least:
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
        previous=old, tiers=carried, holes=frozenset(known.values()), changed=changed, new=tuple(new),
        removed=tuple(known),
    )  # fmt: skip


def plan_revision(
    volumes: Sequence[Volume], previous: str, tiers: Sequence[str], *, quick: bool, removed: Sequence[str] = ()
) -> Plan | None:
    """Return the plan of a compile in which only some documents changed, or None as `plan_changes` does."""
    old, carried = _carried(previous, tiers, quick=quick)
    if old is None or (len(volumes) + len(removed)) * FEW > len(old):
        return None
    numbers = [old.keyword.number(volume.entry.id) for volume in volumes]
    pairs = list(zip(numbers, volumes, strict=True))
    gone = {ident: number for ident in removed if (number := old.keyword.number(ident)) is not None}
    return Plan(
        previous=old, tiers=carried, holes=frozenset(gone.values()), removed=tuple(gone),
        changed={number: volume for number, volume in pairs if number is not None},
        new=tuple(volume for number, volume in pairs if number is None),
    )  # fmt: skip


def _carried(previous: str | None, tiers: Sequence[str], *, quick: bool) -> tuple[Catalog | None, tuple[str, ...]]:
    """Return the previous catalog and the tiers that can be carried over; no catalog if everything must be compiled."""
    if previous is None:
        return None, ()
    try:
        old = open_catalog(previous)
    except ArtefactError:  # the incremental path is only an optimisation
        return None, ()
    stored = old.tiers
    there = (name for name in tiers if kind_of(name) in stored)  # a model that nothing was made with is not opened
    carried = tuple(name for name in there if stored[kind_of(name)] == identity(open_tier(name)))
    lacking = set(tiers) - set(carried)
    is_lacking = lacking and not (quick and lacking == {TIER})
    has_grown = len(old.vocabularies()[1]) > MOST_NEW_WORDS or old.numbers > MOST_BLOCKS * old.blocks.size
    return (None if is_lacking or has_grown else old), carried


def identity(tier: Tier) -> StoredTier:
    """Return what a catalog records about a tier's model, and about the vectors that code has instead."""
    _, _, model = tier.full_name.partition(":")
    return StoredTier(digest=tier.digest, dimensions=tier.dimensions, model=model, code=code_digest(tier.name))


def _digests(old: Catalog) -> bytes:
    with open(os.path.join(old.folder, DIGESTS), "rb") as file:
        return file.read()


def compile_changes(plan: Plan, writers: Writers, fill: Fill) -> int:
    """Write the catalog of a plan; return its number of passages. `fill` reads texts that are not read yet."""
    writers.write_to(_carried_index(plan, writers.folder))
    for document in (*plan.removed, *(volume.entry.id for volume in plan.changed.values())):
        writers.writer.delete_documents_by_term("id", document)
    digests, number = _digests(plan.previous), 0
    for affected in sorted({*plan.changed, *plan.holes, plan.previous.numbers}):
        if number < affected:
            writers.copy(plan.previous, range(number, affected), digests)
        if affected in plan.changed:
            compile_volumes(fill([plan.changed[affected]]), affected, writers)
        elif affected in plan.holes:
            writers.leave_out()
        number = affected + 1
    compile_volumes(fill(plan.new), plan.previous.numbers, writers)
    main, recent = plan.previous.vocabularies()  # the large one stays as it is; the second has the words that it lacks
    new = {
        word: count
        for word, count in writers.counts.items()
        if worth_keeping(word) and not main.count(word) and not recent.count(word)
    }
    carry_file(plan.previous, writers.folder, WORDS)
    if new:
        write_words(writers.folder, NEW_WORDS, {**dict(recent.words()), **new})
    else:
        carry_file(plan.previous, writers.folder, NEW_WORDS)
    return writers.close()


def _carried_index(plan: Plan, folder: str) -> tantivy.Index:
    """Return a copy of the previous index; its segments never change, so they are linked where the system can."""
    old, new = os.path.join(plan.previous.folder, KEYWORD), os.path.join(folder, KEYWORD)
    os.mkdir(new)
    for name in sorted(os.listdir(old)):
        if name.endswith(".json"):  # the index writer replaces these files
            shutil.copyfile(os.path.join(old, name), os.path.join(new, name))
        elif name not in LOCKS:
            link_or_copy(os.path.join(old, name), os.path.join(new, name))
    index = tantivy.Index.open(new)
    expect_stems(index)
    return index


def carry_file(old: Catalog, folder: str, name: str) -> None:
    """Copy a file of the previous catalog unchanged."""
    link_or_copy(os.path.join(old.folder, name), os.path.join(folder, name))
