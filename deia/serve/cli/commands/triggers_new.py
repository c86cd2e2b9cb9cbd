"""`deia trigger new`: draft a trigger from a sentence, with cases that pass."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from deia.commons.layers.merge_layers import load_layered
from deia.commons.triggers.read_triggers import own_act_words
from deia.commons.write.add_trigger import cases_text, drafted_effect, trigger_text, write_draft
from deia.evaluate.trigger_drafting import proposed, proven
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.shared_options import action_option, commons_option, commons_root, today, writable_root
from deia.settings import resolve

NO_DOCUMENT = "name-a-document"  # the placeholder if no document fits


@click.command(short_help="Draft a trigger from a sentence.")
@click.argument("sentence", nargs=-1, required=True)
@click.option(
    "--document", "documents", multiple=True, metavar="ID", help="The document to show; by default the best match."
)
@click.option("--topic", default="", help="The file in triggers/; by default named after the command or object.")
@action_option
@click.option("--dry-run", is_flag=True, help="Only show the draft, ready to paste.")
@click.option("--write", is_flag=True, hidden=True)  # the former opposite of --dry-run
@commons_option
def new(
    *, sentence: Sequence[str], documents: Sequence[str], topic: str, action: str | None, dry_run: bool, write: bool
) -> int:
    """Draft a trigger from a SENTENCE, such as "Never run prisma migrate reset on production", with cases.

    It is written to the end of the topic's file in triggers/.
    """
    write = write or not dry_run
    root = writable_root() if write else commons_root()
    text = " ".join(sentence)
    shown = tuple(documents) or _best_document(root, text)
    own, _ = own_act_words(root)
    proposal = proposed(text, documents=shown or (NO_DOCUMENT,), today=today(), own=own)
    if proposal is None:
        fix = 'Name an action and its object, or put a command in backticks: "Never `git push --force`".'
        raise CommonsError("This sentence contains neither a command nor a verb with an object.", fix=fix)
    proposal = proven(proposal.but(trigger={**proposal.trigger, **({"action": action} if action else {})}), own=own)
    ident = proposal.trigger["id"]
    texts = trigger_text(proposal.trigger), cases_text(ident, fires=proposal.fires, silent=proposal.silent)
    if not write:
        name = topic or proposal.topic
        output.say(f"# triggers/{name}.yaml\n{texts[0]}\n# triggers/{name}.cases.yaml\n{texts[1].rstrip()}")
        if not shown:
            output.complain("No document of the commons matches. Name one with --document, or write one: deia add")
        return output.FOUND
    _check(root, ident, shown)
    for path in write_draft(root, topic or proposal.topic, ident=ident, trigger=texts[0], cases=texts[1]):
        output.say(f"wrote {path}")
    compile_and_say(root)
    output.say(f"{drafted_effect(texts[0])}\nNext: review and edit the draft, then type: deia trigger test {ident}")
    return output.FOUND


def _best_document(root: str, sentence: str) -> tuple[str, ...]:
    """Return the document that answers the sentence best, if the answer is certain enough."""
    answer = Librarian(root, agent="cli", ledger=False).query(sentence, limit=1)
    return tuple(result.id for result in answer.primary[:1])


def _check(root: str, ident: str, documents: Sequence[str]) -> None:
    """Check that a draft can be written."""
    settings = resolve(root, environ=os.environ)
    commons = load_layered(root, starter=settings.starter, trusted=settings.trusted)
    existing = next((trigger for trigger in commons.triggers if trigger.id == ident), None)
    if existing:
        message = f"There is already a trigger {ident} ({existing.path}:{existing.line})."
        raise CommonsError(message, fix="Edit that one, or use another sentence.")
    known = {entry.id for entry in commons.entries}
    missing = [document for document in documents if document not in known]
    if missing or not documents:
        message = f"There is no document {missing[0]!r}." if missing else "No document of the commons matches."
        raise CommonsError(message, fix="Name one with --document ID, or write it first: deia add")
