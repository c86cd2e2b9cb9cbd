"""A small commons of a person's own, with what it takes to break it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.librarian import Librarian
from tests.derived import private

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LESSONS = {
    "site": ("Deleting a site", "Save the domain records before a site is deleted."),
    "queue": ("Restarting the job queue", "A restart of the queue drops the jobs that wait in it."),
    "keys": ("Rotating signing keys", "Publish the new key first, and withdraw the old one a week later."),
    "mail": ("Moving a mail domain", "Lower the time to live of the MX records two days before."),
}
PATTERN = """\
query_patterns:
  - query_keywords: [queue, restart]
    natural_language: ["Which jobs does a restart of the queue drop?"]
    primary_cluster: lessons
    common_docs: [queue]
"""
ASKED = "Which jobs does a restart of the queue drop?"


def index_of(*names: str) -> str:
    entries = [
        f"      - {{id: {name}, path: bok/{name}.md, title: {LESSONS[name][0]}, summary: {LESSONS[name][0]},"
        f" keywords: [{name}]}}\n"
        for name in names
    ]
    return (
        f'version: "1.0"\nclusters:\n  lessons:\n    description: Lessons\n    documents:\n{"".join(entries)}{PATTERN}'
    )


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a commons with an index of four lessons."""
    for name, value in private(tmp_path / "person").items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "commons"
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text("# none\n", encoding="utf-8")
    (root / "commons_index.yaml").write_text(index_of(*LESSONS), encoding="utf-8")
    for name, (title, text) in LESSONS.items():
        (root / "bok" / f"{name}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return root


@pytest.fixture
def opened(root: Path) -> Callable[[], Librarian]:
    """Return what opens the commons in a process of its own, as it were, after it was compiled once."""
    Librarian(root, ledger=False).query(ASKED)
    return lambda: Librarian(root, ledger=False)
