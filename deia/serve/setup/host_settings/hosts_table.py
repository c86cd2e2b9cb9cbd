"""How every host is connected: where its settings are, which events call the hook, and how its command is written.

This describes settings files only; what hosts send and accept is in their own modules. Each host names its source, read
in the second half of 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from deia.fast_json import Json
from deia.records import Record
from deia.serve.hosts import claude_events
from deia.serve.hosts.claude_events import Hooked
from deia.serve.setup.host_settings.json_text import COMMENTS

PROJECT, LOCAL, USER = "project", "local", "user"
SCOPES = (PROJECT, LOCAL, USER)
SECONDS = claude_events.TIMEOUT
# How hooks are stored: events of groups of hooks, events of hooks, one executable per event, or a plugin's code.
GROUPED, FLAT, SCRIPT, PLUGIN = "grouped", "flat", "script", "plugin"


class Place(Record):
    """Where a host looks for hooks, in one scope."""

    folder: str  # in the project, or in the person's home
    file: str = ""  # `*.json` for every file in the folder; empty for one file per event
    new: str = ""  # the file to create if there is none
    before: str = ""  # a file beside it that is used instead if it exists
    also: str = ""  # a second folder that counts if it exists
    variables: tuple[tuple[str, str], ...] = ()  # environment variables, and the part of `folder` that each replaces


class Setup(Record):
    """How one host is connected."""

    host: str
    title: str
    shape: str
    places: Mapping[str, Place]
    events: Mapping[str, Hooked]
    tried: Mapping[str, str] = {}  # moment → the event that stands for it when an installation is tried
    form: str = "line"  # how an entry names its command: words | exec | line | systems | split
    extras: str = ""  # what the host allows in the file besides JSON
    typed: bool = True  # whether an entry has the field `type`
    wait: Mapping[str, Json] = {}  # the field of an entry that says how long the host waits
    head: Mapping[str, Json] = {}  # other fields that the file must have
    posix: str = "sh"  # the shell that reads a line
    windows: str = "powershell"
    folders: tuple[str, ...] = ()  # in the home folder, signs that the host is used
    marks: tuple[str, ...] = ()  # in a project, the same
    programs: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # set by the host in the processes that it starts
    readers: Mapping[str, tuple[str, ...]] = {}  # another host that runs this one's hooks → in which scopes
    after: str = ""  # what the person has to do next
    limits: tuple[str, ...] = ()
    source: str = ""


def _events(*names: str) -> dict[str, Hooked]:
    return {name: Hooked() for name in names}


CLAUDE_LIKE = {"prompt": "UserPromptSubmit", "before_tool": "PreToolUse", "after_tool": "PostToolUse"}

SETUPS = (
    Setup(
        host="claude-code", title="Claude Code", shape=GROUPED, form="words",
        places={
            PROJECT: Place(folder=".claude", file="settings.json"),
            LOCAL: Place(folder=".claude", file="settings.local.json"),
            USER: Place(folder=".claude", file="settings.json", variables=(("CLAUDE_CONFIG_DIR", ".claude"),)),
        },
        events=claude_events.EVENTS, tried=CLAUDE_LIKE, wait={"timeout": SECONDS},
        folders=(".claude",), marks=(".claude",), programs=("claude",), variables=("CLAUDECODE",),
        readers={"cursor": SCOPES, "vscode": SCOPES, "copilot": (PROJECT, LOCAL)},
        after="Claude Code reads its hooks when a session starts.",
        limits=(
            "Added context of PreToolUse reaches the model only after the tool ran; so a danger is denied once.",
            ("The command is an argument list (version 2.1.139 and newer), which no shell reads. Where Cursor, VS Code"
            " or Copilot are found, which run these hooks too and know no argument list, it is one quoted line."),
            "`disableAllHooks` in any settings file, and `allowManagedHooksOnly` in managed settings, silence it.",
            ("`--warm` and `--warm-mcp` enter hooks beside the command that ask a running server (docs/MCP.md); the"
            " command answers while that is away."),
        ),
        source="the host's hook reference for v2.1.240, with its parts on `http` and `mcp_tool` hooks read 2026-11",
    ),
    Setup(
        host="codex", title="OpenAI Codex CLI", shape=GROUPED,
        places={
            PROJECT: Place(folder=".codex", file="hooks.json"),
            USER: Place(folder=".codex", file="hooks.json", variables=(("CODEX_HOME", ".codex"),)),
        },
        events=_events("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"), tried=CLAUDE_LIKE,
        wait={"timeout": SECONDS}, posix="login", windows="cmd",
        folders=(".codex",), marks=(".codex",), programs=("codex",), variables=("CODEX_HOME",),
        after="Start codex, type /hooks and trust deia's hooks: Codex runs no hook that nobody reviewed, and asks again"
        " whenever the command changes.",
        limits=(
            ("A question (`ask`) and every unknown key make a hook fail, and a failed hook lets the command run: only"
            " denials and context are sent."),
            "The feature `hooks` was called `codex_hooks` before 0.135; the old name does nothing.",
            "A project's hooks count only where the project is trusted.",
            "Input that is written to a command that runs already raises no hook.",
        ),
        source="openai/codex codex-rs/hooks/src/engine/{command_runner,discovery}.rs",
    ),
    Setup(
        host="copilot", title="GitHub Copilot CLI", shape=FLAT, form="exec",
        places={
            PROJECT: Place(folder=".github/hooks", file="deia-copilot.json"),
            USER: Place(
                folder=".copilot/hooks", file="deia-copilot.json", variables=(("COPILOT_HOME", ".copilot"),)
            ),
        },
        events=_events("sessionStart", "userPromptTransformed", "preToolUse", "postToolUse", "postToolUseFailure"),
        tried={"prompt": "userPromptTransformed", "before_tool": "preToolUse", "after_tool": "postToolUse"},
        wait={"timeoutSec": SECONDS}, head={"version": 1},
        folders=(".copilot",), programs=("copilot",), variables=("COPILOT_HOME",),
        after="Copilot reads its hooks when a session starts.",
        limits=(
            ("What the hook of a submitted prompt prints is dropped. The hook of a transformed one may give the model"
            " another text: the person's, whole, with the lesson behind it; what the person sees stays as it is."),
            "A preToolUse hook that fails stops the tool; deia's never fails.",
            "The program is started without a shell (`exec`), which VS Code, reading the same folder, passes over.",
            "The cloud agent has neither this machine's paths nor `exec`, so it runs nothing of this.",
        ),
        source="github/docs content/copilot/reference/hooks-reference.md @05da5bc3",
    ),
    Setup(
        host="vscode", title="GitHub Copilot in VS Code", shape=FLAT, form="systems",
        places={
            PROJECT: Place(folder=".github/hooks", file="deia-vscode.json"),
            USER: Place(folder=".copilot/hooks", file="deia-vscode.json"),
        },
        events=_events("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"), tried=CLAUDE_LIKE,
        wait={"timeout": SECONDS}, folders=(".vscode",), marks=(".vscode",), programs=("code", "code-insiders"),
        after="VS Code reads its hooks when a chat starts.",
        limits=(
            "Context at a prompt is not documented: it comes with the first tool result.",
            ("The command stands under the systems' names (`linux`, `osx`, `windows`) alone, which Copilot CLI, reading"
            " the same folder, passes over."),
            "Matchers are read and ignored there, so the hook sees every tool.",
            "An organisation can disable hooks by policy; deia cannot see that.",
        ),
        source="microsoft/vscode-docs docs/copilot/customization/hooks.md",
    ),
    Setup(
        host="gemini", title="Gemini CLI", shape=GROUPED, extras=COMMENTS,
        places={
            PROJECT: Place(folder=".gemini", file="settings.json"),
            USER: Place(folder=".gemini", file="settings.json", variables=(("GEMINI_CLI_HOME", ""),)),
        },
        events=_events("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
        tried={"prompt": "BeforeAgent", "before_tool": "BeforeTool", "after_tool": "AfterTool"},
        wait={"timeout": SECONDS * 1000}, posix="bash",
        folders=(".gemini",), marks=(".gemini",), programs=("gemini",), variables=("GEMINI_CLI_HOME",),
        after="Gemini reads its hooks when a session starts; in an untrusted folder it runs none of a project's.",
        limits=(
            "Its settings count time in milliseconds.",
            "Before a tool there is a decision and no context, and no question among the decisions.",
            "`hooksConfig.enabled: false` silences all hooks.",
        ),
        source="google-gemini/gemini-cli packages/core/src/hooks/hookRunner.ts",
    ),
    Setup(
        host="cursor", title="Cursor", shape=FLAT, typed=False,
        places={
            PROJECT: Place(folder=".cursor", file="hooks.json"),
            USER: Place(folder=".cursor", file="hooks.json"),
        },
        events=_events(
            "sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure",
            "afterAgentResponse",
        ),
        tried={"prompt": "beforeSubmitPrompt", "before_tool": "preToolUse", "after_tool": "postToolUse"},
        wait={"timeout": SECONDS}, head={"version": 1},
        folders=(".cursor",), marks=(".cursor",), programs=("cursor", "cursor-agent"), variables=("CURSOR_VERSION",),
        after="Cursor reads its hooks when the file changes; it lists them in its settings under Hooks.",
        limits=(
            "Context at a prompt is not documented: a lesson that a prompt brings up comes with the first tool result.",
            "Cursor runs the hooks of Claude Code's settings too; an event that arrives twice is judged once.",
            "On Windows it starts every hook through PowerShell, which takes about a second.",
        ),
        source="DietrichGebert/ponytail docs/cursor-hooks.md, a reading of Cursor 3.20.17",
    ),
    Setup(
        host="opencode", title="OpenCode", shape=PLUGIN,
        places={
            PROJECT: Place(folder=".opencode/plugins", file="deia.ts"),
            USER: Place(
                folder=".config/opencode/plugins", file="deia.ts",
                variables=(("OPENCODE_CONFIG_DIR", ".config/opencode"), ("XDG_CONFIG_HOME", ".config")),
            ),
        },
        events=_events("chat.message", "tool.execute.before", "tool.execute.after"),
        tried={"prompt": "chat.message", "before_tool": "tool.execute.before"},
        folders=(".config/opencode",), marks=(".opencode",), programs=("opencode",), variables=("OPENCODE_CONFIG_DIR",),
        after="OpenCode loads its plugins when it starts.",
        limits=(
            "The plugin runs in the host's own process and starts the hook, without a shell, for every event.",
            "A plugin cannot put a question, so `ask` becomes a hold.",
        ),
        source="@opencode-ai/plugin 1.18.33; the host's page on plugins",
    ),
    Setup(
        host="cline", title="Cline", shape=SCRIPT,
        places={
            PROJECT: Place(folder=".clinerules/hooks"),
            USER: Place(folder="Documents/Cline/Hooks"),
        },
        events=_events("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse"), tried=CLAUDE_LIKE,
        folders=("Documents/Cline",), marks=(".clinerules",), programs=("cline",),
        after="Switch hooks on in Cline's settings, and deia's in its Hooks tab.",
        limits=(
            "One executable file stands for one event, so an event that has a file of somebody else's is refused.",
            "On Windows the files end in .ps1, which older versions of Cline do not run; those run no hooks there.",
            "Context before a tool counts from the next request on; so a danger is cancelled.",
        ),
        source="cline/cline src/core/hooks; the host's page on hooks",
    ),
    Setup(
        host="windsurf", title="Windsurf Cascade", shape=FLAT, typed=False, form="split",
        places={
            PROJECT: Place(folder=".windsurf", file="hooks.json"),
            USER: Place(folder=".codeium/windsurf", file="hooks.json"),
        },
        events=_events(
            "pre_user_prompt", "pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use",
            "post_run_command", "post_mcp_tool_use", "post_cascade_response",
        ),
        tried={"before_tool": "pre_run_command"}, wait={"show_output": False}, posix="bash",
        folders=(".codeium/windsurf",), marks=(".windsurf",), programs=("windsurf",),
        after="Windsurf reads its hooks when Cascade starts.",
        limits=(
            "Nothing reaches the model but the reason of a hold, by exit code 2.",
            "What a prompt brings up holds the next action, if its trigger holds or asks; else it is not said.",
        ),
        source="the host's page on hooks",
    ),
    Setup(
        host="amp", title="Amp", shape=PLUGIN,
        places={
            PROJECT: Place(folder=".amp/plugins", file="deia.ts"),
            USER: Place(
                folder=".config/amp/plugins", file="deia.ts", variables=(("XDG_CONFIG_HOME", ".config"),)
            ),
        },
        events=_events("tool.call"), tried={"before_tool": "tool.call"},
        folders=(".config/amp",), marks=(".amp",), programs=("amp",),
        after="Amp loads its plugins when it starts; older versions want PLUGINS=all in the environment.",
        limits=("A plugin sees tool calls alone; nothing reaches the model but the reason of a rejection.",),
        source="the Amp integration of safety-net; plugins that others publish",
    ),
    Setup(
        host="droid", title="Factory Droid", shape=GROUPED,
        places={
            PROJECT: Place(folder=".factory", file="settings.json", before="hooks.json"),
            USER: Place(
                folder=".factory", file="settings.json", before="hooks.json", variables=(("FACTORY_HOME_OVERRIDE", ""),)
            ),
        },
        events=_events("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"), tried=CLAUDE_LIKE,
        wait={"timeout": SECONDS}, windows="cmd", folders=(".factory",), marks=(".factory",), programs=("droid",),
        after="Droid reads its hooks when a session starts; /hooks shows them.",
        limits=(
            "Where a `hooks.json` stands beside `settings.json`, Droid reads that alone, so the hooks go there.",
            "`hooksDisabled` in `settings.json` silences all hooks.",
            "Questions and notes to the person are not documented there, so none are sent.",
        ),
        source="the host's hooks reference",
    ),
    Setup(
        host="kiro", title="Kiro CLI and Amazon Q Developer CLI", shape=FLAT, typed=False,
        places={
            PROJECT: Place(folder=".kiro/agents", file="*.json", new="deia.json", also=".amazonq/cli-agents"),
            USER: Place(folder=".kiro/agents", file="*.json", new="deia.json", also=".aws/amazonq/cli-agents"),
        },
        events=_events("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse"),
        tried={"before_tool": "preToolUse"}, wait={"timeout_ms": SECONDS * 1000},
        head={"name": "deia", "description": "Every tool, watched by deia", "tools": ["*"]},
        posix="bash", windows="cmd",
        folders=(".kiro", ".aws/amazonq"), marks=(".kiro", ".amazonq"), programs=("kiro-cli", "q"),
        after="Kiro's hooks belong to agents: every agent that has a file got them. The built-in one has no file; where"
        " an agent called deia was made, start it with: kiro-cli chat --agent deia",
        limits=(
            "Nothing reaches the model but the reason of a hold, by exit code 2.",
            "An agent that is made later has no hooks until `deia install kiro` is run again.",
            "An event names no conversation, so a folder stands for it.",
        ),
        source="aws/amazon-q-developer-cli docs/{hooks,agent-format,agent-file-locations}.md",
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Setup] = {setup.host: setup for setup in SETUPS}
