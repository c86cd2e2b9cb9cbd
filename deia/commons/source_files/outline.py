"""The outline that `deia add` writes where no text was given, and what of a document is still that outline."""

from __future__ import annotations

OUTLINE = """\
## What happens

What goes wrong, and how it shows.

## Do instead

The steps that avoid it, with exact commands.

## Recover

What to do when it has happened.
"""
HEADINGS = frozenset(line for line in OUTLINE.splitlines() if line.startswith("#"))
PLACEHOLDERS = frozenset(line for line in OUTLINE.splitlines() if line and line not in HEADINGS)


def outline_lines(text: str) -> tuple[int, ...]:
    """Give the lines of a text, from 1, that are still the outline's."""
    if not any(line in text for line in PLACEHOLDERS):
        return ()
    return tuple(number for number, line in enumerate(text.splitlines(), 1) if line.strip() in PLACEHOLDERS)


def without_outline(text: str) -> str:
    """Give a text without the outline's own lines, and without those of its headings below which nothing is left.

    A text without any of them comes back as it is; one of which only its title is left, as the empty text.
    """
    if not outline_lines(text):
        return text
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("#"):
            parts.append([])
        if line.strip() not in PLACEHOLDERS:
            parts[-1].append(line)
    kept = [part for part in parts if not (part and part[0].strip() in HEADINGS and not _says(part[1:]))]
    if not any(_says(part[1:] if part[:1] and part[0].startswith("#") else part) for part in kept):
        return ""
    return "\n".join("\n".join(part).strip("\n") + "\n" for part in kept if _says(part))


def _says(lines: list[str]) -> bool:
    return any(line.strip() for line in lines)
