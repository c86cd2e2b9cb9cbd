"""Milvus as an engine: a cluster (`milvus://host:19530`), or a file on this machine (`milvus:///folder/file.db`).

Each space has two collections, one of passages and one of documents with their marks. Expressions contain only our own
hexadecimal keys, never a document's name.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from deia.engines.engine import PATIENCE, SLOW, EngineError, Near, Shelf, Stats, missing, problem

LONGEST = 4_096  # bytes of a document's id
AT_ONCE = 500  # rows and keys in one request
MOST_FOUND = 16_384  # results that Milvus returns at once
STARTING = 20  # seconds for a file, which milvus-lite starts a server for, and for counting
STATE = "state"  # the key of the row that has the state
Found = TypeVar("Found")
NOTHING = [0.0, 0.0]  # Milvus wants a vector in every collection


class MilvusEngine:
    """One space in Milvus."""

    def __init__(self, address: str, space: str, dimensions: int) -> None:
        """Connect, and make the collections if they are not there."""
        self._address, self._passages, self._documents = address, space, f"{space}_documents"
        self._client = _connected(address)
        self._asked(self._prepare, dimensions)

    def upsert(self, shelves: Sequence[Shelf]) -> None:
        """Write documents, each in place of its earlier version; marks come last, so an interruption is noticed."""
        rows = [
            {"id": f"{key(shelf.document)}-{passage.ordinal}", "key": key(shelf.document), "document": shelf.document,
             "ordinal": passage.ordinal, "vector": list(passage.vector)}
            for shelf in shelves for passage in shelf.passages
        ]  # fmt: skip
        self.delete([shelf.document for shelf in shelves])
        for batch in _batches(rows):
            self._asked(self._client.upsert, self._passages, batch)
        marks = [_marked(key(shelf.document), shelf.document, shelf.mark) for shelf in shelves]
        for batch in _batches(marks):
            self._asked(self._client.upsert, self._documents, batch)

    def delete(self, documents: Collection[str]) -> None:
        """Remove documents, their marks first."""
        for batch in _batches([*map(key, documents)]):
            for collection in (self._documents, self._passages):
                self._asked(self._client.delete, collection, filter=f"key in {json.dumps(batch)}")

    def search(
        self, vector: Sequence[float], *, limit: int, among: Collection[str] | None = None, state: str = ""
    ) -> list[Near]:
        """Return the nearest passages of some documents or of all, nearest first, or none if the state is another."""
        if self.state() != state or (among is not None and not among):
            return []
        chosen = "" if among is None else f"key in {json.dumps([*map(key, among)])}"
        (hits,) = self._asked(
            self._client.search, self._passages, [list(vector)], limit=min(limit, MOST_FOUND), filter=chosen,
            output_fields=["document", "ordinal"], search_params={"metric_type": "COSINE"}, timeout=SLOW,
        )  # fmt: skip
        return [
            Near(document=hit["entity"]["document"], ordinal=hit["entity"]["ordinal"], cosine=hit["distance"])
            for hit in hits
        ]

    def state(self) -> str:
        """Return quickly which state is there as a whole."""
        rows = self._asked(self._client.get, self._documents, STATE, timeout=SLOW)
        return str(rows[0]["mark"]) if rows else ""

    def stats(self) -> Stats:
        """Return how much is there, which may take long."""
        state = self.state()
        rows = self._asked(self._client.get, self._documents, STATE, timeout=SLOW)
        documents = self._count(self._documents) - len(rows)
        return Stats(documents=documents, passages=self._count(self._passages), state=state)

    def marks(self) -> Mapping[str, str]:
        """Return the mark of every document."""

        def read() -> dict[str, str]:
            rows = self._client.query_iterator(
                self._documents, batch_size=AT_ONCE, output_fields=["document", "mark"], timeout=SLOW
            )
            by_document: dict[str, str] = {}
            while batch := rows.next():
                by_document.update({row["document"]: row["mark"] for row in batch if row["document"]})
            return by_document

        return self._asked(read)

    def settle(self, state: str) -> None:
        """Record which state is there as a whole."""
        self._asked(self._client.upsert, self._documents, [_marked(STATE, "", state)])

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _count(self, collection: str) -> int:
        rows = self._asked(self._client.query, collection, filter="", output_fields=["count(*)"], timeout=STARTING)
        return int(rows[0]["count(*)"])

    def _prepare(self, dimensions: int) -> None:
        from pymilvus import DataType  # noqa: PLC0415 - an extra

        texts = {"key": 64, "document": LONGEST, "mark": 64}
        for name, fields, width in (
            (self._passages, ("key", "document"), dimensions), (self._documents, ("document", "mark"), len(NOTHING)),
        ):  # fmt: skip
            if self._client.has_collection(name, timeout=SLOW):
                self._client.load_collection(name, timeout=SLOW)
                continue
            schema = self._client.create_schema(auto_id=False)
            first = "key" if name == self._documents else "id"
            schema.add_field(first, DataType.VARCHAR, max_length=80, is_primary=True)
            for field in fields:
                schema.add_field(field, DataType.VARCHAR, max_length=texts[field])
            if name == self._passages:
                schema.add_field("ordinal", DataType.INT64)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=width)
            index = self._client.prepare_index_params()
            index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
            self._client.create_collection(name, schema=schema, index_params=index, consistency_level="Strong")

    def _asked(self, ask: Callable[..., Found], *values: object, **options: object) -> Found:
        from grpc import RpcError  # noqa: PLC0415 - pymilvus does not convert it if time is up
        from pymilvus.exceptions import MilvusException  # noqa: PLC0415 - an extra

        try:
            return ask(*values, **options)
        except (MilvusException, RpcError, OSError, ValueError) as error:
            raise problem(self._address, error) from None


def key(document: str) -> str:
    """Return the key by which expressions name a document."""
    return blake2b(document.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _marked(name: str, document: str, mark: str) -> dict[str, object]:
    return {"key": name, "document": document, "mark": mark, "vector": NOTHING}


def _batches(rows: Sequence[Found]) -> Iterator[Sequence[Found]]:
    return (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))


def _connected(address: str) -> Any:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it prints errors that are raised anyway
    try:
        from pymilvus import MilvusClient  # noqa: PLC0415 - an extra, whose import takes a second
        from pymilvus.exceptions import MilvusException  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise missing("pymilvus, which speaks to Milvus,", "milvus") from error
    arguments = _how(address)
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, together with the request
    try:
        return MilvusClient(**arguments, timeout=PATIENCE if "token" in arguments else STARTING)
    except (MilvusException, OSError, ValueError) as error:
        raise problem(address, error) from None
    except ImportError as error:
        raise missing("milvus-lite, which keeps a file of this machine,", "milvus") from error


def _how(address: str) -> dict[str, str]:
    """Return the arguments of a client; raise EngineError for an address that makes no sense."""
    try:
        parts = urlsplit(address)
        place = f"{parts.hostname or ''}:{parts.port or 19530}"
    except ValueError as error:
        raise problem(address, error, wrong_address=True) from None
    if not parts.hostname:
        if not parts.path.endswith(".db"):
            raise EngineError("the file of Milvus does not end in .db", where="DEIA_ENGINE", fix="Name it FILE.db.")
        return {"uri": unquote(parts.path)}
    token = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    web = "https" if parts.scheme.endswith("https") else "http"
    return {"uri": f"{web}://{place}", "token": token, "db_name": parts.path.strip("/")}
