"""Conditions of `write` clauses on the file: whether it exists, was read before, or repeats a document.

A function of the caller answers whether a file exists. Without one, none of these conditions is met.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.gate.word_gate import A_READ, FILE, LONGEST_NAME
from deia.watch.turn.tool_call import WHOLE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.recall import Memory

    Exists = Callable[[str], bool]

CONTENT_FIELDS = ("content", "file_text", "text", "contents")
MOST_HEAD = 4000  # characters at the beginning of a new document in which its title is looked for
MOST_DOCUMENTS = 5000  # that a new one is compared with
# Two titles are alike if they share this much of their words, and at least two words. Among the starter's own titles,
# 379 runbooks and 120 cheat sheets, no two share more than half once the words that many of them have are left out.
ALIKE = 0.6
LEAST_SHARED = 2
MANY = 5  # a word in more titles than that distinguishes nothing: `cheat sheet`, `runbook`
SMALL = frozenset("a an and are as at be before by for from how in is it not of on or the to when with your md".split())


def meets(
    asked: Mapping[str, int], path: str, turn: Turn, *, artefact: Artefact, memory: Memory, exists: Exists | None
) -> tuple[bool, str]:
    """Return whether a file that is about to be written meets a clause's conditions, and a remark on it."""
    if exists is None:
        return False, ""
    if "exists" in asked and exists(path) != asked["exists"]:
        return False, ""
    if asked.get("unread") and not _is_unread(path, turn, memory):
        return False, ""
    if asked.get("like"):
        document = _similar_document(path, turn, artefact)
        return bool(document), f"it reads like {document}"
    return True, "it exists" + (", and nothing in this conversation read it" if asked.get("unread") else "")


def _is_unread(path: str, turn: Turn, memory: Memory) -> bool:
    """Return whether a file is written whole and no earlier call named it; who edits a file has read it.

    If no call of a reading tool was ever seen, the host does not report them, and the answer is no.
    """
    if A_READ not in memory.seen:
        return False
    if turn.tool.lower() not in WHOLE_TOOLS or (turn.tool_input or {}).get("old_str"):
        return False
    return FILE + _name(path)[-LONGEST_NAME:] not in memory.seen


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _similar_document(path: str, turn: Turn, artefact: Artefact) -> str:
    """Return the document whose title or file name is most like a new one's, as `"title" (path)`, or ""."""
    documents = artefact.known[:MOST_DOCUMENTS]
    names = [(_stems(title), _stems(_base_name(place))) for place, title in documents]
    common = _common_words(names)
    own_names = [_stems(_base_name(path)), *map(_stems, _titles(turn))]
    best, similar = 0.0, ""
    for (place, title), document_names in zip(documents, names, strict=True):
        if path.replace("\\", "/").endswith(place.rpartition(":")[2]):
            continue  # the document itself
        closeness = max(_closeness(own, name, common) for own in own_names for name in document_names)
        if closeness > best:
            best, similar = closeness, f'"{title}" ({place})'
    return similar if best >= ALIKE else ""


def _common_words(names: Iterable[tuple[frozenset[str], ...]]) -> frozenset[str]:
    """Return the words in the names of so many documents that they do not distinguish them."""
    counts: dict[str, int] = {}
    for document_names in names:
        for word in frozenset().union(*document_names):
            counts[word] = counts.get(word, 0) + 1
    return frozenset(word for word, count in counts.items() if count > MANY)


def _base_name(path: str) -> str:
    return _name(path).rpartition(".")[0]


def _titles(turn: Turn) -> Iterator[str]:
    """Yield the titles of the new text: in its front matter, and its first heading."""
    tool_input = turn.tool_input or {}
    text = next((text for name in CONTENT_FIELDS if isinstance(text := tool_input.get(name), str)), turn.text)
    for line in text[:MOST_HEAD].splitlines():
        if line.startswith("title:"):
            yield line.removeprefix("title:")
        elif line.startswith("# "):
            yield line.removeprefix("# ")
            return


def _stems(title: str) -> frozenset[str]:
    """Return the words of a title that distinguish it, without their endings."""
    return frozenset(_stem(word) for word in words(title) if word not in SMALL)


def _stem(word: str) -> str:
    ending = next((end for end in ("ing", "ed", "es", "s") if word.endswith(end) and len(word) - len(end) > 2), "")
    return word.removesuffix(ending).rstrip("e") or word


def _closeness(first: frozenset[str], second: frozenset[str], common: frozenset[str]) -> float:
    """Return the Jaccard similarity of two titles' words without common ones; 0 if they share fewer than two."""
    if first == second and len(first) >= LEAST_SHARED:
        return 1.0
    shared = len((first & second) - common)
    return shared / len((first | second) - common) if shared >= LEAST_SHARED else 0.0
