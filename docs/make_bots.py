"""Write the table of docs/BOTS.md that says what runs of the frameworks' real packages showed, or check it.

    python docs/make_bots.py           write it, from docs/frameworks.json
    python docs/make_bots.py --check   exit with 1 if it is not as it would be written

`python3 do.py frameworks` makes the runs and keeps what they showed. This needs Python alone.
"""

# ruff: noqa: INP001 - beside the documents, not a package

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE, VERDICTS = HERE / "BOTS.md", HERE / "frameworks.json"
BEGIN, END = "<!-- runs: written by python3 do.py frameworks -->", "<!-- end of runs -->"
TITLES = {
    "openai-agents": "OpenAI Agents SDK", "langchain": "LangChain, LangGraph", "pydantic-ai": "Pydantic AI",
    "litellm": "LiteLLM, `acompletion`", "litellm-proxy": "LiteLLM, proxy", "google-adk": "Google ADK",
    "claude-agent-sdk": "Claude Agent SDK",
}  # fmt: skip
CELLS = ("prompt", "held", "repeat", "result")
HEAD = "| framework | seen in | lesson at a prompt | held call | repeat passes | lesson at a result | streamed |"


def table(verdicts: dict[str, Any]) -> str:
    """Return the table of all runs."""
    rows = [_row(TITLES[name], verdicts[name]) for name in TITLES if name in verdicts]
    return "\n".join([HEAD, "|---" * HEAD.count(" | ") + "|---|", *rows])


def _row(title: str, verdict: dict[str, Any]) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in verdict["versions"].items())
    cells = [_mark(verdict["whole"][cell]) for cell in CELLS]
    same = {**verdict["whole"], "heard": True} == verdict["streamed"]
    return f"| {' | '.join([title, versions, *cells, 'the same' if same else 'differs'])} |"


def _mark(seen: object) -> str:
    return "✓" if seen is True else "✗"


def page() -> str:
    """Return the whole page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{table(json.loads(VERDICTS.read_text(encoding='utf-8')))}\n{END}{after}"


def main() -> int:
    """Write the page or check it; return the exit code."""
    if sys.argv[1:] == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
