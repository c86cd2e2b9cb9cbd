"""A question to the librarian, and its answer with sources, as programs use them."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from deia.fast_json import Json
from deia.records import Record
from deia.search.given import given_number, given_text
from deia.search.rendering.columns import plain

NOT_SAID = "The documents do not say."


class LibrarianQuery:
    """A question about one collection of the library, or about everything if `collection` is empty."""

    __slots__ = ("collection", "include_sources", "max_chunks", "question")

    def __init__(
        self, collection: str = "", question: str = "", max_chunks: int = 10, *, include_sources: bool = True
    ) -> None:
        """Keep what is asked; the answer rests on at most `max_chunks` passages.

        Raises:
            QueryError: an argument is of another type.
        """
        self.collection, self.question = given_text(collection, "collection"), given_text(question)
        self.max_chunks = given_number(max_chunks, "max_chunks")
        self.include_sources = include_sources


class AnswerSource(Record):
    """Where a part of an answer stands: a document, the first and last line, and how much it adds to the answer."""

    path: str
    lines: tuple[int, int]
    relevance: float
    quote: str = ""
    says: str = ""  # the same in a model's words, if they add nothing to the quotation
    why: str = ""  # which link or name led there, if one did
    outdated: str = ""  # why its document no longer holds, if it does not


class LibrarianResponse(Record):
    """The librarian's answer; `sources` are in the order of the answer."""

    question: str
    answer: str
    sources: tuple[AnswerSource, ...]
    confidence: float  # the probability that this answers the question
    found: bool
    open: tuple[str, ...] = ()  # words of the question about which no source says anything
    sub_questions: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()  # what a model claimed and no source says
    by: str = "documents"  # or the model that chose and phrased
    token: str = ""  # with which an agent goes on with its notes
    audit: tuple[Mapping[str, object], ...] = ()  # what was done, step by step

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems of the state that the answer comes from."""
        lists = (step.get("issues") for step in self.audit if step.get("step") == "state")
        return tuple(str(issue) for issues in lists if isinstance(issues, list) for issue in issues)

    def in_state(self, state: Mapping[str, object]) -> LibrarianResponse:
        """Return the answer with the present state in its audit, instead of the one before."""
        steps = ({"step": "state", **state},) if state else ()
        return self.but(audit=(*steps, *(step for step in self.audit if step["step"] != "state")))

    def to_dict(self) -> dict[str, Json]:
        """Return the answer as plain values."""
        fields: dict[str, Json] = {
            **self.values(),
            "warnings": self.warnings,
            "sources": [_plain(source) for source in self.sources],
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    def __await__(self) -> Generator[None, None, LibrarianResponse]:
        """Return the answer at once, since it is complete."""
        yield from ()
        return self


def _plain(source: AnswerSource) -> dict[str, Json]:
    fields = {**source.values(), "lines": list(source.lines)}
    return {name: value for name, value in fields.items() if value != ""}


def written(sources: tuple[AnswerSource, ...]) -> str:
    """Return the text of an answer: the sentences of its sources in order, each with its place."""
    marks = [", ".join(filter(None, (place(source), plain(source.outdated)))) for source in sources]
    sentences = zip(sources, marks, strict=True)
    return "\n".join(f"{plain(source.says or source.quote)} [{mark}]" for source, mark in sentences) or NOT_SAID


def place(source: AnswerSource) -> str:
    """Return a source's path and lines as answers write them, such as bok/site.md:12-30."""
    first, last = source.lines
    return f"{plain(source.path)}:{first}" + (f"-{last}" if last > first else "")
