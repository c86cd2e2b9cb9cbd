"""The sentences that all renderings share: how much was found, how sure that is, and what to do next."""

from __future__ import annotations

from deia.knowledge import Result
from deia.search.answer import SMALL_TALK, TOO_BROAD, Answer, AudienceView, PlatformView
from deia.search.rendering.columns import plain
from deia.text import counted

CLUSTERS = 20  # listed at most
BROWSED = 8
SITUATIONS = {"when_production_down": "When production is down", "for_prevention": "To prevent it"}


def outcome(answer: Answer) -> str:
    """Return a phrase about how much was found."""
    if answer.reason == TOO_BROAD:
        near = f"; {counted(len(answer.documents), 'document')} near it" if answer.documents else ""
        return f"That is too broad to answer{near}"
    if answer.reason == SMALL_TALK:
        return "Nothing was asked"
    if not answer.matched:
        return "Nothing here is relevant"
    view = answer.view
    count = view.documents_found if view else len(answer.documents)
    documents = f"{count} document{'s' * (count != 1)}"
    if isinstance(view, PlatformView):
        return plain(f"{documents} for the platform {view.platform}")
    if isinstance(view, AudienceView):
        return plain(f"{documents} for the audience {view.audience}")
    return documents


def headline(answer: Answer) -> str:
    """Return a sentence about how much was found and how sure that is."""
    sentence = outcome(answer)
    if answer.documents and not answer.view:
        sentence = f"{sentence}, confidence {answer.confidence}"
        sentence += f", cluster {plain(answer.primary_cluster)}" if answer.primary_cluster else ""
    return f"{sentence}."


def asked_before(answer: Answer) -> list[str]:
    """Return past questions like this one, each with the number of documents that answer it."""
    return [f"{past.query} ({counted(len(past.documents), 'document')})" for past in answer.similar_queries]


def to_browse(answer: Answer) -> list[str]:
    """Return the topics, platforms and audiences that a person can look through instead, a line for each kind."""
    return [f"{kind}: {', '.join(names[:BROWSED])}" for kind, names in answer.browse.items()]


def clusters_to_choose(answer: Answer) -> list[str]:
    """Return the clusters in which to go on, each with half a line about it."""
    about = answer.about_clusters
    return [f"{name} ({about[name]})" if name in about else name for name in answer.available_clusters[:CLUSTERS]]


def advice(answer: Answer) -> list[str]:
    """Return the warnings and what to do next, as lines."""
    notes = [f"Note: {warning}." for warning in answer.audit.warnings]
    similar = [f"Asked before: {line}" for line in asked_before(answer)]
    browse = [f"Browse {line}." for line in to_browse(answer)]
    clusters = [f"Cluster: {line}" for line in clusters_to_choose(answer)]
    related = [f"Related question: {line}" for line in answer.related_queries]
    overview = overview_lines(answer)
    graph = [f"Graph: {line}" for line in answer.dependents]
    following = [f"Next: {line}" for line in answer.suggested_next]
    return [
        plain(line)
        for line in (*notes, *graph, *answer.suggestions, *similar, *browse, *clusters, *overview, *following, *related)
    ]


def overview_lines(answer: Answer) -> list[str]:
    """Return what an overview says beside its documents: tips, when to read which, and in which order."""
    view = answer.view
    if isinstance(view, PlatformView):
        return [f"Tip: {tip}" for tip in view.quick_tips]
    if not isinstance(view, AudienceView):
        return []
    lines = [f"{SITUATIONS[name]}: {'; '.join(listed)}." for name, listed in by_situation(answer).items()]
    return [*lines, f"To read in this order: {', '.join(view.learning_path)}."] if view.learning_path else lines


def by_situation(answer: Answer) -> dict[str, list[str]]:
    """Return the titles of an audience's documents by when they are read, the situations in their order."""
    if not isinstance(answer.view, AudienceView):
        return {}
    titles = {result.id: result.title for result in answer.documents}
    listed = {name: [titles[ident] for ident in answer.view.by_urgency.get(name, ())] for name in SITUATIONS}
    return {name: found for name, found in listed.items() if found}


def why_listed(answer: Answer, result: Result) -> str:
    """Return the urgency of a document in an overview and why it is there; "" in any other answer."""
    urgency = "" if result.urgency and result.urgency in result.why_relevant else result.urgency
    return plain("; ".join(filter(None, (urgency, result.why_relevant)))) if answer.view else ""


def where(result: Result) -> str:
    """Return a document's path with its lines, in the form that editors and `deia show` read."""
    first, last = result.lines
    page = f", page {result.page}" if result.page else ""
    return plain(f"{result.path}:{first}-{last}{page}" if last > first else f"{result.path}:{first}{page}")
