"""Where sentences end, as far as a text shows it without knowing its language."""

from __future__ import annotations

import re

# An end mark, perhaps a closing quote or bracket, white space, and then no small letter; or an ideographic end mark.
END = re.compile(
    "[.!?\u2026]['\")\\]\u201d\u2019\u00bb]{0,3}(?=\\s+[^\\sa-z])"
    "|[\u3002\uff01\uff1f](?![\u3002\uff01\uff1f\u300d\u300f\uff09])"
)
# Words whose full stop does not end a sentence.
ABBREVIATIONS = frozenset(
    "al approx bzw ca cf dr ed eds eg etc e.g fig figs i.e ie inc jr mr mrs ms no nos nr p pp prof sec sr st "
    "u.s vol vs z.b".split()
)


def sentence_ends(text: str, low: int, high: int) -> list[int]:
    """Return the offsets after the last character of each sentence that ends between two offsets."""
    return [match.end() for match in END.finditer(text, low, high) if not _is_abbreviation(text, match.start())]


def last_sentence_end(text: str, low: int, high: int) -> int:
    """Return the offset at which the last sentence between two offsets ends, or 0."""
    ends = sentence_ends(text, low, min(high + 2, len(text)))
    return next((end for end in reversed(ends) if end <= high), 0)


def _is_abbreviation(text: str, stop: int) -> bool:
    if text[stop] != ".":
        return False
    begin = max(text.rfind(space, max(0, stop - 12), stop) for space in " \n(")
    word = text[begin + 1 : stop].lower() if begin >= 0 else text[max(0, stop - 12) : stop].lower()
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha())
