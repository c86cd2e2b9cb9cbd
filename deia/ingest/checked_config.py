"""Whether files can be cut as somebody asks: each setting of a chunker in its type and within its limits."""

from __future__ import annotations

from deia.ingest.detect import suffixes
from deia.ingest.reading import DATA_LIMIT, FEWEST_CHARS, MOST_CHARS, STRATEGIES, ChunkerConfig
from deia.ingest.source import SourceError
from deia.records import TYPE_CHECKING
from deia.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.fast_json import Json

MOST_LEVELS = 6  # of headings


def checked_config(chunker: Mapping[str, Json]) -> ChunkerConfig:
    """Return a chunker's settings as a ChunkerConfig; raise SourceError about the first one that makes no sense."""
    usual = ChunkerConfig().values()
    for name, value in chunker.items():
        if name not in usual:
            raise SourceError(f"chunkers have no setting {name!r}", fix=f"Known are: {', '.join(usual)}.")
        if type(value) is not type(usual[name]):
            fix = f"Write a value of the type {type(usual[name]).__name__}."
            raise SourceError(f"{name} = {value!r} is no setting of a chunker", fix=fix)
    config = ChunkerConfig(**chunker)  # type: ignore[arg-type]  # these are its fields, in their types
    if config.strategy not in ("", *STRATEGIES):
        fix = f"Known are: {', '.join(STRATEGIES)}."
        raise SourceError(f"there is no chunking strategy {config.strategy!r}", fix=fix)
    _refuse_sizes(config)
    known = {language for _, language in suffixes().values()} - {"-"}
    if config.language and config.language not in known:
        near = did_you_mean(config.language, filter(lambda name: len(name) > 3, known))  # else all are near to "go"
        fix = f"{near} Known are: {', '.join(sorted(known))}.".strip()
        raise SourceError(f"no language {config.language!r} is cut", fix=fix)
    level = config.options.get("min_heading_level", 1)
    if not (config.custom or (type(level) is int and 1 <= level <= MOST_LEVELS)):
        raise SourceError(f"there are no headings of level {level!r}", fix=f"Levels are 1 to {MOST_LEVELS}.")
    return config


def _refuse_sizes(config: ChunkerConfig) -> None:
    """Raise SourceError if chunks would be too small or too large, or repeat so much that they hardly go on."""
    if config.max_chars and not FEWEST_CHARS <= config.max_chars <= MOST_CHARS:
        fix = f"It is {FEWEST_CHARS} to {MOST_CHARS}, or 0 for what suits the type."
        raise SourceError(f"no chunk has at most {config.max_chars} characters (max_chars)", fix=fix)
    most = (config.max_chars or DATA_LIMIT) // 2
    if not 0 <= config.overlap_chars <= most:
        fix = f"It is 0 to {most}, half of max_chars."
        raise SourceError(f"no chunk repeats {config.overlap_chars} characters (overlap_chars)", fix=fix)
