"""Who is answered: sessions only, of this machine only; and what the browser is told to forbid."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from deia.serve.hooks.run import HOSTS
from deia.serve.page.browser_page import AT_ONCE, WITH_FILES, policy
from deia.serve.page.page_file import html
from tests.serve.page.conftest import Paged, start_page
from tests.serve.server.conftest import PATIENCE, TOKEN, start_server

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

MOST_BYTES = 80_000
pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals on Windows")


def test_the_page_is_one_small_file_that_loads_nothing() -> None:
    text = html().decode()
    assert len(html()) <= MOST_BYTES
    assert not re.search(
        r"(src|href)=\"?https?:|@import|url\(|innerHTML|outerHTML|insertAdjacent|\beval\(|new Function", text
    )
    assert not re.search(r"<[^>]+\son\w+=", text.partition("<script>")[0])
    assert "style=" not in text


def test_the_page_knows_every_host() -> None:
    listed = re.search(r"const HOSTS = \[([^\]]+)\]", html().decode())
    assert listed
    assert tuple(re.findall(r"'([\w-]+)'", listed[1])) == HOSTS


def test_the_policy_allows_only_its_own_script_and_style() -> None:
    parts = dict(part.split(" ", 1) for part in policy().decode().split("; "))
    assert parts["default-src"] == "'self'"
    assert re.fullmatch(r"'sha256-[\w+/=]+'", parts["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/=]+'", parts["style-src"])
    assert parts["require-trusted-types-for"] == "'script'"
    assert parts["frame-ancestors"] == parts["object-src"] == parts["base-uri"] == parts["form-action"] == "'none'"


def test_the_file_is_sent_to_anybody_and_says_nothing_about_the_commons(paged: Paged) -> None:
    status, body, headers = paged.request("GET", "/page")
    assert (status, body) == (200, html())
    assert headers["content-security-policy"] == policy().decode()
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert b"deia check --explain" in body.partition(b"<noscript>")[2].partition(b"</noscript>")[0]


def test_no_view_answers_without_a_session(paged: Paged) -> None:
    for view in [*AT_ONCE, *WITH_FILES, "doctor", "propose", "problems", "compiled", "events", "sign-out", "nothing"]:
        assert paged.post(view)[0] == 401, view
        status, value = paged.post(view, authorization="Bearer wrong")
        assert (status, value["fix"]) == (401, "Type in a terminal: deia page"), view


def test_the_address_signs_in_once(paged: Paged) -> None:
    assert paged.sign_in().ask("overview")["triggers"][0]["id"] == "site-delete"
    assert paged.post("sign-in", {"once": paged.once})[0] == 401
    paged.ask("sign-out")
    assert paged.post("overview")[0] == 401


def test_another_site_and_another_name_of_the_host_are_refused(paged: Paged) -> None:
    paged.sign_in()
    assert paged.post("overview", origin="https://elsewhere.example")[0] == 403
    assert paged.post("overview", origin="http://127.0.0.1:1")[0] == 403
    assert paged.post("overview", host="rebound.example")[0] == 421
    assert paged.request("GET", "/page", headers={"host": "rebound.example"})[0] == 421
    assert paged.post("overview", origin=paged.origin)[0] == 200


def test_a_malformed_request_is_an_error_of_one_sentence(paged: Paged) -> None:
    head = {"authorization": f"Bearer {paged.sign_in().token}"}
    for body in (b"", b"[]", b"null", b"{", b"\xff", b'{"text": 1}', b'{"role": "nobody"}', b"[" * 50_000):
        status, answer, _ = paged.request("POST", "/page/try", body, head)
        assert status in (200, 400), body
        assert b"Traceback" not in answer
    assert paged.request("GET", "/page/try", headers=head)[0] == 405
    assert paged.post("no-such-view")[0] == 404


def test_a_server_that_demands_a_token_has_the_page_and_demands_a_session(cased: Place) -> None:
    served = start_server(cased, token=TOKEN)
    try:
        stranger = served.but(token="")
        assert stranger.ask("/page")[0] == 200
        assert stranger.ask("/page/overview", body=b"{}")[0] == 401
        assert served.ask("/page/overview", body=b"{}")[0] == 401  # the server's own token is none of the page's
        assert stranger.ask("/pagex")[0] == 401
        assert json.loads(served.ask("/health")[1])["page"] is True
    finally:
        served.process.kill()
        served.process.communicate()


def test_a_server_of_collections_has_no_page(cased: Place) -> None:
    served = start_server(cased, "--collection", "hosting", token="")
    try:
        assert served.ask("/page")[0] == 404
        assert json.loads(served.ask("/health")[1])["page"] is False
    finally:
        served.process.kill()
        served.process.communicate()


def test_only_a_person_at_a_terminal_can_open_it(cased: Place) -> None:
    done = subprocess.run(
        cased.command("page", "--no-open"), cwd=cased.root, env=cased.environ, stdin=subprocess.DEVNULL,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert b"only a person at a terminal" in done.stderr


def test_a_server_that_runs_is_found_and_signs_in_a_second_browser(paged: Paged) -> None:
    second = start_page(paged.place)
    assert second.process.wait(PATIENCE) == 0
    second.end()
    assert second.origin == paged.origin
    assert second.once != paged.once
    found = second.sign_in().ask("silences")
    assert (found["mutes"], found["pending"]) == ([], [])


def test_the_hook_does_not_reach_the_page() -> None:
    script = (
        "import sys, deia.serve.hooks.run, deia.serve.hooks.judged; print([n for n in sys.modules if '.page' in n])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


def begun(paged: Paged, path: str, length: int, **headers: str) -> tuple[http.client.HTTPConnection, bytes]:
    """Send the head of a request and the first bytes of its body; give what comes back."""
    connection = http.client.HTTPConnection(paged.origin.partition("//")[2], timeout=PATIENCE)
    connection.putrequest("POST", f"/page/{path}")
    for name, value in {"content-length": str(length), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(b"[[")
    answer = connection.getresponse()
    return connection, str(answer.status).encode() + answer.read()


def test_a_stranger_is_refused_before_what_it_sends_is_read(paged: Paged) -> None:
    began = time.monotonic()
    for path, status in (("try", b"401"), ("save", b"401"), ("sign-in", b"413"), ("events", b"401")):
        connection, answer = begun(paged, path, 16_000_000)
        assert answer.startswith(status), path
        connection.close()
    assert time.monotonic() - began < 15  # the server waits for a whole request for twenty seconds
    chunks = iter([b"x" * 600] * 3)
    connection = http.client.HTTPConnection(paged.origin.partition("//")[2], timeout=PATIENCE)
    connection.request(
        "POST", "/page/sign-in", body=chunks, encode_chunked=True, headers={"transfer-encoding": "chunked"}
    )
    assert connection.getresponse().status == 413
    connection.close()
    paged.sign_in()


def test_a_stream_ends_with_its_session(paged: Paged) -> None:
    head = {"authorization": f"Bearer {paged.sign_in().token}"}
    connection = http.client.HTTPConnection(paged.origin.partition("//")[2], timeout=PATIENCE)
    connection.request("POST", "/page/events", body=b"", headers=head)
    answer = connection.getresponse()
    assert answer.readline() == b": here\n"
    paged.ask("sign-out")
    assert answer.read().strip() == b""  # returns once the stream ends
    connection.close()


def test_of_what_one_types_only_the_newest_is_worked_out(paged: Paged) -> None:
    paged.sign_in().ask("try", text="x")
    slow = f"Please delete the shop site now. {'I will delete the site of the shop. ' * 5_000}"[:190_000]
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(lambda: paged.ask("try", text=slow, role="assistant"))
        time.sleep(0.3)
        replies = [pool.submit(lambda: paged.ask("try", text="Please delete the shop site now")) for _ in range(8)]
        told = [reply.result() for reply in replies]
    assert first.result()["text"] == slow
    assert any(reply["verdicts"] for reply in told)
    assert all(reply.get("superseded") or reply["verdicts"] for reply in told)


def test_ctrl_c_as_soon_as_the_address_is_there_ends_it_cleanly(place: Place) -> None:
    for _ in range(5):
        paged = start_page(place, "--port", "0")
        paged.end()  # which asserts that nothing it said is a traceback
        assert paged.process.returncode == 0
