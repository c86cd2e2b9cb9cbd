"""The benchmark of questions to a graph still fits the tables that it fills."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_small_graph_is_made_and_asked(tmp_path: Path) -> None:
    options = ["--entities=400", "--questions=5", f"--folder={tmp_path}"]
    command = [sys.executable, str(ROOT / "bench/graph_queries.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("400 entities, ")
    assert "cold  stats" in done.stdout
