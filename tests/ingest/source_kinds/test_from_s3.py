"""A bucket as a source, against a real server that speaks S3."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from deia.ingest.checked_source import checked
from deia.ingest.ingesting import Outcome, ingest
from deia.ingest.library_store import Library
from deia.ingest.source import S3Source, described

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Store]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    url = f"http://127.0.0.1:{port}"
    for name, value in {
        "AWS_ENDPOINT": url, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    request = urllib.request.Request(f"{url}/docs", data=b"", method="PUT")  # noqa: S310 - of this machine
    urllib.request.urlopen(request, timeout=20).close()  # noqa: S310 - likewise
    yield S3Store("docs")
    server.stop()


def take_in(library: Library) -> Outcome:
    return ingest(library, library.register(checked(described(S3Source(bucket="docs", prefix="guides")))))


def test_the_objects_below_a_prefix_are_taken_in_and_followed(bucket: S3Store, tmp_path: Path) -> None:
    obstore.put(bucket, "guides/a.md", b"# Valves\n\nClose them.\n")
    obstore.put(bucket, "guides/deep/b.txt", b"Plain words.\n")
    obstore.put(bucket, "other.md", b"# Other\n")
    with Library(str(tmp_path / "library")) as library:
        outcome = take_in(library)
        assert (outcome.error, [one.id for one in library.documents()]) == (
            "", ["library:guides/a.md", "library:guides/deep/b.txt"],
        )  # fmt: skip
        assert take_in(library).read == 0
        obstore.put(bucket, "guides/a.md", b"# Valves and seals\n")
        obstore.delete(bucket, "guides/deep/b.txt")
        outcome = take_in(library)
        assert (outcome.read, outcome.removed, library.documents()[0].title) == (1, 1, "Valves and seals")


def test_a_bucket_that_is_not_there_is_told(bucket: S3Store, tmp_path: Path) -> None:
    with Library(str(tmp_path / "library")) as library:
        source = checked(described(S3Source(bucket="nothing")))
        outcome = ingest(library, library.register(source))
    assert "s3 answers" in outcome.error
