"""A commons that was chunked badly on purpose is really improved, and that can be undone."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from deia.compile.take_in import registered_sources
from deia.errors import DeiaError
from deia.ingest.reading import ChunkerConfig
from deia.ingest.source import FolderSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deia.librarian import Librarian

    Opened = Callable[[], Librarian]

SUBJECTS = ("pump", "valve", "boiler", "turbine", "sensor", "filter", "motor", "relay", "compressor", "gauge")
STATES = ("overheats", "leaks", "vibrates", "stalls", "corrodes")


def state_of(number: int, volume: int) -> str:
    return STATES[(number + volume) % len(STATES)]


def manual(volume: int) -> str:
    """Return a page with all subjects and all states: only its paragraphs tell which of them go together."""
    said = [
        f"The {subject}, {'which stands at the far end of the hall behind the stairs, ' * 14}"
        f"{state_of(number, volume)}."
        for number, subject in enumerate(SUBJECTS)
    ]
    return f"# Volume {volume}\n\n" + "\n\n".join(said) + "\n"


@pytest.fixture
def manuals(opened: Opened, tmp_path: Path) -> Path:
    """Take pages in that are cut after every 40 characters, wherever that is."""
    folder = tmp_path / "manuals"
    folder.mkdir()
    for volume in range(len(STATES)):
        (folder / f"{volume}.md").write_text(manual(volume), encoding="utf-8")
    config = ChunkerConfig(strategy="fixed_chars", max_chars=40)
    opened().ingest(FolderSource(path=str(folder)), chunker_config=config)
    return folder


def questions() -> dict[str, list[str]]:
    return {
        f"which {subject} {state_of(number, volume)}?": [f"library:manuals/{volume}.md"]
        for number, subject in enumerate(SUBJECTS)
        for volume in range(len(STATES))
    }


def strategy(root: Path) -> str:
    [one] = registered_sources(str(root), os.environ)
    return one.source.config.strategy


def test_bad_chunks_are_replaced_by_better_ones_and_that_can_be_undone(
    opened: Opened, root: Path, manuals: Path
) -> None:
    done = opened().repair(failing=questions())
    assert (done.success, strategy(root)) == (True, done.new_strategy), done
    assert done.before is not None
    assert done.after is not None
    assert done.after > done.before
    assert any(step.startswith("tried recursive on a copy") for step in done.steps)
    opened().undo_repair()
    assert strategy(root) == "fixed_chars"
    with pytest.raises(DeiaError, match="no repair to undo"):
        opened().undo_repair()
    assert manuals.is_dir()


def test_a_dry_run_says_what_would_be_done_and_does_nothing(opened: Opened, root: Path, manuals: Path) -> None:
    (manuals / "0.md").write_text("# Changed\n\nAnother text.\n", encoding="utf-8")
    done = opened().repair(dry_run=True)
    assert done.steps[0] == "take the source manuals in again, since it changed"
    assert opened().audit().stale == ("manuals",)
    assert opened().repair().steps[0].startswith("took the source manuals in again")
    assert opened().audit().stale == ()
    assert strategy(root) == "fixed_chars"


def test_what_cannot_be_repaired_is_escalated(opened: Opened, root: Path, manuals: Path) -> None:
    shutil.rmtree(manuals)
    done = opened().repair()
    assert done.escalation is not None
    assert (done.escalation.category, done.escalation.severity, done.escalation.retryable) == ("system", "error", True)
    (root / "commons_index.yaml").unlink()
    told = opened().repair().to_dict()["escalation"]
    assert isinstance(told, dict)
    assert (told["category"], told["severity"]) == ("state", "critical")
    assert told["suggestedActions"]
