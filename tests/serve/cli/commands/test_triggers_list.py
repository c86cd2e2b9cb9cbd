from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.serve.conftest import Deia


def test_the_list_names_the_origin_of_every_trigger(deia: Deia, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "site-delete   project  stable, critical, hold: Deleting a shop site" in deia("trigger", "list").out
    monkeypatch.setenv("DEIA_STARTER", "true")
    rows = json.loads(deia("trigger", "list", "--json").out)
    assert {row["origin"] for row in rows} == {"project", "starter"}
    assert rows[0]["origin"] == "project"
