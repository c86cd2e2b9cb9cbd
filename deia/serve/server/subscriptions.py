"""Who wants to hear when something at an address changed, and telling them when the commons was compiled anew.

Only what reads differently than before is told. A client that is gone is forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from deia.errors import DeiaError
from deia.serve.server.desk_thread import Clerk
from deia.serve.server.resources import SCHEME, read_resource

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    Context = ServerRequestContext[Any, Any]

MOST = 2_000  # addresses that are followed; a client that asks for more is refused
GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError, RuntimeError)
INDEX = f"{SCHEME}index"


class Subscribers:
    """Addresses that somebody follows, as they read last, and the sessions that follow them."""

    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk
        self._read: dict[str, str] = {}
        self._sessions: dict[str, list[ServerSession]] = {}
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._is_over = False

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Follow an address for a client of the handshake protocol.

        Raises:
            MCPError: too many are followed already.
        """
        address = str(params.uri)
        await self._follow(address)
        followers = self._sessions.setdefault(address, [])
        if all(_connection(one) is not _connection(ctx.session) for one in followers):
            followers.append(ctx.session)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Follow an address no longer."""
        followers = self._sessions.get(str(params.uri), [])
        followers[:] = [one for one in followers if _connection(one) is not _connection(ctx.session)]
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve the stream of a client of the stateless protocol, for as long as it listens."""
        for address in params.notifications.resource_subscriptions or ():
            await self._follow(str(address))
        if self._is_over:  # the stream is opened and ended properly, so that its client knows
            asyncio.get_running_loop().call_soon(self._listen.close)
        return await self._listen(ctx, params)

    async def tell(self) -> None:
        """Tell everybody whose addresses read differently now."""
        for address, before in list(self._read.items()):
            now = await self._digest(address)
            if now == before:
                continue
            self._read[address] = now
            await self._bus.publish(ResourceUpdated(uri=address))
            for session in list(self._sessions.get(address, ())):
                try:
                    await session.send_resource_updated(address)
                except GONE:
                    self._sessions[address].remove(session)

    def close(self) -> None:
        """End the streams of those who listen, and of those who come yet."""
        self._is_over = True
        self._listen.close()

    async def _follow(self, address: str) -> None:
        if address in self._read:
            return
        if len(self._read) >= MOST:
            raise MCPError(code=types.INVALID_PARAMS, message=f"At most {MOST} addresses can be followed.")
        self._read[address] = await self._digest(address)

    async def _digest(self, address: str) -> str:
        desk = self._clerk.desk
        try:
            found = await self._clerk.do(lambda: desk.steady(lambda: read_resource(desk, address, log=False)))
        except DeiaError:
            return ""
        return hashlib.sha256(found.text.encode("utf-8", "replace")).hexdigest()


def _connection(session: ServerSession) -> object:
    """Give what two requests of one client have in common; the SDK makes a session for each request."""
    return getattr(session, "_connection", session)
