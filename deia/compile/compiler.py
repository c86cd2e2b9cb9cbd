"""SOURCE → `.deia/`: the one place that writes compiled files, atomically, incrementally, one compiler at a time.

A reader sees the old files or the new: the trigger artefact is replaced whole, the catalog is built in a folder of its
own that the file `catalog` then names. A crash leaves what was there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from deia import __version__, files
from deia.commons.checks import check_layers
from deia.commons.index.load_commons import Commons
from deia.commons.layers.collections import select_collections
from deia.commons.layers.merge_layers import PROJECT, load_layers, origin_of
from deia.compile.catalog.build_catalog import build_catalog, models, revise_catalog
from deia.compile.catalog.embeddings import MOST_UNSAID, TIER, UNASKED, Effort, kept_at
from deia.compile.catalog.incremental import KEPT_FROM, changed_texts, entries_text, merged_problems, revised
from deia.compile.compiled_folder import (
    CATALOG,
    ENTRIES,
    SOURCES,
    TRIGGERS,
    catalog_at,
    empty_building,
    locked,
    made_maker,
    note_python,
    place_catalog,
    read_manifest,
    sound_parts,
    sweep,
    write_records,
    write_stamps,
)
from deia.compile.sources import NOTHING, Known, as_read, content_digests, digest_of, read_known, read_sources
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.calibration import Reached, calibrated, reached_in, shipped
from deia.compile.triggers.exemplars import vectors_source
from deia.compile.triggers.last_good import keep_lasting, read_lasting, standing
from deia.compile.triggers.patterns import MAKER
from deia.compile.triggers.payloads import payloads
from deia.compile.triggers.statements import ALWAYS
from deia.compile.triggers.word_forms import forms_source
from deia.errors import ArtefactError, Problem
from deia.folders import derived_folder, is_packaged, part_folder, state_folder
from deia.match.tiers import TRANSFORMER
from deia.records import Record
from deia.settings import Settings, resolve
from deia.watch.gate.artefact import FORMAT

MOST_PROBLEMS = 5000  # that a manifest keeps
LOADED = "sentence_transformers"
NOT_COMPILED = ("sources", "tier", "model", "collections")  # of searches and servers; nothing compiled depends on them
CARRIED: Mapping[str, Any] = {  # what the manifest keeps of files that are not written anew, and what it says at first
    "catalog": "", "tiers": [], "left_out": False, "artefact": "", "settled": [], "ungated": [], "meaning": [],
    "own_meaning": [],
}  # fmt: skip


class Compiled(Record):
    """What a compile did, or found it need not do."""

    folder: str
    written: tuple[str, ...]  # "triggers", "catalog", or nothing
    triggers: int
    documents: int
    ungated: tuple[str, ...]
    meaning: tuple[Reached, ...]  # what the thresholds of `meaning` clauses come to, where they were found anew
    problems: tuple[Problem, ...]
    seconds: float
    own: frozenset[str] = frozenset()  # triggers of the project's own among those of `meaning`
    tiers: tuple[str, ...] = ()  # what searches can go by besides words
    deprecated: int = 0  # of the triggers
    left_out: bool = False  # the sentence model's vectors would have taken long


def compile_commons(
    root: str,
    *,
    environ: Mapping[str, str],
    force: bool = False,
    progress: Callable[[str], None] | None = None,
    tier: str | None = None,
    asked: bool = False,
    collections: Sequence[str] = (),
) -> Compiled:
    """Bring `.deia/` up to date with the commons at `root`; give what was written.

    The sentence model's vectors are made where somebody `asked` for this compile, and however many they are where
    `tier`, or else the setting, names that model; who has not asked does not wait for them. Some `collections` are
    compiled by themselves, in a folder of their own.

    Raises:
        CommonsError: there is no commons that could be read, or a collection holds nothing.
        SettingsError: a setting is malformed.
        ArtefactError: the folder for compiled files cannot be written.
    """
    began = time.perf_counter()
    folder = part_folder(derived_folder(root, environ), collections)
    tell = progress or (lambda _: None)
    chosen = resolve(root, environ=environ, flags={} if tier is None else {"tier": tier})
    try:
        os.makedirs(folder, exist_ok=True)
        with locked(folder), _uncollected():
            work = _Work(tier=chosen.tier, model=chosen.model, asked=asked, force=force, collections=tuple(collections))
            return _compile(_job(root, folder, environ, work=work, tell=tell), began)
    except OSError as error:
        fix = "Free the space or give yourself the right to write there, then type: deia compile"
        raise ArtefactError(f"cannot write compiled files: {error}", where=folder, fix=fix) from error


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the interpreter from looking for garbage: a compile makes none, and looking takes a tenth of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Work(Record):
    """What a compile is to do: which tier is wanted, whether somebody waits for it, whether to make all anew."""

    tier: str
    model: str
    asked: bool
    force: bool
    collections: tuple[str, ...] = ()

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers to write; the word vectors cost next to nothing, and searches fall back on them.

        A model of the person's own takes seconds to load: for who did not ask to compile it counts where it is loaded.
        """
        if self.tier == TRANSFORMER:
            return ("static", f"{TRANSFORMER}:{self.model}") if self.asked or LOADED in sys.modules else ("static",)
        return ("static", TIER) if self.tier in ("auto", TIER) else ("static",)

    @property
    def most(self) -> int:
        """How many texts may be encoded."""
        return UNASKED if not self.asked else Effort().most if self.tier in (TIER, TRANSFORMER) else MOST_UNSAID

    def fits(self, manifest: Mapping[str, Any]) -> bool:
        """Say whether the catalog of last time holds the tiers that are wanted, or as many as can be had."""
        lacking = set(self.tiers) - set(manifest.get("tiers", ()))
        return not lacking or not self.asked or (bool(manifest.get("left_out")) and self.tier == "auto")


class _Job(Record):
    """A compile: of what, into which folder, by which settings, and what is there from last time."""

    root: str
    folder: str
    work: _Work
    tell: Callable[[str], None]
    resolved: Settings
    maker: str
    previous: Mapping[str, Any]  # the manifest of last time
    known: Known

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that compiled files depend on; some are of searches and servers alone."""
        return {name: value for name, value in self.resolved.values().items() if name not in NOT_COMPILED}

    @property
    def starter(self) -> bool:
        """Whether the starter commons may lie below."""
        return self.resolved.starter

    @property
    def kept(self) -> str:
        """The file in which the sentence model's vectors are kept."""
        sentences = next((name for name in self.work.tiers if name != "static"), TIER)
        return kept_at(self.folder, self.maker, tier=sentences)

    def digests(self, sources: Mapping[str, str], about: Mapping[str, Any]) -> dict[str, str]:
        """Give what identifies that which each compiled file is to be made of; of what did not change it is known."""
        before = self.previous
        same = sources == self.known.sources and self.known.token == before.get("triggers_digest")
        if same and before.get("about") == digest_of(about):
            return {f"{name}_digest": before[f"{name}_digest"] for name in about}
        return _digests(sources, about)

    def effort(self, *, alone: bool) -> Effort:
        """Give how much may be encoded; `alone` where every text of the commons is known."""
        return Effort(most=self.work.most, kept=self.kept, alone=alone)


def _job(root: str, folder: str, environ: Mapping[str, str], *, work: _Work, tell: Callable[[str], None]) -> _Job:
    maker = made_maker(state_folder(environ))
    note_python(state_folder(environ))
    return _Job(
        root=root, folder=folder, work=work, tell=tell, resolved=resolve(root, environ=environ),
        maker=maker,
        previous={} if work.force else read_manifest(folder),
        known=NOTHING if work.force else read_known(f"{folder}/{SOURCES}"),
    )  # fmt: skip


def _compile(job: _Job, began: float) -> Compiled:
    sources = read_sources(job.root, job.known.sources, starter=job.starter)
    about = _about(job.settings, job.work.collections)
    digests, whole = job.digests(sources, about), sound_parts(job.folder, job.previous)
    whole["catalog_digest"] = whole["catalog_digest"] and job.work.fits(job.previous)
    fresh = {name: whole[name] and job.previous.get(name) == digest for name, digest in digests.items()}
    written = tuple(name.removesuffix("_digest") for name, is_fresh in fresh.items() if not is_fresh)
    if not written:
        write_stamps(job.root, job.folder, sources, job.maker)
        return _report(job.folder, (), job.previous, began)
    same = all(whole.values()) and job.previous.get("about") == digest_of(about)
    manifest = _revise(job, sources, digests) if same else None
    if manifest:
        written = (CATALOG,)
    else:
        manifest, sources = _make(job, sources, about, written)
    write_records(job.folder, manifest, sources)
    write_stamps(job.root, job.folder, sources, job.maker)
    kept = [ENTRIES] if manifest["entries"] else []
    catalogs = (str(each.get("catalog", "")) for each in (manifest, job.previous))
    sweep(job.folder, keep={*kept, *catalogs, job.kept.rpartition("/")[2]})
    return _report(job.folder, written, manifest, began)


def _revise(job: _Job, sources: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Any] | None:
    """Compile the texts that changed where nothing else did; give the new manifest, or None where all is to be read."""
    before, place = job.previous, f"{job.folder}/{ENTRIES}"
    own = before.get("entries") and job.known.token == before.get("triggers_digest")
    paths = changed_texts(sources, job.known.sources, set(before["settled"])) if own else None
    found = revised(job.root, place, paths, token=before["entries"], index=before["index"]) if paths else None
    if found is None:
        return None
    job.tell(f"indexing {len(found.volumes)} changed {'document' if len(found.volumes) == 1 else 'documents'}")
    built_at, building = _now(), empty_building(job.folder)
    report = revise_catalog(
        found.volumes, building,
        previous=catalog_at(job.folder, before), built_at=built_at, tiers=job.work.tiers,
        effort=job.effort(alone=False),
    )  # fmt: skip
    if report is None:
        shutil.rmtree(building)
        return None
    name = place_catalog(job.folder, building, report.tiers, digests["catalog_digest"])
    problems = merged_problems(before["problems"], set(paths or ()), found.problems, most=MOST_PROBLEMS)
    return {
        **before, **digests, "catalog": name, "tiers": list(report.tiers), "built_at": built_at, "problems": problems,
    }  # fmt: skip


def _make(
    job: _Job, sources: Mapping[str, str], about: Mapping[str, Any], written: Sequence[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the whole commons and compile what is to be written; give the new manifest and the sources."""
    job.tell("reading the commons")
    good = read_lasting(job.folder)
    layers = load_layers(job.root, starter=job.starter, good=good)
    commons = layers.merged()
    problems = check_layers(layers, job.resolved)
    if job.work.collections:
        commons, problems = select_collections(commons, job.work.collections), []
    also = [document.path for document in commons.documents]
    sources = as_read(sources, read_sources(job.root, sources, also=also, starter=job.starter), also=also)
    keep_lasting(job.root, job.folder, sources, layers.stack[0].problems, good)
    carried = {name: job.previous.get(name, none) for name, none in CARRIED.items()}
    manifest = {
        **carried, **_digests(sources, about), "about": digest_of(about), "index": commons.index.path,
        "entries": "", "format": FORMAT, "deia": __version__, "built_at": _now(), "documents": len(commons.entries),
        "triggers": len(commons.triggers), "problems": [problem.values() for problem in problems[:MOST_PROBLEMS]],
        "standing": standing(layers.stack[0].problems), "broken": list(commons.broken[:MOST_PROBLEMS]),
        "deprecated": sum(trigger.status == "deprecated" for trigger in commons.triggers),
    }  # fmt: skip
    if CATALOG in written:
        manifest |= _write_catalog(job, commons, manifest)
    if TRIGGERS in written:
        manifest |= _write_triggers(job, commons, manifest)
    if len(commons.documents) >= KEPT_FROM and not job.work.collections:
        manifest["entries"] = manifest["triggers_digest"]
        files.replace(f"{job.folder}/{ENTRIES}", entries_text(layers.stack[0], manifest["entries"]))
    return manifest, sources


def _write_catalog(job: _Job, commons: Commons, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Write a catalog; give what the manifest says of it: its name, and the tiers that it holds."""
    job.tell(f"indexing {len(commons.documents)} documents")
    building, before = empty_building(job.folder), catalog_at(job.folder, job.previous)
    report = build_catalog(
        commons.entries, commons.documents, commons.clusters, commons.query_patterns, building,
        built_at=manifest["built_at"], sources=[commons.index.path] if commons.index.path else [],
        concepts=commons.concepts, learning_paths=commons.learning_paths,
        previous=before if job.previous.get("deia") == __version__ and os.path.isdir(before) else None,
        tiers=job.work.tiers, effort=job.effort(alone=True), tell=job.tell,
    )  # fmt: skip
    name = place_catalog(job.folder, building, report.tiers, manifest["catalog_digest"])
    held = {"catalog": name, "tiers": list(report.tiers)}
    return {**held, "left_out": job.work.asked and not job.work.fits(held)}


def _write_triggers(job: _Job, commons: Commons, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Write the trigger artefact; give what the manifest says of it."""
    digest = manifest["triggers_digest"]
    job.tell(f"compiling {len(commons.triggers)} triggers")
    injected = payloads(commons)
    reached = calibrated(commons.triggers, commons.cases, (*shipped(), *reached_in(job.previous)))
    data, ungated = compile_triggers(
        commons.triggers, injected, settings=job.settings, marks=ALWAYS,
        identity={"deia": __version__, "digest": digest, "forms": forms_source(), "standing": manifest["standing"]},
        known=[(entry.path, entry.title) for entry in commons.entries],
        thresholds={(one.trigger, one.clause): one.thresholds for one in reached},
        own="starter" if is_packaged(job.root) else PROJECT,
    )  # fmt: skip
    files.replace(f"{job.folder}/{TRIGGERS}", data)
    settled = sorted(payload.path for payload in injected.values())
    own = {trigger.id for trigger in commons.triggers if origin_of(trigger.path) == PROJECT}
    return {
        "artefact": digest, "settled": settled, "ungated": list(ungated), "meaning": [one.values() for one in reached],
        "own_meaning": sorted(own.intersection(one.trigger for one in reached)),
    }  # fmt: skip


def _about(settings: Mapping[str, Any], collections: Sequence[str]) -> dict[str, list[Any]]:
    """Give what each compiled file depends on besides the sources; an injected text is part of the triggers' too."""
    return {
        TRIGGERS: [settings, MAKER, FORMAT, __version__, forms_source(), vectors_source(), *collections],
        CATALOG: [__version__, *models(), *collections],
    }


def _digests(sources: Mapping[str, str], about: Mapping[str, Any]) -> dict[str, str]:
    """Give what identifies that which each compiled file is made of."""
    return {f"{name}_digest": digest for name, digest in content_digests(sources, about).items()}


def _report(folder: str, written: tuple[str, ...], manifest: Mapping[str, Any], began: float) -> Compiled:
    return Compiled(
        folder=folder,
        written=written,
        triggers=manifest["triggers"],
        documents=manifest["documents"],
        ungated=tuple(manifest["ungated"]),
        meaning=reached_in(manifest) if "triggers" in written else (),
        problems=tuple(Problem(**problem) for problem in manifest["problems"]),
        seconds=time.perf_counter() - began,
        own=frozenset(manifest.get("own_meaning", ())),
        tiers=tuple(manifest.get("tiers", ())),
        left_out=bool(manifest.get("left_out")),
        deprecated=manifest.get("deprecated", 0),
    )


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
