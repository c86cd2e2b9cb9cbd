from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.search.question.impact import changed_thing


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what breaks if I change json.decoder.JSONDecoder?", "json.decoder.JSONDecoder"),
        ("What would break if we renamed it", ""),
        ("which services are affected if somebody drops the orders table", ""),
        ("which services are affected if we drop the orders table", "orders table"),
        ("who calls `take`?", "take"),
        ("what depends on Kafka", "Kafka"),
        ("what is the impact of removing web/cart.py", "web/cart.py"),
        ("callers of shop.sell", "shop.sell"),
        ("what is a rebase", ""),
        ("who are you", ""),
        ("how do I use Kafka", ""),
    ],
)
def test_questions_about_what_rests_on_something_name_it(question: str, name: str) -> None:
    assert changed_thing(question) == name


@given(st.text(max_size=400))
def test_no_question_raises_or_hangs(text: str) -> None:
    changed_thing(text)
    changed_thing(f"what uses {text}")
