"""`<it>`: a pronoun in place of something that was mentioned a few turns ago, and resolved no further than that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.triggers.clause_language import TemplateError, parse_phrase
from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

PHRASE = "{delete|wipe} {site|whole project|<it>}"


@pytest.fixture(scope="module")
def artefact(make: Make, build: Build) -> Artefact:
    return build(make(("phrase", PHRASE), repeat=0.0))


def fires(artefact: Artefact, texts: Sequence[str | Turn]) -> bool:
    log, fired = InMemoryLog(), False
    for text in texts:
        turn = text if isinstance(text, Turn) else Turn(role="user", text=text)
        fired = bool(watch(artefact, turn, log, lambda: Surroundings(now=0.0)).firings)
    return fired


@pytest.mark.parametrize(
    "texts",
    [
        ["the site is broken", "hm", "ok, delete it"],
        ["the sites are slow", "delete them now"],
        ["what of the whole project?", "wipe everything"],
        ["the site is broken", "please delete that"],
        ["the site is broken", "delete the whole thing"],
        ["The site is broken. Delete it and tell me."],
        ["delete the site"],
    ],
)
def test_it_stands_for_what_was_named(artefact: Artefact, texts: list[str]) -> None:
    assert fires(artefact, texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["delete it"],
        ["the cache is broken", "delete it"],
        ["the project is big", "wipe it"],
        ["the site is broken", "delete this file"],
        ["the site is broken", "delete it's cache"],
        ["the site is broken", "don't delete it"],
        ["the site is broken", *["hm"] * 30, "delete it"],
        [Turn(role="tool_result", text="site site site", tool="Read"), "delete it"],
        [Turn(role="tool_call", text="ls site", tool="Bash", tool_input={"command": "ls site"}), "delete it"],
    ],
)
def test_it_stands_for_nothing_else(artefact: Artefact, texts: list[str | Turn]) -> None:
    assert not fires(artefact, texts)


def test_the_stage_says_that_nothing_was_named(artefact: Artefact) -> None:
    watched = watch(artefact, Turn(role="user", text="delete it"), InMemoryLog(), lambda: Surroundings(now=0.0))
    assert [(one.stage, one.detail) for one in watched.verdicts] == [("earlier", "what it stands for was not named")]


@pytest.mark.parametrize("template", ["{<it>}", "delete <it>", "{delete|<it>} {site|<it>}", "{site||<it>}"])
def test_it_needs_words_that_it_may_stand_for(template: str) -> None:
    with pytest.raises(TemplateError):
        parse_phrase(template)
