"""What SECURITY.md says that the starter's lessons leave alone is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.watch.authoring.replay import Replay
from tests.paths import ROOT

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| what is left alone | a case |")[2].partition("\n\n")[0]
CASES = [case for row in TABLE.splitlines()[2:] for case in row.rpartition(" | ")[2].split("`")[1::2]]


@pytest.mark.parametrize("command", [case for case in CASES if "…" not in case])
def test_the_starter_is_silent_where_the_page_says_so(artefact: Artefact, command: str) -> None:
    turn = Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})
    assert Replay(artefact).judge(turn) == ()
