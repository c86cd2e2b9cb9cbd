"""`deia triggers new`: a draft of a trigger from a sentence, with cases that hold."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from deia.commons.layers.merge_layers import load_layered
from deia.commons.write.add_trigger import cases_text, trigger_text, write_draft
from deia.compile.compiler import compile_commons
from deia.errors import CommonsError
from deia.evaluate.trigger_drafting import proven
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands.commons import tell_compiled
from deia.serve.cli.commands.shared_options import commons_option, commons_root, today, writable_root
from deia.settings import resolve
from deia.watch.authoring.sentence_to_trigger import propose

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
    proposal = proven(proposal)
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
