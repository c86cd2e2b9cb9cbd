"""What Python says; nothing as yet."""

from __future__ import annotations

from deia.graph.facts import Facts


def python_facts(_document: str, _text: str, module: str) -> Facts:
    """Return what a module of Python defines and refers to."""
    return Facts(module)
