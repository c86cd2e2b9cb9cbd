"""Compile the sources of a commons into the person's cache: atomically, incrementally, one process at a time.

Only this module writes compiled files. A reader sees the old files or the new ones: the trigger artefact is replaced as
a whole, and the catalog is built in a folder of its own, which the file `catalog` then names. A crash leaves the old
files in place.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from filelock import FileLock

from deia import __version__, files, freshness
from deia.collecting import uncollected
from deia.commons.checks import check_layers
from deia.commons.index.golden_queries import golden_patterns, load_golden
from deia.commons.index.load_commons import Commons
from deia.commons.layers.collections import select_collections
from deia.commons.layers.merge_layers import PROJECT, load_layers, origin_of
from deia.compile.catalog.effort import ASIDE_LIMIT, BACKGROUND_LIMIT, DEFAULT_LIMIT, TIER, Effort, cache_path, models
from deia.compile.catalog_folder import CATALOG, ENTRIES, LOCK, empty_building, now, place_catalog, sweep
from deia.compile.compiled_folder import (
    SOURCES,
    TRIGGERS,
    catalog_at,
    intact_parts,
    record_python,
    write_if_new,
    write_records,
    write_stamps,
    write_trigger_stamps,
)
from deia.compile.health import write_health
from deia.compile.manifest import Manifest, read_manifest
from deia.compile.ready_starter import ready_starter
from deia.compile.sources import NOTHING, Known, as_read, content_digests, digest_of, read_known, read_sources
from deia.compile.triggers.build_artefact import compile_triggers, payloads
from deia.compile.triggers.last_good import faults, keep_lasting, read_lasting
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.topics import topics_of
from deia.compile.triggers.units import STARTER_ORIGIN, KeptUnits
from deia.compile.triggers.word_forms import forms_source
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX, STARTER, derived_folder, is_packaged, part_folder, state_folder
from deia.match.tiers import TRANSFORMER
from deia.records import UNTRUSTED, Record
from deia.settings import Settings, is_personal, resolve
from deia.watch.gate.artefact import FORMAT
from deia.watch.silence.weakened_text import weakened_settings
from deia.watch.turn.regex import MAKER

MOST_PROBLEMS = 5000  # in a manifest
# Settings that are in no compiled file.
NOT_COMPILED = (
    "tier", "model", "collections", "documents", "starter_documents", "schema", "transport", "port", "audit",
    "audit_days",
)  # fmt: skip
PARTS = (TRIGGERS, CATALOG)
MIN_DOCUMENTS = 5_000  # for recompiles of single texts; a smaller commons is read whole in a second
WEAKENED = "weakened"  # beside the settings in the artefact: what the project's files weaken, in words
POLL = 0.01  # seconds between two attempts to get the lock; the system frees it if a process dies
SENTENCE_TRANSFORMERS = "sentence_transformers"  # the package of a person's own model


class Work(Record):
    """What a compile has to do: which tier to make, whether somebody waits, whether to make everything again."""

    tier: str
    model: str
    requested: bool
    aside: bool
    force: bool
    collections: tuple[str, ...] = ()

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers to write; word vectors cost next to nothing, and searches fall back on them.

        A model of the person's own takes seconds to load, so a compile in the background uses it only if it is loaded.
        """
        if self.tier == TRANSFORMER:
            is_available = self.requested or SENTENCE_TRANSFORMERS in sys.modules
            return ("static", f"{TRANSFORMER}:{self.model}") if is_available else ("static",)
        return ("static", TIER) if self.tier in ("auto", TIER) else ("static",)

    @property
    def limit(self) -> int:
        """How many texts may be encoded."""
        if not self.requested:
            return ASIDE_LIMIT if self.aside else BACKGROUND_LIMIT
        return Effort().limit if self.tier in (TIER, TRANSFORMER) else DEFAULT_LIMIT

    def is_satisfied(self, manifest: Manifest) -> bool:
        """Return whether the catalog of a manifest has the wanted tiers, or as many as this compile would make.

        A person who asks for word vectors or words alone gets a catalog without the sentence model's.
        """
        lacking = set(self.tiers) - set(manifest.tiers)
        if self.requested and self.tier in ("static", "keyword") and set(manifest.tiers) - set(self.tiers):
            return False
        is_wanted = self.requested or self.aside
        return not lacking or not is_wanted or (manifest.left_out and self.tier == "auto")


class Compiled(Manifest):
    """What a compile did, or found unnecessary to do, and what its manifest says."""

    folder: str
    written: tuple[str, ...]  # "triggers" and "catalog", if they were written
    seconds: float
    trusted: bool = True  # whether the person trusts the commons


def compile_commons(  # noqa: PLR0913 - what to compile, and who waits for it
    root: str,
    *,
    environ: Mapping[str, str],
    force: bool = False,
    progress: Callable[[str], None] | None = None,
    tier: str | None = None,
    requested: bool = False,
    aside: bool = False,
    collections: Sequence[str] = (),
) -> Compiled:
    """Bring the compiled files of the commons at `root` up to date; return what was written.

    A person who `requested` the compile waits for the sentence model's vectors: up to a limit, or for all of them if
    `tier` or the setting names that model. A compile that runs `aside`, in a process of its own, makes some hundreds of
    vectors; one that other work waits for makes only a few. If `collections` are named, they alone are compiled, into a
    folder of their own. Raise CommonsError if there is no readable commons or a collection is empty, SettingsError if a
    setting is malformed, and ArtefactError if the folder for compiled files cannot be written.
    """
    began = time.perf_counter()
    folder = part_folder(derived_folder(root, environ), collections)
    tell = progress or (lambda _message: None)
    chosen = resolve(root, environ=environ, flags={} if tier is None else {"tier": tier})
    work = Work(
        tier=chosen.tier, model=chosen.model, requested=requested, aside=aside, force=force,
        collections=tuple(collections),
    )  # fmt: skip
    try:
        files.make_folders(folder)  # readable only by the person, as the texts in it may be private
        os.makedirs(folder, exist_ok=True)  # says why that failed
        record_python(state_folder(environ))
        with FileLock(f"{folder}/{LOCK}", poll_interval=POLL), uncollected():
            job = _Job(
                root=root, folder=folder, environ=environ, work=work, tell=tell,
                resolved=resolve(root, environ=environ), previous=Manifest() if force else read_manifest(folder),
                known=NOTHING if force else read_known(f"{folder}/{SOURCES}"),
            )  # fmt: skip
            compiled = _compile(job, began)
            write_if_new(f"{folder}/{freshness.STARTER}", freshness.starter_stamp(job.resolved.starter))
            return compiled
    except OSError as error:
        fix = "Free some space, or get write permission for that folder, then type: deia compile"
        raise ArtefactError(f"cannot write compiled files: {error}", where=folder, fix=fix) from error


class _Job(Record):
    """A compile: of which commons, into which folder, with which settings, and the results of the last compile."""

    root: str
    folder: str
    environ: Mapping[str, str]
    work: Work
    tell: Callable[[str], None]
    resolved: Settings
    previous: Manifest
    known: Known

    @property
    def settings(self) -> dict[str, Json]:
        """The settings that compiled files depend on."""
        chosen = {name: value for name, value in self.resolved.by_name().items() if name not in NOT_COMPILED}
        weakened = [f"{text} ({where})" for text, where in weakened_settings(self.resolved) if not is_personal(where)]
        return {**chosen, WEAKENED: weakened}

    @property
    def cache(self) -> str:
        """The file in which the sentence model's vectors are cached."""
        sentence_tier = next((name for name in self.work.tiers if name != "static"), TIER)
        return cache_path(self.folder, tier=sentence_tier)

    def digests(self, sources: Mapping[str, str], dependencies: Mapping[str, Json]) -> dict[str, str]:
        """Return the digest of what each compiled file is made from, without computing it if nothing changed."""
        previous = self.previous
        is_unchanged = sources == self.known.sources and self.known.token == previous.triggers_digest
        if is_unchanged and previous.about == digest_of(dependencies):
            return {TRIGGERS: previous.triggers_digest, CATALOG: previous.catalog_digest}
        return content_digests(sources, dependencies)

    def effort(self, *, exclusive: bool) -> Effort:
        """Return how much may be encoded; `exclusive` if every text of the commons is known."""
        return Effort(limit=self.work.limit, cache=self.cache, exclusive=exclusive)


def _compile(job: _Job, began: float) -> Compiled:
    starter, trusted, globs = job.resolved.starter, job.resolved.trusted, job.resolved.documents
    sources = read_sources(job.root, job.known.sources, globs=globs, starter=starter, trusted=trusted)
    dependencies: dict[str, Json] = {
        TRIGGERS: [job.settings, MAKER, FORMAT, __version__, forms_source(), *job.work.collections],
        CATALOG: [__version__, *models(), *job.work.collections, *globs],
    }
    digests, intact = job.digests(sources, dependencies), intact_parts(job.folder, job.previous)
    if not job.work.is_satisfied(job.previous):
        intact.discard(CATALOG)
    before = {TRIGGERS: job.previous.triggers_digest, CATALOG: job.previous.catalog_digest}
    written = tuple(part for part in PARTS if part not in intact or before[part] != digests[part])
    if not written:
        write_stamps(job.root, job.folder, sources)
        return _report(job, (), job.previous, began)
    can_revise = len(intact) == len(PARTS) and job.previous.about == digest_of(dependencies)
    manifest = _revise(job, sources, digests) if can_revise else None
    if manifest:
        written = (CATALOG,)
    else:
        manifest, sources = _compile_all(job, sources, dependencies, written)
    write_records(job.folder, manifest, sources)
    write_stamps(job.root, job.folder, sources)
    if CATALOG in written:
        entries = [ENTRIES] if manifest.entries else []
        sweep(job.folder, keep={*entries, manifest.catalog, job.previous.catalog, os.path.basename(job.cache)})
    return _report(job, written, manifest, began)


def _revise(job: _Job, sources: Mapping[str, str], digests: Mapping[str, str]) -> Manifest | None:
    """Compile the texts that changed; return the new manifest, or None if more than a few texts changed."""
    previous = job.previous
    if not previous.entries or job.known.token != previous.triggers_digest:
        return None
    from deia.compile.catalog import incremental  # noqa: PLC0415 - numpy, which a compile of triggers does not need
    from deia.compile.catalog.build_catalog import revise_catalog  # noqa: PLC0415 - as above

    paths = incremental.changed_texts(sources, job.known.sources, set(previous.settled))
    if not paths:
        return None
    changes = incremental.revised(
        job.root, f"{job.folder}/{ENTRIES}", paths, token=previous.entries, index=previous.index
    )
    if changes is None:
        return None
    job.tell(f"indexing {len(changes.volumes)} changed {'document' if len(changes.volumes) == 1 else 'documents'}")
    built_at, building = now(), empty_building(job.folder)
    report = revise_catalog(
        changes.volumes, building,
        previous=catalog_at(job.folder, previous), built_at=built_at, tiers=job.work.tiers,
        effort=job.effort(exclusive=False),
    )  # fmt: skip
    if report is None:
        shutil.rmtree(building)
        return None
    return previous.but(
        triggers_digest=digests[TRIGGERS],
        catalog_digest=digests[CATALOG],
        catalog=place_catalog(job.folder, building, report.tiers, digests[CATALOG]),
        tiers=report.tiers,
        built_at=built_at,
        problems=incremental.merged_problems(previous.problems, set(paths), changes.problems, most=MOST_PROBLEMS),
    )


def _compile_all(
    job: _Job, sources: Mapping[str, str], dependencies: Mapping[str, Json], written: Sequence[str]
) -> tuple[Manifest, dict[str, str]]:
    """Read the whole commons and compile the parts to be `written`; return the new manifest and the sources."""
    job.tell("reading the commons")
    good = read_lasting(job.folder)
    layers = load_layers(
        job.root, starter=job.resolved.starter, trusted=job.resolved.trusted, good=good, globs=job.resolved.documents,
        read_starter=lambda: ready_starter(job.environ, sources),
    )  # fmt: skip
    layers = layers if job.resolved.starter_triggers else layers.without_starter_triggers()
    commons = layers.merged()
    problems = check_layers(layers, job.resolved) if job.resolved.trusted else list(commons.problems)
    if job.work.collections:
        of_commons = [name for name in job.work.collections if not name.startswith(LIBRARY_PREFIX)]
        commons, problems = select_collections(commons, of_commons), []
    extra_documents = [document.path for document in commons.documents]
    later = read_sources(
        job.root, sources, extra_documents=extra_documents, starter=job.resolved.starter, trusted=job.resolved.trusted
    )  # fmt: skip
    sources = as_read(sources, later, extra_documents=extra_documents)
    own = layers.stack[0]
    keep_lasting(job.root, job.folder, sources, own.problems, good)
    golden = {
        question.query: question.grades
        for question in (*load_golden(own.root).questions, *golden_patterns(own.query_patterns))
    }
    write_health(job.folder, own, accepted=job.work.force and job.work.requested, golden=golden)
    digests = content_digests(sources, dependencies)
    manifest = job.previous.but(
        deia=__version__, built_at=now(), index=commons.index.path, entries="", about=digest_of(dependencies),
        triggers_digest=digests[TRIGGERS], catalog_digest=digests[CATALOG],
        documents=len(commons.entries), triggers=len(commons.triggers),
        deprecated=sum(trigger.status == "deprecated" for trigger in commons.triggers),
        problems=tuple(problems[:MOST_PROBLEMS]), faults=tuple(faults(own.problems)),
        broken=commons.broken[:MOST_PROBLEMS],
    )  # fmt: skip
    if TRIGGERS in written:  # first, since a hook may be waiting for them
        manifest = _write_triggers(job, commons, manifest)
        write_trigger_stamps(job.root, job.folder, sources)
    if CATALOG in written:
        manifest = _write_catalog(job, commons, manifest)
    if len(commons.documents) >= MIN_DOCUMENTS and not job.work.collections and job.resolved.trusted:
        manifest = manifest.but(entries=manifest.triggers_digest)
        from deia.compile.catalog.incremental import entries_text  # noqa: PLC0415 - as above

        files.replace(f"{job.folder}/{ENTRIES}", entries_text(own, manifest.entries))
    return manifest, sources


def _write_catalog(job: _Job, commons: Commons, manifest: Manifest) -> Manifest:
    """Write the catalog; return the manifest with its name and its tiers."""
    job.tell(f"indexing {len(commons.documents)} documents")
    from deia.compile.catalog.build_catalog import build_catalog  # noqa: PLC0415 - numpy, as above

    building, before = empty_building(job.folder), catalog_at(job.folder, job.previous)
    report = build_catalog(
        commons.entries, commons.documents, commons.clusters, commons.query_patterns, building,
        built_at=manifest.built_at, sources=[commons.index.path] if commons.index.path else [],
        concepts=commons.concepts, learning_paths=commons.learning_paths, own_first=job.resolved.trusted,
        previous=before if job.previous.deia == __version__ and os.path.isdir(before) else None,
        tiers=job.work.tiers, effort=job.effort(exclusive=True), tell=job.tell,
    )  # fmt: skip
    return manifest.but(
        catalog=place_catalog(job.folder, building, report.tiers, manifest.catalog_digest),
        tiers=report.tiers,
        left_out=job.work.requested and not job.work.is_satisfied(Manifest(tiers=report.tiers)),
    )


def _write_triggers(job: _Job, commons: Commons, manifest: Manifest) -> Manifest:
    """Write the trigger artefact; return the manifest with what it says about the artefact."""
    digest = manifest.triggers_digest
    job.tell(f"compiling {len(commons.triggers)} triggers")
    injected, trusted = payloads(commons), job.resolved.trusted
    topics = {"offered": topics_of(commons.entries)} if job.resolved.offers else {}
    units = KeptUnits(derived_folder(STARTER, job.environ), job.folder, force=job.work.force)
    data, ungated = compile_triggers(
        commons.triggers, injected, settings={**job.settings, **topics}, marks=ALWAYS, units_of=units.of,
        identity={
            "deia": __version__, "digest": digest, "forms": forms_source(), "faults": list(manifest.faults),
        },
        known=[(entry.path, entry.title) for entry in commons.entries if trusted or origin_of(entry.path) != PROJECT],
        own=STARTER_ORIGIN if is_packaged(job.root) else PROJECT if trusted else UNTRUSTED,
    )  # fmt: skip
    units.keep()
    files.replace(f"{job.folder}/{TRIGGERS}", data)
    return manifest.but(
        artefact=digest, settled=tuple(sorted(payload.path for payload in injected.values())), ungated=tuple(ungated)
    )


def _report(job: _Job, written: tuple[str, ...], manifest: Manifest, began: float) -> Compiled:
    seconds = time.perf_counter() - began
    return Compiled(
        **manifest.values(), folder=job.folder, trusted=job.resolved.trusted, written=written, seconds=seconds
    )
