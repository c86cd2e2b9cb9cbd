"""Where the extra `nlp` is installed, verbs count in more forms and names in other case, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.extractor import PATTERNS, extractor, has_word_forms
from deia.graph.prose_relations import relations_in
from tests.graph.test_prose_relations import told

needs_spacy = pytest.mark.skipif(not has_word_forms(), reason="needs deia[nlp]")


@needs_spacy
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("OrderService is publishing to Kafka.", "OrderService PRODUCES Kafka"),
        ("Pulsar has replaced Kafka.", "Pulsar REPLACES Kafka"),
        ("MySQL has been replaced by Postgres.", "Postgres REPLACES MySQL"),
        ("PayService is also reading from Ledger.", "PayService READS Ledger"),
        ("We run Kafka. The Billing API depends on kafka.", "Billing API DEPENDS_ON Kafka"),
        ("KeyVault is encrypting UserData.", "KeyVault ENCRYPTS UserData"),
    ],
)
def test_other_forms_say_the_same(text: str, wanted: str) -> None:
    assert told(text, "ENCRYPTS") == [wanted]


@needs_spacy
@pytest.mark.parametrize(
    "text",
    [
        "ServiceA is not using ServiceB.", "If ServiceA is using ServiceB, wait.", "ServiceA had used ServiceB.",
        "Is ServiceA using ServiceB?", "We run Search. People search and use search.",
    ],
)  # fmt: skip
def test_what_is_denied_or_supposed_says_nothing_in_other_forms_either(text: str) -> None:
    assert told(text) == []


@needs_spacy
@given(
    st.lists(st.sampled_from(["Kafka", "kafka", " is ", "using", " has ", "replaced", " by ", "A", ". "])).map("".join)
)
@settings(max_examples=30, deadline=None)
def test_no_text_is_too_broken_for_the_matchers(text: str) -> None:
    assert all(each.source != each.target for each in relations_in(text))


def test_the_extractor_is_named_and_patterns_are_enough_without_the_extra() -> None:
    assert extractor().startswith(PATTERNS)
    code = (
        "import sys; sys.modules['spacy'] = None\n"
        "import importlib.metadata as m; m.version = lambda name: (_ for _ in ()).throw(m.PackageNotFoundError(name))\n"
        "from deia.graph.extractor import extractor; from deia.graph.prose_relations import relations_in\n"
        "print(extractor(), len(list(relations_in('OrderService uses Kafka.'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{PATTERNS} 1\n"
