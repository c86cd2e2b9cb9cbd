"""The exceptions that deia raises on purpose, all derived from `DeiaError`.

An error says where the problem is, what is wrong, what was expected and what to type next. The hook imports this
module, so the errors that report several problems at once are in `deia.problems`.

DeiaError
├── CommonsError    the index, the documents or the triggers have problems (all of them at once)
├── SettingsError   deia.toml, an environment variable or a flag is wrong
├── ArtefactError   the compiled files are missing, stale, damaged or from another version
├── QueryError      a query that cannot be answered (an unknown filter value)
├── ReadingError    a file to be ingested cannot be read, or not without an extra (`ingest/reading`)
├── SourceError     a source of the library is not there, is refused, or its options make no sense
├── EngineError     what keeps the vectors elsewhere is away, or not what it should be (`engines/engine`)
├── ReplicaError    a version in a bucket is not what was published (`compile/replicas/version`)
├── GraphError      the graph cannot be opened or asked (`graph/graph_store`)
├── ModelError      no language model is set, or it does not answer (`language_model`)
├── LimitError      somebody asked a server more than they may in a minute (`serve/server/allowances`)
├── GitError        git is missing, failed or was refused an address
└── HostError       an agent host's settings cannot be read or written
"""

from __future__ import annotations

SENTENCE_ENDS = (".", "!", "?", "…", ":")


class DeiaError(Exception):
    """Base class: `where` is `file:line` or empty, `message` says what is wrong, `fix` what to type."""

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        if not self.fix:
            return text
        return f"{text}{'' if text[-1:] in SENTENCE_ENDS else '.'} {self.fix}"


class ArtefactError(DeiaError):
    """The compiled files cannot be used; `fix` names the command that repairs them."""


class QueryError(DeiaError):
    """A query names something that the commons does not have."""


class HostError(DeiaError):
    """An agent host's own settings file cannot be used."""
