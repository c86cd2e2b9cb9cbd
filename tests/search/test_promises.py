"""Tests of what a person may ask a small commons: the examples that the specification shows, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.index_records import Cluster, QueryPattern
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import search
from deia.search.question.symptoms import complaint

if TYPE_CHECKING:
    from deia.search.answer import Answer

# id, folder, cluster, title, text
LESSONS = (
    ("netlify-hugo-version", "patterns", "deployment", "Netlify builds with another Hugo version",
     "The deployment fails since Netlify has an old Hugo. Set HUGO_VERSION in netlify.toml."),
    ("dns-outage", "patterns", "availability", "DNS records missing after a move of the domain",
     "Visitors see an error instead of pages: the domain no longer resolves. Look up the DNS records with dig."),
    ("outage-checklist", "processes", "availability", "Checklist for an outage",
     "When the service is unavailable, look at the status page of the host, the DNS and the last deploy."),
    ("nuclear-option", "anti-patterns", "deployment", "Deleting a project to fix a build",
     "Environment variables and domains are gone after the project was deleted and recreated."),
    ("test-before-asking", "anti-patterns", "working", "Asking a person to test what was not tested",
     "Run it yourself before a human is asked to verify it."),
    ("direct-push", "anti-patterns", "working", "Pushing straight to production",
     "Open a pull request and deploy from the main branch."),
    ("railway-https", "patterns", "deployment", "Railway redirects to http",
     "Behind the proxy of Railway, requests look like http. Trust the forwarded header."),
    ("session-handover", "processes", "working", "Handing a session over",
     "Write down what was done, what is open and which files were touched."),
)  # fmt: skip
CLUSTERS = [
    Cluster(id="deployment", description="Putting sites online", keywords=("deploy", "build", "netlify")),
    Cluster(id="availability", description="What visitors can reach", keywords=("dns", "outage", "domain")),
    Cluster(id="working", description="How agents and people work together"),
]
PATTERNS = [
    QueryPattern(
        query_keywords=("deployment", "netlify"),
        natural_language=("my deployment to netlify fails", "why does netlify build another site", "deployment help"),
        primary_cluster="deployment",
        common_docs=("netlify-hugo-version",),
    ),
    QueryPattern(
        query_keywords=("project", "delete"),
        natural_language=("may I delete the project",),
        primary_cluster="deployment",
        common_docs=("nuclear-option",),
    ),
]


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = str(tmp_path_factory.mktemp("eight"))
    entries = [
        Entry(
            id=name, path=f"bok/{kind}/{name}.md", title=title, summary=text.split(".")[0], clusters=(cluster,),
            keywords=tuple(name.split("-")),
        )
        for name, kind, cluster, title, text in LESSONS
    ]  # fmt: skip
    documents = [
        Document(path=f"bok/{kind}/{name}.md", title=title, text=f"{text}\n") for name, kind, _, title, text in LESSONS
    ]
    build_catalog(entries, documents, CLUSTERS, PATTERNS, folder, built_at="2026-11-20T10:00:00Z", sources=())
    return open_catalog(folder)


def asked(catalog: Catalog, text: str) -> Answer:
    return search(catalog, Query(text=text))


def test_a_complaint_finds_lessons_about_its_causes(eight: Catalog) -> None:
    answer = asked(eight, "my site won't load")
    fields = answer.to_dict()
    assert {"dns-outage", "outage-checklist"} <= {result.id for result in answer.primary}
    assert fields["clusters_found"][0] == "availability"
    assert {"dns", "outage"} <= set(fields["concepts"])


def test_what_is_not_broken_is_no_complaint() -> None:
    assert not complaint("which pages of the site load the map".split()).causes


@pytest.mark.parametrize("text", ["my deployment to netlify fails", "deployment help", "netlify deployment debugging"])
def test_related_queries_are_all_wordings_of_the_matched_pattern_and_its_neighbours(eight: Catalog, text: str) -> None:
    answer = asked(eight, text)
    assert "netlify-hugo-version" in {result.id for result in answer.documents}
    wordings = {"my deployment to netlify fails", "why does netlify build another site", "deployment help"}
    assert wordings - {text} <= set(answer.related_queries)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["site", "won't", "load", "down", "mail", "x", "netlify", "disk", "full"]), max_size=9))
def test_a_complaint_has_causes_only_if_it_names_a_thing(said: list[str]) -> None:
    broken = complaint([word.replace("'", "") for word in said])
    assert bool(broken.causes) == bool(broken.everyday)
    assert broken.everyday <= {word.replace("'", "") for word in said}
