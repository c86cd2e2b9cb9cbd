from __future__ import annotations

import subprocess
import sys

from tests.paths import ROOT

HEAVY = frozenset("re json typing dataclasses pathlib enum rapidfuzz numpy yaml logging inspect subprocess".split())


def test_a_cold_search_imports_nothing_slow() -> None:
    """Each of these modules would take several milliseconds, of the few dozen that a cold search takes."""
    source = ROOT
    asked = "import sys; before = set(sys.modules); import deia.search.pipeline; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, cwd=source)
    assert HEAVY.isdisjoint(done.stdout.split())
