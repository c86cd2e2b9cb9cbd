from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.build_catalog import build_catalog
from deia.compile.catalog.effort import KEY_SIZE, TIER, Effort
from deia.compile.catalog.embeddings import STARTER, VectorCache, text_key
from deia.compile.compiler import compile_commons
from deia.knowledge import Document, Entry, Query
from deia.match.tiers import open_tier
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from tests.derived import private
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.compile.catalog.build_catalog import CatalogReport

TOOL = ROOT / "tools" / "starter_codes.py"


def build(folder: Path, texts: Sequence[str], **options: object) -> CatalogReport:
    """Compile a commons with a document for each text."""
    folder.mkdir()
    entries = [Entry(id=f"d{at}", path=f"bok/{at}.md", title=text.split()[0]) for at, text in enumerate(texts)]
    documents = [Document(path=f"bok/{at}.md", title="", text=text) for at, text in enumerate(texts)]
    return build_catalog(entries, documents, [], [], str(folder), tiers=("static", TIER), **options)  # type: ignore[arg-type]


def test_what_would_take_too_long_is_left_out_whole(tmp_path: Path) -> None:
    report = build(tmp_path / "a", ["zebra stripes", "giraffe necks"], effort=Effort(limit=3))
    assert report.tiers == ("static",)
    assert not list((tmp_path / "a").glob(f"{TIER}.*"))
    assert search(open_catalog(str(tmp_path / "a")), Query(text="zebra stripes")).audit.tier == "static"


def test_a_text_is_encoded_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert build(tmp_path / "a", ["zebra stripes"], effort=Effort(cache=str(cache))).tiers == ("static", TIER)
    before = cache.read_bytes()
    assert build(tmp_path / "b", ["zebra stripes"], effort=Effort(limit=0, cache=str(cache))).tiers == ("static", TIER)
    assert cache.read_bytes() == before
    for name in ("codes", "signs", "about", "starts"):
        assert (tmp_path / "a" / f"{TIER}.{name}").read_bytes() == (tmp_path / "b" / f"{TIER}.{name}").read_bytes()


def test_vectors_that_no_text_uses_any_more_are_forgotten_only_in_a_file_of_one_commons(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    build(tmp_path / "a", ["zebra stripes", "giraffe necks", "lion manes"], effort=Effort(cache=str(cache)))
    whole = cache.stat().st_size
    build(tmp_path / "b", ["zebra stripes"], effort=Effort(cache=str(cache)))
    assert cache.stat().st_size == whole
    build(tmp_path / "c", ["zebra stripes"], effort=Effort(cache=str(cache), exclusive=True))
    assert cache.stat().st_size == whole // 3


@given(torn=st.binary(max_size=3 * (KEY_SIZE + 4)))
@settings(max_examples=60)
def test_a_torn_file_of_vectors_is_read_as_far_as_it_goes_and_mended(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes
) -> None:
    place = tmp_path_factory.mktemp("cache") / "cache"
    place.write_bytes(torn)
    cache = VectorCache(str(place), dimensions=4, others=())
    cache.add([b"k" * KEY_SIZE], b"abcd")
    again = VectorCache(str(place), dimensions=4, others=())
    assert again.of([b"k" * KEY_SIZE]) == b"abcd"
    assert place.stat().st_size % (KEY_SIZE + 4) == 0


def test_a_compile_that_nobody_asked_for_encodes_a_few_texts_and_no_more(tmp_path: Path) -> None:
    root, environ = tmp_path / "commons", private(tmp_path)
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text("")
    for at in range(5):
        (root / "bok" / f"{at}.md").write_text(f"# Lesson {at}\n\nZebras have {at} stripes.\n")
    assert compile_commons(str(root), environ=environ).tiers == ("static",)
    asked = compile_commons(str(root), environ=environ, requested=True)
    assert (asked.written, asked.tiers) == (("catalog",), ("static", TIER))
    assert not compile_commons(str(root), environ=environ, requested=True).written
    (root / "bok" / "0.md").write_text("# Lesson 0\n\nA zebra without stripes is a horse.\n")
    assert compile_commons(str(root), environ=environ).tiers == ("static", TIER)


def test_a_tier_that_was_ruled_out_is_not_made(tmp_path: Path) -> None:
    root, environ = tmp_path / "commons", private(tmp_path)
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text('tier = "static"\n')
    (root / "bok" / "a.md").write_text("# Zebra\n\nZebras have stripes.\n")
    assert compile_commons(str(root), environ=environ, requested=True).tiers == ("static",)
    assert compile_commons(str(root), environ=environ, requested=True, tier=TIER).tiers == ("static", TIER)


def test_a_compile_for_another_tier_is_not_called_fresh(tmp_path: Path) -> None:
    root, environ = tmp_path / "commons", private(tmp_path)
    (root / "bok").mkdir(parents=True)
    (root / "deia.toml").write_text("")
    (root / "bok" / "a.md").write_text("# Zebra\n\nZebras have stripes.\n")
    assert compile_commons(str(root), environ=environ, requested=True, tier=TIER).tiers == ("static", TIER)
    static = compile_commons(str(root), environ=environ, requested=True, tier="static")
    assert (static.written, static.tiers) == (("catalog",), ("static",))


def test_the_starter_commons_comes_encoded() -> None:
    spec = importlib.util.spec_from_file_location("starter_codes", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules["starter_codes"] = tool
    spec.loader.exec_module(tool)
    tier = open_tier(TIER)
    cache = VectorCache("", dimensions=tier.dimensions)
    missing = [text[:60] for text in tool.starter_texts() if text_key(tier.digest, text) not in cache]
    assert not missing, "run: python tools/starter_codes.py"
    assert Path(STARTER).stat().st_size < 1_000_000
