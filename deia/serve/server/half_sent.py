"""HTTP connections that must complete each request in bounded time, and of which only so many may be half-sent at once.

Otherwise a client that begins requests and never ends them would keep the server's connections for good.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 20.0  # from the begin of a connection or of a later request's first byte to the end of its body
MOST = 200  # half-sent requests; beyond that the oldest is dropped


class TimedProtocol(H11Protocol):
    """Uvicorn's connection, which is dropped if a request is not complete in time."""

    half_sent: ClassVar[dict[TimedProtocol, asyncio.TimerHandle]] = {}  # the oldest first

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the clock of a request that is incomplete, or stop it if it is complete."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif self not in self.half_sent:
            self.half_sent[self] = self.loop.call_later(SECONDS, self.transport.abort)
            if len(self.half_sent) > MOST:
                next(iter(self.half_sent)).transport.abort()

    def _stop_waiting(self) -> None:
        timer = self.half_sent.pop(self, None)
        if timer is not None:
            timer.cancel()
