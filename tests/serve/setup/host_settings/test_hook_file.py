from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import HostError
from deia.serve.setup.host_settings.hook_file import (
    Installed,
    entry_of,
    installed,
    is_ours,
    with_hooks,
    without_hooks,
)
from deia.serve.setup.host_settings.hosts_table import BY_NAME, FLAT, GROUPED, SETUPS
from deia.serve.setup.settings_changes import meaning_of

HOSTS = [setup.host for setup in SETUPS if setup.shape in {GROUPED, FLAT}]
CLAUDE = BY_NAME["claude-code"]
COMMAND = ["/opt/my python/bin/python3", "-I", "-S", '/srv/näme\'s "x"/deia/serve/hook.py', "host"]
OTHER = {"type": "command", "command": "echo hi"}


def others(host: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return settings that somebody else wrote, in a host's shape."""
    setup = BY_NAME[host]
    entries = st.lists(st.just(OTHER), min_size=1, max_size=2)
    groups = st.builds(
        lambda matcher, hooks: {**matcher, "hooks": hooks}, st.sampled_from([{}, {"matcher": "Bash"}]), entries
    )
    items = st.lists(groups, min_size=1, max_size=2) if setup.shape == GROUPED else entries
    events = st.dictionaries(st.sampled_from([*setup.events, "Notification"]), items, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {**{key: st.just(value) for key, value in setup.head.items()}},
        optional={"permissions": st.just({"allow": ["é"], "deny": []}), "hooks": events, "model": st.just("m")},
    )


def entered(text: str, host: str = "claude-code") -> str:
    return with_hooks(text, BY_NAME[host], COMMAND, path="settings.json")


@pytest.mark.slow
@given(host=st.sampled_from(HOSTS), data=st.data(), indent=st.sampled_from([None, 2, 4, "\t"]))
@settings(max_examples=100, deadline=None)
def test_installing_twice_is_installing_once_and_removing_gives_the_file_back(
    host: str, data: st.DataObject, indent: Any
) -> None:
    text = json.dumps(data.draw(others(host)), indent=indent, ensure_ascii=False) + "\n"
    after = entered(text, host)
    assert entered(after, host) == after
    assert without_hooks(after, BY_NAME[host], path="s") == text


@given(host=st.sampled_from(HOSTS), data=st.data())
@settings(max_examples=50, deadline=None)
def test_what_others_wrote_stays_as_it_was_and_in_order(host: str, data: st.DataObject) -> None:
    before = data.draw(others(host))
    after = json.loads(entered(json.dumps(before, indent=2), host))
    assert [key for key in after if key in before] == list(before)
    for key, value in before.items():
        if key != "hooks":
            assert after[key] == value
    for event, items in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(items)] == items


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_of_a_host_calls_the_hook_and_says_how_long_to_wait(host: str) -> None:
    setup = BY_NAME[host]
    told = json.loads(entered("", host))
    assert set(told["hooks"]) == set(setup.events)
    assert {key: told[key] for key in setup.head} == dict(setup.head)
    found = installed(entered("", host), setup, path="s")
    assert [hook.words for hook in found] == [COMMAND] * len(setup.events)
    for hook in found:
        assert setup.wait.items() <= hook.entry.items()
        assert hook.entry.get("type", "") == ("command" if setup.typed else "")


def test_claude_code_gets_an_argument_list_on_windows_alone_and_matchers_that_name_both_shells() -> None:
    hooks = json.loads(entered(""))["hooks"]
    for event, groups in hooks.items():
        (entry,) = groups[0]["hooks"]
        assert (entry["type"], entry["command"], "args" in entry) == ("command", shlex.join(COMMAND), False)
        there = entry_of(BY_NAME["claude-code"], event, COMMAND, windows=True)
        assert (there["command"], there["args"]) == (COMMAND[0], COMMAND[1:])
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
    assert len(installed(entered(text), CLAUDE, path="s")) == len(CLAUDE.events)


def test_an_entry_of_another_form_is_replaced() -> None:
    as_line = with_hooks("", CLAUDE, COMMAND, path="s", form="line")
    assert '"args"' not in as_line
    assert {tuple(hook.words) for hook in installed(as_line, CLAUDE, path="s")} == {tuple(COMMAND)}
    assert json.loads(entered(as_line)) == json.loads(entered(""))


def test_a_text_that_only_lenient_readers_take_is_changed_and_given_back() -> None:
    text = '{"note": "a\tb", "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}'
    assert without_hooks(entered(text), CLAUDE, path="s") == text
    assert "note" in str(meaning_of(text, "claude-code"))


@pytest.mark.parametrize(("host", "text"), [("codex", "a = " + "[" * 100_000), ("claude-code", "[" * 100_000)])
def test_a_file_that_is_nested_too_deep_means_its_text(host: str, text: str) -> None:
    assert meaning_of(text, host) == text


def test_the_byte_order_mark_of_a_file_stays() -> None:
    after = entered('\ufeff{"a": 1}')
    assert after.startswith('\ufeff{"a": 1')
    assert without_hooks(after, CLAUDE, path="s") == '\ufeff{"a": 1}'


@pytest.mark.parametrize(
    ("host", "text", "line", "told"),
    [
        ("claude-code", "{", 1, "not JSON"),
        ("claude-code", "[]", 1, "the settings is not an object"),
        ("claude-code", '{\n "hooks": []\n}', 2, "hooks is not an object"),
        ("claude-code", '{\n "hooks": {\n  "Stop": {}\n }\n}', 3, "hooks.Stop is not a list"),
        ("claude-code", '{"hooks": {"Stop": [\n7]}}', 2, r"hooks.Stop\[0\] is not an object"),
        ("claude-code", '{"hooks": {"Stop": [{"hooks":\n "x"}]}}', 2, r"hooks.Stop\[0\].hooks is not a list"),
        ("cursor", '{"hooks": {\n"preToolUse": {}}}', 2, "hooks.preToolUse is not a list"),
        ("gemini", '{"hooks":\n 5}', 2, "hooks is not an object"),
    ],
)
def test_settings_of_another_shape_are_refused_with_their_line(host: str, text: str, line: int, told: str) -> None:
    with pytest.raises(HostError, match=told) as caught:
        entered(text, host)
    assert caught.value.where == f"settings.json:{line}"


@pytest.mark.parametrize("host", HOSTS)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.text(max_size=4),
        lambda one: (
            st.lists(one, max_size=3)
            | st.dictionaries(
                st.sampled_from(["hooks", "PreToolUse", "preToolUse", "command", "args", "x"]), one, max_size=3
            )
        ),
    )
)
@settings(max_examples=25, deadline=None)
def test_no_settings_make_it_raise_anything_but_its_own_error(host: str, value: Any) -> None:
    text = json.dumps(value)
    try:
        after = entered(text, host)
    except HostError:
        return
    assert len(installed(after, BY_NAME[host], path="s")) == len(BY_NAME[host].events)


def test_switches_beside_gemini_s_events_are_left_alone() -> None:
    text = '{"hooks": {"enabled": true, "disabled": ["x"]}}'
    after = entered(text, "gemini")
    assert json.loads(after)["hooks"]["disabled"] == ["x"]
    assert without_hooks(after, BY_NAME["gemini"], path="s") == text


def test_droid_s_file_of_hooks_alone_holds_events_at_its_top() -> None:
    droid, path = BY_NAME["droid"], "/p/.factory/hooks.json"
    text = json.dumps({"Stop": [{"hooks": [OTHER]}]}, indent=2) + "\n"
    after = with_hooks(text, droid, COMMAND, path=path)
    assert set(json.loads(after)) == set(droid.events)
    assert without_hooks(after, droid, path=path) == text
    wrapped = with_hooks('{"hooks": {}}', droid, COMMAND, path=path)
    assert set(json.loads(wrapped)) == {"hooks"}


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "python3", "args": ["C:\\x\\deia\\serve\\hook.py"]}, True),
        ({"command": "deia-hook claude-code"}, True),
        ({"exec": "python3", "args": ["/x/deia/serve/hook.py"]}, True),
        ({"linux": "'/a b/python3' /x/deia/serve/hook.py vscode"}, True),
        ({"command": entry_of(BY_NAME["codex"], "Stop", ["C:\\a b\\py", "C:\\deia\\serve\\hook.py"])["command"]}, True),
        ({"command": "python3 hook.py"}, False),
        ({"command": None, "args": "deia-hook"}, False),
        ({}, False),
    ],
)
def test_a_hook_of_deia_is_known_by_the_file_it_runs(*, entry: dict[str, Any], ours: bool) -> None:
    assert is_ours(entry) is ours


def test_a_hook_that_powershell_decodes_is_known_too() -> None:
    text = (
        "powershell.exe -NoLogo -NoProfile -NonInteractive -EncodedCommand "
        "JgAgACcAeAAvAGQAZQBpAGEALwBzAGUAcgB2AGUALwBoAG8AbwBrAC4AcAB5ACcA"
    )
    hook = Installed(path="p", event="Stop", place=(), matcher="", entry={"command": text})
    assert hook.words == ["x/deia/serve/hook.py"]
    assert is_ours(hook.entry)


def test_empty_lists_of_hooks_and_what_an_installation_adds_mean_nothing() -> None:
    assert meaning_of('{"a": 1, "hooks": {"Stop": []}}', "claude-code") == {"a": 1}
    assert meaning_of('{"a": 2}', "claude-code") == {"a": 2}
    assert meaning_of('{"version": 1}', "cursor") == {}
    assert meaning_of('{"version": 2}', "cursor") == {"version": 2}
