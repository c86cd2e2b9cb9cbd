"""A commons is checked before others are served from it, and what is handed over answers on another machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deia.audit.preflight import FAIL, PASS, WARN
from deia.errors import DeiaError
from deia.ingest.source import FolderSource
from deia.librarian import Librarian
from tests.audit.conftest import ASKED
from tests.derived import private

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Opened = Callable[[], Librarian]


def statuses(librarian: Librarian) -> dict[str, str]:
    return {check.name: check.status for check in librarian.preflight().checks}


def test_a_sound_commons_passes_every_check(opened: Opened) -> None:
    checked = opened().preflight()
    assert checked.can_deploy
    assert {check.status for check in checked.checks} == {PASS}
    details = {check.name: check.details for check in checked.checks}
    assert details["Data Completeness"] == "4 chunks, 4 vectors"
    assert "/" in details["Embedding Configuration"]


def test_each_check_fails_or_warns_by_itself(
    opened: Opened, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_TIER", "keyword")
    assert statuses(opened())["Embedding Configuration"] == FAIL
    monkeypatch.delenv("DEIA_TIER")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    opened().ingest(FolderSource(path=str(docs)))
    (docs / "a.md").write_text("# A\n\nAnother text.\n", encoding="utf-8")
    assert statuses(opened())["Source Status"] == WARN
    (root / "golden.yaml").write_text("- {query: how do I rotate signing keys, documents: [mail]}\n", encoding="utf-8")
    assert statuses(opened())["Golden Queries"] in {FAIL, PASS}  # it may be shown beside the right one
    (root / "golden.yaml").write_text("- {query: how do I rotate signing keys, documents: [none]}\n", encoding="utf-8")
    assert statuses(opened())["Golden Queries"] == FAIL
    (root / "commons_index.yaml").write_text("", encoding="utf-8")
    assert statuses(opened())["Manifest Audit"] == FAIL
    with pytest.raises(DeiaError, match="Manifest Audit failed"):
        opened().export(str(tmp_path / "served"))


def test_what_is_exported_answers_on_another_machine(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pumps.md").write_text("# Pumps\n\nThey run dry when the valve is shut.\n", encoding="utf-8")
    opened().ingest(FolderSource(path=str(docs)))
    served = tmp_path / "served"
    written = opened().export(str(served))
    assert {"commons_index.yaml", "bok/queue.md", "library/docs.jsonl", "deployment.json"} <= set(written)
    assert json.loads((served / "deployment.json").read_text(encoding="utf-8"))["preflight"]["canDeploy"] is True
    with pytest.raises(DeiaError, match="not empty"):
        opened().export(str(served))
    for name, value in private(tmp_path / "other").items():
        monkeypatch.setenv(name, value)
    assert Librarian(served, ledger=False).query(ASKED).primary[0].id == "queue"
