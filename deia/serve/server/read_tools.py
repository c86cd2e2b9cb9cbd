"""The tools that only read: searching, reading, checking, listing, and suggesting where a lesson belongs.

The text of documents is always quoted, so that a model cannot mistake it for anybody's words.

The prompts that a person may choose (a task, a mistake, a plan) are in `prompts.toml` beside this module. Each adds
what the commons knows to a request.
"""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

from mcp_types import PromptArgument

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.commons.source_files.outline import without_outline
from deia.errors import ArtefactError, QueryError
from deia.fast_json import Json
from deia.firing import Firing
from deia.graph import exports
from deia.graph.graph_answers import GraphAnswer
from deia.graph.schema import fields_of
from deia.knowledge import Entry, Result
from deia.librarian import Librarian
from deia.records import URGENCIES, Record
from deia.search.answer import NOTHING, TOO_BROAD, Answer
from deia.search.catalog import Catalog
from deia.search.filters import Filters
from deia.search.find_document import FoundDocument, look_up, read_lines
from deia.search.lifetimes import outdated
from deia.search.ranking.retrieve import BY_WORDS
from deia.search.rendering.columns import plain
from deia.search.rendering.llm_quotes import FRAME
from deia.search.rendering.render import as_xml, full, summary
from deia.search.stored_document import StoredDocument
from deia.serve.server.desk import SEARCH_TOOL, Desk, Reply
from deia.tables import toml_beside
from deia.watch.clauses.folder_signs import SIGNS, signs_around

MOST_LISTED = 100_000
MOST_FOLDERS = 100  # that an overview lists
MOST_LINES = 1_000  # of a tree
MOST_QUERY = 600  # characters of a lesson's beginning with which similar documents are searched
UNWRITTEN = "(Only placeholder text so far.)"
SIMILAR = 3
ANY_TIER = ("auto", "keyword")  # values of the setting `tier` that do not demand a model
FACTS = (
    "summary", "action", "urgency", "platforms", "clusters", "tags", "updated", "verified", "valid_until",
    "superseded_by", "review_after",
)  # fmt: skip
RANKS = {urgency: rank for rank, urgency in enumerate(URGENCIES)}
FIRING_FIELDS = (
    "trigger", "title", "urgency", "action", "message", "action_required", "because", "turn", "confidence",
)  # fmt: skip
# How many seconds a thread may compute before it lets others run, while a conversation is being checked. A search gives
# up the interpreter lock some thirty times, whenever it looks at a file. With Python's default of 5 ms it took 100 to
# 950 ms beside the check of a long conversation; with this value it takes 5 to 6 ms.
SWITCH_INTERVAL = 0.0001
DEFAULT_SWITCH_INTERVAL = sys.getswitchinterval()
MOST = 20_000  # characters of an argument
SEARCHED = 400  # characters of a plan with which documents are searched


def query(desk: Desk, *, query: str, detail: str = "summary", **filters: Unpack[Filters]) -> Reply:
    """Answer a question in the published shape, with a warning if the sources changed meanwhile.

    With the `detail` "full" the documents are quoted, with "xml" their passages are in XML.
    """
    answer: Answer = desk.librarian.query(query, **filters)
    _require_tier(desk, answer)
    if desk.collections:  # this part is compiled anew when anything of the rest changes
        answer = answer.but(audit=answer.audit.but(index_built_at=""))
    quoted = detail == "full"
    text = full(answer) if quoted else as_xml(answer) if detail == "xml" else summary(answer)
    changed = "" if desk.collections else desk.recently_changed_source()
    if changed:
        warning = f"{changed} changed since the commons was compiled; a compile is on its way"
        answer = answer.but(audit=answer.audit.but(warnings=(*answer.audit.warnings, warning)))
    fields = {**answer.to_dict(), "context": text} if quoted else answer.to_dict()
    return Reply(
        fields=fields, text=text, clusters=answer.available_clusters[:12] if answer.reason == TOO_BROAD else ()
    )


def _require_tier(desk: Desk, answer: Answer) -> None:
    """Refuse an answer that was found without the model that the settings demand; with `auto` it is only a warning."""
    tier = desk.librarian.settings.tier
    prefixes = (f"searched without {tier} meaning: ", BY_WORDS)
    reason = next((text.partition(": ")[2] for text in answer.audit.warnings if text.startswith(prefixes)), "")
    if tier not in ANY_TIER and reason:
        fix = "A person can type: deia compile. Until then use the mode keywords, which needs no model."
        raise ArtefactError(f"the settings demand the {tier} tier, which cannot be used: {reason}", fix=fix)


def read(desk: Desk, *, document: str, lines: str = "") -> Reply:
    """Return a document or some of its lines."""
    span = read_lines(lines) if lines else None
    if lines and span is None:
        fix = "Write one or two line numbers, such as 12 or 12-30."
        raise QueryError(f"lines {lines!r} are not valid", fix=fix)
    catalog = desk.librarian.open_catalog_of(document)
    lookup = look_up(catalog, document, root=desk.root, folder=desk.folder, tool=SEARCH_TOOL)
    desk.librarian.log("read", {"doc": lookup.document.entry.id, "via": "mcp"})
    return _document(lookup, span or lookup.lines, desk.today)


def _document(lookup: FoundDocument, span: tuple[int, int] | None, today: str) -> Reply:
    entry, first = lookup.document.entry, lookup.document.first_line
    lines = lookup.text.strip("\n").split("\n")
    first += len(lookup.text) - len(lookup.text.lstrip("\n"))
    start, end = span or (first, first + len(lines) - 1)
    shown = lines[max(0, start - first) : max(0, end - first + 1)]
    if not shown:
        available = f"{first}-{first + len(lines) - 1}"
        raise QueryError(f"the text of {entry.path} is in lines {available}", fix=f"Ask for some of {available}.")
    begin = max(start, first)
    text = without_outline("\n".join(shown)).rstrip("\n") or UNWRITTEN  # the same as in an injection
    quoted = "\n".join(f"> {plain(line)}".rstrip() for line in text.split("\n"))
    last = begin + len(shown) - 1
    fields: dict[str, Json] = {"id": entry.id, "path": entry.path, "title": entry.title, "lines": [begin, last]}
    facts = {name: _as_list(getattr(entry, name)) for name in FACTS if getattr(entry, name)}
    heading = f"[{plain(entry.id)}] {plain(entry.title)} (source: {plain(entry.path)}:{begin}){_lifetime(entry, today)}"
    return Reply(fields={**fields, **facts, "note": FRAME, "text": quoted}, text=f"{FRAME}\n\n{heading}\n{quoted}")


def _lifetime(entry: Entry, today: str) -> str:
    """Return what to say of a document that no longer holds, or ""."""
    why = outdated(entry, today)
    return f", no longer holds: {plain(why)}" if why else ""


def _as_list(value: Json) -> Json:
    return list(value) if isinstance(value, tuple) else value


def check(desk: Desk, *, conversation: Sequence[str | Mapping[str, Json]], conversation_id: str = "") -> Reply:
    """Return the triggers that fire in a conversation; without an id it is checked as if it were new."""
    firings, context = check_conversation(desk, conversation, conversation_id)
    fired: list[dict[str, Json]] = [
        {
            **{name: getattr(firing, name) for name in FIRING_FIELDS}, "instead": list(firing.instead),
            "documents": [{"id": document.id, "reason": document.reason} for document in firing.documents],
        }
        for firing in firings
    ]  # fmt: skip
    return Reply(fields={"fired": fired, "context": context}, text=context or "Nothing known speaks against this.")


def check_conversation(
    desk: Desk, conversation: Sequence[str | Mapping[str, Json]], ident: str = ""
) -> tuple[Sequence[Firing], str]:
    """Return what fires in a conversation, and the text to inject; without an id it shares no memory with others."""
    ident = ident or f"once-{secrets.token_hex(8)}"
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        firings = desk.librarian.check_triggers(list(conversation), conversation_id=ident, folder=desk.folder)
    finally:
        sys.setswitchinterval(DEFAULT_SWITCH_INTERVAL)
    context = desk.librarian.get_context(firings, conversation_id=ident).text if firings else ""
    return firings, context


# --- the overview ---


def list_documents(
    desk: Desk, *, below: str = "", view: str = "", limit: int = 50, offset: int = 0, **filters: str
) -> Reply:
    """Return the clusters and folders with their counts, and the documents that pass the filters, most urgent first."""
    catalog = desk.librarian.open_catalog()
    documents = [document for document in _listed(catalog, filters) if document.entry.path.startswith(below)]
    end = offset + limit
    shown = documents[offset:end]
    counts = Counter(document.entry.path.rpartition("/")[0] for document in documents)
    folders: list[dict[str, Json]] = [
        {"path": f"{path}/", "documents": count} for path, count in sorted(counts.most_common(MOST_FOLDERS))
    ]
    clusters = count_clusters(catalog)
    fields: dict[str, Json] = {
        "total": len(documents), "clusters": clusters, "folders": folders,
        "documents": [brief(document) for document in shown],
    }  # fmt: skip
    lines = [f"{len(documents)} documents in {len(clusters)} clusters"]
    if view in VIEWS:
        more, of_view = VIEWS[view](documents)
        return Reply(fields={**fields, **more}, text="\n".join((*lines, *of_view)))
    lines += [f"- {plain(str(cluster['id']))}: {cluster['documents']}" for cluster in clusters]
    lines += ["in the folders"] if folders else []
    lines += [f"- {plain(str(folder['path']))}: {folder['documents']}" for folder in folders]
    lines += [
        f"[{plain(entry.id)}] {plain(entry.title)} ({plain(entry.path)}){_lifetime(entry, desk.today)}"
        for entry in (document.entry for document in shown)
    ]
    if end < len(documents):
        fields["next_offset"] = end
        lines.append(f"More with offset {end}.")
    return Reply(fields=fields, text="\n".join(lines))


def _statistics(documents: Sequence[StoredDocument]) -> tuple[dict[str, Json], list[str]]:
    """Return how many documents there are of each urgency, category, platform and audience."""
    entries = [document.entry for document in documents]
    counted_by = {
        "urgency": Counter(entry.urgency or "unspecified" for entry in entries),
        "category": Counter(entry.path.partition("bok/")[2].rpartition("/")[0] for entry in entries),
        "platform": Counter(name for entry in entries for name in entry.platforms),
        "audience": Counter(name for entry in entries for name in entry.audience),
    }
    tables = {name: dict(counts.most_common(MOST_FOLDERS)) for name, counts in counted_by.items()}
    lines = [
        f"by {name}: {', '.join(f'{plain(value)} {count}' for value, count in counts.items())}"
        for name, counts in tables.items()
    ]
    return {"statistics": {name: {**counts} for name, counts in tables.items()}}, lines


def _tree(documents: Sequence[StoredDocument]) -> tuple[dict[str, Json], list[str]]:
    """Return the folders as a tree, each with its documents, of at most MOST_LINES lines."""
    lines: list[str] = []
    previous: list[str] = []
    for path, ident in sorted((document.entry.path, document.entry.id) for document in documents):
        *folders, name = path.split("/")
        first_difference = next(
            (depth for depth, pair in enumerate(zip(folders, previous, strict=False)) if pair[0] != pair[1]), None
        )
        shared = min(len(folders), len(previous)) if first_difference is None else first_difference
        lines += [f"{'  ' * depth}{plain(folder)}/" for depth, folder in enumerate(folders) if depth >= shared]
        lines.append(f"{'  ' * len(folders)}{plain(name)} [{plain(ident)}]")
        previous = folders
    return {"tree": [*lines[:MOST_LINES]]}, lines[:MOST_LINES]


VIEWS = {"stats": _statistics, "tree": _tree}  # of the overview, besides its sections


def _listed(catalog: Catalog, filters: Mapping[str, str]) -> list[StoredDocument]:
    """Return the documents that pass the filters, most urgent first; raise QueryError if a value is unknown."""
    present = {name: value for name, value in filters.items() if value}
    for name, value in present.items():
        if not catalog.keyword.has(name, value):
            known = ", ".join(catalog.keyword.values(name)[:30])
            raise QueryError(f"{name} {value!r} is unknown", fix=f"Known are: {known or 'none'}.")
    listed = catalog.keyword.listed(filters=present, limit=max(1, min(len(catalog), MOST_LISTED)))
    by_urgency = lambda document: (RANKS.get(document.entry.urgency, len(RANKS)), document.entry.id)  # noqa: E731
    return sorted(catalog.documents(listed), key=by_urgency)


def count_clusters(catalog: Catalog) -> list[dict[str, Json]]:
    """Return the clusters that contain documents, the largest first."""
    ordered = sorted(catalog.clusters.items(), key=lambda item: (-item[1].documents, item[0]))
    return [
        {"id": name, **{key: _as_list(value) for key, value in cluster.values().items()}} for name, cluster in ordered
    ]


def brief(document: StoredDocument) -> dict[str, Json]:
    """Return what a list shows of a document."""
    entry = document.entry
    return {
        "id": entry.id, "title": entry.title, "path": entry.path, "urgency": entry.urgency, "summary": entry.summary,
        "cluster": next(iter(entry.clusters), ""),
    }  # fmt: skip


# --- where a lesson belongs ---


def suggest(desk: Desk, *, text: str) -> Reply:
    """Return the folder and cluster in which a lesson belongs, judging by the documents that are most similar to it."""
    answer = desk.librarian.query(" ".join(text.split())[:MOST_QUERY], limit=SIMILAR + 2)
    nearest = list(answer.documents) if answer.reason != NOTHING else []
    own = [result for result in nearest if origin_of(result.path) == PROJECT]
    category = _category([result.path for result in own or nearest])
    advice = _advice(answer, own)
    similar = nearest[:SIMILAR]
    fields: dict[str, Json] = {
        "category": category, "path": f"bok/{category}/", "cluster": answer.primary_cluster,
        "similar": [
            {"id": result.id, "title": result.title, "path": result.path, "score": result.score} for result in similar
        ],
        "advice": advice,
    }  # fmt: skip
    lines = [f"Category {category} (bok/{category}/).", advice]
    lines += [f"- like [{plain(result.id)}] {plain(result.title)}" for result in similar]
    return Reply(fields=fields, text="\n".join(lines))


def _category(paths: Sequence[str]) -> str:
    """Return the first folder that two of the paths share, otherwise that of the first path, otherwise "patterns"."""
    folders = [path.partition("bok/")[2].rpartition("/")[0] for path in paths]
    shared = [folder for folder in folders if folder and folders.count(folder) > 1]
    return next(iter(shared), "") or next(filter(None, folders), "") or "patterns"


def _advice(answer: Answer, own: Sequence[Result]) -> str:
    if answer.matched is True and answer.confidence == "high" and own:
        return f"{own[0].id} covers the same: read it, and prefer save_lesson with update={own[0].id}."
    return "No document of the project covers this; save a new one."


# --- the graph ---


def from_graph(question: Callable[..., GraphAnswer], desk: Desk, **arguments: object) -> Reply:
    """Return the answer to one of the librarian's questions to the graph."""
    answer = question(desk.librarian, **arguments)
    return Reply(fields=answer.to_dict(), text=answer.text)


def entities(desk: Desk, *, fields: Sequence[str] = (), **arguments: object) -> Reply:
    """Return the entities of a type, or those that a name may mean; `fields` are written as name=value."""
    return from_graph(Librarian.entities, desk, fields=fields_of(fields), **arguments)


def export(
    desk: Desk,
    *,
    format: str = "json",  # noqa: A002 - as the tool calls it
    type: str = "",  # noqa: A002 - likewise
    limit: int = 1_000,
) -> Reply:
    """Return the graph, or what there is of one type, in a format for other programs."""
    with desk.librarian.open_graph() as graph:
        exported = exports.export(graph, format, kind=type, most=limit)
        content = "\n".join(exported.lines)
    return Reply(fields={"content": content, "complete": not exported.is_cut}, text=content)


# --- the prompts ---


class Prompt(Record):
    """A prompt: what it is for, its parameters, and its text, in which their names stand in braces."""

    description: str
    parameters: tuple[PromptArgument, ...]
    text: str


PROMPTS: Mapping[str, Prompt] = {
    name: Prompt(**table | {"parameters": tuple(PromptArgument(**parameter) for parameter in table["parameters"])})
    for name, table in toml_beside(__file__, "prompts").items()
}


def prompt_text(desk: Desk, name: str, values: Mapping[str, str] | None) -> str:
    """Return the text of a prompt; raise QueryError if there is no such prompt, or its arguments are wrong."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise QueryError(f"there is no prompt {name[:100]!r}", fix=f"Known are: {', '.join(PROMPTS)}.")
    arguments = {key: value[:MOST] for key, value in (values or {}).items() if value.strip()}
    known = {parameter.name: parameter.required for parameter in prompt.parameters}
    problems = [f"{key} is missing" for key, required in known.items() if required and key not in arguments]
    problems += [f"there is no parameter {key[:60]!r}" for key in arguments if key not in known]
    if problems:
        raise QueryError(f"{name}: {'; '.join(problems)}.", fix=f"The parameters are: {', '.join(known)}.")
    return prompt.text.format(**arguments | KNOWN[name](desk, arguments))


def _about_task(desk: Desk, arguments: Mapping[str, str]) -> dict[str, str]:
    find = signs_around(arguments.get("folder", desk.folder))
    signs = [] if desk.is_remote else [name for name in SIGNS if find([name])]
    folder = f"\n\nThe folder shows: {', '.join(signs)}." if signs else ""
    known = full(desk.librarian.query(arguments["task"], limit=5))
    return {"folder": folder, "known": known, "firings": _context_of(desk, f"User: {arguments['task']}")}


def _about_plan(desk: Desk, arguments: Mapping[str, str]) -> dict[str, str]:
    firings = _context_of(desk, f"Assistant: {arguments['plan']}") or "\n\nNo trigger of the commons fires on it."
    known = full(desk.librarian.query(" ".join(arguments["plan"].split())[:SEARCHED], limit=4))
    return {"firings": firings, "known": known}


def _context_of(desk: Desk, turn: str) -> str:
    context = check_conversation(desk, [turn])[1]
    return f"\n\n{context}" if context else ""


# What the commons knows, for the text of each prompt.
KNOWN: Mapping[str, Callable[[Desk, Mapping[str, str]], dict[str, str]]] = {
    "before-you-start": _about_task,
    "write-a-lesson": lambda desk, arguments: {"place": suggest(desk, text=arguments["mistake"]).text},
    "review-plan": _about_plan,
}
