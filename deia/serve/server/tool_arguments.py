"""The arguments of each tool, as they are after validation; a record's type determines what the server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from deia.fast_json import Json
from deia.records import Record


class QueryArguments(Record):
    """A question and its filters."""

    query: str
    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    asset_type: str = ""
    collection: str = ""
    mode: str = "natural"
    limit: int | None = None
    detail: str = "summary"


class ReadArguments(Record):
    """A document, and the lines of it to read, such as 12-30."""

    document: str
    lines: str = ""


class CheckArguments(Record):
    """A conversation to check: strings or messages."""

    conversation: tuple[str | Mapping[str, Json], ...]
    conversation_id: str = ""


class ListArguments(Record):
    """The filters and the page of a list of documents."""

    platform: str = ""
    audience: str = ""
    urgency: str = ""
    cluster: str = ""
    tag: str = ""
    below: str = ""  # what the paths begin with
    limit: int = 50
    offset: int = 0

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set."""
        named = {
            "platform": self.platform, "audience": self.audience, "urgency": self.urgency, "cluster": self.cluster,
            "tag": self.tag,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value}


class SaveArguments(Record):
    """A lesson to save; `update` is the id of the document that it replaces."""

    text: str
    title: str = ""
    summary: str = ""
    platform: str = ""
    urgency: str = ""
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str = "patterns"
    trigger: bool = False
    update: str = ""


class SuggestArguments(Record):
    """The text of a lesson for which a place is wanted."""

    text: str


class RemoveArguments(Record):
    """A document to move to the trash, or with `undo` to restore."""

    id: str
    undo: bool = False


class FeedbackArguments(Record):
    """A verdict on a document, a trigger or an event."""

    id: str
    verdict: str
    note: str = ""


class SourceArguments(Record):
    """A source to take into the library: a folder, an address, or the name of a file whose content is handed over."""

    source: str
    collection: str = ""
    branch: str = ""
    filter: str = ""
    content: str = ""
    encoding: str = ""  # of the content: base64, or "" for text


class SourcesArguments(Record):
    """Nothing: all sources are listed."""


class FolderArguments(Record):
    """A folder whose documents are to be added to the index."""

    path: str


Arguments: TypeAlias = (
    QueryArguments
    | ReadArguments
    | CheckArguments
    | ListArguments
    | SaveArguments
    | SuggestArguments
    | RemoveArguments
    | FeedbackArguments
    | SourceArguments
    | SourcesArguments
    | FolderArguments
)
