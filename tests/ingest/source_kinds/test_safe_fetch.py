"""What may be fetched, and from where; with a real server on this machine."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.source import MOST_BYTES, SourceError
from deia.ingest.source_kinds.safe_fetch import check_host, fetch, is_public

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


class Proxy(BaseHTTPRequestHandler):
    """A proxy that passes everything to one server, whatever name is asked for, and remembers what was asked."""

    asked: ClassVar[list[tuple[str, str, str]]] = []
    to = 0

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, self.headers["Proxy-Authorization"] or ""))
        request = Request(f"http://127.0.0.1:{self.to}/{self.path.split('/', 3)[3]}", headers=dict(self.headers))
        with build_opener(ProxyHandler({})).open(request) as answer:
            body = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.asked.append((self.command, self.path, self.headers["Proxy-Authorization"] or ""))
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(("127.0.0.1", self.to)) as server:
            threading.Thread(target=pour, args=(server, self.connection), daemon=True).start()
            pour(self.connection, server)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


def pour(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Proxy.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://ann:s%40fe@127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("http_proxy", address)
    monkeypatch.setenv("https_proxy", address)
    yield address
    server.shutdown()
    server.server_close()


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


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://exa mple.org/", "spaces or control characters"),
        ("https://example.org:99999/", "no port"),
        ("http:///page", "no host"),
        ("http://[::1", "no host"),
        ("docs", "https://"),
    ],
)
def test_an_address_that_is_none_is_told_what_is_wrong_with_it(url: str, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        get(url)
    assert problem in str(caught.value)


def test_a_redirect_is_followed_and_checked_like_an_address(site: str) -> None:
    assert get(f"{site}/to?/page") == b"<p>Hello</p>"
    with pytest.raises(SourceError, match="cannot be fetched"):
        get(f"{site}/to?file:///etc/passwd")
    with pytest.raises(SourceError, match="without end"):
        get(f"{site}/round")


SECRET = f"Basic {b64encode(b'ann:s@fe').decode()}"


@pytest.mark.usefixtures("proxy")
def test_a_page_comes_through_the_proxy_of_the_person_who_names_a_host_that_only_that_one_knows(site: str) -> None:
    Proxy.to = int(site.rpartition(":")[2])
    assert get("http://pages.invalid/page") == b"<p>Hello</p>"
    assert Proxy.asked == [("GET", "http://pages.invalid/page", SECRET)]


def test_an_encrypted_page_comes_through_a_tunnel_and_its_server_proves_its_name(
    proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Proxy.to = server.server_address[1]
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    assert get("https://pages.invalid/page", private=False) == b"<p>Hello</p>"
    assert Proxy.asked == [("CONNECT", "pages.invalid:443", SECRET)]
    with pytest.raises(SourceError, match="certificate"):
        get("https://other.invalid/page", private=False)
    server.shutdown()
    server.server_close()


def certificate(folder: Path) -> None:
    """Write a certificate for pages.invalid, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pages.invalid")])
    day, now = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - day).not_valid_after(now + day)
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("pages.invalid")]), critical=False)
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize(
    "url", ["https://10.0.0.1/x", "http://localhost/x", "http://[::1]/x", "https://169.254.169.254/x"]
)
def test_a_proxy_is_not_asked_for_what_is_known_to_be_inside(url: str) -> None:
    with pytest.raises(SourceError, match="this machine or its network"):
        get(url, private=False)
    assert Proxy.asked == []


def test_no_proxy_is_asked_for_what_no_proxy_names_nor_one_of_another_kind(
    site: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert get(f"{site}/page") == b"<p>Hello</p>"
    assert (Proxy.asked, proxy[:4]) == ([], "http")


@pytest.mark.parametrize(
    "proxy", ["socks5://ann:s4fe@127.0.0.1:1", "http://ann:s4fe@[x", "http://ann:s4fe@x:99999", "http://"]
)
def test_a_proxy_of_another_kind_is_refused_without_its_password(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(SourceError, match="begins with http://") as refused:
        get("https://pages.invalid/page")
    assert "s4fe" not in str(refused.value)


def test_a_page_whose_connection_ends_early_is_no_page() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 890\r\n\r\n# Manual\n\nfirst part")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(SourceError, match="ended after 20 of 890 bytes"):
            get(f"http://127.0.0.1:{server.getsockname()[1]}/manual.md")


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


KEYS = ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200", "[::ffff:169.254.169.254]", "2852039166",
        "[64:ff9b::a9fe:a9fe]"]  # fmt: skip


@pytest.mark.parametrize("host", KEYS)
def test_where_clouds_tell_keys_is_refused_although_private_addresses_are_allowed(site: str, host: str) -> None:
    with pytest.raises(SourceError, match="tells a machine its keys"):
        get(f"{site}/to?http://{host}/latest/meta-data/")
    with pytest.raises(SourceError):
        check_host(f"http://{host}/", private=False)


def test_where_clouds_tell_keys_may_be_named_by_that_very_address() -> None:
    assert check_host("http://169.254.169.254/", private=True) == ["169.254.169.254"]
    assert check_host("http://[fe80::1]/", private=True)
    with pytest.raises(SourceError, match=r"name that address itself: http://169\.254\.169\.254/"):
        check_host("http://2852039166/", private=True)
    with pytest.raises(SourceError):
        check_host("http://169.254.169.254/", private=True, named="10.1.2.3")
    assert check_host("http://10.1.2.3/", private=True) == ["10.1.2.3"]


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
