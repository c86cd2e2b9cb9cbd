"""A replay of what an agent did on Windows: backslashes, drives, and spaces in paths and in the file's own name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

FOLDER = "C:\\Users\\me\\My Shop"
CALLS = (
    ("Write", {"file_path": f"{FOLDER}\\db\\migrations\\0001 init.sql", "content": "x"}),
    ("PowerShell", {"command": "& 'C:\\Program Files\\shop\\shopctl.exe' site:delete --yes"}),
    ("Read", {"file_path": f"{FOLDER}\\db\\migrations\\0001 init.sql"}),
)
MIGRATIONS = """\
- id: migrations
  title: Migrations
  urgency: high
  action: warn
  message: A migration that was applied is never changed.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {any: [{write: ["db/migrations/**"]}]}
"""


def test_a_replay_reads_paths_of_windows(deia: Deia, commons: Path) -> None:
    (commons / "triggers/migrations.yaml").write_text(MIGRATIONS, encoding="utf-8")
    file = commons / "my talks" / "a b.jsonl"
    file.parent.mkdir()
    calls = [
        {"type": "tool_use", "id": f"t{at}", "name": name, "input": given} for at, (name, given) in enumerate(CALLS)
    ]
    lines = [
        {"type": "assistant", "sessionId": "s", "cwd": FOLDER, "message": {"role": "assistant", "content": [call]}}
        for call in calls
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    told = deia("triggers", "replay", "my talks").out
    assert "would have spoken 2 times" in told
    assert f'write "{FOLDER}\\db\\migrations\\0001 init.sql"' in told
    assert "shopctl.exe' site:delete --yes" in told
