"""Some visits of `bench/hostile_repositories.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs pipes, sockets and pidfd_open")
SEED, COUNT = 7, 10


@pytest.mark.slow
def test_no_hostile_repository_silences_uses_or_harms_a_person(tmp_path: Path) -> None:
    script = str(ROOT / "bench/hostile_repositories.py")
    command = [sys.executable, script, f"--seed={SEED}", f"--count={COUNT}", "--real=5", f"--folder={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    visits = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(visits) == COUNT
    assert all(visit["held"] == 3 or visit["trusted"] for visit in visits)
    assert sum(visit["real"] for visit in visits) == COUNT // 5
