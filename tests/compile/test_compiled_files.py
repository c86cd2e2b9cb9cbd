"""What is opened for whoever reads a part of the library has nothing to do with the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.compile import compiled_files
from deia.compile.compiled_files import CompiledFiles
from deia.compile.compiler import compile_commons
from deia.compile.take_in import open_library, take_in, update
from deia.ingest.ingesting import ingest
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from deia.search.catalog import Catalog


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty commons, with the variables of the tests set."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "commons"
    folder.mkdir()
    (folder / "deia.toml").write_text("", encoding="utf-8")
    return folder


def test_what_was_compiled_with_another_choice_of_the_starter_is_compiled_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "without.toml").write_text("starter = false\n", encoding="utf-8")
    monkeypatch.delenv("DEIA_STARTER", raising=False)
    question, said = (
        "delete and recreate a netlify site",
        ["Assistant: I will delete the Netlify site and recreate it."],
    )
    for name, value in (("DEIA_STARTER", "false"), ("DEIA_CONFIG", str(tmp_path / "without.toml"))):
        Librarian(str(root)).compile()
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            answer = Librarian(str(root)).query(question)
            assert not [one for one in answer.documents if one.path.startswith("starter:")]
            assert Librarian(str(root)).check_triggers(said) == []
        assert Librarian(str(root)).check_triggers(said)
        assert [one for one in Librarian(str(root)).query(question).documents if one.path.startswith("starter:")]


def test_an_answer_leaves_out_the_starter_where_nothing_can_be_compiled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_STARTER", "true")
    Librarian(str(root)).compile()
    monkeypatch.setenv("DEIA_STARTER", "false")
    librarian = Librarian(str(root), keep_fresh=False)
    assert not librarian.query("delete and recreate a netlify site").documents


def test_a_question_does_not_wait_until_much_is_compiled_and_says_so(
    root: Path, tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    (manuals / "pump.md").write_text("# The pump\n\nThe pump turns left.\n", encoding="utf-8")
    source = described(FolderSource(path=str(manuals)))
    monkeypatch.setattr(compiled_files, "MOST_AWAITED", 0)

    def interrupted() -> None:
        with open_library(str(root), environ) as library:
            ingest(library, library.registry()[0] if library.registry() else library.register(source), environ=environ)

    interrupted()
    answer = Librarian(str(root)).query("which way does the pump turn")
    assert not answer.documents
    assert any("1 passages" in warning and "deia source update" in warning for warning in answer.audit.warnings)
    take_in(str(root), [source], environ)
    (manuals / "valve.md").write_text("# The valve\n\nThe valve turns right.\n", encoding="utf-8")
    interrupted()
    answer = Librarian(str(root)).query("which way does the pump turn")
    assert [one.path for one in answer.documents] == ["library:manuals/pump.md"]
    assert any("1 passages" in warning for warning in answer.audit.warnings)
    update(str(root), [], environ)
    answer = Librarian(str(root)).query("which way does the valve turn")
    assert [one.path for one in answer.documents][:1] == ["library:manuals/valve.md"]
    assert not any("passages" in warning for warning in answer.audit.warnings)


def test_an_engine_of_the_whole_library_is_not_asked_for_whoever_reads_a_part(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """The passages nearest of all may be of others, and would then be dropped: an answer would depend on them."""
    root = tmp_path / "commons"
    root.mkdir()
    (root / "deia.toml").write_text("", encoding="utf-8")
    compile_commons(str(root), environ=environ, requested=True)
    for name, part in (("manuals", "impeller"), ("others", "pump")):
        (tmp_path / name).mkdir()
        text = f"# The {part}\n\nThe {part} turns left, and it is made of steel.\n"
        (tmp_path / name / f"{part}.md").write_text(text, encoding="utf-8")
        take_in(str(root), [described(FolderSource(path=str(tmp_path / name))).but(collection=name)], environ)
    here = {**environ, "DEIA_ENGINE": "postgresql://127.0.0.1:1/x"}

    def opened(*collections: str) -> Catalog:
        library = CompiledFiles(str(root), environ=here, collections=collections, keep_fresh=True).open_library()
        assert library is not None
        return library

    assert opened().engine is not None
    assert len(opened("library:manuals")) == 1
    assert opened("library:manuals").engine is None
