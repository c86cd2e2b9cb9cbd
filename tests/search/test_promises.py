"""Tests of what a person may ask a small commons: the examples that the specification shows, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.audit.quality import is_judged
from deia.commons.index.index_records import Cluster, QueryPattern
from deia.compile.catalog.build_catalog import build_catalog
from deia.folders import STARTER_PREFIX
from deia.knowledge import Document, Entry, Query
from deia.librarian import Librarian
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.search.question.symptoms import complaint
from deia.search.rendering.render import render
from tests.eight_documents import write_eight

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.answer import Answer
    from deia.search.catalog import Catalog

HALF_A_LINE = 60


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return Librarian(write_eight(tmp_path_factory.mktemp("eight")), ledger=False).open_catalog()


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
    assert (wordings | {"deployment debugging"}) - {text} <= set(answer.related_queries)


def test_a_recorded_question_gets_its_cluster_and_its_own_documents_first_whatever_they_say(tmp_path: Path) -> None:
    texts = {"ttl": "Lower the TTL a day before.", "apex": "Use ALIAS or A records.", "oven": "Preheat it."}
    entries = [Entry(id=name, path=f"bok/{name}.md", title=name, platforms=("dns",)) for name in texts]
    documents = [Document(path=f"bok/{name}.md", title=name, text=f"{text}\n") for name, text in texts.items()]
    text = "how do we move our domain to another provider"
    past = QueryPattern(natural_language=("x", text), common_docs=("apex", "gone", "ttl"), primary_cluster="names")
    build_catalog(entries, documents, [Cluster(id="names")], [past], str(tmp_path))
    catalog = open_catalog(str(tmp_path))
    for asked_as in (text, f"{text.upper()}?"):
        answer = search(catalog, Query(text=asked_as))
        assert [result.id for result in answer.primary[:2]] == ["apex", "ttl"]
        assert (answer.matched, answer.confidence, answer.primary_cluster) == (True, "high", "names")
        assert answer.primary[0].passage == "Use ALIAS or A records."
    assert not search(catalog, Query(text=text), recorded=False).matched
    assert [result.id for result in search(catalog, Query(text=text, limit=1)).documents] == ["apex"]
    assert not search(catalog, Query(text=f"{text} of ours and more")).matched


def test_a_recorded_question_is_no_answer_where_its_documents_do_not_pass_or_hold(tmp_path: Path) -> None:
    entries = [
        Entry(id="old", path="bok/old.md", title="Moving a domain", platforms=("dns",), valid_until="2026-01-01"),
        Entry(id="new", path="bok/new.md", title="Domains, and moving them", platforms=("web",)),
    ]
    documents = [Document(path=entry.path, title=entry.title, text=f"{entry.title}.\n") for entry in entries]
    past = QueryPattern(natural_language=("moving a domain",), common_docs=("old",))
    build_catalog(entries, documents, [], [past], str(tmp_path))
    catalog, today = open_catalog(str(tmp_path)), "2026-03-01T10:00:00Z"
    assert search(catalog, Query(text="moving a domain"), checked_at=today).probability < 1
    found = search(catalog, Query(text="moving a domain", platform="web"), checked_at=today).documents
    assert [result.id for result in found] == ["new"]


@pytest.mark.parametrize("query", [Query(text="", cluster="working"), Query(text="cluster:working")])
def test_of_documents_that_only_a_filter_chose_no_relevance_is_told(eight: Catalog, query: Query) -> None:
    answer = search(eight, query)
    documents = answer.to_dict()["documents"]["primary"]
    assert len(documents) == 3
    assert [document.get("relevance") for document in documents] == [None] * 3
    assert not any("relevance" in render(answer, form) for form in ("xml", "json", "yaml", "summary", "table", "full"))
    assert not is_judged(answer)
    ranked = search(eight, query.but(text=f"{query.text} deployment fails"))
    assert ranked.to_dict()["documents"]["primary"][0]["relevance"] == "100%"
    assert is_judged(ranked)


def test_the_only_document_that_fits_is_wholly_relevant(tmp_path: Path) -> None:
    entries = [Entry(id="oven", path="bok/oven.md", title="Preheating an oven")]
    build_catalog(entries, [Document(path="bok/oven.md", title="", text="Preheat it.\n")], [], [], str(tmp_path))
    answer = search(open_catalog(str(tmp_path)), Query(text="preheating the oven"))
    assert answer.to_dict()["documents"]["primary"][0]["relevance"] == "100%"


def test_nothing_asked_names_narrower_questions_a_platform_and_the_urgency(eight: Catalog) -> None:
    for text in ("", "the"):
        suggestions = asked(eight, text).to_dict()["suggestions"]
        assert "Narrower: my deployment to netlify fails" in suggestions
        assert "On which platform: netlify, dns?" in suggestions
        assert "Is production down, or are you learning?" in suggestions


@pytest.mark.parametrize("text", ["working", "Working", "pages", "look"])
def test_what_nothing_surely_answers_in_a_small_commons_says_why_and_asks_back(eight: Catalog, text: str) -> None:
    answer = asked(eight, text)
    assert (answer.matched, answer.reason) == ("partial", "query_too_broad")
    assert len([line for line in answer.suggestions if line.startswith("Narrower: ")]) >= 2


@pytest.mark.parametrize("text", ["", "dns"])
def test_filters_that_contradict_each_other_say_how_many_pass_each(eight: Catalog, text: str) -> None:
    answer = search(eight, Query(text=text, cluster="working", platform="netlify"))
    assert (answer.matched, answer.reason) == (False, "no_documents_match")
    assert answer.suggestions[0] == "No document passes all filters: platform netlify (2), cluster working (3)."
    assert answer.browse["topics"] == ("deployment", "working", "availability")


def test_an_overview_says_the_same_in_every_form(eight: Catalog) -> None:
    platform, audience = Query(text="", platform="netlify"), Query(text="", audience="developer")
    for form in ("summary", "markdown", "xml", "full"):
        shown = render(search(eight, platform), form).replace("\\", "")
        assert "Never delete a project to fix a build." in shown
        assert "2 documents for the platform netlify" in shown
        learned = render(search(eight, audience), form).replace("\\", "")
        assert "When production is down: " in learned
        assert "To read in this order: " in learned
    for form in ("summary", "markdown", "xml", "full"):
        assert "critical" in render(search(eight, platform), form)
        assert "gotcha, critical: " in render(search(eight, audience), form)
    assert "> The deployment fails since Netlify has an old Hugo." in render(search(eight, platform), "full")
    assert 'relevance="0%"' not in render(search(eight, platform), "xml")
    assert search(eight, platform).to_dict()["by_category"] == {
        "gotcha": ["netlify-hugo-version"], "anti-pattern": ["nuclear-option"],
    }  # fmt: skip


def test_no_match_names_a_broader_keyword_what_to_browse_and_similar_questions_with_counts(eight: Catalog) -> None:
    answer = asked(eight, "rust debugging tools")
    fields = answer.to_dict()
    assert (fields["matched"], fields["reason"]) == (False, "no_documents_match")
    assert any("'debugging' alone" in line for line in fields["suggestions"])
    assert fields["browse"] == {
        "topics": ["deployment", "working", "availability"], "platforms": ["netlify", "dns", "railway"],
        "audiences": ["developer", "ai_agent"],
    }  # fmt: skip
    documents = ["netlify-hugo-version", "railway-https", "dns-outage"]
    assert fields["similar_queries"] == [{"query": "deployment debugging", "documents": documents, "count": 3}]
    for form in ("summary", "table", "markdown", "xml"):
        shown = render(answer, form).replace("\\", "")
        assert "deployment debugging (3 documents)" in shown
        assert all(f"{kind}: {names[0]}" in shown for kind, names in fields["browse"].items())


def test_a_sum_is_answered_with_nothing(eight: Catalog) -> None:
    answer = asked(eight, "what's 2+2")
    assert (answer.matched, len(answer.documents)) == (False, 0)


def test_the_view_of_a_platform_has_half_a_line_for_each_document_and_tips_as_sentences(eight: Catalog) -> None:
    fields = search(eight, Query(text="", platform="netlify")).to_dict()
    assert [document["id"] for document in fields["about_documents"]] == ["netlify-hugo-version", "nuclear-option"]
    assert all(0 < len(document["about"]) <= HALF_A_LINE for document in fields["about_documents"])
    assert fields["quick_tips"] == ["Pin HUGO_VERSION in netlify.toml.", "Never delete a project to fix a build."]


def test_without_learning_paths_an_audience_reads_each_nature_of_each_cluster_in_order(eight: Catalog) -> None:
    fields = search(eight, Query(text="", audience="developer")).to_dict()
    assert fields["learning_path"] == ["nuclear-option", "dns-outage", "netlify-hugo-version", "outage-checklist"]
    natures = [fields["learning_reasons"][name].partition(":")[0] for name in fields["learning_path"]]
    assert natures == ["anti-pattern, critical", "gotcha, critical", "gotcha, critical", "checklist, high"]
    assert fields["by_urgency"] == {
        "when_production_down": ["dns-outage", "netlify-hugo-version", "outage-checklist"],
        "for_prevention": ["nuclear-option", "railway-https"],
    }


def test_an_answer_carries_passages_relevance_an_action_clusters_and_corrected_words(eight: Catalog) -> None:
    fields = asked(eight, "netlfy deploymnt dns domain").to_dict()
    assert fields["corrected"] == ["netlify", "deployment"]
    assert fields["action"] == "Look up the records with dig."
    assert {"deployment", "availability"} <= set(fields["clusters_found"])
    document = next(result for result in fields["documents"]["primary"] if result["id"] == "dns-outage")
    assert document["relevance"].endswith("%")
    assert document["heading"] == "DNS records missing after a move of the domain"
    assert "the domain no longer resolves" in document["passage"]


def test_a_tool_result_may_be_xml_under_a_line_that_says_what_was_found(eight: Catalog) -> None:
    answer = asked(eight, "my site won't load")
    head, _, body = render(answer, "xml").partition("\n")
    assert head == "Found 3 documents about my site won't load"
    assert f'<primary_docs><doc path="{answer.primary[0].path}"' in body
    assert body.startswith('<answer matched="true"')
    assert "<why>" in body


def test_xml_says_what_is_too_broad_and_what_no_longer_holds(tmp_path: Path) -> None:
    catalog = Librarian(write_eight(tmp_path), ledger=False).open_catalog()
    nothing = render(asked(catalog, "which tea is best for Martians"), "xml")
    assert '<answer matched="false" reason="no_documents_match"' in nothing
    broad = render(asked(catalog, ""), "xml")
    assert ' reason="query_too_broad"' in broad
    assert not broad.startswith("Found")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["site", "won't", "load", "down", "mail", "x", "netlify", "disk", "full"]), max_size=9))
def test_a_complaint_has_causes_only_if_it_names_a_thing(words: list[str]) -> None:
    broken = complaint([word.replace("'", "") for word in words])
    assert bool(broken.causes) == bool(broken.everyday)
    assert broken.everyday <= {word.replace("'", "") for word in words}


def test_what_is_searched_without_the_starter_is_not_answered_with_hints_from_it(tmp_path: Path) -> None:
    place = f"{STARTER_PREFIX}bok/git.md"
    entries = [
        Entry(id="git", path=place, title="Git reset", platforms=("git",), audience=("developer",), clusters=("vcs",)),
        Entry(id="oven", path="bok/oven.md", title="Preheating an oven", platforms=("oven",)),
    ]
    documents = [Document(path=entry.path, title=entry.title, text=f"{entry.title}.\n") for entry in entries]
    past = [QueryPattern(natural_language=("git reset a branch",), common_docs=("git",))]
    build_catalog(entries, documents, [Cluster(id="vcs")], past, str(tmp_path))
    catalog, text = open_catalog(str(tmp_path)), "git reset of spaceships"
    assert search(catalog, Query(text=text, layers=("own",))).browse == {"platforms": ("oven",)}
    answer = search(catalog, Query(text=text, layers=("own",)))
    assert (answer.similar_queries, [line for line in answer.suggestions if "alone" in line]) == ((), [])
