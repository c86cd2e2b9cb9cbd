"""How strong an action may be: the project's settings can weaken what a trigger asks for, never strengthen it.

Three limits apply, and the mildest wins: `max_action` for all triggers, and the entry of `forms` for the trigger or
else for its urgency.
"""

from __future__ import annotations

from deia.firing import Firing
from deia.records import ACTIONS, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from deia.records import Action
    from deia.watch.verdict.judge import Verdict

OFF = "off"
STRENGTH = (OFF, *ACTIONS)
STRONGEST = ACTIONS[-1]


def bounded(verdicts: Iterable[Verdict], settings: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Return the verdicts with the actions that the settings allow; a trigger that they switch off is muted."""
    if settings.get("max_action", STRONGEST) == STRONGEST and not settings.get("forms"):
        return tuple(verdicts)
    return tuple(_bound(verdict, settings) for verdict in verdicts)


def _bound(verdict: Verdict, settings: Mapping[str, Any]) -> Verdict:
    firing: Firing | None = verdict.firing
    if firing is None:
        return verdict
    action = allowed_action(firing, settings)
    if action is None:
        return verdict.but(stage="muted", detail="the settings of this project switch it off", firing=None)
    return verdict.but(firing=firing.but(action=action))


def allowed_action(firing: Firing, settings: Mapping[str, Any]) -> Action | None:
    """Return the action that a firing may take by the settings, or None if they switch it off."""
    forms: Mapping[str, str] = settings.get("forms") or {}
    limit = forms.get(firing.trigger, forms.get(firing.urgency, STRONGEST))
    mildest = min((firing.action, settings.get("max_action", STRONGEST), limit), key=STRENGTH.index)
    return None if mildest == OFF else mildest
