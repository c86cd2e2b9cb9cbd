"""Writes a command line for a POSIX shell, PowerShell or `cmd`, and splits such a line into words again.

Every line is quoted correctly for paths with blanks, quotes, `$`, `%` and letters of any script.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
from collections.abc import Mapping, Sequence

POSIX, POWERSHELL, CMD = "posix", "powershell", "cmd"
QUOTES = "'\u2018\u2019\u201a\u201b"  # the characters that PowerShell reads as a single quote
PLAIN = frozenset("\\/:._-~+")  # characters besides letters and digits that have no meaning for cmd
ENCODED = "powershell.exe -NoLogo -NoProfile -NonInteractive -EncodedCommand "
# PowerShell turns every exit code other than 0 into 1, but at some hosts a hold is a 2.
LEAVE = "; exit $LASTEXITCODE"
CALL = "& "
WORD = re.compile(f"[{QUOTES}]((?:[^{QUOTES}]|[{QUOTES}]{{2}})*)(?:[{QUOTES}]|$)")  # of PowerShell; `''` is a quote
QUOTED = re.compile(f"(?:{WORD.pattern} ?)*")


def line(words: Sequence[str], dialect: str) -> str:
    """Return the words as one line in a shell's dialect; raise KeyError if the dialect is unknown."""
    return WRITERS[dialect](words)


def _powershell(words: Sequence[str]) -> str:
    quoted = (re.sub(f"([{QUOTES}])", r"\1\1", word) for word in words)
    return CALL + " ".join(f"'{word}'" for word in quoted) + LEAVE


def _cmd(words: Sequence[str]) -> str:
    """Return plain words if that is safe, else a call of PowerShell with an encoded command."""
    # Hosts disagree on how quotes reach `cmd /C` (Rust's standard library puts a backslash before each), so a line for
    # it has none. The encoded command consists of letters and digits, but PowerShell takes time to start.
    if all(word and all(char.isalnum() or char in PLAIN for char in word) for word in words):
        return " ".join(words)
    script = _powershell(words).encode("utf-16-le", "surrogatepass")
    return ENCODED + base64.b64encode(script).decode("ascii")


WRITERS = {POSIX: shlex.join, POWERSHELL: _powershell, CMD: _cmd}


def words_of(text: str) -> list[str]:
    """Return the words of a line in any of the dialects, as well as they can be recognised."""
    text = text.strip()
    if text.startswith(ENCODED):
        try:
            script = base64.b64decode(text[len(ENCODED) :].encode("ascii", "replace"), validate=True)
        except binascii.Error:
            return []
        return words_of(script.decode("utf-16-le", "replace"))
    if text.startswith(CALL):
        quoted = QUOTED.match(text, len(CALL))
        words = WORD.findall(quoted[0]) if quoted else []
        return [re.sub(f"[{QUOTES}]([{QUOTES}])", r"\1", word) for word in words]
    if "\\" in text and not set(text) & {"'", '"'}:  # as `cmd` reads it; a POSIX shell would remove the backslashes
        return text.split()
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def shell_start(shell: str, environ: Mapping[str, str]) -> list[str]:
    """Return what a host starts to run a line: `shell` is `sh`, `bash`, `login`, `powershell` or `cmd`."""
    return {
        "sh": ["/bin/sh", "-c"],
        "bash": ["bash", "-c"],
        "login": [environ.get("SHELL") or "/bin/sh", "-lc"],
        "powershell": ["powershell.exe", "-NoProfile", "-Command"],
        "cmd": [environ.get("COMSPEC") or "cmd.exe", "/C"],
    }[shell]


def script_start(path: str) -> list[str]:
    """Return what a host starts for an executable file: a shell that runs it."""
    if on_windows():
        return ["powershell.exe", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", path]
    return ["/bin/sh", "-c", shlex.quote(path)]


def dialect_of(shell: str) -> str:
    """Return the dialect that a shell reads."""
    return shell if shell in {POWERSHELL, CMD} else POSIX


def on_windows() -> bool:
    """Return whether this machine runs Windows."""
    return os.name == "nt"
