"""Methods of an open commons that take sources in and answer whole questions from them."""

from __future__ import annotations

import time

from deia import files
from deia.errors import QueryError
from deia.folders import GRAPH
from deia.knowledge import Query
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from deia.answers.answering import Ongoing
    from deia.answers.evidence import Asked, Passage
    from deia.answers.gathering import Limits
    from deia.answers.librarian_answer import LibrarianQuery, LibrarianResponse
    from deia.compile.compiled_files import CompiledFiles
    from deia.compile.pending import Pending
    from deia.compile.take_in import HowToTakeIn, TakenIn
    from deia.ingest.source import Sources
    from deia.search.catalog import Catalog
    from deia.settings import Settings

MOST_ONGOING = 64  # answers that an agent may go on with
MOST_CHUNKS = 100


class AnswersQuestions:
    """A mixin that answers questions with sentences of the documents, and of a language model if the person set one."""

    root: str
    collections: tuple[str, ...]
    settings: Settings
    _environ: Mapping[str, str]
    _compiled: CompiledFiles
    _lock: RLock

    def open_catalog(self) -> Catalog:
        """Return the compiled search catalog."""
        raise NotImplementedError

    @property
    def searched_layers(self) -> tuple[str, ...]:
        """The layers that a search finds unless it names one; () for all."""
        with_starter = self.settings.starter and self.settings.starter_documents
        return () if with_starter else ("own", "packs", "library")

    def ingest(self, source: Sources, **options: Unpack[HowToTakeIn]) -> TakenIn | Pending[TakenIn]:
        """Take a source into the library and compile what changed; inside an event loop, await the result.

        Raises:
            CommonsError: the person does not trust the commons.
            SourceError: the source makes no sense. If taking it in fails, the result's `errors` say why.
        """
        from deia.compile.pending import awaitable  # noqa: PLC0415 - most programs only ask
        from deia.compile.take_in import take_in_described  # noqa: PLC0415 - likewise

        return awaitable(lambda: take_in_described(self.root, source, self._environ, **options))

    def checked_state(self) -> Mapping[str, object]:
        """Return the state of the documents, which an answer begins with."""
        raise NotImplementedError

    def answer(self, query: LibrarianQuery | str) -> LibrarianResponse | Pending[LibrarianResponse]:
        """Return what the documents say to a question, with its places; inside an event loop, await it.

        Raises:
            QueryError: there is no question, or no such collection.
            ModelError: the variables for the language model make no sense.
        """
        from deia.answers.librarian_answer import LibrarianQuery  # noqa: PLC0415 - most programs only search
        from deia.compile.pending import awaitable  # noqa: PLC0415 - likewise

        asked = query if isinstance(query, LibrarianQuery) else LibrarianQuery(question=query)
        return awaitable(lambda: self.answer_now(asked))

    def answer_now(self, query: LibrarianQuery, *, keeps: bool = False) -> LibrarianResponse:
        """Return the answer; with `keeps` it has a token, with which `continue_answer` goes on.

        An earlier answer is returned again while nothing that it depends on has changed, except that its state is
        checked each time.
        """
        from deia.answers.answering import response  # noqa: PLC0415 - likewise
        from deia.answers.kept_answers import keep_answer, kept_answer  # noqa: PLC0415 - likewise

        key, began = self._key_of(query), time.monotonic()
        ongoing, answer = None, kept_answer(key)
        if answer is not None:
            answer = answer.in_state(self.checked_state())
        else:
            ongoing = self._begun(query)
            answer = response(ongoing, include_sources=query.include_sources)
            if time.monotonic() - began < self.settings.answer_seconds and not ongoing.has_problem:
                keep_answer(key, answer)
        return answer.but(token=self._keep(ongoing, query)) if keeps else answer

    def _key_of(self, query: LibrarianQuery) -> str:
        """Return the key of all that an answer depends on."""
        from deia.answers.kept_answers import key_of  # noqa: PLC0415 - most programs only search
        from deia.language_model import endpoint_of  # noqa: PLC0415 - likewise
        from deia.search.ranking.links import DATABASE  # noqa: PLC0415 - likewise

        with self._lock:
            catalogs = [self.open_catalog().folder]
            library = self._compiled.open_library()
        catalogs += [library.folder] if library else []
        links = [files.stamp(f"{self._compiled.folder}/{GRAPH}/{DATABASE}{end}") for end in ("", "-wal")]
        asked = query.question, query.collection, query.max_chunks, query.include_sources, _today()
        return key_of(asked, catalogs, links, self.collections, self.settings, endpoint_of(self._environ))

    def _begun(self, query: LibrarianQuery) -> Ongoing:
        """Return a new answer with what the documents say, and the language model if the person has set one."""
        from deia.answers.answering import begin, with_model  # noqa: PLC0415 - most programs only search
        from deia.language_model import endpoint_of  # noqa: PLC0415 - likewise

        limits, endpoint = self._limits(query.max_chunks), endpoint_of(self._environ)
        began = time.monotonic()
        asked = self._understood(query.question, query.collection)
        ongoing = begin(query.question, asked, limits, state=self.checked_state(), clock=time.monotonic)
        if endpoint is None or not ongoing.evidence.passages:
            return ongoing
        left = limits.but(seconds=max(0.1, limits.seconds - (time.monotonic() - began)))
        return with_model(
            ongoing, endpoint, lambda text: self._understood(text, query.collection), left, clock=time.monotonic
        )

    def continue_answer(
        self, token: str, notes: Sequence[object], further: Sequence[str] = ()
    ) -> tuple[LibrarianResponse, Sequence[Passage]]:
        """Return the answer after an agent's notes, each with a `quote`, and the evidence for its further questions.

        Raises:
            QueryError: the token is unknown.
        """
        from deia.answers.answering import response, with_claims, with_more  # noqa: PLC0415 - few agents go on
        from deia.answers.model_claims import checked  # noqa: PLC0415 - likewise

        ongoing, query = self._kept(token)
        claims = checked(list(notes), list(further), ongoing.evidence.passages)
        ongoing = with_claims(ongoing, claims, "agent")
        asked = [question for text in claims.asks for question in self._understood(text, query.collection)]
        ongoing, new = with_more(ongoing, asked, query.max_chunks) if asked else (ongoing, [])
        self._ongoing[token] = ongoing, query
        return response(ongoing, include_sources=query.include_sources, token=token), new

    def evidence_of(self, token: str) -> Sequence[Passage]:
        """Return the passages on which an answer rests."""
        return self._kept(token)[0].evidence.passages

    def prompt_for(self, token: str) -> tuple[str, str]:
        """Return what to ask a model about an answer: the instructions, and the question with its sources."""
        from deia.answers.model_claims import batches, messages  # noqa: PLC0415 - few clients offer their model

        ongoing, _ = self._kept(token)
        shown = batches(ongoing.evidence.passages, self.settings.answer_tokens, 1)
        system, asked = messages(ongoing.question, shown[0] if shown else ())
        return system["content"], asked["content"]

    @property
    def _ongoing(self) -> dict[str, tuple[Ongoing | None, LibrarianQuery]]:
        kept: dict[str, tuple[Ongoing | None, LibrarianQuery]] = self.__dict__.setdefault("_answers", {})
        return kept

    def _keep(self, ongoing: Ongoing | None, query: LibrarianQuery) -> str:
        from secrets import token_hex  # noqa: PLC0415 - few agents go on

        while len(self._ongoing) >= MOST_ONGOING:
            self._ongoing.pop(next(iter(self._ongoing)))
        token = token_hex(4)
        self._ongoing[token] = ongoing, query
        return token

    def _kept(self, token: str) -> tuple[Ongoing, LibrarianQuery]:
        if token not in self._ongoing:
            raise QueryError(f"there is no answer {token[:40]!r} to go on with", fix="Ask the question again.")
        ongoing, query = self._ongoing[token]
        ongoing = ongoing or self._begun(query)  # an answer that was given again has no evidence yet
        self._ongoing[token] = ongoing, query
        return ongoing, query

    def _limits(self, chunks: int) -> Limits:
        from deia.answers.gathering import Limits  # noqa: PLC0415 - most programs only search

        if not 0 < chunks <= MOST_CHUNKS:
            raise QueryError(f"max_chunks {chunks} is not valid", fix=f"Ask for 1 to {MOST_CHUNKS} passages.")
        settings = self.settings
        return Limits(
            chunks=chunks, depth=settings.answer_depth, sub_questions=settings.answer_sub_questions,
            passages=settings.answer_passages, seconds=float(settings.answer_seconds), tokens=settings.answer_tokens,
        )  # fmt: skip

    def _understood(self, text: str, collection: str) -> list[Asked]:
        """Return a question to each catalog that it is asked of; raise QueryError if none has such a collection."""
        from deia.answers.evidence import understood  # noqa: PLC0415 - most programs only search
        from deia.match.tiers import tiers_of  # noqa: PLC0415 - likewise
        from deia.search.library_answers import parts  # noqa: PLC0415 - likewise
        from deia.search.ranking.retrieve import usual_tier  # noqa: PLC0415 - likewise

        if not text.strip():
            raise QueryError("there is no question", fix='Type: deia ask "what if the queue stops?"')
        asking = text.encode("utf-8", "replace").decode()
        query = Query(text=asking, collection=collection, layers=self.searched_layers)
        with self._lock:
            commons, library = self.open_catalog(), self._compiled.open_library()
        searched = parts(commons, library, query) if library else [(commons, query)]
        tier = usual_tier(library or commons, collection, self.settings.tier)
        tiers = tiers_of(tier, model=self.settings.model)
        asked: list[Asked] = []
        problem: QueryError | None = None
        for catalog, part in searched:
            try:
                asked.append(understood(catalog, part, tiers, _today()))
            except QueryError as error:
                problem = error
        if problem and not asked:
            raise problem
        return asked


def _today() -> str:
    """Return today's date in UTC, as 2026-01-31."""
    return time.strftime("%Y-%m-%d", time.gmtime())
