"""The plugins of hosts that run them in their own process, run by node with a host's calls acted out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve import hook

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

PLUGINS = Path(hook.__file__).parent / "hosts" / "plugins"
COMMAND = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__)]
NODE = shutil.which("node") or ""
needs_node = pytest.mark.skipif(not NODE, reason="node is not installed")

OPENCODE = """
import { Deia } from "./plugin.mjs"
const hooks = await Deia({ directory: process.argv[2] })
const told = []
const before = async (callID, command) => {
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID }, { args: { command } })
    return "passes"
  } catch (error) { return error.message }
}
told.push(await before("a", "ls"), await before("b", "shopctl site:delete --yes"))
told.push(await before("c", "shopctl site:delete --yes"))
const part = { type: "text", text: process.argv[3], id: "prt_1", messageID: "msg_1", sessionID: "s2" }
const message = { message: { id: "msg_1" }, parts: [part] }
await hooks["chat.message"]({ sessionID: "s2" }, message)
told.push(message.parts)
const output = { title: "", output: "Error: Site not found", metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", callID: "d", args: { command: "x" } }, output)
told.push(output.output)
const answer = { content: [{ type: "text", text: "Error: Site not found" }], structuredContent: {}, isError: true }
await hooks["tool.execute.after"]({ tool: "shop_ask", sessionID: "s3", callID: "e", args: { name: "x" } }, answer)
told.push(answer.content)
await hooks["chat.message"](undefined, undefined)
await hooks["tool.execute.after"](undefined, undefined)
console.log(JSON.stringify(told))
"""
AMP = """
import deia from "./plugin.mjs"
let called
deia({ on: (name, handler) => { if (name === "tool.call") called = handler } })
const told = []
for (const [id, command] of [["a", "ls"], ["b", "shopctl site:delete --yes"], ["c", "shopctl site:delete --yes"]])
  told.push(await called({ tool: "Bash", input: { command }, toolUseID: id, thread: { id: "t1" } }, {}))
told.push(await called(undefined, undefined))
console.log(JSON.stringify(told))
"""


def act(folder: Path, plugin: str, script: str, it: Any, command: list[str] | str = "") -> list[Any]:
    shutil.copy(PLUGINS / f"{plugin}.ts", folder / "plugin.mjs")
    (folder / "act.mjs").write_text(script, encoding="utf-8")
    environ = {**it.environ, "DEIA_HOOK": command if isinstance(command, str) else json.dumps(command)}
    environ["PATH"] = str(folder)  # where no `deia` of this machine's own lies
    done = subprocess.run(
        [NODE, str(folder / "act.mjs"), it.folder, "I will delete the shop site now"],
        capture_output=True, check=False, env=environ, timeout=60, cwd=it.folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    told: list[Any] = json.loads(done.stdout)
    return told


@needs_node
def test_opencode_holds_and_adds_through_its_plugin(hosted: Hosts, tmp_path: Path) -> None:
    it = hosted("opencode")
    quiet, held, again, said, failed, answer = act(tmp_path, "opencode", OPENCODE, it, COMMAND)
    assert quiet == again == "passes"
    assert "Save the domain records first." in held
    assert failed.startswith("Error: Site not found\n\n<deia-reference")
    own, added = said
    assert own["text"] == "I will delete the shop site now", "what the person wrote stays as it is"
    assert added["text"].startswith("<deia-reference")
    assert (added["synthetic"], added["messageID"], added["sessionID"]) == (True, "msg_1", "s2")
    assert added["id"] > own["id"], "the host orders the parts of a message by their ids"
    assert [part["text"][:15] for part in answer] == ["Error: Site not", "<deia-reference"], "as an MCP server answers"


@needs_node
def test_amp_rejects_a_call_once_through_its_plugin(hosted: Hosts, tmp_path: Path) -> None:
    quiet, held, again, strange = act(tmp_path, "amp", AMP, hosted("amp"), COMMAND)
    assert quiet == again == strange == {"action": "allow"}
    assert held["action"] == "reject-and-continue"
    assert "Save the domain records first." in held["message"]


@needs_node
@pytest.mark.parametrize(
    "command", ["", "5", '["/no/such/program"]', json.dumps([sys.executable, "-c", "print('no')"])]
)
def test_a_hook_that_is_not_there_changes_nothing(hosted: Hosts, tmp_path: Path, command: str) -> None:
    assert act(tmp_path, "amp", AMP, hosted("amp"), command) == [{"action": "allow"}] * 4


@pytest.mark.parametrize("plugin", ["opencode", "amp"])
def test_a_plugin_names_its_host_and_no_shell(plugin: str) -> None:
    text = (PLUGINS / f"{plugin}.ts").read_text(encoding="utf-8")
    assert f'const HOST = "{plugin}"' in text
    assert "shell" not in text
    assert "spawn(program, [...rest, HOST]" in text


def test_both_plugins_ask_the_hook_in_the_same_way() -> None:
    texts = [(PLUGINS / f"{name}.ts").read_text(encoding="utf-8") for name in ("opencode", "amp")]
    asking = [
        text[text.index("function command()") : text.index("\n\nexport ", text.index("export function ask"))]
        for text in texts
    ]
    assert asking[0] == asking[1]
