"""What is asked is counted and logged, however it is written."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.serve.server.account import Account, Asked, Books
from deia.serve.server.allowances import LimitError, Meter
from deia.serve.server.audit_trail import AuditTrail, read_trail
from deia.serve.server.metrics import Metrics
from deia.serve.server.users import UNLIMITED, Allowance, Limited

if TYPE_CHECKING:
    from pathlib import Path

    from deia.fast_json import Json

HANDBOOK = Limited(collection="library:handbook", allowance=Allowance(requests=1))
LONG = "\N{ROCKET}" * 1_000


def books(folder: Path) -> Books:
    """Give the books of a server whose log is in a folder."""
    return Books(metrics=Metrics(), trail=AuditTrail(str(folder)), transport="http")


def write(account: Account, asked: Asked, fields: dict[str, Json] | None = None) -> None:
    """Write one answer down."""
    asyncio.run(account.write(asked, outcome="ok", began=time.perf_counter(), fields=fields))


@pytest.mark.parametrize(
    "collection",
    ["handbook", "handbook/", " library:handbook//// ", "Handbook", "handbook/x", "blue,handbook", ",", "",
     ",".join([*map(str, range(30)), "handbook"])],
)  # fmt: skip
def test_the_limit_of_a_collection_counts_however_it_is_named(tmp_path: Path, collection: str) -> None:
    """A question of somebody who may read everything and names no collection is one of each."""
    account = Account(books(tmp_path), name="anna", meter=Meter(UNLIMITED, [HANDBOOK]))
    asked = Asked(kind="tool", name="search", arguments={"query": "x", "collection": collection})
    account.admit(asked)
    with pytest.raises(LimitError):
        account.admit(asked)


def test_a_question_of_another_collection_does_not_count(tmp_path: Path) -> None:
    account = Account(books(tmp_path), name="anna", meter=Meter(UNLIMITED, [HANDBOOK]))
    for _ in range(3):
        account.admit(Asked(kind="tool", name="search", arguments={"collection": "blue"}))


def test_a_question_that_is_too_long_for_a_line_is_logged_shortened(tmp_path: Path) -> None:
    account = Account(books(tmp_path), name="anna")
    named = ",".join(f"{number}handbook{'/' * 160}x" for number in range(20))
    write(account, Asked(kind="tool", name="search", arguments={"query": LONG, "collection": named, LONG: 1}))
    write(
        account, Asked(kind="tool", name=LONG, client=LONG), {"documents": [{"path": f"{n}{LONG}"} for n in range(99)]}
    )
    checked = read_trail(str(tmp_path))
    assert checked.damages == ()
    assert [line["user"] for line in checked.lines] == ["anna", "anna"]
    assert str(checked.lines[0]["question"]).startswith("\N{ROCKET}" * 50)
    assert checked.lines[1]["shortened"] is True


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text(min_size=1), st.text().map(lambda text: text * 999), max_size=30),
    st.lists(st.text().map(lambda text: text * 99)),
)
def test_whatever_is_asked_leaves_a_line(tmp_path: Path, arguments: dict[str, Json], paths: list[str]) -> None:
    kept, before = books(tmp_path), len(read_trail(str(tmp_path)).lines)
    fields: dict[str, Json] = {"documents": [{"path": path} for path in paths]}
    write(Account(kept, name="anna"), Asked(kind="tool", name="search", arguments=arguments), fields)
    assert len(read_trail(str(tmp_path)).lines) == before + 1


def test_a_line_that_cannot_be_written_is_counted(tmp_path: Path) -> None:
    account = Account(books(tmp_path / "audit"), name="anna")
    (tmp_path / "audit").rename(tmp_path / "gone")
    (tmp_path / "audit").write_text("no folder")
    write(account, Asked(kind="tool", name="search"))
    assert "deia_audit_lost_total 1" in account.books.metrics.text()


def test_a_log_that_another_server_writes_stops_no_other_request(tmp_path: Path) -> None:
    account = Account(books(tmp_path), name="anna")

    async def use() -> None:
        with FileLock(f"{tmp_path}/lock"):
            writing = [
                asyncio.ensure_future(account.write(Asked(kind="tool", name=name), outcome="ok", began=0.0))
                for name in "abc"
            ]
            await asyncio.sleep(0.05)
            assert not any(one.done() for one in writing)
        await asyncio.gather(*writing)

    asyncio.run(use())
    assert [line["name"] for line in read_trail(str(tmp_path)).lines] == ["a", "b", "c"]
