"""The tools that read: asking, reading, checking, listing, and saying where a lesson would belong.

Each takes checked arguments and gives a reply. Refuses to pass a document's text for anybody's words: it is quoted.
"""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files.outline import without_outline
from deia.errors import ArtefactError, QueryError
from deia.knowledge import Result
from deia.records import URGENCIES, Firing
from deia.search.answer import NOTHING, Answer
from deia.search.catalog import Catalog, StoredDocument
from deia.search.find_document import FoundDocument, look_up, read_lines
from deia.search.rendering.columns import plain
from deia.search.rendering.llm_quotes import FRAME
from deia.search.rendering.render import full, summary
from deia.serve.server.desk import SEARCHES, Desk, Reply

if TYPE_CHECKING:
    Arguments = Mapping[str, Any]

LISTED = 50  # documents that a list names unless more are asked for
MOST_LISTED = 100_000
MOST_FOLDERS = 100  # that an overview names
UNWRITTEN = "(Nobody has filled in this document's outline yet.)"
SIMILAR = 3
FREE = ("auto", "keyword")  # settings of `tier` by which any search is as wanted
FACTS = ("summary", "action", "urgency", "platforms", "clusters", "tags", "updated", "verified")
# Seconds for which a thread computes while others wait, as long as a conversation is judged. A question gives the
# interpreter away some thirty times, whenever it looks at a file; with Python's own 5 ms, which begin anew whenever the
# judge looks at one, it took 100 to 950 ms beside a long conversation, and takes 5 to 6 ms with this.
TURN = 0.0001
USUAL_TURN = sys.getswitchinterval()
NAMED = ("platform", "audience", "urgency", "cluster", "tag")


def ask(desk: Desk, arguments: Arguments) -> Reply:
    """Answer a question, in the published shape; with the documents quoted where `detail` is full."""
    named = {name: arguments.get(name) for name in (*NAMED[:4], "limit") if name in arguments}
    answer = desk.librarian.query(arguments["query"], mode=arguments.get("mode", "natural"), **named)
    _refuse_other_meaning(desk, answer)
    return told(desk, answer, full_text=arguments.get("detail") == "full")


def _refuse_other_meaning(desk: Desk, answer: Answer) -> None:
    """Refuse what was searched by other vectors than the settings name; by `auto` that is a warning of the answer.

    Raises:
        ArtefactError: the compiled files were made with another model than the one that is here.
    """
    wanted = desk.librarian.settings.tier
    begins = f"searched without {wanted} meaning: "
    why = next((one.removeprefix(begins) for one in answer.audit.warnings if one.startswith(begins)), "")
    if wanted not in FREE and why:
        fix = "A person types: deia compile. Until then ask with mode keywords, which needs no model."
        raise ArtefactError(f"no search by {wanted} meaning, which the settings want: {why}", fix=fix)


def told(desk: Desk, answer: Answer, *, full_text: bool) -> Reply:
    """Give an answer as a reply, saying where it is older than its sources."""
    fields = answer.to_dict()
    behind = desk.behind()
    if behind:
        warning = f"{behind} changed since the commons was compiled; a compile is on its way"
        fields["audit"]["warnings"] = [*fields["audit"].get("warnings", ()), warning]
    words = full(answer) if full_text else summary(answer)
    return Reply(fields={**fields, "context": words} if full_text else fields, text=words)


def read(desk: Desk, arguments: Arguments) -> Reply:
    """Give a document or some of its lines."""
    span = arguments.get("lines")
    wanted = read_lines(span) if span else None
    if span and wanted is None:
        raise QueryError(f"lines {span!r} are none", fix="Write one or two numbers, such as 12 or 12-30.")
    catalog = desk.librarian.open_catalog()
    found = look_up(catalog, arguments["document"], root=desk.root, folder=desk.folder, tool=SEARCHES)
    desk.librarian.log("read", {"doc": found.document.entry.id, "via": "mcp"})
    return _document(found, wanted or found.lines)


def _document(found: FoundDocument, wanted: tuple[int, int] | None) -> Reply:
    entry, first = found.document.entry, found.document.first_line
    lines = found.text.strip("\n").split("\n")
    first += len(found.text) - len(found.text.lstrip("\n"))
    start, end = wanted or (first, first + len(lines) - 1)
    shown = lines[max(0, start - first) : max(0, end - first + 1)]
    if not shown:
        span = f"{first}-{first + len(lines) - 1}"
        raise QueryError(f"the text of {entry.path} is in lines {span}", fix=f"Ask for some of {span}.")
    begins = max(start, first)
    # As in an injection, without the lines of the outline that nobody filled in.
    written = (
        without_outline("\n".join(shown)).rstrip("\n") or UNWRITTEN
    )  # as an injection, without what nobody filled in
    quoted = "\n".join(f"> {plain(line)}".rstrip() for line in written.split("\n"))
    fields = {"id": entry.id, "path": entry.path, "title": entry.title, "lines": [begins, begins + len(shown) - 1]}
    facts = {name: _listed(getattr(entry, name)) for name in FACTS if getattr(entry, name)}
    head = f"[{plain(entry.id)}] {plain(entry.title)} (source: {plain(entry.path)}:{begins})"
    return Reply(fields={**fields, **facts, "note": FRAME, "text": quoted}, text=f"{FRAME}\n\n{head}\n{quoted}")


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def check(desk: Desk, arguments: Arguments) -> Reply:
    """Say what fires in a conversation; without an id it is judged by itself, as if for the first time."""
    firings, context = judged(desk, arguments["conversation"], arguments.get("conversation_id", ""))
    if not firings:
        return Reply(fields={"fired": [], "context": ""}, text="Nothing known speaks against this.")
    return Reply(fields={"fired": [_firing(one) for one in firings], "context": context}, text=context)


def judged(desk: Desk, conversation: Sequence[Any], identity: str = "") -> tuple[Sequence[Firing], str]:
    """Give what fires in a conversation and the text about it; without an identity it is nobody's but its own."""
    identity = identity or f"once-{secrets.token_hex(8)}"
    with _giving_way():
        firings = desk.librarian.check_triggers(conversation, conversation_id=identity, folder=desk.folder)
    context = desk.librarian.get_context(firings, conversation_id=identity).text if firings else ""
    return firings, context


@contextmanager
def _giving_way() -> Iterator[None]:
    """Let other threads take their turn sooner."""
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(USUAL_TURN)


def _firing(firing: Firing) -> dict[str, Any]:
    names = ("trigger", "title", "urgency", "action", "message", "action_required", "because", "turn", "confidence")
    documents = [{"id": one.id, "reason": one.reason} for one in firing.documents]
    told_of = {name: getattr(firing, name) for name in names}
    return {**told_of, "instead": list(firing.instead), "documents": documents}


# --- the overview ---


def list_documents(desk: Desk, arguments: Arguments) -> Reply:
    """Give clusters and folders with their counts, and the documents that pass the filters, the most urgent first."""
    catalog = desk.librarian.open_catalog()
    filters = {name: arguments[name] for name in NAMED if arguments.get(name)}
    _refuse_unknown(catalog, filters)
    hits = catalog.keyword.listed(filters=filters, limit=max(1, min(len(catalog), MOST_LISTED)))
    every = sorted(catalog.documents(hit.document for hit in hits), key=_pressing)
    every = [one for one in every if one.entry.path.startswith(str(arguments.get("below", "")))]
    start, most = int(arguments.get("offset", 0)), int(arguments.get("limit", LISTED))
    shown = every[start : start + most]
    clusters, folders = clusters_of(catalog), _folders_of(every)
    fields: dict[str, Any] = {
        "total": len(every),
        "clusters": clusters,
        "folders": folders,
        "documents": [brief(one) for one in shown],
    }
    if start + most < len(every):
        fields["next_offset"] = start + most
    lines = [f"{len(every)} documents in {len(clusters)} clusters"]
    lines += [f"- {plain(one['id'])}: {one['documents']}" for one in clusters]
    lines += ["in the folders", *(f"- {plain(one['path'])}: {one['documents']}" for one in folders)] if folders else []
    lines += [f"[{plain(one.entry.id)}] {plain(one.entry.title)} ({plain(one.entry.path)})" for one in shown]
    more = [f"More with offset {start + most}."] if "next_offset" in fields else []
    return Reply(fields=fields, text="\n".join([*lines, *more]))


def _folders_of(documents: Sequence[StoredDocument]) -> list[dict[str, Any]]:
    """Give the folders that hold these documents, in the order of their paths; those that hold most where many do."""
    counted = Counter(one.entry.path.rpartition("/")[0] for one in documents)
    return [{"path": f"{path}/", "documents": count} for path, count in sorted(counted.most_common(MOST_FOLDERS))]


def _refuse_unknown(catalog: Catalog, filters: Mapping[str, str]) -> None:
    for name, value in filters.items():
        if not catalog.keyword.has(name, value):
            known = ", ".join(catalog.keyword.values(name)[:30])
            raise QueryError(f"{name} {value!r} is unknown", fix=f"Known are: {known or 'none'}.")


def clusters_of(catalog: Catalog) -> list[dict[str, Any]]:
    """Give the clusters that hold documents, the largest first."""
    named = [{"id": name, **{key: _listed(value) for key, value in held.values().items()}}
             for name, held in catalog.clusters.items()]  # fmt: skip
    return sorted(named, key=lambda one: (-int(one["documents"]), one["id"]))


def brief(shelved: StoredDocument) -> dict[str, Any]:
    """Give what a list says of a document."""
    entry = shelved.entry
    return {"id": entry.id, "title": entry.title, "path": entry.path, "urgency": entry.urgency,
            "summary": entry.summary, "cluster": next(iter(entry.clusters), "")}  # fmt: skip


def _pressing(shelved: StoredDocument) -> tuple[int, str]:
    urgency = shelved.entry.urgency
    return URGENCIES.index(urgency) if urgency in URGENCIES else len(URGENCIES), shelved.entry.id


# --- where a lesson belongs ---


def suggest(desk: Desk, arguments: Arguments) -> Reply:
    """Say in which folder and cluster a lesson would stand, going by the documents that are most like it."""
    answer = desk.librarian.query(" ".join(arguments["text"].split())[:MOST_ASKED], limit=SIMILAR + 2)
    near = list(answer.documents) if answer.reason != NOTHING else []
    own = [one for one in near if origin_of(one.path) == PROJECT]
    category = _category([one.path for one in own or near])
    similar = [{"id": one.id, "title": one.title, "path": one.path, "score": one.score} for one in near[:SIMILAR]]
    advice = _advice(answer, own)
    fields = {"category": category, "path": f"bok/{category}/", "cluster": answer.primary_cluster, "similar": similar}
    lines = [f"Category {category} (bok/{category}/).", advice]
    lines += [f"- like [{plain(str(one['id']))}] {plain(str(one['title']))}" for one in similar]
    return Reply(fields={**fields, "advice": advice}, text="\n".join(lines))


MOST_ASKED = 600  # characters of a lesson by which its like are looked for: its beginning says what it is about


def _category(paths: Sequence[str]) -> str:
    """Give the folder of the best document of which another shares the folder, else the best's, else patterns."""
    folders = [path.partition("bok/")[2].rpartition("/")[0] for path in paths]
    shared = [one for one in folders if one and folders.count(one) > 1]
    return next(iter(shared), "") or next((one for one in folders if one), "") or "patterns"


def _advice(answer: Answer, own: Sequence[Result]) -> str:
    if answer.matched is True and answer.confidence == "high" and own:
        return f"{own[0].id} is about the same: read it, and prefer save_lesson with update={own[0].id}."
    return "Nothing of the project says the same; a new document is in order."
