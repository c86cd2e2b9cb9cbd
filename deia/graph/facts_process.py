"""Find the facts of untrusted documents in a process of its own; see `deia.ingest.limited_process`."""

from __future__ import annotations

from deia.graph.extractor import has_word_forms
from deia.graph.facts import Facts, Page, facts_from
from deia.ingest.limited_process import SECONDS, Fields, answer_questions
from deia.ingest.reader_process import ReaderProcess, answer_of


class FactsProcess(ReaderProcess):
    """A process that finds the facts of documents; it can have read the files before, which saves starting another."""

    module = "deia.graph.facts_process"

    def facts(self, page: Page) -> Facts:
        """Return what a document says, as `facts_of` does; raise `ReadingError` if it breaks a limit."""
        return self.ask(page.name, {"page": page.values()}, b"", facts_from, fewest=SECONDS)  # spaCy may have to load


if __name__ == "__main__":
    # Parsers, which the process that asks does not import.
    from deia.graph.facts_of import facts_of
    from deia.ingest import chunk, read  # noqa: F401 - used later, and as yet nobody waits

    if not has_word_forms():  # spaCy takes a second or more, which the first file shall not wait for
        facts_of(Page(name="", type="text", text=""))  # compiles patterns, for 40 ms

    def _answer(question: Fields, content: bytes) -> object:
        return facts_of(Page(**question["page"])) if "page" in question else answer_of(question, content)

    answer_questions(_answer)
