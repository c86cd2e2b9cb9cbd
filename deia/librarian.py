"""The librarian for Python programs: query the commons, check a conversation, and get the text to show to the model.

    librarian = Librarian()
    context = librarian.get_context(librarian.check_triggers(conversation))

The commons is found as on the command line. Compiled files are brought up to date if their sources changed.
"""

from __future__ import annotations

import os
import time
from _thread import RLock  # the same as in `threading`, whose import is slow

from deia import files, spool
from deia.audit.steps import FollowsProtocol, how_to_rank
from deia.compile.answer_questions import AnswersQuestions
from deia.compile.ask_graph import AsksGraph
from deia.compile.compiled_files import CompiledFiles
from deia.compile.indexing import changes_since_indexing
from deia.errors import QueryError
from deia.firing import Firing, Injection
from deia.folders import LIBRARY_PREFIX, STARTER_PREFIX, events_folder, find_commons, state_folder
from deia.knowledge import Query
from deia.records import ROLES, TYPE_CHECKING, URGENCIES, Turn
from deia.search.given import given_conversation, given_filters, given_firings, given_folder, given_text
from deia.settings import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar, Unpack

    from deia.records import Role
    from deia.search.answer import Answer
    from deia.search.catalog import Catalog
    from deia.search.filters import Filters
    from deia.search.rendering.render import RenderableAnswer
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.recall import InMemoryLog
    from deia.watch.streaming import Watcher
    from deia.watch.turn.conversation import Conversations, Judged
    from deia.watch.watcher import Surroundings, Watched

    T = TypeVar("T")

__all__ = ["Librarian", "check_triggers", "get_context", "query", "query_commons"]

NAMED = ("DEIA_COMMONS", "DEIA_DOCS")  # variables that name the commons
UNTRUSTED_RESULTS = (
    f"documents whose path does not begin with {STARTER_PREFIX} are files of a repository that the person has not"
    " trusted"
)


class Librarian(AsksGraph, AnswersQuestions, FollowsProtocol):
    """An open commons. It may be kept for the life of a process and shared between threads, which wait for each other.

    Args:
        root: the commons' folder; by default it is found from the working folder upwards, or else the starter commons.
        agent: who asks, for the ledger.
        ledger: whether queries and injections are logged.
        keep_fresh: whether to compile when a source changed; False if the caller compiles.
        collections: the clusters and folders (`bok/hosting/`) to use; by default all.

    Raises:
        CommonsError: `root` (or DEIA_COMMONS) is not a commons.
        SettingsError: a setting is malformed.
        QueryError: `root` is no text and no path.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        agent: str = "python",
        ledger: bool = True,
        keep_fresh: bool = True,
        collections: Sequence[str] = (),
    ) -> None:
        self._environ = dict(os.environ)
        explicit = os.path.abspath(given_folder(root)) if root is not None else ""
        here = files.forward(os.getcwd())
        self._here = "" if explicit or any(map(self._environ.get, NAMED)) else here
        self.root = find_commons(here, environ=self._environ, explicit=files.forward(explicit))
        self.settings = resolve(self.root, environ=self._environ)
        self.collections = tuple(sorted(set(collections)))
        self._compiled = CompiledFiles(
            self.root, environ=self._environ, collections=self.collections, keep_fresh=keep_fresh,
            starter=self.settings.starter,
        )  # fmt: skip
        self.derived = self._compiled.folder
        self._agent = agent
        self._ledger = ledger and self.settings.telemetry != "off"
        self._lock = RLock()  # one call at a time: memory and compiled files are shared
        self._conversations: Conversations[tuple[Judged, InMemoryLog]] | None = None

    def query(  # noqa: PLR0913 - every filter has a name of its own
        self,
        text: str = "",
        *,
        platform: str | None = None,
        audience: str | None = None,
        urgency: str | None = None,
        cluster: str | None = None,
        tag: str | None = None,
        layer: str | None = None,
        keywords: Sequence[str] | None = None,
        mode: str = "natural",
        limit: int | None = None,
        tier: str | None = None,
        asset_type: str | None = None,
        collection: str | None = None,
        since: str | None = None,
        until: str | None = None,
        expand_context: str | None = None,
        skip: Sequence[str] = (),
    ) -> RenderableAnswer:
        """Search the commons; an answer may say that nothing fits.

        `layer` leaves only documents of the project's `own`, of `packs`, the `starter` or the `library`. `asset_type`
        (text, code, pdf, image, multimodal) and `collection` choose among what was taken in; `since` and `until` are
        days (2026-01-31, a month, a year, 7d, today, this-week). `expand_context` also shows `neighbours` or the
        `parent` of a passage. `mode` is natural or hybrid (words and meaning), keyword (words), semantic (meaning) or
        keywords (each word for itself); of the graph, local counts what is around names in the question, global what
        the best passages lead to, naive nothing. `tier` is as in the setting; `skip` names steps of the protocol.

        Raises:
            QueryError: `text` is no text, a filter is not in the commons, or another argument is invalid.
            ArtefactError: the commons cannot be compiled.
        """
        from deia.search.rendering.render import RenderableAnswer  # noqa: PLC0415 - watching needs no search

        filters = given_filters(
            self.settings.limit if limit is None else limit, keywords, platform=platform, audience=audience,
            urgency=urgency, cluster=cluster, tag=tag, asset_type=asset_type, collection=collection,
            expand_context=expand_context, since=since, until=until,
        )  # fmt: skip
        if mode == "keywords" and not filters["keywords"]:
            filters["keywords"] = tuple(given_text(text).split())
        layers = (layer,) if layer else self.searched_layers
        query = Query(text=given_text(text), layers=layers, **filters, **how_to_rank(mode, self.settings))
        if since or until:
            from deia.search.question.asset_filters import in_days  # noqa: PLC0415 - few questions have a time frame

            query = in_days(query, time.time())
        return RenderableAnswer(**self._answer(query, mode if mode == "keyword" else tier, skip).values())

    def _answer(self, query: Query, tier: str | None, skip: Sequence[str]) -> Answer:
        """Return and log the answer of the commons and the library; raise QueryError if the tier is unknown."""
        from deia.search.library_answers import search_both  # noqa: I001, PLC0415 - first: the rest comes in its group
        from deia.match.tiers import CHOICES, TIERS, tiers_of  # noqa: PLC0415 - watching needs no search
        from deia.search.ranking.retrieve import usual_tier  # noqa: PLC0415 - likewise

        if query.limit < 1:
            raise QueryError(f"limit {query.limit} is too small", fix="Ask for 1 document or more.")
        if tier and tier not in CHOICES:
            raise QueryError(f"tier {tier!r} is unknown", fix=f"Known are: {', '.join(CHOICES)}.")
        with self._lock:
            catalog = self.open_catalog()  # this may compile, which is no part of the answer's time
            library = self._compiled.open_library()
            began = time.perf_counter()
            tier = tier or usual_tier(library or catalog, query.collection, self.settings.tier)
            tiers, checked_at = tiers_of(tier, model=self.settings.model), spool.timestamp(time.time())
            answer = search_both(catalog, library, query, checked_at=checked_at, tiers=tiers)
        answer = answer.but(dependents=self.said_to_depend(query.text))
        warnings = [*answer.audit.warnings, *(self._compiled.not_encoded(answer) if TIERS[0] in tiers else ())]
        warnings += changes_since_indexing(self.root, self._environ, self.settings)
        if not self.settings.trusted and any(not result.path.startswith(STARTER_PREFIX) for result in answer.documents):
            warnings.append(UNTRUSTED_RESULTS)
        with self._lock:
            answer = self.audited(answer.but(audit=answer.audit.but(warnings=tuple(warnings))), skip)
        self._log_query(query, answer, (time.perf_counter() - began) * 1000)
        return answer

    def checked_state(self) -> Mapping[str, object]:
        """Return the state of the documents, which an answer tells first."""
        return {} if self.collections else self.audit().short()

    def _log_query(self, query: Query, answer: Answer, elapsed_ms: float) -> None:
        shown = [result.id for result in (*answer.primary, *answer.secondary)]
        fields = {
            "query": query.text or " ".join(query.keywords), "query_type": answer.query_type, "matched": answer.matched,
            "confidence": answer.confidence, "cluster": answer.primary_cluster, "docs": shown,
            "response_time_ms": round(elapsed_ms, 2), "tier": answer.audit.tier,
        }  # fmt: skip
        self.log("query", fields)

    # --- watching ---

    def check_triggers(
        self, conversation: Iterable[object] | str, *, conversation_id: str | None = None, folder: str | None = None
    ) -> list[Firing]:
        """Judge the turns of a conversation that were not judged yet, and return what fired, the most urgent first.

        `conversation` is a list of strings (`"User: …"`) or of message dictionaries: the conversation so far, its end,
        or a single turn; QueryError is raised about a number and the like. `folder` is where the work happens, for the
        signs of platforms there; by default it is the commons' own folder.
        """
        firings = [
            firing
            for watched in self.watch(conversation, conversation_id=conversation_id, folder=folder)
            for firing in watched.firings
        ]
        return sorted(firings, key=lambda firing: URGENCIES.index(firing.urgency))

    def watch(
        self, conversation: Iterable[object] | str, *, conversation_id: str | None = None, folder: str | None = None
    ) -> list[Watched]:
        """Judge the new turns of a conversation and return the outcome of each, including the verdicts."""
        from deia.watch.turn.conversation import turns_of  # noqa: PLC0415 - a search needs no watching
        from deia.watch.turn.scripts import from_disk  # noqa: PLC0415 - likewise
        from deia.watch.watcher import watch  # noqa: PLC0415 - likewise

        given_conversation(conversation)
        turns, here = turns_of(conversation), folder or self.root
        with self._lock:
            judged, log = self._conversation(conversation_id or "")
            artefact = self.open_artefact()

            def watch_turn(turn: Turn) -> Watched:
                return watch(artefact, from_disk(turn, here), log, lambda: self._look_around(turn, here))

            return [watch_turn(turn) for turn in judged.take_new(turns)]

    def stream(
        self, *, role: Role = "assistant", conversation_id: str | None = None, folder: str | None = None, tool: str = ""
    ) -> Watcher:
        """Return the watcher of a turn that is being said: `.feed(text)` returns new firings, `.close()` the last ones.

        Together they return what `check_triggers` would return for the whole turn, which then counts as judged.

        Raises:
            QueryError: the role is unknown.
            ArtefactError: the triggers cannot be compiled.
        """
        from deia.watch.streaming import Watcher  # noqa: PLC0415 - most turns are not streamed

        if role not in ROLES:
            raise QueryError(f"role {role!r} is unknown", fix=f"Known are: {', '.join(ROLES)}.")
        turn = Turn(role=role, text="", tool=tool)
        with self._lock:
            judged, log = self._conversation(conversation_id or "")
            artefact, here = self.open_artefact(), folder or self.root
            return Watcher(
                artefact, log, lambda part: self._look_around(part, here), judged.take_new, turn=turn, lock=self._lock
            )

    def _look_around(self, turn: Turn, folder: str) -> Surroundings:
        from deia.watch.surroundings import look_around  # noqa: PLC0415 - a search needs no watching

        state, exceptions = state_folder(self._environ), self.settings.exceptions
        return look_around(
            turn, folder=folder, root=self.root, state=state, derived=self.derived, exceptions=exceptions
        )

    def _conversation(self, identity: str) -> tuple[Judged, InMemoryLog]:
        """Return which turns of a conversation were judged, and its log."""
        if self._conversations is None:
            from deia.watch.memory.recall import InMemoryLog  # noqa: PLC0415 - a search needs no watching
            from deia.watch.turn.conversation import Conversations, Judged  # noqa: PLC0415 - likewise

            self._conversations = Conversations(lambda: (Judged(), InMemoryLog()))
        return self._conversations.get(identity)

    def get_context(self, firings: Sequence[Firing], *, conversation_id: str | None = None) -> Injection:
        """Return what to show to the model about some firings: `.text`, and `.parts` in the shape of FORMATS §3.

        Raise QueryError if they are no firings.
        """
        from deia.watch.injection import compose  # noqa: PLC0415 - a search needs no watching

        firings = given_firings(firings)
        with self._lock:
            fetch = self.open_artefact().document_of
            injection = compose(firings, fetch, budget=self.settings.injection_chars)
        for firing in firings:
            fields = {
                "conversation": conversation_id, "trigger": firing.trigger, "because": firing.because,
                "docs": [reference.id for reference in firing.documents], "chars": len(injection.text),
                "action": firing.action,
                "outcome": "over_budget" if firing.trigger in injection.left_out else "shown",
            }  # fmt: skip
            self.log("injection", fields)
        return injection

    # --- awaitable versions, in a thread: a turn may take long, and the first one compiles ---

    async def acheck_triggers(
        self, conversation: Iterable[object] | str, *, conversation_id: str | None = None, folder: str | None = None
    ) -> list[Firing]:
        """Await `check_triggers`."""
        return await _in_thread(
            lambda: self.check_triggers(conversation, conversation_id=conversation_id, folder=folder)
        )

    async def aget_context(self, firings: Sequence[Firing], *, conversation_id: str | None = None) -> Injection:
        """Await `get_context`."""
        return await _in_thread(lambda: self.get_context(firings, conversation_id=conversation_id))

    async def aquery(self, text: str = "", **filters: Unpack[Filters]) -> RenderableAnswer:
        """Await `query`."""
        return await _in_thread(lambda: self.query(text, **filters))

    # --- compiled files ---

    def open_artefact(self) -> Artefact:
        """Return the compiled triggers, brought up to date.

        Raises:
            ArtefactError: they cannot be compiled.
        """
        with self._lock:
            return self._compiled.open_artefact()

    def open_catalog(self) -> Catalog:
        """Return the compiled search catalog, brought up to date.

        Raises:
            ArtefactError: it cannot be compiled.
        """
        with self._lock:
            return self._compiled.open_catalog()

    def open_catalog_of(self, name: str) -> Catalog:
        """Return the catalog in which a document is, by its id or path: the library's, or else that of the commons."""
        with self._lock:
            library = self._compiled.open_library() if name.startswith(LIBRARY_PREFIX) else None
            return library or self._compiled.open_catalog()

    def compile(self, *, force: bool = False) -> None:
        """Bring the compiled files up to date with their sources."""
        self._compiled.compile(force=force)

    # --- the ledger ---

    def log(self, event: str, fields: Mapping[str, object]) -> str:
        """Write an event to the ledger and return its id, or "" if this Librarian does not log."""
        if not self._ledger:
            return ""
        folder = events_folder(self.root, self._environ)
        return spool.append(folder, event, {"agent": self._agent, **fields}, telemetry=self.settings.telemetry)


async def _in_thread(call: Callable[[], T]) -> T:
    """Run a call in a thread of the event loop's pool."""
    import asyncio  # noqa: PLC0415 - a heavy import that awaiting callers have made already

    return await asyncio.to_thread(call)


_librarians: dict[str, Librarian] = {}


def _default() -> Librarian:
    """Return this process's Librarian for its working folder."""
    here = "\0".join((os.getcwd(), *(os.environ.get(name, "") for name in NAMED)))
    return _librarians.get(here) or _librarians.setdefault(here, Librarian())  # another thread may have added one


def query(text: str = "", **filters: Unpack[Filters]) -> RenderableAnswer:
    """Search the commons of the working folder, as `Librarian.query` does."""
    return _default().query(text, **filters)


def query_commons(
    query: str = "", *, topic: str | None = None, return_format: str | None = None, **filters: Unpack[Filters]
) -> Any:
    """Search the commons of the working folder; return an `Answer`, or its rendering in the format `return_format`.

    `topic` is searched for beside `query`, or alone. `filters` are those of `Librarian.query`.

    Raises:
        QueryError: a filter or format is unknown.
    """
    text = f"{given_text(query)} {given_text(topic or '', 'topic')}".strip()
    answer = _default().query(text, **filters)
    if return_format is None:
        return answer
    from deia.search.rendering.render import render  # noqa: PLC0415 - most callers want the Answer

    return render(answer, return_format)


def check_triggers(conversation: Iterable[object] | str, *, conversation_id: str | None = None) -> list[Firing]:
    """Judge the new turns of a conversation against the commons of the working folder, and return what fired."""
    return _default().check_triggers(conversation, conversation_id=conversation_id)


def get_context(firings: Sequence[Firing]) -> Injection:
    """Return what to show to the model about some firings."""
    return _default().get_context(firings)
