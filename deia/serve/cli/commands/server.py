"""`deia mcp` and `deia serve`: the librarian as a server, for one client on its wire or for several over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from deia.folders import collections_of, find_commons
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, given_commons, here
from deia.serve.server.desk import Desk
from deia.serve.server.host_blocks import HOSTS, block_for
from deia.serve.server.tool_schemas import COMPAT, offered
from deia.settings import Settings, resolve, secret

read_only_option = click.option("--read-only", is_flag=True, help="Offer only the tools that change nothing.")
tools_option = click.option("--tools", "chosen", metavar="A,B", default="", help="Offer only these tools.")
compat_option = click.option(
    "--compat", type=click.Choice([COMPAT]), help="Offer the tools under that family's names too."
)
hooks_option = click.option("--hooks", is_flag=True, help="Offer the tool too that Claude Code's hooks may call.")
collections_option = click.option(
    "--collection", "collections", multiple=True, metavar="NAME",
    help="Offer only this cluster, or this folder such as bok/hosting/, and change nothing; repeatable.",
)  # fmt: skip


def _desk(root: str, collections: Sequence[str]) -> Callable[[], Desk]:
    def make() -> Desk:
        """Open the commons."""
        from deia.serve.server.desk import Desk  # noqa: PLC0415 - not while only a host's block is printed

        return Desk(root or None, collections=collections)

    return make


def _settled(collections: Sequence[str]) -> tuple[str, Settings]:
    """Give the commons to serve, and the settings for it."""
    root = find_commons(here(), environ=os.environ, explicit=given_commons())
    flags = {"collections": ",".join(collections)} if collections else {}
    return root, resolve(root, environ=os.environ, flags=flags)


def _heard(only: Sequence[str], *, hooks: bool) -> bool:
    """Say whether events are heard, which a server of a part of the commons does not.

    Raises:
        click.UsageError: both were asked for.
    """
    if hooks and only:
        raise click.UsageError("A server that offers collections answers no hooks; leave --hooks out.")
    return hooks


def _names(chosen: str) -> list[str]:
    return [name.strip() for name in chosen.split(",") if name.strip()]


@click.group(invoke_without_command=True, short_help="Serve the commons to an agent over MCP, on standard input.")
@read_only_option
@tools_option
@compat_option
@collections_option
@hooks_option
@commons_option
@click.pass_context
def mcp(
    ctx: click.Context, *, read_only: bool, chosen: str, compat: str | None, collections: tuple[str, ...], hooks: bool
) -> int:
    """Serve the commons to an agent over MCP, on standard input and output. A host starts this, not a person.

    To enter it into a host's settings: deia mcp config HOST
    """
    if ctx.invoked_subcommand is not None:
        return output.FOUND
    from deia.serve.server.stdio import serve_stdio  # noqa: PLC0415 - asyncio, only to serve

    only = collections_of(_settled(collections)[1].collections)
    hooks = _heard(only, hooks=hooks)
    tools = offered(read_only=read_only or bool(only), chosen=_names(chosen), compat=compat or "", hooks=hooks)
    serve_stdio(_desk(given_commons(), only), tools, commons=given_commons(), hooks=hooks)
    return output.FOUND


@mcp.command("config", short_help="Print what enters the server into a host's settings.")
@click.argument("host", type=click.Choice(list(HOSTS)))
@click.option("--url", metavar="URL", default="", help="Of a running `deia serve`, instead of starting one.")
@read_only_option
@commons_option
def config(*, host: str, url: str, read_only: bool) -> int:
    """Print the block that enters the server into HOST's settings, and say into which file it goes."""
    arguments: list[Any] = [*(("--read-only",) if read_only else ())]
    commons = given_commons()
    arguments += ("--commons", commons) if commons else ()
    token = bool(url and secret("token", commons or here(), environ=os.environ)[0])
    block = block_for(host, url=url, arguments=arguments, token=token)
    output.complain(f"Goes into {block.place}. {block.note}".rstrip())
    output.say(block.text)
    return output.FOUND


@click.command(short_help="Serve the commons over HTTP, to agents and to hooks.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="0 takes a free one.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A name by which it may be called; repeatable.")
@click.option("--rate", type=click.IntRange(0), default=500, show_default=True, help="Requests a second; 0: any.")
@read_only_option
@tools_option
@compat_option
@collections_option
@hooks_option
@commons_option
def serve(  # noqa: PLR0913 - every option has a name of its own
    *, host: str, port: int, names: tuple[str, ...], rate: int, read_only: bool, chosen: str, compat: str | None,
    collections: tuple[str, ...], hooks: bool,
) -> int:  # fmt: skip
    """Serve the commons over HTTP: MCP at /mcp, hook events at /hooks/HOST, /health and /ready.

    It listens on this machine alone. On another address it wants a token in DEIA_TOKEN (or in `.env`), which clients
    show as `Authorization: Bearer …`; on this one, too, where it is set.
    """
    from deia.serve.server.http import Listening, serve_http  # noqa: PLC0415 - the SDK, only to serve

    root, settings = _settled(collections)
    only = collections_of(settings.collections)
    hooks = _heard(only, hooks=hooks)
    tools = offered(read_only=read_only or bool(only), chosen=_names(chosen), compat=compat or "", hooks=hooks)
    token, _ = secret("token", root, environ=os.environ)
    listening = Listening(host=host, port=port, token=token, names=names, rate=rate)
    commons = given_commons()
    desk = _desk(commons, only)()
    if only:
        desk.librarian.compile()  # so that a name that stands for nothing is told here, to who typed it
    serve_http(desk, tools, listening, report=output.complain, commons=commons)
    return output.FOUND
