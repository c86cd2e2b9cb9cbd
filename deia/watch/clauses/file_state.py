"""What is asked of a file that is about to be written: whether it exists, was looked at before, or repeats a document.

Pure: whether a file exists is asked of a function that the rim gives; where it gives none, nothing is known and no such
condition is met.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.gate.word_gate import A_READ, FILE, LONGEST_NAME
from deia.watch.turn.tool_call import WHOLE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import Memory

    Exists = Callable[[str], bool]

CONTENT_FIELDS = ("content", "file_text", "text", "contents")
MOST_HEAD = 4000  # characters in which a new document says its title
MOST_NAMES = 5000  # documents that a new one is held against
# Two titles are alike when they share so much of their words, and at least two. Of the starter's own titles, of 379
# runbooks and of 120 cheat sheets, no two share more than half once the words that many of them have are left out.
ALIKE = 0.6
LEAST_SHARED = 2
MANY = 5  # titles, from which on a word tells nothing: `cheat sheet`, `runbook`
SMALL = frozenset("a an and are as at be before by for from how in is it not of on or the to when with your md".split())


def meets(
    asked: dict[str, bool], path: str, turn: Turn, *, artefact: Artefact, memory: Memory, exists: Exists | None
) -> tuple[bool, str]:
    """Say whether a file that is about to be written is as a clause asks, and what to tell of it."""
    if exists is None:
        return False, ""
    there = exists(path)
    if "exists" in asked and there != asked["exists"]:
        return False, ""
    if asked.get("unread") and not _is_unread(path, turn, memory):
        return False, ""
    if asked.get("like"):
        other = _like(path, turn, artefact)
        return bool(other), f"it reads like {other}"
    return True, "it exists" + (", and nothing in this conversation read it" if asked.get("unread") else "")


def _is_unread(path: str, turn: Turn, memory: Memory) -> bool:
    """Say whether a file is written whole and was never named by a call before; one that is only edited was.

    Where no call of a reading tool was ever seen, the host does not tell of them, and nothing is known.
    """
    if A_READ not in memory.seen:
        return False
    if turn.tool.lower() not in WHOLE_TOOLS or (turn.tool_input or {}).get("old_str"):
        return False
    return FILE + _name(path)[-LONGEST_NAME:] not in memory.seen


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


# --- is there a document like it? ---


def _like(path: str, turn: Turn, artefact: Artefact) -> str:
    """Give the document that is most like a new one by title or file name, as `title (path)`, or the empty text."""
    known = artefact.known[:MOST_NAMES]
    told = [(_told(title), _told(_stem(place))) for place, title in known]
    common = _common(told)
    own = [_told(_stem(path)), *map(_told, _titles(turn))]
    best, found = 0.0, ""
    for (place, title), names in zip(known, told, strict=True):
        if path.replace("\\", "/").endswith(place.rpartition(":")[2]):
            continue  # the document itself
        closeness = max(_closeness(one, other, common) for one in own for other in names)
        if closeness > best:
            best, found = closeness, f'"{title}" ({place})'
    return found if best >= ALIKE else ""


def _common(told: Iterable[tuple[frozenset[str], ...]]) -> frozenset[str]:
    """Give the words that so many documents have in their names that they tell none from another."""
    counts: dict[str, int] = {}
    for names in told:
        for word in frozenset().union(*names):
            counts[word] = counts.get(word, 0) + 1
    return frozenset(word for word, count in counts.items() if count > MANY)


def _stem(path: str) -> str:
    return _name(path).rpartition(".")[0]


def _titles(turn: Turn) -> Iterator[str]:
    """Give what the new text says its title is: in its front-matter, or as its first heading."""
    given: Any = turn.tool_input or {}
    text = next((given[name] for name in CONTENT_FIELDS if isinstance(given.get(name), str)), turn.text)
    for line in text[:MOST_HEAD].splitlines():
        if line.startswith("title:"):
            yield line.removeprefix("title:")
        elif line.startswith("# "):
            yield line.removeprefix("# ")
            return


def _told(text: str) -> frozenset[str]:
    """Give the words that tell a title from others, without their endings."""
    return frozenset(_base(word) for word in words(text) if word not in SMALL)


def _base(word: str) -> str:
    ending = next((one for one in ("ing", "ed", "es", "s") if word.endswith(one) and len(word) - len(one) > 2), "")
    return word.removesuffix(ending).rstrip("e") or word


def _closeness(one: frozenset[str], other: frozenset[str], common: frozenset[str]) -> float:
    """Give the share of telling words that two titles have in common (Jaccard); 0 below two of them."""
    if one == other and len(one) >= LEAST_SHARED:
        return 1.0
    shared = len((one & other) - common)
    return shared / len((one | other) - common) if shared >= LEAST_SHARED else 0.0
