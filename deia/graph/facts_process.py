"""Find the facts of untrusted documents in a process of its own; see `deia.ingest.limited_process`."""

from __future__ import annotations

from typing import Any

from deia.graph.facts import Facts, facts_from
from deia.graph.facts_of import Page, facts_of
from deia.ingest.limited_process import SECONDS, LimitedProcess, answer_questions


class FactsProcess(LimitedProcess):
    """A process that finds the facts of documents."""

    module = "deia.graph.facts_process"
    fewest = SECONDS  # seconds: the first question may have to wait for spaCy

    def facts(self, page: Page) -> Facts:
        """Return what a document says, as `facts_of` does; raise `ReadingError` if it breaks a limit."""
        return self.ask(page.name, {"page": page.values()}, b"", facts_from)


def _value(question: dict[str, Any], _content: bytes) -> object:
    return facts_of(Page(**question["page"]))


if __name__ == "__main__":
    answer_questions(_value)
