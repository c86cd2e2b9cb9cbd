"""Both kinds of bucket keep what is put there, and say what is wrong, against a real server that speaks S3."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

import pytest

from deia.compile.replicas.bucket import open_bucket
from deia.compile.replicas.version import ReplicaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("obstore")
server_of = pytest.importorskip("moto.server").ThreadedMotoServer


@pytest.fixture(params=["file", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "file":
        yield f"file://{tmp_path}/a%20bucket"
        return
    server = server_of(ip_address="127.0.0.1", port=0)
    server.start()
    url = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    keys = {
        "AWS_ENDPOINT": url,
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_REGION": "us-east-1",
    }
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    made = urllib.request.Request(f"{url}/team", data=b"", method="PUT")  # noqa: S310 - of this machine
    urllib.request.urlopen(made, timeout=20).close()  # noqa: S310 - likewise
    yield "s3://team/library"
    server.stop()


def test_what_is_put_there_is_there_within_limits(place: str) -> None:
    bucket = open_bucket(place, private=True)
    assert bucket.get("head.json", 100) is None
    bucket.put("head.json", b"one")
    bucket.put("head.json", b"other")
    bucket.put("objects/ab", b"x" * 200)
    bucket.put("objects/ab", b"x" * 200)
    assert open_bucket(place, private=True).get("head.json", 100) == b"other"
    assert bucket.get("objects/ab", 100) is None
    assert bucket.get("objects/ab", 200) == b"x" * 200


def test_a_bucket_that_is_not_there_is_said_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    with pytest.raises(ReplicaError, match="Check the AWS_") as raised:
        open_bucket("s3://team/library", private=True).put("head.json", b"x")
    assert "hunter2" not in str(raised.value)


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReplicaError, match="cannot be written to"):
        open_bucket(f"file://{tmp_path}/file").put("head.json", b"x")
