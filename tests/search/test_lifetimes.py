"""Tests of documents that no longer hold: they are marked and ranked lower, and checked by lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.checks import check_layers, lint
from deia.commons.index.load_commons import load_commons
from deia.commons.index.successors import circles_of
from deia.commons.layers.merge_layers import load_layers, load_starter
from deia.compile.catalog import document_store
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.search.rendering.render import render, summary
from deia.settings import DEFAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.answer import Answer

OF_STARTER = load_starter().entries[0].id
TEXT = "Draining the queue: pause the consumers, drain it, go on.\n"
FRONT = (
    "---\ntitle: Draining the queue\nexpires: soon\nsuperseded_by: nonesuch\nreview_after: 2026-02-30\n---\n\nText.\n"
)


def asked(folder: Path, *, on: str, **lifetime: str) -> Answer:
    folder.mkdir(exist_ok=True)
    entries = [
        Entry(id="old", path="bok/old.md", title="Draining the queue").but(**lifetime),
        Entry(id="new", path="bok/new.md", title="Queues, and draining them"),
        *(Entry(id=f"other-{at}", path=f"bok/{at}.md", title="Pumps, and a queue") for at in range(3)),
    ]
    documents = [
        Document(path=entry.path, title=entry.title, text=TEXT if at < 2 else "Pumps are vented.\n")
        for at, entry in enumerate(entries)
    ]
    build_catalog(entries, documents, [], [], str(folder), built_at="2026-01-01T00:00:00Z", sources=())
    return search(open_catalog(str(folder)), Query(text="draining the queue"), checked_at=f"{on}T10:00:00Z")


def test_a_document_that_holds_is_not_marked(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-01", valid_until="2026-03-01", review_after="2026-01-01")
    assert answer.primary[0].id == "old"
    assert "valid until" not in answer.primary[0].why_relevant
    assert "valid until" not in summary(answer)


def test_one_whose_last_day_is_over_comes_later_and_says_so(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-02", valid_until="2026-03-01")
    assert [result.id for result in answer.documents][:2] == ["new", "old"]
    old = next(result for result in answer.documents if result.id == "old")
    assert old.why_relevant.startswith("valid until 2026-03-01 only")
    for form in ("summary", "table", "full", "markdown", "xml"):
        assert "Draining the queue is valid until 2026-03-01 only." in render(answer, form).replace("\\", "")


def test_one_that_is_superseded_names_its_successor(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-02", superseded_by="new")
    assert [result.id for result in answer.documents][:2] == ["new", "old"]
    assert "superseded by new" in list(answer.documents)[1].why_relevant
    assert "Draining the queue is superseded by new." in summary(answer)


def test_lint_names_days_that_are_none_and_successors_that_there_are_not(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "deia.toml").write_text("", encoding="utf-8")
    (tmp_path / "bok/old.md").write_text(FRONT, encoding="utf-8")
    problems = {problem.found: (problem.path, problem.line) for problem in lint(str(tmp_path), starter=False)}
    assert problems["`valid_until` is `soon`, which is no day."] == ("bok/old.md", 3)
    assert problems["`review_after` is `2026-02-30`, which is no day."] == ("bok/old.md", 5)
    assert problems["In `superseded_by` of `old`: there is no document `nonesuch`."] == ("bok/old.md", 4)


def test_a_successor_may_be_a_document_of_the_layers_below(tmp_path: Path) -> None:
    root = commons_of(tmp_path, force_push_here=f"superseded_by: {OF_STARTER}")
    assert not [problem for problem in lint(root) if problem.code == "unknown-document"]
    (problem,) = (problem for problem in lint(root, starter=False) if problem.code == "unknown-document")
    assert f"there is no document `{OF_STARTER}`" in problem.found


def test_an_unknown_successor_is_never_said_to_mean_the_entry_itself(tmp_path: Path) -> None:
    root = commons_of(tmp_path, old_pump="superseded_by: old-pumps", other="superseded_by: nonesuch")
    fixes = {problem.fix for problem in lint(root, starter=False) if problem.code == "unknown-document"}
    assert fixes == {"Known are: other.", "Known are: old-pump."}


def trigger(name: str, document: str, status: str = "stable") -> str:
    fields = f"id: {name}, title: Queues, urgency: high, message: M., documents: [{document}], status: {status}"
    return f"- {{{fields}, when: {{any: [{{phrase: drain the queue}}]}}}}\n"


def test_lint_names_triggers_that_show_what_no_longer_holds(tmp_path: Path) -> None:
    root = commons_of(
        tmp_path, old="superseded_by: new", new="valid_until: 9000-01-01", past="valid_until: 2020-01-01",
        circular="superseded_by: circular",
    )  # fmt: skip
    (tmp_path / "triggers").mkdir()
    shown = {"a": "old", "b": "new", "c": "past", "d": "circular"}
    rows = [*(trigger(name, document) for name, document in shown.items()), trigger("e", "old", "deprecated")]
    (tmp_path / "triggers/queues.yaml").write_text("".join(rows), encoding="utf-8")
    found = [problem for problem in lint(root, starter=False) if problem.code == "outdated-document"]
    assert [(problem.path, problem.line, problem.severity, problem.found, problem.fix) for problem in found] == [
        ("triggers/queues.yaml", 1, "warning", "`a` shows the document `old`, which is superseded by new.",
         "Name `new` instead, or set the trigger's `status` to deprecated."),
        ("triggers/queues.yaml", 3, "warning", "`c` shows the document `past`, which is valid until 2020-01-01 only.",
         "Name one that holds, or set the trigger's `status` to deprecated."),
    ]  # fmt: skip
    compiled = check_layers(load_layers(root, starter=False, trusted=True), DEFAULTS)
    assert "outdated-document" not in [problem.code for problem in compiled]


def commons_of(folder: Path, **fronts: str) -> str:
    (folder / "bok").mkdir()
    (folder / "deia.toml").write_text("", encoding="utf-8")
    for name, front in fronts.items():
        (folder / f"bok/{name}.md").write_text(f"---\ntitle: {name}\n{front}\n---\n\n{TEXT}", encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize("day", ["2026-02-30", "1.5", "20260101", "2026-W01-1", "soon", "2026-1-1", "2026-01-01T00:00"])
def test_what_is_no_day_expires_nothing(tmp_path: Path, day: str) -> None:
    root = commons_of(tmp_path, old=f"valid_until: {day}")
    assert [entry.valid_until for entry in load_commons(root).entries] == [""]
    assert [problem.code for problem in lint(root, starter=False) if problem.line] == ["bad-day"]


def test_lint_names_each_circle_of_successors_once_with_its_place(tmp_path: Path) -> None:
    fronts = {"a": "b", "b": "c", "c": "a", "own": "own", "old": "a"}
    root = commons_of(tmp_path, **{name: f"superseded_by: {by}" for name, by in fronts.items()})
    found = {problem.found: (problem.path, problem.line) for problem in lint(root, starter=False) if problem.line}
    assert found == {
        "A circle: `a` by `b` by `c` by `a` is superseded.": ("bok/a.md", 3),
        "`own` supersedes itself.": ("bok/own.md", 3),
    }


def test_a_catalog_of_an_older_deia_may_have_circles_of_successors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_store, "with_real_successors", list)  # as it was compiled before
    answer = asked(tmp_path, on="2026-03-02", superseded_by="old")
    assert "superseded by old" in summary(answer)


@given(st.lists(st.integers(0, 9), max_size=10))
def test_circles_are_those_that_following_each_document_finds(names: list[int]) -> None:
    successors = {str(at): str(name) for at, name in enumerate(names)}

    def comes_back(start: str) -> bool:
        ident = start
        for _ in successors:
            ident = successors.get(ident, "")
            if ident == start:
                return True
        return False

    circles = circles_of(successors)
    assert sorted(ident for circle in circles for ident in circle) == sorted(filter(comes_back, successors))
    assert all(successors[old] == new for one in circles for old, new in zip(one, (*one[1:], one[0]), strict=True))


def test_a_chain_of_very_many_successors_is_followed_once() -> None:
    successors = {str(at): str(at + 1) for at in range(300_000)}
    assert circles_of(successors) == []
    assert [len(circle) for circle in circles_of({**successors, "300000": "0"})] == [300_001]


@pytest.mark.parametrize("successor", ["old", "nonesuch"])
def test_only_another_document_that_exists_supersedes_one(tmp_path: Path, successor: str) -> None:
    answer = asked(tmp_path, on="2026-03-02", superseded_by=successor)
    assert answer.primary[0].id == "old"
    assert "superseded" not in summary(answer)


def test_one_that_expired_and_is_superseded_says_both(tmp_path: Path) -> None:
    answer = asked(tmp_path, on="2026-03-02", superseded_by="new", valid_until="2026-03-01")
    assert "Draining the queue is superseded by new, valid until 2026-03-01 only." in summary(answer)


def test_what_no_longer_holds_says_nothing_to_do_but_names_what_holds_in_the_end(tmp_path: Path) -> None:
    chain = {"first": "second", "second": "third", "third": ""}
    entries = [
        Entry(id=name, path=f"bok/{name}.md", title=f"The {name} pump", superseded_by=by, action=f"Vent the {name}.")
        for name, by in chain.items()
    ]
    documents = [
        Document(path=entry.path, title=entry.title, text="The bilge float.\n" if entry.id == "first" else "Other.\n")
        for entry in entries
    ]
    build_catalog(entries, documents, [], [], str(tmp_path))
    answer = search(open_catalog(str(tmp_path)), Query(text="bilge float"), checked_at="2026-03-01T10:00:00Z")
    assert ([result.id for result in answer.documents], answer.action) == (["first"], "")
    assert answer.suggested_next == ("Read The third pump (bok/third.md).",)


def test_what_no_longer_holds_is_not_recommended(tmp_path: Path) -> None:
    entries = [
        Entry(id="pumps", path="bok/pumps.md", title="Venting pumps", related_docs=("old", "valves")),
        Entry(id="old", path="bok/old.md", title="Greasing", valid_until="2026-01-01"),
        Entry(id="valves", path="bok/valves.md", title="Valves"),
    ]
    documents = [Document(path=entry.path, title=entry.title, text=f"{entry.title}.\n") for entry in entries]
    build_catalog(entries, documents, [], [], str(tmp_path))
    answer = search(open_catalog(str(tmp_path)), Query(text="venting pumps"), checked_at="2026-03-01T10:00:00Z")
    assert answer.suggested_next == ("Read Valves (bok/valves.md).",)


def test_lists_and_overviews_mark_what_no_longer_holds_and_name_it_last(tmp_path: Path) -> None:
    old = Entry(id="old", path="bok/a.md", title="Old", urgency="critical", superseded_by="new", action="Stop.")
    new = Entry(id="new", path="bok/b.md", title="New", urgency="low", action="Go on.")
    entries = [entry.but(platforms=("shopctl",), audience=("operator",)) for entry in (old, new)]
    documents = [Document(path=entry.path, title=entry.title, text=TEXT) for entry in entries]
    build_catalog(entries, documents, [], [], str(tmp_path))
    catalog = open_catalog(str(tmp_path))
    for query in (
        Query(text="", platform="shopctl"),
        Query(text="", audience="operator"),
        Query(text="platform:shopctl"),
    ):
        answer = search(catalog, query, checked_at="2026-03-01T10:00:00Z")
        assert [result.id for result in answer.documents] == ["new", "old"]
        assert [*answer.documents][1].why_relevant.startswith("superseded by new")
        assert "superseded by new" in render(answer, "table")
        assert "Stop." not in render(answer, "json")
    assert "Old" not in render(search(catalog, Query(text="", audience="operator")), "summary").partition("prevent")[2]
