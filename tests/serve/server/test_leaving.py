"""A client that leaves: what it asked before is answered, and one that reads nothing keeps no server alive."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.serve.server.test_stdio import INITIALIZED, META, Line, opening, request

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
LESSON = {"title": "Said in one breath", "text": "It stays."}
SOON = 20.0  # seconds, of which a server that ends needs a fraction and one that hangs all


def one_breath(place: Place, *messages: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """Send all messages and the end of the input at once; give the answers by their numbers."""
    told = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    done = subprocess.run(
        place.command("mcp"), input=told, capture_output=True, cwd=place.root, env=place.environ, check=True, timeout=60
    )
    assert done.stderr == b""
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["id"]: one for one in answers if "id" in one}


@pytest.mark.slow
def test_whoever_pipes_its_questions_in_gets_every_answer(place: Place) -> None:
    asked = [
        request(2, "tools/list"), request(3, "resources/list"), request(4, "prompts/list"),
        request(5, "tools/call", name="save_lesson", arguments=LESSON),
        request(6, "tools/call", name="query_global_commons", arguments={"query": "delete a site"}),
    ]  # fmt: skip
    answers = one_breath(place, opening("2025-11-25"), INITIALIZED, *asked)
    assert sorted(answers) == [1, 2, 3, 4, 5, 6]
    assert all("result" in one for one in answers.values()), answers
    (path,) = [path for path in answers[5]["result"]["structuredContent"]["paths"] if path.startswith("bok/")]
    assert "It stays." in (place.root / path).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_client_without_a_handshake_may_do_so_too(place: Place) -> None:
    asked = request(2, "tools/call", name="list_documents", arguments={}, _meta=META)
    answers = one_breath(place, request(1, "server/discover", _meta=META), asked)
    assert not answers[2]["result"]["isError"]


@pytest.mark.slow
def test_what_was_taken_back_is_not_waited_for(place: Place) -> None:
    taken_back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    began = time.monotonic()
    asked = request(2, "tools/call", name="query_global_commons", arguments={"query": "delete a site"})
    answers = one_breath(place, opening("2025-11-25"), INITIALIZED, asked, taken_back, request(3, "prompts/list"))
    assert "result" in answers[3]
    assert time.monotonic() - began < SOON


@pytest.mark.slow
def test_who_listened_to_changes_and_leaves_is_not_waited_for(place: Place) -> None:
    wanted = {"resourceSubscriptions": ["deia://index"]}
    began = time.monotonic()
    one_breath(
        place, request(1, "server/discover", _meta=META),
        request(2, "subscriptions/listen", notifications=wanted, _meta=META),
    )  # fmt: skip
    assert time.monotonic() - began < SOON


@pytest.mark.slow
def test_who_leaves_a_question_unanswered_is_not_waited_for_and_nothing_is_changed(place: Place) -> None:
    line = Line(place)
    asking = opening("2025-11-25")
    asking["params"]["capabilities"] = {"elicitation": {}}
    line.ask(asking)
    line.send(INITIALIZED)
    question = line.ask(request(2, "tools/call", name="remove_document", arguments={"id": "queue-purge"}))
    assert question["method"] == "elicitation/create"
    began = time.monotonic()
    assert line.close()[2] == 0
    assert time.monotonic() - began < SOON
    assert (place.root / "bok/queues/queue-purge.md").is_file()


def full(place: Place) -> Line:
    """Give a server whose answers nobody reads, with more of them waiting than a pipe holds."""
    line = Line(place)
    line.ask(opening("2025-11-25"))
    line.send(INITIALIZED)
    line.ask(request(2, "prompts/list"))  # which the library answers: with it the handler of signals is there
    for number in range(3, 80):
        line.send(request(number, "tools/list"))
    return line


def end_of(line: Line) -> int:
    """Wait for the end of a server whose answers nobody reads; give its exit code."""
    try:
        return line.process.wait(timeout=SOON)
    finally:
        line.process.kill()
        assert line.process.stderr is not None
        said = line.process.stderr.read()
        for stream in (line.process.stdin, line.process.stdout, line.process.stderr):
            assert stream is not None
            stream.close()
        assert b"Traceback" not in said, said.decode()


@pytest.mark.slow
@posix_only
def test_a_signal_ends_it_though_nobody_reads_its_answers(place: Place) -> None:
    line = full(place)
    time.sleep(0.3)  # until the pipe is full
    line.process.send_signal(signal.SIGTERM)
    assert end_of(line) == 0


@pytest.mark.slow
@posix_only
def test_the_end_of_the_input_ends_it_though_nobody_reads_its_answers(place: Place) -> None:
    line = full(place)
    assert line.process.stdin is not None
    line.process.stdin.close()
    assert end_of(line) == 0


@pytest.mark.slow
@posix_only
def test_a_client_that_reads_late_gets_all_of_it(place: Place) -> None:
    line = full(place)
    time.sleep(0.3)
    got: list[int] = []
    reading = threading.Thread(target=lambda: got.extend(line.read()["id"] for _ in range(77)))
    reading.start()
    reading.join(timeout=20)
    assert sorted(got) == list(range(3, 80))
    assert line.close() == (b"", b"", 0)
