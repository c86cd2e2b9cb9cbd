"""The words that a commons adds for its `act` clauses: read safely, with all problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.source_files.findings import Findings
from deia.commons.source_files.yaml_reader import read_yaml
from deia.commons.triggers.own_act_words import LONGEST, MOST, PATH, read_own_words
from deia.commons.triggers.read_triggers import LAST_GOOD, load_triggers
from deia.knowledge import OwnActWords

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = """\
verbs:
  destroy: [yeet, Pull the plug on]
  ledger-close: [close out]
objects:
  ledger: [ledger, general-ledger]
vessels: [shard]
"""
TRIGGER = """\
- id: t
  title: T
  urgency: low
  message: M
  documents: [{id: d}]
  when: {any: [{act: {do: destroy, what: ledger}}]}
"""


def read(text: str) -> tuple[OwnActWords, list[tuple[int, str]]]:
    findings = Findings(PATH)
    own = read_own_words(read_yaml(text, path=PATH).value, findings)
    return own, [(problem.line, problem.code) for problem in findings.problems]


def test_the_words_are_read_in_plain_form() -> None:
    own, problems = read(WORDS)
    assert problems == []
    assert own.verbs == (("destroy", ("yeet", "pull the plug on")), ("ledger-close", ("close out",)))
    assert own.objects == (("ledger", ("ledger", "general ledger")),)
    assert own.vessels == ("shard",)


def test_all_problems_are_told_at_once_and_the_rest_is_read() -> None:
    own, problems = read(
        "verbs:\n  destroy: [yeet, '…', a b c d e]\n  ~x: [y]\n  stop: halt\n"
        f"objekts: {{}}\nobjects: [ledger]\nvessels: [two words, {'x' * (LONGEST + 1)}, shard]\n"
    )
    assert own == OwnActWords(verbs=(("destroy", ("yeet",)),), vessels=("shard",))
    assert sorted(problems) == [
        (2, "bad-word"), (2, "bad-word"), (3, "bad-class"), (4, "wrong-type"), (5, "unknown-field"),
        (6, "wrong-type"), (7, "bad-word"), (7, "bad-word"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["- a\n", "text\n"])
def test_a_file_that_is_no_mapping_adds_nothing(text: str) -> None:
    assert read(text) == (OwnActWords(), [(1, "wrong-type")])


def test_a_file_with_too_many_words_adds_nothing() -> None:
    listed = ", ".join(f"word{number}" for number in range(MOST + 1))
    assert read(f"verbs: {{destroy: [{listed}]}}\n") == (OwnActWords(), [(1, "too-many-words")])


@pytest.mark.parametrize("text", ["", "# nothing\n", "verbs: {}\n"])
def test_an_empty_file_is_fine(text: str) -> None:
    assert read(text) == (OwnActWords(), [])


def test_the_triggers_of_the_commons_have_its_words(write: Callable[[str, str], None], tmp_path: Path) -> None:
    write(PATH, WORDS)
    write("triggers/t.yaml", TRIGGER)
    files = load_triggers(str(tmp_path))
    (trigger,) = files.triggers
    assert trigger.act_words == read(WORDS)[0]
    assert [problem for problem in files.problems if problem.severity == "error"] == []


def test_a_broken_file_keeps_its_last_good_words(write: Callable[[str, str], None], tmp_path: Path) -> None:
    write("triggers/t.yaml", TRIGGER)
    write(PATH, "verbs: [\n")
    broken, restored = load_triggers(str(tmp_path)), load_triggers(str(tmp_path), good={PATH: WORDS})
    assert [files.triggers[0].act_words for files in (broken, restored)] == [OwnActWords(), read(WORDS)[0]]
    assert {problem.path for problem in broken.problems if problem.severity == "error"} == {PATH}
    assert LAST_GOOD in {problem.code for problem in restored.problems}
