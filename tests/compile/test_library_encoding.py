"""The library gets the sentence model's vectors aside, and answers say so until it has them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as some

from deia.compile import encoding_start
from deia.compile.catalog import embeddings
from deia.compile.catalog.effort import BACKGROUND_LIMIT, KEY_SIZE
from deia.compile.catalog.embeddings import VectorCache, encode_missing
from deia.compile.compiler import compile_commons
from deia.compile.encoding_progress import BEGUN, EVERYTHING, NAME, SILENT, Encoding, read_encoding, write_encoding
from deia.compile.encoding_start import start_encoding
from deia.compile.library_encoding import LOCK, encode_library
from deia.compile.take_in import forget, take_in, update
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.match.encoding import encoded_by
from deia.match.numerics import np
from deia.match.tiers import open_tier
from deia.search.question.terms import read_question
from deia.search.ranking.code_sentences import mapped, sentence_of_code
from deia.search.ranking.rank import APART, Evidence, Likeness
from deia.search.ranking.rescoring import rescored
from deia.search.ranking.retrieve import RESCORED_NOTE, choose_tier, retrieve
from tests.derived import derived

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS = ("impeller", "spindle", "gasket", "bearing", "flange", "rotor", "stator", "nozzle", "piston", "valve")
QUESTION = "which way does the impeller turn"
WORD_VECTORS = "the library was searched with word vectors only; "


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str]) -> str:
    """Return a commons with a library of more passages than are encoded at once."""
    folder = tmp_path / "commons"
    (folder / "bok").mkdir(parents=True)
    (folder / "deia.toml").write_text("", encoding="utf-8")
    (folder / "bok/lesson.md").write_text("# Valves\n\nClose the red valve first.\n", encoding="utf-8")
    compile_commons(str(folder), environ=environ, requested=True)
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    for part in PARTS:
        text = f"# The {part}\n\nThe {part} turns left, and it is made of steel.\n"
        (manuals / f"{part}.md").write_text(text, encoding="utf-8")
    take_in(str(folder), [described(FolderSource(path=str(manuals), name="manuals"))], environ)
    return str(folder)


def test_nobody_is_asked_to_encode_for_a_question_that_the_sentence_model_cannot_read(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "manuals/valve.zh.md").write_text("# 阀门\n\n阀门向左转。", encoding="utf-8")
    update(root, [], environ)
    answer = Librarian(root).query("阀门向左转吗", tier="compact", layer="library")
    assert next(iter(answer.documents)).path.endswith("valve.zh.md")
    assert answer.audit.tier == "static"
    assert not any("sentence model" in warning or "word vectors" in warning for warning in answer.audit.warnings)


def catalog(root: str, environ: Mapping[str, str]) -> str:
    return (derived(root, environ) / "library/catalog").read_text()


def warnings(root: str, tier: str | None = None) -> list[str]:
    return list(Librarian(root).query(QUESTION, tier=tier, layer="library").audit.warnings)


def test_answers_say_that_they_used_word_vectors_until_the_library_is_encoded(
    root: str, environ: Mapping[str, str]
) -> None:
    assert not catalog(root, environ).endswith("-compact")
    assert warnings(root) == [WORD_VECTORS + EVERYTHING]
    librarian = Librarian(root)
    assert librarian.query(QUESTION).documents
    assert encode_library(root, environ) is False
    assert catalog(root, environ).endswith("-compact")
    assert librarian.query(QUESTION, layer="library").audit.tier == "compact"
    assert warnings(root) == []
    progress = read_encoding(str(derived(root, environ) / "library"))
    assert (progress.done, progress.sentence(time.time())) == (progress.of, "")


def test_whoever_names_the_model_has_the_best_passages_compared_at_once(root: str, environ: Mapping[str, str]) -> None:
    assert warnings(root, "compact") == [RESCORED_NOTE]
    early = Librarian(root).query(QUESTION, tier="compact", layer="library")
    encode_library(root, environ)
    late = Librarian(root).query(QUESTION, tier="compact", layer="library")
    assert early.audit.tier == late.audit.tier == "compact"
    assert early.primary[0].id == late.primary[0].id == "library:manuals/impeller.md"


def test_a_changed_file_keeps_the_vectors_and_a_moved_one_costs_none(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    encode_library(root, environ)
    (cache,) = (derived(root, environ) / "library").glob("codes-*")
    before = cache.stat().st_size
    (tmp_path / "manuals/valve.md").rename(tmp_path / "manuals/again.md")
    update(root, [], environ)
    assert catalog(root, environ).endswith("-compact")
    assert cache.stat().st_size == before
    (tmp_path / "manuals/rotor.md").write_text("# The rotor\n\nThe rotor turns right.\n", encoding="utf-8")
    update(root, [], environ)
    assert catalog(root, environ).endswith("-compact")
    assert cache.stat().st_size > before


def test_one_that_was_interrupted_goes_on_where_it_stopped(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    encode_library(root, environ)
    for number in range(BACKGROUND_LIMIT):
        text = f"# Pump {number}\n\nPump {number} lifts {number} litres.\n"
        (tmp_path / f"manuals/pump{number}.md").write_text(text, encoding="utf-8")
    update(root, [], environ)
    assert not catalog(root, environ).endswith("-compact")
    told: list[str] = []
    encode_library(root, environ, tell=told.append)
    assert told[0].startswith("20 of 36 titles and passages of the library are encoded")
    assert catalog(root, environ).endswith("-compact")


def test_what_was_removed_meanwhile_is_neither_encoded_nor_counted(
    root: str, environ: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "BATCH", 4)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/seal.md").write_text("# Seals\n\nA seal is made of rubber.\n", encoding="utf-8")
    take_in(root, [described(FolderSource(path=str(tmp_path / "notes"), name="notes"))], environ)
    told: list[str] = []

    def remove_at_once(message: str) -> None:
        told.append(message)
        if len(told) == 2:
            forget(root, ["manuals"], environ)

    assert encode_library(root, environ, tell=remove_at_once) is False
    assert ["of 22 titles" in message for message in told[:3]] == [True, True, False]
    assert not any("of 22 titles" in message for message in told[3:])
    assert read_encoding(str(derived(root, environ) / "library")).of == 2
    assert catalog(root, environ).endswith("-compact")


def test_two_do_not_encode_the_same_library_at_once(root: str, environ: Mapping[str, str]) -> None:
    with FileLock(derived(root, environ) / "library" / LOCK):
        assert encode_library(root, environ) is True
    assert not catalog(root, environ).endswith("-compact")


def test_much_code_keeps_to_word_vectors_unless_a_person_asks(
    root: str, environ: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manuals/valve.py").write_text("def open_valve(turns):\n    return turns * 360\n", encoding="utf-8")
    update(root, [], environ)
    monkeypatch.setattr(encoding_start, "MOST_CODE", 0)
    assert start_encoding(root, environ) is False
    assert not catalog(root, environ).endswith("-compact")
    said = read_encoding(str(derived(root, environ) / "library")).sentence(time.time())
    assert said.startswith("the library has 1 passage of code")
    assert warnings(root) == []
    encode_library(root, environ)
    assert catalog(root, environ).endswith("-compact")


def test_code_is_read_with_its_name_in_words_and_mapped_whether_it_is_encoded_already_or_not(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    code = "def opened(turns):\n    return turns * 360\n"
    (tmp_path / "manuals/valvecode.py").write_text(code, encoding="utf-8")
    update(root, [], environ)
    tier = open_tier("compact")
    read = sentence_of_code("valvecode", "opened", "def opened(turns)", code.rstrip())
    wanted = float(mapped(encoded_by(tier, [read]))[0] @ np.array(tier.encode("how far is it open")))

    def likeness() -> float:
        library = Librarian(root).open_catalog_of("library:manuals/valvecode.py")
        question = read_question("how far is it open", library)
        meaning = choose_tier(library, tiers=("compact", "rescored", "static"))
        evidence = retrieve(library, question, meaning=meaning, filters={}, limit=10)
        similar = rescored(library, question, evidence, meaning) if meaning.rescorer else evidence.likeness
        (number,) = evidence.code
        assert similar is not None
        return next(
            cosine
            for (document, ordinal), cosine in similar.passages.items()
            if document % APART == number and library.document_at(number).natures[ordinal][1].endswith("opened")
        )

    assert likeness() == pytest.approx(wanted, abs=0.01)
    encode_library(root, environ)
    assert likeness() == pytest.approx(wanted, abs=0.01)


def test_an_empty_file_of_code_can_be_compared_by_the_model(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "manuals/turbine").mkdir()
    (tmp_path / "manuals/turbine/__init__.py").write_text("", encoding="utf-8")
    update(root, [], environ)
    answer = Librarian(root).query("turbine init", tier="compact", layer="library")
    assert answer.audit.tier == "compact"


def test_where_no_passage_can_be_compared_the_model_has_nothing_to_say(root: str) -> None:
    library = Librarian(root).open_catalog_of("library:manuals/valve.md")
    nothing = Evidence(hits=[], likeness=Likeness(passages={}, documents={}))
    meaning = choose_tier(library, tiers=("rescored", "static"))
    assert rescored(library, read_question("spam", library), nothing, meaning) == nothing.likeness


def test_a_person_who_chose_word_vectors_has_nothing_encoded(
    root: str, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_TIER", "static")
    assert start_encoding(root, {**environ, "DEIA_TIER": "static"}) is False
    assert warnings(root) == []


def test_nobody_is_asked_to_encode_what_a_process_just_began_to(root: str, environ: Mapping[str, str]) -> None:
    folder = str(derived(root, environ) / "library")
    write_encoding(folder, Encoding())
    assert warnings(root) == [WORD_VECTORS + BEGUN]
    write_encoding(folder, Encoding(at=time.time() - SILENT - 1))
    assert warnings(root) == [WORD_VECTORS + EVERYTHING]


def test_a_process_of_its_own_encodes_it(root: str, environ: Mapping[str, str]) -> None:
    assert not read_encoding(str(derived(root, environ) / "library")).at
    assert start_encoding(root, environ) is True
    assert read_encoding(str(derived(root, environ) / "library")).at
    until = time.monotonic() + 120
    while not catalog(root, environ).endswith("-compact") and time.monotonic() < until:
        time.sleep(0.2)
    assert catalog(root, environ).endswith("-compact")
    assert start_encoding(root, environ) is False


def test_texts_that_the_model_reads_as_the_same_are_encoded_once(tmp_path: Path) -> None:
    tier = open_tier("compact")
    cache = VectorCache(str(tmp_path / "cache"), dimensions=tier.dimensions)
    texts = {bytes([at]) * KEY_SIZE: text for at, text in enumerate(["Red  valve", "red\nvalve", "green valve"])}
    shares: list[float] = []
    encode_missing(tier, texts, cache, lambda share, _left: shares.append(share))
    first, second, third = (cache.of([key]) for key in texts)
    assert first == second != third
    assert shares == []  # all in one batch


def test_the_time_left_is_told_by_the_rate_so_far() -> None:
    encoding = Encoding(done=10, of=100, left=60.0, at=1000.0)
    assert encoding.sentence(1010.0).endswith("encoded for the sentence model, about 50 s left")
    assert encoding.sentence(2000.0).endswith(EVERYTHING)
    assert not encoding.but(done=100).sentence(1010.0)


@given(some.binary() | some.sampled_from([b'{"done": "x"}', b'{"done": 1e999, "of": 1, "left": 1, "at": 1}']))
def test_a_file_of_progress_may_hold_anything(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("progress")
    (folder / NAME).write_bytes(content)
    assert isinstance(read_encoding(str(folder)).sentence(0.0), str)
