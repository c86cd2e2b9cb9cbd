"""Drafts of triggers that hold: what a sentence proposes is compiled, and keeps only those of its cases that come out.

Refuses a draft that would not fire on what it says, and to write anything.
"""

from __future__ import annotations

import time
from typing import Any

from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import read_yaml
from deia.commons.triggers.cases import read_cases
from deia.commons.triggers.read_triggers import read_trigger
from deia.commons.write.add_trigger import cases_text, trigger_text
from deia.compile.triggers.build_artefact import Payload, compile_triggers
from deia.errors import CommonsError
from deia.knowledge import Case, Entry, Trigger
from deia.settings import DEFAULTS
from deia.watch.authoring.case_runner import run_cases
from deia.watch.authoring.lesson_sentences import cautions
from deia.watch.authoring.sentence_to_trigger import Proposal, propose
from deia.watch.gate.artefact import Artefact

NOTHING_SEEN = (
    "No trigger was drafted: neither title nor text says what is not to be done. To draft one, type:"
    ' deia triggers new "Never …" --document'
)


def draft_for(entry: Entry, text: str) -> tuple[str, str] | None:
    """Give the texts of a trigger and of its cases for a lesson; None where it does not say what not to do.

    A command tells more than a verb with its object, so the first sentence that holds one goes before the others.
    """
    sentences = cautions(entry.title, entry.summary if entry.summary != entry.title else "", text)
    found = [one for one in (_drafted(sentence, entry) for sentence in sentences) if one]
    if not found:
        return None
    best = next((one for one in found if "command" in one.trigger["when"]["any"][0]), found[0])
    cases = cases_text(entry.id, fires=best.fires, silent=best.silent)
    return trigger_text(best.trigger), cases


def _drafted(sentence: str, entry: Entry) -> Proposal | None:
    """Give a draft for a sentence as one of a lesson: a note about it, since nobody has looked it over."""
    proposal = propose(sentence, documents=(entry.id,), today=entry.created)
    if proposal is None:
        return None
    of_lesson = {
        "id": entry.id, "title": entry.title, "urgency": entry.urgency, "action": "note", "message": entry.summary,
    }  # fmt: skip
    documents = [{**one, "mode": "summary_only"} for one in proposal.trigger["documents"]]
    try:
        return proven(proposal.but(trigger={**proposal.trigger, **of_lesson, "documents": documents}))
    except CommonsError:
        return None


def proven(proposal: Proposal) -> Proposal:
    """Give a proposal with only those cases that hold.

    Raises:
        CommonsError: the draft does not read as a trigger, or none of the cases in which it should fire holds.
    """
    findings = Findings("draft")
    items = read_yaml(trigger_text(proposal.trigger), path="draft").value
    trigger = read_trigger(items[0], findings) if items else None
    if trigger is None:
        fix = "Say it otherwise, or put the command in backticks."
        raise CommonsError("No trigger can be drafted from this sentence.", findings.problems, fix=fix)
    artefact = _compiled(trigger)
    kept = {
        name: tuple(case for case in getattr(proposal, name) if _holds(artefact, trigger.id, name, case))
        for name in ("fires", "silent")
    }
    if not kept["fires"]:
        fix = "Say it otherwise, or put the command in backticks."
        raise CommonsError("The trigger drafted from this sentence would not fire on what it says.", fix=fix)
    return proposal.but(**kept)


def _compiled(trigger: Trigger) -> Artefact:
    settings = {name: value for name, value in DEFAULTS.values().items() if name != "sources"}
    payloads = {
        one.id: Payload(id=one.id, path="", title=one.id, summary="", text="") for one in trigger.documents
    }  # fmt: skip
    data, _ = compile_triggers([trigger], payloads, settings=settings, identity={})
    return Artefact(data)


def _holds(artefact: Artefact, ident: str, verdict: str, case: Any) -> bool:
    cases = _read(ident, verdict, case)
    return bool(cases) and all(result.holds for result in run_cases(artefact, cases, now=time.time()))


def _read(ident: str, verdict: str, case: Any) -> list[Case]:
    """Give a case as it will be read from its file."""
    text = cases_text(ident, fires=[case] if verdict == "fires" else [], silent=[case] if verdict == "silent" else [])
    return list(read_cases(read_yaml(text, path="draft").value, (ident,), Findings("draft")))
