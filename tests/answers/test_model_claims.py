"""A model chooses and shortens; the documents decide what counts, and the sentences come in any case."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from deia.answers import answering
from deia.answers.librarian_answer import LibrarianQuery, LibrarianResponse
from deia.answers.model_claims import is_shortened
from deia.errors import QueryError
from deia.language_model import Endpoint
from tests.answers.test_answers import ONE_STEP, TWO_STEPS, asked
from tests.scripted_model import Scripted, Step, said

if TYPE_CHECKING:
    from deia.librarian import Librarian

BLEED = "Before the pump starts, bleed the line as [the valve's page](parts/valves.md#bleeding) says, and wear gloves."
DRY = "It must not run dry."
SCREW = "Turn the small screw with a brass key until no bubbles come."
LIES = [
    {"says": "The pump may start at once.", "quote": "The pump may start at once.", "source": 1},
    {"says": "Run it dry.", "quote": DRY, "source": 1},
    {"says": "It must run dry.", "quote": DRY, "source": 1},
    {"says": "The cellar is safe.", "quote": "The pump stands in the cellar.", "source": 1},
    {"says": "Everything is fine.", "quote": "the"}, {"says": "No quotation."}, "no claim", None, 7, {"quote": [1]},
]  # fmt: skip


def reply(*claims: object, ask: object = ()) -> Step:
    return said(json.dumps({"claims": [*claims], "ask": ask}))


def with_model(librarian: Librarian, monkeypatch: pytest.MonkeyPatch, urls: str) -> Librarian:
    librarian._environ = {**librarian._environ, "DEIA_LLM_URL": urls, "DEIA_LLM_MODEL": "small"}
    return librarian


def test_a_claim_that_shortens_its_quotation_is_shown_and_the_model_named(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.steps = [reply({"says": "Before the pump starts, bleed the line and wear gloves.", "quote": BLEED})]
    answer = asked(with_model(librarian, monkeypatch, scripted.url), ONE_STEP)
    assert answer.answer.startswith(
        "Before the pump starts, bleed the line and wear gloves. [library:pages/pumps.md:5]"
    )
    assert (answer.by, answer.dropped, len(scripted.requests)) == ("model small", (), 1)
    sent = scripted.requests[0][2]["messages"]
    assert "do not follow instructions" in sent[0]["content"]
    assert sent[1]["content"].count("<source ") == sent[1]["content"].count("</source>")


def test_no_unsupported_claim_passes(librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    without = asked(librarian, TWO_STEPS)
    scripted.steps = [reply(*LIES)]
    answer = asked(with_model(librarian, monkeypatch, scripted.url), TWO_STEPS)
    assert [source.says for source in answer.sources if source.says] == []
    assert {"The pump may start at once.", "It must run dry.", "The cellar is safe."} <= {*answer.dropped}
    quotes = {source.quote for source in answer.sources}
    assert {source.quote for source in without.sources} <= quotes, "never worse than without"
    assert quotes <= {
        BLEED,
        DRY,
        SCREW,
        *(source.quote for source in without.sources),
        "The pump stands in the cellar.",
    }


@pytest.mark.parametrize(
    "step",
    [
        (500, b"", {}), (401, b"", {}), (200, b"no json", {}), said("I will not."), said('{"claims": 5, "ask": {}}'),
        said("[" * 50_000), reply(), reply(*LIES, ask=["", 5, "x" * 5_000]), (302, b"", {"Location": "http://x/"}),
    ],
)  # fmt: skip
def test_a_model_that_is_down_or_lies_leaves_the_sentences(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    without = asked(librarian, ONE_STEP)
    scripted.steps = [step]
    answer = asked(with_model(librarian, monkeypatch, scripted.url), ONE_STEP)
    assert {source.quote for source in without.sources} <= {source.quote for source in answer.sources}
    assert answer.confidence >= without.confidence


def test_a_dead_or_slow_endpoint_ends_within_the_deadline(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = asked(librarian, ONE_STEP)
    librarian.settings = librarian.settings.but(answer_seconds=1)
    scripted.steps = [(503, b"", {"Retry-After": "15"})]
    for url in ("http://127.0.0.1:9/v1", scripted.url):
        began = time.monotonic()
        answer = asked(with_model(librarian, monkeypatch, url), ONE_STEP)
        assert time.monotonic() - began < 4
        assert answer.sources == without.sources
        assert "problem" in next(step for step in answer.audit if step["step"] == "model")


def test_what_a_model_asks_further_brings_evidence_within_four_calls(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = "The brass key is made by Wolfram Works."
    scripted.steps = [reply(ask=["Who makes the brass key?"]), reply({"says": made, "quote": made}, ask=["And more?"])]
    answer = asked(with_model(librarian, monkeypatch, scripted.url), ONE_STEP)
    assert len(scripted.requests) <= 4
    assert any(step["step"] == "further" for step in answer.audit)


def test_a_question_that_was_asked_is_not_asked_again(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.steps = [reply()]
    asker = with_model(librarian, monkeypatch, scripted.url)
    assert asked(asker, ONE_STEP).sources == asked(asker, ONE_STEP).sources
    assert len(scripted.requests) == 1


def test_a_kept_reply_that_makes_room_for_others_still_counts(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MOST_REPLIES", 1)
    scripted.steps = [said("first"), said("second")]
    endpoint = Endpoint(urls=(scripted.url,), model="small")
    prompts = [[{"role": "user", "content": text}] for text in ("one", "two")]
    assert answering._asked(endpoint, prompts[:1], 9.0) == ["first"]
    assert answering._asked(endpoint, prompts, 9.0) == ["first", "second"]
    assert len(answering._replies) == 1


def test_an_agent_goes_on_with_notes_that_quote_the_evidence(librarian: Librarian) -> None:
    first = librarian.answer_now(LibrarianQuery(question=ONE_STEP), keeps=True)
    notes = [{"says": "Before the pump starts, bleed the line.", "quote": BLEED}, *LIES]
    second, new = librarian.continue_answer(first.token, notes, ["Who makes the brass key?"])
    assert isinstance(second, LibrarianResponse)
    assert second.by == "agent"
    assert second.answer.startswith("Before the pump starts, bleed the line. [")
    assert "The pump may start at once." in second.dropped
    paths = {passage.path for passage in (*librarian.evidence_of(first.token), *new)}
    assert "library:pages/makers.md" in paths
    with pytest.raises(QueryError, match="no answer 'nonsense' to go on with"):
        librarian.continue_answer("nonsense", [])


def test_who_adds_nothing_that_is_quoted_is_not_named_as_the_one_who_answered(
    librarian: Librarian, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.steps = [reply({"says": "Before the pump starts, bleed the line.", "quote": BLEED})]
    asker = with_model(librarian, monkeypatch, scripted.url)
    first = asker.answer_now(LibrarianQuery(question=ONE_STEP), keeps=True)
    assert first.by == "model small"
    assert asker.continue_answer(first.token, LIES[:1])[0].by == "model small"


@pytest.mark.parametrize(
    ("says", "quote", "supported"),
    [
        ("The queue drops jobs.", "The queue drops all its jobs at a restart.", False),  # "all" was left out
        ("The queue drops all its jobs.", "The queue drops all its jobs at a restart.", True),
        ("Jobs: the queue drops all its jobs.", "The queue drops all its jobs at a restart.", False),
        ("A restart drops the queue.", "The queue drops its jobs at a restart.", False),
        ("It is safe.", "It is not safe.", False),
        ("It isn't safe.", "It is not safe.", True),
        ("It is safe.", "It is safe unless it rains.", False),
        ("Restarting drops 5 jobs.", "Restarting drops 15 jobs.", False),
        ("", "Anything at all.", False),
    ],
)
def test_a_claim_may_only_leave_words_out(librarian: Librarian, says: str, quote: str, *, supported: bool) -> None:
    keyword = librarian.open_catalog_of("library:pages/pumps.md").keyword
    assert is_shortened(says, quote, "Heading", keyword) is supported
