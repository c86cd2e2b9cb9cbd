"""Conditions of `write` clauses on removals: a file is deleted, and what a removed test is about is gone or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, Watched, watch

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

DROPPED = {"drops": r"^func Test[A-Z]\w{0,80}\("}
DELETED = {"paths": ["*_test.go"], "deletes": True}
TEST = "func TestTotal(t *testing.T) {\n\tcheck(t, Total(), 42)\n}\n"


def call(tool: str, **fields: Any) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input=fields)


def edit(path: str, old: str, new: str = "") -> Turn:
    return call("Edit", file_path=path, old_string=old, new_string=new)


def run(command: str) -> Turn:
    return Turn(role="tool_call", text=command, tool="Bash")


def last(artefact: Artefact, *turns: Turn) -> Watched:
    log, watched = InMemoryLog(), Watched()
    for turn in turns:
        watched = watch(artefact, turn, log, lambda: Surroundings(now=0.0))
    return watched


@pytest.fixture(scope="module")
def artefact(make: Make, build: Build) -> Artefact:
    clauses: list[dict[str, Any]] = [{**DROPPED, "subject_gone": False}, {**DELETED, "subject_gone": False}]
    return build(make(*(("write", clause) for clause in clauses)))


GONE_BEFORE = [
    (edit("cart/cart.go", "func Total() int {\n\treturn 41\n}"), edit("cart/cart_test.go", TEST)),
    (edit("cart/cart.go", "Total", "Sum"), edit("cart/cart_test.go", TEST)),
    (run("rm cart/cart.go"), edit("cart/cart_test.go", TEST)),
    (run("git rm cart/cart.go"), run("rm cart/cart_test.go")),
    (run("rm cart/cart.go cart/cart_test.go"),),
    (call("Write", file_path="a_test.go", content=TEST), run("rm a_test.go")),
]  # fmt: skip


@pytest.mark.parametrize("turns", GONE_BEFORE)
def test_what_has_lost_its_subject_does_not_count(artefact: Artefact, turns: tuple[Turn, ...]) -> None:
    watched = last(artefact, *turns)
    assert not watched.firings
    (verdict,) = watched.verdicts
    assert verdict.stage == "earlier"
    assert "in this conversation" in verdict.detail


@pytest.mark.parametrize("turns", GONE_BEFORE[:4])
def test_the_same_may_be_asked_for(make: Make, build: Build, turns: tuple[Turn, ...]) -> None:
    gone = build(make(("write", {**DROPPED, "subject_gone": True}), ("write", {**DELETED, "subject_gone": True})))
    (firing,) = last(gone, *turns).firings
    assert "was removed in this conversation" in firing.because
    assert not last(gone, turns[-1]).firings


@pytest.mark.parametrize(
    "turns",
    [
        (edit("cart/cart_test.go", TEST),),
        (edit("cart/cart.go", "func Other() int {"), edit("cart/cart_test.go", TEST)),
        (run("rm cart/cart_test.go"),),
        (run("git rm -q cart/cart_test.go"),),
        (run("cd cart && rm -f cart_test.go"),),
        (edit("cart/cart.go", TEST),),
    ],
)
def test_a_test_with_a_subject_counts(artefact: Artefact, turns: tuple[Turn, ...]) -> None:
    assert last(artefact, *turns).firings


@pytest.mark.parametrize(
    ("turn", "counts"),
    [
        (run("rm cart_test.go"), True),
        (run("git rm cart_test.go"), True),
        (run("git rm --cached cart_test.go"), False),
        (run("touch cart_test.go"), False),
        (run("cp x cart_test.go"), False),
        (run("echo rm cart_test.go"), False),
        (edit("cart_test.go", "x", "y"), False),
        (call("delete_file", target_file="cart_test.go"), True),
        (call("apply_patch", input="*** Delete File: cart_test.go"), True),
        (call("apply_patch", input="*** Add File: cart_test.go\n+x"), False),
    ],
)  # fmt: skip
def test_only_deletions_are_deletions(make: Make, build: Build, turn: Turn, *, counts: bool) -> None:
    assert bool(last(build(make(("write", DELETED))), turn).firings) == counts


def test_names_are_kept_only_if_a_trigger_asks_for_them(make: Make, build: Build) -> None:
    log = InMemoryLog()
    watch(build(make(("write", DROPPED))), GONE_BEFORE[0][0], log, lambda: Surroundings(now=0.0))
    assert log.read() == b"."
