"""Catalogs in a folder of compiled files: each is built in a folder of its own, which the file `catalog` then names."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence

from deia import files
from deia.compile.catalog.effort import TIER

CATALOG, LOCK, ENTRIES = "catalog", "lock", "entries"


def now() -> str:
    """Return the present time as manifests and catalogs have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def empty_building(folder: str) -> str:
    """Return a new empty folder for building a catalog."""
    building = f"{folder}/building-{os.getpid()}"
    shutil.rmtree(building, ignore_errors=True)
    os.makedirs(building)
    return building


def place_catalog(folder: str, building: str, tiers: Sequence[str], digest: str) -> str:
    """Name a finished catalog by its digest and its tiers, make it the current one, and return its name."""
    marks = [tier if tier == TIER else _mark(tier) for tier in tiers if tier != "static"]
    name = "-".join(["catalog", digest[:16], *marks])
    shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    os.rename(building, f"{folder}/{name}")
    files.replace(f"{folder}/{CATALOG}", name.encode())
    return name


def _mark(tier: str) -> str:
    from deia.compile.sources import digest_of  # noqa: PLC0415 - what reads a commons, for a model of one's own only

    return digest_of(tier)[:16]


def sweep(folder: str, keep: set[str]) -> None:
    """Remove what older and crashed compiles left; the last catalog stays for readers that are opening it."""
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if name in keep:
            continue
        if name.startswith(("catalog-", "building-")):
            shutil.rmtree(path, ignore_errors=True)
        elif name.endswith(".new") or name.startswith("codes-") or name == ENTRIES:
            with contextlib.suppress(OSError):
                os.remove(path)
