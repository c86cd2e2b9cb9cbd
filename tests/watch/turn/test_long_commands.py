"""Long command lines: commands after a here-document or a long line are still watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.watch.turn.long_commands import MOST_TAIL, shortened
from deia.watch.turn.tool_call import MOST_CALL

if TYPE_CHECKING:
    from collections.abc import Callable

    from deia.records import Turn
    from tests.watch.conftest import Make

LONG = "insert into t values (1);\n" * 12_000


@pytest.mark.parametrize(
    "text",
    [
        f"cat > seed.sql <<'EOF'\n{LONG}EOF\nshopctl sell",
        f"cat <<-END > x && true\n{LONG}END\nshopctl sell",
        f"echo {'a b ' * 80_000}; shopctl sell",
        f"echo {'a b ' * 80_000}\nshopctl sell",
        f"true && shopctl sell; echo {'a b ' * 80_000}",
    ],
)
def test_the_command_beside_what_makes_a_call_long_is_watched(
    make: Make, fires: Callable[..., bool], call: Callable[[str], Turn], text: str
) -> None:
    assert len(text) > 2 * MOST_CALL
    assert fires(make(("command", "shopctl sell")), call(text))


def test_what_a_long_here_document_holds_is_still_data(
    make: Make, fires: Callable[..., bool], call: Callable[[str], Turn]
) -> None:
    text = f"cat > script.sh <<'EOF'\n{LONG}shopctl sell\nEOF\necho done"
    assert not fires(make(("command", "shopctl sell")), call(text))


@given(st.text(alphabet="a<'\"-\n EOF;&", max_size=400), st.integers(1, 200))
def test_any_text_is_shortened_to_about_what_is_wanted(text: str, times: int) -> None:
    long, most = text * times, MOST_TAIL * 2
    assert len(shortened(long, most)) <= most + 1
    assert len(long) > most or shortened(long, most) == long
