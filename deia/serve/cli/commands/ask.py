"""`deia ask`: an answer in sentences of the documents, each with its place."""

from __future__ import annotations

import click

from deia.answers.librarian_answer import LibrarianQuery, LibrarianResponse, place
from deia.compile.answer_questions import MOST_CHUNKS
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.typed_words import WordsCommand
from deia.text import counted

SLOW = "deia: asking the language model; what the documents say comes in any case"


@click.command(cls=WordsCommand, short_help="Answer a question from the documents.")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION…")
@click.option("--collection", default="", metavar="NAME", help="Only of this collection of the library.")
@click.option(
    "--max-chunks", type=click.IntRange(1, MOST_CHUNKS), default=10, show_default=True,
    help="How many passages the answer rests on.",
)  # fmt: skip
@click.option("--audit", "shows_audit", is_flag=True, help="Show how the answer came about, step by step.")
@shared.json_option
def ask(*, words: tuple[str, ...], collection: str, max_chunks: int, shows_audit: bool, as_json: bool) -> int:
    """Answer QUESTION from the commons and the library, word for word, each sentence with its path and lines.

    What one passage leaves open is looked up where its links and names lead. If the documents do not say, the answer
    says so, and the command exits 1. Where DEIA_LLM_URL names a language model, it chooses and shortens; what it says
    and no document does is dropped.
    """
    librarian = Librarian(shared.named_commons() or None, agent="cli")
    query = LibrarianQuery(collection=collection, question=" ".join(words), max_chunks=max_chunks)
    with shared.message_if_slow(SLOW, after=3.0):
        answer = librarian.answer_now(query)
    output.answer(answer.to_dict(), [*_lines(answer), *(_steps(answer) if shows_audit else ())], as_json=as_json)
    return output.FOUND if answer.found else output.NOTHING


def _lines(answer: LibrarianResponse) -> list[str]:
    """Return an answer for a person, document by document."""
    lines = [f"Confidence {answer.confidence:.0%}, {counted(len(answer.sources), 'source')}, by {answer.by}.", ""]
    path = ""
    for source in answer.sources:
        named = f"{source.path} ({source.outdated})" if source.outdated else source.path
        lines += [] if source.path == path else ["", named][path == "" :]
        path = source.path
        where = place(source).removeprefix(f"{path}:")
        lines.append(f"  {where:>9}  {source.says or source.quote}")
    lines += [] if answer.found else [answer.answer]
    lines += ["", f"Nothing is said about: {', '.join(answer.open)}."] if answer.open else []
    lines += [f"Dropped, since no document says it: {claim}" for claim in answer.dropped]
    return lines + [f"Warning: {warning}. For more, type: deia audit" for warning in answer.warnings]


def _steps(answer: LibrarianResponse) -> list[str]:
    steps = []
    for step in answer.audit:
        details = [f"{name} {value}" for name, value in step.items() if name != "step"]
        steps.append(f"- {step['step']}: {', '.join(details)}")
    return ["", "How this came about:", *steps]
