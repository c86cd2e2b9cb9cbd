"""The status line: one line whatever comes in, as a host runs it, and fast."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.serve import statusline
from deia.watch.silence.mutes import Mute, write_mute
from tests.derived import derived
from tests.serve.test_hook import DELETE, answer_of, call_of, event_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.serve.conftest import Process

    Line = Callable[..., str]


@pytest.fixture
def line(commons: Path, environ: dict[str, str]) -> Line:
    """Return a function that runs the status line as the host does."""
    compile_commons(str(commons), environ=environ)

    def shown(data: bytes | None = None, **changes: str) -> str:
        given = {"session_id": "5f0c-11", "cwd": str(commons), "workspace": {"current_dir": str(commons)}}
        done = subprocess.run(
            [sys.executable, "-I", "-S", os.path.abspath(statusline.__file__)],
            input=json.dumps(given).encode() if data is None else data,
            capture_output=True,
            check=False,
            env={**environ, **changes},
            timeout=30,
        )
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"", 1)
        return done.stdout.decode().strip()

    return shown


def test_it_says_what_fired_last_and_how_often(line: Line, commons: Path, environ: dict[str, str]) -> None:
    assert line() == "deia: watching"
    answer_of(event_of("UserPromptSubmit", commons, prompt=DELETE), environ)
    assert line() == "deia: site-delete just now, 1 this session"
    assert "site-delete" not in line(json.dumps({"session_id": "x", "cwd": str(commons)}).encode())


def test_it_counts_what_was_said_to_agents(line: Line, commons: Path, environ: dict[str, str]) -> None:
    answer_of(event_of("UserPromptSubmit", commons, prompt=DELETE), environ)
    answer_of(call_of(commons, agent_id="a1"), environ)
    assert line() == "deia: site-delete just now, 2 this session"


def test_it_says_what_silences_deia(line: Line, commons: Path, environ: dict[str, str]) -> None:
    write_mute(environ["DEIA_STATE"], Mute(trigger="site-delete", conversation="5f0c-11"))
    assert line() == "deia: 1 muted"
    assert line(DEIA_OFF="1").startswith("deia: off")
    (commons / "deia.toml").write_text('[quiet]\nhours = "00:00-24:00"\n', encoding="utf-8")
    assert line() == "deia: 1 muted, sources changed (deia compile)"
    compile_commons(str(commons), environ=environ)
    assert line() == "deia: 1 muted, quiet hours"


def test_what_is_not_compiled_is_said(line: Line, commons: Path, environ: dict[str, str]) -> None:
    (derived(commons, environ) / "triggers").unlink()
    assert "compile" in line()
    assert "DEIA_COMMONS" in line(DEIA_COMMONS="/nowhere")


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", b"[1]", b"\xff\xfe", b'{"session_id": 7, "cwd": [], "workspace": 3}']
)
def test_any_input_gives_a_line(line: Line, data: bytes) -> None:
    assert line(data).startswith("deia: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
EVENT = st.fixed_dictionaries({}, optional={"session_id": JSON, "cwd": JSON, "workspace": JSON}) | JSON


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENT)
def test_any_event_gives_one_printable_line(tmp_path: Path, event: Any) -> None:
    environ = {"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    environ["DEIA_TRUST"] = "*"
    said = statusline.status_line(event, environ=environ, now=1e9)
    assert said.startswith("deia: ")
    assert said.isprintable()


def test_a_hostile_memory_cannot_steer_the_terminal(commons: Path, environ: dict[str, str]) -> None:
    memory = commons.parent / "home" / "state" / "memory"
    memory.mkdir(parents=True)
    (memory / "c").write_text('{"at":1,"fired":{"\\u001b[2Jx\\ny":"c"}}\n', encoding="utf-8")
    said = statusline.status_line({"session_id": "c", "cwd": str(commons)}, environ=environ, now=1e9)
    assert said.isprintable()


def test_the_command_prints_the_same_line(process: Process, line: Line, commons: Path) -> None:
    given = json.dumps({"session_id": "5f0c-11", "cwd": str(commons)}).encode()
    assert process("statusline", stdin=given).stdout.decode().strip() == line()
    assert process("statusline", stdin=b"nonsense").stdout == b"deia: watching\n"


def test_it_reaches_only_what_the_hook_may_import(environ: dict[str, str]) -> None:
    code = (
        "import sys; sys.argv = ['x']; before = set(sys.modules);"
        f"__file__ = {os.path.abspath(statusline.__file__)!r};"
        "exec(compile(open(__file__).read(), __file__, 'exec'));"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=b"{}", capture_output=True, check=True, env=environ
    )
    reached = set(done.stderr.decode().split())
    assert "deia.serve.statusline" not in reached, "the file is run, not imported"
    assert not {one for one in reached if one.split(".")[0] in {"re", "json", "click", "yaml", "typing", "dataclasses"}}
