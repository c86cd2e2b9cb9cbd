"""Writes and reads hooks that are files of their own: an executable for one event, or a plugin inside the host.

deia recognises its files by the script that they run. Somebody else's file in such a place is never overwritten.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from deia.errors import HostError
from deia.serve import hosts
from deia.serve.setup.host_settings.command import POSIX, POWERSHELL, line, words_of
from deia.serve.setup.host_settings.hook_file import HOOK_FILE
from deia.serve.setup.host_settings.hosts_table import PLUGIN, Setup
from deia.serve.setup.host_settings.launcher import NAME, in_shell, is_launched, words_in_shell

RUNNABLE = 0o755
ABOUT = "deia: the right lesson before the mistake. Made by `deia install`; `deia uninstall` takes it out."
FALLBACK = 'return ["deia-hook"]'  # the line of the plugins that names the hook's command
RETURN = "return ["
ARGUMENTS = "[...rest, HOST]"


def file_text(setup: Setup, path: str, words: Sequence[str]) -> str:
    """Return the text of a file that calls the hook."""
    if setup.shape == PLUGIN:
        return _plugin(setup, words)
    if path.endswith(".ps1"):
        return f"# {ABOUT}\n{line(words, POWERSHELL)}\n"
    return f"#!/bin/sh\n# {ABOUT}\n{in_shell(words) if is_launched(words) else f'exec {line(words, POSIX)}'}\n"


def _plugin(setup: Setup, words: Sequence[str]) -> str:
    """Return the host's plugin with this command; arguments behind the host's name stay behind it."""
    source = os.path.join(os.path.dirname(os.path.abspath(hosts.__file__)), "plugins", f"{setup.host}.ts")
    with open(source, encoding="utf-8") as file:
        text = file.read()
    at = list(words).index(setup.host)
    command = json.dumps(list(words[:at]), ensure_ascii=False)
    more = "".join(f", {json.dumps(word, ensure_ascii=False)}" for word in words[at + 1 :])
    return text.replace(FALLBACK, f"return {command}", 1).replace(ARGUMENTS, f"[...rest, HOST{more}]", 1)


def is_own_file(text: str) -> bool:
    """Return whether a file is deia's."""
    plain = text.replace("\\\\", "/").replace("\\", "/")
    return HOOK_FILE in plain or f"/{NAME}" in plain


def check_free(path: str, text: str) -> None:
    """Raise HostError if somebody else wrote the file that would be replaced."""
    if text.strip() and not is_own_file(text):
        problem = "is a hook of somebody else's, and the host reads only one file for this event"
        raise HostError(problem, where=path, fix="Let that file run the hook too, or move it away.")


def words_in(setup: Setup, text: str) -> list[str]:
    """Return the words of the command in a file of deia, as the host runs it; none if they cannot be found."""
    if setup.shape == PLUGIN:
        return _plugin_words(setup, text)
    last_line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return words_in_shell(last_line) or words_of(last_line.removeprefix("exec "))


def _plugin_words(setup: Setup, text: str) -> list[str]:
    at = text.find(RETURN)
    more = text.find("[...rest, HOST")
    decoder = json.JSONDecoder()
    try:
        command, _ = decoder.raw_decode(text, at + len("return "))
        rest = decoder.raw_decode("[" + text[more + len("[...rest, HOST") :].lstrip(", "))[0] if more > 0 else []
    except ValueError:
        return []
    return [*map(str, command), setup.host, *map(str, rest)]
