"""How strongly a firing may act here: the project's settings bound what its triggers ask for, and never strengthen it.

Three bounds, the mildest counts: `max_action` for all, and in `forms` that of the trigger, else that of its urgency.
"""

from __future__ import annotations

from deia.records import ACTIONS, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from deia.records import Action, Firing
    from deia.watch.verdict.judge import Verdict

OFF = "off"
STRENGTH = (OFF, *ACTIONS)
STRONGEST = ACTIONS[-1]


def bounded(verdicts: Iterable[Verdict], settings: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Give verdicts with the actions that the settings allow; what they switch off is muted."""
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
    """Give the action that a firing may take by the settings, or None where it is switched off."""
    forms: Mapping[str, str] = settings.get("forms") or {}
    own = forms.get(firing.trigger, forms.get(firing.urgency, STRONGEST))
    mildest = min((firing.action, settings.get("max_action", STRONGEST), own), key=STRENGTH.index)
    return None if mildest == OFF else mildest
