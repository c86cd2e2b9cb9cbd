"""A streamed turn fires what the whole turn fires, however it is cut, as soon as each sentence is settled."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.folders import STARTER
from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.streaming import MOST_BEFORE, Settled
from tests.starter.starter_commons import COMMONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SALE, WIPE, BURN, GONE = "I will sell the shop", "shopctl wipe", "I'll burn the barn", "the shop is gone"
TRIGGER = "- {{id: {}, title: T, urgency: {}, message: M., documents: [{{id: lesson}}], {}when: {{any: [{}]}}}}\n"
TRIGGERS = (
    TRIGGER.format("sale", "high", "unless: [quietly], ", "{phrase: sell shop}")
    + TRIGGER.format("wipe", "critical", "", "{command: shopctl wipe}")
    + TRIGGER.format("burn", "high", "context: [acme], ", "{phrase: burn barn}")
    + TRIGGER.format("gone", "medium", "timing: on-error, ", "{error: shop is gone}")
    + TRIGGER.format("often", "low", "repeat: every_time, ", "{phrase: paint fence}")
)
# Words and marks that may decide about a turn: stance, quotation, code, context, ends of sentences and lines.
PIECES = st.sampled_from([
    SALE, WIPE, BURN, GONE, "I'll paint the fence", "don't sell the shop", "sell the shop quietly",
    "should we sell the shop", "it is on acme", "Error: ", ". ", ".", "? ", "! ", "; ", "\n", "\n\n", "\r\n", "\r",
    "\u2028", '"', "'", "\u2019", "`", "``", "\n```bash\n", "\n```\n", "\n~~~\n", "\n> ", "\n- ", "\n1. ",
    "run `shopctl wipe` ", "$ shopctl wipe\n", "(", ") ", "e.g. ", "\u3002", "\u2026", " ", "x" * 300, "No. ",
    "Never mind. ", "yes", "\ud800", "\0", "he said \u201c", "\u201d ",
])  # fmt: skip


@pytest.fixture(scope="module")
def librarian(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    """Return a Librarian with a trigger for each kind of clause that streaming treats differently."""
    folder = tmp_path_factory.mktemp("commons")
    (folder / "bok").mkdir()
    (folder / "triggers").mkdir()
    entry = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy., keywords: [shop]}"
    index = f"version: '1.0'\nclusters: {{all: {{description: All., documents: [{entry}]}}}}\n"
    (folder / "commons_index.yaml").write_text(index, encoding="utf-8")
    (folder / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy first.\n", encoding="utf-8")
    (folder / "triggers" / "shop.yaml").write_text(TRIGGERS, encoding="utf-8")
    (folder / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder / "state"))
        return Librarian(folder, ledger=False)


CONVERSATIONS = iter(range(10**9))


def streamed(librarian: Librarian, chunks: Iterable[str], *, role: str = "assistant") -> tuple[list[str], list[str]]:
    """Return the triggers that fire while a turn is said, and those at its end."""
    with librarian.stream(role=role, conversation_id=f"stream {next(CONVERSATIONS)}") as watcher:  # type: ignore[arg-type]
        early = [firing.trigger for chunk in chunks for firing in watcher.feed(chunk)]
        late = [firing.trigger for firing in watcher.close()]
    assert sorted(early + late) == sorted(firing.trigger for firing in watcher.firings)
    return sorted(early), sorted(late)  # one chunk may hold several sentences, which speak by urgency


def whole(librarian: Librarian, text: str, *, role: str = "assistant") -> list[str]:
    turn = Turn(role=role, text=text)  # type: ignore[arg-type]
    firings = librarian.check_triggers([turn], conversation_id=f"whole {next(CONVERSATIONS)}")
    return sorted(firing.trigger for firing in firings)


def outdone(librarian: Librarian, text: str, *, role: str) -> set[str]:
    """Return the triggers of a whole turn for whose sentence another one speaks."""
    turn = Turn(role=role, text=text)  # type: ignore[arg-type]
    (watched,) = librarian.watch([turn], conversation_id=f"whole {next(CONVERSATIONS)}")
    return {verdict.trigger for verdict in watched.verdicts if verdict.stage == "sentence"}


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[first:last] for first, last in pairwise(edges)]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(PIECES, max_size=14), st.lists(st.integers(0, 10_000), max_size=8), st.sampled_from(["user", "assistant"])
)
@example(["I will sell the shop", '"', "I'll paint the fence", "! "], [], "assistant")
def test_any_cut_fires_the_same_and_what_the_whole_turn_fires(
    librarian: Librarian, pieces: list[str], places: list[int], role: str
) -> None:
    text = "".join(pieces)
    in_pieces = streamed(librarian, cut(text, places), role=role)
    assert in_pieces == streamed(librarian, text, role=role)  # one character at a time
    assert in_pieces == streamed(librarian, [text], role=role)
    fired, expected = sorted(in_pieces[0] + in_pieces[1]), whole(librarian, text, role=role)
    assert [one for one in fired if one in expected] == expected
    assert set(fired) - set(expected) <= outdone(librarian, text, role=role)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join), st.lists(st.integers(0, 10_000), max_size=6))
def test_where_a_text_is_settled_depends_on_the_text_alone(text: str, places: list[int]) -> None:
    at_once, in_pieces = Settled(), Settled()
    assert [place for chunk in cut(text, places) for place in in_pieces.add(chunk)] == list(at_once.add(text))
    assert in_pieces.whole() == text


@pytest.mark.parametrize(
    ("said", "early", "late"),
    [
        (f"{SALE}. Then we", ["sale"], []),
        (f"{SALE}\nThen we", ["sale"], []),
        (f"{SALE}.", [], ["sale"]),  # "…shop.com" may follow
        (f"{SALE}! Then", ["sale"], []),
        (f"{SALE}? Perhaps", [], []),
        (f"{SALE} quietly. Then", [], []),
        ("We don't sell the shop. Then", [], []),
        (f'He wrote: "{SALE}. Then go." And', [], []),
        (f'He wrote: "{SALE}. And then', [], ["sale"]),  # the quotation never closed
        (f"> {SALE}. Then\nand", [], []),
        (f"```\n{SALE}. Then\n```\nand", [], []),
        (f"I'll run this:\n```bash\n{WIPE}\n```\nand", ["wipe"], []),
        (f"I'll run this:\n```bash\n{WIPE}\n", [], ["wipe"]),
        (f"I'll run `{WIPE}` now. And", ["wipe"], []),
        (f"$ {WIPE}\nand", ["wipe"], []),
        (f"{BURN}. It is the one of acme. Then", ["burn"], []),
        (f"{BURN}. Then", [], []),
        (f"Never mind. {SALE}. {SALE}. Then", ["sale"], []),
    ],
)
def test_a_firing_comes_when_its_sentence_is_settled(
    librarian: Librarian, said: str, early: list[str], late: list[str]
) -> None:
    assert streamed(librarian, said) == (early, late)


def test_a_persons_turn_is_judged_when_it_is_complete(librarian: Librarian) -> None:
    """Whether it was typed or pasted depends on its length, and an error on what is said around it."""
    assert streamed(librarian, f"Error: {GONE}. {SALE}.\nAnd", role="user") == ([], ["gone", "sale"])
    assert streamed(librarian, f"Error: {GONE}. {SALE}.\n{'And. ' * 400}", role="user") == ([], ["gone"])


def test_a_sentence_in_the_middle_of_a_long_line_fires_early(librarian: Librarian) -> None:
    filler = "The checks are green and nothing else happened here. " * 200
    early, late = streamed(librarian, [filler + SALE + ". " + filler])
    assert (early, late) == (["sale"], [])


def test_a_line_that_reads_as_a_command_only_in_part_is_none(librarian: Librarian) -> None:
    for said in ("We looked at it. shopctl wipe. And the rest", "shopctl wipe. The command of the old tool"):
        early, late = streamed(librarian, said)
        assert sorted(early + late) == whole(librarian, said)


def test_the_turn_counts_as_judged_once_it_is_closed(librarian: Librarian) -> None:
    talk = [{"role": "user", "content": "hello"}]
    librarian.check_triggers(talk, conversation_id="judged")
    with librarian.stream(conversation_id="judged") as watcher:
        assert watcher.feed(f"{SALE}. And")
    assert watcher.watched is not None
    talk += [{"role": "assistant", "content": f"{SALE}. And"}, {"role": "user", "content": SALE}]
    assert librarian.check_triggers(talk, conversation_id="judged") == []  # it spoke in this conversation already


def test_a_turn_broken_off_is_remembered_as_far_as_it_was_said(librarian: Librarian) -> None:
    def broken() -> None:
        with librarian.stream(conversation_id="broken") as watcher:
            watcher.feed(f"{SALE}. And")
            raise TimeoutError("the model stopped")

    with pytest.raises(TimeoutError, match="stopped"):
        broken()
    assert librarian.check_triggers([f"Assistant: {SALE}"], conversation_id="broken") == []


def test_a_trigger_that_always_speaks_speaks_once_a_turn(librarian: Librarian) -> None:
    said = "I'll paint the fence. Then I'll paint the fence. And"
    assert streamed(librarian, said) == (["often"], [])


def test_a_closed_turn_takes_no_more_and_an_unknown_role_is_refused(librarian: Librarian) -> None:
    watcher = librarian.stream()
    assert watcher.feed(None) == watcher.feed("") == watcher.close() == watcher.close() == []
    with pytest.raises(QueryError, match=r"closed.*librarian.stream"):
        watcher.feed("x")
    with pytest.raises(QueryError, match=r"role 'robot' is unknown.*assistant"):
        librarian.stream(role="robot")  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["tool_call", "tool_result", "system"])
def test_calls_and_results_are_judged_when_they_are_complete(librarian: Librarian, role: str) -> None:
    early, late = streamed(librarian, f"Error: {GONE}\nshopctl wipe\n", role=role)
    assert early == []
    assert bool(late) is (role != "system")


def test_a_long_turn_is_not_read_again_and_again(librarian: Librarian, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    part = Settled.part

    def counted(self: Settled, first: int, last: int) -> str:
        read.append(last - first)
        return part(self, first, last)

    monkeypatch.setattr(Settled, "part", counted)
    texts = [("Sell the shop, said nobody. " * 200 + "\n") * times for times in (1, 3)]
    costs = []
    for text in (*texts, "```\n" + "x = 1\n" * 2_000 + "```\n" + "Well. " * 2_000, '"' + "a. " * 4_000, "a" * 40_000):
        read.clear()
        streamed(librarian, [text[at : at + 3] for at in range(0, len(text), 3)])
        costs.append(sum(read) / len(text))
    assert costs[1] < 1.2 * costs[0]
    assert max(costs) < MOST_BEFORE / 2


def test_threads_share_a_librarian(librarian: Librarian) -> None:
    found: list[tuple[list[str], list[str]]] = []
    expected = (["sale"], ["wipe"])

    def talk() -> None:
        for _ in range(10):
            found.append(streamed(librarian, f"{SALE}. Then\n```bash\n{WIPE}"))
            assert librarian.check_triggers([f"User: {SALE}"], conversation_id=f"t {next(CONVERSATIONS)}")

    threads = [threading.Thread(target=talk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 40


# --- the starter's own cases ---


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> tuple[Librarian, list[Turn]]:
    """Return a Librarian of the starter commons, and every sentence in its cases."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder / "state"))
        patch.setenv("DEIA_CACHE", str(folder / "cache"))
        patch.delenv("DEIA_COMMONS", raising=False)
        cases = COMMONS.cases
        turns = [turn for case in cases for turn in case.turns if turn.role in {"user", "assistant"} and turn.text]
        return Librarian(STARTER, ledger=False), turns


JOINTS = (" ", ". ", ".\n", "\n\n", "! ", '. "', "`. ", "\n- ", "; ", "\n```\n")


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_starters_cases_fire_the_same_streamed(starter: tuple[Librarian, list[Turn]], data: st.DataObject) -> None:
    librarian, turns = starter
    chosen = data.draw(st.lists(st.sampled_from(turns), min_size=1, max_size=4))
    joints = data.draw(st.lists(st.sampled_from(JOINTS), min_size=len(chosen), max_size=len(chosen)))
    text = "".join(turn.text + joint for turn, joint in zip(chosen, joints, strict=True))
    places = data.draw(st.lists(st.integers(0, 10_000), max_size=10))
    early, late = streamed(librarian, cut(text, places), role=chosen[0].role)
    assert (early, late) == streamed(librarian, [text], role=chosen[0].role)
    fired = set(whole(librarian, text, role=chosen[0].role))
    assert fired <= {*early, *late}
    assert {*early, *late} - fired <= outdone(librarian, text, role=chosen[0].role)
