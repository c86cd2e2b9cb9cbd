from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.serve.transcripts import read_transcript
from deia.watch.conversation import turns_of


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
