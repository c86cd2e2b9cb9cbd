"""The commons that the specification shows: eight documents in three clusters, as a person would write them down."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import yaml

if TYPE_CHECKING:
    from pathlib import Path


class Lesson(NamedTuple):
    """A document of the commons, its text and the facts that the index lists."""

    id: str
    folder: str
    cluster: str
    title: str
    text: str
    facts: dict[str, object] = {}  # noqa: RUF012 - no lesson changes it


LESSONS = (
    Lesson(
        "netlify-hugo-version", "patterns", "deployment", "Netlify builds with another Hugo version",
        "The deployment fails since Netlify has an old Hugo. Set HUGO_VERSION in netlify.toml. Debugging starts with"
        " the log of the build.",
        {"platform": "netlify", "audience": ["developer"], "urgency": "critical",
         "quick_tips": ["Pin HUGO_VERSION in netlify.toml"]},
    ),
    Lesson(
        "dns-outage", "patterns", "availability", "DNS records missing after a move of the domain",
        "Visitors see an error instead of pages: the domain no longer resolves. Look up the DNS records with dig.",
        {"platform": "dns", "audience": ["developer"], "urgency": "critical",
         "action": "Look up the records with dig."},
    ),
    Lesson(
        "outage-checklist", "processes", "availability", "Checklist for an outage",
        "When the service is unavailable, look at the status page of the host, the DNS and the last deploy.",
        {"audience": ["developer"], "urgency": "high"},
    ),
    Lesson(
        "nuclear-option", "anti-patterns", "deployment", "Deleting a project to fix a build",
        "Environment variables and domains are gone after the project was deleted and recreated.",
        {"platform": "netlify", "audience": ["developer"], "urgency": "critical",
         "quick_tips": ["Never delete a project to fix a build."]},
    ),
    Lesson(
        "test-before-asking", "anti-patterns", "working", "Asking a person to test what was not tested",
        "Run it yourself before a human is asked to verify it.", {"audience": ["ai_agent"], "urgency": "medium"},
    ),
    Lesson(
        "direct-push", "anti-patterns", "working", "Pushing straight to production",
        "Open a pull request and deploy from the main branch.", {"audience": ["ai_agent"], "urgency": "high"},
    ),
    Lesson(
        "railway-https", "patterns", "deployment", "Railway redirects to http",
        "Behind the proxy of Railway, requests look like http. Trust the forwarded header.",
        {"platform": "railway", "audience": ["developer"], "urgency": "medium"},
    ),
    Lesson(
        "session-handover", "processes", "working", "Handing a session over",
        "Write down what was done, what is open and which files were touched.", {"audience": ["ai_agent"]},
    ),
)  # fmt: skip
CLUSTERS: dict[str, dict[str, object]] = {
    "deployment": {"description": "Putting sites online", "keywords": ["deploy", "build", "netlify"]},
    "availability": {"description": "What visitors can reach", "keywords": ["dns", "outage", "domain"]},
    "working": {"description": "How agents and people work together"},
}
PATTERNS = [
    {
        "query_keywords": ["deployment", "netlify"],
        "natural_language": [
            "my deployment to netlify fails", "why does netlify build another site", "deployment help",
        ],
        "primary_cluster": "deployment", "common_docs": ["netlify-hugo-version"],
    },
    {
        "query_keywords": ["deployment", "debugging"], "natural_language": ["deployment debugging"],
        "primary_cluster": "deployment", "common_docs": ["netlify-hugo-version", "railway-https", "dns-outage"],
    },
    {
        "query_keywords": ["project", "delete"], "natural_language": ["may I delete the project"],
        "primary_cluster": "deployment", "common_docs": ["nuclear-option"],
    },
]  # fmt: skip


def write_eight(root: Path) -> Path:
    """Write the commons into a folder, without the starter, and return the folder."""
    for lesson in LESSONS:
        place = root / f"bok/{lesson.folder}/{lesson.id}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {lesson.title}\n\n{lesson.text}\n", encoding="utf-8")
    clusters = {name: {**facts, "documents": _listed(name)} for name, facts in CLUSTERS.items()}
    index = {"version": "1.0", "clusters": clusters, "query_patterns": PATTERNS}
    (root / "commons_index.yaml").write_text(yaml.safe_dump(index, sort_keys=False), encoding="utf-8")
    (root / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    return root


def _listed(cluster: str) -> list[dict[str, object]]:
    """Return the entries of a cluster's documents."""
    return [
        {
            "id": lesson.id, "path": f"bok/{lesson.folder}/{lesson.id}.md", "title": lesson.title,
            "summary": f"{lesson.text.split('.')[0]}.", "keywords": lesson.id.split("-"), **lesson.facts,
        }
        for lesson in LESSONS
        if lesson.cluster == cluster
    ]  # fmt: skip
