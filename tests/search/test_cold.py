from __future__ import annotations

import os
import subprocess
import sys

import deia.search.pipeline

HEAVY = frozenset("re json typing dataclasses pathlib enum rapidfuzz numpy yaml logging inspect subprocess".split())


def test_a_question_imports_nothing_heavy() -> None:
    """The cold path is counted in milliseconds, and each of these costs several."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(deia.search.pipeline.__file__)))
    asked = "import sys; before = set(sys.modules); import deia.search.pipeline; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True, text=True, cwd=source)
    assert HEAVY.isdisjoint(done.stdout.split())
