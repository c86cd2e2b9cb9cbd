"""The librarian as Python sees it: ask the commons, check a conversation, get what to put in front of the model.

    librarian = Librarian()
    context = librarian.get_context(librarian.check_triggers(conversation))

The commons is found as the command line finds it. Compiled files are brought up to date when their sources changed.
"""

from __future__ import annotations

import os
import time
from _thread import RLock  # what `threading` gives, without its import

from deia import files, freshness, spool
from deia.errors import ArtefactError, QueryError
from deia.folders import derived_folder, events_folder, find_commons, part_folder, state_folder
from deia.knowledge import Query
from deia.records import ROLES, TYPE_CHECKING, Firing, Injection, Turn
from deia.settings import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypedDict, TypeVar, Unpack

    from deia.records import Role
    from deia.search.answer import Answer
    from deia.search.catalog import Catalog
    from deia.search.rendering.render import RenderableAnswer
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import InMemoryLog
    from deia.watch.streaming import Watcher
    from deia.watch.turn.conversation import Judged
    from deia.watch.watcher import Surroundings, Watched

    T = TypeVar("T")

    class Filters(TypedDict, total=False):
        """What `query` takes besides the text."""

        platform: str | None
        audience: str | None
        urgency: str | None
        cluster: str | None
        tag: str | None
        keywords: Sequence[str] | None
        mode: str
        limit: int | None
        tier: str | None


__all__ = ["Librarian", "check_triggers", "get_context", "query_commons"]

MODES = ("natural", "keywords")
RECHECK = 1.0  # seconds for which compiled files are trusted without looking at their sources again
MOST_CONVERSATIONS = 1000  # kept in one process; the one unused longest is forgotten


class Librarian:
    """A commons, open. Safe to keep for the life of a process and to share between threads, which wait for each other.

    Args:
        root: the commons' folder; by default it is found from the working folder upwards, else the starter commons.
        agent: who asks, for the ledger.
        ledger: whether questions and injections are logged.
        keep_fresh: whether to compile when a source changed; who compiles by himself, beside this, does not want that.
        collections: the clusters and folders (`bok/hosting/`) that count, nothing of the rest; by default all do.

    Raises:
        CommonsError: `root` (or DEIA_COMMONS) names no commons.
        SettingsError: a setting is malformed.
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
        explicit = os.path.abspath(os.fspath(root)) if root is not None else ""
        here = os.getcwd().replace("\\", "/")
        self.root = find_commons(here, environ=self._environ, explicit=explicit.replace("\\", "/"))
        self.settings = resolve(self.root, environ=self._environ)
        self.collections = tuple(sorted(set(collections)))
        self.derived = part_folder(derived_folder(self.root, self._environ), self.collections)
        self._agent = agent
        self._ledger = ledger and self.settings.telemetry != "off"
        self._lock = RLock()  # one call at a time: memory and compiled files are shared
        self._checked = -RECHECK if keep_fresh else float("inf")
        self._catalog: tuple[str, Catalog] | None = None
        self._artefact: tuple[tuple[int, int] | None, Artefact] | None = None
        self._conversations: dict[str, tuple[Judged, InMemoryLog]] = {}

    def query(  # noqa: PLR0913 - every filter has a name of its own
        self,
        text: str = "",
        *,
        platform: str | None = None,
        audience: str | None = None,
        urgency: str | None = None,
        cluster: str | None = None,
        tag: str | None = None,
        keywords: Sequence[str] | None = None,
        mode: str = "natural",
        limit: int | None = None,
        tier: str | None = None,
    ) -> RenderableAnswer:
        """Ask the commons; an answer may well be that nothing here fits.

        `tier` is what the search may go by besides words, as the setting of that name; the answer names what it was.

        Raises:
            QueryError: a filter names something the commons does not have, or `mode`, `limit` or `tier` is none.
            ArtefactError: the commons could not be compiled.
        """
        from deia.match.tiers import CHOICES, TIERS, tiers_of  # noqa: PLC0415 - likewise
        from deia.search.pipeline import search  # noqa: PLC0415 - a conversation that is only watched needs no search
        from deia.search.rendering.render import RenderableAnswer  # noqa: PLC0415 - likewise

        chosen = tier or self.settings.tier
        if chosen not in CHOICES:
            raise QueryError(f"tier {chosen!r} is unknown", fix=f"Known are: {', '.join(CHOICES)}.")
        if mode not in MODES:
            raise QueryError(f"mode {mode!r} is unknown", fix=f"Known are: {', '.join(MODES)}.")
        most = self.settings.limit if limit is None else limit
        if most < 1:
            raise QueryError(f"limit {most} is too small", fix="Ask for 1 document or more.")
        words = tuple(keywords or (text.split() if mode == "keywords" else ()))
        query = Query(
            text=text, platform=platform or "", audience=audience or "", urgency=urgency or "", cluster=cluster or "",
            tag=tag or "", keywords=words, limit=most,
        )  # fmt: skip
        began = time.perf_counter()
        with self._lock:
            tiers = tiers_of(chosen, model=self.settings.model)
            answer = search(self.open_catalog(), query, checked_at=spool.timestamp(time.time()), tiers=tiers)
        if chosen == TIERS[0] and answer.audit.tier == TIERS[1]:
            lacking = f"searched with {TIERS[1]} meaning, since not all passages are encoded; run `deia compile`"
            answer = answer.but(audit=answer.audit.but(warnings=(*answer.audit.warnings, lacking)))
        self._log_query(query, answer, (time.perf_counter() - began) * 1000)
        return RenderableAnswer(**answer.values())

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
        self,
        conversation: Iterable[Any] | str,
        *,
        conversation_id: str | None = None,
        folder: str | None = None,
    ) -> list[Firing]:
        """Judge every turn that was not judged yet in this conversation; give what fired, the most urgent first.

        `conversation` is a list of strings (`"User: …"`) or of message dictionaries, growing, sliding or one turn at a
        time. `folder` is where the work happens, for the signs of platforms there; by default the commons' own.
        """
        firings = [
            firing
            for watched in self.watch(conversation, conversation_id=conversation_id, folder=folder)
            for firing in watched.firings
        ]
        return sorted(firings, key=lambda firing: ("critical", "high", "medium", "low").index(firing.urgency))

    def watch(
        self, conversation: Iterable[Any] | str, *, conversation_id: str | None = None, folder: str | None = None
    ) -> list[Watched]:
        """Judge the new turns of a conversation and give everything that came of each, verdicts included."""
        from deia.watch.turn.conversation import turns_of  # noqa: PLC0415 - a search needs no watching
        from deia.watch.watcher import watch  # noqa: PLC0415 - a search needs no watching

        turns, place = turns_of(conversation), folder or self.root
        with self._lock:
            judged, log = self._conversation(conversation_id or "")
            artefact = self.open_artefact()
            new = judged.take_new(turns)
            return [watch(artefact, turn, log, self._looking_around(turn, place)) for turn in new]

    def stream(
        self,
        *,
        role: Role = "assistant",
        conversation_id: str | None = None,
        folder: str | None = None,
        tool: str = "",
    ) -> Watcher:
        """Give the watcher of a turn that is being said: `.feed(text)` gives what fires so far, `.close()` ends it.

        Together they give what `check_triggers` would give for the whole turn, which counts as judged from then on.

        Raises:
            QueryError: there is no such role.
            ArtefactError: the triggers could not be compiled.
        """
        from deia.watch.streaming import Watcher  # noqa: PLC0415 - most turns come whole

        if role not in ROLES:
            raise QueryError(f"role {role!r} is unknown", fix=f"Known are: {', '.join(ROLES)}.")
        turn = Turn(role=role, text="", tool=tool)
        with self._lock:
            judged, log = self._conversation(conversation_id or "")
            here, take = folder or self.root, judged.take_new
            artefact = self.open_artefact()
            return Watcher(artefact, log, lambda one: self._look_around(one, here), take, turn=turn, lock=self._lock)

    def _looking_around(self, turn: Turn, folder: str) -> Callable[[], Surroundings]:
        return lambda: self._look_around(turn, folder)

    def _look_around(self, turn: Turn, folder: str) -> Surroundings:
        from deia.watch.clauses.folder_signs import files_around, signs_around  # noqa: PLC0415 - a search needs no watching
        from deia.watch.silence.exceptions import Touched, excepted  # noqa: PLC0415 - a search needs no watching
        from deia.watch.silence.mutes import muted_triggers  # noqa: PLC0415 - a search needs no watching
        from deia.watch.watcher import Surroundings  # noqa: PLC0415 - a search needs no watching

        now = time.time()
        touched = Touched(turn, folder)
        muted = muted_triggers(state_folder(self._environ), folder=folder, now=now, touched=touched)
        muted |= excepted(self.settings.exceptions, touched, root=self.root)
        return Surroundings(now=now, folder=signs_around(folder), exists=files_around(folder), muted=muted)

    def _conversation(self, identity: str) -> tuple[Judged, InMemoryLog]:
        from deia.watch.memory.log import InMemoryLog  # noqa: PLC0415 - a search needs no watching
        from deia.watch.turn.conversation import Judged  # noqa: PLC0415 - a search needs no watching

        known = self._conversations.pop(identity, None) or (Judged(), InMemoryLog())
        self._conversations[identity] = known  # the last used stands last
        while len(self._conversations) > MOST_CONVERSATIONS:
            self._conversations.pop(next(iter(self._conversations)))
        return known

    def get_context(self, firings: Sequence[Firing], *, conversation_id: str | None = None) -> Injection:
        """Give what to put in front of the model for some firings: `.text`, and `.parts` in the shape of FORMATS §3."""
        from deia.watch.injection import compose  # noqa: PLC0415 - a search needs no watching

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

    # --- the same, awaited: in a thread, since a turn may take long and the first compiles ---

    async def acheck_triggers(
        self, conversation: Iterable[Any] | str, *, conversation_id: str | None = None, folder: str | None = None
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
        """Give the compiled triggers, brought up to date.

        Raises:
            ArtefactError: they could not be made.
        """
        from deia.watch.gate.artefact import open_artefact  # noqa: PLC0415 - a search needs no watching

        with self._lock:
            self._refresh()
            path = f"{self.derived}/triggers"
            stamp = files.stamp(path)
            if self._artefact is None or self._artefact[0] != stamp:
                try:
                    self._artefact = stamp, open_artefact(path)
                except ArtefactError:  # torn: make it again, once
                    self.compile(force=True)
                    self._artefact = files.stamp(path), open_artefact(path)
            return self._artefact[1]

    def open_catalog(self) -> Catalog:
        """Give the compiled search catalog, brought up to date.

        Raises:
            ArtefactError: it could not be made.
        """
        from deia.search.catalog import open_catalog  # noqa: PLC0415 - a conversation that is only watched needs none

        with self._lock:
            self._refresh()
            folder = self._catalog_folder()
            if self._catalog is None or self._catalog[0] != folder:
                try:
                    self._catalog = folder, open_catalog(folder)
                except ArtefactError:  # torn, or swept away by a compile that just finished: make it again, once
                    self.compile(force=True)
                    folder = self._catalog_folder()
                    self._catalog = folder, open_catalog(folder)
            return self._catalog[1]

    def _catalog_folder(self) -> str:
        name = (files.read(f"{self.derived}/catalog") or b"").decode("ascii", "replace").strip()
        return f"{self.derived}/{name or 'no-catalog'}"

    def _refresh(self) -> None:
        """Compile when a source changed; looked at once a second at most."""
        now = time.monotonic()
        if now - self._checked < RECHECK:
            return
        state = state_folder(self._environ)
        ours = freshness.made_by(self.derived, freshness.maker(state))
        if not ours or freshness.changed(self.derived, self.root, freshness.DOCUMENTS):
            self.compile()
        self._checked = time.monotonic()

    def compile(self, *, force: bool = False) -> None:
        """Bring the compiled files up to date with their sources."""
        from deia.compile.compiler import compile_commons  # noqa: PLC0415 - YAML and hashing, only when sources changed

        compile_commons(self.root, environ=self._environ, force=force, collections=self.collections)
        self._checked = max(self._checked, time.monotonic())

    # --- the ledger ---

    def log(self, event: str, fields: Mapping[str, Any]) -> str:
        """Write an event to the ledger, unless this Librarian keeps none; give its id."""
        if not self._ledger:
            return ""
        folder = events_folder(self.root, self._environ)
        return spool.append(folder, event, {"agent": self._agent, **fields}, telemetry=self.settings.telemetry)


async def _in_thread(call: Callable[[], T]) -> T:
    """Run a call in a thread of the event loop's own pool."""
    import asyncio  # noqa: PLC0415 - a heavy import, and who awaits has it

    return await asyncio.to_thread(call)


_librarians: dict[str, Librarian] = {}


def _default() -> Librarian:
    """Give this process's Librarian for the working folder it is in now."""
    here = f"{os.getcwd()}\0{os.environ.get('DEIA_COMMONS', '')}"
    return _librarians.setdefault(here, Librarian()) if here not in _librarians else _librarians[here]


def query_commons(
    query: str = "",
    *,
    platform: str | None = None,
    audience: str | None = None,
    urgency: str | None = None,
    keywords: Sequence[str] | None = None,
    limit: int = 5,
    return_format: str | None = None,
) -> Any:
    """Ask the commons of the working folder; give an `Answer`, or its rendering when `return_format` names one.

    Raises:
        QueryError: a filter or format is unknown.
    """
    answer = _default().query(
        query, platform=platform, audience=audience, urgency=urgency, keywords=keywords, limit=limit
    )
    if return_format is None:
        return answer
    from deia.search.rendering.render import render  # noqa: PLC0415 - most callers take the Answer

    return render(answer, return_format)


def check_triggers(conversation: Iterable[Any] | str, *, conversation_id: str | None = None) -> list[Firing]:
    """Judge the new turns of a conversation against the commons of the working folder."""
    return _default().check_triggers(conversation, conversation_id=conversation_id)


def get_context(firings: Sequence[Firing]) -> Injection:
    """Give what to put in front of the model for some firings."""
    return _default().get_context(firings)
