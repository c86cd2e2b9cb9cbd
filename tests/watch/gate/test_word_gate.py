"""The word gate may let too much through, but never drops a trigger whose clauses would match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.clauses.confirm import confirm
from deia.watch.gate.long_turns import condensed
from deia.watch.gate.word_gate import EVERY, candidates
from deia.watch.gate.word_gate import SAID as SPEAKS
from deia.watch.turn import parsed_turn
from deia.watch.turn.parsed_turn import Reading
from deia.watch.turn.tool_call import CALL_OVERLAP, OVERLAP, SEGMENT, command_of, is_shell, segments, watched_text

if TYPE_CHECKING:
    from deia.knowledge import Trigger
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

WORDS = ("delete", "shop", "now")
OTHERS = ("deleting", "shops", "the", "--force", "--forc", "--for", "--fo", "error", ". ", '"x y"', "\n", "`a b`")
SAID = st.lists(st.sampled_from((*WORDS, *WORDS, *OTHERS)), min_size=2, max_size=14)
ROLES = ("user", "assistant", "tool_call", "tool_result")


ALL_ROLES: tuple[Any, ...] = (*ROLES, "system")


def opened(artefact: Artefact, turn: Turn) -> list[int]:
    return list(candidates(artefact, turn)[0])


def holds(artefact: Artefact, number: int, turn: Turn) -> bool:
    """Return whether a trigger's clauses match in a turn, without the gate."""
    trigger, reading = artefact.trigger(number), Reading(turn, act_words=artefact.act_words)
    every = all(any(True for _ in confirm(clause, reading)) for clause in trigger.all)
    some = any(any(True for _ in confirm(clause, reading)) for clause in trigger.any) or not trigger.any
    return every and some


def passed_over(artefact: Artefact, number: int, turn: Turn) -> set[int]:
    """Return the clauses of a trigger that match in a turn although the gate did not select them."""
    trigger, reading = artefact.trigger(number), Reading(turn, act_words=artefact.act_words)
    chosen = candidates(artefact, turn)[0].get(number, set())
    if trigger.all or EVERY in chosen:
        return set()
    return {at for at, one in enumerate(trigger.any) if any(True for _ in confirm(one, reading))} - chosen


word = st.sampled_from(WORDS)
place = st.one_of(
    word, st.just("…"), st.lists(word, min_size=1, max_size=3).map(lambda some: "{" + "|".join(some) + "}")
)
phrase = st.tuples(word, st.lists(place, max_size=3), word).map(lambda parts: " ".join((parts[0], *parts[1], parts[2])))
command = st.tuples(word, st.lists(st.one_of(word, st.sampled_from(("--force", "-f", "s*", "…"))), max_size=3)).map(
    lambda parts: " ".join((parts[0], *parts[1]))
)
pattern = st.tuples(word, st.sampled_from((" ", r"\s+", ".{0,9}", r"\b.?", "s? ")), word).map("".join)
clause = st.one_of(
    phrase.map(lambda text: ("phrase", text)),
    command.map(lambda text: ("command", text)),
    pattern.map(lambda text: ("pattern", text)),
    phrase.map(lambda text: ("error", text)),
    st.sampled_from(("delete the shop", "shop and delete it", "delete … the delete shop")).map(
        lambda text: ("meaning", (text,))
    ),
)


@pytest.mark.slow
def test_nothing_that_the_clauses_match_is_lost(make: Make, build: Build) -> None:
    matched = []
    clauses = st.lists(clause, min_size=1, max_size=3)

    @settings(max_examples=400, deadline=None)
    @given(
        st.lists(st.tuples(clauses, st.lists(clause, max_size=1)), min_size=1, max_size=3), SAID, st.sampled_from(ROLES)
    )
    def hold(written: list[tuple[list[tuple[str, str]], list[tuple[str, str]]]], said: list[str], role: Any) -> None:
        triggers = [make(*some, id=f"t{number}", who=ROLES, all=every) for number, (some, every) in enumerate(written)]
        artefact = build(*triggers)
        turn = Turn(role=role, text=" ".join(said), tool="Bash" if role == "tool_call" else "", failed=True)
        let_through = opened(artefact, turn)
        held = [number for number in range(len(triggers)) if holds(artefact, number, turn)]
        assert set(held) <= set(let_through)
        assert not any(passed_over(artefact, number, turn) for number in range(len(triggers)))
        matched.extend(held)

    hold()
    assert len(matched) > 10, "the test would say nothing"


@pytest.mark.parametrize("role", ["user", "assistant", "tool_call"])
@pytest.mark.parametrize(
    ("option", "other"),
    [
        ("--force", "--for"), ("--allow", "--all"), ("--database", "--data"), ("--namespace", "--name"),
        ("--interactive", "--in"), ("--recursive", ""),
    ],
)  # fmt: skip
def test_the_gate_opens_at_every_abbreviation_that_counts(
    make: Make, build: Build, role: Any, option: str, other: str
) -> None:
    artefact = build(make(("command", f"delete … {option}"), who=ROLES))
    cut = [option[:size] for size in range(4, len(option) + 1)]
    turns = [Turn(role=role, text=f"delete delete {one}", tool="Bash" if role == "tool_call" else "") for one in cut]
    held = [one for one, turn in zip(cut, turns, strict=True) if holds(artefact, 0, turn)]
    assert held == [one for one in cut if one != other]
    assert held == [one for one, turn in zip(cut, turns, strict=True) if opened(artefact, turn)]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=3000), st.integers(0, 3000))
def test_what_fits_into_the_overlap_is_whole_in_one_segment(text: str, at: int) -> None:
    piece = text[at : at + OVERLAP]
    assert any(piece in segment for segment in segments(text))
    assert all(len(segment) <= SEGMENT for segment in segments(text))


@pytest.mark.parametrize("filler", [0, 150, 390, 395, 400, 405, 590, 600, 1000, 50_000])
def test_a_phrase_is_found_wherever_it_stands_in_a_long_turn(make: Make, build: Build, filler: int) -> None:
    artefact = build(make(("phrase", "delete … shop")))
    for text in ("x" * filler + " delete my old shop", "ab " * (filler // 3) + "delete my old shop " + "ab " * 300):
        turn = Turn(role="assistant", text=text)
        assert opened(artefact, turn) == [0]
        assert holds(artefact, 0, condensed(artefact, turn, [0]))


def test_words_at_opposite_ends_of_a_log_do_not_add_up_to_a_phrase(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "delete … shop")))
    assert opened(artefact, Turn(role="user", text="delete " + "ab " * 1000 + "shop")) == []


def test_only_the_clauses_whose_words_are_there_are_looked_at(make: Make, build: Build) -> None:
    some = [("phrase", "sell the shop"), ("command", "shop sell --now"), ("phrase", "burn the house")]
    apart, together = make(*some, id="a"), make(*some[1:], id="b", all=some[:1])
    artefact = build(apart, together)
    found = candidates(artefact, Turn(role="user", text="I will sell the shop and burn the house"))[0]
    assert found == {0: {0, 2}, 1: {EVERY}}
    alone = build(make(all=[("phrase", "sell the shop")]))
    assert candidates(alone, Turn(role="user", text="I will sell the shop"))[0] == {0: {0}}


def test_clauses_of_all_may_lie_far_apart(make: Make, build: Build) -> None:
    artefact = build(make(all=[("phrase", "sell shop"), ("phrase", "burn house")]))
    for filler in (10, 1000, 40_000):
        turn = Turn(role="assistant", text="I will sell the shop. " + "ab " * filler + "I will burn the house.")
        assert opened(artefact, turn) == [0]
        assert holds(artefact, 0, condensed(artefact, turn, [0]))


def test_a_command_may_be_long(make: Make, build: Build) -> None:
    artefact = build(make(("command", "curl … -X=DELETE … *sites*")))
    command = "curl -d '" + "z" * (CALL_OVERLAP - 100) + "' -X DELETE https://api/sites/1"
    assert opened(artefact, Turn(role="tool_call", text=command, tool="Bash")) == [0]


def test_a_word_longer_than_the_table_holds_does_not_close_the_gate(make: Make, build: Build) -> None:
    long = "x" * 100
    artefact = build(make(("phrase", f"delete {long}")))
    assert opened(artefact, Turn(role="user", text=f"delete {long}")) == [0]
    assert artefact.groups_of("y" * 10_000) == ()


def test_only_turns_of_those_that_count_open_the_gate(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), who=("assistant",)))
    told = [role for role in ALL_ROLES if opened(artefact, Turn(role=role, text="sell shop"))]
    assert told == ["assistant"]


def test_a_pasted_error_opens_the_gate_for_an_error_trigger(make: Make, build: Build) -> None:
    artefact = build(make(("error", "no space left"), who=("tool_result",)))
    for role in ("user", "tool_result"):
        assert opened(artefact, Turn(role=role, text="Error: no space left")) == [0]


def test_context_words_are_seen_by_anybody_and_everywhere(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), context=("node.js", "netlify", "…")))
    assert candidates(artefact, Turn(role="tool_result", text="using Node.js 22")) == ({}, ["node.js"])
    assert candidates(artefact, Turn(role="user", text="ab " * 9000 + "NETLIFY"))[1] == ["netlify"]
    assert candidates(artefact, Turn(role="user", text="sell the shop …")) == ({0: {0}}, [])


def test_a_pattern_without_a_word_is_tried_on_every_turn(make: Make, build: Build) -> None:
    artefact = build(make(("pattern", r"[0-9]{3}-[0-9]{4}")))
    assert opened(artefact, Turn(role="user", text="")) == [0]
    long = Turn(role="assistant", text="call 555-1234 " + "ab " * 20_000)
    assert holds(artefact, 0, condensed(artefact, long, [0]))


def test_a_long_turn_is_read_only_where_it_counts_and_stays_in_its_fence(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    shown = "```\n" + "ab " * 15_000 + "\nI will sell the shop\n" + "ab " * 15_000 + "\n```\n"
    turn = condensed(artefact, Turn(role="assistant", text=shown), [0])
    assert len(turn.text) < 3000
    assert not holds(artefact, 0, turn)
    after = condensed(artefact, Turn(role="assistant", text=shown + "I will sell the shop"), [0])
    assert holds(artefact, 0, after)


def test_no_more_than_so_much_of_a_turn_is_read(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    turn = condensed(artefact, Turn(role="assistant", text="I will sell the shop. " * 50_000), [0])
    assert len(turn.text) <= parsed_turn.MOST_READ + 3000


def test_of_a_turn_that_nobody_reads_whole_the_beginning_and_the_end_are_watched(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    filler = "x " * 1_500_000
    for text, opens in (
        (f"sell the shop {filler}", True),
        (f"{filler} sell the shop", True),
        (f"{filler} sell the shop {filler}", False),
    ):
        turn = Turn(role="assistant", text=text)
        assert bool(candidates(artefact, turn)[0]) is opens
        assert ("sell the shop" in condensed(artefact, turn, [0]).text) is opens


def test_words_of_one_trigger_all_over_a_log_do_not_hide_another(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "green … checks"), id="noise"), make(("phrase", "sell shop"), id="rare"))
    for text in (
        "I will sell the shop.\n" + "checks are green\n" * 60_000,
        "checks are green\n" * 60_000 + "I will sell the shop.",
    ):
        turn = condensed(
            artefact, Turn(role="assistant", text=text), opened(artefact, Turn(role="assistant", text=text))
        )
        assert holds(artefact, 1, turn)
        assert len(turn.text) <= parsed_turn.MOST_READ + 6000


def test_a_block_of_code_that_is_open_at_the_end_of_a_piece_ends_with_it(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    filler = "ab " * 15_000
    text = f"I will sell the\n```\n{filler}\n```\nsell the shop\n{filler}\nshop"
    assert holds(artefact, 0, condensed(artefact, Turn(role="user", text=text), [0]))


@pytest.mark.parametrize(
    ("tool", "given", "command"),
    [
        ("Bash", {"command": "ls -l"}, "ls -l"),
        ("shell", {"command": ["bash", "-lc", "ls && pwd"]}, "ls && pwd"),
        ("exec_command", {"cmd": "ls"}, "ls"),
        ("Bash", {"command": ["echo", "a b", "it's"]}, "echo 'a b' 'it'\\''s'"),
        ("Bash", {"command": []}, ""),
        ("Bash", {"command": [1, 2]}, ""),
        ("Bash", {"command": 7}, ""),
        ("Bash", None, ""),
    ],
)
def test_the_command_line_is_read_from_every_known_form_of_call(
    tool: str, given: dict[str, object] | None, command: str
) -> None:
    turn = Turn(role="tool_call", text="", tool=tool, tool_input=given)
    assert is_shell(turn)
    assert command_of(turn) == command


def test_all_texts_of_another_tool_are_watched_but_not_without_end() -> None:
    deep: object = "bottom"
    for _ in range(50):
        deep = [deep]
    turn = Turn(role="tool_call", text="", tool="mcp__x__y", tool_input={"a": {"b": ["deep word"]}, "c": deep, "d": 5})
    text = watched_text(turn)
    assert "deep word" in text
    assert "bottom" not in text


@pytest.mark.parametrize("filler", [0, 150, 390, 400, 590, 600, 50_000])
def test_a_sentence_that_means_it_is_found_wherever_it_stands(make: Make, build: Build, filler: int) -> None:
    artefact = build(make(("meaning", ("wipe the shop and set it up again from scratch",))))
    text = "ab " * (filler // 3) + ". I'll nuke the shop and then set everything up again from scratch. " + "ab " * 300
    turn = Turn(role="assistant", text=text)
    assert opened(artefact, turn) == [0]
    assert holds(artefact, 0, condensed(artefact, turn, [0]))


def test_that_somebody_speaks_is_never_what_a_row_is_looked_up_by(make: Make, build: Build) -> None:
    artefact = build(
        *(make(("meaning", (f"delete every file and add test {number}",)), id=f"t{number}") for number in range(9))
    )
    (group,) = artefact.groups_of(SPEAKS)
    assert artefact.rows_of(group) == []


def test_a_command_or_file_that_holds_the_words_of_an_exemplar_does_not_open_the_gate(make: Make, build: Build) -> None:
    artefact = build(make(("meaning", ("wipe the shop again",))))
    said = "I'll wipe the shop again"
    assert opened(artefact, Turn(role="tool_call", text=said, tool="Bash")) == []
    assert opened(artefact, Turn(role="tool_call", text="", tool="Write", tool_input={"content": said})) == []
    assert opened(artefact, Turn(role="tool_call", text="", tool="Task", tool_input={"prompt": said})) == [0]


def test_an_old_form_may_hold_its_words_anywhere(make: Make, build: Build) -> None:
    trigger: Trigger = make(("words", {"all": ["netlify", "rebuild"], "any": []}))
    artefact = build(trigger)
    assert opened(artefact, Turn(role="user", text="netlify " + "ab " * 900 + " rebuilding")) == [0]
