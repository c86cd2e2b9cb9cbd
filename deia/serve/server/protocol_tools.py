"""The tools for the steps of the librarian's protocol, each callable alone."""

from __future__ import annotations

from deia import fast_json
from deia.errors import QueryError
from deia.fast_json import Json
from deia.librarian import Librarian
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.tool_arguments import ProtocolArguments, RepairArguments

OF_QUESTIONS = ("classify", "debug")  # steps that need a question


def _librarian(desk: Desk) -> Librarian:
    """Return the librarian; raise QueryError if only collections are offered, since the state is of everything."""
    if desk.collections:
        raise QueryError("this server gives collections away and says nothing of its state", fix="Ask it something.")
    return desk.librarian


def step(desk: Desk, arguments: ProtocolArguments) -> Reply:
    """Take one step of the protocol."""
    librarian, question = _librarian(desk), arguments.question
    if arguments.step in OF_QUESTIONS and not question.strip():
        raise QueryError(f"{arguments.step} needs a question", fix="Pass it as `question`.")
    if arguments.step == "classify":
        return _reply(librarian.classify(question).to_dict())
    if arguments.step == "debug":
        return _reply(librarian.debug(question, expect=arguments.expect).to_dict())
    return _reply(librarian.preflight().to_dict() if arguments.step == "preflight" else librarian.audit().to_dict())


def repair(desk: Desk, arguments: RepairArguments) -> Reply:
    """Repair what can be repaired, or say what would be done."""
    failing = {arguments.question: arguments.expect} if arguments.question else {}
    return _reply(_librarian(desk).repair(failing=failing, dry_run=not arguments.apply).to_dict())


def _reply(fields: dict[str, Json]) -> Reply:
    return Reply(fields=fields, text=fast_json.dumps(fields))
