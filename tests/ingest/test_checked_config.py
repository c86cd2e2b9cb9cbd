"""Settings of a chunker that make no sense are refused, with what is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.ingest.checked_config import checked_config
from deia.ingest.reading import ChunkerConfig, CodeChunkerConfig, MarkdownChunkerConfig
from deia.ingest.source import SourceError

if TYPE_CHECKING:
    from deia.fast_json import Json


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (ChunkerConfig(max_chars=1), r"at most 1 characters \(max_chars\)\. It is 40 to 100000"),
        (ChunkerConfig(max_chars=-1), "at most -1 characters"),
        (ChunkerConfig(max_chars=100, overlap_chars=100), r"repeats 100 characters \(overlap_chars\)\. It is 0 to 50"),
        (CodeChunkerConfig(max_chunk_size=100, overlap=5000), "repeats 5000 characters"),
        (ChunkerConfig(overlap_chars=-3), "It is 0 to 1000"),
        (CodeChunkerConfig(language="klingon"), r"no language 'klingon' is cut\. "),
        (CodeChunkerConfig(language="pyton"), r"Did you mean python\?"),
        (MarkdownChunkerConfig(min_heading_level=0), r"no headings of level 0\. Levels are 1 to 6"),
        (ChunkerConfig(strategy="by_headings"), "no chunking strategy 'by_headings'"),
    ],
)
def test_what_cannot_be_cut_is_refused(config: ChunkerConfig, problem: str) -> None:
    with pytest.raises(SourceError, match=problem):
        checked_config(config.values())


@pytest.mark.parametrize("field", [{"max_chars": "80"}, {"max_chars": True}, {"strategy": 3}, {"options": []}])
def test_a_value_of_another_type_is_refused(field: dict[str, Json]) -> None:
    with pytest.raises(SourceError, match=f"{next(iter(field))} = .* is no setting of a chunker. Write a value of"):
        checked_config(field)


@pytest.mark.parametrize(
    "config",
    [
        ChunkerConfig(),
        ChunkerConfig(strategy="by_sentence", max_chars=40, overlap_chars=20),
        CodeChunkerConfig(language="cpp", max_chunk_size=2000, overlap=200),
        MarkdownChunkerConfig(min_heading_level=2),
        ChunkerConfig(custom="pumps", options={"min_heading_level": "any"}),
    ],
)
def test_what_can_be_cut_is_accepted(config: ChunkerConfig) -> None:
    assert checked_config(config.values()) == config
