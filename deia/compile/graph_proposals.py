"""What a language model proposed for the graph, kept in the person's library folder by the content of the document.

So each document is paid for once; `deia graph propose` asks, and every later graph has what it kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping

from deia import files
from deia.fast_json import dumps
from deia.folders import is_trusted, library_folder
from deia.graph.facts import Facts, facts_from
from deia.graph.schema import Schema
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from deia.language_model import Endpoint

FOLDER = "proposals"
MOST_BYTES = 4_000_000  # of the proposals of a document


class Proposals(Record):
    """What asking a model came to."""

    documents: int = 0  # that were asked about
    entities: int = 0
    relations: int = 0
    dropped: int = 0  # proposals that the documents do not bear out


def proposals_folder(root: str, environ: Mapping[str, str]) -> str:
    """Return the folder in which proposals are kept."""
    return f"{library_folder(root, environ)}/{FOLDER}"


def kept_proposals(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the files of proposals that are kept, by the key of the content."""
    if not is_trusted(root, environ):
        return {}
    folder = proposals_folder(root, environ)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return {name.removesuffix(".json"): f"{folder}/{name}" for name in sorted(names) if name.endswith(".json")}


def read_kept(path: str) -> Facts:
    """Return the facts of a file of proposals; one that is damaged has none."""
    try:
        return facts_from(json.loads(files.read(path, MOST_BYTES) or b""))
    except (ValueError, TypeError):
        return Facts()


def propose(
    folder: str,
    texts: Iterable[tuple[str, str, str]],
    endpoint: Endpoint,
    schema: Schema,
    tell: Callable[[str, int], None],
) -> Proposals:
    """Ask a model about some documents (each with its name, the key of its content and its text), and keep the answers.

    `tell` is told each document with the number of its proposals. Raise ModelError if the model does not answer; what
    it answered before is kept.
    """
    from deia.graph.model_proposals import messages, read_proposals  # noqa: PLC0415 - whoever only reads
    from deia.language_model import complete  # noqa: PLC0415 - what is kept needs neither these nor the network

    total = Proposals()
    for name, key, text in texts:
        proposed = read_proposals(complete(endpoint, messages(text, schema)), text, schema)
        files.make_folders(folder)
        files.replace(f"{folder}/{key}.json", dumps(proposed.facts).encode())
        entities, relations = len(proposed.facts.entities), len(proposed.facts.references)
        total = total.but(
            documents=total.documents + 1, entities=total.entities + entities,
            relations=total.relations + relations, dropped=total.dropped + proposed.dropped,
        )  # fmt: skip
        tell(name, entities + relations)
    return total
