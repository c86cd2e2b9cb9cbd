"""A small commons, and one conversation for every framework with a scripted model."""

from __future__ import annotations

import glob
import json
from typing import TYPE_CHECKING, Any

import pytest

from deia.librarian import Librarian

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy., keywords: [shop]}"
INDEX = f"version: '1.0'\nclusters: {{all: {{description: All., documents: [{ENTRY}]}}}}\n"
TRIGGER = (
    "- {{id: {0}, title: T, urgency: high, {1}message: About {0}., documents: [{{id: lesson}}],"
    " when: {{any: [{2}]}}}}\n"
)
TRIGGERS = (
    TRIGGER.format("sale", "", "{phrase: sell shop}")
    + TRIGGER.format("wipe", "action: hold, ", "{command: shopctl wipe}")
    + TRIGGER.format("gone", "timing: on-error, ", "{error: shop is gone}")
)
SAID = "I will sell the shop now."
TOOL = "run_command"
COMMAND = "shopctl wipe"
RESULT = "Error: the shop is gone"
FIRED = ["sale", "wipe", "gone"]


@pytest.fixture
def librarian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Librarian:
    """Return a Librarian whose ledger says what it put in front of a model."""
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return Librarian(small_commons(tmp_path / "commons"))


def small_commons(root: Path) -> Path:
    """Write a commons with one lesson, for a sentence, a command that is held, and an error."""
    for folder in ("bok", "triggers"):
        (root / folder).mkdir(parents=True)
    (root / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    (root / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy of the shop first.\n", encoding="utf-8")
    (root / "triggers" / "shop.yaml").write_text(TRIGGERS, encoding="utf-8")
    (root / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    return root


def shown(librarian: Librarian) -> list[str]:
    """Return the triggers that were put in front of the model, in order, as the ledger has them."""
    folder = f"{librarian.root}/telemetry/events"
    found: list[dict[str, Any]] = []
    for path in sorted(glob.glob(f"{folder}/*")):
        with open(path, encoding="utf-8") as file:
            found += [json.loads(line) for line in file if line.strip()]
    return [event["trigger"] for event in found if event["event"] == "injection"]
