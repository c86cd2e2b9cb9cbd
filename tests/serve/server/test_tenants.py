"""Users at a server: each is answered from what they may read, within their limits, and leaves a line in the log."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

from deia import spool
from deia.serve.server import tenants
from deia.serve.server.account import Books
from deia.serve.server.metrics import Metrics
from deia.serve.server.tenants import Opening, Tenants
from deia.serve.server.users import Team, User
from tests.serve.server.conftest import await_ready, end_server, make_place, start_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mcp import Client

    from deia.serve.server.assemble import Assembled
    from deia.serve.server.desk import Desk
    from tests.serve.server.conftest import Place, Served

NOTES = {
    "red": "# The red handbook\n\nThe red pump is vented before a restart.\n",
    "blue": "# Filters of the blue hall\n\nThe night shift changes them, once the pump was vented by hand.\n",
}
USERS = {
    "anna": ("--collection", "library:red"), "bert": ("--scope", "write", "--collection", "library:blue"),
    "cleo": ("--scope", "admin", "--requests", "0"), "dora": ("--requests", "2"), "emil": (),
    "gwen": ("--requests", "4"),
}  # fmt: skip


def deia(place: Place, *arguments: str) -> str:
    """Run a command of deia; give what it says."""
    done = subprocess.run(
        place.command(*arguments), cwd=place.root, env=place.environ, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    """Give a server as each of its users sees it, with two collections in its library."""
    folder = tmp_path_factory.mktemp("team")
    place = make_place(folder)
    for name, text in NOTES.items():
        source = folder / name
        source.mkdir()
        (source / "note.md").write_text(text)
        deia(place, "ingest", str(source), "--collection", name)
    tokens = {name: deia(place, "user", "add", name, *given) for name, given in USERS.items()}
    served = start_server(place, "--rate", "0", token="")
    clients = {name: served.but(token=token) for name, token in tokens.items()}
    await_ready(clients["cleo"])
    yield {**clients, "nobody": served}
    assert end_server(served) == 0


def found(client: Served, words: str, **more: str) -> list[str]:
    """Give the paths of what a search finds."""
    given = "&".join(f"{name}={value}" for name, value in {"q": words.replace(" ", "+"), **more}.items())
    status, body, _ = client.ask(f"/search?{given}")
    assert status == 200, body
    documents = json.loads(body).get("documents", {})
    return [one["path"] for one in (*documents.get("primary", ()), *documents.get("secondary", ()))]


@pytest.mark.slow
def test_each_finds_what_they_may_read_and_one_collection_or_several_if_they_say_so(team: dict[str, Served]) -> None:
    assert found(team["anna"], "pump vented") == ["library:red/note.md"]
    assert found(team["bert"], "pump vented") == ["library:blue/note.md"]
    assert {*found(team["cleo"], "pump vented")} == {"library:red/note.md", "library:blue/note.md"}
    assert found(team["cleo"], "pump vented", collection="red") == ["library:red/note.md"]
    assert {*found(team["cleo"], "pump vented", collection="red,library:blue")} == {
        "library:red/note.md", "library:blue/note.md",
    }  # fmt: skip


@pytest.mark.slow
def test_a_collection_of_others_is_refused_as_one_that_does_not_exist(team: dict[str, Served]) -> None:
    told = [team["anna"].ask(f"/search?q=pump&collection={name}")[:2] for name in ("blue", "none")]
    assert told[0][0] == told[1][0] == 400
    assert told[0][1].replace(b"blue", b"none") == told[1][1]


@pytest.mark.slow
def test_without_a_token_nobody_is_answered_once_there_are_users(team: dict[str, Served]) -> None:
    for client in (team["nobody"], team["nobody"].but(token="wrong" * 9)):
        assert [client.ask(path)[0] for path in ("/search?q=x", "/metrics", "/ready", "/mcp")] == [401] * 4
        assert client.ask("/health")[0] == 200


@pytest.mark.slow
def test_each_is_offered_what_their_scope_and_their_collections_allow(team: dict[str, Served]) -> None:
    offered: dict[str, set[str]] = {}

    def use(name: str) -> Any:
        async def run(client: Client) -> None:
            offered[name] = {tool.name for tool in (await client.list_tools()).tools}
            listed = {str(one.uri) for one in (await client.list_resources()).resources}
            assert ("deia://telemetry/summary" in listed) == (name == "cleo")

        return run

    for name in ("anna", "bert", "cleo", "emil"):
        team[name].run(use(name))
    writing = {"save_lesson", "remove_document", "index_source", "feedback"}
    assert not offered["anna"] & writing
    assert offered["bert"] & writing == {"index_source"}
    assert offered["cleo"] >= writing
    assert not offered["emil"] & writing


@pytest.mark.slow
def test_only_an_administrator_of_everything_is_answered_hooks_and_metrics(team: dict[str, Served]) -> None:
    event = json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "delete the shop site"})
    for name, wanted in (("anna", 403), ("bert", 403), ("emil", 403), ("cleo", 200)):
        assert team[name].ask("/metrics")[0] == wanted
        assert team[name].ask("/hooks/claude-code", body=event.encode())[0] == wanted
    assert b"deia_asked_total{" in team["cleo"].ask("/metrics")[1]


@pytest.mark.slow
def test_an_upload_goes_only_to_a_collection_of_ones_own(team: dict[str, Served]) -> None:
    def upload(name: str, collection: str) -> tuple[int, bytes]:
        return team[name].ask(f"/upload?name=valve.md&collection={collection}", body=b"# Valves\n\nOil them.\n")[:2]

    assert upload("bert", "blue")[0] == 202
    told = [upload("bert", collection) for collection in ("red", "none", "")]
    assert {status for status, _ in told} == {400}
    assert len({body for _, body in told}) == 1
    assert upload("anna", "red")[0] == 403


@pytest.mark.slow
def test_whoever_asks_too_much_is_told_when_to_come_back(team: dict[str, Served]) -> None:
    dora = team["dora"]
    assert [dora.ask("/search?q=site")[0] for _ in range(2)] == [200, 200]
    status, body, headers = dora.ask("/search?q=site")
    assert (status, 0 < int(headers["retry-after"]) <= 30) == (429, True)
    assert b"at most 2 requests a minute" in body

    async def use(client: Client) -> None:
        told = await client.call_tool("query_global_commons", {"query": "site"})
        assert told.is_error
        assert "Come back in" in told.content[0].text  # type: ignore[union-attr]  # it is text

    dora.run(use)


@pytest.mark.slow
def test_completing_and_following_are_limited_and_logged_like_questions(team: dict[str, Served]) -> None:
    offered = []

    async def use(client: Client) -> None:
        reference = ResourceTemplateReference(uri="deia://document/{id}")
        for _ in range(3):
            found = await client.complete(reference, {"name": "id", "value": "site-"})
            offered.append(len(found.completion.values))
        async with client.listen(resource_subscriptions=["deia://document/site-rename"]):
            found = await client.complete(reference, {"name": "id", "value": "site-"})
            offered.append(len(found.completion.values))
        with pytest.raises(MCPError, match="Come back in"):
            async with client.listen(resource_subscriptions=["deia://document/site-rename"]):
                pass

    team["gwen"].run(use)
    assert offered == [2, 2, 2, 0]
    lines = json.loads(deia(team["gwen"].place, "audit-log", "--user", "gwen", "--json"))["lines"]
    assert [(line["what"], line["outcome"]) for line in lines] == [
        *[("completion", "ok")] * 3, ("subscription", "ok"), ("completion", "limited"), ("subscription", "limited"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_user_can_follow_some_addresses_and_others_once_these_are_left(team: dict[str, Served]) -> None:
    async def use(client: Client) -> None:
        for part in ("a", "b"):
            async with client.listen(resource_subscriptions=[f"deia://document/{part}{n}" for n in range(120)]):
                pass
            await asyncio.sleep(0.5)  # until the server has seen that nobody listens
        with pytest.raises(MCPError, match="At most 200 addresses"):
            async with client.listen(resource_subscriptions=[f"deia://document/{n}" for n in range(201)]):
                pass

    team["cleo"].run(use)


@pytest.mark.slow
def test_a_new_token_and_a_revoked_one_end_the_old_at_once(team: dict[str, Served]) -> None:
    place, nobody = team["nobody"].place, team["nobody"]
    first = nobody.but(token=deia(place, "user", "add", "fred", "--collection", "hosting"))
    eventually(first, 200)
    second = nobody.but(token=deia(place, "user", "rotate", "fred"))
    eventually(first, 401)
    eventually(second, 200)
    deia(place, "user", "revoke", "fred")
    eventually(second, 401)


def eventually(client: Served, status: int) -> None:
    """Wait until a search has a status."""
    end = time.monotonic() + 20
    while client.ask("/search?q=site")[0] != status:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_the_log_says_who_asked_what_without_secrets(team: dict[str, Served]) -> None:
    team["anna"].ask("/search?q=pump+password=hunter2secret99")
    said = json.loads(deia(team["anna"].place, "audit-log", "--user", "anna", "--json"))
    assert said["damages"] == []
    last = said["lines"][-1]
    assert (last["user"], last["collections"], last["outcome"]) == ("anna", ["library:red"], "ok")
    assert "pump" in last["question"]
    assert "hunter2secret99" not in json.dumps(said)
    assert {line["user"] for line in said["lines"]} == {"anna"}


@asynccontextmanager
async def opened(desk: Desk, team: Team, assembled: dict[str, Assembled]) -> AsyncIterator[Tenants]:
    """Give the users of a server over a desk, who are closed as a server does it."""

    async def take_long(_scope: Any, _receive: Any, _send: Any) -> None:
        await asyncio.sleep(1.2)

    def make(user: User, own: Assembled, _app: Any) -> Any:
        assembled[user.name] = own
        return take_long

    books = Books(metrics=Metrics(), trail=None, transport="http")
    own = Tenants(Opening(root=desk.root, tools=(), books=books, host="127.0.0.1", make=make))
    keeping = asyncio.ensure_future(own.keep(lambda: team))
    try:
        yield own
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        await own.close()


async def until_closed(own: Tenants, *, left: int = 0) -> None:
    """Wait until so many users are left."""
    end = time.monotonic() + 10
    while len(own) > left:
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


def test_whoevers_token_ended_is_closed_with_all_that_they_listen_to(desk: Desk) -> None:
    """The file still has them, so that a person sees who they were."""
    ends = spool.timestamp(time.time() + 1.5)
    anna, bert = User(name="anna", digest="a", expires=ends), User(name="bert", digest="b")
    team, assembled = Team(users=(anna, bert)), dict[str, Any]()

    async def use() -> None:
        async with opened(desk, team, assembled) as own:
            for user in team.users:
                await own.of(user, team)
            assert len(own) == 2
            await until_closed(own, left=1)
            assert assembled["anna"].handlers.subscribers.is_closed
            assert not assembled["bert"].handlers.subscribers.is_closed

    asyncio.run(use())


def test_closing_a_user_waits_for_their_question_but_lets_nobody_else_wait(desk: Desk) -> None:
    before, after, other = (
        User(name=name, digest=digest) for name, digest in (("anna", "a"), ("anna", "b"), ("bo", "c"))
    )
    team, assembled, asking = Team(users=(after, other)), dict[str, Any](), threading.Event()

    async def use() -> None:
        async with opened(desk, team, assembled) as own:
            await own.of(before, team)
            asked = asyncio.ensure_future(assembled["anna"].desk_thread.run(lambda: asking.wait(20)))
            await asyncio.sleep(0.05)
            for user in (after, other):
                tenant = await asyncio.wait_for(own.of(user, team), 5)
                assert tenant.user == user
            assert len(own) == 2
            assert not asked.done()
            asking.set()
            assert await asked

    try:
        asyncio.run(use())
    finally:
        asking.set()


def test_whoever_asks_again_as_they_become_idle_is_answered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "IDLE", -1.0)
    anna = User(name="anna", digest="a")
    team, assembled = Team(users=(anna,)), dict[str, Any]()

    async def use() -> None:
        async with opened(desk, team, assembled) as own:
            tenant = await own.of(anna, team)
            asking = asyncio.ensure_future(tenant({"type": "none"}, None, None))  # type: ignore[arg-type]  # never read
            await asyncio.sleep(0)
            assert tenant.requests == 1
            await asking
            assert len(own) == 1
            await until_closed(own)

    asyncio.run(use())
