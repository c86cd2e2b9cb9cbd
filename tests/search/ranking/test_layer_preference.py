"""Of documents that fit as well, one's own come before a team's, and these before the starter's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deia.compile.catalog.build_catalog import build_catalog
from deia.errors import QueryError
from deia.knowledge import Document, Entry, Query
from deia.search.answer import Answer
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import ranking, search
from deia.search.ranking.layer_preference import PLACES, layer_of
from deia.search.ranking.rank import NEAR_BEST
from deia.search.ranking.variety import BEHIND

OWN, PACK, STARTER = "bok/", "packs/team/bok/", "starter:bok/"
CERTIFICATE = "The certificate of the proxy expired, and every client refused the connection."
OTHERS = {
    f"{place}{name}.md": text
    for place in (OWN, STARTER)
    for name, text in {
        "printer": "The label printer prints blank labels after a paper jam.",
        "invoices": "Invoice numbers have gaps, since a sequence is not transactional.",
        "fonts": "Fonts are missing in the exported slides of the sales team.",
        "badge": "Ask at the front desk for a badge on the first day.",
    }.items()
}
Compiled = Callable[..., Catalog]


@pytest.fixture
def compiled(tmp_path: Path) -> Compiled:
    def compile_texts(texts: dict[str, str], *, own_first: bool = True) -> Catalog:
        folder = tmp_path / f"catalog-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        entries = [
            Entry(id=path.replace("/", "-"), path=path, title=text.split(",")[0]) for path, text in texts.items()
        ]
        documents = [Document(path=path, title="", text=text) for path, text in texts.items()]
        build_catalog(entries, documents, (), (), str(folder), own_first=own_first)
        return open_catalog(str(folder))

    return compile_texts


def ask(catalog: Catalog, text: str, layers: Sequence[str] = ()) -> Answer:
    return search(catalog, Query(text=text, layers=tuple(layers)), tiers=("static",))


def paths(answer: Answer) -> list[str]:
    return [result.path for result in answer.documents]


@pytest.mark.parametrize(
    ("higher", "lower"),
    [(OWN, STARTER), (OWN, PACK), (PACK, STARTER)],
    ids=["own, starter", "own, pack", "pack, starter"],
)
def test_of_two_that_fit_as_well_the_higher_layer_comes_first(compiled: Compiled, higher: str, lower: str) -> None:
    texts = {f"{lower}a.md": f"{CERTIFICATE} The certificate.", f"{higher}z.md": CERTIFICATE, **OTHERS}
    for question in ("certificate expired", "why was the certificate refused by clients"):
        assert paths(ask(compiled(texts), question))[:2] == [f"{higher}z.md", f"{lower}a.md"]


def test_one_that_fits_better_comes_first_whatever_its_layer(compiled: Compiled) -> None:
    catalog = compiled({f"{STARTER}a.md": CERTIFICATE, **OTHERS})
    assert paths(ask(catalog, "certificate expired")) == [f"{STARTER}a.md"]
    assert ranking(catalog, "certificate expired", tiers=("static",))[0] == "starter:bok-a.md"


def test_nothing_of_an_untrusted_commons_is_preferred(compiled: Compiled) -> None:
    texts = {f"{STARTER}a.md": f"{CERTIFICATE} The certificate expired.", f"{OWN}z.md": CERTIFICATE, **OTHERS}
    assert paths(ask(compiled(texts, own_first=False), "certificate expired"))[0] == f"{STARTER}a.md"
    assert paths(ask(compiled(texts), "certificate expired"))[0] == f"{OWN}z.md"


def test_an_answer_is_not_padded_with_what_hardly_fits(compiled: Compiled) -> None:
    texts = {
        f"{OWN}a.md": CERTIFICATE,
        f"{STARTER}b.md": "A proxy needs a file for its log, which fills the disk.",
        f"{STARTER}c.md": "Clients of the proxy wait for a minute before they give up.",
        **OTHERS,
    }
    assert paths(ask(compiled(texts), "certificate of the proxy expired")) == [f"{OWN}a.md"]


def test_scores_never_increase(compiled: Compiled) -> None:
    texts = {f"{STARTER}a.md": f"{CERTIFICATE} The certificate expired.", f"{OWN}z.md": CERTIFICATE, **OTHERS}
    scores = [result.score for result in ask(compiled(texts), "certificate expired").documents]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] >= BEHIND * NEAR_BEST * scores[0]  # it is nearly a copy of the first, and so behind others


def test_a_limit_of_one_shows_ones_own(compiled: Compiled) -> None:
    texts = {f"{STARTER}a.md": f"{CERTIFICATE} The certificate.", f"{OWN}z.md": CERTIFICATE, **OTHERS}
    answer = search(compiled(texts), Query(text="certificate expired", limit=1), tiers=("static",))
    assert paths(answer) == [f"{OWN}z.md"]
    assert answer.matched


@pytest.mark.parametrize("layer", ["own", *PLACES])
def test_a_layer_can_be_asked_for_alone(compiled: Compiled, layer: str) -> None:
    catalog = compiled({f"{place}a.md": CERTIFICATE for place in (OWN, PACK, STARTER)} | OTHERS)
    for question in ("certificate expired", ""):
        found = paths(ask(catalog, question, [layer]))
        assert found
        assert {layer_of(path) for path in found} == {layer}


def test_several_layers_can_be_asked_for(compiled: Compiled) -> None:
    catalog = compiled({f"{place}a.md": CERTIFICATE for place in (OWN, PACK, STARTER)} | OTHERS)
    assert set(map(layer_of, paths(ask(catalog, "certificate expired", ["own", "packs"])))) == {"own", "packs"}


def test_an_unknown_layer_is_refused(compiled: Compiled) -> None:
    with pytest.raises(QueryError, match="there is no layer 'team'"):
        ask(compiled(OTHERS), "badge", ["team"])
