"""onnxruntime makes the vectors that numpy makes, of any text, alone or with others."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from deia.match import encoding
from deia.match.minilm import open_compact
from deia.match.numerics import np
from deia.match.tiers import open_tier
from tests.match.test_minilm import LONG, ODD, SENTENCES

onnx_network = pytest.importorskip("deia.match.onnx_network", reason="the extra `encoding` is not installed")
MODEL = open_compact()
NETWORK = onnx_network.open_network(MODEL)
AGREE = 0.999


def agreement(texts: list[str]) -> float:
    """Return the least cosine of a text's two vectors."""
    made, wanted = MODEL.encode(texts, network=NETWORK, threads=2), MODEL.encode(texts)
    assert made.shape == wanted.shape
    return float((made * wanted).sum(1).min())


def test_sentences_and_odd_texts_have_the_vectors_that_numpy_makes() -> None:
    assert agreement([*SENTENCES, *LONG, *ODD]) > AGREE


@given(some.lists(some.text(max_size=2_000), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_any_text_has_the_vector_that_numpy_makes(texts: list[str]) -> None:
    assert agreement(texts) > AGREE


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    together = MODEL.encode([*SENTENCES, *LONG], network=NETWORK)
    alone = np.concatenate([MODEL.encode([text], network=NETWORK) for text in [*SENTENCES, *LONG]])
    assert np.abs(together - alone).max() < 1e-4


def test_many_texts_are_encoded_by_it_and_few_without_loading_it() -> None:
    tier, opened = open_tier("compact"), encoding._network
    opened.cache_clear()
    few = encoding.encoded_by(tier, SENTENCES[:2])
    assert not opened.cache_info().misses
    many = encoding.encoded_by(tier, SENTENCES[:2], most=encoding.WORTH_OPENING)
    assert opened.cache_info().misses == 1
    assert float((few * many).sum(1).min()) > AGREE


def test_nobody_imports_it_who_encodes_nothing() -> None:
    code = "import sys, deia.compile.compiler, deia.search.pipeline, deia.match.encoding; print('onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
