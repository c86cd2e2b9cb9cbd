"""How much a compile may encode, apart from the encoding itself: a compile of triggers alone needs no numpy."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256

from deia import files
from deia.folders import MODELS
from deia.match.tiers import digest_of, open_tier
from deia.records import Record
from deia.search.ranking.weights import CODE_MAP

TIER = "compact"
TIERS = ("static",)  # the default, because the sentence model takes a thousand times as long for a passage
CODE_WORDS = "code_words.bin"  # the vectors of words of code, which is encoded beside the default tier's word vectors
CODE_FILES = {TIERS[0]: CODE_WORDS, TIER: CODE_MAP}  # what makes vectors of code near to what people write about it
KEY_SIZE = 16  # bytes
BACKGROUND_LIMIT = 8  # texts that a compile encodes if somebody's work waits for it: in less than a second
ASIDE_LIMIT = 200  # in a process of its own, which other compiles wait for: eight seconds
DEFAULT_LIMIT = 3_000  # texts that a compile encodes unless the setting names the model: two minutes


class Effort(Record):
    """How much a compile may encode, and where the vectors are cached."""

    limit: int = sys.maxsize  # texts
    cache: str = ""  # a file; "" caches nothing
    plain: tuple[str, ...] | None = None  # collections of the library that keep to word vectors, if a tier was set
    exclusive: bool = False  # whether the cache serves this commons alone, so that unused vectors can be removed


UNLIMITED = Effort()


def cache_path(folder: str, *, tier: str = TIER) -> str:
    """Return the file of a model's cached vectors, which the model's digest names."""
    return f"{folder}/codes-{digest_of(tier)[: 2 * KEY_SIZE]}"


def models() -> list[str]:
    """Return the digests of the models that every catalog is made with."""
    return [open_tier(name).digest for name in TIERS]


@cache
def code_digest(tier: str) -> str:
    """Return the digest of the file with which a tier encodes code in the library; "" if it encodes code as text."""
    name = CODE_FILES.get(tier)
    return sha256(files.read(f"{MODELS}/{name}") or b"").hexdigest() if name else ""
