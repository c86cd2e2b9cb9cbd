"""The tools for the steps of the librarian's protocol, each callable alone."""

from __future__ import annotations

from collections.abc import Sequence

from deia import fast_json
from deia.errors import QueryError
from deia.fast_json import Json
from deia.librarian import Librarian
from deia.serve.server.desk import Desk, Reply

OF_QUESTIONS = ("classify", "debug")  # steps that need a question


def _librarian(desk: Desk) -> Librarian:
    """Return the librarian; raise QueryError if only collections are offered, since the state is of everything."""
    if desk.collections:
        raise QueryError("this server gives collections away and says nothing of its state", fix="Ask it something.")
    return desk.librarian


def step(desk: Desk, *, step: str, question: str = "", expect: Sequence[str] = ()) -> Reply:
    """Take one step of the protocol."""
    librarian = _librarian(desk)
    if step in OF_QUESTIONS and not question.strip():
        raise QueryError(f"{step} needs a question", fix="Pass it as `question`.")
    if step == "classify":
        return _reply(librarian.classify(question).to_dict())
    if step == "debug":
        return _reply(librarian.debug(question, expect=expect).to_dict())
    return _reply(librarian.preflight().to_dict() if step == "preflight" else librarian.audit().to_dict())


def repair(desk: Desk, *, question: str = "", expect: Sequence[str] = (), apply: bool = False) -> Reply:
    """Repair what can be repaired, or say what would be done."""
    failing = {question: expect} if question else {}
    return _reply(_librarian(desk).repair(failing=failing, dry_run=not apply).to_dict())


def _reply(fields: dict[str, Json]) -> Reply:
    return Reply(fields=fields, text=fast_json.dumps(fields))
