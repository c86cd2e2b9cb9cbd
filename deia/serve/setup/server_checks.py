"""The part of `deia doctor` that is about hooks which ask a server: whether it is there, and answers as a hook does.

A server that the session starts is started here as the host would, with a state of its own, and is sent an event that
should make it speak. One that runs anyway is sent a call that means nothing, since what it remembers is the person's.
That nobody is there is no defect: the command beside such a hook answers then.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia.errors import HostError
from deia.knowledge import Case
from deia.serve.hosts.claude_events import HOST
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.check_results import DEAD, FINE, WARNING, Finding, Patient
from deia.serve.setup.hook_installation import Spot, read_settings
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT
from deia.serve.setup.host_settings.reads_answer import Heard, Output, read_output
from deia.serve.setup.host_settings.server_file import PLACES, server_in
from deia.serve.setup.host_settings.warm import warm_entries
from deia.serve.setup.live_check import BEFORE_TOOL, CONVERSATION, PATIENCE, own_environment, spoken

EVENT = "PreToolUse"
PLACEHOLDER = re.compile(r"\$\{([A-Za-z_.]+)\}")
AWAY = "the command beside it watches alone"
VERSION = "2025-06-18"
MOST_ANSWER = 1_000_000  # bytes
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy knows nothing of this machine's ports


def warm_findings(patient: Patient, case: Case | None) -> Iterator[Finding]:
    """Yield what there is to say about hooks that ask a server; `case` should make a tool call be held."""
    setup = BY_NAME[HOST]
    for scope in setup.places:
        spot = Spot(setup=setup, scope=scope, project=patient.project, environ=patient.environ)
        for path in spot.paths:
            try:
                entry = warm_entries(read_settings(path), path=path).get(EVENT)
            except HostError:
                continue  # told where the hooks themselves are looked at
            if entry is not None:
                by_tool = entry["type"] == "mcp_tool"
                found = _by_tool(patient, spot, entry, case) if by_tool else _at_address(patient, entry)
                yield found.but(text=f"{path}: {found.text}")


def _at_address(patient: Patient, entry: Mapping[str, Any]) -> Finding:
    url = str(entry["url"])
    event = sample(HOST, Happening(moment=BEFORE_TOOL, text="ls", conversation=CONVERSATION, folder=patient.project))
    shown = {name: _from_environment(text, entry, patient) for name, text in entry.get("headers", {}).items()}
    if not url.startswith(("http://", "https://")):
        return Finding(level=DEAD, text=f"{url} is no address", cure="Type: deia install claude-code --warm")
    asked = urllib.request.Request(url, data=json.dumps(event).encode(), headers=shown)  # noqa: S310 - seen above
    try:
        with DIRECT.open(asked, timeout=PATIENCE) as answer:
            body = answer.read(MOST_ANSWER)
    except (OSError, ValueError) as error:
        told = f"the server at {url} does not answer ({error}), so {AWAY}"
        return Finding(level=WARNING, text=told, cure="Type: deia serve")
    heard = read_output(HOST, BEFORE_TOOL, EVENT, Output(code=0, out=body, err=b""))
    if heard.problem:
        return Finding(level=DEAD, text=f"the server at {url} {heard.problem}", cure="Type: deia serve")
    return Finding(level=FINE, text=f"the server at {url} answers")


def _from_environment(text: object, entry: Mapping[str, Any], patient: Patient) -> str:
    """Put in the variables that the entry allows, as the host does; others are nothing."""
    allowed = entry.get("allowedEnvVars", ())
    return re.sub(
        r"\$\{?(\w+)\}?", lambda found: patient.environ.get(found[1], "") if found[1] in allowed else "", str(text)
    )


def _by_tool(patient: Patient, spot: Spot, entry: Mapping[str, Any], case: Case | None) -> Finding:
    again = "Type: deia install claude-code --warm-mcp" + ("" if spot.scope == PROJECT else f" --{spot.scope}")
    server = _server(patient)
    if not server:
        told = "its hooks call a tool of the server deia, with which the session is not connected"
        return Finding(level=WARNING, text=f"{told}, so {AWAY}", cure=again)
    if case is None or not isinstance(server.get("command"), str):
        return Finding(level=FINE, text="hooks that call the server's tool stand beside the command; not tried")
    what = Happening(moment=BEFORE_TOOL, text=spoken(case), conversation=CONVERSATION, folder=patient.project)
    command = [server["command"], *map(str, server.get("args") or ())]
    heard = _asked(command, entry, sample(HOST, what) or {}, patient)
    problem = heard.problem or ("" if case.trigger in heard.text else f"does not say what {case.trigger} says")
    if problem:
        return Finding(level=WARNING, text=f"the server's tool {problem}, so {AWAY}", cure=again)
    return Finding(level=FINE, text=f"the server's tool answers (tried with {case.trigger})")


def _server(patient: Patient) -> dict[str, Any]:
    """Give the session's server, as the first of the host's files has it that names it."""
    for scope, place in PLACES[HOST].items():
        setup = BY_NAME[HOST].but(places={scope: place})
        spot = Spot(setup=setup, scope=scope, project=patient.project, environ=patient.environ)
        for path in spot.paths:
            try:
                entry = server_in(read_settings(path), HOST, path=path)
            except HostError:
                continue
            if entry:
                return entry
    return {}


def _asked(
    command: Sequence[str], entry: Mapping[str, Any], event: Mapping[str, Any], patient: Patient
) -> Heard:  # fmt: skip
    """Start a server, call its tool as the host does, and give what the host would make of the answer."""
    given = {name: filled(text, event) for name, text in entry["input"].items()}
    client = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": CONVERSATION, "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": entry["tool"], "arguments": given}},
    ]
    with own_environment(patient.environ) as environ:
        try:
            answer = _spoken_with(command, "".join(json.dumps(each) + "\n" for each in lines), patient.project, environ)
        except (OSError, ValueError) as error:
            return Heard(problem=f"does not start: {error}")
    if answer is None:
        return Heard(problem=f"gives no answer within {PATIENCE:g} s")
    result = answer.get("result") or {}
    if result.get("isError") or "error" in answer:
        return Heard(problem=f"refuses: {json.dumps(result or answer['error'])[:200]}")
    text = "".join(str(part.get("text", "")) for part in result.get("content", ()))
    return read_output(HOST, BEFORE_TOOL, EVENT, Output(code=0, out=text.encode(), err=b""))


def _spoken_with(
    command: Sequence[str], said: str, folder: str, environ: Mapping[str, str]
) -> dict[str, Any] | None:  # fmt: skip
    """Give the answer to the second request, or None where none comes in time."""
    with subprocess.Popen(  # noqa: S603 - the server that the host starts
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, env=environ
    ) as process:
        assert process.stdin is not None  # noqa: S101 - for the checker: they are pipes
        assert process.stdout is not None  # noqa: S101
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        try:
            process.stdin.write(said.encode())
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return dict(answer)
        except (BrokenPipeError, ValueError):
            return None
        finally:
            patience.cancel()
            process.kill()
    return None


def filled(template: object, event: Mapping[str, Any]) -> Any:
    """Fill a template in as the host does: what is no text is written as JSON, what is not there as nothing."""
    return PLACEHOLDER.sub(lambda found: _at(event, found[1]), template) if isinstance(template, str) else template


def _at(event: Mapping[str, Any], path: str) -> str:
    value: Any = event
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
