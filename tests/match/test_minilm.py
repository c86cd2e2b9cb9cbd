"""What the compact model promises: the vectors of the original, whatever is typed, alone or among others."""

from __future__ import annotations

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
from deia.match.minilm import FILE, HEADER, Compact, open_compact
from deia.match.numerics import np

MODELS = Path(deia.__file__).parent / "models"
ROOT = MODELS.parent.parent
MODEL = open_compact()
# The original's vectors of some sentences: how each begins, and the cosines of all pairs.
EXPECTED = json.loads(Path(__file__).with_name("compact_expected.json").read_text("utf-8"))
SENTENCES = EXPECTED["sentences"]
# What the `tokenizers` library (0.23) makes of some texts with the vocabulary of all-MiniLM-L6-v2.
TOKENISED = json.loads(Path(__file__).with_name("static_tokens.json").read_text("utf-8"))
LONG = ["a" * 100_000, "🙈" * 5000]
ODD = ["", " \n\t", "\0\0", "\ud800 lone", "́", "[CLS] [SEP] [MASK]", "-- ';\"(*", " " * 9000]


def run(code: str, **environ: str) -> str:
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, check=True, text=True, env={**kept, **environ}).stdout.strip()


@pytest.mark.parametrize(("text", "expected"), TOKENISED)
def test_a_text_is_cut_into_the_tokens_that_bert_cuts(text: str, expected: str) -> None:
    wanted = [MODEL.row(piece) for piece in ("[CLS]", *expected.split(), "[SEP]")]
    assert -1 not in wanted
    assert MODEL.tokens(text) == wanted


def test_every_piece_is_found_under_its_own_number() -> None:
    pieces = [MODEL._piece(number).decode() for number in range(len(MODEL._rows))]
    assert len(pieces) > 29_000
    assert [MODEL.row(piece) for piece in pieces[::37]] == list(range(0, len(pieces), 37))
    assert MODEL.row("no such piece") == MODEL.row("") == MODEL.row("\U0010ffff") == -1


def test_the_vectors_are_those_of_the_original_model() -> None:
    made = MODEL.encode(SENTENCES)
    assert np.abs(made @ made.T - np.array(EXPECTED["cosines"])).max() < 0.01
    assert np.abs(made[:, :6] - np.array(EXPECTED["begins"])).max() < 0.01


def test_the_bend_of_the_network_is_the_exact_one_within_its_stated_error() -> None:
    given_ = np.linspace(-12, 12, 4001, dtype="f4").reshape(1, -1)
    bent = given_.copy()
    module._bend(bent, np.full(1, 0.5, "f4"))
    exact = [each * 0.5 * (1 + math.erf(each / 2**0.5)) for each in given_[0].tolist()]
    assert np.abs(bent[0] - np.array(exact)).max() < 3e-5


def test_an_answer_does_not_depend_on_who_is_asked_beside_it() -> None:
    texts = [*SENTENCES, *ODD, *LONG]
    alone = np.array([MODEL.encode_query(text) for text in texts])
    assert MODEL.encode(texts) == pytest.approx(alone, abs=1e-5)
    assert MODEL.encode(texts[::-1], threads=3)[::-1] == pytest.approx(alone, abs=1e-5)


def test_nothing_asked_is_no_vector() -> None:
    assert MODEL.encode([]).shape == (0, MODEL.dimensions)


def test_only_so_many_tokens_of_a_text_are_read() -> None:
    begun = "restart the proxy " * 100
    assert len(MODEL.tokens(begun)) == 256
    assert MODEL.tokens(begun + "database") == MODEL.tokens(begun)
    assert MODEL.tokens(begun)[-1] == MODEL.row("[SEP]")


def test_a_text_cannot_ask_for_a_mark_of_the_model() -> None:
    marks = {MODEL.row(mark) for mark in ("[CLS]", "[SEP]", "[UNK]")}
    assert not marks & set(MODEL.tokens("[CLS] [SEP] [UNK]")[1:-1])


@given(some.lists(some.text(some.characters(codec=None), max_size=50) | some.sampled_from(ODD), max_size=4))
@settings(max_examples=30, deadline=None)
def test_whatever_is_typed_gives_vectors_of_unit_length(texts: list[str]) -> None:
    made = MODEL.encode(texts)
    assert made.shape == (len(texts), MODEL.dimensions)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1, abs=1e-5)


@given(some.binary(min_size=1, max_size=200), some.integers(0, HEADER + 200))
@settings(max_examples=25, deadline=None)
def test_a_damaged_beginning_is_an_error_or_is_seen_by_the_check(noise: bytes, place: int) -> None:
    whole = MODEL._data[:]
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        opened = Compact(damaged)
    except ArtefactError as error:
        assert error.fix  # noqa: PT017 - an error is one of two right outcomes
    else:
        assert opened.dimensions == MODEL.dimensions
        assert len(opened.encode_query("drop the table")) == MODEL.dimensions


def test_a_changed_byte_is_seen_by_the_check() -> None:
    damaged = bytearray(MODEL._data[:])
    damaged[9_000_000] ^= 1
    assert not Compact(bytes(damaged)).is_whole()


@pytest.mark.parametrize("length", [0, 7, HEADER - 1, HEADER, 500_000, 23_000_000, -1])
def test_a_torn_file_says_what_to_do(length: int, tmp_path: Path) -> None:
    torn = tmp_path / FILE
    torn.write_bytes((MODELS / FILE).read_bytes()[:length])
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_compact(str(torn))


@pytest.mark.parametrize("path", ["no/such/file", "with\0nul"])
def test_a_missing_file_says_what_to_do(path: str) -> None:
    with pytest.raises(ArtefactError, match="Install deia again"):
        open_compact(path)


def test_the_shipped_file_is_whole_small_and_known() -> None:
    told = json.loads((MODELS / "compact.provenance.json").read_text("utf-8"))
    assert MODEL.is_whole()
    assert (MODELS / FILE).stat().st_size == told["bytes"] < 23_500_000
    assert (MODEL.dimensions, MODEL.digest) == (told["dimensions"], told["digest"])
    assert told["agreement"]["cosine_least"] > 0.99


def test_a_cold_process_takes_one_thread_and_leaves_the_environment_as_it_was() -> None:
    threads = "len(__import__('os').listdir('/proc/self/task'))" if os.path.isdir("/proc/self/task") else "1"
    code = (
        "import os; from deia.match.minilm import open_compact; open_compact().encode_query('drop the table');"
        f"print(os.environ.get('OPENBLAS_NUM_THREADS'), {threads})"
    )
    assert run(code) == "None 1"
    assert run(code, OPENBLAS_NUM_THREADS="1") == "1 1"


def test_neither_torch_nor_a_library_of_models_is_imported() -> None:
    code = (
        "from deia.match.minilm import open_compact; open_compact().encode(['drop the table'] * 3);"
        "print(*sorted({'torch', 'onnxruntime', 'transformers', 'sentence_transformers', 'tokenizers', 'yaml', "
        "'concurrent.futures'} & set(sys.modules)))"
    )
    assert not run(code)
