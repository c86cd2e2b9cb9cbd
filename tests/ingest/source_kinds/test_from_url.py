"""A document at an address: fetched, asked for again only if it changed, and kept if the server is gone."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from deia.ingest.checked_source import checked
from deia.ingest.ingesting import Outcome, ingest
from deia.ingest.library_store import Library
from deia.ingest.source import UrlSource, described

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Page(BaseHTTPRequestHandler):
    charset = "utf-8"
    body, asked = b"# Guide\n\nTurn left.\n", [0, 0]  # how often the page was sent, and how often it was unchanged

    def do_GET(self) -> None:
        stamp = f'"{hash(self.body)}"'
        unchanged = self.headers["If-None-Match"] == stamp
        self.asked[unchanged] += 1
        self.send_response(304 if unchanged else 200)
        self.send_header("ETag", stamp)
        self.send_header("Content-Type", f"text/markdown; charset={self.charset}")
        self.send_header("Last-Modified", "Tue, 07 May 2024 12:00:00 GMT")
        self.send_header("Content-Length", "0" if unchanged else str(len(self.body)))
        self.end_headers()
        self.wfile.write(b"" if unchanged else self.body)

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    Page.body, Page.asked = b"# Guide\n\nTurn left.\n", [0, 0]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(str(tmp_path / "library")) as opened:
        yield opened


def take_in(library: Library, server: ThreadingHTTPServer, *, force: bool = False, private: bool = True) -> Outcome:
    url = f"http://127.0.0.1:{server.server_address[1]}/docs/Guide?v=2"
    registered = library.register(checked(described(UrlSource(url=url, name="guide", private=private))))
    return ingest(library, next(one for one in library.sources() if one == registered), force=force)


def test_a_document_is_fetched_with_its_title_and_day(library: Library, server: ThreadingHTTPServer) -> None:
    assert take_in(library, server).documents == 1
    (document,) = library.documents()
    assert (document.id, document.title, document.updated) == (
        "library:guide/127.0.0.1/docs/guide-v-2.md", "Guide", "2024-05-07",
    )  # fmt: skip


def test_an_unchanged_document_is_not_sent_again(library: Library, server: ThreadingHTTPServer) -> None:
    take_in(library, server)
    registered = library.sources()[0]
    outcome = ingest(library, registered)
    assert (Page.asked, outcome.read, outcome.documents) == ([1, 1], 0, 1)
    assert ingest(library, library.sources()[0], force=True).documents == 1
    Page.body = b"# Guide\n\nTurn right.\n"
    assert ingest(library, library.sources()[0]).read == 1
    assert "Turn right." in library.kept(library.documents()[0].content).text


def test_a_server_that_is_gone_takes_nothing_away(library: Library, server: ThreadingHTTPServer) -> None:
    take_in(library, server)
    server.shutdown()
    server.server_close()
    outcome = ingest(library, library.sources()[0])
    assert "cannot be fetched" in outcome.error
    assert outcome.documents == 1


def test_an_address_of_this_machine_is_not_fetched_by_itself(library: Library, server: ThreadingHTTPServer) -> None:
    assert "--private" in take_in(library, server, private=False).error
    assert Page.asked == [0, 0]


@pytest.mark.parametrize(("charset", "words"), [("gb2312", "图书馆"), ("KOI8-R", "Библиотека"), ("hex", "plain")])
def test_a_page_is_read_in_the_encoding_that_its_server_names(
    server: ThreadingHTTPServer, library: Library, monkeypatch: pytest.MonkeyPatch, charset: str, words: str
) -> None:
    monkeypatch.setattr(Page, "charset", charset)
    Page.body = words.encode("utf-8" if charset == "hex" else charset)
    assert take_in(library, server).documents == 1
    assert library.kept(library.documents()[0].content).text == words
    assert ingest(library, library.sources()[0]).read == 0
