"""Open an engine by the scheme of its address."""

from __future__ import annotations

from deia.engines.engine import FIX, SCHEMES, VARIABLE, Engine, EngineError


def open_engine(address: str, space: str, dimensions: int) -> Engine:
    """Open a space of the engine at an address; raise EngineError if it is away or of no known kind."""
    scheme = address.partition(":")[0]
    if scheme not in SCHEMES:
        raise EngineError("the engine is of no known kind", where=VARIABLE, fix=FIX)
    if scheme.startswith("milvus"):
        from deia.engines.milvus import MilvusEngine  # noqa: PLC0415 - an extra, whose import takes a second

        return MilvusEngine(address, space, dimensions)
    from deia.engines.postgres import PostgresEngine  # noqa: PLC0415 - an extra

    return PostgresEngine(address, space, dimensions)
