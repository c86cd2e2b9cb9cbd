"""Settings limit the actions of triggers, and never strengthen one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.firing import Firing
from deia.records import ACTIONS, URGENCIES
from deia.watch.verdict.judge import STRENGTH, Verdict, allowed_action, bounded


def firing(action: Any = "hold", urgency: Any = "critical") -> Firing:
    return Firing(
        trigger="t", title="T", urgency=urgency, action=action, timing="pre-action", message="M", action_required="",
        documents=(), because="x", turn=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given_settings", "action"),
    [
        ({}, "hold"),
        ({"max_action": "warn"}, "warn"),
        ({"forms": {"critical": "ask"}}, "ask"),
        ({"forms": {"t": "note", "critical": "ask"}}, "note"),
        ({"forms": {"t": "hold", "critical": "note"}}, "hold"),
        ({"max_action": "ask", "forms": {"t": "hold"}}, "ask"),
        ({"forms": {"high": "note", "another": "off"}}, "hold"),
        ({"forms": {"t": "off"}}, None),
    ],
)
def test_the_mildest_bound_counts_and_a_triggers_own_before_its_urgencys(
    given_settings: dict[str, Any], action: str | None
) -> None:
    assert allowed_action(firing(), given_settings) == action


FORMS = st.dictionaries(st.sampled_from(["t", *URGENCIES]), st.sampled_from(STRENGTH))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ACTIONS), st.sampled_from(URGENCIES), st.sampled_from(ACTIONS), FORMS)
def test_no_setting_makes_a_trigger_stronger(action: str, urgency: str, most: str, forms: dict[str, str]) -> None:
    found = allowed_action(firing(action, urgency), {"max_action": most, "forms": forms})
    assert found is None or STRENGTH.index(found) <= min(STRENGTH.index(action), STRENGTH.index(most))


def test_what_is_switched_off_is_muted_and_the_rest_stays() -> None:
    fires = Verdict(trigger="t", stage="fires", detail="x", number=0, firing=firing())
    stopped = Verdict(trigger="u", stage="stance", detail="x", number=1)
    off, same = bounded([fires, stopped], {"forms": {"t": "off"}})
    assert (off.stage, off.firing, same) == ("muted", None, stopped)
    assert bounded([fires, stopped], {"max_action": "hold", "forms": {}}) == (fires, stopped)
