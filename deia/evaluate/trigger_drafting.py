"""Drafts of triggers that are proven to work: a sentence's draft is compiled and keeps only the cases that hold.

A draft that would not fire on its own sentence is an error. Nothing is written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import Items, Map, read_yaml
from deia.commons.triggers.cases import read_cases
from deia.commons.triggers.read_triggers import read_trigger
from deia.commons.write.add_lesson import cases_text, trigger_text
from deia.compile.triggers.act_words import NO_WORDS, vocabulary
from deia.compile.triggers.build_artefact import Payload, compile_triggers
from deia.fast_json import Json
from deia.knowledge import Case, Entry, OwnActWords, Trigger
from deia.problems import CommonsError
from deia.settings import DEFAULTS
from deia.watch.authoring.act_drafts import WordClasses
from deia.watch.authoring.lesson_sentences import cautions
from deia.watch.authoring.replay import run_cases
from deia.watch.authoring.sentence_to_trigger import Proposal, drafted_action, propose
from deia.watch.gate.artefact import Artefact

NO_DRAFT = (
    "No trigger was drafted, because neither title nor text says what not to do. To draft one, type:"
    ' deia trigger new "Never …" --document'
)


REWORD = "Reword the sentence, or put the command in backticks."


def draft_for(entry: Entry, text: str, *, action: str | None = None) -> tuple[str, str] | None:
    """Return the texts of a trigger and of its cases for a lesson, or None if the lesson does not say what not to do.

    A command is more specific than a verb with its object, so the first sentence with a command is preferred. Its
    `action` is by default that of every draft.
    """
    sentences = cautions(entry.title, entry.summary if entry.summary != entry.title else "", text)
    drafts = [draft for draft in (_lesson_draft(sentence, entry) for sentence in sentences) if draft]
    if not drafts:
        return None
    best = next((draft for draft in drafts if _has_command(draft)), drafts[0])
    action = action or drafted_action(entry.urgency, has_command=_has_command(best))
    cases = cases_text(entry.id, fires=best.fires, silent=best.silent)
    return trigger_text({**best.trigger, "action": action}), cases


def _has_command(draft: Proposal) -> bool:
    return "command" in draft.trigger["when"]["any"][0]


def _lesson_draft(sentence: str, entry: Entry) -> Proposal | None:
    proposal = proposed(sentence, documents=(entry.id,), today=entry.created)
    if proposal is None:
        return None
    lesson_fields = {
        "id": entry.id, "title": entry.title, "urgency": entry.urgency, "message": entry.summary,
    }  # fmt: skip
    documents = [{**document, "mode": "summary_only"} for document in proposal.trigger["documents"]]
    try:
        return proven(proposal.but(trigger={**proposal.trigger, **lesson_fields, "documents": documents}))
    except CommonsError:
        return None


def proposed(sentence: str, *, documents: Sequence[str], today: str, own: OwnActWords = NO_WORDS) -> Proposal | None:
    """Return a draft for a sentence, with an `act` clause if its verb and object belong to known classes, or None.

    `own` are the words for acts that the commons adds.
    """
    known = vocabulary(own)
    classes = WordClasses(verbs=known.verbs, nouns=known.objects, own_verbs=dict(own.verbs))
    return propose(sentence, documents=documents, today=today, classes=classes)


def proven(proposal: Proposal, *, own: OwnActWords = NO_WORDS) -> Proposal:
    """Return a proposal with only the cases that hold; `own` are the words for acts that the commons adds."""
    findings = Findings("draft")
    items = read_yaml(trigger_text(proposal.trigger), path="draft").value
    item = items[0] if isinstance(items, Items) and items else None
    trigger = read_trigger(item, findings) if isinstance(item, Map) else None
    if trigger is None:
        raise CommonsError("No trigger can be drafted from this sentence.", findings.problems, fix=REWORD)
    artefact = _compiled(trigger.but(act_words=own))
    fires = tuple(case for case in proposal.fires if _holds(artefact, _read_cases(trigger.id, fires=[case])))
    silent = tuple(case for case in proposal.silent if _holds(artefact, _read_cases(trigger.id, silent=[case])))
    if not fires:
        raise CommonsError("The trigger drafted from this sentence would not fire on it.", fix=REWORD)
    return proposal.but(fires=fires, silent=silent)


def _compiled(trigger: Trigger) -> Artefact:
    settings = DEFAULTS.by_name()
    payloads = {
        document.id: Payload(id=document.id, path="", title=document.id, summary="", text="")
        for document in trigger.documents
    }
    data, _ = compile_triggers([trigger], payloads, settings=settings, identity={})
    return Artefact(data)


def _holds(artefact: Artefact, cases: Sequence[Case]) -> bool:
    return bool(cases) and all(result.holds for result in run_cases(artefact, cases, now=time.time()))


def _read_cases(trigger: str, *, fires: Sequence[Json] = (), silent: Sequence[Json] = ()) -> list[Case]:
    """Return cases as they will be read from their file."""
    text = cases_text(trigger, fires=fires, silent=silent)
    return list(read_cases(read_yaml(text, path="draft").value, (trigger,), Findings("draft")))
