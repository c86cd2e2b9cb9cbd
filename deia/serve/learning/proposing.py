"""From a ledger to proposals that were tried: evidence, drafts, trials; kept for whoever applies them afterwards.

The proposals are a person's own file in the state folder, not the commons': nobody else sees what was asked. Refuses to
change anything.
"""

from __future__ import annotations

import hashlib
import os
import random
from typing import TYPE_CHECKING

from deia import fast_json, files, spool
from deia.commons.commons import load_commons
from deia.commons.golden import golden_patterns, load_golden
from deia.commons.layers import load_layered
from deia.compile.bags import bags
from deia.compile.compiler import read_manifest
from deia.errors import CommonsError
from deia.learn.changes import DOCUMENT, TRIGGER
from deia.learn.drafts import LEAST, draft
from deia.learn.editing import is_editable, touched
from deia.learn.noisy import draft_triggers
from deia.learn.proposals import read_proposal
from deia.learn.shelf import Shelf
from deia.learn.signals import read_conversations, read_evidence
from deia.learn.warehouse import read_through
from deia.records import Record
from deia.serve.learning.firing import Range
from deia.serve.learning.judging import judged
from deia.serve.learning.recorded import read_fired
from deia.serve.learning.trial import Comparison, Probe, Trial
from deia.settings import derived_folder, resolve, state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deia.commons.commons import Commons
    from deia.knowledge import Golden
    from deia.learn.noisy import Fired
    from deia.learn.proposals import Proposal
    from deia.learn.signals import Evidence
    from deia.watch.artefact import Artefact

ELSEWHERE, WORDS_ELSEWHERE = 100, 8  # questions about other things, and words of each
SEED = 1
FOLDER = "learn"
MOST_PROBES = 2_000  # questions of the ledger, those with most behind them first


class Proposed(Record):
    """What the evidence came to: proposals, and what all that move answers do together."""

    evidence: Evidence
    proposals: tuple[Proposal, ...]
    together: Comparison
    drafts: int
    turns: int = 0  # of transcripts, in which a trigger fired that people said something of


class Sources(Record):
    """Where evidence comes from, and what is read with it."""

    ledgers: tuple[str, ...]
    since: str = ""
    transcripts: tuple[str, ...] = ()


def propose_all(
    root: str,
    sources: Sources,
    *,
    environ: Mapping[str, str],
    artefact: Callable[[], Artefact],
    tell: Callable[[str], None] = lambda _: None,
) -> Proposed:
    """Make proposals for the commons at `root`; `artefact` gives its compiled triggers.

    Raises:
        CommonsError: the commons or the ledger cannot be read.
        QueryError: there is no transcript at a name.
    """
    settings = resolve(root, environ=environ)
    own = load_commons(root)
    commons = load_layered(root, starter=settings.starter)
    evidence = read_through(sources.ledgers, read_evidence, since=sources.since)
    tell("reading transcripts" if sources.transcripts else "reading the ledger")
    turns: list[Fired] = []
    if sources.transcripts:
        weights = read_through(sources.ledgers, read_conversations, since=sources.since)
        turns = read_fired(artefact(), sources.transcripts, weights)
    elsewhere = bags()
    shelf = Shelf(commons, own=editable(own), elsewhere=elsewhere)
    drafts = draft(evidence, shelf)
    questions = [*load_golden(root).questions, *golden_patterns(own.query_patterns)]
    probes = probes_of(evidence, questions, elsewhere)
    with Trial(commons, shelf, probes) as trial:
        kept, together = judged(drafts, trial, tell=tell)
    told = settings.values()
    told.pop("sources")
    manifest = read_manifest(derived_folder(root, environ))
    about = draft_triggers(evidence, shelf, turns)
    kept += Range(commons, turns, settings=told, manifest=manifest).judged(about)
    placed = tuple(found for one in kept if (found := _placed(own, one)))
    return Proposed(
        evidence=evidence, proposals=placed, together=together, drafts=len(drafts) + len(about), turns=len(turns)
    )


def editable(own: Commons) -> frozenset[str]:
    """Give the ids of the documents and triggers that an edit can reach."""
    documents = {entry.id for entry in own.entries if is_editable(own, entry.id, of=DOCUMENT)}
    return frozenset(documents | {one.id for one in own.triggers if is_editable(own, one.id, of=TRIGGER)})


def _placed(own: Commons, proposal: Proposal) -> Proposal | None:
    """Give a proposal with the files that it would touch; None where there is no file that it could be written to."""
    try:
        return proposal.but(files=touched(own, proposal.changes))
    except CommonsError:
        return None


def probes_of(evidence: Evidence, questions: Sequence[Golden], elsewhere: Sequence[str]) -> list[Probe]:
    """Give the questions that a trial asks: golden ones, those that people judged, and some about other things."""
    golden = [Probe(question=one.query, grades=one.grades, golden=True) for one in questions]
    good: dict[str, dict[str, float]] = {}
    bad: dict[str, set[str]] = {}
    for pair in evidence.pairs:
        if pair.weight >= LEAST:
            good.setdefault(pair.question, {})[pair.document] = pair.weight
        elif pair.weight <= -LEAST:
            bad.setdefault(pair.question, set()).add(pair.document)
    first = sorted(good, key=lambda text: (-sum(good[text].values()), text))[:MOST_PROBES]
    asked = [Probe(question=text, grades=dict.fromkeys(good[text], 1)) for text in first]
    judged_bad = [Probe(question=text, unwanted=frozenset(bad[text])) for text in sorted(bad) if text not in good]
    chosen = random.Random(SEED).sample(list(elsewhere), min(ELSEWHERE, len(elsewhere)))  # noqa: S311 - no secret
    others = [Probe(question=" ".join(one.split()[:WORDS_ELSEWHERE])) for one in chosen]
    return [*golden, *asked, *judged_bad, *others]


# --- kept between two commands ---


def _path(root: str, environ: Mapping[str, str]) -> str:
    mark = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return f"{state_folder(environ)}/{FOLDER}/{mark}.json"


def keep(root: str, proposals: Sequence[Proposal], *, environ: Mapping[str, str], at: float) -> bool:
    """Keep proposals for whoever applies them; say whether that was possible."""
    path = _path(root, environ)
    data = fast_json.dumps({"at": spool.timestamp(at), "proposals": [one.to_dict() for one in proposals]}).encode()
    if not files.make_folders(files.parent(path)):
        return False
    try:
        files.replace(path, data)
    except OSError:
        return False
    return True


def kept(root: str, *, environ: Mapping[str, str]) -> list[Proposal]:
    """Give the proposals that were made last.

    Raises:
        CommonsError: there are none, or they cannot be read.
    """
    fix = "Type: deia learn propose"
    data = files.read(_path(root, environ))
    if data is None:
        raise CommonsError("There are no proposals yet.", fix=fix)
    try:
        return [read_proposal(one) for one in fast_json.loads(data.decode("utf-8", "replace"))["proposals"]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CommonsError("The proposals cannot be read.", fix=fix) from error
