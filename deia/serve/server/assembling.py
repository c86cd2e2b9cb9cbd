"""Everything a server needs, put together: the desk's clerk, the keeper of its compiled files, the protocol's handlers.

Refuses to choose a transport.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.serve.server.audit import Audit
from deia.serve.server.clerk import Clerk
from deia.serve.server.keeper import Keeper
from deia.serve.server.protocol import Librarianship

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.serve.server.desk import Desk


class Assembled:
    """One server's parts, made in the event loop that will run them."""

    def __init__(self, desk: Desk, offered: Sequence[Mapping[str, Any]], *, audit_state: str, transport: str) -> None:
        self.desk = desk
        self.clerk = Clerk(desk)
        self.keeper = Keeper(self.clerk)
        self.audit = Audit(audit_state, transport=transport)
        self.librarianship = Librarianship(self.clerk, self.keeper, self.audit, offered)
        self.server = self.librarianship.server()
