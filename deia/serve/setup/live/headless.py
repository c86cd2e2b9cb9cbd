"""How hosts are started without a person, as `headless.toml` beside this module says."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from deia.records import Record

DATA = os.path.join(os.path.dirname(__file__), "headless.toml")


class Headless(Record):
    """How one host is started against a model on loopback, or why it cannot be."""

    program: str = ""
    setup: tuple[str, ...] = ()  # what is run first, if anything
    start: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # below the home folder
    unseen: str = ""

    def filled(self, **values: str) -> Headless:
        """Return this with every `{name}` replaced by its value."""

        def fill(text: str) -> str:
            for name, value in values.items():
                text = text.replace(f"{{{name}}}", value)
            return text

        return self.but(
            setup=tuple(map(fill, self.setup)), start=tuple(map(fill, self.start)),
            environ={name: fill(value) for name, value in self.environ.items()},
            files={name: fill(text) for name, text in self.files.items()},
        )  # fmt: skip


def _read() -> dict[str, Headless]:
    with open(DATA, "rb") as file:
        tables = tomllib.load(file)
    return {host: _headless(**table) for host, table in tables.items()}


def _headless(*, setup: Sequence[str] = (), start: Sequence[str] = (), **fields: Any) -> Headless:
    return Headless(setup=tuple(setup), start=tuple(start), **fields)


HEADLESS: Mapping[str, Headless] = _read()
