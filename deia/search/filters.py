"""The keyword arguments of `Librarian.query`, for callers that pass them on; only type checkers use this."""

from __future__ import annotations

from typing import TypedDict

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Filters(TypedDict, total=False):
    """The keyword arguments of `query`."""

    platform: str | None
    audience: str | None
    urgency: str | None
    cluster: str | None
    tag: str | None
    layer: str | None
    keywords: Sequence[str] | None
    mode: str
    limit: int | None
    tier: str | None
    asset_type: str | None
    collection: str | None
    since: str | None
    until: str | None
    expand_context: str | None
    skip: Sequence[str]
