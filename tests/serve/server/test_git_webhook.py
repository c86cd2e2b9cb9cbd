"""Webhooks: only whoever knows the secret is heard, and only registered sources are taken in."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile.take_in import open_library
from deia.ingest.source import GIT, Source
from deia.serve.server.git_webhook import GitWebhook, addresses_of, normal, payload_of
from tests.serve.server.conftest import end_server, start_server

if TYPE_CHECKING:
    from pathlib import Path

    from deia.serve.server.desk import Desk
    from tests.serve.server.conftest import Place

SECRET = "a-secret-of-these-tests"  # noqa: S105 - no secret
PUSH = {"ref": "refs/heads/main", "repository": {"clone_url": "https://git.example/team/shop.git", "name": "shop"}}


def signed(body: bytes, secret: str = SECRET) -> dict[str, str]:
    """Give the header with which GitHub signs."""
    return {"X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"}


def test_a_signature_counts_only_for_what_was_signed() -> None:
    hook, body = GitWebhook("", SECRET), json.dumps(PUSH).encode()

    def is_genuine(headers: dict[str, str], content: bytes = body) -> bool:
        return hook.is_genuine({name.lower().encode(): value.encode() for name, value in headers.items()}, content)

    assert is_genuine(signed(body))
    assert is_genuine({"X-Gitlab-Token": SECRET})
    assert not is_genuine(signed(body), body + b" ")
    assert not is_genuine(signed(body, "another"))
    assert not is_genuine({})
    assert not is_genuine({"X-Gitlab-Token": "another"})
    assert not is_genuine({"X-Hub-Signature-256": "sha256=", "X-Gitlab-Token": SECRET})


@pytest.mark.parametrize(
    "address",
    ["https://git.example/team/shop", "https://me@git.example/team/shop.git/", "git@git.example:team/shop.git",
     "ssh://git@git.example:22/team/shop.git"],
)  # fmt: skip
def test_an_address_is_the_same_however_it_is_written(address: str) -> None:
    assert normal(address) == "git.example/team/shop"


@given(st.binary(max_size=400), st.sampled_from([b"", b"application/json", b"application/x-www-form-urlencoded"]))
def test_whatever_is_sent_is_read_or_is_nothing(body: bytes, kind: bytes) -> None:
    for address in addresses_of(payload_of({b"content-type": kind}, body)):
        normal(address)


def test_a_form_with_too_many_fields_is_nothing() -> None:
    form = b"&".join([b"a=1"] * 50)
    assert payload_of({b"content-type": b"application/x-www-form-urlencoded"}, form) == {}


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_could_not_be_taken_in_is_taken_in_with_what_is_sent_next(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be no room for another process for a while."""
    with open_library(desk.root, os.environ) as library:
        for name in ("shop", "other"):
            library.register(Source(kind=GIT, place=f"https://git.example/team/{name}", name=name))
    python, hook = tmp_path / "python", GitWebhook(desk.root, SECRET)
    monkeypatch.setattr(sys, "executable", str(python))

    async def push(name: str) -> None:
        body = json.dumps({"repository": {"clone_url": f"https://git.example/team/{name}"}}).encode()

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body}

        async def send(_message: object) -> None:
            """Do nothing with the answer."""

        headers = [(name.lower().encode(), value.encode()) for name, value in signed(body).items()]
        await hook({"method": "POST", "headers": headers}, receive, send)

    async def use() -> None:
        await push("shop")
        await asyncio.sleep(0.1)
        done = tmp_path / "done"
        python.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/taken"; mv "{tmp_path}/taken" "{done}"\n')
        python.chmod(0o755)
        await push("other")
        await asyncio.to_thread(wait_for, done)

    asyncio.run(use())
    assert (tmp_path / "done").read_text().split()[-2:] == ["other", "shop"]


@given(st.text(max_size=200))
def test_no_address_raises(address: str) -> None:
    normal(address)


def test_a_push_names_the_sources_that_are_taken_in(place: Place) -> None:
    with open_library(str(place.root), place.environ) as library:
        library.register(Source(kind=GIT, place="git@git.example:team/shop.git", name="shop", branch="main"))
        library.register(Source(kind=GIT, place="https://git.example/team/other", name="other"))
    served = start_server(place, DEIA_HOOK_SECRET=SECRET).but(token="")
    try:
        body = json.dumps(PUSH).encode()
        status, told, _ = served.ask("/hooks/git", body=body, headers=signed(body))
        assert (status, json.loads(told)) == (202, {"sources": ["shop"]})
        form = b"payload=%7B%22ref%22%3A%22refs%2Fheads%2Fold%22%7D"
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert json.loads(served.ask("/hooks/git", body=form, headers={**signed(form), **kind})[1]) == {"sources": []}
        assert served.ask("/hooks/git", body=body)[0] == 401
        assert served.ask("/hooks/git")[0] == 405
        assert served.ask("/search?q=x")[0] == 401
    finally:
        assert end_server(served) == 0
