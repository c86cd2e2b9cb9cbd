"""SOURCE → `.deia/`: the one place that writes compiled files, atomically, incrementally, one compiler at a time.

A reader sees the old files or the new: the trigger artefact is replaced whole, the catalog is built in a folder of its
own that the file `catalog` then names. A crash leaves what was there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

from deia import __version__, files, freshness
from deia.commons.checks import check_layers
from deia.commons.layers import PROJECT, file_at, layer_prefixes, load_layers, local_path
from deia.commons.packs import FOLDER as PACKS
from deia.commons.packs import LOCK as PACKS_LOCK
from deia.compile.calibration import Reached, calibrated, reached_in, shipped
from deia.compile.catalog import build_catalog, models
from deia.compile.encoding import MOST_UNSAID, TIER, UNASKED, Effort, kept_at
from deia.compile.forms import forms_source
from deia.compile.marks import ALWAYS
from deia.compile.meaning import vectors_source
from deia.compile.patterns import MAKER
from deia.compile.payloads import payloads
from deia.compile.triggers import compile_triggers
from deia.errors import ArtefactError, Problem
from deia.match.semantic import TRANSFORMER
from deia.records import Record
from deia.search.catalog import open_catalog
from deia.settings import INDEX_NAMES, derived_folder, is_packaged, resolve, state_folder
from deia.watch.artefact import FORMAT, open_artefact

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from deia.commons.commons import Commons

TRIGGERS, CATALOG, MANIFEST, SOURCES, LOCK = "triggers", "catalog", "manifest.json", "sources.json", "lock"
MOST_PROBLEMS = 5000  # that a manifest keeps
SETTINGS_FILES = ("deia.toml", "pyproject.toml")
LOADED = "sentence_transformers"
RACY_NS = 2_000_000_000  # a file changed this shortly before it was hashed may change again within one clock tick


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
) -> Compiled:
    """Bring `.deia/` up to date with the commons at `root`; give what was written.

    The sentence model's vectors are made where somebody `asked` for this compile, and however many they are where
    `tier`, or else the setting, names that model; who has not asked does not wait for them.

    Raises:
        CommonsError: there is no commons that could be read.
        SettingsError: a setting is malformed.
        ArtefactError: the folder for compiled files cannot be written.
    """
    began = time.perf_counter()
    folder = derived_folder(root, environ)
    tell = progress or (lambda _: None)
    chosen = resolve(root, environ=environ, flags={} if tier is None else {"tier": tier})
    try:
        os.makedirs(folder, exist_ok=True)
        with _lock(folder):
            work = _Work(tier=chosen.tier, model=chosen.model, asked=asked, force=force)
            return _compile(root, folder, environ, work=work, tell=tell, began=began)
    except OSError as error:
        fix = "Free the space or give yourself the right to write there, then type: deia compile"
        raise ArtefactError(f"cannot write compiled files: {error}", where=folder, fix=fix) from error


class _Work(Record):
    """What a compile is to do: which tier is wanted, whether somebody waits for it, whether to make all anew."""

    tier: str
    model: str
    asked: bool
    force: bool

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


def _compile(
    root: str, folder: str, environ: Mapping[str, str], *, work: _Work, tell: Callable[[str], None], began: float
) -> Compiled:
    resolved = resolve(root, environ=environ)
    settings = resolved.values()
    settings.pop("sources")
    for name in ("tier", "model"):  # of searches, and no trigger depends on them
        settings.pop(name)
    previous = {} if work.force else read_manifest(folder)
    sentences = next((name for name in work.tiers if name != "static"), TIER)
    maker = _maker(state_folder(environ))
    starter = bool(settings["starter"])
    sources = _sources(root, {} if work.force else _read_json(f"{folder}/{SOURCES}"), starter=starter)
    fresh = _fresh(folder, previous, _digests(sources, settings))
    fresh["catalog_digest"] = fresh["catalog_digest"] and work.fits(previous)
    if all(fresh.values()):
        _write_stamps(root, folder, sources, maker)
        return _report(folder, (), previous, began)
    tell("reading the commons")
    layers = load_layers(root, starter=starter)
    commons = layers.merged()
    problems = check_layers(layers, resolved)
    sources = _sources(root, sources, also=[document.path for document in commons.documents], starter=starter)
    digests = _digests(sources, settings)
    manifest = {
        **digests, "format": FORMAT, "deia": __version__, "built_at": _now(), "documents": len(commons.entries),
        "triggers": len(commons.triggers), "problems": [problem.values() for problem in problems[:MOST_PROBLEMS]],
        "catalog": previous.get("catalog", ""), "ungated": previous.get("ungated", []),
        "meaning": previous.get("meaning", []), "tiers": previous.get("tiers", []),
        "left_out": previous.get("left_out", False), "broken": list(commons.broken[:MOST_PROBLEMS]),
        "deprecated": sum(trigger.status == "deprecated" for trigger in commons.triggers),
    }  # fmt: skip
    if not fresh["catalog_digest"]:
        tell(f"indexing {len(commons.documents)} documents")
        effort = Effort(most=work.most, kept=kept_at(folder, maker, tier=sentences), alone=True)
        manifest["catalog"], manifest["tiers"] = _write_catalog(
            folder, commons, manifest, previous, tiers=work.tiers, effort=effort, tell=tell
        )
        manifest["left_out"] = work.asked and not work.fits({**manifest, "left_out": False})
        files.replace(f"{folder}/{CATALOG}", str(manifest["catalog"]).encode())
    if not fresh["triggers_digest"]:
        tell(f"compiling {len(commons.triggers)} triggers")
        identity = {"deia": __version__, "digest": digests["triggers_digest"], "forms": forms_source()}
        reached = calibrated(commons.triggers, commons.cases, (*shipped(), *reached_in(previous)))
        data, ungated = compile_triggers(
            commons.triggers, payloads(commons), settings=settings, identity=identity, marks=ALWAYS,
            known=[(entry.path, entry.title) for entry in commons.entries],
            thresholds={(one.trigger, one.clause): one.thresholds for one in reached},
            own="starter" if is_packaged(root) else PROJECT,
        )  # fmt: skip
        manifest["meaning"] = [one.values() for one in reached]
        files.replace(f"{folder}/{TRIGGERS}", data)
        manifest["ungated"] = list(ungated)
    files.replace(f"{folder}/{SOURCES}", json.dumps(sources, sort_keys=True).encode())
    files.replace(f"{folder}/{MANIFEST}", json.dumps(manifest, indent=1, sort_keys=True).encode())
    _write_stamps(root, folder, sources, maker)
    kept = kept_at(folder, maker, tier=sentences).rpartition("/")[2]
    _sweep(folder, keep={str(manifest["catalog"]), str(previous.get("catalog", "")), kept})
    written = tuple(name.removesuffix("_digest") for name, is_fresh in fresh.items() if not is_fresh)
    return _report(folder, written, manifest, began)


def _digests(sources: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Tell what each compiled file depends on; an injected document's text is part of the trigger artefact too."""
    return {
        "triggers_digest": _digest(
            sources, lambda _: True, [settings, MAKER, FORMAT, __version__, forms_source(), vectors_source()]
        ),
        "catalog_digest": _digest(sources, _is_catalog_source, [__version__, *models()]),
    }


def _fresh(folder: str, previous: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, bool]:
    """Say which compiled files need not be made again: whole, and made of what there is now."""
    whole = {
        "triggers_digest": _artefact_digest(folder) == previous.get("triggers_digest"),
        "catalog_digest": _is_catalog(folder, previous),
    }
    return {name: previous.get(name) == digest and whole[name] for name, digest in digests.items()}


def _artefact_digest(folder: str) -> str:
    try:
        return str(open_artefact(f"{folder}/{TRIGGERS}").meta.get("digest"))
    except ArtefactError:
        return ""


def _is_catalog(folder: str, manifest: Mapping[str, Any]) -> bool:
    named = (files.read(f"{folder}/{CATALOG}") or b"").decode("ascii", "replace")
    if named != manifest.get("catalog"):
        return False
    try:
        open_catalog(_catalog(folder, manifest))
    except ArtefactError:
        return False
    return True


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
        tiers=tuple(manifest.get("tiers", ())),
        left_out=bool(manifest.get("left_out")),
        deprecated=manifest.get("deprecated", 0),
    )


# --- what it is made from ---


def _sources(root: str, known: Mapping[str, Any], *, also: Sequence[str] = (), starter: bool) -> dict[str, list[Any]]:
    """Give size, time and SHA-256 of every source; a file with a known size and an old known time is not read again."""
    found = {}
    newest = time.time_ns() - RACY_NS
    for path in source_paths(root, (*known, *also), starter=starter):
        place = file_at(root, path)
        stamp = files.stamp(place)
        if stamp is None:
            continue
        before = known.get(path)
        if before and before[:2] == list(stamp) and stamp[1] < newest:
            found[path] = before
        else:
            found[path] = [*stamp, hashlib.sha256(files.read(place) or b"").hexdigest()]
    return found


def source_paths(root: str, known: Iterable[str] = (), *, starter: bool = False) -> list[str]:
    """Give every file that compiled files are made from, as paths of the layered commons, sorted.

    `known` are those of last time: an index may list documents outside bok/, which are known from the compile that
    first met them.
    """
    prefixes = tuple(layer_prefixes(root, starter=starter))
    names = [name for name in (*SETTINGS_FILES, PACKS_LOCK, *known) if _of_layers(name, prefixes)]
    names += [f"{prefix}{name}" for prefix in prefixes for name in INDEX_NAMES]
    paths = [name for name in names if os.path.isfile(file_at(root, name))]
    for prefix in prefixes:
        for top, suffixes in (("bok", (".md",)), ("triggers", (".yaml", ".yml"))):
            base = file_at(root, prefix).rstrip("/")
            for place, folders, within in os.walk(f"{base}/{top}"):
                folders.sort()
                relative = os.path.relpath(place, base).replace(os.sep, "/")
                paths += [f"{prefix}{relative}/{name}" for name in within if name.endswith(suffixes)]
    return sorted(set(paths))


def _of_layers(path: str, prefixes: Collection[str]) -> bool:
    """Say whether a path belongs to a layer that is still there."""
    local = local_path(path)
    return path.removesuffix(local) in prefixes


def _is_catalog_source(path: str) -> bool:
    return not local_path(path).startswith("triggers/") and path not in SETTINGS_FILES


def _digest(sources: Mapping[str, Any], wanted: Callable[[str], bool], about: Sequence[Any]) -> str:
    parts = [[path, values[2]] for path, values in sorted(sources.items()) if wanted(path)]
    return hashlib.sha256(json.dumps([parts, about], sort_keys=True).encode()).hexdigest()


# --- writing ---


def _write_catalog(
    folder: str, commons: Commons, manifest: Mapping[str, Any], previous: Mapping[str, Any],
    *, tiers: Sequence[str], effort: Effort, tell: Callable[[str], None],
) -> tuple[str, list[str]]:  # fmt: skip
    """Write a catalog; give its name and the tiers that it holds, which its name says too."""
    building = f"{folder}/building-{os.getpid()}"
    shutil.rmtree(building, ignore_errors=True)
    os.makedirs(building)
    before = _catalog(folder, previous)
    report = build_catalog(
        commons.entries, commons.documents, commons.clusters, commons.query_patterns, building,
        built_at=manifest["built_at"], sources=[commons.index.path] if commons.index.path else [],
        concepts=commons.concepts,
        previous=before if previous.get("deia") == __version__ and os.path.isdir(before) else None,
        tiers=tiers, effort=effort, tell=tell,
    )  # fmt: skip
    held = [made if made == TIER else _digest({}, bool, [made])[:16] for made in report.tiers if made != "static"]
    name = "-".join(["catalog", manifest["catalog_digest"][:16], *held])
    shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    os.rename(building, f"{folder}/{name}")
    return name, list(report.tiers)


def _catalog(folder: str, manifest: Mapping[str, Any]) -> str:
    return f"{folder}/{manifest.get('catalog') or 'no-catalog'}"


def _write_stamps(root: str, folder: str, sources: Mapping[str, Any], maker: str) -> None:
    watched = [path for path in sources if not local_path(path).startswith("bok/")]
    absent = [name for name in (*INDEX_NAMES, "deia.toml", PACKS_LOCK) if name not in sources]
    folders = {path.rpartition("/")[0] for path in sources if local_path(path).startswith("triggers/")}
    triggers = sorted({*watched, *absent, *folders, "triggers", PACKS})
    texts = {"bok", *(path.rpartition("/")[0] for path in sources if local_path(path).startswith("bok/"))}
    everything = sorted({*triggers, *texts, *sources})
    for name, paths in ((freshness.TRIGGERS, triggers), (freshness.DOCUMENTS, everything)):
        places = [file_at(root, path).removeprefix(f"{root}/") for path in paths]
        text = freshness.stamp_text(root, places, maker)
        files.replace(f"{folder}/{name}", text.encode("utf-8", "surrogateescape"))


def _maker(state: str) -> str:
    """Give this installation's random name, made on first use."""
    if not freshness.maker(state):
        os.makedirs(state, mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(freshness.maker_path(state), "x", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
    return freshness.maker(state)


def _sweep(folder: str, keep: set[str]) -> None:
    """Remove the leavings of older and of crashed compiles; the last catalog stays for readers that are opening it."""
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if name.startswith(("catalog-", "building-")) and name not in keep:
            shutil.rmtree(path, ignore_errors=True)
        elif name.endswith(".new") or (name.startswith("codes-") and name not in keep):
            with contextlib.suppress(OSError):
                os.remove(path)


@contextlib.contextmanager
def _lock(folder: str) -> Iterator[None]:
    """Let one compiler work at a time; the system frees the lock of a process that dies."""
    with open(f"{folder}/{LOCK}", "a+b") as file:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - exists there only

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - exists there only

            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield


# --- reading back ---


def read_manifest(folder: str) -> dict[str, Any]:
    """Give the manifest of compiled files, empty where there is none or it is of another format."""
    manifest = _read_json(f"{folder}/{MANIFEST}")
    return manifest if manifest.get("format") == FORMAT else {}


def _read_json(path: str) -> dict[str, Any]:
    content = files.read(path)
    try:
        value = json.loads(content) if content else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
