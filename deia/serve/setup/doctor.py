"""The checks of `deia doctor`, each a function that yields findings, and the function that runs them in order.

Nothing is repaired or printed here; a finding names the cure.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import deia
from deia import files, folders, freshness, spool
from deia.audit.golden_run import evaluate, own_questions
from deia.audit.state import Issue, Place, audit_state
from deia.commons.checks import lint
from deia.commons.index.load_commons import load_commons
from deia.compile.compiled_folder import TRIGGERS
from deia.compile.encoding_progress import read_encoding
from deia.compile.health import ACCEPT, Health, assess, read_golden, read_health
from deia.compile.indexing import said_at_start
from deia.compile.manifest import read_manifest
from deia.errors import ArtefactError, DeiaError
from deia.knowledge import Golden
from deia.ledger.tail import extent_of, read_ledger
from deia.librarian import Librarian
from deia.match.tiers import TIERS, tiers_of
from deia.problems import CommonsError
from deia.records import Record
from deia.serve.setup.check_results import Finding, Patient, dead, fine, warning, why_this_commons
from deia.serve.setup.hook_checks import hook_findings
from deia.settings import Settings, resolve
from deia.text import counted, one_line, period, shorten
from deia.trust import FILES
from deia.watch.gate.artefact import open_artefact
from deia.watch.silence.modes import told
from deia.watch.silence.mutes import read_mutes, switch_path
from deia.watch.silence.weakened_text import weakened_settings

PYTHON = ".".join(map(str, sys.version_info[:3]))
COMPILE = "Type: deia compile"
SHADOWS = ("hidden-trigger", "replaced-document")  # codes of problems: something takes the place of a lower layer's
TRUST = "If you trust its authors, type: deia trust"
CONFIG = "To see every setting, type: deia config"
NEVER_UNTRUSTED = ("packs", "deia.lock")  # of a commons that is not trusted
MOST_SETTING = 120  # characters of a setting in a finding
OLD_FOLDER = ".deia"  # where earlier versions kept the compiled files of a commons
RECENT = 7 * 86400  # seconds of the ledger that are checked
MOST_NAMED = 5  # items that a finding names
SAMPLE = 30  # golden questions of the starter commons: all of them take 20 s


class _Examined(Record):
    """A commons that can be used, and what the checks share."""

    root: str
    derived: str
    settings: Settings
    environ: Mapping[str, str]
    patient: Patient

    @property
    def changed(self) -> str:
        """The file that changed since it was compiled, or the empty text."""
        return freshness.changed(self.derived, self.root, freshness.DOCUMENTS)

    @property
    def health(self) -> Health:
        """How the index is now, compared with the last compile at which it was sound."""
        return assess(read_health(self.derived), load_commons(self.root), accepted=False)


def diagnose(patient: Patient) -> Iterator[Finding]:
    """Yield the findings of all checks, good and bad; without a usable commons only of those on the machine."""
    yield fine(f"deia {deia.__version__} in {os.path.dirname(deia.__file__)}, Python {PYTHON} ({sys.executable})")
    environ = patient.machine.environ
    try:
        root = folders.find_commons(patient.folder, environ=environ, explicit=patient.explicit)
        settings = resolve(root, environ=environ)
        load_commons(root)
    except DeiaError as error:
        where = f"{error.where}: " if error.where else ""
        yield dead(f"no commons that can be used: {where}{error.message}", error.fix)
        yield from (dead(str(problem)) for problem in getattr(error, "problems", ()))
    else:
        derived = folders.derived_folder(root, environ)
        about = _Examined(root=root, derived=derived, settings=settings, environ=environ, patient=patient)
        for check in COMMONS_CHECKS:
            yield from check(about)
    for machine_check in MACHINE_CHECKS:
        yield from machine_check(patient)


def commons_found(about: _Examined) -> Iterator[Finding]:
    """Yield which commons counts, and why."""
    patient = about.patient
    why = why_this_commons(about.root, environ=about.environ, explicit=patient.explicit, start=patient.folder)
    yield fine(f"commons {about.root} ({why})")
    if not folders.is_packaged(about.root) or folders.nearest_commons(patient.folder):
        return
    names = [name for name in files.names(patient.folder) if not name.startswith(".")]
    below = [name for name in names if folders.is_commons(f"{patient.folder}/{name}")]
    if below:
        named = ", ".join(f"{name}/" for name in below[:MOST_NAMED])
        cure = "Sessions started here do not see it. Type: deia init, or start them there, or name it with --commons"
        yield warning(f"no commons here or above, but one in {named}", cure)


def trusted_commons(about: _Examined) -> Iterator[Finding]:
    """Yield whether the commons is untrusted and what of it does not count then, and which settings weaken deia."""
    settings = about.settings
    nearest = "" if about.patient.explicit else folders.nearest_commons(about.patient.folder)
    if nearest and about.root not in (nearest, folders.STARTER) and not folders.is_trusted(nearest, about.environ):
        yield warning(f"the commons in {one_line(nearest)} is not trusted, so one further up counts", TRUST)
    if not settings.trusted:
        off = [name for name in (*FILES, *NEVER_UNTRUSTED) if os.path.lexists(f"{about.root}/{name}")]
        text = f"; {', '.join(off)} {'does' if len(off) == 1 else 'do'} not count" if off else ""
        yield warning(f"you have not trusted this commons: its lessons can only add notes{text}", TRUST)
    for setting, source in weakened_settings(settings):
        yield warning(f"{shorten(one_line(setting), MOST_SETTING)} weakens deia; it was set by {source}", CONFIG)
    for name, reason in settings.clamped.items():
        yield warning(f"{name} is {getattr(settings, name)}, because {reason}", CONFIG)


def sound_sources(about: _Examined) -> Iterator[Finding]:
    """Yield the number of problems of the index, documents, triggers and settings."""
    problems = lint(about.root, starter=about.settings.starter, settings=about.settings)
    errors = sum(problem.severity == "error" for problem in problems)
    if problems:
        warnings = counted(len(problems) - errors, "warning")
        text = f"{counted(errors, 'error')} and {warnings} in the index, documents, triggers and settings"
        yield warning(text, "To see them, type: deia lint")
    else:
        yield fine("index, documents and triggers have no problems")
    for problem in [problem for problem in problems if problem.code in SHADOWS][:MOST_NAMED]:
        yield warning(f"{problem.path}: {problem.found}", problem.fix)


def sound_state(about: _Examined) -> Iterator[Finding]:
    """Yield what is wrong with the state that answers come from."""
    patient = about.patient
    environ = patient.machine.environ
    library = folders.library_folder(about.root, environ) if folders.is_trusted(about.root, environ) else ""
    here = "" if patient.explicit or environ.get("DEIA_COMMONS") or environ.get("DEIA_DOCS") else patient.folder
    place = Place(root=about.root, folder=about.derived, library=library, here=here, environ=environ)
    issues = audit_state(place).findings if files.exists(f"{about.derived}/{TRIGGERS}") else ()
    health = about.health
    if health.lost:
        issues = (
            Issue(text=health.lost, fix=ACCEPT, is_error=True),
            *(issue for issue in issues if not issue.is_error),
        )
    yield from ((dead if issue.is_error else warning)(issue.text, issue.fix) for issue in issues)


def fresh_files(about: _Examined) -> Iterator[Finding]:
    """Yield whether the compiled files can be opened and fit their sources; the hooks are checked separately."""
    try:
        open_artefact(f"{about.derived}/{TRIGGERS}")
    except ArtefactError as error:
        yield warning(error.message, error.fix)
        return
    manifest = read_manifest(about.derived)
    if about.changed:  # which the audit of the state reports
        return
    if manifest.deia != deia.__version__:
        yield warning(f"the commons was compiled by deia {manifest.deia or 'of another version'}", COMPILE)
    elif manifest.faults:
        for fault in manifest.faults[:MOST_NAMED]:
            text = f"the compiled files are up to date, but there is an error in them: {fault}"
            yield warning(text, "To see all errors, type: deia lint")
    else:  # counted as `deia compile` and `deia trigger list` do
        deprecated = f" and {manifest.deprecated} deprecated" if manifest.deprecated else ""
        yield fine(
            f"compiled files are fresh ({counted(manifest.triggers - manifest.deprecated, 'trigger')}{deprecated})"
        )
        if TIERS[0] in tiers_of(about.settings.tier, model=about.settings.model) and TIERS[0] not in manifest.tiers:
            text = "searches use word vectors only: some passages are not encoded for the sentence model"
            yield warning(text, "Type: deia compile --tier compact")


def same_configuration(about: _Examined) -> Iterator[Finding]:
    """Yield what was configured otherwise when the documents were indexed."""
    yield from map(warning, said_at_start(about.root, about.environ, about.settings))


def encoded_library(about: _Examined) -> Iterator[Finding]:
    """Yield how far the library is encoded for the sentence model, if it is not."""
    encoding = read_encoding(f"{about.derived}/library")
    if text := encoding.sentence(time.time()):
        yield fine(text) if encoding.reason else warning(text)


def leftover_folder(about: _Examined) -> Iterator[Finding]:
    """Yield a warning if the commons contains the folder in which earlier versions kept compiled files."""
    path = f"{about.root}/{OLD_FOLDER}"
    if folders.is_packaged(about.root) or not os.path.lexists(path):
        return
    remove = "rm -r" if os.path.isdir(path) and not os.path.islink(path) else "rm"
    cure = f"type: {remove} {shlex.quote(path)}" if path.isprintable() else "remove it."
    text = f"{one_line(path)} is from an earlier version; compiled files are now in {about.derived}"
    yield warning(text, f"If there is nothing of yours in it, {cure}")


def gated_triggers(about: _Examined) -> Iterator[Finding]:
    """Yield the triggers that no word excludes, so that they are judged at every turn."""
    ungated = read_manifest(about.derived).ungated
    if ungated:
        named = ", ".join(ungated[:MOST_NAMED])
        cure = "Give each of their clauses a word that must be present."
        yield warning(f"{len(ungated)} triggers cost every turn a look: {named}", cure)


def golden_questions(about: _Examined) -> Iterator[Finding]:
    """Ask the golden questions; yield those whose documents are not found, or that are answered though none fits."""
    try:
        questions: Sequence[Golden] = own_questions(about.root)
    except CommonsError as error:
        yield warning(error.message, "To see them, type: deia eval")
        return
    is_lost = bool(about.health.lost)
    if is_lost:
        questions = [Golden(query=query, grades=grades) for query, grades in read_golden(about.derived).items()]
    if not questions or (about.changed and not is_lost):  # asking would compile, which is a repair
        return
    total = len(questions)
    if folders.is_packaged(about.root):  # its own tests ask all; here a sample shows that this installation answers
        questions = sample(questions)
    share = f"{len(questions)} of {total}" if len(questions) < total else str(total)
    about.patient.tell(f"asking {share} golden questions …")
    librarian = Librarian(about.root, agent="doctor", ledger=False, keep_fresh=False)
    try:
        tiers = tiers_of(librarian.settings.tier, model=librarian.settings.model)
        done = evaluate(librarian.open_catalog(), questions, tiers=tiers, limit=librarian.settings.limit)
    except DeiaError as error:
        yield dead(error.message, error.fix)
        return
    of_total = f" (a sample of {total})" if len(questions) < total else ""
    if not done.wrong:
        yield fine(f"{counted(len(questions), 'golden question')}{of_total} asked, all documents found")
        return
    named = "; ".join(wrong.query for wrong in done.wrong[:MOST_NAMED])
    text = f"{len(done.wrong)} of {len(questions)} golden questions{of_total} miss their documents: {named}"
    cure = "Add the words people use to the keywords of those documents' entries. To see all, type: deia eval"
    yield dead(text, cure)


def sample(questions: Sequence[Golden]) -> Sequence[Golden]:
    """Return at most `SAMPLE` of the questions at even distances, always the same ones."""
    return questions[:: max(1, -(-len(questions) // SAMPLE))]


def quiet_ledger(about: _Examined) -> Iterator[Finding]:
    """Yield the last errors of the ledger."""
    folder, since = folders.events_folder(about.root, about.environ), spool.timestamp(time.time() - RECENT)
    errors = read_ledger(folder, since=since, event="error").events
    for event in errors[-MOST_NAMED:]:
        text = f"{event.get('ts', '?')}: {event.get('error', '?')} ({event.get('where', '?')})"
        yield warning(f"error in the log at {text}")
    if len(errors) > MOST_NAMED:
        text = f"{counted(len(errors) - MOST_NAMED, 'more error')} in the last 7 days"
        yield warning(text, "Type: deia log --event error")
    if not errors:
        yield fine("no errors in the log in the last 7 days")


def readable_ledger(about: _Examined) -> Iterator[Finding]:
    """Yield the size of the ledger, and which parts of it cannot be read."""
    folder = folders.events_folder(about.root, about.environ)
    try:
        extent = extent_of(folder)
    except CommonsError as error:
        yield dead(error.message, f"Move what is broken out of {folder}")
        return
    span = f" {period(extent.oldest, extent.newest)}" if extent.oldest else ""
    yield fine(f"log: {counted(extent.events, 'event')}{span}, {_size(extent.bytes)}")
    if extent.torn:
        yield warning(f"{counted(extent.torn, 'broken line')} in the log, skipped")
    if extent.damaged:
        named = ", ".join(extent.damaged[:MOST_NAMED])
        cure = f"Copy them again from where they came, or remove them from {folder}"
        yield warning(f"Parquet files of the log that cannot be read: {named}", cure)


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB" if count >= 1e3 else f"{count} bytes"


def writable_memory(patient: Patient) -> Iterator[Finding]:
    """Yield a warning if conversations cannot be remembered in the state folder."""
    state = folders.state_folder(patient.machine.environ)
    if _takes_files(f"{state}/memory"):
        return
    spares = [f"{folder}/memory" for folder in folders.spare_folders(patient.machine.environ)]
    usable = [path for path in spares if _takes_files(path) and (files.is_private(path) or not files.exists(path))]
    cure = "Make room on the disk, or make the folder yours and writable."
    if usable:
        yield warning(f"{state} cannot be written; conversations are remembered in {usable[0]} meanwhile", cure)
    else:
        yield dead(f"neither {state} nor another folder can be written, so no call is held", cure)


def _takes_files(folder: str) -> bool:
    """Return whether a file can be written in a folder, or, if there is none, in the nearest one above."""
    nearest = next((path for path in files.upwards(folder) if os.path.lexists(path)), "/")
    probe = f"{nearest}/deia-doctor-{os.getpid()}"
    try:
        return files.append(probe, b".")
    finally:
        files.remove(probe)


def silenced(patient: Patient) -> Iterator[Finding]:
    """Yield everything that silences deia."""
    if patient.machine.environ.get("DEIA_OFF", "0") not in ("", "0"):
        yield warning("DEIA_OFF is set: hooks started from here say nothing", "Type: unset DEIA_OFF")
    state = folders.state_folder(patient.machine.environ)
    if os.path.exists(switch_path(state)):
        yield warning("everything is muted on this machine", "Type: deia mute --all --off")
    if mode := told(state):
        yield warning(mode, "To see what that means, type: deia mode")
    mutes = read_mutes(state, now=time.time())
    if mutes:
        named = ", ".join(sorted({mute.trigger for mute in mutes})[:MOST_NAMED])
        yield warning(f"{counted(len(mutes), 'mute')} in force: {named}", "To see them, type: deia mute --list")


COMMONS_CHECKS: tuple[Callable[[_Examined], Iterator[Finding]], ...] = (
    commons_found,
    trusted_commons,
    sound_sources,
    sound_state,
    fresh_files,
    same_configuration,
    encoded_library,
    leftover_folder,
    gated_triggers,
    golden_questions,
    quiet_ledger,
    readable_ledger,
)
MACHINE_CHECKS: tuple[Callable[[Patient], Iterator[Finding]], ...] = (hook_findings, writable_memory, silenced)
