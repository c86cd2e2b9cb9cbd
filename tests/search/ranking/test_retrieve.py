"""Tests of meaning in retrieval: what it adds to words, when it is not used, and what it must not change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog import ivf_lists as sorting
from deia.compile.catalog import vectors as writing
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.match.tiers import open_tier, tiers_of
from deia.match.tokeniser import spelled_out
from deia.search.catalog import HEADER, Catalog, open_catalog
from deia.search.pipeline import candidates_by_meaning, find_candidates, observe_ranking, ranking, search, verdict_on
from deia.search.question.terms import corrected_text, named_share, read_question
from deia.search.ranking import retrieve as retrieving
from deia.search.ranking.confidence import OBSERVED, judge
from deia.search.ranking.retrieve import (
    as_judged,
    as_typed,
    choose_tier,
    judging_meaning,
    judging_tier,
    question_vector,
)
from deia.search.ranking.weights import verdict_weights

NOTES = {
    "backups": ("Backups", "Restore the database from last night's dump before you touch the schema."),
    "certificates": ("Certificates", "The TLS certificate expired and browsers refuse to open the site."),
    "pods": ("KubePodCrashLooping", "A container restarts again and again. Look at the previous logs."),
    "mail": ("Outgoing mail", "Messages land in the spam folder because the sender record is missing."),
}


def build(folder: Path, *, tiers: tuple[str, ...] = ("static",)) -> Catalog:
    """Compile NOTES."""
    documents = [Document(path=f"{name}.md", title=title, text=text) for name, (title, text) in NOTES.items()]
    entries = [
        Entry(id=name, path=f"{name}.md", title=title, platforms=("web",) if name == "mail" else ())
        for name, (title, _) in NOTES.items()
    ]
    build_catalog(entries, documents, [], [], str(folder), tiers=tiers)
    return open_catalog(str(folder))


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return build(tmp_path_factory.mktemp("notes"))


def test_a_query_in_other_words_finds_its_document_by_meaning(notes: Catalog) -> None:
    question = "undoing deletion with archived copies"
    assert ranking(notes, question, tiers=()) == []
    assert ranking(notes, question)[0] == "backups"


def test_a_lesson_whose_category_is_code_is_no_code(tmp_path: Path) -> None:
    document = Document(path="bok/reviews.md", title="Reviews", text="Every change has a reviewer.")
    entry = Entry(id="reviews", path="bok/reviews.md", title="Reviews", category="code")
    build_catalog([entry], [document], [], [], str(tmp_path), tiers=("static",))
    catalog = open_catalog(str(tmp_path))
    question, meaning = read_question("reviewer of a change", catalog), choose_tier(catalog, tiers=("static",))
    evidence = retrieving.retrieve(catalog, question, meaning=meaning, filters={}, limit=5)
    assert evidence.hits
    assert not evidence.code


def test_the_answer_names_its_tier(notes: Catalog) -> None:
    assert search(notes, Query(text="certificate expired")).audit.tier == "static"
    assert search(notes, Query(text="certificate expired"), tiers=()).audit.tier == "keyword"
    assert search(notes, Query(text="", keywords=("certificate",))).audit.tier == "keyword"


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Return a catalog that is searched like a large one: by lists, and without looking up all filtered documents."""
    for module in (sorting, writing):
        monkeypatch.setattr(module, "LISTED_FROM", 10)
    monkeypatch.setattr(retrieving, "MOST_COUNTED_OUT", 10)
    texts = [text for _, text in NOTES.values()]
    documents = [
        Document(path=f"{n:03}.md", title=f"Note {n}", text=f"{texts[n % 4]} Seen by team {n}.") for n in range(300)
    ]
    entries = [
        Entry(id=f"{n:03}", path=f"{n:03}.md", title=f"Note {n}", platforms=("web",) if n % 2 else ("desktop",))
        for n in range(300)
    ]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=("static",))
    return open_catalog(str(tmp_path))


@pytest.mark.parametrize("platform", ["web", "desktop"])
def test_filters_apply_to_meaning_in_a_large_catalog(large: Catalog, platform: str) -> None:
    assert large.vectors("static").lists is not None
    question = "undoing deletion with archived copies"
    assert ranking(large, question, tiers=()) == []
    results = search(large, Query(text=f"{question} platform:{platform}"))
    near = retrieving._near(
        large, large.vectors("static"), open_tier("static").encode(question), {"platform": platform}
    )
    assert len(near) >= retrieving.EXACTLY
    assert {large.vectors("static").place(passage)[0] % 2 for passage in near} == {int(platform == "web")}
    assert {int(document.id) % 2 for document in results.documents} <= {int(platform == "web")}


def test_a_large_catalog_is_searched_by_meaning_like_a_small_one(large: Catalog) -> None:
    best = ranking(large, "undoing deletion with archived copies", limit=5)
    assert len(best) == 5
    assert {int(document) % 4 for document in best} == {0}, "all of them are about backups"


def test_filters_apply_to_meaning(notes: Catalog) -> None:
    answer = search(notes, Query(text="TLS certificate expired, messages refused", platform="web"))
    assert {document.id for document in answer.documents} <= {"mail"}


def test_a_name_finds_its_document_whatever_else_is_near_in_meaning(notes: Catalog) -> None:
    assert ranking(notes, "KubePodCrashLooping")[0] == "pods"
    assert ranking(notes, "what does KubePodCrashLooping mean")[0] == "pods"


def test_a_catalog_without_vectors_is_searched_by_words_without_warning(tmp_path: Path) -> None:
    catalog = build(tmp_path, tiers=())
    answer = search(catalog, Query(text="certificate expired"))
    assert (answer.audit.tier, answer.audit.warnings) == ("keyword", ())
    assert answer.primary[0].id == "certificates"


def test_vectors_of_another_model_are_ignored_with_a_warning(tmp_path: Path) -> None:
    build(tmp_path)
    header = json.loads((tmp_path / HEADER).read_text())
    header["tiers"]["static"]["digest"] = "0" * 64
    (tmp_path / HEADER).write_text(json.dumps(header))
    answer = search(open_catalog(str(tmp_path)), Query(text="certificate expired"))
    assert answer.audit.tier == "keyword"
    assert "another static model" in answer.audit.warnings[0]
    assert "deia compile" in answer.audit.warnings[0]
    assert answer.primary[0].id == "certificates"


def test_a_tier_that_cannot_be_opened_is_reported_and_the_next_one_used(tmp_path: Path) -> None:
    catalog = build(tmp_path)
    (tmp_path / "static.codes").write_bytes(b"torn")
    chosen = choose_tier(catalog, tiers=("telepathy", "static"))
    assert chosen.tier is None
    assert "do not belong together" in chosen.warning


def test_the_model_reads_the_corrected_query(notes: Catalog) -> None:
    assert corrected_text(read_question("certificte expird", notes)) == "certificate expired"
    assert corrected_text(read_question("certificate expired", notes)) == "certificate expired"


def test_only_known_names_written_as_code_count_as_names(notes: Catalog) -> None:
    assert named_share(read_question("KubePodCrashLooping", notes)) == 1.0
    assert 0 < named_share(read_question("why KubePodCrashLooping after certificate refuse", notes)) < 1
    for text in ("certificate", "someUnknownName", "spam-folder messages", "", "e.g. the certificate"):
        assert named_share(read_question(text, notes)) == 0.0


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_splitting_names_loses_no_letter(text: str) -> None:
    letters = [character for character in text if not character.isspace() and character != "_"]
    assert [character for character in spelled_out(text) if character not in " _"] == letters


@given(st.text(max_size=80), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_ranked_within_the_limit(notes: Catalog, text: str, limit: int) -> None:
    results = ranking(notes, text, limit=limit)
    assert len(results) == len(set(results)) <= limit
    assert set(results) <= set(NOTES)


@pytest.mark.parametrize(("model", "said"), [("", "no model is set"), ("other/model", "compiled without other/model")])
def test_an_own_model_without_vectors_is_reported_and_not_loaded(notes: Catalog, model: str, said: str) -> None:
    meaning = choose_tier(notes, tiers=tiers_of("transformer", model=model))
    assert meaning.name == "static"
    assert said in meaning.warning
    assert "deia compile" in meaning.warning


def test_a_changed_own_model_compares_nothing_until_a_compile(tmp_path: Path) -> None:
    build(tmp_path)
    header = json.loads((tmp_path / HEADER).read_text())
    header["tiers"]["transformer"] = {"digest": "0" * 64, "dimensions": 384, "model": "one"}
    (tmp_path / HEADER).write_text(json.dumps(header))
    meaning = choose_tier(open_catalog(str(tmp_path)), tiers=tiers_of("transformer", model="two"))
    assert meaning.name == "keyword", "no other model takes the place of the one that was asked for"
    assert "compiled with one, not with two" in meaning.warning


def test_a_choice_sets_the_allowed_tiers() -> None:
    assert tiers_of("auto") == ("compact", "static")
    assert tiers_of("compact") == ("compact", "rescored", "static")
    assert tiers_of("static") == ("static",)
    assert tiers_of("keyword") == ()
    assert tiers_of("transformer", model="a/b:c") == ("transformer:a/b:c", "compact", "static")


CHINESE = {
    "pump": (
        "水泵手册",
        "启动水泵前必须先排空泵体内的空气。否则叶轮会过热损坏。压力表读数超过八巴时。应立即关闭进水阀并通知值班工程师。轴承每运行五百小时加一次润滑脂。",
    ),
    "boiler": ("锅炉检修", "安全阀每年由检验机构校验一次。点火前必须吹扫炉膛五分钟。炉渣在下午四点由运输队清走。"),
    "leave": ("请假制度", "员工每年有十二天带薪年假。请假超过三天要由部门经理批准。"),
}


def test_a_question_in_another_script_is_not_asked_of_the_sentence_model(tmp_path: Path) -> None:
    documents = [Document(path=f"{name}.md", title=title, text=text) for name, (title, text) in CHINESE.items()]
    entries = [Entry(id=name, path=f"{name}.md", title=title) for name, (title, _) in CHINESE.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=("static", "compact"))
    pages = open_catalog(str(tmp_path))
    for text in ("压力表超过八巴怎么办", "轴承什么时候加润滑脂"):
        answer = search(pages, Query(text=text), tiers=tiers_of("compact"))
        by_word_vectors = search(pages, Query(text=text), tiers=("static",))
        assert (next(iter(answer.documents)).id, answer.audit.tier) == ("pump", "static")
        assert answer.audit.warnings == by_word_vectors.audit.warnings
    assert not search(pages, Query(text="如何申请护照"), tiers=tiers_of("auto")).documents
    assert search(pages, Query(text="the valve of the boiler")).audit.tier == "compact"


def test_few_filtered_documents_are_all_shown(tmp_path: Path) -> None:
    names = ("dns", "builds", "domains", "forms")
    texts = {
        "dns": "A site has records.",
        "builds": "Builds of a site, the site's builds.",
        "domains": "A domain of a site.",
    }
    documents = [Document(path=f"{name}.md", title=name, text=texts.get(name, "Forms on a site.")) for name in names]
    others = [Document(path=f"o{at}.md", title=f"other {at}", text=f"Something else, number {at}.") for at in range(40)]
    entries = [
        Entry(
            id=document.path,
            path=document.path,
            title=document.title,
            platforms=("netlify",) if document in documents else (),
        )
        for document in (*documents, *others)
    ]
    build_catalog(entries, [*documents, *others], [], [], str(tmp_path))
    opened = open_catalog(str(tmp_path))
    for tiers in ((), ("static",)):
        answer = search(opened, Query(text="platform:netlify site"), tiers=tiers)
        assert {document.id for document in answer.documents} == {f"{name}.md" for name in names}
        assert not list(search(opened, Query(text="platform:netlify sourdough pancakes"), tiers=tiers).documents)


def test_a_misspelt_word_that_the_commons_lacks_has_the_vector_of_what_was_meant(notes: Catalog) -> None:
    static = open_tier("static")
    typed, meant = (
        question_vector(read_question(text, notes), static) for text in ("a garden brigde", "a garden bridge")
    )
    assert typed == meant
    assert question_vector(read_question("restore the dumps", notes), static) == static.encode("restore the dumps")


def test_the_sentence_model_reads_a_misspelt_word_as_it_is(notes: Catalog) -> None:
    compact, text = open_tier("compact"), "a garden brigde"
    assert list(question_vector(read_question(text, notes), compact)) == list(compact.encode(text))


def test_a_search_by_words_keeps_its_order_and_is_judged_by_word_vectors(notes: Catalog) -> None:
    question, meaning = read_question("the certificate expired before the restore", notes), choose_tier(notes, tiers=())
    candidates = find_candidates(notes, question, Query(text=question.text), meaning=meaning, filters={})
    judged = as_judged(notes, question, candidates.ranked, meaning)
    assert [document.number for document in judged] == [document.number for document in candidates.ranked]
    assert [document.score for document in judged] == [document.score for document in candidates.ranked]
    assert not any(document.likeness for document in candidates.ranked)
    assert judged[0].likeness > judged[1].likeness > 0
    observed = dict(zip(OBSERVED, observe_ranking(notes, candidates, meaning), strict=True))
    assert observed["likeness"] == judged[0].likeness
    assert observed["akin"] > 0
    assert judging_tier(notes, meaning) == "keyword"


def test_a_search_by_meaning_is_judged_by_its_own_likenesses(notes: Catalog) -> None:
    meaning = choose_tier(notes, tiers=("static",))
    question = read_question("the certificate expired", notes)
    ranked = find_candidates(notes, question, Query(text=question.text), meaning=meaning, filters={}).ranked
    assert as_judged(notes, question, ranked, meaning) is ranked
    assert judging_meaning(notes, meaning) is meaning
    assert judging_tier(notes, meaning) == "static"


def test_a_usual_word_that_was_corrected_counts_as_the_word_that_was_asked_about(notes: Catalog) -> None:
    question = read_question("restore the data from the folders", notes)
    misread = read_question("restore the database from the holder", notes)
    corrected = {term.typed: term.corrected for term in misread.terms}
    assert corrected["holder"] == "folder"  # which a search had better try
    read = {term.typed: (term.stem, term.corrected) for term in as_typed(notes, misread, "static").terms}
    assert read["holder"] == ("", "")
    assert read["restore"][0]
    assert as_typed(notes, misread, "compact") is misread
    assert as_typed(notes, question, "static") is question


def test_a_misspelt_word_and_one_cut_anew_stay_corrected(notes: Catalog) -> None:
    for text in ("restore the databsae", "data base dump"):
        question = read_question(text, notes)
        assert any(term.corrected for term in question.terms)
        assert as_typed(notes, question, "static") is question


def test_word_vectors_tell_whether_a_question_by_words_belongs(notes: Catalog) -> None:
    by_words, by_vectors = choose_tier(notes, tiers=()), choose_tier(notes, tiers=("static",))
    for text in ("the certificate expired before the restore", "the messages of a site in the folder"):
        question, query = read_question(text, notes), Query(text=text)
        candidates = find_candidates(notes, question, query, meaning=by_words, filters={})
        by_meaning = candidates_by_meaning(notes, candidates, query, meaning=by_words, filters={})
        assert by_meaning is not None
        other = find_candidates(notes, question, query, meaning=by_vectors, filters={})
        assert by_meaning.ranked == other.ranked
        verdict = verdict_on(notes, candidates, by_words, by_meaning)
        assert verdict.belongs == pytest.approx(
            judge(
                observe_ranking(notes, candidates, by_words),
                verdict_weights("keyword"),
                observe_ranking(notes, other, by_vectors),
            ).belongs
        )
        assert verdict.belongs != verdict_on(notes, candidates, by_words).belongs
    assert candidates_by_meaning(notes, other, query, meaning=by_vectors, filters={}) is None


def test_without_any_vectors_words_alone_are_judged(tmp_path: Path) -> None:
    plain = build(tmp_path, tiers=())
    question, meaning = read_question("the certificate expired", plain), choose_tier(plain)
    candidates = find_candidates(plain, question, Query(text=question.text), meaning=meaning, filters={})
    assert as_judged(plain, question, candidates.ranked, meaning) is candidates.ranked
    assert judging_tier(plain, meaning) == "words"
    assert observe_ranking(plain, candidates, meaning)[OBSERVED.index("likeness")] == 0.0
    assert search(plain, Query(text=question.text)).primary[0].id == "certificates"
