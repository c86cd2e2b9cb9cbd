"""What every rendering says of an answer in the same words: how much was found, how sure that is, what to do next.

It refuses to lay anything out.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.search.rendering.columns import plain

if TYPE_CHECKING:
    from deia.knowledge import Result
    from deia.search.answer import Answer

CLUSTERS = 20  # that are named


def found(answer: Answer) -> str:
    """Say how much was found."""
    if answer.reason == "query_too_broad":
        return "That is too broad to answer"
    if answer.reason == "conversational":
        return "Nothing was asked"
    if not answer.matched:
        return "Nothing here is relevant"
    count = int(answer.view.get("documents_found", len(answer.documents)))
    told = f"{count} document{'s' * (count != 1)}"
    for kind, name in (("platform_filter", "platform"), ("audience_view", "audience")):
        if answer.query_type == kind:
            return plain(f"{told} for the {name} {answer.view[name]}")
    return told


def headline(answer: Answer) -> str:
    """Say how much was found and how sure that is, as a sentence."""
    told = found(answer)
    if answer.documents and not answer.view:
        told = f"{told}, confidence {answer.confidence}"
        told += f", cluster {plain(answer.primary_cluster)}" if answer.primary_cluster else ""
    return f"{told}."


def advice(answer: Answer) -> list[str]:
    """Give what to do next, as lines."""
    told = [f"Note: {warning}." for warning in answer.audit.warnings]
    similar = [f"Asked before: {each.query}" for each in answer.similar_queries]
    clusters = [f"Clusters: {', '.join(answer.available_clusters[:CLUSTERS])}."] if answer.available_clusters else []
    related = [f"Related question: {line}" for line in answer.related_queries]
    path = answer.view.get("learning_path", ())
    order = [f"To read in this order: {', '.join(path)}."] if path else []
    following = [f"Next: {line}" for line in answer.suggested_next]
    return [plain(line) for line in (*told, *answer.suggestions, *similar, *clusters, *order, *following, *related)]


def where(result: Result) -> str:
    """Give a document's path with its lines, as editors and `deia show` read it."""
    first, last = result.lines
    return plain(f"{result.path}:{first}-{last}" if last > first else f"{result.path}:{first}")
