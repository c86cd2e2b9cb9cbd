"""Documents that say nearly the same are named by lint, whatever their order, and quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.checks import lint
from deia.commons.index.near_copies import COPY, MOST_COMPARED, _alike

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

TEXT = " ".join(f"word{number}" for number in range(40))


def copies(root: Path) -> list[tuple[str, str]]:
    found = [problem for problem in lint(str(root), starter=False) if problem.code == "near-copy"]
    return [(problem.path, problem.found) for problem in found]


def test_a_near_copy_is_named_with_what_it_is_like(write: Write, tmp_path: Path) -> None:
    write("bok/a.md", f"# First\n\n{TEXT}\n")
    write("bok/b.md", f"# Second\n\n{TEXT} more\n")
    write("bok/c.md", f"# Third\n\n{TEXT.replace('word', 'other')}\n")
    [(path, said)] = copies(tmp_path)
    assert path == "bok/b.md"
    assert "shares 93% of its words with `a`" in said


def test_what_was_replaced_may_say_the_same(write: Write, tmp_path: Path) -> None:
    write("bok/a.md", f"---\nsuperseded_by: b\n---\n# First\n\n{TEXT}\n")
    write("bok/b.md", f"# Second\n\n{TEXT}\n")
    assert copies(tmp_path) == []


@pytest.mark.slow
@given(st.lists(st.frozensets(st.integers(0, 14).map(str), min_size=1), max_size=8))
def test_no_pair_is_overlooked(texts: list[frozenset[str]]) -> None:
    shares = [[len(text & other) / len(text | other) for other in texts[:at]] for at, text in enumerate(texts)]
    wanted = {at: max(earlier) for at, earlier in enumerate(shares) if max(earlier, default=0.0) >= COPY}
    assert {at: share for at, _, share in _alike(texts)} == wanted


class Counted(frozenset[str]):
    """The words of a text, which count how often they are compared."""

    compared = 0

    def __and__(self, other: Any) -> Any:
        Counted.compared += 1
        return super().__and__(other)


@pytest.mark.parametrize("own", [(), ("own",)])
def test_many_texts_alike_do_not_cost_their_square(own: tuple[str, ...]) -> None:
    Counted.compared = 0
    shared = TEXT.split()
    texts = [Counted([*shared, *(f"{word}{number}" for word in own)]) for number in range(400)]
    assert len(list(_alike(texts))) == 399
    assert Counted.compared <= MOST_COMPARED * len(texts)
