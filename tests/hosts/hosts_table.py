"""The hosts that npm has: which version is tried, and how each is started."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parent
VERSIONS = FOLDER / "versions.json"
TABLE = FOLDER / "hosts.toml"


@dataclass(frozen=True, kw_only=True)
class Trust:
    """What is added where a person trusts the folder."""

    start: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host's command line: its package, and how it is started without a person. hosts.toml says what fields mean."""

    name: str
    package: str
    version: str
    program: str
    start: tuple[str, ...]
    again: tuple[str, ...]
    setup: tuple[str, ...] = ()
    link: str = ""
    compact: str = ""  # what a person types to have the conversation made short
    sessions: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)
    unseen: Mapping[str, str] = field(default_factory=dict)


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
    return Host(name=name, package=pin["package"], version=pin["version"], **words)


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
