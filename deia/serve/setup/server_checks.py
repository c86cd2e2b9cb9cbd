"""The checks of `deia doctor` on hooks that ask a server: whether it is there, and answers as a hook does.

A server that runs at an address gets a harmless call, since its memory is the person's. Of a server that the session
starts, only the entry is read. A missing server is only a warning, because the command beside such a hook answers
instead.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import urllib.request
from collections.abc import Iterator, Mapping

from deia.errors import HostError
from deia.fast_json import Json
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.check_results import Finding, Patient, dead, fine, warning
from deia.serve.setup.connect import HOOKS_OPTION, server_paths
from deia.serve.setup.host_settings.claude_code_settings import warm_entries
from deia.serve.setup.host_settings.hosts_table import BY_NAME, CLAUDE_CODE, PROJECT, settings_paths
from deia.serve.setup.host_settings.server_file import server_in
from deia.serve.setup.live_check import BEFORE_TOOL, CONVERSATION, PATIENCE, Output, read_output
from deia.serve.setup.settings_changes import read_settings
from deia.text import one_line

EVENT = "PreToolUse"
FALLBACK = "the command beside it watches alone"
MOST_ANSWER = 1_000_000  # bytes
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy knows nothing of this machine's ports


def warm_findings(patient: Patient) -> Iterator[Finding]:
    """Yield the findings about hooks that ask a server."""
    setup = BY_NAME[CLAUDE_CODE]
    for scope in setup.places:
        for path in settings_paths(setup, scope, patient.machine):
            try:
                entry = warm_entries(read_settings(path), path=path).get(EVENT)
            except HostError:
                continue  # reported by the check of the hooks themselves
            if entry is not None:
                by_tool = entry["type"] == "mcp_tool"
                finding = _by_tool(patient, scope) if by_tool else _at_address(patient, scope, entry)
                yield finding.but(text=f"{path}: {finding.text}")


def _at_address(patient: Patient, scope: str, entry: Mapping[str, Json]) -> Finding:
    url = one_line(str(entry["url"]))
    if not patient.owns(scope):
        text = f"the server at {url} was not asked, since this project is not trusted"
        return warning(text, "Type: deia install claude-code --warm --user")
    if not url.startswith(("http://", "https://")):
        return dead(f"{url} is not an address", "Type: deia install claude-code --warm")
    folder, allowed, written = patient.machine.project, entry.get("allowedEnvVars"), entry.get("headers")
    event = sample(CLAUDE_CODE, Happening(moment=BEFORE_TOOL, text="ls", conversation=CONVERSATION, folder=folder))
    # As the host does: the variables that the entry allows are filled in, and others become empty.
    names = allowed if isinstance(allowed, list) else []
    values = {name: value for name, value in patient.machine.environ.items() if name in names}
    headers = {
        name: re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), str(text))
        for name, text in (written.items() if isinstance(written, dict) else ())
    }
    request = urllib.request.Request(url, data=json.dumps(event).encode(), headers=headers)  # noqa: S310 - checked above
    try:
        with DIRECT.open(request, timeout=PATIENCE) as answer:
            body = answer.read(MOST_ANSWER)
    except (OSError, ValueError) as error:
        return warning(f"the server at {url} does not answer ({error}), so {FALLBACK}", "Type: deia serve")
    problem = read_output(CLAUDE_CODE, BEFORE_TOOL, EVENT, Output(code=0, out=body, err=b"")).problem
    return (
        dead(f"the server at {url} {problem}", "Type: deia serve") if problem else fine(f"the server at {url} answers")
    )


def _by_tool(patient: Patient, scope: str) -> Finding:
    """Return whether the host can start the session's server, and that server offers the tool for hooks."""
    server: dict[str, Json] = {}
    for path in server_paths(CLAUDE_CODE, patient.machine).values():
        with contextlib.suppress(HostError):
            server = server or server_in(read_settings(path), CLAUDE_CODE, path=path) or {}
    command, arguments = server.get("command"), server.get("args")
    if not server:
        problem = "its hooks call a tool of the server deia, with which the session is not connected"
    elif isinstance(command, str) and not shutil.which(command):
        problem = f"its hooks call a tool of the server deia, but there is no program {command}"
    elif isinstance(command, str) and not (isinstance(arguments, list) and HOOKS_OPTION in arguments):
        problem = f"its hooks call a tool that the server deia does not offer without {HOOKS_OPTION}"
    else:
        return fine("hooks that call the server's tool stand beside the command")
    reinstall = "Type: deia install claude-code --warm-mcp" + ("" if scope == PROJECT else f" --{scope}")
    return warning(f"{problem}, so {FALLBACK}", reinstall)
