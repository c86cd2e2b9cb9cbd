"""The kills of `bench/killed_ingest.py`: five in every whole run of the tests, and more where there is time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")
def test_five_kills_leave_nothing_half_and_no_answer_wrong(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "bench/killed_ingest.py"), "--kills=5", "--seed=7", f"--folder={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 killed" in done.stdout
