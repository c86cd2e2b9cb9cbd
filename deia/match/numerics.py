"""numpy, loaded with one thread for its linear algebra: for whoever imports it first in a cold process.

A second thread saves a query nothing, costs 3 ms to start, and waits in a loop where the other core is busy. What the
environment says itself counts, and is as it was afterwards. Never imported by the hook or by a search without
transformer: numpy costs more than all the rest of a search.
"""

from __future__ import annotations

import os

THREADS = "OPENBLAS_NUM_THREADS"  # read once, when the library is loaded

_said = os.environ.get(THREADS)
os.environ[THREADS] = _said or "1"

import numpy as np  # noqa: E402 - the line above has to come first

if _said is None:
    del os.environ[THREADS]

__all__ = ["np"]
