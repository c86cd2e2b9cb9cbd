"""The calls of `bench/isolation.py`: some in every whole run of the tests, and more where there is time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT


@pytest.mark.slow
def test_of_two_hundred_calls_none_leaks_and_none_differs_where_nothing_is_hidden() -> None:
    command = [sys.executable, str(ROOT / "bench/isolation.py"), "--calls=200", "--seed=3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "leaks: 0" in done.stdout
