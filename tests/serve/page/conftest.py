"""`deia page` as a process at a terminal, its answers over HTTP, and a headless browser that Node drives.

The packages that drive it are installed by `python3 do.py page`; the browser is the machine's Chromium. NODE_MODULES
names another folder of packages, CHROMIUM another browser.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from tests.serve.server.conftest import PATIENCE, Place, copied, desk, make_place, place, template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deia.serve.server.desk import Desk

__all__ = ["copied", "desk", "make_place", "place", "template"]  # fixtures of the server's tests, used here, too

HERE = Path(__file__).parent
MODULES = os.environ.get("NODE_MODULES") or str(HERE.parents[2] / ".venv" / "browser" / "node_modules")
NODE = shutil.which("node") or ""
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
MISSING = (
    "there is no node here" if not NODE
    else "there is no chromium here" if not CHROMIUM
    else f"nothing drives a browser in {MODULES}; to have it: python3 do.py page"
    if not os.path.isdir(f"{MODULES}/playwright-core") else ""
)  # fmt: skip
CASES = """\
site-delete:
  fires:
    - Please delete the site of the shop
    - turns: [{role: assistant, text: I will remove the site now}]
  silent:
    - Delete the log file
"""
FALSE_ALARM = "Please delete the shop site from the sandbox"


@pytest.fixture
def cased(place: Place) -> Place:
    """Give a commons whose trigger has cases."""
    (place.root / "triggers" / "sites.cases.yaml").write_text(CASES, encoding="utf-8", newline="\n")
    return place


@pytest.fixture
def cased_desk(cased: Place, desk: Desk) -> Desk:
    """Give what answers the views in this process, over a commons whose trigger has cases."""
    compile_commons(str(cased.root), environ=cased.environ)
    return desk


@dataclass(kw_only=True)
class Paged:
    """A page that is served."""

    place: Place
    process: subprocess.Popen[bytes]
    address: str  # with the token that works once
    terminal: int
    token: str = ""
    ended: bool = False

    @property
    def origin(self) -> str:
        """The scheme, host and port."""
        return self.address.partition("/page")[0]

    @property
    def once(self) -> str:
        """The token that works once."""
        return self.address.partition("#once=")[2]

    def plain(self) -> str:
        """Exchange the token that works once for an address to read without JavaScript; give the path of its views."""
        status, _, headers = self.request("GET", f"/page/plain?once={self.once}")
        assert status == 303
        return headers["location"].rpartition("/")[0]

    def post(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Send a request as the page does; give the status and the value."""
        known = {"authorization": f"Bearer {self.token}"} if self.token else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        status, data, _ = self.request("POST", f"/page/{path}", json.dumps(body or {}).encode(), {**known, **named})
        return status, json.loads(data)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Send any request."""
        connection = http.client.HTTPConnection(self.origin.partition("//")[2], timeout=PATIENCE)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        got = answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return got

    def sign_in(self) -> Paged:
        """Exchange the token that works once."""
        status, value = self.post("sign-in", {"once": self.once})
        assert status == 200, value
        self.token = value["token"]
        return self

    def ask(self, name: str, **body: Any) -> Any:
        """Ask a view and give what it answers, which is no error."""
        status, value = self.post(name, body)
        assert status == 200, value
        return value

    def end(self) -> None:
        """End the server as Ctrl-C does, if it runs; nothing that it said is a traceback."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        assert b"Traceback" not in said, said.decode()
        os.close(self.terminal)
        self.ended = True


def start_page(place: Place, *arguments: str, **environ: str) -> Paged:
    """Type `deia page` at a terminal of its own, and wait for the address."""
    import pty  # noqa: PLC0415 - not on Windows

    terminal, far = pty.openpty()
    process = subprocess.Popen(
        place.command("page", "--no-open", *(arguments or ("--port", "0"))), cwd=place.root, stdin=far,
        env={**place.environ, **environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(far)
    assert process.stdout is not None
    lines = [process.stdout.readline().decode(), process.stdout.readline().decode()]
    if "#once=" not in lines[1]:
        assert process.stderr is not None
        raise AssertionError("".join(lines) + process.stderr.read().decode())
    return Paged(place=place, process=process, address=lines[1].strip(), terminal=terminal)


@pytest.fixture
def paged(cased: Place) -> Iterator[Paged]:
    """Give a page that runs, not signed in."""
    if os.name == "nt":
        pytest.skip("there are no pseudo-terminals on Windows")
    running = start_page(cased)
    yield running
    if not running.ended:
        running.end()


class Browser:
    """A headless browser with tabs, driven by commands."""

    def __init__(self, origin: str) -> None:
        self._process = subprocess.Popen(
            [NODE, str(HERE / "browser" / "drive.mjs"), MODULES, CHROMIUM, origin], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )  # fmt: skip

    def do(self, op: str, **of: Any) -> Any:
        """Do one thing and give its value."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"op": op, **of}).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def open(self, address: str, *, tab: str = "main") -> None:
        """Open an address, and wait until the page is signed in."""
        self.do("goto", url=address, tab=tab)
        self.wait("nav a", tab=tab)

    def go(self, view: str, *, tab: str = "main") -> None:
        """Go to a view by its address."""
        self.do("eval", script=f"location.hash = {json.dumps(view)}", tab=tab)

    def wait(self, selector: str, *, tab: str = "main") -> None:
        """Wait until something is there."""
        self.do("wait", selector=selector, tab=tab)

    def click(self, selector: str, *, tab: str = "main") -> None:
        """Click something."""
        self.do("click", selector=selector, tab=tab)

    def fill(self, selector: str, text: str, *, tab: str = "main") -> None:
        """Type a text into a field."""
        self.do("fill", selector=selector, text=text, tab=tab)

    def text(self, selector: str = "main", *, tab: str = "main") -> str:
        """Give the text that is seen of something."""
        return str(self.do("text", selector=selector, tab=tab))

    def js(self, script: str, *, tab: str = "main") -> Any:
        """Give the value of a script."""
        return self.do("eval", script=script, tab=tab)

    def until(self, seen: Callable[[], object]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while not seen():
            assert time.monotonic() < end, self.text()
            time.sleep(0.05)

    def troubles(self) -> list[str]:
        """Give what went wrong since the last call: errors, dialogs, requests to elsewhere."""
        return [str(one) for one in self.do("troubles")]

    def close(self) -> None:
        """End the browser."""
        self._process.communicate(timeout=PATIENCE)


@pytest.fixture
def browser(paged: Paged) -> Iterator[Browser]:
    """Give a browser in which nothing is open."""
    if MISSING:
        pytest.skip(MISSING)
    driven = Browser(paged.origin)
    yield driven
    driven.close()
