"""Opening the compiled files of a commons, brought up to date when their sources changed."""

from __future__ import annotations

import time

from deia import files, freshness
from deia.errors import ArtefactError
from deia.folders import (
    GRAPH,
    LIBRARY_PREFIX,
    LIBRARY_STATE,
    collection_of,
    derived_folder,
    is_trusted,
    library_catalog_name,
    library_collections,
    library_folder,
    part_folder,
)
from deia.records import TYPE_CHECKING
from deia.settings import secret

if TYPE_CHECKING:  # a search needs no triggers, and watching needs no catalog
    from collections.abc import Mapping, Sequence

    from deia.search.answer import Answer
    from deia.search.catalog import Catalog
    from deia.search.ranking.elsewhere import EngineVectors
    from deia.watch.gate.artefact import Artefact

NOT_ENCODED = (
    "searched with word vectors only, because some passages are not encoded for the sentence model yet; type: deia"
    " compile --tier compact"
)
MOST_AWAITED = 3_000  # passages that a question waits for until they are compiled: some seconds
UPDATE = "deia source update"
RECHECK = 1.0  # seconds for which compiled files are trusted without checking their sources again


class CompiledFiles:
    """The compiled files of a commons, or of some collections of it; not safe to share between threads."""

    def __init__(
        self, root: str, *, environ: Mapping[str, str], collections: Sequence[str], keep_fresh: bool,
        starter: bool | None = None,
    ) -> None:  # fmt: skip
        trusted = is_trusted(root, environ)
        self.folder = part_folder(derived_folder(root, environ, trusted=trusted), collections)
        # A commons that somebody else wrote has no access to the person's own library, nor have collections outside it.
        self._of_library = library_collections(collections)
        self.library_folder = library_folder(root, environ) if trusted and (self._of_library or not collections) else ""
        self._library: Catalog | None = None
        self._engine: EngineVectors | None = None
        # An engine has the whole library: its answers for a part would depend on passages that the asker may not read.
        self._address = secret("engine", environ=environ)[0] if self.library_folder and not collections else ""
        self.remarks: tuple[str, ...] = ()  # what was wrong when the catalog was opened, until it is taken
        self._root = root
        self._starter = (
            None if starter is None else freshness.starter_stamp(starter)
        )  # as the settings in force have it
        self._environ = environ
        self._collections = collections
        self._checked_at = -RECHECK if keep_fresh else float("inf")
        self._catalog: tuple[str, Catalog] | None = None  # with its folder
        self._artefact: tuple[tuple[int, int] | None, Artefact] | None = None  # with its file's stamp

    def open_artefact(self) -> Artefact:
        """Return the compiled triggers; raise ArtefactError if they cannot be compiled."""
        from deia.watch.gate.artefact import open_artefact  # noqa: PLC0415 - a search needs no triggers

        self._refresh()
        path = f"{self.folder}/triggers"
        stamp = files.stamp(path)
        if self._artefact is None or self._artefact[0] != stamp:
            try:
                self._artefact = stamp, open_artefact(path)
            except ArtefactError:  # the file is damaged: compile it again, once
                self.compile(force=True)
                self._artefact = files.stamp(path), open_artefact(path)
        return self._artefact[1]

    def open_catalog(self) -> Catalog:
        """Return the compiled search catalog; raise ArtefactError if there is none and it cannot be compiled."""
        from deia.search.catalog import open_catalog  # noqa: PLC0415 - watching needs no catalog

        try:
            self._refresh()
        except ArtefactError as error:  # the disk is full, say: the last answers are better than none
            if not files.exists(self._catalog_folder()):
                raise
            self.remarks = (f"answered from what was compiled last, since deia {error.message}",)
        folder = self._catalog_folder()
        if self._catalog is None or self._catalog[0] != folder:
            try:
                self._catalog = folder, open_catalog(folder)
            except (
                ArtefactError
            ) as error:  # damaged, or deleted by a compile that just finished: compile it again, once
                self.compile(force=True)
                self.remarks = (f"{error.message}; it was compiled again",)
                folder = self._catalog_folder()
                self._catalog = folder, open_catalog(folder)
        return self._catalog[1]

    def take_remarks(self) -> tuple[str, ...]:
        """Return what was wrong when the catalog was opened, once."""
        remarks, self.remarks = self.remarks, ()
        return (*remarks, self._engine.remark) if self._engine and self._engine.remark else remarks

    def open_library(self) -> Catalog | None:
        """Return the catalog of the library, compiled if the library changed; None if nothing was taken in.

        Where answers must not wait (`keep_fresh` is false), the last catalog counts until the process that took
        something in has compiled the next; so it does after much was taken in, which is remarked. Raise ArtefactError
        if it cannot be compiled.
        """
        state = files.read(f"{self.library_folder}/{LIBRARY_STATE}") if self.library_folder else None
        if not state:
            return None
        from deia.search.catalog import open_catalog  # noqa: PLC0415 - watching needs no catalog
        from deia.search.ranking.links import open_links  # noqa: PLC0415 - likewise

        waits, name = self._checked_at < float("inf"), self._library_catalog()
        wanted = library_catalog_name(state.decode("ascii", "replace"))
        name = wanted if waits and not name.startswith(wanted) else name
        if not name:
            return None
        if self._library is None or self._library.folder != f"{self.folder}/library/{name}":
            for force in (False, True):  # the second time if the catalog is there but damaged
                try:
                    self._library = open_catalog(f"{self.folder}/library/{name}")
                    break
                except ArtefactError:
                    name = self._compiled_library(force=force)
                    if not name:
                        return None
            else:
                self._library = open_catalog(f"{self.folder}/library/{name}")
        if self._library.links is None:
            self._library.links = open_links(f"{self.folder}/{GRAPH}")
        if self._address and self._engine is None:
            from deia.search.ranking.elsewhere import EngineVectors  # noqa: PLC0415 - hardly anybody has an engine

            self._engine = EngineVectors(self._address)
        self._library.engine = self._engine
        return self._library if len(self._library) else None

    def _compiled_library(self, *, force: bool) -> str:
        """Return the name of the library's catalog, compiled if that does not take long; "" if there is none yet."""
        from deia.compile.library_catalog import compile_library, passages_due  # noqa: PLC0415 - only if it changed
        from deia.search.catalog import is_readable  # noqa: PLC0415 - likewise

        folder = f"{self.folder}/library"
        due = 0 if self._of_library else passages_due(self._root, self._environ, folder)
        if due > MOST_AWAITED:
            remark = f"{due} passages that were taken in are not compiled yet, so answers lack them; type: {UPDATE}"
            self.remarks = (*self.remarks, remark)
            last = self._library_catalog()
            return last if is_readable(f"{folder}/{last}") else ""
        compile_library(self._root, self._environ, folder, force=force, only=self._of_library)
        return self._library_catalog()

    def not_encoded(self, answer: Answer) -> list[str]:
        """Return the warnings about an answer that lacks the sentence model because passages are not encoded yet."""
        from deia.match.tiers import TIERS  # noqa: PLC0415 - watching needs no search
        from deia.match.tokeniser import is_in_another_script  # noqa: PLC0415 - likewise
        from deia.search.ranking.retrieve import RESCORED_NOTE  # noqa: PLC0415 - likewise

        if is_in_another_script(answer.query):  # the model would not be asked
            return []
        best, second = TIERS
        is_plain = self._catalog is not None and best not in self._catalog[1].tiers and answer.audit.tier == second
        warnings = [NOT_ENCODED] if is_plain else []
        if self._library and best not in self._library.tiers and RESCORED_NOTE not in answer.audit.warnings:
            from deia.compile.encoding_progress import library_warning  # noqa: PLC0415 - until it is encoded

            of_library = [document.path for document in answer.documents if document.path.startswith(LIBRARY_PREFIX)]
            shown = any(collection_of(path) not in (self._library.plain or ()) for path in of_library)
            warnings.append(library_warning(f"{self.folder}/library") if shown else "")
        return [*filter(None, warnings)]

    def _library_catalog(self) -> str:
        return (files.read(f"{self.folder}/library/catalog") or b"").decode("ascii", "replace")

    def _catalog_folder(self) -> str:
        name = (files.read(f"{self.folder}/catalog") or b"").decode("ascii", "replace").strip()
        return f"{self.folder}/{name or 'no-catalog'}"

    @property
    def are_fresh(self) -> bool:
        """Whether they were compared with their sources less than a second ago, and compiled if these had changed."""
        return 0 <= time.monotonic() - self._checked_at < RECHECK

    def _refresh(self) -> None:
        """Compile if a source changed; checked at most once a second."""
        if self.are_fresh or self._checked_at == float("inf"):
            return
        kept = files.read(f"{self.folder}/{freshness.STARTER}")
        if (self._starter and kept not in (None, self._starter)) or freshness.changed(
            self.folder, self._root, freshness.DOCUMENTS
        ):
            self.compile()
        self._checked_at = time.monotonic()

    def compile(self, *, force: bool = False) -> None:
        """Bring the compiled files up to date with their sources."""
        from deia.compile.compiler import compile_commons  # noqa: PLC0415 - YAML and hashing, only if sources changed

        compile_commons(self._root, environ=self._environ, force=force, collections=self._collections)
        self._checked_at = max(self._checked_at, time.monotonic())
        # The settings may have changed since the process began.
        self._starter = self._starter and files.read(f"{self.folder}/{freshness.STARTER}")
