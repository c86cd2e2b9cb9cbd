"""Both engines keep the protocol, against a real server and a real file, and say nothing secret."""

from __future__ import annotations

import math
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

from deia.engines import milvus
from deia.engines.engine import EngineError, Passage, Shelf, Stats, problem, shown
from deia.engines.opening import open_engine
from deia.engines.postgres import PostgresEngine, connected
from deia.problems import SettingsError
from deia.settings import checked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deia.engines.engine import Engine

WIDE = 8


def turned(angle: float) -> list[float]:
    return [math.cos(angle), math.sin(angle), *[0.0] * (WIDE - 2)]


def shelf(document: str, *angles: float, mark: str = "m") -> Shelf:
    passages = [Passage(ordinal=at, vector=turned(angle)) for at, angle in enumerate(angles)]
    return Shelf(document=document, mark=mark, passages=passages)


def places(engine: Engine, *, limit: int, among: list[str] | None = None, state: str = "s") -> list[tuple[str, int]]:
    return [(near.document, near.ordinal) for near in engine.search(turned(0), limit=limit, among=among, state=state)]


def test_the_nearest_passages_come_first(engine: Engine) -> None:
    engine.upsert([shelf("far", 1.5), shelf('a "quoted" {name}', 0.1, 0.7), shelf("near/ü.md", 0.2)])
    engine.settle("s")
    assert places(engine, limit=3) == [('a "quoted" {name}', 0), ("near/ü.md", 0), ('a "quoted" {name}', 1)]
    (best,) = engine.search(turned(0), limit=1, state="s")
    assert best.cosine == pytest.approx(math.cos(0.1), abs=0.002)


def test_a_filter_counts_before_the_limit(engine: Engine) -> None:
    chance = random.Random(1)  # noqa: S311 - no secret
    engine.upsert([shelf(f"d{number}", chance.random()) for number in range(400)])
    engine.upsert([shelf("wanted", 1.55), shelf("other", 1.56)])
    engine.settle("s")
    assert places(engine, limit=5, among=["other", "wanted", "unknown"]) == [("wanted", 0), ("other", 0)]
    assert places(engine, limit=5, among=[]) == []
    assert len(places(engine, limit=150)) == 150


def test_a_document_put_twice_is_there_once_as_it_was_last(engine: Engine) -> None:
    engine.upsert([shelf("d", 0.1, 0.2, 0.3, mark="one"), shelf("e", 0.9)])
    engine.upsert([shelf("d", 0.5, mark="two")])
    assert engine.stats() == Stats(documents=2, passages=2, state="")
    assert engine.marks() == {"d": "two", "e": "m"}
    engine.delete(["d", "never there"])
    engine.settle("s")
    assert places(engine, limit=9) == [("e", 0)]
    assert engine.stats() == Stats(documents=1, passages=1, state="s")


def test_a_space_of_another_state_answers_nothing(engine: Engine) -> None:
    engine.upsert([shelf("d", 0.1)])
    engine.settle("s")
    assert places(engine, limit=1, state="later") == []
    engine.settle("")
    assert places(engine, limit=1) == []


def test_the_state_is_told_without_counting(address: str) -> None:
    engine = open_engine(address, "deia_stated", WIDE)
    engine.upsert([shelf("d", 0.1)])
    engine.settle("s")
    with locked(address, "deia_stated"):
        assert engine.state() == "s"
    assert engine.stats().state == "s"
    engine.close()


@contextmanager
def locked(address: str, space: str) -> Iterator[None]:
    """Let nobody read the passages of a space, if that is possible there."""
    if not address.startswith("postgresql"):
        yield
        return
    with connected(address) as connection, connection.transaction():
        connection.execute(f"lock table {space} in access exclusive mode")
        yield


def test_a_slow_request_that_fails_leaves_searches_their_limit(postgres: str) -> None:
    engine = PostgresEngine(postgres, "deia_limited", WIDE)
    with pytest.raises(EngineError):
        engine.upsert([shelf("d", 0.1).but(passages=[Passage(ordinal=0, vector=[0.5])])])
    assert engine._connection.execute("show statement_timeout").fetchone()[0] == "5s"
    engine.close()


def test_a_machine_that_is_gone_is_noticed(postgres: str) -> None:
    with connected(postgres) as connection:
        known = connection.info.get_parameters()
    assert known["tcp_user_timeout"] == "5000"
    assert known["keepalives"] == "1"
    assert int(known["keepalives_idle"]) + int(known["keepalives_interval"]) * int(known["keepalives_count"]) <= 5


def test_a_milvus_that_is_slow_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("milvus_lite")
    engine = open_engine(f"milvus://{tmp_path}/milvus.db", "deia_silent", WIDE)
    for ask in (engine.state, engine.stats, engine.marks, lambda: engine.search(turned(0), limit=1)):
        ask()
        with monkeypatch.context() as patch:
            patch.setattr(milvus, "SLOW", -1.0)
            with pytest.raises(EngineError):
                ask()
    engine.close()


def test_two_spaces_share_nothing(address: str) -> None:
    one, other = (open_engine(address, name, WIDE) for name in ("deia_apart_one", "deia_apart_other"))
    one.upsert([shelf("d", 0.1)])
    assert other.stats() == Stats()
    one.close()
    other.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://somebody:hunter2@127.0.0.1:1/x", "postgresql://somebody:hunter2@[::1/x",
        "postgresql://h/x?nonsense=hunter2", "milvus://somebody:hunter2@127.0.0.1:1", "milvus://a:hunter2@[/x",
        "mysql://somebody:hunter2@h/x", "hunter2", "milvus:///hunter2",
    ],
)  # fmt: skip
def test_an_engine_that_is_away_or_wrong_is_said_without_what_is_secret(address: str) -> None:
    with pytest.raises(EngineError) as raised:
        open_engine(address, "deia_space", WIDE)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_the_setting_is_no_project_s_to_make() -> None:
    with pytest.raises(SettingsError, match="engine is a secret"):
        checked("engine", "postgresql://evil.example/x", "deia.toml")


@given(some.text(max_size=60))
def test_no_address_is_shown_with_its_password(text: str) -> None:
    password = f"pa55{text.encode().hex()}"
    for scheme in ("postgresql", "milvus"):
        address = f"{scheme}://me:{password}@example.org:5/{'x'}?password={password}"
        assert password not in shown(address)
        assert password not in str(problem(address, ValueError(f"cannot open {address} for {password}")))
    shown(text)


@pytest.mark.parametrize("mark", ["/", "?", "#", "/x@y/", "/x?", "/x#"])
def test_a_password_that_was_not_quoted_is_not_shown(mark: str) -> None:
    for address in (
        f"postgresql://deia:2024{mark}hunter2@127.0.0.1:1/x",
        f"milvus://deia:2024{mark}hunter2@127.0.0.1:1",
    ):
        with pytest.raises(EngineError) as raised:
            open_engine(address, "deia_space", WIDE)
        for text in (shown(address), str(raised.value)):
            assert "hunter2" not in text
            assert "2024" not in text
