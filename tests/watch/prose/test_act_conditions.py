"""The conditions of `act` clauses, asked through whole triggers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.watch.conftest import Fires, Make


@pytest.mark.parametrize(
    ("conditions", "said", "firings"),
    [
        ({"do": ("destroy",), "what": ("database",)}, "I'll wipe the old database", 1),
        ({"do": ("destroy",), "what": ("database",)}, "I'll wipe the old laptop", 0),
        ({"do": ("destroy",), "what": ("database",)}, "I won't wipe the old database", 0),
        ({"do": ("destroy",), "what": ("database",)}, "I'll read the old database", 0),
        ({"do": ("destroy",), "what": ("database",), "not": ("test",)}, "I'll wipe the test database", 0),
        ({"do": ("run",), "what": ("test",), "where": ("production",)}, "Let me run the tests on production", 1),
        ({"do": ("run",), "what": ("test",), "where": ("production",)}, "Let me run the tests on staging", 0),
        ({"do": ("destroy",), "what": ("branch",), "all": True}, "delete every branch", 1),
        ({"do": ("destroy",), "what": ("branch",), "all": True}, "delete the branch", 0),
        ({"do": ("push",), "how": ("blindly",)}, "I'll push blindly", 1),
        ({"do": ("push",), "how": ("blindly",)}, "I'll push slowly", 0),
        ({"do": ("yeet",), "what": ("ledger",)}, "please yeet the ledger", 1),
    ],
)
def test_an_act_fires_if_all_conditions_are_met(
    make: Make, fires: Fires, conditions: dict[str, object], said: str, firings: int
) -> None:
    assert fires(make(("act", conditions)), said) == bool(firings)
