"""From a ledger to proposals that were tried: evidence, drafts, trials.

Refuses to change anything.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from deia.commons.index.entries import first_paragraph
from deia.commons.index.golden_queries import golden_patterns, load_golden
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.layers.merge_layers import load_layered
from deia.compile.manifest import read_manifest
from deia.compile.triggers.word_bags import bags
from deia.errors import CommonsError
from deia.folders import derived_folder
from deia.knowledge import Golden
from deia.learn.changes import DOCUMENT, TRIGGER
from deia.learn.corpus_words import Shelf
from deia.learn.file_edits import is_editable, touched
from deia.learn.index_drafts import LEAST, draft
from deia.learn.proposals import Proposal
from deia.learn.signals import Evidence, read_conversations, read_evidence
from deia.learn.trials.index_trial import Comparison, Probe, Trial
from deia.learn.trials.judge_drafts import judged
from deia.learn.trials.reach import Reached, reach_of
from deia.learn.trials.recorded_turns import read_fired
from deia.learn.trials.trigger_trial import Range
from deia.learn.trigger_drafts import Fired, draft_triggers
from deia.ledger.warehouse import read_through
from deia.records import Record
from deia.settings import resolve
from deia.watch.gate.artefact import Artefact

ELSEWHERE, WORDS_ELSEWHERE = 100, 8  # questions about other things, and words of each
SEED = 1
OPENING = 120  # characters of a document's first paragraph
MOST_PROBES = 2_000  # questions of the ledger, those with most behind them first


class Proposed(Record):
    """What the evidence came to: proposals, and what all that move answers do together."""

    evidence: Evidence
    proposals: tuple[Proposal, ...]
    together: Comparison
    drafts: int
    reached: Reached
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
    questions = [*load_golden(root).questions, *golden_patterns(own.query_patterns)]
    probes = [*probes_of(evidence, questions, elsewhere), *own_words(commons)]
    with Trial(commons, shelf, probes) as trial:
        reached = reach_of(evidence, shelf, trial, tell=tell)
        drafts = draft(evidence, shelf, reach=reached.reach)
        kept, together = judged(drafts, trial, reach=reached.reach, tell=tell)
    told = settings.values()
    told.pop("sources")
    manifest = read_manifest(derived_folder(root, environ))
    about = draft_triggers(evidence, shelf, turns)
    kept += Range(commons, turns, settings=told, manifest=manifest).judged(about)
    placed = tuple(found for one in kept if (found := _placed(own, one)))
    return Proposed(
        evidence=evidence, proposals=placed, together=together, drafts=len(drafts) + len(about), reached=reached,
        turns=len(turns),
    )  # fmt: skip


def editable(own: Commons) -> frozenset[str]:
    """Give the ids of the documents and triggers that an edit can reach."""
    documents = {entry.id for entry in own.entries if is_editable(own, entry.id, of=DOCUMENT)}
    return frozenset(documents | {one.id for one in own.triggers if is_editable(own, one.id, of=TRIGGER)})


def own_words(commons: Commons) -> list[Probe]:
    """Give how each document begins as a question that it must go on answering: what nobody asked yet is kept too."""
    texts = {document.path: document.text for document in commons.documents}
    opening = {one.id: first_paragraph(texts.get(one.path, ""), limit=OPENING) for one in commons.entries}
    return [Probe(question=text, grades={ident: 1}) for ident, text in opening.items() if text][:MOST_PROBES]


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
