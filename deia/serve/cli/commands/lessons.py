"""Commands that change lessons that there are: their text and facts, and moving them to the trash and back."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from deia.commons.layers.shadowing import refuse_weakening
from deia.commons.write.revise_lesson import revise_lesson
from deia.commons.write.trash import remove_document, restore_document
from deia.records import URGENCIES
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.commons import compile_and_say
from deia.text import shorten

STAMP = "%Y%m%dT%H%M%S"
MOST_QUOTED = 80  # characters of a summary


@click.command(short_help="Change the text or the facts of a lesson.")
@click.argument("ident", metavar="ID")
@click.option("--text", help="The new text, as Markdown; - reads it from standard input.")
@click.option("--title", help="What goes wrong, in a few words.")
@click.option("--summary", help="One sentence for the index.")
@click.option("--urgency", type=click.Choice(URGENCIES), help="How serious it is.")
@click.option("--tag", "tags", multiple=True, help="A tag, in place of the old ones; may be repeated.")
@click.option("--keyword", "keywords", multiple=True, help="A keyword, in place of the old ones; may be repeated.")
def update(*, ident: str, text: str | None, tags: Sequence[str], keywords: Sequence[str], **facts: str | None) -> None:
    """Change the lesson with this ID: its text, or the facts about it in the index. The old text is kept in .trash/.

    A summary that nobody wrote follows the new text; one that somebody wrote stays until --summary changes it.

    To bring the compiled files up to date, type: deia compile
    """
    changes = {**facts, "tags": [*tags], "keywords": [*keywords]}
    if text is None and not any(changes.values()):
        raise click.UsageError(
            "Nothing is to be changed: use --text, --title, --summary, --urgency, --tag or --keyword."
        )
    root = shared.writable_root()
    shared.trust_typed(root)
    body = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    refuse_weakening(root, ident)
    lesson = revise_lesson(root, ident, text=body, today=shared.today(), stamp=time.strftime(STAMP), changes=changes)
    *written, kept = lesson.paths
    output.say("\n".join(f"wrote {path}" for path in written))
    output.say(f"The old text is in {kept}. To bring it back, type: deia undo {ident}")
    if lesson.kept_summary:
        summary = shorten(lesson.kept_summary, MOST_QUOTED)
        output.say(f'The summary was kept: "{summary}". To change it, type: deia update {ident} --summary "…"')
    _finish(root, f"updated {ident}")


@click.command(short_help="Move a lesson to the trash.")
@click.argument("ident", metavar="ID")
def remove(*, ident: str) -> None:
    """Move the lesson with this ID, and its entry in the index, to .trash/. Nothing is deleted.

    To take deia's hooks out of a host, type: deia uninstall
    """
    root = shared.writable_root()
    removed = remove_document(root, ident, stamp=time.strftime(STAMP), today=shared.today())
    output.say(f"{ident} is in {removed.trash}. To bring it back, type: deia undo {ident}")
    if removed.named_by:
        output.say(f"It is still mentioned in {', '.join(removed.named_by)}.")
    _finish(root, f"removed {ident}")


@click.command(short_help="Bring a removed lesson back.")
@click.argument("ident", metavar="[ID]", default="")
def undo(*, ident: str) -> None:
    """Bring the lesson with this ID back from the trash, or its text and facts before the last update.

    Without an ID, it is the lesson that was removed last.

    To take back what deia learned, type: deia learn undo
    """
    root = shared.writable_root()
    restored = restore_document(root, ident, today=shared.today())
    output.say(f"wrote {restored.path}")
    _finish(root, f"restored {restored.id}")


def _finish(root: str, change: str) -> None:
    shared.log_change(root, change)
    compile_and_say(root)
