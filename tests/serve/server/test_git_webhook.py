"""Webhooks: only whoever knows the secret is heard, and only registered sources are taken in."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile.take_in import open_library
from deia.ingest.source import GIT, Source
from deia.serve.server.git_webhook import GitWebhook, addresses_of, normal, payload_of
from tests.serve.server.conftest import end_server, start_server

if TYPE_CHECKING:
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
