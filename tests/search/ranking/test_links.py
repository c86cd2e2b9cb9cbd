"""Links between pages of the library: kept as the pages are, and counted when somebody searches."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.compile.take_in import forget, take_in, update
from deia.folders import GRAPH, derived_folder
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.search.ranking.links import DATABASE

if TYPE_CHECKING:
    from collections.abc import Mapping

PUMPS = (
    "# Pumps\n\n## Starting\n\nBefore the pump starts, bleed the line as [the valve's page](parts/valves.md#bleeding)"
    " says, and wear gloves.\n"
)
VALVES = "# Valves\n\n## Bleeding\n\nTurn the small screw until no bubbles come.\n\n## Colours\n\nRed means closed.\n"
OTHERS = {
    f"other-{number}.md": f"# Item {number}\n\nThe line of item {number} is bled yearly.\n" for number in range(9)
}


@pytest.fixture
def root(tmp_path: Path, environ: Mapping[str, str]) -> str:
    folder = tmp_path / "commons"
    folder.mkdir()
    (folder / "deia.toml").write_text("starter = false", encoding="utf-8")
    (folder / "commons_index.yaml").write_text('version: "1.0"\nclusters: {}\n', encoding="utf-8")
    compile_commons(str(folder), environ=environ)
    return str(folder)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "parts").mkdir(parents=True)
    for name, text in {"pumps.md": PUMPS, "parts/valves.md": VALVES, **OTHERS}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ways(root: str, environ: Mapping[str, str]) -> set[tuple[str, int, str, int]]:
    """Return from which line of which page links lead to which line of which."""
    with sqlite3.connect(f"{derived_folder(root, environ)}/{GRAPH}/{DATABASE}") as database:
        rows = database.execute(
            "select source.name, refs.line, page.name, first from relations join refs on refs.id = ref"
            " join documents source on source.id = refs.document join places on places.entity = relations.target"
            " join documents page on page.id = places.document where relations.type = 'LINKS_TO'"
        )
        return {(source.rpartition("/")[2], line, page.rpartition("/")[2], at) for source, line, page, at in rows}


def test_what_the_best_passage_links_to_is_found_and_says_why(
    root: str, environ: Mapping[str, str], pages: Path
) -> None:
    take_in(root, [described(FolderSource(path=str(pages)))], environ)
    librarian = Librarian(root)
    question = "what to do with gloves before the pump starts"
    answer = librarian.query(question, limit=3)
    found = {result.path.rpartition("/")[2]: result for result in answer.documents}
    assert next(iter(found)) == "pumps.md"
    assert "Turn the small screw" in found["valves.md"].passage
    assert found["valves.md"].why_relevant.endswith("/pumps.md, line 5")
    assert "bleeding is referred to in" in found["valves.md"].why_relevant


def test_filters_hold_for_what_links_lead_to_as_well(root: str, environ: Mapping[str, str], pages: Path) -> None:
    sources = [
        described(FolderSource(path=str(pages))).but(name="pumps", collection="x", filter=("pumps.md", "other-*")),
        described(FolderSource(path=str(pages / "parts"))).but(name="valves", collection="x/parts"),
    ]
    take_in(root, sources, environ)
    answer = Librarian(root).query("gloves before the pump starts", collection="x", limit=9)
    assert answer.documents
    assert not any(result.path.endswith("valves.md") for result in answer.documents)


def test_links_follow_what_comes_changes_and_goes(root: str, environ: Mapping[str, str], pages: Path) -> None:
    taken = described(FolderSource(path=str(pages))).but(name="pages")
    (pages / "parts/valves.md").unlink()
    take_in(root, [taken], environ)
    assert ways(root, environ) == set()
    (pages / "parts/valves.md").write_text(VALVES, encoding="utf-8")
    update(root, [], environ)
    assert ways(root, environ) == {("pumps.md", 5, "valves.md", 3)}
    (pages / "parts/valves.md").write_text(f"Preface.\n\n{VALVES}", encoding="utf-8")
    update(root, [], environ)
    assert ways(root, environ) == {("pumps.md", 5, "valves.md", 5)}
    forget(root, ["pages"], environ)
    assert ways(root, environ) == set()


def test_a_page_that_only_moved_has_its_links_at_its_new_place(
    root: str, environ: Mapping[str, str], pages: Path
) -> None:
    take_in(root, [described(FolderSource(path=str(pages)))], environ)
    (pages / "pumps.md").rename(pages / "parts/pumps.md")
    update(root, [], environ)
    assert ways(root, environ) == set()


def test_a_damaged_database_of_links_hinders_no_search_and_is_told_when_it_is_to_be_written(
    root: str, environ: Mapping[str, str], pages: Path
) -> None:
    take_in(root, [described(FolderSource(path=str(pages)))], environ)
    for path in Path(derived_folder(root, environ), GRAPH).glob(f"{DATABASE}*"):
        path.write_bytes(b"no database" * 1000)
    assert Librarian(root).query("gloves before the pump starts").documents
    (pages / "new.md").write_text("# New\n", encoding="utf-8")
    update(root, [], environ)
    assert ("pumps.md", 5, "valves.md", 3) in ways(root, environ)


CODE = {
    "tools/smelter.py": "from tools import furnace\n\n\ndef pour(metal):\n    furnace.heat_up(metal)\n",
    "tools/furnace.py": '"""The oven."""\n\n\ndef heat_up(metal):\n    """Bring it to the wanted temperature."""\n',
    "tools/kettle.py": '"""Tea."""\n\n\ndef boil(water):\n    """Bring it to the wanted temperature of tea."""\n',
    "tools/valves.py": "class Valve:\n    def turn(self):\n        '''Close it slowly against the pressure.'''\n",
    "tools/gates.py": "from tools.valves import Valve\n\n\nclass Gate(Valve):\n    '''Keeps a river back.'''\n",
    "tools/flood.py": (
        "from tools.gates import Gate\n\n\ndef alarm(level):\n    '''Tell the town to leave.'''\n    return Gate()\n"
    ),
} | {f"tools/other_{n}.py": f'def other_{n}():\n    """Tell the wanted river {n}."""\n' for n in range(9)}


LONG = "<p>Molten metal needs patience, and a foundry needs many who have it on every day of the year.</p>"
HTML = {
    "furnaces.html": '<h1>Furnaces</h1><h2>Melting</h2><dl><dt id="oven.melt">oven.melt(metal)</dt><dd>'
    + LONG * 60
    + '<p>See <a href="gauges.html#gauge.read">there</a>.</p></dd></dl>',
    "gauges.html": '<h1>Gauges</h1><dl><dt id="gauge.read">gauge.read()</dt>'
    "<dd>Say how hot the tip of the probe is.</dd></dl>",
} | {
    f"probes_{n}.html": f"<h1>Probes {n}</h1><p>The oven has a probe whose tip is hot: say how hot, says oven.melt.</p>"
    for n in range(9)
}


@pytest.fixture
def asked(root: str, environ: Mapping[str, str], tmp_path: Path) -> Librarian:
    for name, text in CODE.items():
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text(text, encoding="utf-8")
    take_in(root, [described(FolderSource(path=str(tmp_path / "code")))], environ)
    return Librarian(root)


def reasons(librarian: Librarian, question: str, mode: str = "natural") -> dict[str, str]:
    best: dict[str, str] = {}
    for result in librarian.query(question, limit=6, mode=mode).documents:
        best.setdefault(result.path.rpartition("/")[2], result.why_relevant)
    return best


def test_what_a_question_names_leads_to_what_is_around_that(asked: Librarian) -> None:
    found = reasons(asked, "what tools.smelter imports to bring it to the wanted temperature")
    assert "tools.smelter is named in the question" in found["smelter.py"]
    assert "furnace is imported in library:code/tools/smelter.py, line 1" in found["furnace.py"]
    found = reasons(asked, "what does tools.gates.Gate have to close it slowly")
    assert "Valve is inherited in library:code/tools/gates.py, line 4" in found["valves.py"]
    found = reasons(asked, "where tools.gates.Gate helps to tell the town")
    assert "Gate is called in library:code/tools/flood.py, line 6" in found["flood.py"]
    assert not any("is named" in why for why in reasons(asked, "tools to bring water to a temperature").values())


def test_a_definition_leads_to_what_its_page_links_to_however_far_below(
    root: str, environ: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for name, text in HTML.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    take_in(root, [described(FolderSource(path=str(tmp_path / "docs")))], environ)
    found = reasons(Librarian(root), "oven.melt: what it refers to that says how hot the tip of the probe is")
    assert "gauge.read is referred to in library:docs/furnaces.html, line 127" in found["gauges.html"]


def test_modes_choose_what_counts_of_the_graph(asked: Librarian) -> None:
    question = "where tools.gates.Gate keeps a river back and helps to tell the town"
    modes = ("hybrid", "local", "global", "naive")
    told = {mode: " ".join(reasons(asked, question, mode).values()) for mode in modes}
    named = {mode for mode, text in told.items() if "is named in the question" in text}
    led = {mode for mode, text in told.items() if "Gate is called in library:code/tools/flood.py" in text}
    assert (named, led) == ({"hybrid", "local"}, {"hybrid", "local", "global"})


def test_no_question_breaks_on_what_it_names(asked: Librarian) -> None:
    for question in (
        "tools.\ud800.Gate",
        "a.b " * 50_000,
        "tools.gates.Gate\0",
        '"; drop table entities; --',
        "::. ._",
    ):
        assert reasons(asked, question) is not None


def test_the_best_class_leads_to_its_callers_though_nobody_names_it(asked: Librarian) -> None:
    found = reasons(asked, "keeps a river back and will tell somebody to leave")
    assert "Gate is called in library:code/tools/flood.py, line 6" in found["flood.py"]
