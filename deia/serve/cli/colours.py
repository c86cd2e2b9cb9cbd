"""Colour in lines that a command prints: patterns, and how the text that they match is shown.

Only a terminal gets colour, and not if NO_COLOR is set. The lines themselves are the same with and without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TypeAlias

from deia.serve.cli import output
from deia.serve.cli.terminal import in_colour

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
Styles: TypeAlias = Sequence[tuple[str, str]]  # patterns of a part of a line, each with its colour

PROBLEMS: Styles = (
    (r"^\S+:\d+(?=: )", BOLD),
    (r"(?<=: )error(?=: )", RED),
    (r"(?<=: )warning(?=: )", YELLOW),
    (r" \[[a-z0-9-]+\]$", DIM),
)
FIRINGS: Styles = (
    (r"^turn \d+, \w+:", BOLD),
    (r"^  FIRES   \S+", RED),
    (r"^  silent  .*", DIM),
    (r"^Nothing fires.*", GREEN),
)
CASES: Styles = ((r"^\S+:\d+(?=: )", BOLD), (r"should (not )?fire, but.*", RED), (r", 0 failed\.$", GREEN))
FINDINGS: Styles = ((r"^(✓|ok) ", GREEN), (r"^(✗|X) ", RED), (r"^! ", YELLOW), (r"^    .*", DIM))


def say(text: str, styles: Styles) -> None:
    """Print a text to standard output, in colour if it is a terminal that shows it."""
    if output.at_terminal() and in_colour(os.environ):
        output.show("\n".join(coloured(line, styles) for line in output.printable(text).split("\n")))
    else:
        output.say(text)


def coloured(line: str, styles: Styles) -> str:
    """Return a printable line with terminal codes around the first match of each pattern."""
    matches = [(match.span(), code) for pattern, code in styles if (match := re.search(pattern, line))]
    shown, at = "", 0
    for (start, end), code in sorted(matches):
        if start >= at:
            shown += f"{line[at:start]}\x1b[{code}m{line[start:end]}\x1b[0m"
            at = end
    return shown + line[at:]
