"""`deia user`, `deia collection` and `deia audit-log`: what a person types about who may ask the server."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from deia.serve.server.audit_trail import AuditTrail, audit_folder
from deia.serve.server.users import change_team, read_team, users_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


def test_a_user_is_added_listed_rotated_and_revoked(deia: Deia, commons: Path) -> None:
    first = deia("user", "add", "anna", "--collection", "hosting", "--collection", "library:red/", "--requests", "7")
    assert first.code == 0
    assert first.out.startswith("deia_")
    listed = json.loads(deia("user", "list", "--json").out)["users"]
    assert [(one["name"], one["scopes"], one["collections"]) for one in listed] == [
        ("anna", ["read"], ["hosting", "library:red"])
    ]
    assert listed[0]["allowance"]["requests"] == 7
    assert set(listed[0]) == {"name", "scopes", "collections", "created", "expires", "allowance"}
    second = deia("user", "rotate", "anna").out
    assert second.startswith("deia_")
    assert second != first.out
    assert "no user any more" in deia("user", "revoke", "anna").out
    assert "There are no users" in deia("user", "list").out


def test_whose_time_is_over_gets_no_token_that_opens_nothing(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    deia("user", "add", "anna", "--expires", "1d")
    path = users_file(str(commons), environ)
    change_team(
        path, lambda team: team.but(users=tuple(one.but(expires="2020-01-01T00:00:00.000Z") for one in team.users))
    )
    before = read_team(path)
    refused = deia("user", "rotate", "anna")
    assert refused.code == 2
    assert "ended at 2020-01-01" in refused.err
    assert "deia user rotate anna --expires 90d" in refused.err
    assert read_team(path) == before
    assert deia("user", "rotate", "anna", "--expires", "90d").out.startswith("deia_")
    assert not read_team(path).user("anna").has_ended(time.time())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("user", "add", "Anna B"), "is no name of a user"),
        (("user", "add", "local"), "is no name of a user"),
        (("user", "add", "anna", "--collection", "nonesuch"), "there is no collection 'nonesuch'"),
        (("user", "add", "anna", "--collection", "library:"), "there is no collection 'library:'"),
        (("user", "add", "anna", "--collection", "library:../x"), "there is no collection"),
        (("user", "add", "anna", "--expires", "soon"), "--expires"),
        (("user", "add", "bert"), "there is a user 'bert' already"),
        (("user", "revoke", "anna"), "there is no user 'anna'"),
        (("user", "rotate", "anna"), "there is no user 'anna'"),
    ],
)
def test_what_makes_no_sense_is_refused(deia: Deia, commons: Path, words: tuple[str, ...], said: str) -> None:
    deia("user", "add", "bert")
    outcome = deia(*words)
    assert outcome.code == 2
    assert said in outcome.err


@pytest.mark.parametrize("words", [("revoke", "never-was"), ("rotate", "never-was")])
def test_who_is_no_user_is_refused_with_a_way_to_see_who_is(deia: Deia, words: tuple[str, ...]) -> None:
    nobody = deia("user", *words)
    assert (nobody.code, nobody.out) == (2, "")
    assert "To add one, type: deia user add NAME" in nobody.err
    deia("user", "add", "bert")
    assert "Known are: bert. To see them, type: deia user list" in deia("user", *words).err


def test_a_collection_is_limited_and_shown_with_its_readers(deia: Deia, commons: Path) -> None:
    deia("user", "add", "anna", "--scope", "write", "--collection", "library:red")
    assert "30 requests a minute" in deia("collection", "limit", "red", "--requests", "30").out
    red = json.loads(deia("collection", "list", "--json").out)["collections"]["red"]
    assert (red["readers"], red["writers"], red["limits"][0]["requests"]) == (["anna"], ["anna"], 30)
    assert "no limits" in deia("collection", "limit", "library:red").out
    assert "red: 0 sources, 0 documents; read by anna" in deia("collection", "list").out


def test_a_collection_has_an_owner_as_long_as_there_is_such_a_user(deia: Deia) -> None:
    deia("user", "add", "anna", "--collection", "library:red")
    assert "there is no user 'bert'" in deia("collection", "owner", "red", "bert").err
    assert "anna answers for it" in deia("collection", "owner", "red", "anna").out
    assert "read by anna; anna answers for it" in deia("collection", "list").out
    red = json.loads(deia("collection", "list", "--json").out)["collections"]["red"]
    assert (red["owner"], red["tier"]) == ("anna", "static")
    assert "nobody answers for it" in deia("collection", "owner", "library:red").out
    deia("collection", "owner", "red", "anna")
    deia("user", "revoke", "anna")
    deia("user", "add", "anna", "--collection", "library:red")
    assert "answers for it" not in deia("collection", "list").out


def test_the_audit_log_is_shown_by_user_and_collection_and_a_change_shows(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    folder = audit_folder(str(commons), environ)
    trail = AuditTrail(folder)
    for user, names in (("anna", ["library:red"]), ("bert", ["library:blue"])):
        trail.append({"ts": "2026-11-01T00:00:00.000Z", "user": user, "collections": names, "question": f"of {user}?"})
    line = {"user": "cleo", "collections": [], "question": "of all?", "returned": ["library:red/note.md"]}
    trail.append({"ts": "2026-11-01T00:00:00.000Z", **line})
    shown = deia("audit-log")
    assert shown.code == 0
    assert "The chain is whole: 3 lines in all" in shown.out
    assert "of bert?" not in deia("audit-log", "--user", "anna").out
    assert "of anna?" in deia("audit-log", "--collection", "red").out
    assert "of all?" in deia("audit-log", "--collection", "library:red").out
    assert "of anna?" not in deia("audit-log", "--collection", "blue").out
    assert "of all?" not in deia("audit-log", "--collection", "blue").out
    assert [line["user"] for line in json.loads(deia("audit-log", "--json").out)["lines"]] == ["anna", "bert", "cleo"]
    path = next(commons.__class__(folder).glob("*.jsonl"))
    path.write_text(path.read_text().replace("bert", "anna"))
    broken = deia("audit-log")
    assert broken.code == 1
    assert "line 2 was changed" in broken.err


@pytest.mark.parametrize("words", [("tier", "typo", "static"), ("limit", "typo", "--requests", "3"), ("owner", "typo")])
def test_what_is_no_collection_gets_no_setting(deia: Deia, words: tuple[str, ...]) -> None:
    refused = deia("collection", *words)
    assert (refused.code, refused.out) == (2, "")
    assert "there is no collection 'typo'" in refused.err
    assert "deia collection list" in refused.err
    assert json.loads(deia("collection", "list", "--json").out)["collections"] == {}


def test_a_setting_of_a_collection_that_is_gone_is_shown_and_lifted(deia: Deia) -> None:
    deia("user", "add", "anna", "--collection", "library:red")
    deia("collection", "limit", "red", "--requests", "30")
    deia("user", "revoke", "anna")
    assert "red" in deia("collection", "list").out
    assert deia("collection", "limit", "red").code == 0
    assert json.loads(deia("collection", "list", "--json").out)["collections"] == {}


def test_a_tier_of_a_collection_is_set_and_unset(deia: Deia) -> None:
    deia("ingest", "bok", "--collection", "red")
    assert "library:red: static." in deia("collection", "tier", "red", "static").out
    assert json.loads(deia("collection", "list", "--json").out)["collections"]["red"]["set_tier"] == "static"
    assert "library:red: as the settings say." in deia("collection", "tier", "red").out
    assert json.loads(deia("collection", "list", "--json").out)["collections"]["red"]["set_tier"] == ""
    assert "'quick' is not one of" in deia("collection", "tier", "red", "quick").err
