"""numpy, imported when something of it is used, with a single thread for its linear algebra.

A second thread does not make one query faster, takes 3 ms to start, and busy-waits while the other core has work. A
value that is already set in the environment wins, and the environment is restored after the import. The hook, searches
without a transformer, and updates of few documents never use it: numpy costs more than the whole rest of a search.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock  # `threading` would cost a cold search a millisecond

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

THREADS = "OPENBLAS_NUM_THREADS"  # OpenBLAS reads it once, when it is loaded
_lock = allocate_lock()
_alone: list[bool] = []  # once numpy is imported: whether its linear algebra has a single thread


def load_numpy() -> ModuleType:
    """Return numpy, imported if it is not yet."""
    with _lock:
        if not _alone:
            before, is_loaded = os.environ.get(THREADS), "numpy" in sys.modules
            os.environ[THREADS] = before or "1"
            try:
                import numpy  # noqa: F401, ICN001, PLC0415 - not before it is used
            finally:
                if before is None:
                    del os.environ[THREADS]
            _alone.append(before == "1" or (before is None and not is_loaded))
    return sys.modules["numpy"]


def has_one_thread() -> bool:
    """Return whether threads of ours get a core each.

    Where numpy's own have the cores already, two of ours are slower than one: 12 passages a second and not 18 (two
    cores, 180 words each).
    """
    load_numpy()
    return _alone[0]


if not TYPE_CHECKING:
    NDArray = Floats = None  # for annotations, which nobody evaluates

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            value = self.__dict__[name] = getattr(load_numpy(), name)
            return value

    np = _Numpy()

__all__ = ["Floats", "NDArray", "has_one_thread", "load_numpy", "np"]
