"""`deia chunker` as people type it: from a sample to passages that a search finds."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.ingest.custom.components import HOSTILE, RECORDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

BUILDER = "componentize-py"
wasmtime = pytest.importorskip("wasmtime")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "station.pmp"
    path.write_text(
        "".join(f"PUMP P-{n}\nThe impeller number {n} turns left.\n\n" for n in range(30)), encoding="utf-8"
    )
    return path


@pytest.mark.slow
def test_a_draft_is_shown_written_tested_added_used_and_removed(deia: Deia, tmp_path: Path, sample: Path) -> None:
    shown = deia("chunker", "new", str(sample), "--files", "*.pmp")
    assert shown.code == 0
    assert "begins = 'PUMP'" in shown.out
    assert "100.0% of the text covered, 0.0% repeated" in shown.err
    target = str(tmp_path / "pumps.toml")
    assert deia("chunker", "new", str(sample), "--files", "*.pmp", "--to", target).code == 0
    assert deia("chunker", "new", str(sample), "--to", target).code == 2
    assert "100.0% of the text covered" in deia("chunker", "test", target, str(sample)).out
    assert deia("chunker", "list").code == 1
    assert "pumps cuts files like *.pmp" in deia("chunker", "add", target).out
    assert deia("ingest", str(sample)).code == 0
    exported = [json.loads(line) for line in deia("source", "export", "station.pmp").out.splitlines()]
    assert {row["metadata"].get("whole") is None and row["content"][:4] for row in exported} >= {"PUMP"}
    assert json.loads(deia("chunker", "list", "--json").out)[0]["files"] == ["*.pmp"]
    assert deia("chunker", "remove", "pumps").code == 0
    assert "there is no chunker 'pumps'" in deia("chunker", "remove", "pumps").err


def test_a_removed_chunker_names_the_sources_that_need_another_one(deia: Deia, tmp_path: Path, sample: Path) -> None:
    (tmp_path / "pumps.toml").write_text("[[levels]]\nbegins = 'PUMP'\n", encoding="utf-8")
    assert deia("chunker", "add", str(tmp_path / "pumps.toml")).code == 0
    assert deia("chunker", "add", str(tmp_path / "pumps.toml"), "--name", "other").code == 0
    assert deia("ingest", str(sample), "--name", "pmp", "--chunker", "pumps").code == 0
    assert "pmp" not in deia("chunker", "remove", "other").out
    removed = deia("chunker", "remove", "pumps")
    said = "pmp was taken in with --chunker pumps, and is not read again before it has another one. Type, with its "
    assert f"{said}other options: deia ingest {sample} --chunker recursive\n" in removed.out
    assert deia("source", "update").code == 2
    assert deia("ingest", str(sample), "--name", "pmp", "--chunker", "recursive").code == 0
    assert deia("source", "update").code == 0


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_of_an_empty_sample_nothing_is_drafted(deia: Deia, tmp_path: Path, sample: Path, text: str) -> None:
    (tmp_path / "empty.pmp").write_text(text, encoding="utf-8")
    refused = deia("chunker", "new", str(sample), str(tmp_path / "empty.pmp"))
    assert (refused.code, refused.out) == (2, "")
    assert "empty.pmp: this sample has no text to draft a chunker from" in refused.err
    assert "with some records" in refused.err


@pytest.mark.slow
def test_a_component_is_added_and_used_by_its_name(deia: Deia, tmp_path: Path, sample: Path) -> None:
    module = tmp_path / "records.wasm"
    module.write_bytes(bytes(wasmtime.wat2wasm(RECORDS)))
    assert "1 chunk of" in deia("chunker", "test", str(module), str(sample)).out
    assert "with --chunker records" in deia("chunker", "add", str(module)).out
    assert (
        deia("ingest", str(sample), "--chunker", "records")
        .out.splitlines()[-1]
        .startswith("Indexed 1 document, 1 chunk,")
    )
    refused = deia("ingest", str(sample), "--chunker", "record")
    assert refused.code == 2
    assert "Chunkers of your own: records" in refused.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["loop", "many records", "orphan"])
def test_what_is_wrong_with_a_component_is_said(deia: Deia, tmp_path: Path, sample: Path, name: str) -> None:
    module = tmp_path / "bad.wasm"
    module.write_bytes(bytes(wasmtime.wat2wasm(HOSTILE[name][0])))
    tested = deia("chunker", "test", str(module), str(sample))
    assert tested.code == 2
    assert "Traceback" not in tested.err
    assert "station.pmp" in tested.err


@pytest.mark.parametrize(
    "arguments", [("new", "gone"), ("test", "gone", "gone"), ("add", "gone.wasm"), ("add", "."), ("new", "/")]
)
def test_what_is_not_there_is_said(deia: Deia, arguments: tuple[str, ...]) -> None:
    told = deia("chunker", *arguments)
    assert (told.code, told.out) == (2, "")
    assert "Traceback" not in told.err


@pytest.mark.parametrize(("language", "beginning"), [("python", '["PUMP"]'), ("rust", '&["PUMP"]')])
def test_the_source_of_a_component_has_what_was_drafted_and_says_how_it_is_compiled(
    deia: Deia, tmp_path: Path, sample: Path, language: str, beginning: str
) -> None:
    target = tmp_path / "source"
    assert deia("chunker", "new", str(sample), "--component", language, "--to", str(target)).code == 0
    source = target.read_text(encoding="utf-8")
    assert beginning in source
    assert "chunker.wit" in source
    if language == "python":
        compile(source, "app.py", "exec")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which(BUILDER), reason=f"to run it: pip install {BUILDER}, and have it on the PATH")
def test_a_component_in_python_compiles_as_its_source_says_and_cuts_its_samples(
    deia: Deia, tmp_path: Path, sample: Path
) -> None:
    deia("chunker", "new", str(sample), "--component", "python", "--to", str(tmp_path / "app.py"))
    source = (tmp_path / "app.py").read_text(encoding="utf-8")
    (line,) = (line.split() for line in source.splitlines() if BUILDER in line)
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    assert "30 chunks of" in deia("chunker", "test", str(tmp_path / "chunker.wasm"), str(sample)).out
    assert deia("chunker", "add", str(tmp_path / "chunker.wasm"), "--files", "*.pmp").code == 0
    assert deia("ingest", str(sample)).out.splitlines()[-1].startswith("Indexed 1 document, 30 chunks,")
