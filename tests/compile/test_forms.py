"""Word forms: those people write are there, and a word is always a form of itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.forms import IRREGULAR, forms
from deia.text import words


@pytest.mark.parametrize(
    "line",
    [
        "delete deletes deleted deleting",
        "remove removes removed removing",
        "drop drops dropped dropping",
        "push pushes pushed pushing",
        "destroy destroys destroyed destroying",
        "copy copies copied copying",
        "commit commits committed committing",
        "write writes wrote written writing",
        "overwrite overwrites overwrote overwritten overwriting",
        "rebuild rebuilds rebuilt rebuilding",
        "reset resets resetting",
        "run runs ran running",
        "undo undoes undid undone undoing",
        "force forces forced forcing",
        "free frees freed freeing",
        "box boxes",
        "repository repositories",
        "index indices indexes",
        "rebase rebases rebased rebasing",
        "deploy deploys deployed deploying",
        "wipe wipes wiped wiping",
        "shut shuts shutting",
        "cancel cancels canceled cancelled canceling cancelling",
    ],
)
def test_the_forms_that_people_write_are_known(line: str) -> None:
    base, *rest = line.split()
    assert set(rest) <= forms(base)


@pytest.mark.parametrize("word", ["s3", "v2", "ls", "db", "dns", "k8s", "gr\u00fc\u00df"])
def test_names_and_short_words_are_left_alone(word: str) -> None:
    assert forms(word) <= {word, word + "s", word + "es"}
    assert len(forms(word)) <= 2


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(alphabet="abcdeiouxyzs", min_size=1, max_size=8), st.text(min_size=1, max_size=5)))
def test_a_word_is_a_form_of_itself_and_every_form_is_one_word(text: str) -> None:
    for word in words(text):
        assert word in forms(word)
        assert all(words(form) == [form] for form in forms(word))


def test_the_table_of_irregular_words_holds_words() -> None:
    for word, others in IRREGULAR.items():
        assert all(form.isalpha() and form.islower() for form in (word, *others.split()))
