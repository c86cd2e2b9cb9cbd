"""The librarian for Python programs: conversations that must be answered, and conversations that must not."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from deia import librarian as librarian_module
from deia import telemetry
from deia.compile import compiled_files
from deia.compile.catalog_folder import LOCK
from deia.errors import QueryError
from deia.folders import STARTER
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.watch.turn import conversation
from tests.derived import derived
from tests.eight_documents import write_eight

if TYPE_CHECKING:
    from pathlib import Path

SAID = "User: I'm going to delete the Netlify project and recreate it"
QUIET = (
    "don't delete the Netlify project",
    "how does the nuclear physics simulation converge?",
    'git commit -m "docs: never run git push --force"',
    'echo "terraform destroy"',
)
HELD = ("sudo terraform -chdir=infra destroy -auto-approve", "bash -c 'cd infra && terraform destroy'")


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    """Return a Librarian of the starter commons with its own state and cache."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder / "state"))
        patch.setenv("DEIA_CACHE", str(folder / "cache"))
        patch.delenv("DEIA_COMMONS", raising=False)
        librarian = Librarian(STARTER, ledger=False)
    librarian.check_triggers(["compiled before anything is timed"], conversation_id="first")
    return librarian


def call(command: str) -> dict[str, Any]:
    used = {"type": "tool_use", "name": "Bash", "input": {"command": command}}
    return {"role": "assistant", "content": [used]}


# --- what must be shown ---


@pytest.mark.slow
def test_deleting_and_recreating_a_netlify_project_is_met_with_the_checklist(starter: Librarian) -> None:
    firings = starter.check_triggers([SAID], conversation_id="must show")
    (part,) = starter.get_context(firings).parts
    assert part == {
        "event": "proactive_injection",
        "trigger": "netlify-delete-and-recreate",
        "because": 'phrase "delete the Netlify project and recreate" in user turn 1; context "netlify"',
        "confidence": "high",
        "urgency": "critical",
        "injection": {
            "type": "warning_with_docs",
            "message": part["injection"]["message"],
            "documents": part["injection"]["documents"],
            "action_required": part["injection"]["action_required"],
            "instead": part["injection"]["instead"],
            "timing": "pre-action",
        },
    }
    assert part["injection"]["message"]
    assert part["injection"]["action_required"]
    first, second = part["injection"]["documents"]
    assert list(first) == ["id", "path", "inject_mode", "reason"]
    assert (first["id"], first["inject_mode"]) == ("bok-nuclear-checklist", "full_context")
    assert (second["id"], second["inject_mode"]) == ("case-nuclear-recovery", "summary_only")
    assert os.path.isfile(f"{STARTER}/{first['path']}")


def test_the_injected_text_holds_the_facts_and_the_checklist_in_its_frame(starter: Librarian) -> None:
    text = starter.get_context(starter.check_triggers([SAID], conversation_id="text")).text
    assert text.startswith('<deia-reference trigger="netlify-delete-and-recreate" urgency="critical">\n')
    assert text.endswith("\n</deia-reference>")
    assert "Why now: phrase" in text
    assert "\n> - [ ]" in text or "\n> 1." in text or "\n> -" in text


@pytest.mark.parametrize("said", QUIET)
@pytest.mark.parametrize("form", ["plain", "user", "call"])
def test_mentioning_is_not_doing(starter: Librarian, said: str, form: str) -> None:
    turn: Any = {"plain": said, "user": f"User: {said}", "call": call(said)}[form]
    assert starter.check_triggers([turn], conversation_id=f"{said} as {form}") == []


@pytest.mark.parametrize("command", HELD)
def test_a_hidden_destroy_is_held_once_and_passes_when_it_is_made_again(starter: Librarian, command: str) -> None:
    first, second = (starter.watch([call(command)] * times, conversation_id=command)[-1] for times in (1, 2))
    assert [firing.trigger for firing in first.firings] == ["terraform-destroy"]
    assert first.injection is not None
    assert first.injection.action == "hold"
    assert second.firings == ()
    assert second.passed == ("terraform-destroy",)


def test_the_most_urgent_firing_comes_first(starter: Librarian) -> None:
    both = [call("git commit --no-verify -m x"), "User: I'm going to delete the Netlify project and recreate it"]
    urgencies = [firing.urgency for firing in starter.check_triggers(both, conversation_id="order")]
    order = [("critical", "high", "medium", "low").index(urgency) for urgency in urgencies]
    assert len(order) >= 2
    assert order == sorted(order)


# --- conversations ---


def test_a_conversation_may_grow_slide_or_come_turn_by_turn(starter: Librarian) -> None:
    turns = ["User: hello", "Assistant: hi", SAID, "Assistant: sure", "User: go on"]
    growing = [starter.check_triggers(turns[:upto], conversation_id="g") for upto in range(1, 6)]
    sliding = [starter.check_triggers(turns[max(0, at - 2) : at + 1], conversation_id="s") for at in range(5)]
    single = [starter.check_triggers([turn], conversation_id="1") for turn in turns]
    for way in (growing, sliding, single):
        assert [len(firings) for firings in way] == [0, 0, 1, 0, 0]
        assert way[2][0].turn == 3


def test_conversations_do_not_share_a_memory(starter: Librarian) -> None:
    assert all(starter.check_triggers([SAID], conversation_id=f"own {number}") for number in range(2))
    assert starter.check_triggers([SAID, SAID], conversation_id="own 0") == []


def test_the_platform_may_have_been_named_some_turns_ago(starter: Librarian) -> None:
    before = ["User: the Netlify deploy is stuck", "Assistant: I'll look"]
    assert starter.check_triggers([*before, "User: delete the site and recreate it"], conversation_id="ago")
    assert not starter.check_triggers(["User: delete the site and recreate it"], conversation_id="never")


def test_the_platform_may_show_in_the_working_folder(starter: Librarian, tmp_path: Path) -> None:
    said = ["User: delete the site and recreate it"]
    assert not starter.check_triggers(said, conversation_id="without", folder=str(tmp_path))
    (tmp_path / "netlify.toml").touch()
    assert starter.check_triggers(said, conversation_id="with", folder=str(tmp_path))


def test_a_pronoun_stands_for_what_was_named_some_turns_ago(starter: Librarian) -> None:
    talk = ["User: The Netlify site does not build", "Assistant: The cache may be stale.", "User: ok, recreate it"]
    assert starter.check_triggers(talk[:2], conversation_id="pronoun") == []
    (firing,) = starter.check_triggers(talk, conversation_id="pronoun")
    assert firing.trigger == "netlify-delete-and-recreate"


def test_a_yes_to_an_announcement_brings_it_back_and_the_call_is_held(starter: Librarian) -> None:
    talk: list[Any] = ["Assistant: I'll delete the Netlify project and recreate it. Ok?", "User: yes, go ahead"]
    talk.append(call("netlify sites:delete --force"))
    fired = [starter.check_triggers(talk[:end], conversation_id="yes") for end in (1, 2, 3, 3)]
    assert [[firing.trigger for firing in firings] for firings in fired] == [["netlify-delete-and-recreate"]] * 3 + [[]]
    assert "answers an announcement" in fired[1][0].because


def test_a_freeze_said_earlier_is_told_with_the_act(starter: Librarian) -> None:
    talk = ["User: We have a code freeze until Monday", "Assistant: Understood.", call("git push origin main")]
    because = {one.trigger: one.because for one in starter.check_triggers(talk, conversation_id="freeze")}
    assert because["change-during-freeze"].endswith('by "code freeze" 2 turns ago')


def test_a_file_in_the_folder_is_not_written_over_unread(starter: Librarian, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text("x", encoding="utf-8")
    for name, times in (("app.toml", 1), ("new.toml", 0)):
        write = {"type": "tool_use", "name": "Write", "input": {"file_path": name, "content": "y"}}
        read = {"type": "tool_use", "name": "Read", "input": {"file_path": "README.md"}}
        talk = [{"role": "assistant", "content": [read]}, {"role": "assistant", "content": [write]}]
        fired = starter.check_triggers(talk, conversation_id=f"unread {name}", folder=str(tmp_path))
        assert [one.trigger for one in fired] == ["file-overwritten-unread"] * times


def test_only_so_many_conversations_are_remembered(starter: Librarian, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "MOST_CONVERSATIONS", 3)
    for number in range(5):
        starter.check_triggers(["User: hello"], conversation_id=f"many {number}")
    assert starter._conversations is not None
    assert list(starter._conversations._states) == ["many 2", "many 3", "many 4"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["role", "content", "text", "tool_calls", "user", "tool_use", "input", "type", "delete"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["role", "content", "text", "tool", "tool_input", "tool_calls", "name", "type",
                                       "input", "function", "arguments", "is_error"]), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON, max_size=4))
def test_no_conversation_raises(starter: Librarian, conversation: list[Any]) -> None:
    assert isinstance(starter.check_triggers(conversation, conversation_id=repr(conversation)), list)


STRANGE = {
    "lone surrogates": "\ud800\udfff delete the netlify site and recreate it \udc00",
    "NUL": "\0delete\0the netlify site and recreate it\0",
    "right to left": "\u202eI'll delete the netlify site and recreate it\u202c",
    "emoji": "\U0001f525 I'll delete the netlify site and recreate it \U0001f468\u200d\U0001f469",
    "combining": "de\u0301le\u0301te" * 1000,
    "brackets": "([{<" * 25_000,
    "quotes": "\"'" * 50_000,
    "backticks": "`" * 100_000,
    "spaced backticks": "` a b" * 20_000,
    "fences": "```\n~~~\n" * 12_000,
    "one word": "a" * 100_000,
    "line ends": "\r\n\x0b\x0c\x85\u2028" * 15_000,
    "substitutions": "$(`" * 30_000,
}
GATE = "I will delete the netlify site and recreate it, netlify sites:delete, terraform destroy, git push --force: "


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGE)
def test_no_text_raises_or_takes_long(starter: Librarian, name: str) -> None:
    for text in (STRANGE[name], GATE + STRANGE[name], STRANGE[name] + "\n" + GATE):
        turns = [f"User: {text}", call(text), {"role": "tool", "content": text, "is_error": True}]
        began = time.process_time()
        starter.get_context(starter.check_triggers(turns, conversation_id=name))
        assert time.process_time() - began < 10


def test_a_megabyte_is_watched_to_its_end(starter: Librarian) -> None:
    text = "the checks are green and nothing else happened here.\n" * 20_000 + SAID
    began = time.process_time()
    assert starter.check_triggers([f"Assistant: {text}"], conversation_id="long")
    assert time.process_time() - began < 10


# --- asking and opening ---


def test_a_question_with_an_unknown_mode_or_limit_says_what_is_known(starter: Librarian) -> None:
    with pytest.raises(QueryError, match=r"mode 'x' is unknown.*natural, keywords"):
        starter.query("netlify", mode="x")
    with pytest.raises(QueryError, match="limit 0"):
        starter.query("netlify", limit=0)


@pytest.mark.parametrize("question", [None, 5, b"netlify", ["netlify"]])
def test_a_question_that_is_no_text_is_refused_as_such(starter: Librarian, question: Any) -> None:
    with pytest.raises(QueryError, match=r"not a text\. Ask in words"):
        starter.query(question)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"limit": "3"}, "limit '3' is no whole number"),
        ({"limit": 2.5}, "limit 2.5 is no whole number"),
        ({"keywords": [3]}, r"keywords \[3\] are no list of texts"),
        ({"keywords": 3}, "keywords 3 are no list of texts"),
        ({"expand_context": "nix"}, "expand_context 'nix' is unknown. Known are: neighbours, parent"),
        ({"platform": 3}, "platform is a int, not a text"),
        ({"since": 2026}, "since is a int, not a text"),
        ({"layer": 3}, "layer"),
        ({"since": "2026-02-31"}, "since '2026-02-31' is not a date. Write it as 2026, 2026-01 or 2026-01-31"),
        ({"since": "2w"}, "or as 7d, today, yesterday, this-week, this-month or this-year"),
        ({"until": "2026-04-31"}, "until '2026-04-31' is not a date"),
        (
            {"since": "2026-05-01", "until": "2026-01-01"},
            "since '2026-05-01' is after until '2026-01-01', .* since 2026-01-01 and until 2026-05-01",
        ),
        ({"since": "today", "until": "yesterday"}, "is after until"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_its_name(
    starter: Librarian, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(QueryError, match=problem):
        starter.query("netlify", **arguments)


@pytest.mark.parametrize("wrong", [5, 2.5, True, None, b"User: x"])
def test_what_is_no_conversation_is_refused(starter: Librarian, wrong: Any) -> None:
    with pytest.raises(QueryError, match="the conversation is a"):
        starter.check_triggers(wrong)


@pytest.mark.parametrize("wrong", [5, [5], None, [None], "text"])
def test_what_are_no_firings_is_refused(starter: Librarian, wrong: Any) -> None:
    with pytest.raises(QueryError, match=r"is no firing\. Pass on what check_triggers returns"):
        starter.get_context(wrong)
    assert starter.get_context([]).text == ""


@pytest.mark.parametrize("wrong", [5, b"here"])
def test_a_folder_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(QueryError, match=r"the commons' folder is a \w+, not a text\. Name a folder"):
        Librarian(wrong)


def test_a_single_text_is_one_keyword(starter: Librarian) -> None:
    assert starter.query("", keywords="netlify").documents == starter.query("", keywords=["netlify"]).documents


def test_a_folder_that_is_no_commons_is_refused_with_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(CommonsError, match=r"deia init"):
        Librarian(tmp_path)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a commons with one document and one trigger."""
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    root = tmp_path / "commons"
    (root / "bok").mkdir(parents=True)
    (root / "triggers").mkdir()
    entry = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy., keywords: [shop]}"
    index = f"version: '1.0'\nclusters: {{all: {{description: All., documents: [{entry}]}}}}\n"
    trigger = (
        "- {id: shop, title: T, urgency: high, message: Careful., documents: [{id: lesson, mode: full_context}],"
        " when: {any: [{phrase: sell shop}]}}\n"
    )
    (root / "commons_index.yaml").write_text(index, encoding="utf-8")
    (root / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy of the shop first.\n", encoding="utf-8")
    (root / "triggers" / "shop.yaml").write_text(trigger, encoding="utf-8")
    (root / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    return root


def test_a_changed_trigger_counts_from_the_next_look_on(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_files, "RECHECK", 0.0)
    librarian = Librarian(small)
    assert not librarian.check_triggers(["User: I will burn the shop"], conversation_id="before")
    file = small / "triggers" / "shop.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("sell shop", "burn shop"), encoding="utf-8")
    assert librarian.check_triggers(["User: I will burn the shop"], conversation_id="after")


@pytest.mark.parametrize("successor", ["newer", "lesson", "nobody"])
def test_an_injection_tells_what_is_superseded_by_another_lesson(small: Path, successor: str) -> None:
    index = small / "commons_index.yaml"
    text = index.read_text(encoding="utf-8")
    both = f"superseded_by: {successor}}}, {{id: newer, path: bok/newer.md, title: Newer copies}}"
    index.write_text(text.replace("keywords: [shop]}", f"keywords: [shop], {both}"), encoding="utf-8")
    (small / "bok" / "newer.md").write_text("# Newer copies\n\nCopy twice.\n", encoding="utf-8")
    librarian = Librarian(small)
    shown = librarian.get_context(librarian.check_triggers(["User: I will sell the shop"])).text
    assert ("no longer holds: superseded by newer" in shown) is (successor == "newer")
    assert ("no longer holds" in shown) is (successor == "newer")


@pytest.mark.parametrize("damage", [b"", b"DEIA-T1\n", b"\0" * 500])
def test_torn_compiled_triggers_are_made_again(small: Path, damage: bytes) -> None:
    Librarian(small).compile()
    (derived(small, os.environ) / "triggers").write_bytes(damage)
    assert Librarian(small).check_triggers(["User: I will sell the shop"])


def test_injections_are_logged_unless_nobody_wants_it(small: Path) -> None:
    for ledger in (False, True):
        librarian = Librarian(small, ledger=ledger)
        librarian.get_context(librarian.check_triggers(["User: I will sell the shop"]))
        assert (small / "telemetry" / "events").exists() is ledger


def test_the_time_of_an_answer_is_without_the_compile_that_it_waited_for(small: Path) -> None:
    Librarian(small).compile()
    document = small / "bok" / "lesson.md"
    document.write_text("# Copies\n\nMake two copies of the shop first.\n", encoding="utf-8")
    began = time.perf_counter()
    with FileLock(f"{derived(small, os.environ)}/{LOCK}") as lock, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(Librarian(small, ledger=True).query, "copies of the shop")
        time.sleep(0.5)  # the compile waits for the lock
        lock.release()
        assert answer.result().documents
    whole_ms = (time.perf_counter() - began) * 1000
    (segment,) = (small / "telemetry" / "events").glob("*.jsonl")
    event = json.loads(segment.read_text(encoding="utf-8").strip().splitlines()[-1])
    assert event["response_time_ms"] <= whole_ms - 500


def test_query_commons_is_called_as_the_specification_shows(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    asked = librarian_module.query_commons
    for form in ("paths_only", "minimal"):
        assert asked("copies of the shop", return_format=form) == "bok/lesson.md"
    assert "Make a copy of the shop first." in asked("copies of the shop", return_format="full_context")
    assert len(asked(topic="copies of the shop", cluster="all", mode="natural", tier="static")) == 1
    assert asked("copies", topic="shop").query == "copies shop"
    assert asked("copies", topic=None).query == "copies"
    for wrong in ({"query": None}, {"query": "copies", "topic": 3}, {"query": "copies", "return_format": 3}):
        with pytest.raises(QueryError):
            asked(**wrong)


def test_a_program_asks_the_eight_documents_as_the_specification_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DEIA_COMMONS", raising=False)
    monkeypatch.chdir(write_eight(tmp_path))
    answer = librarian_module.query("deployment help")
    assert len(answer) == len(answer.documents) == 3
    urgent = librarian_module.query_commons(topic="deployment", platform="netlify", urgency="critical")
    assert urgent.primary_docs[0].path in {
        "bok/patterns/netlify-hugo-version.md",
        "bok/anti-patterns/nuclear-option.md",
    }
    identity = telemetry.log_event(
        agent_id="bot", event="librarian_query", query="deployment help", matched=True, docs_returned=len(answer),
        response_time_ms=12,
    )  # fmt: skip
    (segment,) = (tmp_path / "telemetry/events").glob("*.jsonl")
    events = [json.loads(line) for line in segment.read_text(encoding="utf-8").splitlines() if line]
    assert [event["event"] for event in events] == ["query"] * 3
    assert (events[-1]["id"], events[-1]["agent"], events[-1]["returned"]) == (identity, "bot", 3)


def test_the_public_names_are_these() -> None:
    assert librarian_module.__all__ == ["Librarian", "check_triggers", "get_context", "query", "query_commons"]
    assert all(callable(getattr(librarian_module, name)) for name in librarian_module.__all__)
