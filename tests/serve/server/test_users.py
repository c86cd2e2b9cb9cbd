"""The users of a server: their file, their tokens, and that nobody gets in by breaking either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.problems import SettingsError
from deia.serve.server.users import (
    ADMIN,
    READ,
    WRITE,
    Allowance,
    Directory,
    Limited,
    Team,
    User,
    change_team,
    checked_name,
    digest_of,
    new_token,
    read_team,
)

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """A clock that a test sets."""

    now = 1_000_000_000.0

    def __call__(self) -> float:
        """Give the time."""
        return self.now


def add(path: Path, token: str, **fields: object) -> User:
    """Add a user to the file."""
    user = User(**{"name": "anna", "digest": digest_of(token), **fields})  # type: ignore[arg-type]
    change_team(str(path), lambda team: team.but(users=(*team.users, user)))
    return user


def test_a_team_is_read_as_it_was_written_and_no_token_is_in_the_file(tmp_path: Path) -> None:
    path, token = tmp_path / "people/users.json", new_token()
    user = add(path, token, scopes=(WRITE,), collections=("library:red",), allowance=Allowance(requests=7))
    limit = Limited(collection="library:red", allowance=Allowance(tokens=9))
    change_team(str(path), lambda team: team.but(limits=(limit,)))
    assert read_team(str(path)) == Team(users=(user,), limits=(limit,))
    assert token not in path.read_text()
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_token_is_known_until_it_ends_and_no_other_is(tmp_path: Path) -> None:
    path, token, clock = tmp_path / "users.json", new_token(), Clock()
    add(path, token, expires="2001-09-09T02:00:00.000Z")  # thirteen minutes later
    users = Directory(str(path), clock=clock)
    found = users.find(token.encode())
    assert found is not None
    assert found.name == "anna"
    assert [users.find(text) for text in (b"", b"\xff\x00", digest_of(token).encode(), token[:-1].encode())] == [
        None
    ] * 4
    clock.now += 900
    assert users.find(token.encode()) is None


def test_a_revoked_token_ends_and_everybody_still_needs_one(tmp_path: Path) -> None:
    path, token, clock = tmp_path / "users.json", new_token(), Clock()
    add(path, token)
    users = Directory(str(path), clock=clock)
    change_team(str(path), lambda team: team.but(users=()))
    clock.now += 1
    assert users.find(token.encode()) is None
    path.unlink()
    clock.now += 1
    assert users.is_used
    assert Directory(str(path)).is_used is False


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"users": [{"name": 1}]}', b'{"users": "all"}', b"\xff"])
def test_a_broken_file_lets_nobody_in(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "users.json"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_team(str(path))
    users = Directory(str(path))
    assert users.is_used
    assert users.find(b"anything") is None


def test_each_scope_includes_those_before() -> None:
    user = User(name="anna", digest="", scopes=(WRITE,))
    assert [user.may(scope) for scope in (READ, WRITE, ADMIN)] == [True, True, False]
    assert User(name="anna", digest="", scopes=("all",)).may(READ) is False


@given(st.text(max_size=80))
def test_a_name_is_plain_or_refused(name: str) -> None:
    try:
        assert checked_name(name) == name
    except SettingsError:
        return
    assert name.isascii()
    assert "/" not in name
    assert name != "local"


def test_no_file_is_written_that_would_not_be_read(tmp_path: Path) -> None:
    """Nobody could be removed from it any more."""
    path, token = tmp_path / "users.json", new_token()
    add(path, token)
    with pytest.raises(SettingsError, match="more than 8,000,000 bytes"):
        add(path, token, collections=tuple(f"library:{'x' * 100}{number}" for number in range(80_000)))
    assert len(read_team(str(path)).users) == 1
