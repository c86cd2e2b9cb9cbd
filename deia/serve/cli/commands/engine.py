"""`deia engine`, `deia publish`, `deia pull`, `deia worker`: the library on more than one machine."""

from __future__ import annotations

import os
import time

import click

from deia.compile.engine_copy import NOT_SET, Standing, copy_library, engine_standing
from deia.compile.replicas.publish import publish as publish_library
from deia.compile.replicas.pull import Pulled
from deia.compile.replicas.pull import pull as pull_library
from deia.compile.replicas.version import ReplicaError
from deia.compile.shared_encoding import work
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.text import counted
from deia.typed_json import plain


@click.group(short_help="Keep the vectors of the library in PostgreSQL or Milvus.")
def engine() -> None:
    """What keeps the vectors of the library besides its catalog: the engine in DEIA_ENGINE."""


@engine.command("copy", short_help="Copy to the engine what it does not have.")
@shared.json_option
def engine_copy(*, as_json: bool) -> None:
    """Copy the vectors of the library's passages to the engine: what is not there yet, checked in the end.

    It may be interrupted, and goes on when it is typed again. Until it is done, the catalog answers.
    """
    copies = copy_library(shared.commons_root(), os.environ, tell=output.progress)
    output.progress()
    lines = [
        f"{copied.tier}: {counted(copied.written, 'document')} copied, {copied.removed} removed; there are"
        f" {counted(copied.documents, 'document')} and {counted(copied.passages, 'passage')} now, as here"
        for copied in copies
    ]
    output.answer([copied.values() for copied in copies], lines, as_json=as_json)


@engine.command("status", short_help="Show the engine, and whether it has what the library has.")
@shared.json_option
def engine_status(*, as_json: bool) -> int:
    """Show the engine without its password, and whether it has what the library has; exits 1 if it does not."""
    standings = engine_standing(shared.commons_root(), os.environ)
    fields = [{**plain(standing), "current": standing.is_current} for standing in standings]
    output.answer(fields, [*map(_standing_line, standings)] or [NOT_SET], as_json=as_json)
    return output.FOUND if all(standing.is_current for standing in standings) else output.NOTHING


def _standing_line(standing: Standing) -> str:
    if standing.problem:
        return f"{standing.engine}: {standing.problem}"
    if standing.is_current:
        return f"{standing.engine}: {standing.tier}: {counted(standing.there.passages, 'passage')}, as here"
    has = f"{standing.there.passages} of {counted(standing.here.passages, 'passage')}, or of another state"
    return f"{standing.engine}: {standing.tier}: {has}; to copy them, type: deia engine copy"


private_option = click.option("--private", is_flag=True, help="Let the bucket be reached without encryption.")


@click.command(short_help="Publish the library for other machines.")
@click.argument("place", metavar="PLACE")
@click.option("--whole", is_flag=True, help="Upload everything anew, as for a bucket that lost something.")
@private_option
@shared.json_option
def publish(*, place: str, whole: bool, private: bool, as_json: bool) -> None:
    """Publish the library's catalog at PLACE, s3://BUCKET/PREFIX or file:///FOLDER: what changed since the last time.

    It is signed with a key of your own, which lies in your state folder. Other machines take it with `deia pull`.
    """
    root = shared.commons_root()
    published = publish_library(root, os.environ, place, private=private, whole=whole)
    how = "whole" if published.is_whole else "what changed"
    summary = (
        f"Version {published.sequence}: {how}, {published.moved:,} bytes." if published.is_new else "Nothing changed."
    )
    output.answer(
        published.values(),
        [summary, f"To take it elsewhere, type: deia pull {place} --key {published.key}"],
        as_json=as_json,
    )


@click.command(short_help="Take the library that another machine published.")
@click.argument("place", default="", metavar="[PLACE]")
@click.option("--key", default="", help="The publisher's key, as `deia publish` says it; remembered.")
@click.option("--every", metavar="30s", callback=shared.read_span, help="Go on, and look so often.")
@private_option
@shared.json_option
def pull(*, place: str, key: str, every: int, private: bool, as_json: bool) -> int:
    """Take the library that another machine published at PLACE: only what changed, checked, and switched to at once.

    Place and key are remembered. Searches and servers here use the new version from their next question on.
    """
    root = shared.commons_root()
    while True:
        try:
            pulled = pull_library(root, os.environ, place, key=key, private=private)
        except ReplicaError as error:
            if not every:
                raise
            output.complain(f"deia: {error}")
        else:
            if pulled.is_new or not every:
                output.answer(pulled.values(), [_pulled_line(pulled)], as_json=as_json)
        if not every:
            return output.FOUND
        time.sleep(every)


def _pulled_line(pulled: Pulled) -> str:
    return (
        f"Version {pulled.sequence}, {pulled.moved:,} bytes."
        if pulled.is_new
        else f"Version {pulled.sequence} is here."
    )


@click.command(short_help="Read and encode what other machines have put into the queue.")
@click.option("--until-done", is_flag=True, help="End when the queue is empty.")
def worker(*, until_done: bool) -> None:
    """Read files and encode passages for the sentence model from the queue in PostgreSQL that DEIA_ENGINE names.

    Any number of workers may run, on any number of machines; what a worker that ends has begun, another one does.
    `deia ingest`, `deia source update` and the encoding that they start put work there, and take part themselves.
    """
    done = work(os.environ, until_done=until_done, tell=output.progress)
    output.progress()
    output.say(f"Read {counted(done.files, 'file')}, encoded {counted(done.passages, 'passage')}.")
