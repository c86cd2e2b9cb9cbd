"""The surroundings of one hook: the host that called it, the commons that counts, and where its files are."""

from __future__ import annotations

import time

from deia import files, folders
from deia.records import TYPE_CHECKING
from deia.watch.gate.artefact import open_artefact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.fast_json import Json


class Place:
    """The host that called, the commons that counts, and where the files of both are."""

    __slots__ = (
        "began", "derived", "environ", "explicit", "host", "is_fresh", "open", "pending", "root", "state",
        "timed", "trouble", "trusted",
    )  # fmt: skip

    def __init__(self, arguments: list[str]) -> None:
        self.began = time.perf_counter()
        self.timed = True  # a server cannot end its process at the deadline; it stops waiting instead
        self.open = open_artefact  # a server keeps opened triggers
        self.environ = files.environment()
        self.host = arguments[0] if arguments else ""
        self.explicit = arguments[2] if len(arguments) > 2 and arguments[1] == "--commons" else ""
        self.state = folders.state_folder(self.environ)
        self.root = self.derived = ""
        self.trusted = True  # whether the person trusts that commons
        self.trouble = ""  # why substitutes are used for the compiled triggers
        self.is_fresh = False  # whether the triggers are known to be those of their sources
        self.pending = ""  # why the triggers before a change still count

    def settle(self, folder: str) -> None:
        """Find the commons for a person who works in `folder`."""
        self.root, self.trusted = folders.locate_commons(folder, environ=self.environ, explicit=self.explicit)
        self.derived = folders.derived_folder(self.root, self.environ, trusted=self.trusted)

    @property
    def events(self) -> str:
        """The folder of the ledger; before a commons is found, that of the starter commons."""
        return folders.events_folder(self.root or folders.STARTER, self.environ, trusted=self.trusted)

    def spool(self, event: str, fields: Mapping[str, Json], *, telemetry: str = "full") -> str:
        """Write an event to the ledger; return its id, or the empty text if nothing was written."""
        from deia import spool  # noqa: PLC0415 - only a turn that writes to the ledger needs it

        level = self.environ.get("DEIA_TELEMETRY") or telemetry
        return spool.append(self.events, event, {"host": self.host, **fields}, telemetry=level)

    def report(self, error: BaseException) -> None:
        """Write an error and its place in deia to the ledger; if that fails too, ignore it."""
        try:
            frame = error.__traceback__
            where = ""
            while frame is not None:
                where = f"{frame.tb_frame.f_code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}"
                frame = frame.tb_next
            self.spool("error", {"error": f"{type(error).__name__}: {error}"[:500], "where": where})
        except BaseException:  # noqa: BLE001, S110 - nothing may reach the host
            pass
