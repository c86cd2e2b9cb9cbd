"""Import numpy with a single thread for its linear algebra.

A second thread does not make one query faster, takes 3 ms to start, and busy-waits while the other core has work. A
value that is already set in the environment wins, and the environment is restored after the import. The hook and
searches without a transformer never import this: numpy costs more than the whole rest of a search.
"""

from __future__ import annotations

import os
import sys

THREADS = "OPENBLAS_NUM_THREADS"  # OpenBLAS reads it once, when it is loaded

_set_before = os.environ.get(THREADS)
# Whether threads of ours get a core each. Where numpy's own have the cores already, two of ours are slower than one:
# 12 passages a second and not 18 (two cores, 180 words each).
ONE_THREAD = _set_before == "1" or (_set_before is None and "numpy" not in sys.modules)
os.environ[THREADS] = _set_before or "1"

import numpy as np  # noqa: E402 - the thread count must be set first
from numpy.typing import NDArray  # noqa: E402

if _set_before is None:
    del os.environ[THREADS]

Floats = NDArray[np.float32]

__all__ = ["ONE_THREAD", "Floats", "NDArray", "np"]
