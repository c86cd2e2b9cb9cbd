"""Reports: figures checked by hand, gaps grouped by topic, and a self-contained page that leaks nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from deia.commons.source_files.front_matter import split
from deia.errors import QueryError
from deia.ledger.charts import draw, picture_of, scale
from deia.ledger.feedback import find_event
from deia.ledger.gaps import find_gaps, outline
from deia.ledger.report_page import page
from deia.ledger.report_values import Chart, Grid
from deia.ledger.reports import REPORTS, Known, KnownDocument, make_reports
from deia.ledger.warehouse import open_warehouse, read_through
from deia.search.rendering.terminal_answer import Look
from deia.serve.cli.report_tables import report_text
from tests.ledger.conftest import firing, question

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.ledger.report_values import Report
    from tests.ledger.conftest import Write

KNOWN = Known(
    documents=(
        KnownDocument(id="a", title="A", verified="2026-01-01"),
        KnownDocument(id="b", title="B", verified="2026-11-01", changed="2026-11-10"),
        KnownDocument(id="never", title="N"),
        KnownDocument(id="due", review_after="2026-01-31"),
        KnownDocument(id="over", valid_until="2026-01-31"),
        KnownDocument(id="later", valid_until="2999-01-31", review_after="2999-01-31"),
    ),
    triggers=("t", "quiet"),
    today="2026-11-20",
)  # fmt: skip


@pytest.fixture
def ledger(write: Write) -> Path:
    """Write a small ledger with known contents."""
    write(question("old one", "a"), day="2026-10-01")
    return write(
        question("where is it", "a", conversation="c1", response_time_ms=10),
        {"event": "read", "doc": "a", "conversation": "c1"},
        question("where is it", "a", conversation="c2", response_time_ms=20), question("renew the tls certificate"),
        question("tls certificate expired"), question("helm upgrade stuck"), *(question("x", "b") for _ in range(5)),
        firing("t", "held", id="h1", conversation="c1"), firing("t", "held", id="h2", conversation="c2"),
        firing("t", "held", id="h3", conversation="c3"), firing("t", "passed", conversation="c3"), firing("t", id="s1"),
        {"event": "feedback", "of": "h1", "verdict": "prevented"},
        {"event": "feedback", "of": "s1", "verdict": "noise"},
    )  # fmt: skip


def make(folder: Path, name: str) -> Report:
    return read_through([str(folder)], lambda connection: make_reports(connection, KNOWN, [name]))[0]


def grid(report: Report, title: str) -> list[dict[str, Any]]:
    (table,) = [block for block in report.blocks if isinstance(block, Grid) and block.title == title]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def figures(report: Report) -> dict[str, Any]:
    return {figure.label: figure.value for figure in report.figures}


def test_questions_are_counted_by_how_they_were_answered(ledger: Path) -> None:
    report = make(ledger, "queries")
    shown = figures(report)
    assert (shown["asked"], shown["answered"], shown["unanswered"], shown["answered badly"]) == (11, 72.7, 27.3, 0.0)
    assert grid(report, "Asked most")[1] == {
        "question": "where is it", "times": 2, "by": 2, "answered": 100.0, "opened": 50.0, "last": "2026-11-20",
    }  # fmt: skip
    assert {row["question"] for row in grid(report, "Unanswered")} == {
        "renew the tls certificate", "tls certificate expired", "helm upgrade stuck",
    }  # fmt: skip


def test_documents_are_told_by_what_they_did(ledger: Path) -> None:
    report = make(ledger, "documents")
    assert [row["document"] for row in grid(report, "Never shown")] == ["due", "later", "never", "over"]
    assert [(row["document"], row["in answers"]) for row in grid(report, "Shown and ignored")] == [("b", 5)]
    assert {row["document"]: row["opened"] for row in grid(report, "Helpful")} == {"a": 1, "d": 0}
    assert figures(report)["never shown"] == 4
    assert {row["document"]: row["because"] for row in grid(report, "To be checked again")} == {
        "a": "checked 323 days ago", "b": "changed on 2026-11-10, after the check",
        "due": "to be reviewed after 2026-01-31", "over": "valid until 2026-01-31",
    }  # fmt: skip


def test_triggers_are_told_with_what_people_said_of_them(ledger: Path) -> None:
    report = make(ledger, "triggers")
    (row,) = grid(report, "Each trigger")
    assert (row["fired"], row["held"], row["passed"], row["useful"], row["noise"], row["precision"]) == (
        4,
        3,
        1,
        1,
        1,
        50.0,
    )
    assert [row["trigger"] for row in grid(report, "Never fired")] == ["quiet"]


@pytest.mark.parametrize("name", ["summary", "triggers"])
def test_of_holds_is_said_what_was_seen_and_no_mistake_is_guessed(ledger: Path, name: str) -> None:
    report = make(ledger, name)
    (figure,) = (figure for figure in report.figures if figure.label == "held and not repeated")
    assert (figure.value, figure.note) == (2, "of 3; 1 judged `prevented`")
    assert not any("estimate" in text for text in (*report.notes, *(one.label for one in report.figures)))


def test_latency_is_told_by_path(ledger: Path) -> None:
    report = make(ledger, "latency")
    (row,) = grid(report, "By path")
    assert (row["path"], row["answers"], row["p50"], row["most"]) == ("tester · static", 11, 3.5, 20.0)


def test_agents_are_told_with_what_they_did(ledger: Path) -> None:
    shown = {row["who"]: row for row in grid(make(ledger, "agents"), "Each agent and host")}
    assert shown["tester"]["questions"] == 11
    assert shown["a-host"]["injections"] == 4  # the call that passed was no lesson


def test_a_document_with_nothing_but_noise_helps_nobody(write: Write) -> None:
    noise, mixed = firing("n", id="n1", docs=["noisy"]), firing("m", id="m1", docs=["mixed"])
    verdicts = [("n1", "noise"), ("m1", "noise"), ("m1", "useful"), ("m1", "useful")]
    folder = write(noise, mixed, *({"event": "feedback", "of": of, "verdict": said} for of, said in verdicts))
    report = make(folder, "documents")
    assert [row["document"] for row in grid(report, "Called noise")] == ["noisy"]
    assert [row["document"] for row in grid(report, "Helpful")] == ["mixed"]


def test_the_chart_of_the_summary_counts_the_lessons_that_its_figure_counts(ledger: Path) -> None:
    report = make(ledger, "summary")
    (chart,) = [block for block in report.blocks if isinstance(block, Chart)]
    assert sum(value or 0 for value in chart.series["lessons"]) == figures(report)["lessons shown to agents"] == 4
    assert [figure.note for figure in report.figures if figure.label == "lessons shown to agents"] == [
        "in 4 conversations"
    ]
    everything = sum(value or 0 for values in chart.series.values() for value in values)
    assert f"{everything:g} events" in report.lead


@pytest.mark.parametrize("most", [1, 3, 7, 9, 40])
def test_counts_have_whole_numbers_on_their_axis(most: int) -> None:
    step, top = scale(most, whole=True)
    assert step == int(step) >= 1
    assert top >= most


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_of_an_empty_ledger_says_so(tmp_path: Path, name: str) -> None:
    report = make(tmp_path, name)
    assert report.lead
    assert json.loads(json.dumps(report.to_dict()))["report"] == name
    assert report_text(report, Look(width=80))


# --- gaps ---


def test_gaps_are_grouped_by_what_they_are_about(ledger: Path) -> None:
    gaps = read_through([str(ledger)], find_gaps)
    assert [set(gap.questions) for gap in gaps] == [
        {"renew the tls certificate", "tls certificate expired"}, {"helm upgrade stuck"},
    ]  # fmt: skip
    assert {"tls", "certificate"} & set(gaps[0].terms)
    assert (gaps[0].asked, gaps[0].unanswered) == (2, 2)


def test_what_is_answered_by_now_is_no_gap(write: Write) -> None:
    folder = write(question("how"), question("rotate keys"), question("rotate keys", "a"))
    assert read_through([str(folder)], find_gaps) == []


def test_a_draft_is_a_document_with_front_matter(ledger: Path) -> None:
    text = outline(read_through([str(ledger)], find_gaps)[0])
    assert text.startswith('---\ntitle: "')
    front = split(text, path="bok/draft.md")
    assert not front.problems
    assert front.metadata
    for part in ("What people ask", "- tls certificate expired", "What to do", "Asked 2 times"):
        assert part in text


# --- feedback ---


def test_what_is_judged_is_found_by_all_its_names(ledger: Path) -> None:
    with open_warehouse([str(ledger)]) as connection:
        assert find_event(connection, "h1").name == "t"
        assert find_event(connection, "last").id == "s1"
        assert find_event(connection, "t").id == "s1"
        assert find_event(connection, "a").name == "where is it"
        assert find_event(connection, "10-01-here-0").name == "old one"
        for unknown in ("nothing", "", "'; DROP", "here"):
            with pytest.raises(QueryError):
                find_event(connection, unknown)
        with pytest.raises(QueryError, match="several"):
            find_event(connection, "re-0")


# --- the page and the charts ---

HOSTILE = "</title><script>alert(1)</script>\"'&<img src=x onerror=y>"


def all_of(folder: Path) -> str:
    reports = read_through([str(folder)], lambda connection: make_reports(connection, KNOWN, list(REPORTS)))
    return page(reports, made="now", place=HOSTILE)


def test_the_page_loads_nothing_and_runs_nothing(write: Write) -> None:
    folder = write(question(HOSTILE), question(HOSTILE, HOSTILE), firing(HOSTILE, because=HOSTILE, host=HOSTILE))
    text = all_of(folder)
    assert "<script" not in text
    assert "<img" not in text
    assert not re.findall(r"(?:src|href)=\"(?!#)|url\(|@import|https?://", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_every_chart_of_the_page_is_sound_svg(ledger: Path) -> None:
    text = all_of(ledger)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) >= 8
    for drawing in drawings:
        tree = ET.fromstring(drawing)  # noqa: S314 - our own
        assert tree.find("title") is not None
        _, _, wide, high = map(float, tree.attrib["viewBox"].split())
        for mark in tree.iter("rect"):
            x, y = float(mark.attrib["x"]), float(mark.attrib["y"])
            assert 0 <= x <= x + float(mark.attrib["width"]) <= wide
            assert 0 <= y <= y + float(mark.attrib["height"]) <= high


def test_heights_are_in_proportion() -> None:
    chart = Chart(title="T", kind="columns", labels=("a", "b"), series={"n": (2.0, 4.0)})
    tree = ET.fromstring(draw(chart))  # noqa: S314 - our own
    low, high = (float(mark.attrib["height"]) for mark in tree.iter("rect"))
    assert high == pytest.approx(2 * low, rel=0.01)


@pytest.mark.parametrize("most", [0.003, 1, 7, 99, 100, 101, 12345, 5e9])
def test_an_axis_ends_on_a_round_number_above_the_most(most: float) -> None:
    step, top = scale(most)
    assert most <= top * 1.000001 <= most * 2.5 + step
    assert 1 <= round(top / step) <= 6


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no browser")
def test_a_browser_shows_the_page_without_an_error(ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(all_of(ledger), encoding="utf-8")
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
         f"file://{tmp_path}/page.html"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "Latency</h2>" in shown.stdout
    assert shown.stdout.count("<svg") >= 8
    assert "CONSOLE" not in shown.stderr


# --- at a terminal ---


@pytest.mark.parametrize("width", [20, 60, 80, 140])
def test_no_line_at_a_terminal_is_wider_than_it(
    ledger: Path, width: int, every_report: Callable[[Path], list[Report]]
) -> None:
    for report in every_report(ledger):
        lines = report_text(report, Look(width=width)).split("\n")
        assert max(map(len, lines)) <= max(width, 60)
        plain = report_text(report, Look(width=width, symbols=False))
        assert "\x1b" not in plain


@pytest.fixture
def every_report() -> Callable[[Path], list[Report]]:
    return lambda folder: read_through([str(folder)], lambda c: make_reports(c, KNOWN, list(REPORTS)))


@pytest.mark.slow
def test_what_comes_from_the_ledger_cannot_steer_a_terminal(write: Write) -> None:
    folder = write(question("\x1b[31mred\x07"), firing("\x1b]0;title\x07"))
    for name in REPORTS:
        assert "\x1b" not in report_text(make(folder, name), Look(width=100))


def test_a_chart_is_a_picture_by_itself_with_its_own_style() -> None:
    chart = Chart(title="<b>", kind="bars", labels=("a",), series={"x": (1.0,)})
    drawn = picture_of(chart)
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg" ')
    assert drawn.count("<style>") == 1
    assert "<b>" not in drawn
    assert picture_of(chart.but(labels=())) == ""
