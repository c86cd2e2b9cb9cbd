"""A person of their own for every test: home, state and cache folders, a small commons, and deia as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from deia.serve.cli.quick_path import _guarded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Deia = Callable[..., "Outcome"]
    Process = Callable[..., subprocess.CompletedProcess[bytes]]

INDEX = """\
version: "1.0"
clusters:
  hosting:
    description: Where sites live
    keywords: [shopctl]
    documents:
      - id: site-checklist
        path: bok/site-checklist.md
        title: Before a site is deleted
        summary: What to save before a shop site is deleted.
        keywords: [site, delete]
        urgency: critical
        platform: shopctl
        audience: [operators]
        tags: [sites]
query_patterns:
  - query_keywords: [delete, site]
    natural_language: ["How do I delete a site safely?"]
    primary_cluster: hosting
    common_docs: [site-checklist]
"""
CHECKLIST = """\
---
title: Before a site is deleted
urgency: critical
platform: shopctl
---

# Before a site is deleted

Save the domain records first.
"""
TRIGGERS = """\
- id: site-delete
  title: Deleting a shop site
  status: stable
  urgency: critical
  action: hold
  message: Deleting a site drops its domain records.
  action_required: Go through the checklist.
  documents:
    - {id: site-checklist, mode: full_context, reason: What to save}
  when:
    any:
      - phrase: "{delete|remove} … site"
      - command: "shopctl site:delete"
- id: site-rename
  title: Renaming a shop site
  status: test
  urgency: high
  action: ask
  message: Renaming a site breaks its links.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {any: [{command: "shopctl site:rename"}]}
- id: site-missing
  title: A site that is not there
  status: test
  urgency: medium
  action: note
  message: The name was probably changed.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {who: [tool_result], any: [{error: "Site not found"}]}
"""
CASES = """\
site-delete:
  fires:
    - I will delete the shop site now
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "shopctl site:delete --yes"}}]
  silent:
    - don't delete the site
    - turns: [{role: tool_call, tool: Bash, tool_input: {command: "shopctl site:list"}}]
"""
FILES = {
    "commons_index.yaml": INDEX,
    "bok/site-checklist.md": CHECKLIST,
    "triggers/sites.yaml": TRIGGERS,
    "triggers/sites.cases.yaml": CASES,
}
KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command came to, run in this process."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the processes of one test run share their bytecode."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def environ(tmp_path: Path, bytecode: Path) -> dict[str, str]:
    """Return the environment of a person who has nothing yet."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "DEIA_STATE": str(home / "state"),
        "DEIA_CACHE": str(home / "cache"),
        "DEIA_STARTER": "false",
        "DEIA_TRUST": "*",
        "PYTHONPYCACHEPREFIX": str(bytecode),
        "PYTHONPATH": os.getcwd(),
    }


@pytest.fixture
def commons(tmp_path: Path) -> Path:
    """Write a small commons."""
    root = tmp_path / "work place"  # a space, since real folders have them
    for name, text in FILES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(text), encoding="utf-8", newline="\n")
    (root / ".git").mkdir()
    return root


@pytest.fixture
def deia(
    environ: dict[str, str], commons: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Deia:
    """Return a function that runs the command line in this process, in the commons' folder."""
    for name in list(os.environ):
        if name.startswith(("DEIA_", "XDG_", "CLAUDE_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "DEIA_STATE", "DEIA_CACHE", "DEIA_STARTER", "DEIA_TRUST"):
        monkeypatch.setenv(name, environ[name])
    monkeypatch.chdir(commons)

    def start(*arguments: str) -> Outcome:
        code = _guarded(list(arguments))
        said = capsys.readouterr()
        return Outcome(code=code, out=said.out, err=said.err)

    return start


@pytest.fixture
def process(environ: dict[str, str], commons: Path) -> Process:
    """Return a function that runs the command line as a process of its own, in the commons' folder."""

    def start(*arguments: str, stdin: bytes = b"", **changes: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "deia.serve.main", *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=commons,
            env={**environ, **changes},
            timeout=60,
        )

    return start
