from __future__ import annotations

import json
import os
import signal

import pytest

from deia.graph.facts import Page, facts_from
from deia.graph.facts_of import facts_of
from deia.graph.facts_process import FactsProcess
from deia.ingest.read import read
from deia.ingest.reading import ReadingError

TEXT = b"# Billing\n\n`Billing` uses the ledger database. See [stock](stock.md).\n"
PAGE = Page(name="a.md", type="markdown", text=TEXT.decode())
FACTS = facts_from(json.loads(json.dumps(facts_of(PAGE))))  # as they travel between processes


def test_the_process_that_read_a_file_finds_its_facts_as_they_would_be_found_here() -> None:
    with FactsProcess() as process:
        assert process.read("a.md", TEXT) == read("a.md", TEXT)
        reader = process._process
        assert process.facts(PAGE) == FACTS
        assert FACTS.references
        assert process._process is reader


def test_a_process_that_is_killed_after_it_has_read_is_replaced() -> None:
    with FactsProcess() as process:
        process.read("a.md", TEXT)
        assert process._process is not None
        os.kill(process._process.pid, signal.SIGTERM)
        process._process.wait()
        assert process.facts(PAGE) == FACTS


def test_what_one_question_breaks_off_the_next_one_does_not_notice() -> None:
    with FactsProcess() as process:
        with pytest.raises(ReadingError):
            process.read("core", b"\x7fELF\0")
        assert process.facts(PAGE) == FACTS
