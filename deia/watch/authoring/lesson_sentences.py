"""Finding the sentences of a lesson from which a trigger can be drafted: those that forbid an act or say what it does.

Other sentences are left out: a story of what happened names no act, and advice on what to do instead must not fire.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia.text import one_line
from deia.watch.authoring.sentence_to_trigger import OPENINGS, names_by_verb, without_effect

MOST_TEXT = 20_000  # characters of a lesson that are read
MOST_SENTENCES = 12  # that are returned
ADVICE = ("always", "make sure", "be sure", "remember to", "please", "you should")  # openings of what should be done
PROHIBITIONS = tuple(
    sorted(
        (text for text in OPENINGS if not text.startswith(ADVICE) or "never" in text or "not" in text.split()),
        key=len,
        reverse=True,
    )
)
GOOD = frozenset("prevents avoids helps fixes solves keeps restores saves protects ensures".split())  # effects
FENCES = ("```", "~~~")


def cautions(title: str, summary: str, text: str) -> list[str]:
    """Return the sentences of a lesson that warn of an act, the title first."""
    sentences = [
        sentence
        for sentence in (title, summary, *_sentences(text[:MOST_TEXT]))
        if is_caution(one_line(sentence).strip())
    ]
    if _is_act(title) and title not in sentences:
        sentences.insert(0, title)
    return list(dict.fromkeys(one_line(sentence).strip() for sentence in sentences))[:MOST_SENTENCES]


def is_caution(sentence: str) -> bool:
    """Return whether a sentence forbids an act or says what an act causes."""
    lowered = sentence.lower().replace("\u2019", "'")
    forbids = lowered.startswith(tuple(f"{opening} " for opening in PROHIBITIONS)) or " must not be " in f" {lowered} "
    act, tokens = without_effect(sentence), lowered.split()
    return forbids or (act != sentence and tokens[len(act.split())].strip(",.:;!") not in GOOD)


def _is_act(title: str) -> bool:
    """Return whether a title names an act: it begins with a command in backticks, or with a verb in -ing."""
    if title.startswith("`"):
        return title.count("`") > 1 and not GOOD.intersection(title.lower().split())
    return names_by_verb(title.lower().partition(" ")[0]) and without_effect(title) == title


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of Markdown, without headings and code blocks; the end of a list item ends a sentence."""
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
    """Yield the sentences of a paragraph; a full stop in backticks or within a word does not end a sentence."""
    start, quoted = 0, False
    for at, char in enumerate(paragraph):
        quoted ^= char == "`"
        if not quoted and char in ".!?;" and paragraph[at + 1 : at + 2] in ("", " "):
            yield paragraph[start : at + 1].strip()
            start = at + 1
    if paragraph[start:].strip():
        yield paragraph[start:].strip()
