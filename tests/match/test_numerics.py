"""numpy is imported with one thread for its linear algebra, unless it was there before or somebody wanted more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NAME = "OPENBLAS_NUM_THREADS"
SAYS = f"import os; from deia.match.numerics import has_one_thread; print(has_one_thread(), os.environ.get({NAME!r}))"


@pytest.mark.parametrize(
    ("first", "wanted", "said"),
    [
        ("", None, "True None"),
        ("", "1", "True 1"),
        ("", "4", "False 4"),
        ("import numpy; ", None, "False None"),
        ("import numpy; ", "1", "True 1"),
    ],
)
def test_a_program_that_imported_numpy_before_keeps_the_threads_of_its_own(
    first: str, wanted: str | None, said: str
) -> None:
    environ = {name: value for name, value in os.environ.items() if name != NAME}
    if wanted:
        environ[NAME] = wanted
    run = subprocess.run([sys.executable, "-c", first + SAYS], env=environ, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == said
