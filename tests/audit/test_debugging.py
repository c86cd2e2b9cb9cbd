"""A traced search says what happened at each step, and where an expected document was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.audit.debugging import ABSENT, LOW, MISSING, OUTSIDE, SHOWN
from deia.errors import QueryError
from deia.ingest.source import FolderSource
from tests.audit.conftest import ASKED, LESSONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.librarian import Librarian

    Opened = Callable[[], Librarian]


def test_a_search_that_finds_what_it_should_has_no_conclusion(opened: Opened) -> None:
    trace = opened().debug(ASKED, expect=["queue"])
    assert [(lost.document, lost.stage, lost.rank) for lost in trace.expected] == [("queue", SHOWN, 1)]
    assert (trace.recall, trace.unexpected, trace.conclusion) == (1.0, "", "")
    assert trace.by_words[0] == trace.by_meaning[0] == trace.fused[0] == "queue"
    assert {"restart", "queue"} <= set(trace.words)


def test_a_document_that_is_lost_is_told_with_its_stage_and_a_cure(opened: Opened) -> None:
    trace = opened().debug(ASKED, expect=["mail", "absent"])
    assert [(lost.document, lost.stage) for lost in trace.expected] == [("mail", LOW), ("absent", ABSENT)]
    assert all(lost.cure for lost in trace.expected)
    assert (trace.conclusion, trace.unexpected, trace.precision, trace.recall) == (MISSING, "queue", 0.0, 0.0)
    assert trace.to_dict()["verdict"]["observed"]["covered"] > 0  # type: ignore[call-overload,index,operator]


def test_the_cure_of_a_document_that_is_not_shown_is_more_documents_than_were_asked_for(opened: Opened) -> None:
    librarian = opened()
    (lost,) = librarian.debug(ASKED, expect=["mail"]).expected
    assert lost.stage == LOW
    assert 0 < lost.rank <= len(LESSONS)
    assert f"--limit {librarian.settings.limit + 1}," in lost.cure


def test_documents_are_ranked_in_the_order_in_which_they_are_shown(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = opened().debug(ASKED).fused
    monkeypatch.setattr("deia.search.ranking.shown_order.fit", lambda document, *_rest, **_more: -document.score)
    assert opened().debug(ASKED).fused == in_order[::-1]


def test_what_the_commons_is_not_about_is_outside_the_domain(opened: Opened) -> None:
    assert opened().debug("xylophone zeppelin quasar").conclusion == OUTSIDE


def test_the_search_that_has_the_best_document_is_traced(opened: Opened, root: Path) -> None:
    (root.parent / "pumps").mkdir()
    (root.parent / "pumps/pump.md").write_text("# The pump\n\nThe impeller of the pump turns left.\n", encoding="utf-8")
    opened().ingest(FolderSource(path=str(root.parent / "pumps")))
    assert opened().debug("Which way does the impeller turn?").shown == ("library:pumps/pump.md",)
    assert opened().debug(ASKED).shown[0] == "queue"


def test_modes_look_by_words_by_meaning_or_by_both(opened: Opened) -> None:
    for mode in ("hybrid", "keyword", "semantic", "natural"):
        assert opened().query(ASKED, mode=mode).primary[0].id == "queue", mode
    assert opened().query(ASKED, mode="keyword").audit.tier == "keyword"
    with pytest.raises(QueryError, match="mode 'guess' is unknown"):
        opened().query(ASKED, mode="guess")


def test_settings_weigh_meaning_and_variety(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = []
    for alpha in ("0.0", "1.0"):
        monkeypatch.setenv("DEIA_HYBRID_ALPHA", alpha)
        ranked = opened().query("keys queue mail", limit=4).documents
        scores.append([(result.id, result.score) for result in ranked])
    assert scores[0] != scores[1]


def test_near_copies_do_not_fill_the_first_places(opened: Opened, root: Path) -> None:
    text = "# Queues\n\nA restart of the queue drops the jobs that wait in it, so drain it before the restart.\n"
    for number in range(4):
        (root / "bok" / f"copy{number}.md").write_text(f"{text}\nCopy {number}.\n", encoding="utf-8")
    found = [result.id for result in opened().query(ASKED, limit=3).documents]
    assert "queue" in found[:2]
    assert sum(name.startswith("copy") for name in found[:2]) == 1
