"""Questions about what depends on something: "what breaks if I change X", "who calls X"; the graph answers them."""

from __future__ import annotations

import re

LONGEST = 300  # characters of such a question
ASKED = r"(?:what|who|which \w+)"
BREAKS = r"(?:breaks?|is affected|are affected|be affected|fails?|is hit)"
CHANGE = r"(?:change|remove|rename|delete|drop|modify|replace|touch|move|upgrade|break)"
CHANGING = r"(?:changing|removing|renaming|deleting|dropping|replacing)"
USES = r"(?:uses?|calls?|imports?|depends? on|rel(?:ies|y) on|rests? on|needs?|references?|inherits? from|consumes?)"
NAME = r"(?:the |my |our |this )?[`'\"]?(?P<name>[^\s`'\"?]{1,150}(?: [^\s`'\"?]{1,60}){0,3})[`'\"]?"
FORMS = tuple(
    re.compile(rf"{form} {NAME}[\s?!.]*", re.IGNORECASE)
    for form in (
        rf"{ASKED}(?: will| would| could| might| may)? {BREAKS} (?:if|when) (?:i|we|you|some(?:body|one)) {CHANGE}",
        rf"{ASKED}(?: else)? {USES}",
        rf"(?:what is )?the (?:impact|blast radius|effect) of {CHANGING}",
        r"(?:dependents|callers|users|importers|consumers) of",
    )
)


def changed_thing(text: str) -> str:
    """Return the name of the thing whose dependents a question asks for, or ""."""
    question = " ".join(text.split()) if len(text) <= LONGEST else ""
    form_match = next((match for form in FORMS if (match := form.fullmatch(question))), None)
    return form_match["name"].rstrip(".?!,") if form_match else ""
