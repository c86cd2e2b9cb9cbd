"""`deia triggers new`: a draft of a trigger from a sentence, with cases that hold."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from deia.commons.cases import read_cases
from deia.commons.drafting import cases_text, trigger_text, write_draft
from deia.commons.findings import Findings
from deia.commons.layers import load_layered
from deia.commons.triggers import read_trigger
from deia.commons.yaml_nodes import read_yaml
from deia.compile.compiler import compile_commons
from deia.compile.triggers import Payload, compile_triggers
from deia.errors import CommonsError
from deia.librarian import Librarian
from deia.serve import output
from deia.serve.commands.keeping import tell_compiled
from deia.serve.commands.options import commons_option, commons_root, today, writable_root
from deia.settings import DEFAULTS, resolve
from deia.watch.artefact import Artefact
from deia.watch.case_runner import run_cases
from deia.watch.propose import Proposal, propose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from deia.knowledge import Case, Trigger

NO_DOCUMENT = "name-a-document"  # stands where none was found


@click.command(short_help="Draft a trigger from a sentence.")
@click.argument("sentence", nargs=-1, required=True)
@click.option("--document", "documents", multiple=True, metavar="ID", help="What to show; by default the nearest.")
@click.option("--topic", default="", help="The file below triggers/; by default after the command or the object.")
@click.option("--write", is_flag=True, help="Write it, behind what the topic's file already holds.")
@commons_option
def new(*, sentence: Sequence[str], documents: Sequence[str], topic: str, write: bool) -> int:
    """Draft a trigger from a SENTENCE, such as "Never run prisma migrate reset on production", with cases that hold.

    Without --write, the draft is only shown, ready to paste.
    """
    root = writable_root() if write else commons_root()
    said = " ".join(sentence)
    shown = tuple(documents) or _nearest(root, said)
    proposal = propose(said, documents=shown or (NO_DOCUMENT,), today=today())
    if proposal is None:
        fix = 'Say what is done to what, or put the command in backticks: "Never `git push --force`".'
        raise CommonsError("There is neither a command nor a verb with an object in this sentence.", fix=fix)
    proposal = _proven(proposal)
    ident = proposal.trigger["id"]
    texts = trigger_text(proposal.trigger), cases_text(ident, fires=proposal.fires, silent=proposal.silent)
    if not write:
        name = topic or proposal.topic
        output.say(f"# triggers/{name}.yaml\n{texts[0]}\n# triggers/{name}.cases.yaml\n{texts[1].rstrip()}")
        if not shown:
            output.complain("No document of the commons fits; name one with --document, or write it: deia add")
        return output.FOUND
    _refuse(root, ident, shown)
    for path in write_draft(root, topic or proposal.topic, ident=ident, trigger=texts[0], cases=texts[1]):
        output.say(f"wrote {path}")
    output.say("\n".join(tell_compiled(compile_commons(root, environ=os.environ))))
    output.say(f"Next: correct the draft, then type: deia triggers test {ident}")
    return output.FOUND


def _nearest(root: str, sentence: str) -> tuple[str, ...]:
    """Give the document that answers the sentence best, if the answer is sure enough to count."""
    answer = Librarian(root, agent="cli", ledger=False).query(sentence, limit=1)
    return tuple(result.id for result in answer.primary[:1])


def _refuse(root: str, ident: str, documents: Sequence[str]) -> None:
    """Refuse what could not be written as it is meant.

    Raises:
        CommonsError: the id is taken, or a document unknown or missing.
    """
    commons = load_layered(root, starter=resolve(root, environ=os.environ).starter)
    taken = next((one for one in commons.triggers if one.id == ident), None)
    if taken:
        message = f"There is a trigger {ident} already ({taken.path}:{taken.line})."
        raise CommonsError(message, fix="Edit that one, or say it otherwise.")
    known = {entry.id for entry in commons.entries}
    missing = [one for one in documents if one not in known]
    if missing or not documents:
        found = f"There is no document {missing[0]!r}." if missing else "No document of the commons fits."
        raise CommonsError(found, fix="Name one with --document ID, or write it first: deia add")


def _proven(proposal: Proposal) -> Proposal:
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
