from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.evaluate.transcripts import read_conversations, read_transcript
from deia.watch.turn.conversation import turns_of


def said(text: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns_of(read_transcript(text))]


TURNS = [("user", "delete it"), ("assistant", "I will.\n\nNow.")]
CLAUDE_CODE = [
    {"type": "summary", "summary": "x", "leafUuid": "1"},
    {"type": "user", "message": {"role": "user", "content": "delete it"}, "uuid": "2"},
    {"type": "file-history-snapshot", "snapshot": {}},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "I will.\n\nNow."}]}},
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"role": role, "content": text} for role, text in TURNS]),
        json.dumps([{"role": role, "text": text} for role, text in TURNS], indent=2),
        json.dumps({"messages": [{"role": role, "content": text} for role, text in TURNS]}),
        json.dumps(["User: delete it", "Assistant: I will.\n\nNow."]),
        "\n".join(json.dumps({"role": role, "text": text}) for role, text in TURNS),
        "\n".join(map(json.dumps, CLAUDE_CODE)),
        "\ufeffUser: delete it\nAssistant: I will.\n\nNow.\n",
        "**User:** delete it\n\n**Assistant:** I will.\n\nNow.",
        "## User\n\ndelete it\n\n## Assistant\n\nI will.\n\nNow.",
        "Human: delete it\n\nAI: I will.\n\nNow.",
    ],
)
def test_a_conversation_is_read_whatever_its_form(text: str) -> None:
    assert said(text) == TURNS


def test_a_broken_line_among_json_lines_is_passed_over() -> None:
    assert said('{"role": "user", "text": "a"}\n{torn\n{"role": "assistant", "text": "b"}') == [
        ("user", "a"),
        ("assistant", "b"),
    ]


def test_a_speakers_name_inside_a_code_block_is_code() -> None:
    text = "User: look at this\n```\nAssistant: not said\n```\ndone"
    assert said(text) == [("user", "look at this\n```\nAssistant: not said\n```\ndone")]


def test_a_text_in_which_nobody_speaks_is_the_users() -> None:
    assert said("Note: delete it\nand recreate it") == [("user", "Note: delete it\nand recreate it")]


def test_nothing_is_no_turn() -> None:
    assert said("") == said(" \n\n") == said("[]") == []


@given(st.text(max_size=60) | st.text(alphabet='{}[]":,User \n#*`', max_size=60))
@settings(max_examples=100)
def test_no_text_breaks_the_reading(text: str) -> None:
    for role, _ in said(text):
        assert role


CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
ANSWER = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "none"}], "is_error": True}


def test_a_claude_code_result_knows_its_call_and_what_the_host_wrote_is_nobodys_turn() -> None:
    lines = [
        {"type": "user", "cwd": "/x", "message": {"role": "user", "content": "look"}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
        {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "so"}, CALL]}},
        {"type": "user", "message": {"role": "user", "content": [ANSWER]}},
    ]
    text = "\n".join(map(json.dumps, lines))
    assert said(text) == [("user", "look"), ("assistant", "so"), ("tool_call", "ls"), ("tool_result", "none")]
    result = read_transcript(text)[-1]
    assert (result.tool, result.tool_input, result.failed) == ("Bash", {"command": "ls"}, True)


def codex(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def test_a_codex_rollout_is_read_once_and_without_its_own_state() -> None:
    lines = [
        codex("session_meta", id="s", cwd="/x"),
        codex("event_msg", type="user_message", message="delete it"),
        codex("response_item", type="message", role="developer", content=[{"type": "input_text", "text": "rules"}]),
        codex("response_item", type="message", role="user",
              content=[{"type": "input_text", "text": "<environment_context>\n</environment_context>"}]),
        codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": "delete it"}]),
        codex("response_item", type="reasoning", summary=[]),
        codex("response_item", type="function_call", name="shell", call_id="1",
              arguments=json.dumps({"command": ["bash", "-lc", "rm x"]})),
        codex("response_item", type="function_call_output", call_id="1",
              output=json.dumps({"output": "rm: no x", "metadata": {"exit_code": 1}})),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="2", input="*** Begin Patch"),
        codex("response_item", type="custom_tool_call_output", call_id="2", output="Process exited with code 0\nok"),
        codex("response_item", type="function_call_output", call_id="3", output="Process exited with code 2\nbad"),
        codex("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
    ]  # fmt: skip
    turns = read_transcript("\n".join(map(json.dumps, lines)))
    assert [(turn.role, turn.tool, turn.failed) for turn in turns] == [
        ("system", "", False), ("user", "", False), ("tool_call", "shell", False), ("tool_result", "shell", True),
        ("tool_call", "apply_patch", False), ("tool_result", "apply_patch", False), ("tool_result", "", True),
        ("assistant", "", False),
    ]  # fmt: skip
    assert turns[2].tool_input == {"command": ["bash", "-lc", "rm x"]}
    assert turns[4].tool_input == {"input": "*** Begin Patch"}


CURSOR = [
    {"type": 1, "text": "delete it"},
    {
        "type": 2,
        "text": "",
        "toolFormerData": {"name": "run_terminal_cmd", "rawArgs": '{"command": "rm x"}', "result": "ok"},
    },
    {"type": 2, "text": "Done."},
]


@pytest.mark.parametrize(
    "whole",
    [{"composerId": "1", "conversation": CURSOR}, {"tabs": [{"bubbles": CURSOR}]}, [{"conversation": CURSOR}]],
)
def test_cursors_own_forms_are_read(whole: object) -> None:
    assert said(json.dumps(whole)) == [
        ("user", "delete it"), ("tool_call", "rm x"), ("tool_result", "ok"), ("assistant", "Done."),
    ]  # fmt: skip


def test_cursors_agent_lines_have_the_role_beside_the_message() -> None:
    line = {"role": "assistant", "message": {"content": [{"type": "text", "text": "I will."}]}}
    assert said(json.dumps(line) + "\n" + json.dumps(line)) == [("assistant", "I will.")] * 2


def test_a_chat_of_gemini_has_its_calls_with_their_results() -> None:
    call = {"id": "1", "name": "run_shell_command", "args": {"command": "rm x"}, "status": "error",
            "result": [{"functionResponse": {"response": {"output": "no x", "error": "failed"}}}]}  # fmt: skip
    entries = [
        {"id": "a", "type": "user", "content": [{"text": "delete it"}]},
        {"id": "b", "type": "gemini", "content": "I will.", "toolCalls": [call]},
        {"id": "c", "type": "info", "content": "Cancelled."},
    ]
    turns = read_transcript(json.dumps({"sessionId": "s", "messages": entries}))
    assert [(turn.role, turn.text) for turn in turns[:4]] == [
        ("user", "delete it"), ("assistant", "I will."), ("tool_call", "rm x"), ("tool_result", "no x\nfailed"),
    ]  # fmt: skip
    assert (turns[3].tool, turns[3].tool_input, turns[3].failed) == ("run_shell_command", {"command": "rm x"}, True)


def test_events_of_copilot_are_turns_and_its_own_state_is_none() -> None:
    events = [
        ("session.start", {"context": {"cwd": "/x"}}), ("user.message", {"content": "delete it"}),
        ("assistant.turn_start", {"turnId": "0"}),
        ("assistant.message", {"content": "I will.", "toolRequests": [
            {"toolCallId": "1", "name": "bash", "arguments": {"command": "rm x"}}]}),
        ("tool.execution_start", {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "rm x"}}),
        ("tool.execution_complete", {"toolCallId": "1", "success": False, "result": {"content": "no x"}}),
    ]  # fmt: skip
    text = "\n".join(json.dumps({"type": kind, "data": data, "id": "e", "parentId": None}) for kind, data in events)
    assert said(text) == [
        ("user", "delete it"), ("assistant", "I will."), ("tool_call", "rm x"), ("tool_result", "no x"),
    ]  # fmt: skip
    result = read_transcript(text)[-1]
    assert (result.tool, result.tool_input, result.failed) == ("bash", {"command": "rm x"}, True)


def test_conversations_side_by_side_stay_apart() -> None:
    one = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    for whole in ([one, one], {"conversations": [one, one]}):
        assert [len(turns) for turns in read_conversations(json.dumps(whole))] == [2, 2]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "role", "message", "content", "payload", "id", "tool_use_id", "call_id", "output",
                         "arguments", "tabs", "bubbles", "messages", "cwd", "text", "toolFormerData", "toolCalls",
                         "result", "functionResponse", "response", "data", "toolRequests", "context", "args"]),
        inner | st.sampled_from(["response_item", "message", "function_call", "function_call_output", "tool_use",
                                 "tool_result", "user", "tool_call", "ai", "gemini", "user.message",
                                 "assistant.message", "tool.execution_complete", "session.start"]),
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(VALUES, max_size=4))
@settings(max_examples=100, deadline=None)
def test_no_json_breaks_the_reading(values: list[object]) -> None:
    for text in (json.dumps(values), "\n".join(map(json.dumps, values))):
        for turn in read_transcript(text):
            assert turn.role


@pytest.mark.parametrize("odd", [{"content": [{"type": []}]}, {"tool_calls": 3}, {"tool_calls": {"function": 1}}])
def test_a_message_of_odd_values_is_read_as_far_as_it_goes(odd: dict[str, object]) -> None:
    assert said(json.dumps([{"role": "user", "text": "a", **odd}]))[:1] in ([], [("user", "a")])
