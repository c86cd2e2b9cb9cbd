"""A token works once and not for long, and sessions end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from deia.errors import DeiaError
from deia.serve.page.sign_in import IDLE, LONGEST, MOST_SESSIONS, SECONDS, Sessions, make_once, redirect_file


def headers(token: str) -> dict[bytes, bytes]:
    return {b"authorization": f"Bearer {token}".encode()}


def test_a_token_is_exchanged_once(tmp_path: Path) -> None:
    sessions, once = Sessions(str(tmp_path)), make_once(str(tmp_path))
    token = sessions.begin(once)
    assert token
    assert token != once
    assert sessions.knows(headers(token))
    assert not sessions.begin(once)
    assert not Sessions(str(tmp_path)).begin(once)


@pytest.mark.parametrize("given", ["", "wrong", "../page", "a/b", "\0", "x" * 100_000])
def test_what_is_no_token_begins_nothing(tmp_path: Path, given: str) -> None:
    make_once(str(tmp_path))
    sessions = Sessions(str(tmp_path))
    assert not sessions.begin(given)
    assert not sessions.knows(headers(given))
    assert not sessions.knows({})


def test_the_folder_holds_no_token(tmp_path: Path) -> None:
    once = make_once(str(tmp_path))
    (note,) = (tmp_path / "page").iterdir()
    assert once not in note.name
    assert note.read_bytes() == b""
    assert not Sessions(str(tmp_path)).begin(note.name)


def test_an_old_token_begins_nothing_and_is_removed(tmp_path: Path) -> None:
    once = make_once(str(tmp_path))
    (note,) = (tmp_path / "page").iterdir()
    old = time.time() - SECONDS - 5
    os.utime(note, (old, old))
    assert not Sessions(str(tmp_path)).begin(once)
    stale = make_once(str(tmp_path))
    for path in (tmp_path / "page").iterdir():
        os.utime(path, (old, old))
    make_once(str(tmp_path))
    assert len(list((tmp_path / "page").iterdir())) == 1
    assert not Sessions(str(tmp_path)).begin(stale)


def test_an_ended_session_is_unknown(tmp_path: Path) -> None:
    sessions = Sessions(str(tmp_path))
    token = sessions.begin(make_once(str(tmp_path)))
    sessions.end(headers(token))
    assert not sessions.knows(headers(token))


def test_a_session_ends_when_nobody_uses_it_and_after_hours_in_any_case(tmp_path: Path) -> None:
    now = [0.0]
    sessions = Sessions(str(tmp_path), clock=lambda: now[0])
    used, unused = (headers(sessions.begin(make_once(str(tmp_path)))) for _ in range(2))
    while now[0] < LONGEST - IDLE:
        now[0] += IDLE
        assert sessions.knows(used)
    assert not sessions.knows(unused)
    now[0] = LONGEST + 1
    assert not sessions.knows(used)


def test_a_browser_is_led_to_the_address_by_a_file_that_only_the_person_reads(tmp_path: Path) -> None:
    make_once(str(tmp_path))
    path = Path(redirect_file(str(tmp_path), 'http://127.0.0.1:8765/page#once=a"b<c'))
    text = path.read_text(encoding="utf-8")
    assert 'url=http://127.0.0.1:8765/page#once=a&quot;b&lt;c"' in text
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
    os.utime(path, (1, 1))
    make_once(str(tmp_path))
    assert not path.exists(), "it goes with the token"
    (tmp_path / "file").write_bytes(b"")
    assert redirect_file(str(tmp_path / "file"), "x") == ""


def test_the_oldest_of_too_many_sessions_ends(tmp_path: Path) -> None:
    sessions = Sessions(str(tmp_path))
    tokens = [sessions.begin(make_once(str(tmp_path))) for _ in range(MOST_SESSIONS + 1)]
    assert not sessions.knows(headers(tokens[0]))
    assert sessions.knows(headers(tokens[-1]))


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DeiaError, match="cannot be written"):
        make_once(str(tmp_path / "file"))
