"""Import numpy with a single thread for its linear algebra.

A second thread does not make one query faster, takes 3 ms to start, and busy-waits while the other core has work. A
value that is already set in the environment wins, and the environment is restored after the import. The hook and
searches without a transformer never import this: numpy costs more than the whole rest of a search.
"""

from __future__ import annotations

import os

THREADS = "OPENBLAS_NUM_THREADS"  # OpenBLAS reads it once, when it is loaded

_set_before = os.environ.get(THREADS)
os.environ[THREADS] = _set_before or "1"

import numpy as np  # noqa: E402 - the thread count must be set first
from numpy.typing import NDArray  # noqa: E402

if _set_before is None:
    del os.environ[THREADS]

Floats = NDArray[np.float32]

__all__ = ["Floats", "NDArray", "np"]
