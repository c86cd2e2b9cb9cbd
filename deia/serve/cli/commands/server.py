"""`deia serve`: the server, over HTTP for several clients or, as `deia mcp`, on standard input for one."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from click.core import ParameterSource

from deia import files
from deia.audit.preflight import FAIL
from deia.compile.indexing import said_at_start
from deia.errors import DeiaError
from deia.folders import collections_of
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_root, named_commons
from deia.serve.server.tool_schemas import COMPAT, Tool, offered
from deia.serve.setup.host_settings.hosts_table import SERVERS
from deia.serve.setup.host_settings.server_file import block_for
from deia.settings import Settings, ignored_secrets, resolve, secret

if TYPE_CHECKING:
    from deia.serve.page.browser_page import BrowserPage
    from deia.serve.server.assemble import Assembled

OF_HTTP = {"host": "host", "port": "port", "name": "names", "rate": "rate"}  # options, each with its parameter

read_only_option = click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
tools_option = click.option("--tools", "chosen", metavar="A,B", default="", help="Offer only these tools.")
compat_option = click.option(
    "--compat", type=click.Choice([COMPAT]), help="Also offer the tools under the names of this family."
)
hooks_option = click.option("--hooks", is_flag=True, help="Also offer the tool that Claude Code's hooks call.")
collections_option = click.option(
    "--collection", "collections", multiple=True, metavar="NAME",
    help="Offer only this cluster or folder, such as bok/hosting/, and only for reading; may be repeated.",
)  # fmt: skip


class Offer(TypedDict):
    """The options that say which tools a server offers."""

    read_only: bool
    chosen: str
    compat: str | None
    hooks: bool


def _settings(collections: Sequence[str]) -> Settings:
    flags = {"collections": ",".join(collections)} if collections else {}
    return resolve(commons_root(), environ=os.environ, flags=flags)


def _tools(collections: Sequence[str], offer: Offer) -> tuple[Tool, ...]:
    if offer["hooks"] and collections:
        raise click.UsageError("A server that offers only collections does not answer hooks; omit --hooks.")
    names = [name.strip() for name in offer["chosen"].split(",") if name.strip()]
    read_only = offer["read_only"] or bool(collections)
    return offered(read_only=read_only, chosen=names, compat=offer["compat"] or "", hooks=offer["hooks"])


@click.group("mcp", invoke_without_command=True, short_help="Run the MCP server for one agent, on standard input.")
@read_only_option
@tools_option
@compat_option
@collections_option
@hooks_option
@click.pass_context
def mcp(ctx: click.Context, /, *, collections: tuple[str, ...], **offer: Unpack[Offer]) -> None:
    """Run the MCP server for one agent, on standard input and output, as `deia serve --stdio` does.

    Hosts start this command, not people. To see the settings that add it to a host, type: deia serve config HOST
    """
    if not ctx.invoked_subcommand:
        _serve_stdio(collections, **offer)


def _serve_stdio(collections: tuple[str, ...], **offer: Unpack[Offer]) -> None:
    from deia.serve.server.desk import Desk  # noqa: PLC0415 - printing the settings of a host does not need it
    from deia.serve.server.stdio import serve_stdio  # noqa: PLC0415 - asyncio, only to serve

    commons, settings = named_commons(), _settings(collections)
    for note in said_at_start(commons_root(), os.environ, settings):
        output.complain(f"deia: {note}")
    only = collections_of(settings.collections)
    make_desk = partial(Desk, commons or None, collections=only)
    serve_stdio(make_desk, _tools(only, offer), commons=commons, hooks=offer["hooks"])


@click.command("config", short_help="Print the settings that add the server to a host.")
@click.argument("host", type=click.Choice(list(SERVERS)))
@click.option("--url", metavar="URL", default="", help="The address of a running `deia serve` to use.")
@read_only_option
def config(*, host: str, url: str, read_only: bool) -> None:
    """Print the settings that add the server to HOST, and the file that they belong in."""
    commons = named_commons()
    arguments = [*(["--read-only"] if read_only else []), *(["--commons", commons] if commons else [])]
    token = bool(url and secret("token", environ=os.environ)[0])
    block = block_for(host, url=url, arguments=arguments, token=token)
    output.complain(f"Add this to {block.place}. {block.note}".rstrip())
    output.say(block.text)


mcp.add_command(config)


@click.group(invoke_without_command=True, short_help="Run the server, over HTTP or for one agent.")
@click.option("--stdio", is_flag=True, help="Speak MCP on standard input and output, for one agent, and not HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="0 takes a free port. [default: the setting, 8765]")
@click.option(
    "--name", "names", multiple=True, metavar="NAME", help="Another host name of this server; may be repeated."
)
@click.option(
    "--rate", type=click.IntRange(0), default=500, show_default=True, help="Requests per second; 0: unlimited."
)
@read_only_option
@tools_option
@compat_option
@collections_option
@hooks_option
@click.pass_context
def serve(
    ctx: click.Context, /, *, stdio: bool, collections: tuple[str, ...], host: str, port: int | None,
    names: tuple[str, ...], rate: int, **offer: Unpack[Offer],
) -> None:  # fmt: skip
    """Run the server over HTTP: MCP at /mcp, hook events at /hooks/HOST, searches at /search, state at /health, /ready.

    By default only this machine can reach it. To listen on another address, set a token of 16 characters or more
    in DEIA_TOKEN; clients must send it as `Authorization: Bearer …`. If a token is set, it is always required. Without
    one, only the tools that read are offered, because every user of this machine can reach the server.
    """
    if ctx.invoked_subcommand:
        return
    if not stdio and (port is not None or _settings(collections).transport == "http"):
        _serve_http(collections, host=host, port=port, names=names, rate=rate, **offer)
        return
    typed = [f"--{name}" for name in OF_HTTP if ctx.get_parameter_source(OF_HTTP[name]) is ParameterSource.COMMANDLINE]
    if typed:
        raise click.UsageError(f"With --stdio, there is no {typed[0]}.")
    _serve_stdio(collections, **offer)


def _serve_http(
    collections: tuple[str, ...], *, host: str, port: int | None, names: tuple[str, ...], rate: int,
    **offer: Unpack[Offer],
) -> None:  # fmt: skip
    from deia.serve.server.desk import Desk  # noqa: PLC0415 - printing the settings of a host does not need it
    from deia.serve.server.http import MAKE_TOKEN, Listening, serve_http  # noqa: PLC0415 - the SDK, only to serve
    from deia.serve.server.users import directory_of  # noqa: PLC0415 - likewise

    settings = _settings(collections)
    only = collections_of(settings.collections)
    token, _ = secret("token", environ=os.environ)
    listening = Listening(
        host=host, port=settings.port if port is None else port, token=token, names=names, rate=rate,
        for_users=_tools(only, {**offer, "hooks": False}),
    )  # fmt: skip
    read_only = offer["read_only"]
    tools = _tools(only, {**offer, "read_only": read_only or not listening.may_write})
    commons = named_commons()
    desk = Desk(commons or None, collections=only)
    if only:
        desk.librarian.compile()  # so that a collection that does not exist is an error here, where it was typed
    notes = said_at_start(commons_root(), os.environ, settings)
    notes += [f"{place} is not used: only you set the server's token." for place in ignored_secrets(commons_root())]
    if not (read_only or only or listening.may_write or directory_of(desk.root).is_used):
        notes.append(f"Clients can only read, because there is no token. To let them write, first type: {MAKE_TOKEN}")
    # Which the first clients need not await.
    threading.Thread(target=_check_before, args=(commons_root(),), daemon=True).start()
    serve_http(
        desk, tools, listening, report=lambda line: output.complain("\n".join((line, *notes))), commons=commons,
        make_page=lambda assembled: _page(assembled, commons),
    )  # fmt: skip


def _page(assembled: Assembled, commons: str) -> BrowserPage:
    from deia.serve.page.browser_page import BrowserPage  # noqa: PLC0415 - most servers show no page

    return BrowserPage(assembled, commons=commons)


def _check_before(root: str) -> None:
    """Say what a pre-flight finds wrong with the commons that is served."""
    try:
        librarian = Librarian(root, agent="serve", keep_fresh=False)
        if not files.exists(f"{librarian.derived}/catalog"):  # the server compiles it first
            return
        checked = librarian.preflight()
    except DeiaError as error:
        output.complain_of(error)
        return
    for check in checked.checks:
        if check.status == FAIL:
            output.complain("\n  ".join(filter(None, (f"pre-flight: {check.name}: {check.details}", check.fix))))


serve.add_command(config)
