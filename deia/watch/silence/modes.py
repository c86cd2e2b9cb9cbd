"""The mode: in one word how strict deia is with this person, and what differs for single triggers.

It is a file in the person's state folder, read only when something fires: a line with the mode, then one for each
trigger with a form of its own. No commons can set it, and an agent's call that would is refused. A project's settings
may still make any trigger milder.
"""

from __future__ import annotations

from deia import files
from deia.records import ACTIONS, TYPE_CHECKING, UNTRUSTED, URGENCIES, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deia.firing import Firing
    from deia.watch.verdict.judge import Verdict

OFF = "off"
STRENGTH = (OFF, *ACTIONS)
STANDARD = "standard"
# For each mode and urgency the least and the most that a trigger does.
PRESETS: dict[str, dict[str, tuple[str, str]]] = {
    "strict": {"critical": ("hold", "hold"), "high": ("ask", "hold"), "medium": ("warn", "hold")},
    STANDARD: {},
    "quiet": {"high": (OFF, "warn"), "medium": (OFF, "note"), "low": (OFF, OFF)},
}
MOST_BYTES = 100_000
MOST_TOLD = 3  # triggers that are named


class Mode(Record):
    """How strict deia is, and the forms of single triggers."""

    name: str = STANDARD
    forms: Mapping[str, str] = {}  # trigger → what it does, or "off"


def mode_path(state: str) -> str:
    """Return the file that holds the mode."""
    return f"{state}/mode"


def read_mode(state: str) -> Mode:
    """Return the mode; lines that make no sense are skipped."""
    name, *lines = (
        (files.read(mode_path(state), MOST_BYTES) or STANDARD.encode()).decode("utf-8", "replace").split("\n")
    )
    pairs = [line.split() for line in lines]
    forms = {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1] in STRENGTH}
    return Mode(name=name.strip() if name.strip() in PRESETS else STANDARD, forms=forms)


def write_mode(state: str, mode: Mode) -> bool:
    """Store the mode; return whether it worked."""
    lines = [mode.name, *(f"{trigger} {form}" for trigger, form in sorted(mode.forms.items()))]
    return files.keep(mode_path(state), "\n".join(lines).encode())


def told(state: str) -> str:
    """Return in which mode deia is and which triggers differ, "" if nothing was chosen."""
    mode = read_mode(state)
    forms = ", ".join(f"{trigger} {form}" for trigger, form in list(mode.forms.items())[:MOST_TOLD])
    return "" if mode == Mode() else f"deia's mode is {mode.name}{f' ({forms})' if forms else ''}"


def in_mode(verdicts: Iterable[Verdict], mode: Mode) -> tuple[Verdict, ...]:
    """Return the verdicts with the actions of a mode; what it switches off counts as muted."""
    if mode == Mode():
        return tuple(verdicts)
    bound = []
    for verdict in verdicts:
        firing = verdict.firing
        action = form_in(mode, firing, most=ACTIONS[1] if verdict.sentence else ACTIONS[-1]) if firing else ""
        if firing and action == OFF:
            verdict = verdict.but(stage="muted", detail=f"your mode is {mode.name}", firing=None)  # noqa: PLW2901
        bound.append(verdict.but(firing=firing.but(action=action)) if verdict.firing and firing else verdict)
    return tuple(bound)


def form_in(mode: Mode, firing: Firing, *, most: str) -> str:
    """Return what a firing does in a mode, at most `most`, which is less for what is only said."""
    least, limit = PRESETS[mode.name].get(firing.urgency, (OFF, ACTIONS[-1]))
    own = mode.forms.get(firing.trigger)
    if own is not None:
        least = limit = own
    if firing.origin == UNTRUSTED:  # a commons that is not trusted stops nothing
        least = OFF
    wanted = max(firing.action, least, key=STRENGTH.index)
    return min(wanted, limit, max(most, firing.action, key=STRENGTH.index), key=STRENGTH.index)


def table() -> list[str]:
    """Return what each mode does as a table in Markdown."""
    rows = ["| urgency | " + " | ".join(PRESETS) + " |", "|---" * (len(PRESETS) + 1) + "|"]
    for urgency in URGENCIES:
        cells = [f"`{urgency}`", *(_in_words(preset.get(urgency)) for preset in PRESETS.values())]
        rows += [f"| {' | '.join(cells)} |"]
    return rows


def _in_words(bounds: tuple[str, str] | None) -> str:
    if bounds is None:
        return "as the trigger says"
    least, most = bounds
    if most == OFF:
        return "silent"
    if least == most:
        return f"`{least}`"
    return f"at least `{least}`" if most == ACTIONS[-1] else f"at most `{most}`"
