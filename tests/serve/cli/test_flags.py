from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.serve.cli.commands.search import search
from deia.serve.cli.flags import SEARCH, read_search

NAMES = [flag.name for flag in SEARCH]
VALUES = ["", "=", "x", "5", "0", "201", "critical", "json", "-", "--", "-5", "--tag", "a b", "é", "٣"]
VALUES += ["-1 x", "--tag x"]
ARGUMENTS = st.lists(
    st.sampled_from([*NAMES, *VALUES, "--help", "--nope", *(f"{name}={value}" for name in NAMES for value in VALUES)]),
    max_size=6,
)


def clicked(arguments: list[str]) -> dict[str, Any]:
    """Give the options as click reads them."""
    with search.make_context("search", list(arguments)) as context:
        options = {name: value for name, value in context.params.items() if value not in (None, ())}
    words = options.pop("words", ())
    if options.pop("json"):
        options.setdefault("form", "json")
    return {**options, "text": " ".join(words)}


@given(ARGUMENTS)
@settings(max_examples=100)
def test_what_the_quick_path_accepts_click_reads_the_same(arguments: list[str]) -> None:
    quick = read_search(["search", *arguments])
    if quick is not None:
        assert quick == clicked(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["how", "do", "I"],
        ["one", "--platform", "netlify", "two"],
        ["--keyword=a", "--keyword", "b", "--limit", "3", "--format=json"],
        ["one", "--json", "two"],
        ["--", "--platform", "--", "x"],
        ["-18 °C", "--limit", "3", "frost"],
        ["frost", "-18"],
        ["what does", "-rf do?"],
        ["--no-verify in a hook"],
    ],
)
def test_ordinary_forms_take_the_quick_path(arguments: list[str]) -> None:
    assert read_search(["search", *arguments]) == clicked(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--limit", "0"],
        ["--limit", "many"],
        ["--urgency", "urgent"],
        ["--platfrom", "x"],
        ["--tag"],
        ["-x"],
        ["--limit 3"],
        ["-18 °C", "-x"],
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_click(arguments: list[str]) -> None:
    assert read_search(["search", "x", *arguments]) is None
    with pytest.raises((click.UsageError, click.exceptions.Exit)):
        clicked(["x", *arguments])


def test_of_an_unknown_short_option_it_is_said_how_to_ask_about_it() -> None:
    with pytest.raises(click.UsageError, match=r"If it is a word, type: deia search -- -rf$"):
        search.make_context("deia search", ["-rf"])
    with pytest.raises(click.NoSuchOption, match="No such option '--nope'"):
        search.make_context("deia search", ["--nope"])


def test_a_value_with_a_dash_is_no_word() -> None:
    assert clicked(["--keyword", "-18 °C", "-2"]) == {"keywords": ("-18 °C",), "text": "-2"}


def test_other_commands_are_not_searches() -> None:
    assert read_search([]) is None
    assert read_search(["check", "search"]) is None
    assert read_search(["--version"]) is None


def test_the_commons_may_be_named_before_the_command() -> None:
    assert read_search(["--commons", "/c", "search", "x"]) == {"commons": "/c", "text": "x"}
