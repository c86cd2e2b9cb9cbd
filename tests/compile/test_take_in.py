"""From sources to answers: what was taken in is found beside the lessons, and by nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from deia.compile.catalog.carry_over import plan_revision
from deia.compile.catalog.effort import code_digest
from deia.compile.compiler import compile_commons
from deia.compile.take_in import (
    TakenIn,
    bring_up_to_date,
    forget,
    is_up_to_date,
    keep_upload,
    open_library,
    registered_sources,
    take_in,
    update,
)
from deia.errors import QueryError
from deia.folders import LIBRARY_SOURCES, library_folder
from deia.graph.facts_process import FactsProcess
from deia.ingest.source import GIT, URL, FolderSource, Source, SourceError, UploadSource, described
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.search.answer import TOO_BROAD
from deia.search.catalog import Catalog, open_catalog
from deia.search.ranking.elsewhere import state_of
from tests.derived import derived

if TYPE_CHECKING:
    from collections.abc import Mapping

LESSON = "# Closing valves\n\nAlways close the red valve before the pump is stopped, or the seal bursts.\n"
MANUAL = "# Pump manual\n\n## Valves\n\nThe red valve has a thread of 12 mm.\n\n## Pumps\n\nThe pump turns left.\n"
MODULE = "def open_valve(turns):\n    return turns * 360\n"


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str]) -> str:
    folder = tmp_path / "commons"
    (folder / "bok").mkdir(parents=True)
    (folder / "deia.toml").write_text("", encoding="utf-8")
    (folder / "bok/valves.md").write_text(LESSON, encoding="utf-8")
    compile_commons(str(folder), environ=environ)
    return str(folder)


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    (folder / "src").mkdir(parents=True)
    (folder / "pump.md").write_text(MANUAL, encoding="utf-8")
    (folder / "src/valve.py").write_text(MODULE, encoding="utf-8")
    for path in (folder / "pump.md", folder / "src/valve.py"):
        os.utime(path, (1_700_000_000, 1_700_000_000))  # 2023-11-14
    return folder


def source(folder: Path) -> FolderSource:
    return FolderSource(path=str(folder), name="manuals")


def catalog_bytes(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each file of the commons' catalog."""
    folder = derived(root, environ)
    place = folder / (folder / "catalog").read_text()
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in place.rglob("*") if path.is_file()}


def test_passages_are_found_beside_the_lessons_with_their_lines(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    taken = take_in(root, [described(source(manuals))], environ)
    assert taken.summary == f"Indexed 2 documents, {taken.chunks} chunks, 6 entities, 3 relations"
    answer = Librarian(root).query("thread of the red valve in mm")
    passage = next(result for result in answer.documents if result.path == "library:manuals/pump.md")
    assert "12 mm" in passage.passage
    assert passage.lines[0] <= 5 <= passage.lines[1]
    assert (passage.type, answer.to_dict()["documents"]["primary"][0].get("type", "")) in {
        ("markdown", "markdown"), ("markdown", ""),
    }  # fmt: skip


class Watched(FactsProcess):
    """A process that notes which one answered about which document."""

    asked: ClassVar[list[tuple[str, int]]] = []

    def ask(self, path: str, *question: Any, **limits: Any) -> Any:
        answer = super().ask(path, *question, **limits)
        assert self._process is not None
        self.asked.append((path.rpartition("/")[2], self._process.pid))
        return answer


def test_one_process_does_all_for_a_source_and_none_reads_two(
    root: str, manuals: Path, tmp_path: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deia.compile.take_in.FactsProcess", Watched)
    monkeypatch.setattr(Watched, "asked", [])
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/seal.md").write_text("# Seals\n", encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    assert len({process for _, process in Watched.asked}) == 1
    assert [name for name, _ in Watched.asked].count("pump.md") == 3  # read, cut and asked for its facts
    Watched.asked.clear()
    (manuals / "pump.md").write_text(f"{MANUAL}\nMore.\n", encoding="utf-8")
    take_in(root, [described(source(manuals)), described(FolderSource(path=str(tmp_path / "notes")))], environ)
    readers = [{process for named, process in Watched.asked[:4] if named == name} for name in ("pump.md", "seal.md")]
    assert [len(each) for each in readers] == [1, 1]
    assert len(set.union(*readers, {process for _, process in Watched.asked[4:]})) == 3


def test_what_is_counted_of_a_source_is_its_own(
    root: str, manuals: Path, tmp_path: Path, environ: Mapping[str, str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/seal.md").write_text("# Seals\n\nSee [valves](valve.md).\n", encoding="utf-8")
    (tmp_path / "notes/valve.md").write_text("# Valves\n", encoding="utf-8")
    both = take_in(root, [described(source(manuals)), described(FolderSource(path=str(tmp_path / "notes")))], environ)
    of_each = [update(root, [name], environ) for name in ("manuals", "notes")]
    assert (of_each[0].entities, of_each[0].relations) == (6, 3)
    assert of_each[1].relations >= 1
    assert sum(taken.entities for taken in of_each) == both.entities
    assert sum(taken.relations for taken in of_each) == both.relations


def test_of_a_collection_that_is_given_away_only_its_documents_are_found(
    root: str, manuals: Path, tmp_path: Path, environ: Mapping[str, str]
) -> None:
    other = tmp_path / "notes"
    other.mkdir()
    (other / "seal.md").write_text("# Seals\n\nThe seal of the red valve is greased once a year.\n", encoding="utf-8")
    take_in(root, [described(source(manuals)), described(FolderSource(path=str(other), name="notes"))], environ)

    def found(*collections: str, **more: Any) -> set[str]:
        return {result.path for result in Librarian(root, collections=collections).query("red valve", **more).documents}

    assert found("library:notes") == {"library:notes/seal.md"}
    assert found("library:none") == set()
    assert found("library:notes", "bok/") == {"library:notes/seal.md", "bok/valves.md"}
    with pytest.raises(QueryError, match="there is no collection 'manuals'"):
        found("library:notes", collection="manuals")
    assert found(collection="notes,library:manuals/") >= {"library:notes/seal.md", "library:manuals/pump.md"}
    (other / "seal.md").unlink()
    update(root, ["notes"], environ)
    assert found("library:notes") == set()


@pytest.mark.parametrize("names", ["none", ",", "notes,none", "../manuals", "\0"])
def test_a_collection_that_is_none_is_refused_by_its_name(
    root: str, manuals: Path, environ: Mapping[str, str], names: str
) -> None:
    take_in(root, [described(source(manuals))], environ)
    with pytest.raises(QueryError, match="there is no collection"):
        Librarian(root).query("red valve", collection=names)


def test_a_lesson_comes_before_what_only_mentions_its_words(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    take_in(root, [described(source(manuals))], environ)
    assert Librarian(root).query("close the red valve").documents.primary[0].path == "bok/valves.md"


def test_functions_of_one_file_are_results_of_their_own(root: str, manuals: Path, environ: Mapping[str, str]) -> None:
    turning = "def turn_pump(turns):\n    turns.turn()\n    turns.turn()\n    return pump_of(turns)\n"
    (manuals / "src/valve.py").write_text(f"{MODULE}\n\n{turning}", encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    answer = Librarian(root).query("turn the valve and the pump by turns", asset_type="code")
    found = [(result.path, result.title, result.lines) for result in answer.documents]
    path = "library:manuals/src/valve.py"
    assert sorted(found) == [(path, "valve.py: open_valve", (1, 2)), (path, "valve.py: turn_pump", (5, 8))]


def test_of_a_file_with_a_name_only_the_best_function_comes_first(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    functions = "def open_valve(turns):\n    return turns\n\n\ndef open_pump(valve):\n    return valve\n"
    (manuals / "src/valve.py").write_text(functions, encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    (first, second) = Librarian(root).query("open_valve", asset_type="code").documents
    assert (first.symbol, second.symbol) == ("open_valve", "open_pump")
    assert first.score > second.score


def test_a_file_without_text_is_no_answer_to_what_its_name_does_not_say(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    (manuals / "empty.md").write_text("", encoding="utf-8")
    (manuals / "blank.txt").write_text("  \n\n", encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    librarian = Librarian(root, ledger=False)
    for question in ("quibbleflux", "zebra", "the red valve"):
        found = {result.path for result in librarian.query(question, layer="library").documents}
        assert found.isdisjoint({"library:manuals/empty.md", "library:manuals/blank.txt"})
    assert librarian.query("blank", layer="library").documents


def test_what_is_too_broad_for_a_library_names_its_best_documents(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    lines = [f"The drone frame {number} has the arm {number * 7}." for number in range(3_000)]
    (manuals / "frames.txt").write_text("\n\n".join(lines), encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    answer = Librarian(root).query("drone frame", layer="library")
    assert [result.path for result in answer.documents] == ["library:manuals/frames.txt"]
    assert (answer.matched, answer.confidence, answer.reason) == ("partial", "low", TOO_BROAD)
    assert "Narrower: frames.txt" in answer.suggestions


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"asset_type": "code"}, {"library:manuals/src/valve.py"}),
        ({"asset_type": "text"}, {"bok/valves.md", "library:manuals/pump.md"}),
        ({"collection": "manuals"}, {"library:manuals/pump.md", "library:manuals/src/valve.py"}),
        ({"layer": "library"}, {"library:manuals/pump.md", "library:manuals/src/valve.py"}),
        ({"layer": "own"}, {"bok/valves.md"}),
        ({"layer": "own", "asset_type": "text"}, {"bok/valves.md"}),
        ({"layer": "own", "asset_type": "code"}, set()),
        ({"since": "2023-11", "until": "2023-11-14"}, {"library:manuals/pump.md", "library:manuals/src/valve.py"}),
        ({"since": "7d"}, set()),
    ],
)
def test_filters_choose_before_anything_is_cut_off(
    root: str, manuals: Path, environ: Mapping[str, str], filters: dict[str, str], expected: set[str]
) -> None:
    take_in(root, [described(source(manuals))], environ)
    answer = Librarian(root).query("red valve turns", **filters)  # type: ignore[arg-type]
    assert {result.path for result in answer.documents} == expected


@pytest.mark.parametrize("filters", [{"asset_type": "pdff"}, {"collection": "nothing"}, {"since": "soon"}])
def test_a_filter_that_makes_no_sense_is_refused(root: str, filters: dict[str, str]) -> None:
    with pytest.raises(QueryError):
        Librarian(root).query("valve", **filters)  # type: ignore[arg-type]


def test_a_collection_in_a_layer_that_has_none_is_refused(root: str, manuals: Path, environ: Mapping[str, str]) -> None:
    take_in(root, [described(source(manuals))], environ)
    with pytest.raises(QueryError, match="only the library has collections"):
        Librarian(root).query("valve", layer="own", collection="manuals")


@pytest.mark.parametrize(
    ("filters", "asked"),
    [
        ({"collection": "manuals"}, "the collection 'manuals'"),
        ({"asset_type": "code"}, "the asset type 'code'"),
        ({"layer": "library"}, "the library"),
    ],
)
def test_a_filter_of_lessons_and_one_of_the_library_are_said_to_exclude_each_other(
    root: str, manuals: Path, environ: Mapping[str, str], filters: dict[str, str], asked: str
) -> None:
    lesson = f"---\nplatforms: [netlify]\n---\n\n{LESSON}"
    (Path(root) / "bok/valves.md").write_text(lesson, encoding="utf-8")
    take_in(root, [described(source(manuals))], environ)
    expected = f"only lessons have the platform 'netlify', and {asked} has no lessons, so no document has both."
    with pytest.raises(QueryError) as refused:
        Librarian(root).query("valve", platform="netlify", **filters)  # type: ignore[arg-type]
    assert refused.value.message == expected
    assert refused.value.fix == f"Leave out one of the two: the platform, or {asked}."
    with pytest.raises(QueryError, match="no document that is searched has the platform 'netlify'"):
        Librarian(root).query("valve platform:netlify", **filters)  # type: ignore[arg-type]


def test_the_library_changes_neither_the_catalog_nor_the_triggers_of_the_commons(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    before, triggers = catalog_bytes(root, environ), derived(root, environ) / "triggers"
    made = triggers.stat().st_mtime_ns
    take_in(root, [described(source(manuals))], environ)
    Librarian(root).query("valve")
    assert (catalog_bytes(root, environ), triggers.stat().st_mtime_ns) == (before, made)
    forget(root, ["manuals"], environ)
    assert not Librarian(root).query("thread of the red valve in mm", layer="library").documents


def test_what_changed_is_found_after_an_update_and_what_is_gone_is_not(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    take_in(root, [described(source(manuals))], environ)
    (manuals / "pump.md").write_text("# Pump manual\n\nThe gasket is made of graphite.\n", encoding="utf-8")
    (manuals / "src/valve.py").unlink()
    update(root, [], environ)
    answer = Librarian(root).query("gasket of graphite")
    assert answer.documents.primary[0].path == "library:manuals/pump.md"
    assert not Librarian(root).query("open_valve", layer="library").documents


UPDATE = """
import os, sys
from deia.compile.take_in import update
print(update(sys.argv[1], [], os.environ).summary, "numpy" in sys.modules)
"""


def test_an_update_after_one_change_does_without_numpy(root: str, manuals: Path, environ: Mapping[str, str]) -> None:
    for number in range(40):
        (manuals / f"{number}.md").write_text(f"# Pump {number}\n\nThe pump turns left.\n", encoding="utf-8")
    static = {**environ, "DEIA_TIER": "static"}
    take_in(root, [described(source(manuals))], static)
    for path, text in (("7.md", "# Pump 7\n\nThe valve turns left.\n"), ("src/valve.py", f"{MODULE}# turns\n")):
        (manuals / path).write_text(text, encoding="utf-8")
        run = [sys.executable, "-c", UPDATE, root]
        said = subprocess.run(run, env={**os.environ, **static}, capture_output=True, text=True, check=True).stdout
        assert said.startswith("Indexed 42 documents, ")
        assert said.endswith(" False\n")
        assert Librarian(root).query("valve turns").documents


def test_an_untrusted_commons_has_no_library(root: str, manuals: Path, environ: Mapping[str, str]) -> None:
    take_in(root, [described(source(manuals))], environ)
    stranger = {**environ, "DEIA_TRUST": ""}
    with pytest.raises(CommonsError, match="deia trust"):
        take_in(root, [described(source(manuals))], stranger)
    assert registered_sources(root, stranger) == []
    compiled = compile_commons(root, environ=stranger)
    written = [path for path in Path(compiled.folder).rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not any(b"12 mm" in path.read_bytes() for path in written)


def test_a_library_belongs_to_one_commons(root: str, manuals: Path, environ: Mapping[str, str], tmp_path: Path) -> None:
    take_in(root, [described(source(manuals))], environ)
    other = tmp_path / "other"
    (other / "bok").mkdir(parents=True)
    (other / "deia.toml").write_text("", encoding="utf-8")
    assert not Librarian(other).query("thread of the red valve in mm").documents


def test_files_that_were_handed_over_are_kept_if_their_type_and_size_are_right(
    root: str, environ: Mapping[str, str]
) -> None:
    keep_upload(root, "../../Pump report.md", b"# Report\n\nThe impeller is cracked.\n", environ)
    take_in(root, [described(UploadSource(file="", content=b""))], environ)
    assert Librarian(root).query("cracked impeller").documents.primary[0].path == "library:upload/pump-report.md"
    with pytest.raises(SourceError, match="not taken"):
        keep_upload(root, "run.exe", b"", environ)


def test_a_secret_in_a_file_that_is_handed_over_is_not_kept_anywhere(root: str, environ: Mapping[str, str]) -> None:
    secret, text = b"hunter2hunter2", "# Access\n\npassword: hunter2hunter2\n"
    librarian, library = Librarian(root), Path(library_folder(root, environ))
    for _ in range(2):  # the second is the same file, not another one of that name
        assert librarian.ingest(UploadSource(file="a.md", content=text.encode())).documents == 1
    kept = [path for path in library.rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert kept == []
    with open_library(root, environ) as opened:
        assert opened.notes("upload") == [("a.md", "read", "Secrets were left out, in line 3.")]


def test_what_was_handed_over_to_an_earlier_version_is_kept_anew_without_its_secret(
    root: str, environ: Mapping[str, str]
) -> None:
    content = b"password: hunter2hunter2\n"
    keep_upload(root, "a.md", b"x", environ)
    kept = Path(library_folder(root, environ), "uploads/upload/a.md")
    kept.write_bytes(content)
    assert keep_upload(root, "a.md", content, environ)[1] == "a.md"
    assert kept.read_bytes() == b"password: [secret]\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_only_its_owner_may_read_a_file_that_was_handed_over(root: str, environ: Mapping[str, str]) -> None:
    keep_upload(root, "a.pdf", b"%PDF-1.7\npassword: hunter2hunter2\n", environ)
    kept = Path(library_folder(root, environ), "uploads/upload/a.pdf")
    assert kept.stat().st_mode & 0o777 == 0o600


def test_taking_in_can_be_awaited_and_need_not_be(root: str, manuals: Path) -> None:
    librarian = Librarian(root)
    at_once = librarian.ingest(source=source(manuals), collection="pumps")
    assert (at_once.documents, at_once.errors) == (2, ())

    async def later() -> TakenIn:
        return await librarian.ingest(source=source(manuals), collection="pumps")

    assert asyncio.run(later()).documents == 2
    assert librarian.query("thread in mm", collection="pumps").documents


def test_a_catalog_of_the_library_in_an_old_format_is_made_anew(
    root: str, manuals: Path, environ: Mapping[str, str]
) -> None:
    take_in(root, [described(source(manuals))], environ)
    place = derived(root, environ) / "library"
    header = place / (place / "catalog").read_text() / "catalog.json"
    current = header.read_text()
    header.write_text(json.dumps({**json.loads(current), "format": 3}))
    assert not is_up_to_date(root, environ)
    bring_up_to_date(root, environ)
    assert json.loads(header.read_text())["format"] == json.loads(current)["format"]
    assert is_up_to_date(root, environ)


def test_a_catalog_with_other_vectors_of_code_is_made_anew_and_engines_copy_it(
    root: str, manuals: Path, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(root, [described(source(manuals))], environ)
    place = derived(root, environ) / "library"

    def opened() -> Catalog:
        return open_catalog(str(place / (place / "catalog").read_text()))

    before = opened()
    assert before.tiers["static"].code == code_digest("static")
    for module in ("library_catalog", "catalog.carry_over"):
        monkeypatch.setattr(f"deia.compile.{module}.code_digest", lambda _tier: "another table")
    assert plan_revision([], before.folder, ("static",), quick=False) is None
    bring_up_to_date(root, environ)
    assert opened().tiers["static"].code == before.tiers["static"].code, "of the present state, so left as it was"
    bring_up_to_date(root, environ, force=True)
    assert opened().tiers["static"].code == "another table"
    assert state_of(opened(), "static") != state_of(before, "static")


@pytest.mark.parametrize("kind", [GIT, URL])
def test_the_password_that_an_older_deia_kept_in_an_address_is_shown_nowhere(
    root: str, environ: Mapping[str, str], kind: str
) -> None:
    kept = Source(kind=kind, place="https://me:hunter2@127.0.0.1:1/shop.git", name="shop", collection="shop")
    with open_library(root, environ) as library:
        library.register(kept)
    taken = update(root, ["shop"], environ)
    (listed,) = registered_sources(root, environ)
    assert listed.source.place == "https://[secret]@127.0.0.1:1/shop.git"
    assert listed.error
    stored = Path(library_folder(root, environ), LIBRARY_SOURCES).read_text(encoding="utf-8")
    with open_library(root, environ) as library:
        assert library.registry()[0].source.place == kept.place  # what fetches it still knows it
        with pytest.raises(SourceError) as refused:
            library.register(kept.but(place="https://example.org/other.git"))
    assert "hunter2" not in repr((taken, listed, stored, str(refused.value)))


@pytest.mark.parametrize("address", ["https://127.0.0.1/x", "https://exa mple.org/x", "https://127.0.0.1/x.git"])
def test_a_new_source_at_an_address_that_is_refused_is_not_registered(
    root: str, manuals: Path, environ: Mapping[str, str], address: str
) -> None:
    taken = take_in(root, [described(address), described(source(manuals))], environ)
    assert [(outcome.name, outcome.documents) for outcome in taken.outcomes] == [("x", 0), ("manuals", 2)]
    assert len(taken.errors) == 1
    assert [one.source.name for one in registered_sources(root, environ)] == ["manuals"]


def test_a_new_source_whose_host_nothing_resolves_is_listed_as_failed(
    root: str, environ: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):  # which would resolve it
        monkeypatch.delenv(name, raising=False)
    taken = take_in(root, [described("https://nowhere.invalid/x")], environ)
    assert "there is no host nowhere.invalid" in taken.errors[0]
    (listed,) = registered_sources(root, environ)
    assert (listed.source.name, listed.status) == ("x", "failed")


def test_a_program_may_write_the_settings_of_a_chunker_as_a_table_or_none(root: str, manuals: Path) -> None:
    librarian = Librarian(root)
    assert librarian.ingest(str(manuals), chunker_config=None).documents == 2
    assert librarian.ingest(manuals, chunker_config={"strategy": "by_sentence"}).documents == 2
    for config, problem in ({"max_chars": 3}, "max_chars"), ({"most": 3}, "no setting 'most'"), ([], "cuts nothing"):
        with pytest.raises(SourceError, match=problem):
            librarian.ingest(manuals, chunker_config=config)  # type: ignore[arg-type]


def test_a_text_may_be_handed_over_and_what_is_no_source_is_not_registered(
    root: str, environ: Mapping[str, str]
) -> None:
    librarian = Librarian(root)
    assert librarian.ingest(UploadSource(file="a.md", content="# Seals\n")).documents == 1  # type: ignore[arg-type]
    refused = FolderSource(path="/nope"), UploadSource(file="a.md", content=None), UploadSource(file=3, content=b"x")  # type: ignore[arg-type]
    for source in refused:
        with pytest.raises(SourceError):
            librarian.ingest(source)
    assert [registered.source.name for registered in registered_sources(root, environ)] == ["upload"]
