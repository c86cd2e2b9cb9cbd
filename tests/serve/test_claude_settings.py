from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import HostError
from deia.serve.hosts.claude_settings import (
    EVENTS,
    installed,
    is_ours,
    same_settings,
    switched_off,
    with_hooks,
    without_hooks,
)

COMMAND = ["/opt/my python/bin/python3", "-I", "-S", '/srv/näme\'s "x"/deia/serve/hook.py', "claude-code"]
OTHER = {"type": "command", "command": "echo hi"}
GROUPS = st.lists(
    st.builds(
        lambda matcher, hooks: {**matcher, "hooks": hooks},
        st.sampled_from([{}, {"matcher": "Bash"}]),
        st.lists(st.just(OTHER), min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=2,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "permissions": st.just({"allow": ["Bash(ls:*)", "é"], "deny": []}),
        "hooks": st.dictionaries(st.sampled_from([*EVENTS, "PreCompact"]), GROUPS, min_size=1, max_size=3),
        "model": st.just("opus"),
    },
)


def entered(text: str) -> str:
    return with_hooks(text, COMMAND, path="settings.json")


@given(before=SETTINGS, indent=st.sampled_from([None, 2, 4, "\t"]), ascii_only=st.booleans())
@settings(max_examples=60)
def test_installing_twice_is_installing_once_and_removing_gives_the_file_back(
    *, before: dict[str, Any], indent: Any, ascii_only: bool
) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=ascii_only) + "\n"
    after = entered(text)
    assert entered(after) == after
    assert without_hooks(after, path="s") == text


@given(SETTINGS)
@settings(max_examples=40)
def test_what_others_wrote_stays_as_it_was_and_in_order(before: dict[str, Any]) -> None:
    after = json.loads(entered(json.dumps(before, indent=2)))
    assert [key for key in after if key in before] == list(before)
    for key, value in before.items():
        if key != "hooks":
            assert after[key] == value
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups


def test_every_event_gets_the_command_in_exec_form() -> None:
    hooks = json.loads(entered(""))["hooks"]
    assert set(hooks) == {
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "SessionStart",
        "Stop",
    }
    for groups in hooks.values():
        (entry,) = groups[0]["hooks"]
        assert (entry["type"], entry["command"], entry["args"]) == ("command", COMMAND[0], COMMAND[1:])
        assert entry["timeout"] == 5
    assert hooks["Stop"][0]["hooks"][0]["async"] is True
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        assert {"Bash", "PowerShell", "mcp__.*"} <= set(hooks[event][0]["matcher"].split("|"))
    assert "matcher" not in hooks["UserPromptSubmit"][0]


def test_an_older_entry_is_replaced_and_doubles_go() -> None:
    old = {"type": "command", "command": "python3", "args": ["/old/deia/serve/hook.py", "claude-code"]}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [old, OTHER, old]}], "Notification": [{"hooks": [old]}]}})
    after = json.loads(entered(text))["hooks"]
    assert "Notification" not in after
    assert after["Stop"][0]["hooks"] == [OTHER]
    assert len(installed(entered(text), path="s")) == len(EVENTS)


def test_the_byte_order_mark_of_a_file_stays() -> None:
    after = entered('\ufeff{"a": 1}')
    assert after.startswith('\ufeff{"a": 1')
    assert without_hooks(after, path="s") == '\ufeff{"a": 1}'


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("{", 1, "not JSON"),
        ("[]", 1, "the settings is not an object"),
        ('{\n "hooks": []\n}', 2, "hooks is not an object"),
        ('{\n "hooks": {\n  "Stop": {}\n }\n}', 3, "hooks.Stop is not a list"),
        ('{"hooks": {"Stop": [\n7]}}', 2, r"hooks.Stop\[0\] is not an object"),
        ('{"hooks": {"Stop": [{"hooks":\n "x"}]}}', 2, r"hooks.Stop\[0\].hooks is not a list"),
    ],
)
def test_settings_of_another_shape_are_refused_with_their_line(text: str, line: int, told: str) -> None:
    with pytest.raises(HostError, match=told) as caught:
        entered(text)
    assert caught.value.where == f"settings.json:{line}"


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "python3", "args": ["C:\\x\\deia\\serve\\hook.py"]}, True),
        ({"command": "deia-hook claude-code"}, True),
        ({"command": "python3 hook.py"}, False),
        ({"command": None, "args": "deia-hook"}, False),
    ],
)
def test_a_hook_of_deia_is_known_by_the_file_it_runs(*, entry: dict[str, Any], ours: bool) -> None:
    assert is_ours(entry) is ours


def test_disabled_hooks_are_noticed() -> None:
    assert switched_off('{"disableAllHooks": true}', path="s")
    assert not switched_off('{"disableAllHooks": false}', path="s")
    assert not switched_off("", path="s")


def test_empty_lists_of_hooks_mean_nothing() -> None:
    assert same_settings('{"a": 1, "hooks": {"Stop": []}}', '{"a":1}')
    assert not same_settings('{"a": 1}', '{"a": 2}')
