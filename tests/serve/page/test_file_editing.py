"""An edit is shown before it is made, is checked as the commands check, and overwrites nothing that changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import DeiaError
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
