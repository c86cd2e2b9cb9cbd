"""What a call adds to a file and removes from it, whichever tool it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.shell.parse import parse_commands
from deia.watch.turn.file_changes import changes

if TYPE_CHECKING:
    from pathlib import Path

PUT, TAKEN = "checks-off", "guard-gone"
TRIGGERS = """
- id: checks-off
  title: Checks off
  status: stable
  urgency: high
  action: warn
  message: Verification is off.
  documents: [bok-x]
  when:
    any:
      - write: {adds: '\\bverify ?= ?False\\b', lacks: '\\bsandbox\\b'}
  unless: [md, localhost]
- id: guard-gone
  title: A guard is gone
  status: stable
  urgency: high
  action: warn
  message: A guard is gone.
  documents: [bok-x]
  when:
    any:
      - write: {paths: ["*.py"], drops: '^[ \\t]{0,20}@login_required\\b'}
"""
INDEX = """
version: "1.0"
clusters:
  a:
    description: A
    keywords: [a]
    documents:
      - {id: bok-x, path: bok/x.md, title: X, summary: X., keywords: [x], urgency: low}
"""


@pytest.fixture(scope="module")
def librarian(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    folder: Path = tmp_path_factory.mktemp("changed")
    (folder / "bok").mkdir()
    (folder / "triggers").mkdir()
    (folder / "bok" / "x.md").write_text("# X\n\nText.\n")
    (folder / "commons_index.yaml").write_text(INDEX)
    (folder / "triggers" / "a.yaml").write_text(TRIGGERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STARTER", "false")
        patch.setenv("DEIA_STATE", str(folder / "state"))
        made = Librarian(folder, ledger=False)
        made.open_artefact()
        return made


def fired(librarian: Librarian, tool: str, tool_input: dict[str, Any]) -> set[str]:
    message = {"role": "tool_call", "tool": tool, "tool_input": tool_input}
    found = librarian.check_triggers([message], conversation_id=f"{tool}{tool_input}", folder="/")
    return {firing.trigger for firing in found}


BAD, GOOD = "r = get(url, verify=False)", "r = get(url, verify=CA)"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n x = 1\n-{old}\n+{new}\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Edit", {"file_path": "a.py", "old_string": GOOD, "new_string": BAD}),
        ("Write", {"file_path": "a.py", "content": f"import x\n\n{BAD}\n"}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": GOOD, "new_string": BAD}]}),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a.py", "old_str": GOOD, "new_str": BAD}),
        ("apply_patch", {"input": PATCH.format(old=GOOD, new=BAD)}),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": BAD}),
        ("Bash", {"command": f"cat > a.py <<'EOF'\nimport x\n{BAD}\nEOF"}),
        ("Bash", {"command": "sed -i 's/verify=CA/verify=False/' a.py"}),
    ],
)
def test_text_that_is_put_in_is_found_through_every_tool(
    librarian: Librarian, tool: str, tool_input: dict[str, Any]
) -> None:
    assert fired(librarian, tool, tool_input) == {PUT}


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Edit", {"file_path": "a.py", "old_string": BAD, "new_string": GOOD}),
        ("Edit", {"file_path": "a.py", "old_string": BAD, "new_string": f"{BAD}\nprint(r)"}),
        ("Edit", {"file_path": "a.py", "old_string": f"{BAD}\nx()", "new_string": f"x()\n    {BAD}"}),
        ("Edit", {"file_path": "docs/a.md", "old_string": "x", "new_string": BAD}),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": f"{BAD}  # localhost"}),
        ("Write", {"file_path": "a.py", "content": f"sandbox = 1\n{BAD}\n"}),
        ("apply_patch", {"input": PATCH.format(old=BAD, new=GOOD)}),
        ("Bash", {"command": "grep -rn 'verify=False' ."}),
        ("Bash", {"command": "sed -i 's/verify=False/verify=CA/' a.py"}),
        ("Read", {"file_path": "verify=False"}),
    ],
)
def test_text_that_goes_or_only_stands_near_is_not(librarian: Librarian, tool: str, tool_input: dict[str, Any]) -> None:
    assert fired(librarian, tool, tool_input) == set()


def test_what_is_taken_out_or_commented_out_is_found(librarian: Librarian) -> None:
    old = "@login_required\ndef pay(): ..."
    for new in ("def pay(): ...", "# @login_required\ndef pay(): ...", ""):
        assert fired(librarian, "Edit", {"file_path": "a.py", "old_string": old, "new_string": new}) == {TAKEN}
    assert fired(librarian, "Edit", {"file_path": "a.js", "old_string": old, "new_string": ""}) == set()
    assert fired(librarian, "Edit", {"file_path": "a.py", "old_string": old, "new_string": old + "\n"}) == set()
    assert fired(librarian, "Write", {"file_path": "a.py", "content": "def pay(): ..."}) == set()


VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=60), lambda inner: st.lists(inner, max_size=3))
NAMES = st.sampled_from(["file_path", "old_string", "new_string", "content", "edits", "input", "command", "path"])


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.text(max_size=120))
def test_no_input_makes_the_reading_of_changes_raise(tool_input: dict[str, Any], command: str) -> None:
    for tool in ("Edit", "apply_patch", "Bash"):
        turn = Turn(role="tool_call", text=command, tool=tool, tool_input=tool_input, index=1)
        assert isinstance(list(changes(turn, iter(parse_commands(command)))), list)
