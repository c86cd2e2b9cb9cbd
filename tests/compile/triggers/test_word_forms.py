"""Word forms: the ones that people write, and none of other words, with and without spaCy's tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.word_forms import (
    by_rule,
    forms,
    forms_source,
    irregular_nouns,
    irregular_verbs,
    looked_up,
)
from deia.knowledge import Clause, Trigger
from deia.settings import DEFAULTS
from deia.text import words
from deia.watch.gate.artefact import Artefact, open_artefact
from tests.derived import private

if TYPE_CHECKING:
    from collections.abc import Callable


class Wanted(NamedTuple):
    """A base form, forms of it, and forms of other words that are not to be taken for its own."""

    base: str
    own: frozenset[str]
    others: frozenset[str]


def read_table() -> list[Wanted]:
    lines = (Path(__file__).parent / "word_forms.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.partition(":") for line in lines if not line.startswith("#")]
    halves = [(base, *rest.partition("|")[::2]) for base, _, rest in rows]
    return [Wanted(base, frozenset(own.split()), frozenset(others.split())) for base, own, others in halves]


TABLE = read_table()
needs_tables = pytest.mark.skipif(not forms_source(), reason="the nlp extra is not installed")


def test_the_table_holds_each_of_its_many_words_once() -> None:
    assert len({row.base for row in TABLE}) == len(TABLE) >= 150
    assert all(row.own and not row.own & row.others for row in TABLE)


def gaps(give: Callable[[str], frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the missing and the superfluous forms, by base form."""
    given = {row.base: give(row.base) for row in TABLE}
    return {row.base: wrong for row in TABLE if (wrong := (row.own - given[row.base]) | (row.others & given[row.base]))}


def test_the_rules_give_the_forms_that_people_write_and_none_of_another_word() -> None:
    assert gaps(by_rule) == {}


@needs_tables
def test_with_the_tables_the_same_holds() -> None:
    assert gaps(forms) == {}


@needs_tables
@pytest.mark.parametrize("line", ["beseech besought", "smite smote smitten", "lemma lemmata", "corrigendum corrigenda"])
def test_the_tables_know_rare_words_that_the_rules_do_not(line: str) -> None:
    base, *rest = line.split()
    assert set(rest) <= looked_up(base) <= forms(base)
    assert not set(rest) <= by_rule(base)


@needs_tables
def test_the_tables_add_nothing_to_a_word_that_is_regular() -> None:
    for word in ("reindex", "unpublish", "delete", "deploy", "rebase", "push"):
        assert forms(word) == by_rule(word)


@pytest.mark.parametrize("word", ["s3", "v2", "ls", "db", "rm", "dns", "k8s", "gr\u00fc\u00df"])
def test_names_and_short_words_are_left_alone(word: str) -> None:
    assert forms(word) == {word}


def test_forms_of_two_letter_verbs_are_known() -> None:
    assert {"went", "gone"} <= forms("go")
    assert {"is", "were"} <= forms("be")
    assert "bed" not in forms("be")


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(alphabet="abcdeiouxyzsq", min_size=1, max_size=8), st.text(min_size=1, max_size=5)))
def test_a_word_is_a_form_of_itself_and_every_form_is_one_word(text: str) -> None:
    for word in words(text):
        assert word in forms(word)
        assert all(words(form) == [form] for form in forms(word))


def test_the_lists_of_irregular_words_hold_words() -> None:
    for word, others in {**irregular_verbs(), **irregular_nouns()}.items():
        assert all(form.isalpha() and form.islower() for form in (word, *others))


def trigger_on(phrase: str) -> Trigger:
    clause = Clause(kind="phrase", value=phrase)
    return Trigger(id="t", title="T", urgency="high", message="Careful.", who=("user",), documents=(), any=(clause,))


def compiled_words(phrase: str) -> list[list[str]]:
    chosen = DEFAULTS.by_name()
    data, _ = compile_triggers([trigger_on(phrase)], {}, settings=chosen, identity={})
    return [list(singles) for _, singles, _, _ in Artefact(data).trigger(0).any[0].slots]


def test_what_the_tables_say_is_recorded_and_changes_only_the_words_they_know_better() -> None:
    for phrase in ("delete shop", "freeze reindex", "beseech shop"):
        by_rules = [sorted(by_rule(word)) for word in phrase.split()]
        more = [sorted(by_rule(word) | looked_up(word)) for word in phrase.split()]
        assert [sorted(singles) for singles in compiled_words(phrase)] == more
        assert (more == by_rules) is (not looked_up("beseech") or "beseech" not in phrase)


def test_the_artefact_says_where_its_word_forms_come_from(tmp_path: Path) -> None:
    index = {"version": "1.0", "clusters": {"all": {"description": "All.", "documents": []}}}
    (tmp_path / "commons_index.yaml").write_text(json.dumps(index), encoding="utf-8")
    folder = compile_commons(str(tmp_path), environ=private(tmp_path)).folder
    assert open_artefact(f"{folder}/triggers").meta.forms == forms_source()
