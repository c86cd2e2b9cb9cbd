"""What a server keeps for each user: a desk of their own over what they may read, and an MCP server over that.

So no session, conversation, unfinished answer or subscription is shared between people, and what somebody may not
read is not in the files that their desk has open. A user who asks nothing for a while is closed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from mcp.server.transport_security import TransportSecuritySettings

from deia.folders import library_collections
from deia.records import Record
from deia.serve.server import limits
from deia.serve.server.account import Account, Books
from deia.serve.server.allowances import Meter
from deia.serve.server.assemble import Assembled
from deia.serve.server.desk import Desk
from deia.serve.server.tool_schemas import TOOLS, UPLOAD_TOOL, Tool
from deia.serve.server.users import ADMIN, WRITE, Team, User

MOST_OPEN = 64  # users whose files are open at once
IDLE = 600.0  # seconds without a request after which a user is closed


def mcp_app_of(assembled: Assembled, host: str) -> limits.App:
    """Return the SDK's application at `/mcp`."""
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the guard does it, for every path
    return assembled.server.streamable_http_app(
        streamable_http_path="/mcp", transport_security=security, host=host,
        max_sessions=limits.MOST_SESSIONS + limits.SPARE_SESSIONS,
    )  # fmt: skip


def tools_for(user: User, offered: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools that a user is offered, of those that the server offers.

    Whoever may read only collections may write only by taking files into those of the library.
    """
    writes = {tool.name for tool in TOOLS} if user.may(WRITE) and not user.collections else set()
    if user.may(WRITE) and library_collections(user.collections):
        writes = {UPLOAD_TOOL}
    return tuple(tool for tool in offered if tool.hints["readOnlyHint"] or tool.own_name in writes)


class Opening(Record):
    """What all desks of a server have in common."""

    root: str
    tools: tuple[Tool, ...]
    books: Books
    host: str
    make: Callable[[User, Assembled, limits.App], limits.App]  # builds what routes one user's requests


class Tenant:
    """Answers one user's requests, from the first of them until it is closed."""

    def __init__(self, user: User, desk: Desk, opening: Opening, meter: Meter) -> None:
        self.user, self.used = user, time.monotonic()
        self.requests = 0  # in progress
        account = Account(opening.books, name=user.name, collections=user.collections, meter=meter)
        self._assembled = Assembled(desk, tools_for(user, opening.tools), account=account)
        self._mcp = mcp_app_of(self._assembled, opening.host)
        self._app = opening.make(user, self._assembled, self._mcp)
        self._ended, self._ready = asyncio.Event(), asyncio.Event()
        self._tasks = [asyncio.ensure_future(self._live()), asyncio.ensure_future(self._assembled.recompiler.run())]

    async def __call__(self, scope: limits.Scope, receive: limits.Receive, send: limits.Send) -> None:
        """Answer a request of this user."""
        self.used, self.requests = time.monotonic(), self.requests + 1
        try:
            await self._ready.wait()
            await self._app(scope, receive, send)
        finally:
            self.used, self.requests = time.monotonic(), self.requests - 1

    async def _live(self) -> None:
        """Run the SDK's sessions until this is closed."""
        lifespan = self._mcp.router.lifespan_context  # type: ignore[attr-defined]  # of Starlette
        async with lifespan(self._mcp):
            self._ready.set()
            await self._ended.wait()

    def end(self) -> None:
        """End the streams of changes of this user."""
        self._assembled.handlers.subscribers.close()

    async def close(self) -> None:
        """End the sessions of this user."""
        self.end()
        self._ended.set()
        self._tasks[1].cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._assembled.close)


class Tenants:
    """The users of a server who asked something lately."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._open: dict[str, Tenant] = {}  # the one that asked last is last
        self._meters: dict[str, tuple[object, Meter]] = {}  # also of users who are closed
        self._lock = asyncio.Lock()
        self._closing: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._open)

    async def of(self, user: User, team: Team) -> Tenant:
        """Return the tenant of a user; one who was given another token, scope or collection begins anew."""
        async with self._lock:
            tenant = self._open.pop(user.name, None)
            if tenant is not None and tenant.user != user:
                self._close_soon(tenant)
                tenant = None
            if tenant is None:
                tenant = await self._opened(user, team)
            self._open[user.name] = tenant
            tenant.used = time.monotonic()
            return tenant

    async def _opened(self, user: User, team: Team) -> Tenant:
        while len(self._open) >= MOST_OPEN:
            idle = next((name for name, tenant in self._open.items() if not tenant.requests), next(iter(self._open)))
            self._close_soon(self._open.pop(idle))
        root, reports = self._opening.root, user.may(ADMIN) and not user.collections
        desk = await asyncio.to_thread(
            lambda: Desk(root, collections=user.collections, is_remote=True, shows_reports=reports)
        )
        return Tenant(user, desk, self._opening, self._meter(user, team))

    def _meter(self, user: User, team: Team) -> Meter:
        """Return what is left of a user's measure; that of a collection counts only if they may read it."""
        limits_of = [limit for limit in team.limits if not user.collections or limit.collection in user.collections]
        basis = user.digest, user.allowance, limits_of
        kept = self._meters.get(user.name)
        if kept is None or kept[0] != basis:
            kept = self._meters[user.name] = basis, Meter(user.allowance, limits_of)
        return kept[1]

    async def keep(self, team: Callable[[], Team]) -> None:
        """Close users who are idle, whose token ended, or who were removed, until cancelled."""
        while True:
            await asyncio.sleep(1.0)
            async with self._lock:
                known = {user.name: user for user in team().users if not user.has_ended(time.time())}
                for name, tenant in list(self._open.items()):
                    is_idle = not tenant.requests and time.monotonic() - tenant.used > IDLE
                    if is_idle or known.get(name) != tenant.user:
                        self._close_soon(self._open.pop(name))

    def _close_soon(self, tenant: Tenant) -> None:
        """Close a tenant while others are answered: this waits for the question that it is answering."""
        tenant.end()
        closing = asyncio.ensure_future(tenant.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def end(self) -> None:
        """End the streams of all users, which would keep the server running."""
        for tenant in self._open.values():
            tenant.end()

    async def close(self) -> None:
        """Close all of them."""
        while self._open:
            self._close_soon(self._open.pop(next(iter(self._open))))
        await asyncio.gather(*self._closing, return_exceptions=True)
