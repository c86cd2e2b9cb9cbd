"""The objects of an S3 bucket as a source; the usual `AWS_…` variables hold the credentials and the endpoint."""

from __future__ import annotations

from datetime import timedelta

from deia.ingest.reading import missing_extra
from deia.ingest.source import MOST_BYTES, Found, Source, SourceError
from deia.ingest.source_kinds.globs_of_source import Selection
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from obstore.store import ClientConfig, RetryConfig

RETRIES: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=30)}


class S3Files:
    """The objects of a bucket."""

    def __init__(self, source: Source) -> None:
        """Open the bucket; raise ReadingError if the extra is missing, and SourceError if it cannot be opened."""
        try:
            import obstore  # noqa: PLC0415 - an extra
            from obstore.store import S3Store  # noqa: PLC0415 - likewise
        except ImportError as error:
            raise missing_extra("a bucket", "s3") from error
        self._obstore = obstore
        self._selection = Selection(source)
        bucket, _, self._prefix = source.place.removeprefix("s3://").partition("/")
        self._sizes: dict[str, int] = {}
        try:
            options: ClientConfig | None = {"allow_http": True} if source.private else None
            self._store = S3Store(bucket, client_options=options, retry_config=RETRIES)
        except (obstore.exceptions.BaseError, ValueError) as error:
            raise SourceError(f"{source.place} cannot be opened: {error}", fix="Check the AWS_… variables.") from error

    def files(self) -> Iterator[Found]:
        """Yield the objects that count; raise SourceError if they cannot be listed."""
        prefix = self._prefix.strip("/")
        try:
            for batch in self._obstore.list(self._store, prefix=prefix or None):
                for entry in batch:
                    path = entry["path"].removeprefix(prefix).lstrip("/") or entry["path"].rpartition("/")[2]
                    if self._selection.takes(path):
                        self._sizes[path] = entry["size"]
                        stamp = entry["e_tag"] or f"{entry['size']} {entry['last_modified']}"
                        yield Found(path=path, stamp=stamp, modified=entry["last_modified"].timestamp())
        except self._obstore.exceptions.BaseError as error:
            message = f"s3 answers: {' '.join(str(error).partition('Debug source')[0].split())[:300]}"
            raise SourceError(message, fix="Check the bucket's name and the AWS_… variables.") from error

    def read(self, file: Found) -> bytes | None:
        """Return an object's content, or None if it is too large or gone."""
        if self._sizes.get(file.path, 0) > MOST_BYTES:
            return None
        prefix = self._prefix.strip("/")
        try:
            name = f"{prefix}/{file.path}" if prefix and file.path != prefix else file.path
            return bytes(self._obstore.get(self._store, name).bytes())
        except self._obstore.exceptions.BaseError:
            return None

    def close(self) -> None:
        """Do nothing: no connection is left open."""
