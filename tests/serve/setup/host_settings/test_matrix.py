"""The documentation's matrix is what the tables say, and what the hook does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from make_hosts import IN_TIME, LATER, NEVER, by_contract, is_watched

from deia.serve.hooks.run import HOSTS
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

LESSON = "Save the domain records first."
SAID = {
    "prompt": ("I will delete the shop site now", LESSON),
    "stop": ("I will delete the shop site now.", LESSON),
    "tool_error": ("Error: Site not found", "probably changed"),
    "before_tool": ("shopctl site:close", "It is closed for good"),
    "after_tool": ("Error: Site is closing", "Nobody can undo this"),
}
MORE = """\
- id: site-close
  title: Closing a shop site
  status: test
  urgency: high
  action: warn
  message: It is closed for good.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {any: [{command: "shopctl site:close"}]}
- id: site-closing
  title: A site that is closing
  status: test
  urgency: high
  action: warn
  message: Nobody can undo this.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {who: [tool_result], any: [{error: "Site is closing"}]}
"""


@pytest.fixture
def commons(commons: Path) -> Path:
    """Add triggers that only speak, before a tool and after it."""
    (commons / "triggers" / "more.yaml").write_text(MORE, encoding="utf-8")
    return commons


def test_the_page_is_what_the_tables_say() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_hosts.py"), "--check"], check=False, cwd=ROOT)
    assert done.returncode == 0, "docs/HOSTS.md is not what the hosts say; type: python docs/make_hosts.py"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("moment", SAID)
def test_context_comes_when_the_matrix_says(hosted: Hosts, host: str, moment: str) -> None:
    if not is_watched(host, moment):
        assert by_contract(host, moment, "context") == NEVER
        return
    it, (text, lesson) = hosted(host), SAID[moment]
    at_once = lesson in it.say(moment, text, command="shopctl site:open", mark="t1")
    result = lesson in it.say("after_tool", "done", command="ls", mark="t2")
    found = {(True, False): {IN_TIME, LATER}, (False, True): {LATER}, (False, False): {NEVER}}[at_once, result]
    assert by_contract(host, moment, "context") in found
    assert it.firings(), "it fired all the same"
