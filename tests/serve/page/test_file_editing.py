"""An edit is shown before it is made, is checked as the commands check, and overwrites nothing that changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import DeiaError
from deia.learn.apply import digest
from deia.learn.line_diff import line_diff
from deia.problems import Problem
from deia.serve.page import file_editing
from deia.serve.page.file_editing import editable_text, preview, save

if TYPE_CHECKING:
    from deia.serve.server.desk import Desk

TRIGGERS = {"path": "triggers/sites.yaml"}
LESSON = {"id": "site-checklist"}
OUTSIDE = (
    "../secret.yaml",
    "triggers/../../x.yaml",
    "commons_index.yaml",
    "/etc/passwd",
    "triggers/x.md",
    "bok/a.yaml",
)


def test_a_document_is_edited_below_its_metadata(cased_desk: Desk) -> None:
    before: Any = editable_text(cased_desk, LESSON)
    assert before["text"].lstrip().startswith("# Before a site is deleted")
    after = before["text"].replace("Then the variables.", "Then everything else.")
    shown: Any = preview(cased_desk, {**LESSON, "text": after})
    assert "+Then everything else." in shown["diff"]
    assert shown["problems"] == []
    save(cased_desk, {**LESSON, "text": after, "digest": before["digest"]})
    written = Path(cased_desk.root, "bok/hosting/site-checklist.md").read_text()
    assert "Then everything else." in written
    assert written.startswith("---\ntitle: Before a site is deleted\n")


def test_a_file_of_triggers_is_checked_before_and_when_it_is_saved(cased_desk: Desk) -> None:
    place = Path(cased_desk.root, "triggers/sites.yaml")
    before: Any = editable_text(cased_desk, TRIGGERS)
    broken = before["text"].replace("urgency: critical", "urgency: extreme")
    assert "extreme" in str(preview(cased_desk, {**TRIGGERS, "text": broken})["problems"])
    kept = place.read_bytes()
    with pytest.raises(DeiaError, match="Nothing was changed") as caught:
        save(cased_desk, {**TRIGGERS, "text": broken, "digest": before["digest"]})
    assert "extreme" in caught.value.fix
    assert place.read_bytes() == kept
    sound = before["text"].replace("urgency: critical", "urgency: high")
    save(cased_desk, {**TRIGGERS, "text": sound, "digest": before["digest"]})
    assert "urgency: high" in place.read_text()


def test_a_reference_to_a_document_that_is_not_there_is_found_when_saving(cased_desk: Desk) -> None:
    before: Any = editable_text(cased_desk, TRIGGERS)
    wrong = before["text"].replace("id: site-checklist", "id: no-such-document")
    with pytest.raises(DeiaError, match="Nothing was changed"):
        save(cased_desk, {**TRIGGERS, "text": wrong, "digest": before["digest"]})


def test_a_file_that_changed_meanwhile_is_not_overwritten(cased_desk: Desk) -> None:
    before: Any = editable_text(cased_desk, TRIGGERS)
    place = Path(cased_desk.root, "triggers/sites.yaml")
    place.write_text(place.read_text() + "# mine\n")
    with pytest.raises(DeiaError, match="changed meanwhile"):
        save(cased_desk, {**TRIGGERS, "text": before["text"], "digest": before["digest"]})
    assert place.read_text().endswith("# mine\n")


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_other_file_can_be_read_or_written(cased_desk: Desk, path: str) -> None:
    for act in (editable_text, preview, save):
        with pytest.raises(DeiaError):
            act(cased_desk, {"path": path, "text": "x", "digest": ""})


def test_a_link_that_leads_out_is_not_followed(cased_desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("- id: mine\n")
    Path(cased_desk.root, "triggers/link.yaml").symlink_to(secret)
    with pytest.raises(DeiaError):
        editable_text(cased_desk, {"path": "triggers/link.yaml"})
    with pytest.raises(DeiaError):
        save(cased_desk, {"path": "triggers/link.yaml", "text": "[]", "digest": ""})
    assert secret.read_text() == "- id: mine\n"


@pytest.mark.parametrize("data", [b"- id: caf\xe9\n", b"- id: a\r\n  b: c\n", b"- id: a\rb\n"])
def test_a_file_whose_bytes_a_text_cannot_stand_for_is_not_edited(cased_desk: Desk, data: bytes) -> None:
    place = Path(cased_desk.root, "triggers/sites.yaml")
    place.write_bytes(data)
    asked = {**TRIGGERS, "text": "[]", "digest": digest(data)}
    for act in (editable_text, preview, save):
        with pytest.raises(DeiaError, match=r"UTF-8|carriage") as caught:
            act(cased_desk, asked)
        assert caught.value.fix
    assert place.read_bytes() == data


def test_a_file_that_is_too_long_to_be_saved_is_not_opened(cased_desk: Desk) -> None:
    Path(cased_desk.root, "triggers/sites.yaml").write_text("# word\n" * 40_000)
    with pytest.raises(DeiaError, match="more than 200,000 characters"):
        editable_text(cased_desk, TRIGGERS)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_is_saved_is_what_the_preview_showed(cased_desk: Desk, ends: str) -> None:
    place = Path(cased_desk.root, "bok/hosting/site-checklist.md")
    old = "---\n# a remark, no title\ntitle: Before\n---\n\nNo heading.\n\n```\n# a comment\n```\n"
    place.write_bytes(old.replace("\n", ends).encode())
    before: Any = editable_text(cased_desk, LESSON)
    after = before["text"].replace("No heading.", "Still none.")
    shown: Any = preview(cased_desk, {**LESSON, "text": after})
    save(cased_desk, {**LESSON, "text": after, "digest": before["digest"]})
    written = place.read_bytes().decode()
    assert written.count(ends) == written.count("\n")
    assert "# a remark, no title" not in written.partition("---\n".replace("\n", ends))[2].partition("---")[2]
    assert written.replace("\r\n", "\n") == old.replace("No heading.", "Still none.")
    assert shown["diff"] == "\n".join(line_diff("bok/hosting/site-checklist.md", old, written.replace(ends, "\n")))


def test_a_heading_that_goes_is_put_back_and_the_preview_says_so(cased_desk: Desk) -> None:
    shown: Any = preview(cased_desk, {**LESSON, "text": "Save all."})
    assert "+Save all." in shown["diff"]
    assert "-# Before a site is deleted" not in shown["diff"]


def test_a_long_text_is_not_compared_for_long(cased_desk: Desk) -> None:
    place = Path(cased_desk.root, "triggers/sites.yaml")
    place.write_text("#a\n#b\n" * 30_000)
    began = time.monotonic()
    shown: Any = preview(cased_desk, {**TRIGGERS, "text": "#b\n#c\n#a\n" * 15_000})
    assert "too long to compare" in shown["diff"]
    assert time.monotonic() - began < 8


def names_below(root: str) -> dict[str, bytes]:
    places = [place for place in Path(root).rglob("*") if place.is_file()]
    return {str(place): place.read_bytes() for place in places if ".deia" not in place.name}


def test_an_edit_that_is_refused_or_fails_leaves_everything_as_it_was(
    cased_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: Any = editable_text(cased_desk, LESSON)
    asked = {**LESSON, "text": "See [this](../nowhere/gone.md).", "digest": before["digest"]}
    kept = names_below(cased_desk.root)
    calls: list[str] = []

    def once(root: str) -> list[Problem]:
        """Find no problem at first, and fail after the file was written."""
        calls.append(root)
        if len(calls) > 1:
            raise OSError("the disk is gone")
        return []

    monkeypatch.setattr(file_editing, "find_problems", once)
    with pytest.raises(OSError, match="disk is gone"):
        save(cased_desk, asked)
    assert names_below(cased_desk.root) == kept
    error = Problem(path="bok/hosting/site-checklist.md", line=1, found="wrong", fix="Mend it.", code="x")
    found = iter([[], [error.but(severity="error")]])
    monkeypatch.setattr(file_editing, "find_problems", lambda _root: next(found))
    with pytest.raises(DeiaError, match="Nothing was changed"):
        save(cased_desk, asked)
    assert names_below(cased_desk.root) == kept
    assert not Path(cased_desk.root, ".trash").exists()
