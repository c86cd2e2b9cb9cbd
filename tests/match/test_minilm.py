"""Tests of the compact model: it has the vectors of the original, for any text, alone or in a batch."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import deia
from deia.errors import ArtefactError
from deia.match import minilm as module
from deia.match.minilm import DIGEST_AT, FILE, HEADER, Compact, open_compact
from deia.match.numerics import np

MODELS = Path(deia.__file__).parent / "models"
ROOT = MODELS.parent.parent
MODEL = open_compact()
# The original model's vectors of some sentences: the first components of each, and the cosines of all pairs.
EXPECTED = json.loads(Path(__file__).with_name("compact_expected.json").read_text("utf-8"))
SENTENCES = EXPECTED["sentences"]
# The output of the `tokenizers` library (0.23) for some texts, with the vocabulary of all-MiniLM-L6-v2.
TOKENISED = json.loads(Path(__file__).with_name("static_tokens.json").read_text("utf-8"))
LONG = ["a" * 100_000, "🙈" * 5000]
ODD = ["", " \n\t", "\0\0", "\ud800 lone", "́", "[CLS] [SEP] [MASK]", "-- ';\"(*", " " * 9000]


def run(code: str, **environ: str) -> str:
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, check=True, text=True, env={**kept, **environ}).stdout.strip()


@pytest.mark.parametrize(("text", "expected"), TOKENISED)
def test_texts_are_tokenised_as_bert_does(text: str, expected: str) -> None:
    wanted = [MODEL.row(piece) for piece in ("[CLS]", *expected.split(), "[SEP]")]
    assert -1 not in wanted
    assert MODEL.tokens(text) == wanted


def test_every_piece_has_its_own_number() -> None:
    pieces = [MODEL._piece(number).decode() for number in range(len(MODEL.rows))]
    assert len(pieces) > 29_000
    assert [MODEL.row(piece) for piece in pieces[::37]] == list(range(0, len(pieces), 37))
    assert MODEL.row("no such piece") == MODEL.row("") == MODEL.row("\U0010ffff") == -1


def test_the_vectors_are_those_of_the_original_model() -> None:
    made = MODEL.encode(SENTENCES)
    assert np.abs(made @ made.T - np.array(EXPECTED["cosines"])).max() < 0.01
    assert np.abs(made[:, :6] - np.array(EXPECTED["begins"])).max() < 0.01


def test_gelu_is_exact_within_its_stated_error() -> None:
    given_ = np.linspace(-12, 12, 4001, dtype="f4").reshape(1, -1)
    bent = given_.copy()
    module._bend(bent, np.full(1, 0.5, "f4"))
    exact = [each * 0.5 * (1 + math.erf(each / 2**0.5)) for each in given_[0].tolist()]
    assert np.abs(bent[0] - np.array(exact)).max() < 3e-5


def test_a_vector_does_not_depend_on_the_other_texts_of_a_batch() -> None:
    texts = [*SENTENCES, *ODD, *LONG]
    alone = np.array([MODEL.encode_query(text) for text in texts])
    assert MODEL.encode(texts) == pytest.approx(alone, abs=1e-5)
    assert MODEL.encode(texts[::-1], threads=3)[::-1] == pytest.approx(alone, abs=1e-5)


def test_no_texts_give_no_vectors() -> None:
    assert MODEL.encode([]).shape == (0, MODEL.dimensions)


def test_the_number_of_tokens_is_limited() -> None:
    begun = "restart the proxy " * 100
    assert len(MODEL.tokens(begun)) == 256
    assert MODEL.tokens(begun + "database") == MODEL.tokens(begun)
    assert MODEL.tokens(begun)[-1] == MODEL.row("[SEP]")


def test_a_marker_of_the_model_in_a_text_is_plain_text() -> None:
    marks = {MODEL.row(mark) for mark in ("[CLS]", "[SEP]", "[UNK]")}
    assert not marks & set(MODEL.tokens("[CLS] [SEP] [UNK]")[1:-1])


@given(some.lists(some.text(some.characters(codec=None), max_size=50) | some.sampled_from(ODD), max_size=4))
@settings(max_examples=30, deadline=None)
def test_any_text_gives_a_unit_vector(texts: list[str]) -> None:
    made = MODEL.encode(texts)
    assert made.shape == (len(texts), MODEL.dimensions)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)


@given(some.binary(min_size=1, max_size=200), some.integers(0, HEADER + 200))
@settings(max_examples=25, deadline=None)
def test_a_damaged_header_is_an_error_or_fails_the_check(noise: bytes, place: int) -> None:
    whole = MODEL._data[:]
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        opened = Compact(damaged)
    except ArtefactError as error:
        assert error.fix  # noqa: PT017 - an error is one of two right outcomes
    else:
        assert opened.dimensions == MODEL.dimensions
        assert len(opened.encode_query("drop the table")) == MODEL.dimensions


@pytest.mark.parametrize("length", [0, 7, HEADER - 1, HEADER, 500_000, 23_000_000, -1])
def test_the_error_for_a_truncated_file_says_what_to_do(length: int, tmp_path: Path) -> None:
    torn = tmp_path / FILE
    torn.write_bytes((MODELS / FILE).read_bytes()[:length])
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_compact(str(torn))


@pytest.mark.parametrize("path", ["no/such/file", "with\0nul"])
def test_the_error_for_a_missing_file_says_what_to_do(path: str) -> None:
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_compact(path)


def test_the_shipped_file_is_intact_small_and_documented() -> None:
    provenance = json.loads((MODELS / "compact.provenance.json").read_text("utf-8"))
    data = (MODELS / FILE).read_bytes()
    assert hashlib.sha256(data[:DIGEST_AT] + data[HEADER:]).hexdigest() == MODEL.digest == provenance["digest"]
    assert (MODELS / FILE).stat().st_size == provenance["bytes"] < 23_500_000
    assert (MODEL.dimensions, MODEL.digest) == (provenance["dimensions"], provenance["digest"])
    assert provenance["agreement"]["cosine_least"] > 0.99


def test_a_cold_process_takes_one_thread_and_leaves_the_environment_as_it_was() -> None:
    threads = "len(__import__('os').listdir('/proc/self/task'))" if os.path.isdir("/proc/self/task") else "1"
    code = (
        "import os; from deia.match.minilm import open_compact; open_compact().encode_query('drop the table');"
        f"print(os.environ.get('OPENBLAS_NUM_THREADS'), {threads})"
    )
    assert run(code) == "None 1"
    assert run(code, OPENBLAS_NUM_THREADS="1") == "1 1"


def test_neither_torch_nor_a_model_library_is_imported() -> None:
    code = (
        "from deia.match.minilm import open_compact; open_compact().encode(['drop the table'] * 3);"
        "print(*sorted({'torch', 'onnxruntime', 'transformers', 'sentence_transformers', 'tokenizers', 'yaml', "
        "'concurrent.futures'} & set(sys.modules)))"
    )
    assert not run(code)
