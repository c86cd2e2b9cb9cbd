"""deia, a librarian that works beside AI agents. Use `deia.librarian`; importing `deia` alone loads nothing."""


def __getattr__(name: str) -> str:
    """Return `__version__`, looked up only when asked for: reading the metadata takes 37 ms."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - heavy, and rarely needed

        return version("deia")
    raise AttributeError(f"module 'deia' has no attribute {name!r}")
