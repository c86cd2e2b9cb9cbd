"""The hosts that npm has: which version is tried, and how each is started."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deia.serve.setup.live.host_run import HEADLESS, Headless

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parent
VERSIONS = FOLDER / "versions.json"
TABLE = FOLDER / "hosts.toml"


@dataclass(frozen=True, kw_only=True)
class Trust:
    """What says that the person trusts the folder."""

    words: tuple[str, ...] = ()
    environ: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host's command line: its package, and what hosts.toml says, where the fields are described."""

    name: str
    package: str
    version: str
    headless: Headless
    link: str = ""
    more: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    sessions: str = ""
    compact: str = ""
    agent: str = "general-purpose"
    files: Mapping[str, str] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)

    def words(self, *, again: bool, trusted: bool) -> list[str]:
        """Return the words with which the host is started, before their names are replaced."""
        start = [word for word in self.headless.start if word not in self.trust.words or (trusted and not again)]
        at = 0 if start[0].startswith("-") else 1  # behind the subcommand
        return [*start[:at], *(self.again if again else ()), *self.more, *start[at:]]

    def environ(self, *, trusted: bool) -> dict[str, str]:
        """Return the variables with which the host is started."""
        return {name: text for name, text in self.headless.environ.items() if trusted or name not in self.trust.environ}

    def settings(self, *, trusted: bool) -> dict[str, str]:
        """Return the files that are there before deia is installed, below the home folder."""
        return {**self.headless.files, **self.files, **(self.trust.files if trusted else {})}


def versions() -> dict[str, dict[str, str]]:
    """Return the package and the version of every host."""
    known: dict[str, dict[str, str]] = json.loads(VERSIONS.read_text(encoding="utf-8"))
    return known


def all_hosts() -> dict[str, Host]:
    """Return every host by name."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: _host(name, pin, table[name]) for name, pin in versions().items()}


def _host(name: str, pin: Mapping[str, str], row: Mapping[str, Any]) -> Host:
    words = _words(row)
    words["trust"] = Trust(**_words(row.get("trust") or {}))
    return Host(name=name, package=pin["package"], version=pin["version"], headless=HEADLESS[name], **words)


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
