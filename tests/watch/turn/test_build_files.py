"""Build files in YAML are read line by line, whatever stands in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.watch.turn.build_files import pipeline_deletions, task_block, yaml_commands

LINES = st.sampled_from(
    [
        "- name: a", "  file:", "    path: ' '", "    path:", "    state: absent", "- file: state=absent path= ",
        "run: |", "    file: {state: absent, path: }", "      - cmd: x", "script:", "  a:", "- shell: 'x", ":", "- :",
        "\t- run: ''",
    ]
)  # fmt: skip


@pytest.mark.parametrize("path", ["' '", '" "', "''"])
def test_a_removal_without_a_path_is_still_told(path: str) -> None:
    lines = list(yaml_commands(f"- name: a\n  file:\n    path: {path}\n    state: absent\n"))
    assert len(lines) == 1
    assert lines[0].startswith("ansible all -m file")


@given(st.one_of(st.text(), st.lists(LINES).map("\n".join)))
def test_no_text_is_too_odd(text: str) -> None:
    assert all(isinstance(line, str) for line in (*yaml_commands(text), *pipeline_deletions(text)))
    assert set(task_block(text, "a").splitlines()) <= {"", *text.splitlines()}
