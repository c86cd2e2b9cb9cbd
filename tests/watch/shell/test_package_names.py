"""Names of packages that are one letter away from a popular one are found where they are installed, and only there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.watch.shell.package_names import (
    NEIGHBOURS,
    POPULAR,
    SCOPE_NEIGHBOURS,
    SCOPES,
    is_one_apart,
    may_mistype,
    mistyped,
    nearly,
)
from deia.watch.shell.parse import parse_commands

MOST_NAMES = 400  # of a registry


def found(line: str) -> list[str]:
    """Return the popular names that the commands of a line nearly install."""
    return [popular for command in parse_commands(line) for _, popular in mistyped(command)]


@pytest.mark.parametrize(
    ("line", "popular"),
    [
        ("pip install requets", ["requests"]),
        ("pip install -U -r req.txt 'djagno[x]>=5' flask", ["django"]),
        ("python3 -m pip install panda", ["pandas"]),
        ("uv add numpi htppx", ["numpy", "httpx"]),
        ("uv tool install platwright", ["playwright"]),
        ("uvx playwrigt install", ["playwright"]),
        ("npm i -D lodahs@4 @type/node@20", ["lodash", "@types/node"]),
        ("pnpm dlx create-vit expres", ["create-vite"]),
        ("yarn global add nodemn", ["nodemon"]),
        ("npx crate-react-app expres", ["create-react-app"]),
        ("cargo add serde_jsno --features derive", ["serde_json"]),
        ("sudo env A=b bash -c 'npm install expresss'", ["express"]),
        ("npm install express preact ./expres git+https://x.example/expres.git", []),
        ("pip install -r requets.txt -e ./requets requets-1.0.whl", []),
        ("pip install urllib2 Flask_Cors typing.extensions", []),
        ("pip uninstall requets", []),
        ("npm run expres", []),
        ("git add expres", []),
        ("echo pip install requets", []),
        ("npm install @types @type", []),
    ],
)
def test_a_name_one_letter_away_is_found_where_it_is_installed(line: str, popular: list[str]) -> None:
    assert found(line) == popular
    assert may_mistype(line) or not popular


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("requets", "requests", True),
        ("lodahs", "lodash", True),
        ("numpi", "numpy", True),
        ("expresss", "express", True),
        ("express", "express", False),
        ("axois", "axios", True),
        ("flaks", "flasky", False),
        ("", "a", True),
        ("", "", False),
    ],
)
def test_one_letter_is_added_left_out_replaced_or_swapped(one: str, other: str, wanted: bool) -> None:  # noqa: FBT001
    assert is_one_apart(one, other) is wanted
    assert is_one_apart(other, one) is wanted


@pytest.mark.parametrize("registry", POPULAR)
def test_no_popular_name_and_no_known_neighbour_is_taken_for_a_mistake(registry: str) -> None:
    known = POPULAR[registry] | NEIGHBOURS[registry]
    assert [name for name in known if nearly(name, registry)] == []
    assert not POPULAR[registry] & NEIGHBOURS[registry]
    assert len(POPULAR[registry]) <= MOST_NAMES


def test_no_scope_of_the_list_is_taken_for_a_mistake() -> None:
    assert [scope for scope in SCOPES | SCOPE_NEIGHBOURS if nearly(f"@{scope}/x", "npm")] == []


@given(st.text(st.sampled_from("pip install npm add @/.-_=[]'\"\\$ requts")))
def test_no_line_breaks_the_reading(line: str) -> None:
    may_mistype(line)
    found(line)


@given(st.sampled_from(sorted(POPULAR["npm"])), st.integers(0, 20), st.sampled_from("abcxyz"))
def test_the_gate_loses_no_name(name: str, at: int, letter: str) -> None:
    line = f"npm install left-pad {name[:at]}{letter}{name[at:]}@1"
    assert may_mistype(line) or not found(line)
