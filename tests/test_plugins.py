"""The plugins in the repository: up to date, in the shape that each host documents, and working."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deia.serve.cli.commands_table import COMMANDS
from tests.paths import ROOT

TEXT = {"type": "string", "minLength": 1}


def loaded() -> Any:
    spec = importlib.util.spec_from_file_location("make_plugins", ROOT / "plugins" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = loaded()
MADE: dict[str, str] = MAKE.made()


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of an object with these keys and no others."""
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def events(names: str, item: dict[str, Any]) -> dict[str, Any]:
    rows = {"type": "array", "minItems": 1, "items": item}
    return {
        "type": "object",
        "minProperties": 3,
        "propertyNames": {"enum": names.split()},
        "additionalProperties": rows,
    }


def grouped(entry: dict[str, Any]) -> dict[str, Any]:
    return closed({"hooks": {"type": "array", "minItems": 1, "items": entry}}, matcher=TEXT)


COMMAND = {"const": "command"}
SECONDS = {"type": "integer", "minimum": 1, "maximum": 30}
ARGUMENTS = {"type": "array", "items": TEXT}
CLAUDE = (
    "SessionStart Setup UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure PostToolBatch"
    " Notification SubagentStart SubagentStop Stop PreCompact PostCompact SessionEnd"
)
CODEX = (
    "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart"
    " SubagentStop Stop SessionEnd"
)
COPILOT = (
    "sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse postToolUse postToolUseFailure"
    " agentStop subagentStart subagentStop preCompact permissionRequest notification errorOccurred"
)
GEMINI = (
    "SessionStart SessionEnd BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection BeforeTool AfterTool"
    " Notification PreCompress"
)
CURSOR = (
    "sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure beforeShellExecution"
    " afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit afterAgentResponse"
    " afterAgentThought subagentStart subagentStop preCompact stop"
)
EXEC = closed({"type": COMMAND, "command": TEXT, "args": ARGUMENTS, "timeout": SECONDS}, **{"async": {"const": True}})
MILLISECONDS = {"type": "integer", "minimum": 1000, "maximum": 60_000}
HOOKS = {
    "plugins/claude-code/hooks/hooks.json": closed({"hooks": events(CLAUDE, grouped(EXEC))}),
    "plugins/codex/hooks/hooks.json": closed(
        {"hooks": events(CODEX, grouped(closed({"type": COMMAND, "command": TEXT, "timeout": SECONDS})))}
    ),
    "plugins/gemini/hooks/hooks.json": closed(
        {"hooks": events(GEMINI, grouped(closed({"type": COMMAND, "command": TEXT, "timeout": MILLISECONDS})))}
    ),
    "plugins/cursor/hooks/hooks.json": closed(
        {
            "version": {"const": 1},
            "hooks": events(
                CURSOR, closed({"command": TEXT, "timeout": SECONDS}, matcher=TEXT, failClosed={"const": False})
            ),
        }
    ),
    "plugins/copilot/hooks.json": closed(
        {
            "version": {"const": 1},
            "hooks": events(
                COPILOT,
                closed({"type": COMMAND, "bash": TEXT, "powershell": TEXT, "timeoutSec": SECONDS}, matcher=TEXT),
            ),
        }
    ),
}
SERVERS = closed({"mcpServers": closed({"deia": closed({"command": TEXT, "args": ARGUMENTS})})})
NAMED = {"name": {"const": "deia"}, "version": {"pattern": r"^\d+\.\d+\.\d+"}, "description": TEXT}
AUTHOR = closed({"name": TEXT}, email=TEXT)  # Cursor's schema knows no more of an author
FACE = closed(
    {"displayName": TEXT, "shortDescription": TEXT},
    longDescription=TEXT, developerName=TEXT, category=TEXT, capabilities=ARGUMENTS, websiteURL=TEXT,
)  # fmt: skip
LOCAL = closed({"source": {"const": "local"}, "path": {"pattern": r"^\./"}})
POLICY = closed({"installation": {"const": "AVAILABLE"}, "authentication": {"enum": ["ON_INSTALL", "ON_USE"]}})
FOR_CODEX = closed({"name": TEXT, "source": LOCAL, "policy": POLICY, "category": TEXT})
LISTED = closed(
    {"name": TEXT, "source": {"pattern": r"^\./"}},
    version=TEXT, description=TEXT,
    relevance=closed({"topic": TEXT}, signals=closed({}, cwd=ARGUMENTS, cli=ARGUMENTS, hosts=ARGUMENTS)),
)  # fmt: skip
OTHERS = {
    **{path: SERVERS for path in MADE if path.endswith("mcp.json")},
    "plugins/claude-code/.claude-plugin/plugin.json": closed(NAMED, license=TEXT, author=AUTHOR),
    "plugins/codex/.codex-plugin/plugin.json": closed(
        {**NAMED, "interface": FACE}, license=TEXT, author=AUTHOR, hooks=TEXT, mcpServers=TEXT, skills=TEXT
    ),
    "plugins/cursor/.cursor-plugin/plugin.json": closed(NAMED, license=TEXT, author=AUTHOR),
    "plugins/gemini/gemini-extension.json": closed(NAMED, mcpServers={"type": "object"}),
    "plugins/copilot/plugin.json": closed(
        NAMED, license=TEXT, author=AUTHOR, hooks=TEXT, mcpServers=TEXT, skills=ARGUMENTS
    ),
    **{
        f"{folder}/marketplace.json": closed(
            {"name": TEXT, "owner": AUTHOR, "plugins": {"type": "array", "minItems": 1, "items": LISTED}}
        )
        for folder in (".claude-plugin", ".github/plugin", ".cursor-plugin")
    },
    ".agents/plugins/marketplace.json": closed(
        {"name": TEXT, "interface": closed({"displayName": TEXT}), "plugins": {"type": "array", "items": FOR_CODEX}}
    ),
}


def test_what_stands_in_the_repository_is_what_the_command_makes() -> None:
    assert MAKE.differing(MADE) == [], "run: python plugins/make.py"
    kept = {
        str(path.relative_to(ROOT)).replace(os.sep, "/") for path in (ROOT / "plugins").rglob("*") if path.is_file()
    }
    made = {path for path in MADE if path.startswith("plugins/")}
    assert {path for path in kept if "__pycache__" not in path} == {*made, "plugins/make.py"}


@pytest.mark.parametrize("path", sorted(MADE))
def test_every_file_has_the_shape_that_its_host_documents(path: str) -> None:
    if path.endswith(".md"):
        head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.{40,1024})\n---\n\n", MADE[path])
        assert head is not None
        assert head[1] == path.split("/")[-2]
    else:
        jsonschema.validate(json.loads(MADE[path]), {**HOOKS, **OTHERS}[path])


def test_a_schema_here_refuses_what_the_host_would() -> None:
    hooks = json.loads(MADE["plugins/codex/hooks/hooks.json"])
    hooks["hooks"]["PreToolUse"][0]["hooks"][0]["args"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(hooks, HOOKS["plugins/codex/hooks/hooks.json"])


def test_no_plugin_of_codex_has_a_manifest_at_its_root() -> None:
    assert "plugins/codex/plugin.json" not in MADE  # it would switch all hooks off


def test_both_shells_are_watched() -> None:
    groups = json.loads(MADE["plugins/claude-code/hooks/hooks.json"])["hooks"]["PreToolUse"]
    assert any({"Bash", "PowerShell"} <= set(group["matcher"].split("|")) for group in groups)


@pytest.mark.parametrize(
    ("catalogue", "manifest"),
    [
        (".claude-plugin", ".claude-plugin/plugin.json"),
        (".github/plugin", "plugin.json"),
        (".cursor-plugin", ".cursor-plugin/plugin.json"),
        (".agents/plugins", ".codex-plugin/plugin.json"),
    ],
)
def test_every_marketplace_leads_to_its_host_s_own_plugin(catalogue: str, manifest: str) -> None:
    (listed,) = json.loads(MADE[f"{catalogue}/marketplace.json"])["plugins"]
    source = listed["source"]
    folder = ROOT / (source if isinstance(source, str) else source["path"])
    assert (folder / manifest).is_file()
    told = json.loads((folder / manifest).read_text(encoding="utf-8"))
    assert told["name"] == listed["name"]
    for named in ("hooks", "mcpServers"):
        assert (folder / told[named]).is_file() if isinstance(told.get(named), str) else named not in told


def test_the_commands_that_plugins_start_are_commands_of_deia() -> None:
    assert MAKE.SERVER["args"][0] in COMMANDS
    for name in re.findall(r"deia ([a-z]+)", MAKE.SKILL):
        assert name in COMMANDS or name in {"keeps", "and"}


@pytest.mark.skipif(os.name == "nt", reason="the line for PowerShell is compared as text")
def test_the_plugin_for_the_host_that_takes_a_failure_for_a_block_goes_on_without_deia(tmp_path: Path) -> None:
    for (entry,) in json.loads(MADE["plugins/copilot/hooks.json"])["hooks"].values():
        ran = subprocess.run(["/bin/sh", "-c", entry["bash"]], input=b"{}", env={"PATH": str(tmp_path)}, check=False)
        assert (ran.returncode, entry["powershell"].endswith("; exit 0")) == (0, True)


@pytest.mark.parametrize("path", sorted(HOOKS))
def test_the_hook_that_a_plugin_names_answers_for_its_host(tmp_path: Path, path: str) -> None:
    text = json.dumps(json.loads(MADE[path]))
    host = path.split("/")[1]
    assert f'"{host}"' in text or f"deia-hook {host}" in text
    environ = {**os.environ, "DEIA_STATE": str(tmp_path), "DEIA_OFF": "", "DEIA_STARTER": "false"}
    command = [sys.executable, "-c", "from deia.serve.hook import main; main()", host]
    ran = subprocess.run(command, input=b"{}", capture_output=True, env=environ, cwd=tmp_path, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"")
