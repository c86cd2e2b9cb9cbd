"""Tests of queries of every kind, with syntax, synonyms and exact names, in a small commons."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.commons.index.index_records import Concept
from deia.compile.catalog.build_catalog import build_catalog
from deia.errors import QueryError
from deia.knowledge import Document, Entry, Query
from deia.search.answer import Answer
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import ranking, search

LOCKFILE = "ERR_PNPM_OUTDATED_LOCKFILE"
ENTRIES = [
    Entry(
        id="dead-site", path="bok/netlify/dead-site.md", title="The dead site", platforms=("netlify",), tags=("dns",),
        audience=("devops",), urgency="critical", category="gotcha", updated="2026-03-01", clusters=("sites",),
    ),
    Entry(
        id="site-builds", path="bok/netlify/builds.md", title="Builds of a site", platforms=("netlify",),
        audience=("developer",), urgency="low", category="guide", updated="2025-11-20", verified="2026-01-10",
        clusters=("sites",),
    ),
    Entry(
        id="pods", path="bok/kube/pods.md", title="Pods that crash", platforms=("kubernetes",), audience=("devops",),
        urgency="high", extra={"type": "runbook"}, created="2026-02", clusters=("kube",),
    ),
    Entry(id="lockfile", path="bok/pnpm.md", title="Frozen installs", clusters=("sites",)),
    Entry(id="installs", path="bok/installs.md", title="Installing with pnpm and a lockfile", clusters=("sites",)),
    Entry(id="alert", path="bok/alert.md", title="KubePodCrashLooping", clusters=("kube",)),
]  # fmt: skip
TEXTS = {
    "bok/netlify/dead-site.md": "When a dead site\ncomes back, run `netlify sites:delete --force`. DNS is elsewhere.",
    "bok/netlify/builds.md": "The site is built anew. A deploy that is dead says build failed; the site stays.",
    "bok/kube/pods.md": "In Kubernetes a pod restarts. The Horizontal Pod Autoscaler (HPA) adds pods under load.",
    "bok/pnpm.md": f"The pipeline stops with {LOCKFILE} where package.json changed.",
    "bok/installs.md": "Installing packages with pnpm keeps a lockfile; the pipeline installs what it says. " * 5,
    "bok/alert.md": "The alert of a container that restarts.",
}
CONCEPTS = [Concept(words=("sourdough", "dead site"))]
TEN = [
    "what's the site's dns?", '"dead site', "site, dns, netlify", "why does it crash???", "deploy [build] (failed) {x}",
    "NOT netlify", "OR site AND dns NEAR/2 *", 'title:"^site* NEAR(a b) -', "",
    "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\nKeyError: 'site'",
    "netlify dns " * 8_500,
]  # fmt: skip


@pytest.fixture(scope="module")
def commons(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = str(tmp_path_factory.mktemp("understood"))
    documents = [Document(path=path, title="", text=text) for path, text in TEXTS.items()]
    build_catalog(ENTRIES, documents, [], [], folder, concepts=CONCEPTS)
    return open_catalog(folder)


def found_ids(catalog: Catalog, text: str) -> set[str]:
    return {result.id for result in search(catalog, Query(text=text)).documents}


def ask(catalog: Catalog, text: str) -> Answer:
    return search(catalog, Query(text=text))


# --- syntax ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ('"dead site"', {"dead-site"}), ('"DEAD  SITE"', {"dead-site"}), ('"site dead"', set()),
        ('"sites:delete --force" netlify', {"dead-site"}), ('"sites delete --force" netlify', set()),
        ('"ead site" netlify', set()), ('site -"build failed"', {"dead-site"}), ("site -dns", {"site-builds"}),
        ("platform:netlify", {"dead-site", "site-builds"}),
        ("platform:netlify platform:kubernetes -site", {"pods"}), ("-platform:netlify pod site", {"pods", "alert"}),
        ("audience:devops", {"dead-site", "pods"}), ("urgency:critical site", {"dead-site"}),
        ("tag:dns", {"dead-site"}), ("site -tag:dns", {"site-builds"}), ("cluster:kube", {"pods", "alert"}),
        ("type:gotcha", {"dead-site"}), ("type:runbook", {"pods"}), ("title:builds", {"site-builds"}),
        ('title:"site builds"', {"site-builds"}), ("id:pods", {"pods"}),
        ("path:bok/netlify", {"dead-site", "site-builds"}),
        ("path:pods.md", {"pods"}), ("path:bok/kube/pods.md pod", {"pods"}), ("updated:>2026-01", {"dead-site"}),
        ("updated:2025", {"site-builds"}), ("updated:>2025-01 updated:<2026-01", {"site-builds"}),
        ("verified:<2026-02-01", {"site-builds"}), ("created:2026-01..2026-03", {"pods"}), ("verified:<2020", set()),
    ],
)  # fmt: skip
def test_syntax_narrows_the_results(commons: Catalog, text: str, documents: set[str]) -> None:
    assert found_ids(commons, text) == documents


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("platform:netlfy site", "netlify"), ("type:gotch", "gotcha"), ("id:dead-sites", "dead-site"),
        ("path:bok/netlif", "bok/netlify"), ("title:bilds", "builds"), ("-tag:dnss site", "dns"),
        ("updated:yesterday", "updated:2026"), ("audience:florist", "devops"),
    ],
)  # fmt: skip
def test_the_error_for_an_unknown_value_lists_the_nearest_ones(commons: Catalog, text: str, near: str) -> None:
    with pytest.raises(QueryError) as refused:
        search(commons, Query(text=text))
    assert near in str(refused.value.fix)


def test_days_in_a_question_that_end_before_they_begin_are_refused(commons: Catalog) -> None:
    with pytest.raises(QueryError) as refused:
        search(commons, Query(text="site updated:2027..2025"))
    assert refused.value.message == "updated:2027..2025: '2027' is after '2025', so there is no day between them."
    assert refused.value.fix == "Exchange the two: updated:2025..2027."


def test_filters_beside_the_text_apply_too(commons: Catalog) -> None:
    assert not search(commons, Query(text="site platform:netlify", platform="kubernetes")).documents
    assert search(commons, Query(text="pod platform:kubernetes", platform="kubernetes")).primary[0].id == "pods"


def test_the_answer_shows_the_interpretation(commons: Catalog) -> None:
    audit = ask(commons, '"dead site" -builds platform:netlify').to_dict()["audit"]
    assert audit["understood"] == 'dead site; platform: netlify; word for word: "dead site"; without: builds'
    assert ask(commons, "dead site").audit.understood == ""


def test_a_quotation_that_occurs_nowhere_is_reported(commons: Catalog) -> None:
    assert ask(commons, '"site dead"').audit.warnings[0].startswith('no document contains "site dead" word for word')
    warned = ask(commons, 'how do I get to the site "undead things"')
    assert warned.documents
    assert "searched for its words instead" in warned.audit.warnings[0]


def test_the_query_of_an_answer_is_what_was_typed(commons: Catalog) -> None:
    for text in ('"dead site" -dns', "show me all netlify docs", "thanks!", "Error: site not found at 0x7f3a2b1c"):
        assert ask(commons, text).query == text


# --- kinds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "query_type"),
    [
        ("how do I delete a site?", "question", "natural_language"), ("site dns", "keywords", "natural_language"),
        ("show me all Netlify documentation", "platform", "platform_filter"),
        ("tag:dns", "filters", "natural_language"),
        ("what should DevOps engineers know?", "audience", "audience_view"),
        ("what should SREs know?", "audience", "audience_view"),
        ("netlify sites:delete --force", "command", "natural_language"),
        ("platform:netlify", "filters", "platform_filter"),
        ("error: build failed for the site", "error", "natural_language"), ("", "filters", "natural_language"),
    ],
)  # fmt: skip
def test_the_kind_is_reported_and_determines_the_answer(
    commons: Catalog, text: str, kind: str, query_type: str
) -> None:
    answer = ask(commons, text)
    assert (answer.audit.kind, answer.query_type) == (kind, query_type)


def test_an_overview_requested_in_words_equals_that_of_the_filter(commons: Catalog) -> None:
    by_words = ask(commons, "what should site reliability engineers know?").to_dict()
    by_filter = search(commons, Query(text="", audience="devops")).to_dict()
    assert {**by_words, "audit": {}} == {**by_filter, "audit": {}}


def test_small_talk_is_not_searched_for_but_risky_words_are(commons: Catalog) -> None:
    answer = ask(commons, "thanks!")
    assert (answer.matched, answer.reason, answer.to_dict()["reason"]) == (False, "conversational", "conversational")
    assert "netlify" in search(commons, Query(text="thanks!", platform="netlify")).to_dict().get("platform", "netlify")
    assert ask(commons, "ok delete it").reason != "conversational"


def test_a_stack_trace_is_searched_for_by_its_informative_line(commons: Catalog) -> None:
    trace = f"Progress: resolved 1, reused 0\n {LOCKFILE}  Cannot install with frozen\n    at /x/y.js:10:4\n"
    answer = ask(commons, trace)
    assert answer.primary[0].id == "lockfile"
    assert answer.audit.understood.startswith(f"error: {LOCKFILE}")


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tiers", [("static",), ()])
@pytest.mark.parametrize(
    ("text", "first"),
    [
        (LOCKFILE, "lockfile"), (f"installing with pnpm and a lockfile in the pipeline says {LOCKFILE}", "lockfile"),
        ("KubePodCrashLooping", "alert"), ("KubePodCrashLooping pods", "alert"),
    ],
)  # fmt: skip
def test_documents_with_an_exact_name_come_first(
    commons: Catalog, text: str, first: str, tiers: tuple[str, ...]
) -> None:
    assert ranking(commons, text, tiers=tiers)[0] == first
    scores = [result.score for result in search(commons, Query(text=text), tiers=tiers).documents]
    assert scores == sorted(scores, reverse=True)


# --- other words -----------------------------------------------------------------------------------------------------


def test_an_unused_word_is_replaced_by_a_synonym(commons: Catalog) -> None:
    answer = ask(commons, "k8s")
    assert answer.primary[0].id == "pods"
    assert answer.searched_for == "kubernetes"
    assert "kubernetes is another word for k8s" in answer.primary[0].why_relevant


def test_concepts_of_the_commons_provide_synonyms(commons: Catalog) -> None:
    assert ask(commons, "sourdough").primary[0].id == "dead-site"


def test_an_abbreviation_defined_in_a_text_finds_its_long_form(commons: Catalog) -> None:
    assert commons.concepts("hpa")[0][0] == "horizontal pod autoscaler"
    assert ask(commons, "horizontal pod autoscaler").searched_for == ""


# --- whatever is typed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEN, ids=lambda text: repr(text[:20]))
def test_queries_that_often_crash_parsers_are_answered(commons: Catalog, text: str) -> None:
    answer = ask(commons, text)
    assert answer.to_dict()
    assert answer.documents or answer.reason


@given(
    st.lists(
        st.sampled_from(
            [
                "netlify",
                '"',
                "-",
                "-dns",
                "site",
                ":",
                "(",
                "\n",
                "Error:",
                "platform:netlify",
                "updated:>2026",
                " ",
                "tag:",
            ]
        )
    ).map("".join)
    | st.text(st.characters(), max_size=100)
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_answered_or_a_value_in_it_is_reported(commons: Catalog, text: str) -> None:
    try:
        answer = search(commons, Query(text=text))
    except QueryError as refused:
        assert ":" in text and refused.fix  # noqa: PT017, PT018 - either an answer or such a refusal
    else:
        assert answer.to_dict()["audit"]["kind"]
