"""The checks of `deia doctor` on hooks that ask a server: whether it is there, and answers as a hook does.

A server that the session starts is started here as by the host, with a state folder of its own, and is sent an event to
which it should respond. A server that runs anyway gets a harmless call, since its memory is the person's. A missing
server is only a warning, because the command beside such a hook answers instead.
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
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.check_results import Finding, Patient, dead, fine, warning
from deia.serve.setup.hook_installation import Spot
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, SERVERS
from deia.serve.setup.host_settings.hosts_table import CLAUDE_CODE as HOST
from deia.serve.setup.host_settings.reads_answer import Heard, Output, read_output
from deia.serve.setup.host_settings.server_file import server_in
from deia.serve.setup.host_settings.warm import warm_entries
from deia.serve.setup.live_check import BEFORE_TOOL, CONVERSATION, PATIENCE, own_environment, spoken
from deia.serve.setup.settings_changes import read_settings

EVENT = "PreToolUse"
PLACEHOLDER = re.compile(r"\$\{([A-Za-z_.]+)\}")
FALLBACK = "the command beside it watches alone"
PROTOCOL_VERSION = "2025-06-18"
MOST_ANSWER = 1_000_000  # bytes
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy knows nothing of this machine's ports


def warm_findings(patient: Patient, case: Case | None) -> Iterator[Finding]:
    """Yield the findings about hooks that ask a server; `case` is a tool call that should be held."""
    setup = BY_NAME[HOST]
    for scope in setup.places:
        spot = Spot(setup=setup, scope=scope, project=patient.project, environ=patient.environ)
        for path in spot.paths:
            try:
                entry = warm_entries(read_settings(path), path=path).get(EVENT)
            except HostError:
                continue  # reported by the check of the hooks themselves
            if entry is not None:
                by_tool = entry["type"] == "mcp_tool"
                finding = _by_tool(patient, spot, entry, case) if by_tool else _at_address(patient, entry)
                yield finding.but(text=f"{path}: {finding.text}")


def _at_address(patient: Patient, entry: Mapping[str, Any]) -> Finding:
    url = str(entry["url"])
    event = sample(HOST, Happening(moment=BEFORE_TOOL, text="ls", conversation=CONVERSATION, folder=patient.project))
    headers = {name: _from_environment(text, entry, patient) for name, text in entry.get("headers", {}).items()}
    if not url.startswith(("http://", "https://")):
        return dead(f"{url} is not an address", "Type: deia install claude-code --warm")
    request = urllib.request.Request(url, data=json.dumps(event).encode(), headers=headers)  # noqa: S310 - checked above
    try:
        with DIRECT.open(request, timeout=PATIENCE) as answer:
            body = answer.read(MOST_ANSWER)
    except (OSError, ValueError) as error:
        return warning(f"the server at {url} does not answer ({error}), so {FALLBACK}", "Type: deia serve")
    heard = read_output(HOST, BEFORE_TOOL, EVENT, Output(code=0, out=body, err=b""))
    if heard.problem:
        return dead(f"the server at {url} {heard.problem}", "Type: deia serve")
    return fine(f"the server at {url} answers")


def _from_environment(text: object, entry: Mapping[str, Any], patient: Patient) -> str:
    """Return a text with the variables that the entry allows filled in, as by the host; others become empty."""
    allowed = entry.get("allowedEnvVars", ())
    values = {name: value for name, value in patient.environ.items() if name in allowed}
    return re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), str(text))


def _by_tool(patient: Patient, spot: Spot, entry: Mapping[str, Any], case: Case | None) -> Finding:
    reinstall = "Type: deia install claude-code --warm-mcp" + ("" if spot.scope == PROJECT else f" --{spot.scope}")
    server = _server(patient)
    if not server:
        problem = "its hooks call a tool of the server deia, with which the session is not connected"
        return warning(f"{problem}, so {FALLBACK}", reinstall)
    if case is None or not isinstance(server.get("command"), str):
        return fine("hooks that call the server's tool stand beside the command; not tried")
    happening = Happening(moment=BEFORE_TOOL, text=spoken(case), conversation=CONVERSATION, folder=patient.project)
    command = [server["command"], *map(str, server.get("args") or ())]
    heard = _asked(command, entry, sample(HOST, happening) or {}, patient)
    problem = heard.problem or ("" if case.trigger in heard.text else f"does not say what {case.trigger} says")
    if problem:
        return warning(f"the server's tool {problem}, so {FALLBACK}", reinstall)
    return fine(f"the server's tool answers (tried with {case.trigger})")


def _server(patient: Patient) -> dict[str, Any]:
    """Return the entry of the session's server in the first of the host's files that has one."""
    for scope, place in SERVERS[HOST].places.items():
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
    """Start a server, call its tool as the host does, and return what the host would read in the answer."""
    arguments = {name: filled(text, event) for name, text in entry["input"].items()}
    client = {
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": CONVERSATION, "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": entry["tool"], "arguments": arguments}},
    ]
    with own_environment(patient.environ) as environ:
        try:
            requests = "".join(json.dumps(message) + "\n" for message in messages)
            answer = _exchange(command, requests, patient.project, environ)
        except (OSError, ValueError) as error:
            return Heard(problem=f"does not start: {error}")
    if answer is None:
        return Heard(problem=f"gives no answer within {PATIENCE:g} s")
    result = answer.get("result") or {}
    if result.get("isError") or "error" in answer:
        return Heard(problem=f"refuses: {json.dumps(result or answer['error'])[:200]}")
    text = "".join(str(part.get("text", "")) for part in result.get("content", ()))
    return read_output(HOST, BEFORE_TOOL, EVENT, Output(code=0, out=text.encode(), err=b""))


def _exchange(
    command: Sequence[str], requests: str, folder: str, environ: Mapping[str, str]
) -> dict[str, Any] | None:  # fmt: skip
    """Return the answer to the second request, or None if none comes in time."""
    with subprocess.Popen(  # noqa: S603 - the server that the host starts
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, env=environ
    ) as process:
        assert process.stdin is not None  # noqa: S101 - for the checker: they are pipes
        assert process.stdout is not None  # noqa: S101
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            process.stdin.write(requests.encode())
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return dict(answer)
        except (BrokenPipeError, ValueError):
            return None
        finally:
            timer.cancel()
            process.kill()
    return None


def filled(template: object, event: Mapping[str, Any]) -> Any:
    """Return a template filled in as by the host: texts as they are, other values as JSON, missing ones as nothing."""
    return (
        PLACEHOLDER.sub(lambda match: _value_at(event, match[1]), template) if isinstance(template, str) else template
    )


def _value_at(event: Mapping[str, Any], path: str) -> str:
    value: Any = event
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
