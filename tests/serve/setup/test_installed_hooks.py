"""Every host's installation, run as that host would run it: from the file that was written, by the shell it uses."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deia
from deia.serve.setup.hook_installation import Spot, hook_parts
from deia.serve.setup.host_settings.hosts_table import BY_NAME, FLAT, GROUPED, SETUPS, Machine
from deia.serve.setup.settings_changes import carry_out, planned

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the lines are a POSIX shell's; others are compared as text")
DELETE = "I will delete the shop site now"
CALL = "shopctl site:delete --yes"
LESSON = "Save the domain records first."
NODE = shutil.which("node") or ""
SHELLS = {"codex": "login", "gemini": "bash", "windsurf": "bash", "kiro": "bash", "qwen": "bash"}
EVENTS = {  # host → moment → the event as its settings name it
    "claude-code": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
    "codex": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
    "copilot": ("userPromptTransformed", "preToolUse", "postToolUse"),
    "vscode": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
    "gemini": ("BeforeAgent", "BeforeTool", "AfterTool"),
    "cursor": ("beforeSubmitPrompt", "preToolUse", "postToolUse"),
    "cline": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
    "windsurf": ("pre_user_prompt", "pre_run_command", "post_mcp_tool_use"),
    "droid": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
    "kiro": ("userPromptSubmit", "preToolUse", "postToolUse"),
    "qwen": ("UserPromptSubmit", "PreToolUse", "PostToolUse"),
}
MOMENTS = ("prompt", "before_tool", "after_tool")
ACT = {
    "opencode": """
import { Deia } from "./plugin.mjs"
const hooks = await Deia({ directory: process.argv[2] })
try {
  const args = { command: process.argv[3] }
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "a" }, { args })
} catch (error) { console.log(error.message) }
""",
    "amp": """
import deia from "./plugin.mjs"
let called
deia({ on: (name, handler) => { called = handler } })
console.log((await called({ tool: "Bash", input: { command: process.argv[3] }, toolUseID: "a" }, {})).message)
""",
}


@pytest.fixture
def strange(tmp_path: Path) -> list[str]:
    """Return an interpreter and a hook file behind a path with everything that shells trip over."""
    folder = tmp_path / """sp ace 'single' "double" $HOME `id` %PATH% ü;&|"""
    folder.mkdir()
    (folder / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    (folder / "deia").symlink_to(Path(deia.__file__).parent)
    return [str(folder / "python3"), "-I", "-S", str(folder / "deia/serve/hook.py")]


def started(host: str, folder: Path, event: str) -> list[str]:
    """Read the written settings as the host does, and give what it would start."""
    setup = BY_NAME[host]
    path = folder / setup.places["project"].folder
    if host == "cline":
        return ["/bin/sh", "-c", shlex.quote(str(path / event))]
    file = path / (setup.places["project"].new or setup.places["project"].file)
    (entry,) = json.loads(file.read_text(encoding="utf-8"))["hooks"][event]
    if setup.shape == GROUPED:
        (entry,) = entry["hooks"]
    if "args" in entry:
        return [entry.get("exec") or entry["command"], *entry["args"]]
    shell = SHELLS.get(host, "/bin/sh")
    start = [os.environ.get("SHELL", "/bin/sh"), "-lc"] if shell == "login" else [shell, "-c"]
    return [*start, entry.get("command") or entry["darwin" if sys.platform == "darwin" else "linux"]]


def entered(host: str, folder: str, environ: dict[str, str], strange: list[str]) -> Spot:
    spot = Spot(setup=BY_NAME[host], scope="project", machine=Machine(project=folder, environ=environ))
    for change in planned(hook_parts(spot, [*strange, host])).changes:
        carry_out(change)
    return spot


@pytest.mark.parametrize("host", EVENTS)
def test_what_is_installed_delivers_in_the_host_s_own_shape(hosted: Hosts, host: str, strange: list[str]) -> None:
    it = hosted(host)
    spot = entered(host, it.folder, it.environ, strange)
    names = dict(zip(MOMENTS, EVENTS[host], strict=True))

    def send(moment: str, text: str, **more: Any) -> str:
        event = it.event(moment, text, **more)
        command = started(host, Path(it.folder), names[moment])
        done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, check=False,
                              env=it.environ, cwd=it.folder, timeout=60)  # fmt: skip
        by_code = bool(done.returncode == 2 and done.stderr and host in {"windsurf", "kiro"})
        assert by_code or (done.returncode, done.stderr) == (0, b"")
        answer = done.stderr if by_code else json.loads(done.stdout) if done.stdout else None
        it.contract.check_output(it.contract.check_input(event), answer)
        return (done.stderr if by_code else done.stdout).decode()

    assert send("before_tool", "ls", mark="a") == ""
    held = send("before_tool", CALL, mark="b")
    assert LESSON in held
    assert send("before_tool", CALL, mark="c") == "", "the same call passes when it is made again"
    it = it.but(conversation="another")
    told = send("prompt", DELETE, mark="d") + send("after_tool", "done", command="ls", mark="e")
    assert (LESSON in told) is (host not in {"windsurf", "kiro"})
    for change in planned(hook_parts(spot), removing=True).changes:
        carry_out(change)
    assert not any(os.path.exists(path) for path in spot.paths)


@pytest.mark.skipif(not NODE, reason="node is not installed")
@pytest.mark.parametrize("host", ACT)
def test_a_plugin_that_is_installed_holds_a_call(hosted: Hosts, host: str, strange: list[str], tmp_path: Path) -> None:
    it = hosted(host)
    (path,) = entered(host, it.folder, it.environ, strange).paths
    shutil.copy(path, tmp_path / "plugin.mjs")
    (tmp_path / "act.mjs").write_text(ACT[host], encoding="utf-8")
    done = subprocess.run([NODE, str(tmp_path / "act.mjs"), it.folder, CALL], capture_output=True, check=True,
                          env=it.environ, cwd=it.folder, timeout=60)  # fmt: skip
    assert LESSON in done.stdout.decode()


@pytest.mark.parametrize("host", ACT)
def test_a_plugin_passes_the_commons_on_behind_its_host(hosted: Hosts, host: str, strange: list[str]) -> None:
    it = hosted(host)
    spot = Spot(setup=BY_NAME[host], scope="project", machine=Machine(project=it.folder, environ=it.environ))
    (change,) = planned(hook_parts(spot, [*strange, host, "--commons", "/a b/c"])).changes
    assert '[...rest, HOST, "--commons", "/a b/c"]' in change.after
    assert f"return {json.dumps(strange, ensure_ascii=False)}" in change.after
    assert "deia-hook" not in change.after.split("function command()")[1].split("}\n\n")[0]


def test_every_host_is_run_here_or_by_node() -> None:
    assert {*EVENTS, *ACT} == {setup.host for setup in SETUPS}
    for host, names in EVENTS.items():
        assert BY_NAME[host].shape in {GROUPED, FLAT} or host == "cline"
        assert set(names) <= set(BY_NAME[host].events)
