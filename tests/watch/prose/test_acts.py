"""Acts read in sentences: the verb, its own object, and who is to do it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile.triggers.act_words import act_words
from deia.watch.prose.acts import MOST_FRAMES, Frame, frames
from deia.watch.prose.regions import cut

WORDS = act_words((), ())


def read(text: str) -> list[Frame]:
    """Return the acts in a text."""
    prose = cut(text)
    return frames(prose.masked, prose.tokens, WORDS)


@pytest.mark.parametrize(
    ("text", "act", "head"),
    [
        ("Let me remove this test for now since it's difficult.", "destroy", "test"),
        ("I'll delete the production database and recreate it from scratch.", "destroy", "database"),
        ("Now force push again.", "force", ""),
        ("I'm deleting the public remote branch, then I'll verify that it is gone.", "destroy", "branch"),
        ("The user wants to force push the amended commit to the remote branch.", "force", "commit"),
        ("I need to skip the typecheck to commit.", "skip", "typecheck"),
        ("Delete all of the tables in the prod db", "destroy", "tables"),
        ("can you please blow the cluster away", "destroy", "cluster"),
        ("Stop the server and delete the volume.", "destroy", "volume"),
        ("We should drop `users_old` table.", "destroy", "table"),
        ("do a hard reset", "reset", "reset"),
        ("Recursively delete all folders under x", "destroy", "folders"),
        ("I'll permanently delete only the old table", "destroy", "table"),
        ("remove the user's home directory", "destroy", "directory"),
        ("Could you stop the server and delete the volume?", "destroy", "volume"),
        ("Please get rid of the old branch", "destroy", "branch"),
        ("The site is broken. Just delete it and set it up again.", "destroy", "site"),
    ],
)
def test_an_act_that_somebody_is_to_do_is_read_with_the_head_of_its_object(text: str, act: str, head: str) -> None:
    assert any(act in frame.acts and frame.head == head for frame in read(text))


@pytest.mark.parametrize(
    "text",
    [
        "It deletes the rows.",
        "Rebase creates a new commit",
        "how to delete a branch",
        "the delete button of the table",
        "The ability to delete a database is new.",
        "We deleted the table yesterday.",
        "git --delete branch",
        "call delete(table) there",
        "which would delete the database",
        "the script will drop the table",
        "If it is inactive it resets (condense, delete the branch).",
        "I could keep the commits there, then delete the branch.",
        "After that I'd have to delete the branch.",
    ],
)
def test_what_nobody_here_is_to_do_is_no_act(text: str) -> None:
    assert read(text) == []


def test_words_before_an_act_say_nothing_of_it_unless_they_name_its_place() -> None:
    assert "links" not in read("Let me check the links, then delete the table")[-1].words
    assert "production" in read("In production, delete the table")[0].words


def test_the_object_is_what_its_last_word_says() -> None:
    (frame,) = read("I'll remove the database icon")
    assert frame.head == "icon"
    assert "database" in frame.modifiers
    assert "database" not in frame.things


def test_a_file_of_code_about_a_thing_is_not_the_thing() -> None:
    assert "database" not in read("I'll delete db.py")[0].things
    assert "test" in read("I'll delete tests/test_db.py")[0].things
    assert "migration" in read("I'll delete migrations/0003_users.py")[0].things
    assert "database" in read("I'll delete app.db")[0].things


@pytest.mark.parametrize(
    ("text", "head"), [("I'll delete migration 0003", "migration"), ("delete the rows older than a year", "rows")]
)
def test_a_number_or_a_comparison_after_the_noun_is_not_the_head(text: str, head: str) -> None:
    assert read(text)[0].head == head


def test_a_folder_is_of_the_class_of_what_it_holds() -> None:
    (frame,) = read("I'll delete the migrations folder")
    assert {"migration", "directory"} <= frame.things


def test_places_and_quantifiers_belong_to_the_act() -> None:
    (frame,) = read("please purge every queue on the production server")
    assert frame.whole
    assert {"production", "server"} <= frame.places


def test_another_clause_does_not_belong_to_the_act() -> None:
    frame = read("I'll drop the index because production is slow")[0]
    assert "production" not in frame.places | frame.words


PIECES = [*"ab .,;'`\n-_/()", " delete ", " the ", " table ", " and ", " to ", " it ", " wiping ", " I'll "]
PIECES += [" of ", "'s "]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_raises_and_every_act_lies_in_it(text: str) -> None:
    assert all(0 <= frame.start < frame.verb_end <= len(text) >= frame.end for frame in read(text))


def test_a_possessive_without_its_noun_is_no_object() -> None:
    assert [frame.head for frame in read("please delete 's")] == [""]


@pytest.mark.slow
def test_a_quarter_of_a_megabyte_of_verbs_is_read_in_time_and_gives_few_acts() -> None:
    assert len(read("delete " * 40_000)) <= MOST_FRAMES
