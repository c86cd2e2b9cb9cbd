"""Days as numbers that can be compared: 2026-11-20 is 20261120; what people type about days, as ranges of such numbers.

Years and months stand for all of their days. It refuses to guess: what is written in another order than the ISO one
is no date, and "last week" is none either, since an answer must not depend on when somebody asks again.
"""

from __future__ import annotations

LAST = 9999_12_32
COMPARED = (">=", "<=", ">", "<", "=")
LENGTHS = ((4,), (4, 2), (4, 2, 2))  # digits of a year, a month, a day
FIRST = (1, 1, 1)
LONG = (0, 10_000, 100, 1)  # what a date of so many parts lasts, as numbers go
MONTHS, DAYS = 12, 31
ADVICE = "Write it as updated:2026, updated:>2026-01-31 or updated:2026-01..2026-03."


def day_number(text: str) -> int:
    """Give the first day that a date at the beginning of a text means, 0 where there is none."""
    found = _span(text.strip()[:10].rstrip("T ."))
    return found.start if found else 0


def days(text: str) -> range | None:
    """Give the days that a filter's value means, such as `2026-01`, `>2026-01-31` or `2026-01..2026-03`, or None."""
    if ".." in text:
        first, _, last = text.partition("..")
        begin, end = _span(first), _span(last)
        return range(begin.start, max(begin.start, end.stop)) if begin and end else None
    sign = next((each for each in COMPARED if text.startswith(each)), "")
    span = _span(text[len(sign) :])
    if span is None:
        return None
    ranges = {
        ">": range(span.stop, LAST),
        ">=": range(span.start, LAST),
        "<": range(1, span.start),
        "<=": range(1, span.stop),
    }
    return ranges.get(sign, span)


def _span(text: str) -> range | None:
    """Give the days of a year, a month or a day; the number that ends a range need be no day."""
    parts = text.split("-")
    if any(not (part.isascii() and part.isdigit()) for part in parts) or tuple(map(len, parts)) not in LENGTHS:
        return None
    year, month, day = (*map(int, parts), *FIRST[len(parts) :])
    if not (year and 0 < month <= MONTHS and 0 < day <= DAYS):
        return None
    start = year * 10_000 + month * 100 + day
    return range(start, start + LONG[len(parts)])
