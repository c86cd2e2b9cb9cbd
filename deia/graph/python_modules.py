"""The names by which Python modules are imported, derived from the paths of their files and from imports."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

SUFFIXES = (".py", ".pyi", ".pyw")
ROOTS = frozenset(("src", "lib", "Lib", "python"))  # folders that hold packages, and are none without an __init__
INIT = "__init__"


def module_names(paths: Iterable[str], others: Iterable[str] = ()) -> dict[str, str]:
    """Return the module name of each importable Python file by its path, as `shop.cart` for `src/shop/cart.py`.

    `others` are further files, which may make a folder a package but are not named.
    A package begins with the outermost of the folders around a file that have an `__init__`. Other folders count as
    namespace packages, up to one that is named like a root of packages or cannot be imported by its name.
    """
    python = [path for path in paths if path.endswith(SUFFIXES)]
    around = (path for path in others if INIT in path and path.endswith(SUFFIXES))
    packages = {path.rpartition("/")[0] for path in chain(python, around) if _stem(path) == INIT}
    return {path: name for path in python if (name := _name(path, packages))}


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _name(path: str, packages: set[str]) -> str:
    """Return the name of a file's module, or "" if a part of it is not an identifier."""
    *folders, _ = path.split("/")
    start = _root(folders, packages)
    parts = folders[start:] if _stem(path) == INIT else [*folders[start:], _stem(path)]
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else ""


def _root(folders: list[str], packages: set[str]) -> int:
    """Return how many folders lie above a file's outermost package or namespace package."""
    inside = len(folders)
    while inside and "/".join(folders[:inside]) in packages:
        inside -= 1
    if inside < len(folders):
        return inside
    while inside and folders[inside - 1].isidentifier() and folders[inside - 1] not in ROOTS:
        inside -= 1
    return inside


def absolute(package: str, level: int, name: str) -> str:
    """Return the full name of a module that is imported from within a package; "" if it would lie above all."""
    if not level:
        return name
    parts = package.split(".") if package else []
    if level > len(parts):
        return ""
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{name}" if name else base
