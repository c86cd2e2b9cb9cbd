"""Everything a server needs, put together: the desk's clerk, the keeper of its compiled files, the protocol's handlers.

Refuses to choose a transport.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deia.serve.server.call_log import Audit
from deia.serve.server.desk import Desk
from deia.serve.server.desk_thread import Clerk
from deia.serve.server.hook_events import Hooks
from deia.serve.server.protocol import Librarianship
from deia.serve.server.recompile import Keeper


class Assembled:
    """One server's parts, made in the event loop that will run them."""

    def __init__(
        self, desk: Desk, offered: Sequence[Mapping[str, Any]], *, audit_state: str, transport: str,
        hooks: Hooks | None = None,
    ) -> None:  # fmt: skip
        self.desk = desk
        self.clerk = Clerk(desk)
        self.judge = Clerk(desk.twin())  # a long conversation takes seconds, in which others ask
        self.keeper = Keeper(self.clerk)
        self.audit = Audit(audit_state, transport=transport)
        self.librarianship = Librarianship(
            self.clerk, self.keeper, self.audit, offered, judge=self.judge, hooks=hooks
        )  # fmt: skip
        self.server = self.librarianship.server()

    def leave(self) -> None:
        """Finish what has begun, and nothing more."""
        self.clerk.leave()
        self.judge.leave()
