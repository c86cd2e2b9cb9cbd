"""What a framework's adapter needs and may not have: says which extra to install, before Python says less.

Refuses to import anything itself; the adapters do, each its own framework alone.
"""

from __future__ import annotations

from importlib.util import find_spec


def need(package: str, *, extra: str) -> None:
    """See that a package is there, by its name as it is imported.

    Raises:
        ImportError: it is not; the message names the extra and the command.
    """
    if not _is_there(package):
        raise ImportError(
            f"deia needs the package {package!r} here and does not find it. Type: pip install 'deia[{extra}]'"
        )


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # not even what it is in
        return False
