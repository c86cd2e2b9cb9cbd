"""A server that a host starts where things are not as they should be: it says so in an answer, and leaves nothing."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.derived import derived
from tests.serve.server.conftest import end_server, start_server
from tests.serve.server.test_long_work import compiling
from tests.serve.server.test_stdio import INITIALIZED, Line, opening, request

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

pytestmark = pytest.mark.slow

ASK = {"name": "query_global_commons", "arguments": {"query": "how do I delete a site?"}}
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and shells of POSIX")


def opened(place: Place, *arguments: str) -> Line:
    line = Line(place, *arguments)
    line.ask(opening("2025-11-25"))
    line.send(INITIALIZED)
    return line


def called(line: Line, number: int, **params: Any) -> tuple[bool, str]:
    """Call a tool; give whether that failed, and what was said."""
    result = line.ask(request(number, "tools/call", **params))["result"]
    return result["isError"], result["content"][0]["text"]


def test_an_index_that_is_broken_is_told_and_the_documents_are_served(place: Place) -> None:
    (place.root / "commons_index.yaml").write_text("clusters: {hosting: [\n  - ]: {", encoding="utf-8")
    line = opened(place)
    failed, said = called(line, 2, **ASK)
    assert not failed
    assert "Before a site is deleted" in said
    assert line.close()[2] == 0


def test_where_nothing_can_be_written_a_call_says_what_to_do_and_the_server_stays(raw_place: Place) -> None:
    folder = derived(raw_place.root, raw_place.environ)
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be\n", encoding="utf-8")
    line = opened(raw_place)
    for number in (2, 3):
        failed, said = called(line, number, **ASK)
        assert failed
        assert "cannot write compiled files" in said
        assert "Traceback" not in said
    folder.unlink()
    failed, said = called(line, 4, **ASK)
    assert not failed, said
    assert line.close()[2] == 0


@posix_only
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_a_wire_it_ends_and_says_so_where_it_can(place: Place, closed: str) -> None:
    command = f"{shlex.join(place.command('mcp'))} {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=place.root, env=place.environ, input=b"", capture_output=True, timeout=30,
        check=False,
    )  # fmt: skip
    assert done.returncode == (0 if closed == "2>&-" else 2)
    assert b"Traceback" not in done.stderr


@posix_only
def test_a_client_that_hears_no_longer_ends_it(place: Place) -> None:
    line = opened(place)
    line.ask(request(2, "prompts/list"))
    assert line.process.stdout is not None
    assert line.process.stdin is not None
    line.process.stdout.close()
    line.send(request(3, "prompts/list"))
    line.process.stdin.close()
    assert line.process.wait(timeout=20) == 0
    assert line.process.stderr is not None
    assert b"Traceback" not in line.process.stderr.read()
    line.process.stderr.close()


@posix_only
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes cannot be looked at here")
def test_a_signal_while_a_call_waits_for_a_compile_leaves_no_process(raw_place: Place) -> None:
    line = opened(raw_place)
    line.send(request(2, "tools/call", **ASK, _meta={"progressToken": "p"}))
    assert line.read()["method"] == "notifications/progress"
    line.process.send_signal(signal.SIGTERM)
    _, said, code = line.close()
    assert (code, b"Traceback" in said) == (0, False)
    assert not compiling(raw_place)
    assert not list(derived(raw_place.root, raw_place.environ).glob("building-*"))


@posix_only
def test_of_two_servers_on_a_port_the_second_says_who_is_there_and_the_first_serves_on(place: Place) -> None:
    first = start_server(place)
    try:
        second = subprocess.run(
            place.command("serve", "--port", str(first.port)), cwd=place.root, env=place.environ, capture_output=True,
            timeout=30, check=False,
        )  # fmt: skip
        assert second.returncode == 2
        assert b"another deia serve listens on" in second.stderr
        assert first.ask("/health")[0] == 200
    finally:
        assert end_server(first) == 0


def test_a_token_in_the_persons_env_file_counts_and_is_not_shown(place: Place) -> None:
    own = Path(place.environ["DEIA_STATE"], ".env")
    own.parent.mkdir(exist_ok=True)
    own.write_text("DEIA_TOKEN='from-the-env-file-of-the-person'\n", encoding="utf-8")
    served = start_server(place, token="")
    try:
        shown = {"Authorization": "Bearer from-the-env-file-of-the-person"}
        assert served.ask("/ready")[0] == 401
        assert served.ask("/ready", headers=shown)[0] in {200, 503}
    finally:
        assert end_server(served) == 0
    own.write_text("DEIA_TOKEN='short-one'\n", encoding="utf-8")
    done = subprocess.run(
        place.command("serve", "--host", "0.0.0.0", "--port", "0"), cwd=place.root, env=place.environ,  # noqa: S104
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"at least 16 characters" in done.stderr
    assert b"short-one" not in done.stderr
