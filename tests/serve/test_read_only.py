"""A commons in which nothing can be written is searched and watched from the person's cache."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.serve import hook
from tests.derived import derived

if TYPE_CHECKING:
    from collections.abc import Iterator

DROP, OVERRIDE = 24, 1  # PR_CAPBSET_DROP and CAP_DAC_OVERRIDE: who may do everything must not, in these tests
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="rights are taken from root here")


def as_anybody() -> None:
    """Take from the process, which may be root's, the right to write where nobody may."""
    ctypes.CDLL(None).prctl(DROP, OVERRIDE, 0, 0, 0)


@pytest.fixture
def sealed(commons: Path) -> Iterator[Path]:
    """Return a commons whose folders and files cannot be written."""
    every = [commons, *commons.rglob("*")]
    before = {path: path.stat().st_mode for path in every}
    for path in every:
        path.chmod(before[path] & 0o555)
    if run(["-c", f"open({str(commons / 'x')!r}, 'w')"], dict(os.environ)).returncode == 0:
        pytest.skip("root keeps its rights here")
    yield commons
    for path in every:
        path.chmod(before[path])


def run(arguments: list[str], environ: dict[str, str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=given,
        capture_output=True,
        check=False,
        env=environ,
        preexec_fn=as_anybody,
    )


@pytest.mark.slow
def test_it_is_searched_and_watched(sealed: Path, environ: dict[str, str]) -> None:
    environ = {**environ, "DEIA_STARTER": "false"}
    found = run(["-m", "deia.serve.main", "--commons", str(sealed), "search", "delete a site"], environ)
    assert b"site-checklist" in found.stdout, found.stderr
    assert not (sealed / ".deia").exists()
    event = {
        "session_id": "s", "cwd": str(sealed), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "shopctl site:delete --yes"},
    }  # fmt: skip
    answer = run(["-I", "-S", os.path.abspath(hook.__file__), "claude-code"], environ, json.dumps(event).encode())
    assert json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_every_commons_has_one_place_of_its_own_in_the_cache(sealed: Path, environ: dict[str, str]) -> None:
    (sealed.parent / "link").symlink_to(sealed)
    ways: list[Path | str] = [sealed, f"{sealed}/../{sealed.name}", f"{sealed}/./", sealed.parent / "link"]
    (place,) = {derived(way, environ) for way in ways}
    assert place.is_relative_to(environ["DEIA_CACHE"])
    assert derived(sealed.parent, environ) not in (place, *place.parents)
