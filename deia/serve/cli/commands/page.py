"""`deia page`: the page in a browser on which a person sees why deia spoke, and mends it."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import threading
import urllib.request
import webbrowser
from collections.abc import Callable
from functools import partial

import click

from deia.audit.state import running_servers
from deia.errors import HostError
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.page.sign_in import make_once, redirect_file
from deia.settings import resolve, secret

PATIENCE = 2.0  # seconds that a running server may take to say what it is
FREE = 0  # the port that stands for any


@click.command(short_help="Open the page: see why deia spoke, and mend it.")
@click.option("--port", type=click.IntRange(0, 65_535), help="0 takes a free port. [default: the setting, 8765]")
@click.option("--no-open", is_flag=True, help="Print the address instead of opening a browser.")
@click.option("--plain", is_flag=True, help="Open the page to read without JavaScript.")
def page(*, port: int | None, no_open: bool, plain: bool) -> None:
    """Open a page in the browser: try a sentence or a command, search, follow the log, turn a false alarm into a case.

    If a server of this commons runs already (`deia serve`), it is used; otherwise one is started, until you press
    Ctrl-C. Only this machine can reach it, and the address signs in one browser, once, within two minutes. Only a
    person at a terminal can run this.
    """
    shared.require_person("deia page")
    root = shared.commons_root()
    open_page = partial(_open, no_open=no_open, path="/page/plain?once=" if plain else "/page#once=")
    address = _running(root)
    if address:
        open_page(address)
        return
    _serve(root, port, open_page)


def _running(root: str) -> str:
    """Return the address of a server of this commons that has the page, or ""."""
    addresses = (address.removesuffix("/mcp") for served, address in running_servers(os.environ) if served == root)
    return next(filter(_has_page, addresses), "")


def _has_page(address: str) -> bool:
    if not address.startswith(("http://127.", "http://[::1]", "http://localhost")):
        return False
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=PATIENCE) as answer:  # noqa: S310 - http, as checked
            health = json.loads(answer.read(2_000))
    except (OSError, ValueError):
        return False
    return isinstance(health, dict) and health.get("page") is True


def _open(address: str, *, no_open: bool, path: str) -> None:
    """Open the page with a token that works once, or print its address where no browser can be opened.

    Raises:
        CommonsError: no person is at a terminal.
    """
    shared.require_person("deia page")
    state = state_folder(os.environ)
    once = f"{address}{path}{make_once(state)}"
    file = "" if no_open else redirect_file(state, once)
    if not file or not webbrowser.open_new_tab(pathlib.Path(file).as_uri()):
        output.say(f"Open this address within two minutes; it works once:\n{once}")
        sys.stdout.flush()
    else:
        output.say(f"The page is open in your browser, at {address}/page")


def _serve(root: str, port: int | None, open_page: Callable[[str], None]) -> None:
    from deia.serve.page.browser_page import BrowserPage  # noqa: PLC0415 - only to serve
    from deia.serve.server.desk import Desk  # noqa: PLC0415 - likewise
    from deia.serve.server.http import Listening, serve_http  # noqa: PLC0415 - the SDK, only to serve
    from deia.serve.server.tool_schemas import offered  # noqa: PLC0415 - likewise

    Librarian(root, agent="page", ledger=False).open_artefact()  # compiled, so that the first keystroke is answered
    commons, (token, _) = shared.named_commons(), secret("token", environ=os.environ)

    def open_aside(address: str) -> None:
        # Some browsers return only when they are closed, and until then nothing would answer them.
        threading.Thread(target=open_page, args=(address,), daemon=True).start()
        output.complain("To end the server, press Ctrl-C.")

    def serve(number: int) -> None:
        serve_http(
            Desk(commons or None), offered(read_only=True), Listening(port=number, token=token),
            report=lambda _line: None, commons=commons, on_listening=open_aside,
            make_page=lambda assembled: BrowserPage(assembled, commons=commons),
        )  # fmt: skip

    chosen = resolve(root, environ=os.environ).port if port is None else port
    try:
        serve(chosen)
    except HostError:
        if port is not None:
            raise
        serve(FREE)  # another program has the port of the settings
