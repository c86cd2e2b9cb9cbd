"""`deia demo` as a newcomer types it, and as a person whose own files must stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


@pytest.mark.slow
def test_a_mistake_is_noticed_a_call_held_and_a_question_answered(deia: Deia, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    shown = deia("demo")
    assert shown.code == 0, shown.err
    assert 'trigger="terraform-destroy"' in shown.out
    assert "Netlify" in shown.out
    assert "The same call again: the hook says nothing" in shown.out
    assert sorted(tmp_path.rglob("*")) == before
