"""What `deia doctor` looks at, each check a function that yields findings; `CHECKS` is all of them, in order.

Refuses to mend or print anything: a finding names the cure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deia import freshness, spool
from deia.commons.checks import lint
from deia.commons.index.load_commons import load_commons
from deia.compile.compiled_folder import TRIGGERS
from deia.compile.manifest import Manifest, read_manifest
from deia.errors import ArtefactError, CommonsError, DeiaError
from deia.evaluate.golden_run import evaluate, own_questions
from deia.folders import (
    derived_folder,
    events_folder,
    find_commons,
    is_commons,
    is_packaged,
    nearest_commons,
    state_folder,
)
from deia.knowledge import Golden
from deia.ledger.tail import extent_of, read_ledger
from deia.librarian import Librarian
from deia.match.tiers import tiers_of
from deia.records import Record
from deia.serve.setup.check_results import DEAD, FINE, WARNING, Finding, Patient
from deia.serve.setup.hook_checks import hook_findings
from deia.serve.setup.why_commons import why_this_commons
from deia.settings import resolve
from deia.text import counted
from deia.watch.gate.artefact import open_artefact
from deia.watch.silence.mutes import read_mutes, switch_path

__all__ = ["CHECKS", "DEAD", "FINE", "WARNING", "Finding", "Patient", "diagnose"]

COMPILE = "Type: deia compile"
RECENT = 7 * 86400  # seconds of the ledger that are looked at
NAMED = 5
SAMPLE = 30  # golden questions of the starter commons: all of them take 20 s


class _Root(Record):
    """A commons that was found, with what the checks share."""

    root: str
    derived: str
    patient: Any


def diagnose(patient: Patient) -> Iterator[Finding]:
    """Yield everything there is to say, good and bad."""
    try:
        root = find_commons(patient.folder, environ=patient.environ, explicit=patient.explicit)
        resolve(root, environ=patient.environ)
        load_commons(root)
    except DeiaError as error:
        where = f"{error.where}: " if error.where else ""
        yield Finding(level=DEAD, text=f"no commons that can be used: {where}{error.message}", cure=error.fix)
        for problem in getattr(error, "problems", ()):
            yield Finding(level=DEAD, text=str(problem))
    else:
        about = _Root(root=root, derived=derived_folder(root, patient.environ), patient=patient)
        for check in CHECKS:
            yield from check(about)
    yield from hook_findings(patient)
    yield from silenced(patient)


def commons_found(about: _Root) -> Iterator[Finding]:
    """Say which commons counts, and why."""
    patient = about.patient
    why = why_this_commons(about.root, environ=patient.environ, explicit=patient.explicit, start=patient.folder)
    yield Finding(level=FINE, text=f"commons {about.root} ({why})")
    below = _commons_below(patient.folder) if is_packaged(about.root) and not nearest_commons(patient.folder) else []
    if below:
        named = ", ".join(f"{name}/" for name in below[:NAMED])
        cure = "Sessions started here do not see it. Type: deia init, or start them there, or name it with --commons"
        yield Finding(level=WARNING, text=f"no commons here or above, but one in {named}", cure=cure)


def _commons_below(folder: str) -> list[str]:
    """Give the folders in a folder that are commons."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in names if not name.startswith(".") and is_commons(f"{folder}/{name}")]


def sound_sources(about: _Root) -> Iterator[Finding]:
    """Count the problems of index, documents and triggers."""
    settings = resolve(about.root, environ=about.patient.environ)
    problems = lint(about.root, starter=settings.starter, settings=settings)
    errors = sum(problem.severity == "error" for problem in problems)
    if problems:
        warnings = counted(len(problems) - errors, "warning")
        counts = f"{counted(errors, 'error')} and {warnings} in the index, documents, triggers and settings"
        yield Finding(level=WARNING, text=counts, cure="To see them, type: deia lint")
    else:
        yield Finding(level=FINE, text="index, documents and triggers have no problems")


def fresh_files(about: _Root) -> Iterator[Finding]:
    """Say whether the compiled files can be opened and fit their sources; whether a hook lacks them is told there."""
    try:
        open_artefact(f"{about.derived}/{TRIGGERS}")
    except ArtefactError as error:
        yield Finding(level=WARNING, text=error.message, cure=error.fix)
        return
    changed = freshness.changed(about.derived, about.root, freshness.DOCUMENTS)
    if changed:
        yield Finding(level=WARNING, text=f"{changed} changed since the commons was compiled", cure=COMPILE)
    elif standing := read_manifest(about.derived).standing:
        told = f"the compiled files are up to date, but {', '.join(standing)} has errors; its last good version counts"
        yield Finding(level=WARNING, text=told, cure="To see them, type: deia lint")
    else:
        yield Finding(level=FINE, text=f"compiled files are fresh ({_triggers(read_manifest(about.derived))})")


def _triggers(manifest: Manifest) -> str:
    """Count the triggers as `deia compile` and `deia triggers list` do, deprecated ones apart."""
    off = manifest.deprecated
    living = counted(manifest.triggers - off, "trigger")
    return f"{living} and {off} deprecated" if off else living


def _is_fresh(about: _Root) -> bool:
    return not freshness.changed(about.derived, about.root, freshness.DOCUMENTS)


def gated_triggers(about: _Root) -> Iterator[Finding]:
    """Name the triggers that every turn must look at."""
    ungated = read_manifest(about.derived).ungated
    if ungated:
        named = ", ".join(ungated[:NAMED])
        cure = "Give each of their clauses a word that must be present."
        yield Finding(level=WARNING, text=f"{len(ungated)} triggers cost every turn a look: {named}", cure=cure)


def golden_questions(about: _Root) -> Iterator[Finding]:
    """Ask the golden questions, and name those whose documents are not found, or that are answered though none fits."""
    try:
        asked: Sequence[Golden] = own_questions(about.root)
    except CommonsError as error:
        yield Finding(level=WARNING, text=error.message, cure="To see them, type: deia eval")
        return
    if not asked or not _is_fresh(about):  # asking would compile, and nothing is mended here
        return
    every = len(asked)
    if is_packaged(about.root):  # which its own tests ask in full; here it is asked whether this installation answers
        asked = sample(asked)
    of = f"{len(asked)} of {every}" if len(asked) < every else str(every)
    about.patient.tell(f"asking {of} golden questions …")
    librarian = Librarian(about.root, agent="doctor", ledger=False)
    try:
        tiers = tiers_of(librarian.settings.tier, model=librarian.settings.model)
        done = evaluate(librarian.open_catalog(), asked, tiers=tiers, limit=librarian.settings.limit)
    except DeiaError as error:
        yield Finding(level=DEAD, text=error.message, cure=error.fix)
        return
    if not done.wrong:
        yield Finding(
            level=FINE, text=f"{counted(len(asked), 'golden question')}{_of(asked, every)} asked, all documents found"
        )
        return
    named = "; ".join(each.query for each in done.wrong[:NAMED])
    text = f"{len(done.wrong)} of {len(asked)} golden questions{_of(asked, every)} miss their documents: {named}"
    cure = "Add the words people use to the keywords of those documents' entries. To see all, type: deia eval"
    yield Finding(level=DEAD, text=text, cure=cure)


def sample(asked: Sequence[Golden]) -> Sequence[Golden]:
    """Give at most `SAMPLE` of the questions, from all over, and always the same."""
    return asked[:: max(1, -(-len(asked) // SAMPLE))]


def _of(asked: Sequence[Golden], every: int) -> str:
    return f" (a sample of {every})" if len(asked) < every else ""


def quiet_ledger(about: _Root) -> Iterator[Finding]:
    """Show the last errors of the ledger."""
    since = spool.timestamp(time.time() - RECENT)
    ledger = read_ledger(events_folder(about.root, about.patient.environ), since=since)
    errors = [event for event in ledger.events if event.get("event") == "error"]
    for event in errors[-NAMED:]:
        told = f"{event.get('ts', '?')}: {event.get('error', '?')} ({event.get('where', '?')})"
        yield Finding(level=WARNING, text=f"error in the ledger at {told}")
    if len(errors) > NAMED:
        yield Finding(
            level=WARNING,
            text=f"{counted(len(errors) - NAMED, 'more error')} in the last 7 days",
            cure="Type: deia log --event error",
        )
    if not errors:
        yield Finding(level=FINE, text="no errors in the ledger in the last 7 days")


def readable_ledger(about: _Root) -> Iterator[Finding]:
    """Say how much the ledger holds, and what of it cannot be read."""
    folder = events_folder(about.root, about.patient.environ)
    try:
        extent = extent_of(folder)
    except CommonsError as error:
        yield Finding(level=DEAD, text=error.message, cure=f"Move what is broken out of {folder}")
        return
    span = f" from {extent.oldest} to {extent.newest}" if extent.oldest else ""
    yield Finding(level=FINE, text=f"ledger: {counted(extent.events, 'event')}{span}, {_size(extent.bytes)}")
    if extent.torn:
        yield Finding(level=WARNING, text=f"{counted(extent.torn, 'broken line')} in the ledger, passed over")
    if extent.damaged:
        named = ", ".join(extent.damaged[:NAMED])
        cure = f"Copy them anew from where they came, or remove them from {folder}"
        yield Finding(level=WARNING, text=f"Parquet files of the ledger that cannot be read: {named}", cure=cure)


def _size(many: int) -> str:
    return f"{many / 1e6:,.1f} MB" if many >= 1e6 else f"{many / 1e3:,.1f} kB" if many >= 1e3 else f"{many} bytes"


def silenced(patient: Patient) -> Iterator[Finding]:
    """Say what is muted."""
    if patient.environ.get("DEIA_OFF", "0") not in ("", "0"):
        yield Finding(
            level=WARNING, text="DEIA_OFF is set: hooks started from here say nothing", cure="Type: unset DEIA_OFF"
        )
    state = state_folder(patient.environ)
    if os.path.exists(switch_path(state)):
        yield Finding(level=WARNING, text="everything is muted on this machine", cure="Type: deia mute --all --off")
    mutes = read_mutes(state, now=time.time())
    if mutes:
        named = ", ".join(sorted({mute.trigger for mute in mutes})[:NAMED])
        yield Finding(
            level=WARNING,
            text=f"{counted(len(mutes), 'mute')} in force: {named}",
            cure="To see them, type: deia mute --list",
        )


CHECKS: tuple[Callable[[_Root], Iterator[Finding]], ...] = (
    commons_found,
    sound_sources,
    fresh_files,
    gated_triggers,
    golden_questions,
    quiet_ledger,
    readable_ledger,
)
