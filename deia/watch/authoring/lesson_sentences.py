"""The sentences of a lesson that say what somebody should not do, or what an act does: those to draft a trigger from.

Refuses everything else: a story of what happened names no act, and what is to be done instead must not fire.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia.text import one_line
from deia.watch.authoring.sentence_to_trigger import OPENINGS, names_by_verb, without_effect

MOST_TEXT = 20_000  # characters of a lesson that are read
MOST = 12  # sentences that are tried
WANTED = ("always", "make sure", "be sure", "remember to", "please", "you should")  # openings of what is to be done
AGAINST = tuple(
    sorted((one for one in OPENINGS if not one.startswith(WANTED) or "never" in one or "not" in one.split()),
           key=len, reverse=True)
)  # fmt: skip
GOOD = frozenset("prevents avoids helps fixes solves keeps restores saves protects ensures".split())  # effects
FENCES = ("```", "~~~")


def cautions(title: str, summary: str, text: str) -> list[str]:
    """Give the sentences of a lesson that name an act to beware of, the title's first."""
    found = [one for one in (title, summary, *_sentences(text[:MOST_TEXT])) if is_caution(one_line(one).strip())]
    if _is_act(title) and title not in found:
        found.insert(0, title)
    return list(dict.fromkeys(one_line(one).strip() for one in found))[:MOST]


def is_caution(sentence: str) -> bool:
    """Say whether a sentence forbids an act, or tells what comes of one."""
    lowered = sentence.lower().replace("\u2019", "'")
    forbids = lowered.startswith(tuple(f"{one} " for one in AGAINST)) or " must not be " in f" {lowered} "
    act, spoken = without_effect(sentence), lowered.split()
    return forbids or (act != sentence and spoken[len(act.split())].strip(",.:;!") not in GOOD)


def _is_act(title: str) -> bool:
    """Say whether a title names an act: a command in backticks that comes first, or a verb in -ing."""
    if title.startswith("`"):
        return title.count("`") > 1 and not GOOD.intersection(title.lower().split())
    return names_by_verb(title.lower().partition(" ")[0]) and without_effect(title) == title


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of Markdown, without headings and blocks of code; an item of a list ends one."""
    fenced = False
    paragraph = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith(FENCES):
            fenced = not fenced
        item = bare.startswith(("- ", "* ", "+ ", "> "))
        if fenced or not bare or item or bare.startswith(("#", *FENCES)):
            yield from _split(paragraph)
            paragraph = bare[2:] if item and not fenced else ""
        else:
            paragraph = f"{paragraph} {bare}"
    yield from _split(paragraph)


def _split(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph; a full stop within backticks or within a word ends none."""
    start, quoted = 0, False
    for at, char in enumerate(paragraph):
        quoted ^= char == "`"
        if not quoted and char in ".!?;" and paragraph[at + 1 : at + 2] in ("", " "):
            yield paragraph[start : at + 1].strip()
            start = at + 1
    if paragraph[start:].strip():
        yield paragraph[start:].strip()
