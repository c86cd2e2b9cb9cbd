"""The conditions of `act` and `meaning` clauses, asked through whole triggers."""

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
        ({"do": ("destroy",), "what": ("branch",)}, "I'll delete the recently opened branch blindly", 1),
        ({"do": ("yeet",), "what": ("ledger",)}, "please yeet the ledger", 1),
        ({"do": ("destroy",), "what": ("bucket",)}, "I'll delete the bucket from our account", 1),
        ({"do": ("destroy",), "what": ("bucket",)}, "I'll delete the bucket from the map", 0),
        ({"do": ("destroy",), "what": ("queue",)}, "Let me clear the queue in the mock", 0),
        ({"do": ("destroy",), "what": ("test",)}, "Let me remove the test of the component", 1),
    ],
)
def test_an_act_fires_if_all_conditions_are_met(
    make: Make, fires: Fires, conditions: dict[str, object], said: str, firings: int
) -> None:
    assert fires(make(("act", conditions)), said) == bool(firings)


AGAIN = "wipe the site and set it up again from scratch"
PUBLIC = "make the bucket public"
WIPE = "wipe the production database"
LAMBDA = "clear the variables of the function"
FAR = "run the prisma migration script on production"
ALL = "delete every branch"
UNREVIEWED = "merge the branch without a review"


@pytest.mark.parametrize(
    ("exemplar", "said", "firings"),
    [
        (WIPE, "nuke the prod db", 1),
        (WIPE, "let me erase the database of the live shop", 1),
        (WIPE, "wipe the database", 0),
        (WIPE, "wipe the production logs", 0),
        (WIPE, "back up the production database", 0),
        (WIPE, "wipe the production database icon", 0),
        (WIPE, "don't wipe the production database", 0),
        (AGAIN, "I'll wipe the site and then set it up from zero", 1),
        (AGAIN, "I'll wipe the site and then go home", 0),
        (PUBLIC, "make our image bucket public", 1),
        (PUBLIC, "make the roadmap public", 0),
        (PUBLIC, "make the bucket bigger", 0),
        (LAMBDA, "I'll clear the variables of our function", 1),
        (LAMBDA, "I'll clear the variables of our class", 0),
        (FAR, "I'll run the prisma script on prod", 1),
        (FAR, "I'll run the prisma migration script locally", 0),
        (ALL, "please delete all the branches", 1),
        (ALL, "please delete the branch", 0),
        (UNREVIEWED, "I'll merge the branch without any review", 1),
        (UNREVIEWED, "I'll merge the branch after the review", 0),
    ],
)
def test_an_exemplar_asks_for_its_verb_its_object_and_its_further_words(
    make: Make, fires: Fires, exemplar: str, said: str, firings: int
) -> None:
    """Other words may replace each; of more than two further words one may be missing, but not the place."""
    assert fires(make(("meaning", (exemplar,))), said) == bool(firings)
