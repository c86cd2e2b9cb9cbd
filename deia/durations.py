"""Durations as people type them (`2h`, `7d`) and read them (`3 min ago`), and hours of the day (`22:00-07:00`)."""

from __future__ import annotations

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
EXPECTED = "Write a whole number and s, m, h or d, such as 2h."


def read_duration(text: str) -> int:
    """Return the number of seconds that a text means."""
    number, unit = text[:-1].strip(), text[-1:].lower()
    if (
        unit not in SECONDS
        or not (number.isascii() and number.isdecimal())
        or not 0 < len(number) < 7
        or not int(number)
    ):
        raise ValueError(f"{text!r} is not a duration. {EXPECTED}")
    return int(number) * SECONDS[unit]


def ago(seconds: float) -> str:
    """Return roughly how long ago something was, in words."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "just now"
    if minutes < 90:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days ago"


def hours_of(text: object) -> tuple[int, int] | None:
    """Return a span of the day in minutes from midnight, or None; the end is below the start if it spans midnight."""
    begin, _, end = text.partition("-") if isinstance(text, str) else ("", "", "")
    span = _minutes(begin.strip()), _minutes(end.strip())
    return None if span[0] is None or span[1] is None or span[0] == span[1] else (span[0], span[1])


def _minutes(text: str) -> int | None:
    hours, colon, minutes = text.partition(":")
    if not (colon and len(minutes) == 2 and 0 < len(hours) < 3 and (hours + minutes).isascii()):
        return None
    if not (hours + minutes).isdecimal() or int(minutes) > 59:
        return None
    value = int(hours) * 60 + int(minutes)
    return value if value <= 24 * 60 else None
