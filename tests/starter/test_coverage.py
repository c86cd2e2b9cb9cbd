"""The page about the starter's coverage matches the starter."""

from __future__ import annotations

import pytest

from tests.paths import ROOT
from tests.starter.loading import loaded
from tests.starter.starter_commons import COMMONS

PAGE = loaded(ROOT / "bench" / "coverage_page.py")


@pytest.mark.slow
def test_the_counts_of_the_page_are_up_to_date() -> None:
    text = PAGE.PAGE.read_text(encoding="utf-8")
    counted, measured, _ = text.partition(PAGE.MEASURED)
    assert counted == PAGE.counted(COMMONS), "Run `python bench/coverage_page.py --write`."
    assert measured


@pytest.mark.slow
def test_every_cluster_has_documents_triggers_and_cases() -> None:
    topics = PAGE.by_cluster(COMMONS)
    thin = [name for name, topic in topics.items() if not (topic.documents and topic.triggers and topic.silent)]
    assert thin == []
    text = PAGE.PAGE.read_text(encoding="utf-8").partition(PAGE.MEASURED)[2]
    assert [name for name in topics if f"| {name} |" not in text] == []
