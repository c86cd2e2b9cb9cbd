"""A helpful error if an adapter's framework is not installed: it names the extra to install."""

from __future__ import annotations

from importlib.util import find_spec


def need(package: str, *, extra: str) -> None:
    """Raise an error if a package is not installed; `package` is its name as it is imported.

    Raises:
        ImportError: it is not installed; the message names the extra and the command.
    """
    if not _is_installed(package):
        raise ImportError(
            f"This adapter needs the package {package!r}, which is not installed. Type: pip install 'deia[{extra}]'"
        )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
