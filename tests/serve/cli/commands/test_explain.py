"""`deia explain`: every code of a problem has a meaning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT
from tests.test_docs import codes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


def test_what_lint_prints_can_be_explained(deia: Deia, commons: Path) -> None:
    (commons / "triggers" / "bad.yaml").write_text("- id: broken\n  urgency: soon\n", encoding="utf-8")
    codes = {problem["code"] for problem in json.loads(deia("lint", "--json").out)}
    assert "bad-urgency" in codes
    for code in codes:
        shown = deia("explain", f"[{code}]")
        assert shown.code == 0, code
        assert shown.out.startswith(f"{code} (")


def test_all_codes_are_listed_without_a_code(deia: Deia) -> None:
    rows = json.loads(deia("explain", "--json").out)
    assert {"stale-view", "duplicate-id", "failed-case"} <= {row["code"] for row in rows}
    assert len(deia("explain").out.splitlines()) == len(rows)
    assert all(row["means"] and row["about"] for row in rows)


@pytest.mark.slow
def test_every_code_that_the_program_uses_can_be_explained(deia: Deia) -> None:
    used = {code for path in (ROOT / "deia").rglob("*.py") for code in codes(path)}
    assert {"wrong-setting", "stale-view", "bad-lock"} <= used
    assert used <= {row["code"] for row in json.loads(deia("explain", "--json").out)}


def test_an_unknown_code_gets_a_suggestion(deia: Deia) -> None:
    refused = deia("explain", "stale-veiw")
    assert refused.code == 2
    assert "stale-view" in refused.err
