"""deia, a librarian that works beside AI agents. Importing it imports nothing: ask `deia.librarian`."""


def __getattr__(name: str) -> str:
    """Look up `__version__` only when somebody asks, since the metadata reader costs 37 ms."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - heavy, and hardly anybody asks

        return version("deia")
    raise AttributeError(f"module 'deia' has no attribute {name!r}")
