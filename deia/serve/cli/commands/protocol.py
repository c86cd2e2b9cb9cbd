"""The steps of the librarian's protocol as commands, each alone: `deia audit` and others."""

from __future__ import annotations

import click

from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.text import counted


def _librarian() -> Librarian:
    return Librarian(shared.named_commons() or None, agent="cli", ledger=False)


@click.command(short_help="Check the state that answers come from.")
@shared.json_option
@shared.commons_option
def audit(*, as_json: bool) -> int:
    """Check the state that answers come from: the index, the compiled files and the library.

    Every answer is audited so. Exits 1 if answers cannot be relied on.
    """
    state = _librarian().audit()
    sources = counted(sum(state.by_status.values()), "source")
    stats = f"{state.index or 'no index'}: {counted(state.entries, 'entry')}, {sources}"
    lines = [f"{stats}, {counted(state.chunks, 'passage')}, {counted(state.vectors, 'vector')}."]
    lines += [f"{'error' if issue.is_error else 'note'}: {issue.text}\n  {issue.fix}" for issue in state.findings]
    output.answer(state.to_dict(), [*lines, *([] if state.findings else ["All is well."])], as_json=as_json)
    return output.FOUND if state.is_valid else output.NOTHING


@click.command(short_help="Say what kind of question a text is.")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION…")
@shared.json_option
@shared.commons_option
def classify(*, words: tuple[str, ...], as_json: bool) -> int:
    """Say what kind of question QUESTION is, whether anything has to be looked up, and how to look for it.

    What announces an act always needs retrieval, also after words such as "ok" or "yes".
    """
    found = _librarian().classify(" ".join(words))
    needs = "needs retrieval" if found.needs_retrieval else "needs no retrieval"
    lines = [f"{found.type}, {needs}, confidence {found.confidence:.2f}: {found.reasoning}."]
    lines += [f"Look for {found.top_k} documents, --mode {found.mode}."] if found.needs_retrieval else []
    output.answer(found.to_dict(), [*lines, *filter(None, (found.clarify,))], as_json=as_json)
    return output.FOUND
