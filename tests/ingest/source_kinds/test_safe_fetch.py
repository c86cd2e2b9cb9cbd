"""What may be fetched, and from where; with a real server on this machine."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.source import MOST_BYTES, SourceError
from deia.ingest.source_kinds.safe_fetch import check_host, fetch, is_public

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.protocol_version = "HTTP/1.1"
        if self.path == "/page" and self.headers["If-None-Match"] == '"one"':
            self.answer(304, b"")
        elif self.path == "/page":
            self.answer(200, b"<p>Hello</p>", ETag='"one"', **{"Content-Type": "text/html"})
        elif self.path.startswith("/to?"):
            self.answer(302, b"", Location=self.path.partition("?")[2])
        elif self.path == "/round":
            self.answer(302, b"", Location="/round")
        elif self.path == "/huge":
            self.answer(200, b"x" * (MOST_BYTES + 1))
        else:
            self.answer(404, b"")

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def get(url: str, *, stamp: str = "", private: bool = True) -> bytes | None:
    return fetch(url, stamp=stamp, modified="", private=private).content


def test_a_page_is_fetched_once_and_then_only_asked_for(site: str) -> None:
    page = fetch(f"{site}/page", stamp="", modified="", private=True)
    assert (page.content, page.stamp, page.type) == (b"<p>Hello</p>", '"one"', "text/html")
    assert get(f"{site}/page", stamp=page.stamp) is None


def test_this_machine_is_not_asked_unless_that_is_said(site: str) -> None:
    with pytest.raises(SourceError, match="this machine or its network"):
        get(f"{site}/page", private=False)


def test_a_redirect_is_followed_and_checked_like_an_address(site: str) -> None:
    assert get(f"{site}/to?/page") == b"<p>Hello</p>"
    with pytest.raises(SourceError, match="cannot be fetched"):
        get(f"{site}/to?file:///etc/passwd")
    with pytest.raises(SourceError, match="without end"):
        get(f"{site}/round")


@pytest.mark.parametrize("path", ["/huge", "/nothing"])
def test_what_is_too_large_or_missing_is_told(site: str, path: str) -> None:
    with pytest.raises(SourceError, match=r"larger than|answers 404"):
        get(site + path)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "172.16.9.9", "169.254.169.254", "0", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "2130706433", "0x7f.1",
        "224.0.0.1", "100.64.0.1", "255.255.255.255",
    ],
)  # fmt: skip
def test_no_way_of_writing_an_inner_address_gets_through(host: str) -> None:
    with pytest.raises(SourceError):
        check_host(f"http://{host}/", private=False)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "http://",
        "http:///x",
        "http://a b/",
        "gopher://x",
        "http://[x/",
        "",
    ],
)
def test_nothing_but_web_addresses_is_fetched(url: str) -> None:
    with pytest.raises(SourceError):
        get(url)


@given(st.text())
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with pytest.raises(SourceError):
        get(f"x{text}" if text.startswith("http") else text, private=False)
