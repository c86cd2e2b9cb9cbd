"""From a ledger to proposals that were tried: evidence, drafts, trials. Nothing is changed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from deia.commons.index.golden_queries import golden_patterns, load_golden
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.layers.merge_layers import load_layered
from deia.commons.notes.note_text import first_paragraph
from deia.folders import is_packaged, state_folder
from deia.knowledge import Golden
from deia.learn.apply import read_changes
from deia.learn.changes import DOCUMENT, PERSON, TRIGGER
from deia.learn.concept_drafts import LEAST
from deia.learn.corpus_words import Vocabulary, bags
from deia.learn.file_edits import files_touched, is_editable
from deia.learn.index_drafts import draft
from deia.learn.labels import read_labels, still_firing, weights_of, with_labels
from deia.learn.proposals import Proposal
from deia.learn.signals import Evidence, read_conversations, read_evidence
from deia.learn.trials.index_trial import Comparison, IndexTrial, Probe
from deia.learn.trials.judge_drafts import judge_drafts
from deia.learn.trials.reach import ReachChoice, choose_reach
from deia.learn.trials.recorded_turns import read_fired_turns
from deia.learn.trials.trigger_trial import TriggerTrial, look_for_clauses
from deia.learn.trigger_drafts import FiredTurn, Writable, draft_triggers, still_noisy
from deia.ledger.warehouse import read_through
from deia.problems import CommonsError
from deia.records import Record
from deia.settings import Settings, resolve
from deia.watch.gate.artefact import Artefact
from deia.watch.silence.mutes import muted_for_good

ELSEWHERE, WORDS_ELSEWHERE = 100, 8  # questions about other things, and the words of each
SEED = 1
OPENING = 120  # characters of a document's first paragraph
BUDGET = ("milder", "form", "mute", "clause", "retire")  # kinds of proposals against a trigger's noise
FORMS_PLACES = ("default", "deia.toml")  # where `[forms]` may be written so that it adds to what is in force
MOST_PROBES = 2_000  # questions of the ledger, the heaviest first


class ProposalRun(Record):
    """The result of a run: the proposals, and the joint effect of those that change answers."""

    evidence: Evidence
    proposals: tuple[Proposal, ...]
    together: Comparison
    drafts: int
    reached: ReachChoice
    advice: tuple[str, ...] = ()  # what only a person can mend, one line each
    turns: int = 0  # of transcripts, in which a trigger fired that people judged


class Sources(Record):
    """Where the evidence comes from, and the transcripts that are read with it."""

    ledgers: tuple[str, ...]
    since: str = ""
    transcripts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # files in which people labelled firings


def propose_all(
    root: str,
    sources: Sources,
    *,
    environ: Mapping[str, str],
    artefact: Callable[[], Artefact],
    report: Callable[[str], None] = lambda _: None,
) -> ProposalRun:
    """Return proposals for the commons at `root`; `artefact` opens its compiled triggers.

    `report` is called with the progress. Raise CommonsError if the commons or the ledger cannot be read, and QueryError
    if there is no transcript at a path.
    """
    settings = resolve(root, environ=environ)
    own = load_commons(root)
    commons = load_layered(root, starter=settings.starter, trusted=settings.trusted)
    done = settled(root)
    evidence = read_through(sources.ledgers, partial(read_evidence, settled=done), since=sources.since)
    labels = [label for path in sources.labels for label in read_labels(path) if label.trigger not in done]
    report("reading transcripts" if sources.transcripts else "reading the log")
    turns: list[FiredTurn] = []
    if sources.transcripts:
        weights = read_through(sources.ledgers, read_conversations, since=sources.since)
        turns = read_fired_turns(artefact(), sources.transcripts, weights | weights_of(labels))
        labels = still_firing(labels, turns)
    evidence = with_labels(evidence, labels)
    elsewhere = bags()
    mine = frozenset[str]() if is_packaged(root) else editable(own)
    vocabulary = Vocabulary(commons, own=mine, elsewhere=elsewhere)
    questions = [*load_golden(root).questions, *golden_patterns(own.query_patterns)]
    probes = [*probes_of(evidence, questions, elsewhere), *own_words(commons)]
    with IndexTrial(commons, vocabulary, probes) as trial:
        choice = choose_reach(evidence, vocabulary, trial, report=report)
        drafts = draft(evidence, vocabulary, reach=choice.reach)
        kept, together = judge_drafts(drafts, trial, reach=choice.reach, report=report)
    place = writable(root, settings, environ)
    clauses = TriggerTrial(vocabulary.commons, turns, settings=place.settings)
    of_triggers = draft_triggers(evidence, vocabulary, turns, place)
    kept += (kept_triggers := clauses.judge(of_triggers))
    # If neither words nor a milder form help, look for the clause that made the noise.
    answered = {draft.changes[0].target for draft in of_triggers if draft.kind in BUDGET}
    answered |= {proposal.changes[0].target for proposal in kept_triggers if proposal.kind == "unless"}
    noises = [noise for noise in still_noisy(evidence, vocabulary, turns, place) if noise.trigger.id not in answered]
    removals, advice = look_for_clauses(noises, clauses)
    proposals = (_with_files(own, proposal) for proposal in (*kept, *removals))
    return ProposalRun(
        evidence=evidence, proposals=tuple(proposal for proposal in proposals if proposal), together=together,
        drafts=len(drafts) + len(of_triggers) + len(removals), reached=choice, turns=len(turns), advice=tuple(advice),
    )  # fmt: skip


def writable(root: str, settings: Settings, environ: Mapping[str, str]) -> Writable:
    """Return where milder forms may be written for triggers that are not the project's own."""
    is_starter = is_packaged(root)
    return Writable(
        forms=not is_starter and settings.trusted and settings.sources["forms"] in FORMS_PLACES,
        mutes=is_starter, settings=settings.by_name(),
        muted=muted_for_good(state_folder(environ), now=time.time()),
    )  # fmt: skip


def settled(root: str) -> dict[str, str]:
    """Return when each trigger was last changed by a proposal that still stands."""
    standing = [change for change in read_changes(root) if not change.undone and change.kind in (*BUDGET, "unless")]
    return {target: change.at for change in standing for target in change.targets}


def editable(own: Commons) -> frozenset[str]:
    """Return the ids of the documents and triggers that an edit can change."""
    documents = {entry.id for entry in own.entries if is_editable(own, entry.id, of=DOCUMENT)}
    return frozenset(documents | {trigger.id for trigger in own.triggers if is_editable(own, trigger.id, of=TRIGGER)})


def own_words(commons: Commons) -> list[Probe]:
    """Return the beginning of each document as a question that must keep finding it, even if nobody asked it yet."""
    texts = {document.path: document.text for document in commons.documents}
    opening = {entry.id: first_paragraph(texts.get(entry.path, ""), limit=OPENING) for entry in commons.entries}
    return [Probe(question=text, grades={ident: 1}) for ident, text in opening.items() if text][:MOST_PROBES]


def _with_files(own: Commons, proposal: Proposal) -> Proposal | None:
    """Return a proposal with the files that it would touch; None if it cannot be written anywhere."""
    if any(change.of == PERSON for change in proposal.changes):
        return proposal
    try:
        return proposal.but(files=files_touched(own, proposal.changes))
    except CommonsError:
        return None


def probes_of(evidence: Evidence, questions: Sequence[Golden], elsewhere: Sequence[str]) -> list[Probe]:
    """Return the questions of a trial: golden ones, those that people judged, and some about other things."""
    golden = [Probe(question=question.query, grades=question.grades, golden=True) for question in questions]
    good: dict[str, dict[str, float]] = {}
    bad: dict[str, set[str]] = {}
    for pair in evidence.pairs:
        if pair.weight >= LEAST:
            good.setdefault(pair.question, {})[pair.document] = pair.weight
        elif pair.weight <= -LEAST:
            bad.setdefault(pair.question, set()).add(pair.document)
    first = sorted(good, key=lambda text: (-sum(good[text].values()), text))[:MOST_PROBES]
    judged_good = [Probe(question=text, grades=dict.fromkeys(good[text], 1)) for text in first]
    judged_bad = [Probe(question=text, unwanted=frozenset(bad[text])) for text in sorted(bad) if text not in good]
    chosen = random.Random(SEED).sample(list(elsewhere), min(ELSEWHERE, len(elsewhere)))  # noqa: S311 - no secret
    others = [Probe(question=" ".join(sentence.split()[:WORDS_ELSEWHERE])) for sentence in chosen]
    return [*golden, *judged_good, *judged_bad, *others]
