"""A near copy of a better document comes after all that say something else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deia.compile.take_in import take_in
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.search.ranking.rank import Ranked
from deia.search.ranking.variety import BEHIND, varied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.search.catalog import Catalog

CODE = """def open_valve(turns):
    return turns * 360


def close_pump(minutes):
    while minutes:
        minutes = wait(minutes)
"""
COPY = CODE.partition("\n\n\n")[0] + "\n\n\ndef other():\n    return 1\n"


def library(tmp_path: Path, environ: Mapping[str, str]) -> Catalog:
    """Return the catalog of a library with two files, of which one repeats a function of the other."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code/valves.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "code/works.py").write_text(COPY, encoding="utf-8")
    commons = tmp_path / "commons"
    commons.mkdir()
    (commons / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    take_in(str(commons), [described(FolderSource(path=str(tmp_path / "code"), name="code"))], environ)
    return Librarian(str(commons)).open_catalog_of("library:code/valves.py")


def test_two_functions_of_a_file_are_no_copies_and_the_same_function_in_two_files_is_one(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    catalog = library(tmp_path, environ)
    numbers = {Path(catalog.id(number)).stem: number for number in range(len(catalog))}
    valve, pump, again = (
        Ranked(number=numbers["valves"], ordinal=0, score=1.0),
        Ranked(number=numbers["valves"], ordinal=1, score=0.9),
        Ranked(number=numbers["works"], ordinal=0, score=0.95),
    )
    assert varied(catalog, [valve, pump]) == [valve, pump]
    assert varied(catalog, [valve, again, pump]) == [valve, pump, again.but(score=BEHIND * again.score)]
