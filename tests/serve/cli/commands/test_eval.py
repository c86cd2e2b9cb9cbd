"""`deia eval` and what it counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deia.audit.golden_run import Change, Evaluation, QueryOutcome, Scores, changes, read_run, run_path, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

GOLDEN = """\
- query: which records are saved before a site is deleted
  documents: [site-checklist]
- query: zebra xylophone sourdough
  nothing: true
"""


def asked(query: str, *, ndcg: float = 1.0, right: bool = True, wanted: bool = True, ms: float = 1.0) -> QueryOutcome:
    """Give the outcome of one question."""
    return QueryOutcome(
        query=query, wanted=("d",) if wanted else (), found=("d",) if right == wanted else (),
        scores=Scores(ndcg=ndcg, hit=ndcg), right=right, confidence="high", ms=ms, tier="static",
    )  # fmt: skip


def test_golden_questions_are_measured_and_compared_with_the_last_run(deia: Deia, commons: Path) -> None:
    (commons / "golden.yaml").write_text(GOLDEN)
    first = deia("eval")
    assert first.code == 0, first.err
    assert "3 questions" in first.out
    assert "nDCG@10 1.000" in first.out
    assert "rightly not answered: 1 of 1" in first.out
    assert "This is the first run" in first.out
    assert "Nothing changed since the last run." in deia("eval").out


def test_a_question_that_was_found_and_no_longer_is_fails_the_run(deia: Deia, commons: Path) -> None:
    assert deia("eval").code == 0
    index = commons / "commons_index.yaml"
    index.write_text(index.read_text().replace("common_docs: [site-checklist]", "common_docs: [gone]"))
    lost = deia("eval")
    assert lost.code == 1
    assert "lost since the last run (1):" in lost.out
    assert "expected but missing documents: gone" in lost.out
    assert "How do I delete a site safely?" in lost.out
    assert deia("eval").code == 0  # it was told


def test_the_report_for_programs_has_every_question(deia: Deia) -> None:
    told = json.loads(deia("eval", "--json", "--tier", "keyword").out)
    assert told["tiers"] == ["keyword"]
    assert told["figures"]["ndcg"] == 1.0
    assert [each["right"] for each in told["results"]] == [True]
    assert told["results"][0]["wanted"] == ["site-checklist"]


def test_a_tier_that_was_not_compiled_is_no_measure(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text('tier = "keyword"\n')
    assert deia("eval", "--tier", "keyword").code == 0
    told = deia("eval", "--tier", "static")
    assert told.code == 0 or "compiled without the static tier" in told.err


def test_a_file_of_questions_can_be_named(deia: Deia, commons: Path) -> None:
    (commons / "mine.yaml").write_text(GOLDEN)
    assert "2 questions" in deia("eval", "mine.yaml").out


@pytest.mark.parametrize(
    ("text", "told"), [("- query: x\n", "golden.yaml:1"), ("- [\n", "golden.yaml"), ("x: 1\n", "wrong-type")]
)
def test_a_broken_file_is_told_with_its_problems(deia: Deia, commons: Path, text: str, told: str) -> None:
    (commons / "golden.yaml").write_text(text)
    refused = deia("eval")
    assert refused.code == 2
    assert told in refused.err


def test_without_questions_it_says_where_to_write_some(deia: Deia, commons: Path) -> None:
    index = commons / "commons_index.yaml"
    index.write_text(index.read_text().partition("query_patterns")[0])
    refused = deia("eval")
    assert refused.code == 2
    assert "golden.yaml" in refused.err
    assert deia("eval", "nowhere.yaml").code == 2


def test_doctor_fails_when_a_golden_question_is_lost(deia: Deia, commons: Path) -> None:
    deia("compile")
    assert "1 golden question asked, all documents found" in deia("doctor").out
    (commons / "golden.yaml").write_text("- {query: zebra xylophone, documents: [site-checklist]}\n")
    done = deia("doctor")
    assert done.code == 1
    assert "1 of 2 golden questions miss their documents: zebra xylophone" in done.out
    (commons / "golden.yaml").write_text("- {query: delete a site, nothing: true}\n")
    assert deia("doctor").code == 1


# --- counting ---


def test_abstention_and_latency_are_told() -> None:
    done = Evaluation(
        outcomes=(
            asked("a", ms=1),
            asked("b", ndcg=0.0, right=False, ms=9),
            asked("n", wanted=False, right=False, ms=2),
        )
    )
    figures = done.figures()
    assert (figures["ndcg"], figures["found"], figures["refused_wrongly"]) == (0.5, 0.5, 0.5)
    assert figures["refused_rightly"] == 0.0
    assert (figures["p50_ms"], figures["p95_ms"]) == (2, 9)
    assert [each.query for each in done.wrong] == ["b", "n"]


def test_changes_name_what_was_lost_first(tmp_path: Path) -> None:
    path = run_path(str(tmp_path), "commons", "", "")
    before = Evaluation(outcomes=(asked("same"), asked("worse"), asked("lost"), asked("found", ndcg=0.0, right=False)))
    assert write_run(path, before, at="2026-11-20")
    now = Evaluation(
        outcomes=(
            asked("same"),
            asked("worse", ndcg=0.5),
            asked("lost", ndcg=0, right=False),
            asked("found"),
            asked("new"),
        )
    )
    assert changes(now, read_run(path)) == [
        Change(query="lost", before=1.0, now=0, lost=True),
        Change(query="worse", before=1.0, now=0.5),
        Change(query="found", before=0.0, now=1.0, gained=True),
    ]


def test_questions_in_the_same_words_are_told_apart(tmp_path: Path) -> None:
    path = run_path(str(tmp_path), "commons")
    assert write_run(path, Evaluation(outcomes=(asked("same"), asked("same", ndcg=0.5))), at="")
    now = Evaluation(outcomes=(asked("same"), asked("same", ndcg=0.25)))
    assert changes(now, read_run(path)) == [Change(query="same", before=0.5, now=0.25)]


@pytest.mark.parametrize("held", [b"", b"{", b"[]", b'{"questions": {"a": 1}}', b'{"questions": {"a": ["x", 1]}}'])
def test_a_last_run_that_cannot_be_read_is_none(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "run.json").write_bytes(held)
    assert read_run(str(tmp_path / "run.json")) == {}
    assert read_run(str(tmp_path / "not-there.json")) == {}


def test_a_folder_that_cannot_be_written_only_loses_the_comparison(tmp_path: Path) -> None:
    (tmp_path / "eval").write_text("a file")
    assert not write_run(f"{tmp_path}/eval/x.json", Evaluation(outcomes=()), at="")


def test_evaluation_and_doctor_go_by_the_tier_that_is_set(deia: Deia, commons: Path) -> None:
    (commons / "golden.yaml").write_text(GOLDEN)
    deia("compile")
    (commons / "deia.toml").write_text('tier = "keyword"\n')
    assert "3 questions, keyword tier" in deia("eval").out
    assert "3 questions, static tier" in deia("eval", "--tier", "static").out
    (commons / "deia.toml").write_text('tier = "static"\n')
    assert json.loads(deia("eval", "--json").out)["tiers"] == ["static"]
    assert "asked, all documents found" in deia("doctor").out
