"""Find the facts of untrusted documents in a process of its own; see `deia.ingest.limited_process`."""

from __future__ import annotations

import functools
import os
import threading
from importlib import import_module
from importlib.util import find_spec

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
    from deia.ingest import chunk  # noqa: F401 - `answer_of` uses it
    from deia.ingest.read import READERS

    @functools.cache
    def _getting_ready() -> threading.Thread:
        """Import what finds facts, in a tenth of a second, while what was read and cut is written elsewhere."""
        thread = threading.Thread(target=_load, daemon=True)
        thread.start()
        return thread

    def _load() -> None:
        from deia.graph.facts_of import facts_of  # noqa: PLC0415 - the first file shall not wait for it

        if not has_word_forms():  # spaCy takes a second or more
            facts_of(Page(name="", type="text", text=""))  # compiles patterns, for 40 ms

    def _is_compiled(module: str) -> bool:
        found = find_spec(module)
        return found is not None and found.cached is not None and os.path.exists(found.cached)

    def _answer(question: Fields, content: bytes) -> object:
        if "page" in question:
            from deia.graph.facts_of import facts_of  # noqa: PLC0415 - likewise

            return facts_of(Page(**question["page"]))
        if "custom" in question:  # the CPU time of a chunker is counted
            _getting_ready().join()
        answer = answer_of(question, content)
        if "reading" in question:
            _getting_ready()
        return answer

    needed_later = ["deia.graph.facts_of", *(f"deia.ingest.readers.{module}" for module, _ in READERS.values())]
    if not all(map(_is_compiled, needed_later)):  # later this process can write no files: each one would compile them
        for needed in needed_later:
            import_module(needed)
    answer_questions(_answer)
