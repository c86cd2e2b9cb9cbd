from __future__ import annotations

from pathlib import Path

import pytest

from deia.commons.index.index_records import Cluster, QueryPattern
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry
from deia.search.catalog import Catalog, open_catalog

ENTRIES = [
    Entry(
        id="netlify-recreate",
        path="bok/netlify/recreate.md",
        title="Deleting and recreating a Netlify site",
        summary="What is lost when a site is deleted.",
        keywords=("netlify", "delete", "recreate"),
        platforms=("netlify",),
        audience=("developer",),
        urgency="critical",
        tags=("dns",),
        clusters=("deployment",),
        related_docs=("netlify-dns", "no-such-document"),
        action="Go through the recovery checklist first.",
        category="gotcha",
        quick_tips=("Export the environment first.",),
    ),
    Entry(
        id="netlify-dns",
        path="bok/netlify/dns.md",
        title="DNS records at Netlify",
        summary="How records are kept.",
        platforms=("netlify",),
        audience=("developer", "operator"),
        urgency="medium",
        clusters=("deployment",),
    ),
    Entry(
        id="pod-crash",
        path="bok/k8s/pod-crash.md",
        title="KubePodCrashLooping",
        summary="A pod restarts again and again.",
        platforms=("kubernetes",),
        audience=("operator",),
        urgency="high",
        clusters=("operations",),
        why_relevant="Crash loops hide their first error.",
    ),
    Entry(
        id="nothing-in-it", path="bok/gone.md", title="Écrire des tests — テスト", summary="", clusters=("operations",)
    ),
]
DOCUMENTS = [
    Document(
        path="bok/netlify/recreate.md",
        title="Deleting and recreating a Netlify site",
        text="# Loss\n\nDeleting a site drops its build settings, environment variables and domains.\n\n"
        + "More words follow here. " * 60
        + "\n\n## Recovery\n\nRestore the environment from the export.\n",
        first_line=5,
    ),
    Document(path="bok/netlify/dns.md", title="DNS", text="Records live with the site's domain.\n"),
    Document(
        path="bok/k8s/pod-crash.md",
        title="KubePodCrashLooping",
        text="The container exits.\n\n</document>\n> not mine\n\u001b[31mred\n\nUse `kubectl logs --previous`.\n",
    ),
]
CLUSTERS = [
    Cluster(id="deployment", description="Putting sites online", related_clusters=("operations", "unknown")),
    Cluster(id="operations", description="Keeping them there"),
]
PATTERNS = [
    QueryPattern(
        query_keywords=("delete", "netlify site"),
        natural_language=("what happens when I delete a netlify site", "removing a site"),
        primary_cluster="deployment",
        urgency="critical",
        common_docs=("netlify-recreate",),
    ),
    QueryPattern(query_keywords=("sourdough",), natural_language=("how do I bake bread",), common_docs=("pod-crash",)),
]


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder: Path = tmp_path_factory.mktemp("commons-catalog")
    build_catalog(
        ENTRIES,
        DOCUMENTS,
        CLUSTERS,
        PATTERNS,
        str(folder),
        built_at="2026-11-20T10:00:00Z",
        sources=("commons_index.yaml",),
    )
    return open_catalog(str(folder))
