"""The documents that triggers name, as an injection carries them; lines that are only an outline are left out."""

from __future__ import annotations

from deia.commons.index.load_commons import Commons
from deia.commons.source_files.outline import without_outline
from deia.compile.triggers.build_artefact import Payload
from deia.text import shorten

MOST_PAYLOAD = 8000  # characters of a document that an injection may carry; hosts cut strings at 10,000


def payloads(commons: Commons) -> dict[str, Payload]:
    """Return the documents that triggers name, by id, as injections carry them."""
    texts = {document.path: document.text for document in commons.documents}
    wanted = {reference.id for trigger in commons.triggers for reference in trigger.documents}
    return {
        entry.id: Payload(
            id=entry.id,
            path=entry.path,
            title=entry.title,
            summary=entry.summary,
            text=shorten(without_outline(texts.get(entry.path, "")) or entry.summary, MOST_PAYLOAD),
        )
        for entry in commons.entries
        if entry.id in wanted
    }
