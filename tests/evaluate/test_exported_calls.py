from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.evaluate.exported_calls import exported_call
from deia.evaluate.transcripts import Reader
from deia.watch.turn.tool_call import command_of

FENCED = "Tool use: **run_terminal_cmd**\n\n```bash\ngit push -f\ngit status\n```\n\n```\nEverything up-to-date\n```"
EDITED = """Tool use: **search_replace**

<details><summary>Edit file: .gitignore</summary>

```diff
@@ -1,2 +1,2 @@
  # secrets
- #.env
+ .env
```

</details>"""


@pytest.mark.parametrize(
    ("tool", "text", "command"),
    [
        ("Bash", "git push -f", "git push -f"),
        ("bash", "git push -f\n# Update the branch", "git push -f\n# Update the branch"),
        ("Bash", json.dumps({"command": "git push -f", "description": "push"}), "git push -f"),
        ("run_terminal_cmd", FENCED, "git push -f\ngit status"),
        ("", FENCED, "git push -f\ngit status"),
        ("exec_command", "Tool use: **exec_command** `git push -f`\n\n```\nOutput:\n`rm x`\n```", "git push -f"),
        ("run_terminal_command_v2", " • Run command: npm test 2&gt;&amp;1 &amp;&amp; ls", "npm test 2>&1 && ls"),
        (
            "Bash",
            "   70→Write a file\n   71→\n   72→`rm -rf src`\n   73→\n   74→```text\n   75→done\n   76→```",
            "rm -rf src",
        ),
        ("run_command", "308\t\n309\tDirectory: `/x`\n310\t\n311\t`rm -rf src`\n312\tOutput:", "rm -rf src"),
        ("Bash", "  1568→@@ -1,2 +1,2 @@ rm -rf src\n  1569→ ```", ""),
    ],
)
def test_a_wrapped_command_is_unwrapped(tool: str, text: str, command: str) -> None:
    turn = exported_call(tool, text)
    assert command_of(turn) == turn.text == command


@pytest.mark.parametrize(
    ("tool", "text", "fields"),
    [
        ("Edit", '{"file_path": "a.py", "new_string": "x"}', {"file_path": "a.py", "new_string": "x"}),
        ("edit_file_v2", "• Edit file: src/a.ts", {"file_path": "src/a.ts"}),
        ("read_file", "Tool use: **read_file**\n\nRead file: .gitignore", {"file_path": ".gitignore"}),
        ("grep", 'Parameters:\n\n```json\n{\n  "pattern": "x"\n}\n```\nResult:', {"pattern": "x"}),
        (
            "search_replace",
            EDITED,
            {"file_path": ".gitignore", "edits": [{"old_string": "# secrets\n#.env", "new_string": "# secrets\n.env"}]},
        ),
        (
            "apply_patch",
            "**Update: `a.py`**\n\n```diff\n@@\n-x\n+y\n```\n\n```\nExit code: 0\n```",
            {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"},
        ),
    ],
)
def test_the_fields_of_a_wrapped_call_are_unwrapped(tool: str, text: str, fields: dict[str, object]) -> None:
    turn = exported_call(tool, text)
    assert (turn.tool_input, turn.text) == (fields, "")


def test_a_row_of_a_table_is_read_as_the_host_would_have_sent_it() -> None:
    """The result answers the call before it, so that what a reading command shows is no error of its own."""
    reader = Reader()
    call, result = (
        turn
        for row in (
            {"role": "tool_call", "tool": "exec_command", "text": "cat log.txt"},
            {"role": "tool_result", "tool": "exec_command", "text": "fatal: gone"},
        )
        for turn in reader.turns(row)
    )
    assert call.tool_input == result.tool_input == {"command": "cat log.txt"}


@given(st.sampled_from(["Bash", "Edit", ""]), st.text(alphabet='`→\t1 •{}"*:\nRun commandTooluse', max_size=60))
def test_no_text_raises(tool: str, text: str) -> None:
    assert exported_call(tool, text).role == "tool_call"
