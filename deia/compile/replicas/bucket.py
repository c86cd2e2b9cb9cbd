"""Where versions are published: a folder (`file:///…`), or a bucket of S3 or of a compatible service (`s3://…`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from deia import files
from deia.compile.replicas.version import ReplicaError
from deia.ingest.source_kinds.from_s3 import RETRIES

FIX = "Name s3://BUCKET/PREFIX or file:///FOLDER."

if TYPE_CHECKING:
    from types import ModuleType

    from obstore.store import ClientConfig


class Bucket(Protocol):
    """A place with files. Both methods raise ReplicaError if it cannot be reached."""

    def get(self, name: str, most: int) -> bytes | None:
        """Return a file's content, or None if it is missing or has more bytes."""

    def put(self, name: str, content: bytes) -> None:
        """Write a file as a whole."""


def open_bucket(place: str, *, private: bool = False) -> Bucket:
    """Open the place that a person typed; a `private` one may be reached without encryption."""
    try:
        parts = urlsplit(place)
    except ValueError as error:
        raise ReplicaError(f"{place[:100]!r} is no place to publish to", fix=FIX) from error
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return FolderBucket(unquote(parts.path))
    if parts.scheme == "s3" and parts.netloc:
        return S3Bucket(parts.netloc, parts.path.strip("/"), private=private)
    raise ReplicaError(f"{place[:100]!r} is no place to publish to", fix=FIX)


class FolderBucket:
    """A folder, on this machine or on one that is mounted."""

    def __init__(self, folder: str) -> None:
        """Remember the folder."""
        self._folder = folder

    def get(self, name: str, most: int) -> bytes | None:
        """Return a file's content, or None if it is missing or has more bytes."""
        return files.read(f"{self._folder}/{name}", most)

    def put(self, name: str, content: bytes) -> None:
        """Write a file as a whole, even if it is there: it may be damaged, and its age shows that it is needed."""
        path = f"{self._folder}/{name}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            files.replace(path, content)
        except OSError as error:
            raise ReplicaError(
                f"cannot be written to: {error.strerror}", where=self._folder, fix="Check it."
            ) from error


class S3Bucket:
    """A bucket; its server and the credentials are in the usual `AWS_…` variables."""

    def __init__(self, bucket: str, prefix: str, *, private: bool) -> None:
        """Open the bucket; raise ReplicaError if that is impossible."""
        try:
            import obstore  # noqa: PLC0415 - an extra
            from obstore.store import S3Store  # noqa: PLC0415 - likewise
        except ImportError as error:
            raise ReplicaError("obstore is not installed", fix="pip install 'deia[replica]'") from error
        self._obstore: ModuleType = obstore
        self._where = f"s3://{bucket}/{prefix}"
        options: ClientConfig | None = {"allow_http": True} if private else None
        try:
            self._store = S3Store(bucket, prefix=prefix or None, client_options=options, retry_config=RETRIES)
        except (obstore.exceptions.BaseError, ValueError) as error:
            raise self._problem(error) from None

    def get(self, name: str, most: int) -> bytes | None:
        """Return an object's content, or None if it is missing or has more bytes."""
        try:
            response = self._obstore.get(self._store, name)
            return bytes(response.bytes()) if response.meta["size"] <= most else None
        except (self._obstore.exceptions.NotFoundError, FileNotFoundError):
            return None
        except self._obstore.exceptions.BaseError as error:
            raise self._problem(error) from None

    def put(self, name: str, content: bytes) -> None:
        """Write an object."""
        try:
            self._obstore.put(self._store, name, content)
        except self._obstore.exceptions.BaseError as error:
            raise self._problem(error) from None

    def _problem(self, error: Exception) -> ReplicaError:
        text = " ".join(str(error).partition("Debug source")[0].split())[:300]
        return ReplicaError(f"the bucket answers: {text}", where=self._where, fix="Check the AWS_… variables.")
