"""Finding the sentences of a lesson from which a trigger can be drafted: those that forbid an act or say what it does.

A story of what happened counts if it names a command. Advice on what to do instead is left out, since it must not fire.
"""

from __future__ import annotations

from collections.abc import Iterator

from deia.tables import Tables
from deia.text import one_line
from deia.watch.authoring.sentence_to_trigger import OPENINGS, names_by_verb, without_effect

TABLES = Tables(__file__)
MOST_TEXT = 20_000  # characters of a lesson that are read
MOST_SENTENCES = 12  # that are returned
ADVICE = ("always", "make sure", "be sure", "remember to", "please", "you should")  # openings of what should be done
PROHIBITIONS = tuple(
    f"{text} " for text in OPENINGS if not text.startswith(ADVICE) or "never" in text or "not" in text.split()
)
GOOD = frozenset("prevents avoids helps fixes solves keeps restores saves protects ensures".split())  # effects
FENCES = ("```", "~~~")
SHELLS = frozenset(("", "sh", "bash", "shell", "console", "zsh", "powershell"))  # what a fence may say it contains
HARM, REMEDIES = TABLES.words("harm"), TABLES.words("remedies")


def cautions(title: str, summary: str, text: str) -> list[str]:
    """Return the sentences of a lesson that warn of an act, the title first, and those that tell of one last."""
    every = [title, summary, *_sentences(text[:MOST_TEXT])]
    sentences = [sentence for sentence in every if is_caution(one_line(sentence).strip())]
    if _is_act(title) and title not in sentences:
        sentences.insert(0, title)
    stories = (title, *_sentences(text[:MOST_TEXT], remedies=False))
    sentences += [
        story
        for story in (summary, *stories)
        if "`" in story and (REMEDIES | GOOD).isdisjoint(_said(story)) and (story == summary or HARM & _said(story))
    ]
    return list(dict.fromkeys(one_line(sentence).strip() for sentence in sentences))[:MOST_SENTENCES]


def is_caution(sentence: str) -> bool:
    """Return whether a sentence forbids an act or says what an act causes."""
    lowered = sentence.lower().replace("\u2019", "'")
    forbids = lowered.startswith(PROHIBITIONS) or " must not be " in f" {lowered} "
    act, tokens = without_effect(sentence), lowered.split()
    return forbids or (act != sentence and tokens[len(act.split())].strip(",.:;!") not in GOOD)


def _said(sentence: str) -> set[str]:
    """Return the words of a sentence outside backticks."""
    return {word.strip(",.:;!()") for part in sentence.lower().split("`")[::2] for word in part.split()}


def _is_act(title: str) -> bool:
    """Return whether a title names an act: it begins with a command in backticks, or with a verb in -ing."""
    if title.startswith("`"):
        return title.count("`") > 1 and not GOOD.intersection(title.lower().split())
    return names_by_verb(title.lower().partition(" ")[0]) and without_effect(title) == title


def _sentences(text: str, *, remedies: bool = True) -> Iterator[str]:
    """Yield the sentences of Markdown, without headings and code blocks; the end of a list item ends a sentence.

    The first command of a code block belongs to the sentence before it that ends with a colon. Without `remedies`,
    sections are left out whose heading says that they tell what to do.
    """
    fenced = announced = left_out = False
    paragraph = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("#") and not fenced:
            left_out = not remedies and not REMEDIES.isdisjoint(bare.lower().strip("#: ").split())
        if left_out:
            bare = ""
        elif bare.startswith(FENCES):
            fenced = not fenced
            announced = fenced and paragraph.endswith(":") and bare.strip("`~ ").lower() in SHELLS
        elif announced and bare and not bare.startswith("#"):
            paragraph, announced = f"{paragraph} `{bare.removeprefix('$ ')}`", False
        if announced or (not bare and paragraph.endswith(":")):
            continue
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
