"""Changes become edits of few lines, are written all or none, and are taken back byte for byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.commons.index.load_commons import load_commons
from deia.learn.apply import CHANGELOG, apply_proposal, read_changes, undo
from deia.learn.changes import ADD, CASES, CONCEPT, DOCUMENT, DROP, INDEX, PATTERN, SET, TRIGGER, Change, change_commons
from deia.learn.file_edits import edit_texts
from deia.learn.proposals import Proposal, propose
from deia.problems import CommonsError
from deia.typed_json import read_record
from tests.serve.conftest import FILES

if TYPE_CHECKING:
    from pathlib import Path

    from deia.learn.proposals import Proposal

PATTERN_VALUE = {"query_keywords": ["drop"], "natural_language": ["drop a shop?"], "common_docs": ["site-checklist"]}
CHANGES = {
    "keywords": Change(kind=ADD, of=DOCUMENT, target="site-checklist", field="keywords", value=("drop", "yes")),
    "fewer keywords": Change(kind=DROP, of=DOCUMENT, target="site-checklist", field="keywords", value=("delete", "no")),
    "strength": Change(kind=SET, of=DOCUMENT, target="site-checklist", field="strength", value=0.25),
    "unlisted": Change(kind=ADD, of=DOCUMENT, target="extra", field="keywords", value=("spare",)),
    "unlisted fewer": Change(kind=DROP, of=DOCUMENT, target="extra", field="tags", value=("spare",)),
    "bare": Change(kind=ADD, of=DOCUMENT, target="bare", field="keywords", value=("plain: text",)),
    "concept": Change(kind=CONCEPT, of=INDEX, target="site", value=("shop",)),
    "pattern": Change(kind=PATTERN, of=INDEX, target="site-checklist", value=PATTERN_VALUE),
    "unless": Change(kind=ADD, of=TRIGGER, target="site-delete", field="unless", value=("preview copy",)),
    "action": Change(kind=SET, of=TRIGGER, target="site-rename", field="action", value="warn"),
    "cases": Change(kind=CASES, of=TRIGGER, target="site-delete", field="silent", value=("delete: the preview copy",)),
    "new cases": Change(
        kind=CASES, of=TRIGGER, target="site-missing", field="fires",
        value=({"turns": [{"role": "tool_result", "text": "Site not found", "failed": True}]},),
    ),
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    more = {
        "bok/extra.md": "---\ntitle: An extra  # kept\ntags: [spare]\n---\n\n# An extra\n\nText.\n",
        "bok/bare.md": "# Bare\n\nText.\n",
        "commons_index.yaml": "# Ours\n" + FILES["commons_index.yaml"].replace("critical", "critical  # why"),
        "triggers/sites.yaml": "#\n" + FILES["triggers/sites.yaml"].replace("- id: site-r", "\n# two\n- id: site-r"),
    }  # fmt: skip
    for path, text in {**FILES, **more}.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
    return tmp_path


def proposal_of(change: Change) -> Proposal:
    return propose("keywords", [change], because="a test", evidence=["why?"], weight=1.0)


def contents(root: Path) -> dict[str, bytes]:
    kept = [path for path in root.rglob("*") if path.is_file() and "telemetry" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


def values(root: Path) -> Any:
    commons = load_commons(str(root))
    return (
        [one.but(line=0) for one in commons.entries],
        [concept.words for concept in commons.concepts],
        [pattern.natural_language for pattern in commons.query_patterns],
        [(one.id, one.unless, one.action) for one in commons.triggers],
        sorted((case.trigger, case.fires, str(case.turns)) for case in commons.cases),
    )


def expected(root: Path, change: Change) -> Any:
    commons = change_commons(load_commons(str(root)), [change])
    return (
        [one.but(line=0) for one in commons.entries],
        [concept.words for concept in commons.concepts],
        [pattern.natural_language for pattern in commons.query_patterns],
        [(one.id, one.unless, one.action) for one in commons.triggers],
        sorted((case.trigger, case.fires, str(case.turns)) for case in commons.cases),
    )


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_written_is_what_was_tried_and_is_taken_back_byte_for_byte(root: Path, name: str) -> None:
    ids = {"unlisted": "bok/extra.md", "unlisted fewer": "bok/extra.md", "bare": "bok/bare.md"}
    change = CHANGES[name]
    if name in ids:
        entry = next(one for one in load_commons(str(root)).entries if one.path == ids[name])
        change = change.but(target=entry.id)
    before, wanted = contents(root), expected(root, change)
    proposal = proposal_of(change)
    apply_proposal(str(root), proposal, now=0.0)
    assert load_commons(str(root)).problems == ()
    assert values(root) == wanted
    after = contents(root)
    comments = [line for data in before.values() for line in data.split(b"\n") if b"#" in line]
    assert all(any(line in data for data in after.values()) for line in comments if b"keywords" not in line)
    undo(str(root), now=1.0)
    assert contents(root) == before
    assert read_changes(str(root))[0].undone


def test_what_a_documents_own_metadata_says_stays_when_the_index_says_more(root: Path) -> None:
    index = root / "commons_index.yaml"
    index.write_text(
        index.read_text(encoding="utf-8").replace("        keywords: [site, delete]\n", ""), encoding="utf-8"
    )
    path = next(one.path for one in load_commons(str(root)).entries if one.id == "site-checklist")
    place = root / path
    place.write_text(f"---\nkeywords: [site, own]\n---\n\n{place.read_text(encoding='utf-8')}", encoding="utf-8")
    for change, kept in ((CHANGES["keywords"], {"site", "own", "drop", "yes"}), (CHANGES["fewer keywords"], None)):
        wanted = expected(root, change)
        apply_proposal(str(root), proposal_of(change), now=0.0)
        assert values(root) == wanted
        entry = next(one for one in load_commons(str(root)).entries if one.id == "site-checklist")
        assert kept is None or set(entry.keywords) == kept


def test_only_the_lines_that_change_change(root: Path) -> None:
    texts = edit_texts(load_commons(str(root)), [CHANGES["unless"], CHANGES["keywords"]])
    for path, text in texts.items():
        old = (root / path).read_text(encoding="utf-8").split("\n")
        new = text.split("\n")
        assert len([line for line in new if line not in old]) == 1, path
        assert len([line for line in old if line not in new]) <= 1, path


def test_an_earlier_change_is_taken_back_under_a_later_one(root: Path) -> None:
    first, second = proposal_of(CHANGES["keywords"]), proposal_of(CHANGES["pattern"])
    apply_proposal(str(root), first, now=0.0)
    apply_proposal(str(root), second, now=1.0)
    undo(str(root), first.id, now=2.0)
    text = (root / "commons_index.yaml").read_text(encoding="utf-8")
    assert "drop a shop?" in text
    assert "keywords: [site, delete]" in text
    undo(str(root), now=3.0)
    with pytest.raises(CommonsError, match="Nothing was applied"):
        undo(str(root), now=4.0)


def test_lines_that_somebody_edited_since_are_not_taken_back(root: Path) -> None:
    proposal = proposal_of(CHANGES["keywords"])
    apply_proposal(str(root), proposal, now=0.0)
    index = root / "commons_index.yaml"
    index.write_text(index.read_text(encoding="utf-8").replace("drop", "dropped"), encoding="utf-8")
    mine = index.read_bytes()
    with pytest.raises(CommonsError, match="were changed since"):
        undo(str(root), proposal.id, now=1.0)
    assert index.read_bytes() == mine


def test_what_is_gone_broken_or_applied_already_is_refused_and_nothing_written(root: Path) -> None:
    with pytest.raises(CommonsError, match="no document 'nobody'"):
        apply_proposal(str(root), proposal_of(CHANGES["keywords"].but(target="nobody")), now=0.0)
    apply_proposal(str(root), proposal_of(CHANGES["concept"]), now=0.0)
    with pytest.raises(CommonsError, match="applied already"):
        apply_proposal(str(root), proposal_of(CHANGES["concept"]), now=0.0)
    (root / "triggers/sites.yaml").write_text("- id: [", encoding="utf-8")
    before = contents(root)
    with pytest.raises(CommonsError):
        apply_proposal(str(root), proposal_of(CHANGES["unless"]), now=0.0)
    assert contents(root) == before


def test_windows_line_ends_and_a_byte_order_mark_stay(root: Path) -> None:
    index = root / "commons_index.yaml"
    data = b"\xef\xbb\xbf" + index.read_bytes().replace(b"\n", b"\r\n")
    index.write_bytes(data)
    apply_proposal(str(root), proposal_of(CHANGES["keywords"]), now=0.0)
    new = index.read_bytes()
    assert new.startswith(b"\xef\xbb\xbf")
    assert new.count(b"\n") == new.count(b"\r\n") == data.count(b"\n")
    undo(str(root), now=1.0)
    assert index.read_bytes() == data


def test_the_changelog_says_why_and_survives_a_broken_line(root: Path) -> None:
    apply_proposal(str(root), proposal_of(CHANGES["keywords"]), now=0.0)
    place = root / CHANGELOG
    place.write_text('{"at": "torn\n[]\n{"id": 3}\n' + place.read_text(encoding="utf-8"), encoding="utf-8")
    (change,) = read_changes(str(root))
    assert (change.because, change.undone) == ("a test", False)
    assert json.loads(place.read_text(encoding="utf-8").splitlines()[-1])["evidence"] == ["why?"]


def test_a_proposal_comes_back_from_json_as_it_was() -> None:
    for change in CHANGES.values():
        proposal = proposal_of(change)
        back = read_record(Proposal, json.loads(json.dumps(proposal.to_dict())))
        assert (back.id, back.because) == (proposal.id, proposal.because)
        assert propose("keywords", back.changes, because="", evidence=(), weight=0).id == proposal.id


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.text(min_size=1, max_size=30))
def test_any_word_can_be_added_or_is_refused_in_words(root: Path, word: str) -> None:
    change = Change(kind=ADD, of=DOCUMENT, target="site-checklist", field="keywords", value=(word,))
    before = contents(root)
    try:
        apply_proposal(str(root), proposal_of(change), now=0.0)
    except CommonsError:
        assert contents(root) == before
        return
    assert load_commons(str(root)).problems == ()
    undo(str(root), now=1.0)
    assert contents(root) == before
