"""Days as comparable numbers (2026-11-20 is 20261120), and date filters as ranges of them.

A year or a month stands for all of its days. Only ISO order is a date. Relative dates such as "last week" are not
accepted, because an answer must not depend on the day of the question.
"""

from __future__ import annotations

LAST = 9999_12_32
COMPARISONS = (">=", "<=", ">", "<", "=")
LENGTHS = ((4,), (4, 2), (4, 2, 2))  # digits of a year, a month and a day
FIRST = (1, 1, 1)
DURATIONS = (0, 10_000, 100, 1)  # the length of a year, a month and a day in these numbers, by the number of parts
MONTHS, DAYS = 12, 31
ADVICE = "Write it as updated:2026, updated:>2026-01-31 or updated:2026-01..2026-03."


def day_number(text: str) -> int:
    """Return the first day of a date at the beginning of a text, or 0 if there is none."""
    span = _span(text.strip()[:10].rstrip("T ."))
    return span.start if span else 0


def days(text: str) -> range | None:
    """Return the days that a filter's value means, such as `2026-01`, `>2026-01-31` or `2026-01..2026-03`, or None."""
    if ".." in text:
        first, _, last = text.partition("..")
        begin, end = _typed(first), _typed(last)
        return range(begin.start, max(begin.start, end.stop)) if begin and end else None
    sign = next((comparison for comparison in COMPARISONS if text.startswith(comparison)), "")
    span = _typed(text[len(sign) :])
    if span is None:
        return None
    ranges = {
        ">": range(span.stop, LAST),
        ">=": range(span.start, LAST),
        "<": range(1, span.start),
        "<=": range(1, span.stop),
    }
    return ranges.get(sign, span)


def _typed(text: str) -> range | None:
    """Return the days of a date in a filter, which is one that there is: nobody means the 31st of February."""
    from datetime import date  # noqa: PLC0415 - few questions have a date

    span, parts = _span(text), text.split("-")
    if span and len(parts) == len(FIRST):
        try:
            date(*map(int, parts))
        except ValueError:
            return None
    return span


def _span(text: str) -> range | None:
    """Return the days of a year, a month or a day; the end of a range need not be a real day."""
    parts = text.split("-")
    if any(not (part.isascii() and part.isdigit()) for part in parts) or tuple(map(len, parts)) not in LENGTHS:
        return None
    year, month, day = (*map(int, parts), *FIRST[len(parts) :])
    if not (year and 0 < month <= MONTHS and 0 < day <= DAYS):
        return None
    start = year * 10_000 + month * 100 + day
    return range(start, start + DURATIONS[len(parts)])
