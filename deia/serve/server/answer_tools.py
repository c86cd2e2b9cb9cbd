"""The tool that answers with sentences of the documents, and lets an agent go on in the place of the model.

What an agent notes must quote the evidence, like the claims of any model; its further questions bring more evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia.answers.evidence import Passage
from deia.answers.librarian_answer import LibrarianQuery, LibrarianResponse
from deia.answers.model_claims import read_reply
from deia.fast_json import Json
from deia.search.rendering.columns import plain
from deia.search.rendering.llm_quotes import BUDGET, FRAME, tokens
from deia.serve.server.desk import Desk, Reply
from deia.text import shorten

MOST_WARNING = 400  # characters
GO_ON = "To go on, call answer with continue {token}, notes that quote the evidence, and ask for what is missing."


def answer_question(  # noqa: PLR0913 - every argument of the tool has a name of its own
    desk: Desk,
    *,
    question: str = "",
    collection: str = "",
    max_chunks: int = 10,
    detail: str = "summary",
    token: str = "",
    notes: Sequence[Mapping[str, Json]] = (),
    ask: Sequence[str] = (),
    sampling: bool = False,  # noqa: ARG001 - the server asks the client's model about the reply
) -> Reply:
    """Answer a question, or go on with the answer that a token stands for."""
    librarian = desk.librarian
    if token:
        response, new = librarian.continue_answer(token, notes, ask)
        return _reply(response, new)
    response = librarian.answer_now(LibrarianQuery(collection, question, max_chunks), keeps=True)
    return _reply(response, librarian.evidence_of(response.token) if detail == "full" else ())


def sampled(desk: Desk, token: str, reply: str) -> Reply:
    """Return an answer after the client's model replied about its evidence."""
    claims = read_reply(reply, desk.librarian.evidence_of(token))
    notes: list[Mapping[str, Json]] = [{"says": claim.says, "quote": claim.quotation.text} for claim in claims.kept]
    notes += [{"says": text} for text in claims.dropped]  # which are dropped again, and named
    return _reply(desk.librarian.continue_answer(token, notes, claims.asks)[0], ())


def _reply(response: LibrarianResponse, passages: Sequence[Passage]) -> Reply:
    evidence: list[Json] = []
    room = BUDGET
    for passage in passages:
        quoted = "\n".join(f"> {plain(line)}".rstrip() for line in passage.text)
        room -= tokens(quoted)
        if room < 0:
            break
        evidence.append({"path": passage.path, "lines": list(passage.lines), "text": quoted})
    shown = [f"{plain(str(entry['path']))}\n{entry['text']}" for entry in evidence if isinstance(entry, dict)]
    open_ = [f"Nothing is said about: {', '.join(response.open)}."] if response.open else []
    lines = [FRAME, f"Confidence {response.confidence:.2f}.", response.answer, *open_, *shown]
    lines += [f"Dropped, since no document says it: {plain(claim)}" for claim in response.dropped]
    lines += [f"Warning: {plain(shorten(warning, MOST_WARNING))}." for warning in response.warnings]
    fields = {**response.to_dict(), **({"evidence": evidence} if evidence else {})}
    return Reply(fields=fields, text="\n\n".join([*lines, GO_ON.format(token=response.token)]))
