"""A new lesson never takes an id that a trigger or a lower layer uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.layers.merge_layers import load_layered, load_layers
from deia.commons.write.add_lesson import add_lesson
from deia.evaluate.trigger_drafting import draft_for
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

    from deia.commons.write.add_lesson import Lesson
    from tests.commons.conftest import Write

TODAY = "2026-11-20"
TEXT = "Never `terraform destroy`."


@pytest.fixture
def root(write: Write, tmp_path: Path) -> str:
    write("commons_index.yaml", "version: '1.0'\nclusters: {}\n")
    return str(tmp_path)


def add(root: str, title: str) -> Lesson:
    return add_lesson(root, title=title, text=TEXT, today=TODAY, draft=lambda entry: draft_for(entry, TEXT))


def test_a_lesson_named_like_a_hold_of_the_starter_leaves_it_in_force(root: str) -> None:
    lesson = add(root, "Terraform destroy")
    assert lesson.entry.id == "terraform-destroy-2"
    assert "the trigger `terraform-destroy` of the starter (critical, hold)" in lesson.avoided
    held = next(trigger for trigger in load_layered(root, trusted=True).triggers if trigger.id == "terraform-destroy")
    assert (held.action, held.path.partition(":")[0]) == ("hold", "starter")


def test_a_lesson_named_like_a_document_of_the_starter_does_not_replace_it(root: str) -> None:
    entry = load_layers(root, trusted=True).stack[1].entries[0]
    lesson = add(root, entry.id.replace("-", " "))
    assert (lesson.entry.id, lesson.paths[0]) == (f"{entry.id}-2", f"bok/patterns/{entry.id}-2.md")
    assert f"the document `{entry.id}` of the starter" in lesson.avoided
    assert entry.but(path=entry.path) in load_layered(root, trusted=True).entries


def test_a_lesson_named_like_an_own_trigger_does_not_take_its_id(root: str, write: Write) -> None:
    write(
        "triggers/zz.yaml",
        """
        - id: purge-queue
          title: Purging
          urgency: critical
          action: hold
          message: It is empty for everybody.
          documents: [{id: x, mode: summary_only}]
          when: {any: [{command: qctl purge}]}
        """,
    )
    lesson = add(root, "Purge queue")
    assert lesson.entry.id == "purge-queue-2"
    assert "the trigger `purge-queue` in triggers/zz.yaml" in lesson.avoided
    own = next(trigger for trigger in load_layered(root, trusted=True).triggers if trigger.id == "purge-queue")
    assert own.action == "hold"


def test_the_same_lesson_twice_is_still_refused(root: str) -> None:
    for title in ("Restarting the queue", "Terraform destroy"):
        add(root, title)
        with pytest.raises(CommonsError, match=r"exists already|already has"):
            add(root, title)
