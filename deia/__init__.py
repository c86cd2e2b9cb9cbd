"""deia, a librarian that works beside AI agents. Use `deia.librarian`; importing `deia` alone loads nothing."""

__version__ = "0.1.0"  # that of pyproject.toml; reading it from the installed metadata takes 37 ms
