"""Documents at addresses, fetched so that nothing on this machine or its network is reached by accident.

A host is resolved once, all of its addresses must be public, and the connection goes to one of these, so that the name
cannot mean another address in between. Each redirect is checked in the same way. If the person's environment names a
proxy, the connection goes there, and the proxy resolves the name again; here the host is checked as far as it is known.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from deia.ingest.source import MOST_BYTES, SourceError, UnknownHostError
from deia.records import Record

PORTS = {"http": 80, "https": 443, "ssh": 22}
MOST_REDIRECTS = 5
SECONDS, IN_ALL = 20.0, 120.0  # for one answer of the network, and for a document
REDIRECTS = (301, 302, 303, 307, 308)
PUBLIC_6 = ipaddress.ip_network("2000::/3")
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # an IPv4 address in the last 32 bits
# Where clouds tell a machine its own keys, beside all link-local addresses.
METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192")))
ALLOW = "If it is yours, say so: --private"


class Fetched(Record):
    """The answer of a server; its content is None if the document is unchanged."""

    content: bytes | None
    url: str
    stamp: str = ""  # the ETag, which is sent to ask whether the document has changed
    modified: str = ""
    type: str = ""
    charset: str = ""  # the encoding that the server names


def check_host(url: str, *, private: bool, named: str = "") -> list[str]:
    """Return the addresses of the host in a URL; raise SourceError if it has none, or one that is not public.

    With `private`, others than public ones are fine, except those at which a cloud tells a machine its keys: only if
    that very address was `named`, by default in this URL. If only a proxy can resolve the host, return no addresses.
    """
    parts = _parts(url)
    host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        if proxy_for(parts):
            return []
        raise UnknownHostError(f"there is no host {host}: {error}", where=url, fix="Check the address.") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    inner = [address for address in addresses if not is_public(address)]
    if inner and not private:
        raise SourceError(f"{host} is an address of this machine or its network ({inner[0]})", where=url, fix=ALLOW)
    secret = next(
        (address for address in inner if tells_keys(address) and address.partition("%")[0] != (named or host)), ""
    )
    if secret:
        fix = (
            f"If you mean it, name that address itself: {parts.scheme}://{f'[{secret}]' if ':' in secret else secret}/"
        )
        raise SourceError(
            f"{host} is an address at which a cloud tells a machine its keys ({secret})", where=url, fix=fix
        )
    return addresses


def is_public(address: str) -> bool:
    """Return whether an address is public; one that contains an IPv4 address is judged by that."""
    number = _number(address)
    if number.version == 6 and number not in PUBLIC_6:
        return False
    return number.is_global and not number.is_multicast


def tells_keys(address: str) -> bool:
    """Return whether a cloud may tell a machine its keys at an address, as at 169.254.169.254."""
    number = _number(address)
    number = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF) if number in TRANSLATED else number
    return number.is_link_local or number in METADATA


def _number(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address, or the IPv4 address that it contains."""
    number = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(number, ipaddress.IPv4Address):
        return number
    return number.ipv4_mapped or number.sixtofour or (number.teredo[1] if number.teredo else number)


def _parts(url: str) -> SplitResult:
    """Return the parts of a URL; raise SourceError if it cannot be fetched."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("https:")
    if not url.isprintable() or " " in url:
        fix = "It has spaces or control characters: remove them, or write a space as %20"
    elif parts.scheme not in PORTS:
        fix = "Use an address that begins with https://"
    elif not parts.hostname:
        fix = "It names no host: write it as https://example.org/page"
    elif not _has_port(parts):
        fix = "It has no port from 1 to 65535: write it as https://example.org:8443/page"
    else:
        return parts
    raise SourceError(f"{url[:200]!r} cannot be fetched", fix=fix)


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def proxy_for(parts: SplitResult) -> SplitResult | None:
    """Return the proxy for an address, if the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) or the system has one."""
    proxy_url = getproxies().get(parts.scheme, "")
    if not proxy_url or proxy_bypass(f"{parts.hostname}:{parts.port or PORTS[parts.scheme]}"):
        return None
    try:
        proxy = urlsplit(proxy_url if "://" in proxy_url else f"http://{proxy_url}")
        is_fine = proxy.scheme == "http" and bool(proxy.hostname) and proxy.port != 0
    except ValueError:
        is_fine = False
    if not is_fine:  # the message does not quote the proxy, which may contain a password
        raise SourceError("your proxy is none that begins with http://", fix="Change HTTPS_PROXY, or set NO_PROXY.")
    return proxy


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was checked, whatever the name resolves to by now, or to a proxy."""

    def __init__(self, parts: SplitResult, addresses: Sequence[str]) -> None:
        proxy = proxy_for(parts)
        peer, self._name = proxy or parts, str(parts.hostname)
        super().__init__(str(peer.hostname), peer.port or PORTS[peer.scheme], timeout=SECONDS)
        self._address = "" if proxy else addresses[0]
        self._secure = parts.scheme == "https"
        self.asks_for_url = proxy is not None and not self._secure
        self.own_headers = _credentials(proxy) if proxy else {}
        if proxy and self._secure:
            self.set_tunnel(self._name, parts.port or PORTS["https"], self.own_headers)
            self.own_headers = {}

    def connect(self) -> None:
        """Connect to the address, or through the proxy; for https, verify that the certificate is for the name."""
        if self._address:
            self.sock = socket.create_connection((self._address, self.port), timeout=SECONDS)
        else:
            super().connect()
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self._name)


def _credentials(proxy: SplitResult) -> dict[str, str]:
    secret = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(secret.encode()).decode()}"} if proxy.username else {}


def fetch(url: str, *, stamp: str, modified: str, private: bool) -> Fetched:
    """Return the document at an address, or that it is unchanged; raise SourceError if it cannot be fetched."""
    named = str(_parts(url).hostname)
    conditions = {"If-None-Match": stamp} if stamp else {"If-Modified-Since": modified} if modified else {}
    until = time.monotonic() + IN_ALL
    for _ in range(MOST_REDIRECTS + 1):
        try:
            answer = _once(url, conditions, private=private, named=named, until=until)
        except (OSError, http.client.HTTPException, ValueError) as error:
            message = f"{url} cannot be fetched: {error or type(error).__name__}"
            raise SourceError(message, fix="Check the address, or try again later.") from error
        if isinstance(answer, Fetched):
            return answer
        if url.startswith("https:") and not answer.startswith("https:"):
            raise SourceError(f"{url} leads to an address without encryption", fix="Name that address itself.")
        url = answer
    raise SourceError(f"{url} leads from one address to the next without end", fix="Check the address.")


def _once(url: str, conditions: Mapping[str, str], *, private: bool, named: str, until: float) -> Fetched | str:
    """Return the result of one request: a document, or the address that it redirects to."""
    parts = _parts(url)
    if parts.scheme == "ssh":
        raise SourceError(f"{url[:200]!r} is no document", fix="Use an address that begins with https://")
    connection = _Connection(parts, check_host(url, private=private, named=named))
    try:
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        target = f"http://{parts.netloc}{target}" if connection.asks_for_url else target
        headers = {
            "User-Agent": "deia",
            "Accept-Encoding": "identity",
            "Accept": "*/*",
            **conditions,
            **connection.own_headers,
        }
        connection.request("GET", target.encode("ascii", "strict").decode(), headers=headers)
        response = connection.getresponse()
        if response.status in REDIRECTS and response.headers["Location"]:
            return str(urljoin(url, response.headers["Location"]))
        if response.status not in (200, 304):
            raise SourceError(f"{url} answers {response.status} {response.reason}", fix="Check the address.")
        return Fetched(
            content=None if response.status == 304 else _content(response, url, until), url=url,
            stamp=response.headers["ETag"] or "", modified=response.headers["Last-Modified"] or "",
            type=response.headers.get_content_type(), charset=response.headers.get_content_charset("")
        )  # fmt: skip
    finally:
        connection.close()


def _content(response: http.client.HTTPResponse, url: str, until: float) -> bytes:
    pieces, size, announced = [], 0, response.length
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES or time.monotonic() > until:
            problem = f"is larger than {MOST_BYTES // 1_000_000} MB" if size > MOST_BYTES else "takes too long"
            raise SourceError(f"{url} {problem}", fix="Download it, and name the file.")
    if announced is not None and size < announced:  # read1 does not say so, and half a page would replace the whole one
        raise SourceError(f"{url} ended after {size} of {announced} bytes", fix="Try again: deia source update NAME")
    return b"".join(pieces)
