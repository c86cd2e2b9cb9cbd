"""The same conversation in each framework that is installed, with its real package and a model that is an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.frameworks.verdicts import PACKAGES, verdict_on, versions_of, wanted

if TYPE_CHECKING:
    from pathlib import Path

    from deia.librarian import Librarian

pytestmark = pytest.mark.filterwarnings("ignore")  # the packages' own
HERE = [name for name in PACKAGES if versions_of(name)]
NOWHERE = pytest.param("", marks=pytest.mark.skip("no framework is installed; `python do.py frameworks` runs them"))


@pytest.mark.parametrize("name", HERE or [NOWHERE])
def test_the_model_reads_the_lessons_in_time_and_the_held_call_runs_once(
    librarian: Librarian, tmp_path: Path, name: str
) -> None:
    seen = verdict_on(name, tmp_path / "runs")
    assert seen == {"whole": wanted(name), "streamed": wanted(name)}
