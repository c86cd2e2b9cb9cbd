"""Clients that follow addresses, and telling them when a compile changed what is there.

Only an address whose content differs from before is reported. A client that is gone is forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from deia.errors import DeiaError
from deia.serve.server.desk_thread import DeskThread
from deia.serve.server.resources import read_resource

Context: TypeAlias = ServerRequestContext[Any, Any]  # the SDK's parameters: a lifespan and a request, both unused

MOST = 2_000  # addresses that can be followed in total
GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError, RuntimeError)


class Subscribers:
    """The addresses that clients follow, a digest of their last content, and the sessions that follow them."""

    def __init__(self, desk_thread: DeskThread) -> None:
        self._desk_thread = desk_thread
        self._digests: dict[str, str] = {}
        self._sessions: dict[str, list[ServerSession]] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._is_closed = False

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Follow an address for a client of the handshake protocol."""
        address = str(params.uri)
        await self._follow(address)
        followers = self._sessions.setdefault(address, [])
        if all(_connection(session) is not _connection(ctx.session) for session in followers):
            followers.append(ctx.session)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Stop following an address."""
        followers = self._sessions.get(str(params.uri), [])
        followers[:] = [session for session in followers if _connection(session) is not _connection(ctx.session)]
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve the stream of a client of the stateless protocol, as long as it listens."""
        for address in params.notifications.resource_subscriptions or ():
            await self._follow(str(address))
        if self._is_closed:  # the stream is opened and then closed properly, so that its client notices
            asyncio.get_running_loop().call_soon(self._listen.close)
        return await self._listen(ctx, params)

    async def notify(self) -> None:
        """Notify all clients that follow an address whose content changed."""
        for address, before in list(self._digests.items()):
            digest = await self._digest(address)
            if digest == before:
                continue
            self._digests[address] = digest
            await self._bus.publish(ResourceUpdated(uri=address))
            for session in list(self._sessions.get(address, ())):
                try:
                    await session.send_resource_updated(address)
                except GONE:
                    self._sessions[address].remove(session)

    def close(self) -> None:
        """Close the streams of all clients, and of those that open one later."""
        self._is_closed = True
        self._listen.close()

    async def _follow(self, address: str) -> None:
        if address in self._digests:
            return
        if len(self._digests) >= MOST:
            raise MCPError(code=types.INVALID_PARAMS, message=f"At most {MOST} addresses can be followed.")
        self._digests[address] = await self._digest(address)

    async def _digest(self, address: str) -> str:
        desk = self._desk_thread.desk
        try:
            content = await self._desk_thread.run(
                lambda: desk.retry(lambda: read_resource(desk, address, log=False))
            )  # fmt: skip
        except DeiaError:
            return ""
        return hashlib.sha256(content.text.encode("utf-8", "replace")).hexdigest()


def _connection(session: ServerSession) -> object:
    """Return what the requests of one client have in common; the SDK creates a session for each request."""
    return getattr(session, "_connection", session)
