"""The outline that `deia add` writes if it gets no text, and how to recognise what is left of it in a document."""

from __future__ import annotations

from deia.tables import text_beside

OUTLINE = text_beside(__file__, ".md")
HEADINGS = frozenset(line for line in OUTLINE.splitlines() if line.startswith("#"))
PLACEHOLDERS = frozenset(line for line in OUTLINE.splitlines() if line and line not in HEADINGS)


def outline_lines(text: str) -> tuple[int, ...]:
    """Return the numbers, from 1, of the lines that are still placeholders of the outline."""
    if not any(line in text for line in PLACEHOLDERS):
        return ()
    return tuple(number for number, line in enumerate(text.splitlines(), 1) if line.strip() in PLACEHOLDERS)


def without_outline(text: str) -> str:
    """Return a text without the outline's placeholders, and without its headings that have nothing else below them.

    A text without placeholders is returned unchanged. If nothing but the title remains, the result is empty.
    """
    if not outline_lines(text):
        return text
    sections: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("#"):
            sections.append([])
        if line.strip() not in PLACEHOLDERS:
            sections[-1].append(line)
    filled = [
        section
        for section in sections
        if not (section and section[0].strip() in HEADINGS and not _has_text(section[1:]))
    ]
    if not any(_has_text(section[1:] if section[:1] and section[0].startswith("#") else section) for section in filled):
        return ""
    return "\n".join("\n".join(section).strip("\n") + "\n" for section in filled if _has_text(section))


def _has_text(lines: list[str]) -> bool:
    return any(line.strip() for line in lines)
