"""What a commons and its library were last indexed with, and what it means for answers if that has changed since.

The file lies beside the compiled files. Vectors are named by their model, so those of another one never take part; a
changed schema or extractor counts once the graph is brought up to date.
"""

from __future__ import annotations

import time

from deia import fast_json, files
from deia.folders import derived_folder, library_folder
from deia.match.tiers import TIERS, TRANSFORMER
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from deia.settings import Settings

NAME = "indexing.json"
MODELS = {"compact": "all-MiniLM-L6-v2", "static": "word vectors"}
AGAIN = "type: deia source update"


def record_indexing(root: str, environ: Mapping[str, str], settings: Settings, *, extractor: str, total: int) -> None:
    """Write down what was indexed, and with what."""
    from hashlib import blake2b  # noqa: PLC0415 - for what indexes, not for searches

    from deia import __version__  # noqa: PLC0415 - likewise

    folder = derived_folder(root, environ)
    config = {
        "embedder": _embedder(folder), "extractor": extractor, "schema": settings.schema, "deia": __version__,
        "dataPath": library_folder(root, environ),
    }  # fmt: skip
    digest = blake2b(fast_json.dumps(config).encode(), digest_size=16).hexdigest()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    written = {"configHash": digest, **config, "lastIndexedAt": now, "documentCount": total}
    files.replace(f"{folder}/{NAME}", fast_json.dumps(written).encode())


def read_indexing(folder: str) -> dict[str, Any]:
    """Return what was written in the folder of compiled files, or nothing if there is nothing that can be read."""
    try:
        value = fast_json.loads((files.read(f"{folder}/{NAME}") or b"").decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def changed_embedder(root: str, environ: Mapping[str, str], settings: Settings) -> str:
    """Return what to say if the settings name another model than the commons was compiled with, or ""."""
    if settings.tier != TRANSFORMER or not settings.model:
        return ""
    from deia.compile.manifest import read_manifest  # noqa: PLC0415 - likewise

    models = [name.partition(":")[2] for name in read_manifest(derived_folder(root, environ)).tiers if ":" in name]
    if not models or settings.model in models:
        return ""
    return (
        f"the embedder was {models[0]} at the last indexing and is {settings.model} now: questions are answered by"
        " words only until everything is indexed again; type: deia compile --force"
    )


def said_at_start(root: str, environ: Mapping[str, str], settings: Settings) -> list[str]:
    """Return all that changed since the last indexing, for whoever starts or looks after deia."""
    return [
        *filter(None, [changed_embedder(root, environ, settings)]),
        *changes_since_indexing(root, environ, settings),
    ]


def changes_since_indexing(root: str, environ: Mapping[str, str], settings: Settings) -> Iterator[str]:
    """Yield what besides the embedder changed since the last indexing, with what it means and what to type."""
    last = read_indexing(derived_folder(root, environ, trusted=True)) if settings.trusted else {}
    if not last:
        return
    if (place := last.get("dataPath")) != (now := library_folder(root, environ)):
        yield f"the library is at {now} now and begins anew there; what was taken in before is at {place}"
    if last.get("schema") != settings.schema:
        yield f"the types or fields of [schema] have changed; they count from the next indexing: {AGAIN}"
    from deia.graph.extractor import PATTERNS  # noqa: PLC0415 - only where something was indexed

    if str(last.get("extractor", "")).partition(" and ")[0] != PATTERNS:
        yield f"another extractor found the facts of the documents; this one counts from the next indexing: {AGAIN}"


def _embedder(folder: str) -> dict[str, object]:
    """Return the model that made the best vectors of the commons, as its catalog names it."""
    from deia.compile.manifest import read_manifest  # noqa: PLC0415 - likewise
    from deia.search.catalog import open_catalog  # noqa: PLC0415 - likewise

    tiers = open_catalog(f"{folder}/{read_manifest(folder).catalog}").tiers
    best = next((name for name in (TRANSFORMER, *TIERS) if name in tiers), "")
    if not best:
        return {"provider": "none", "model": "", "dimensions": 0}
    provider = "sentence-transformers" if best == TRANSFORMER else "deia"
    return {"provider": provider, "model": tiers[best].model or MODELS[best], "dimensions": tiers[best].dimensions}
