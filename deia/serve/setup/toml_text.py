"""Writes one setting into `deia.toml` and leaves every other line as it is.

If a file cannot be changed by lines, the error says what to write by hand.
"""

from __future__ import annotations

import json
import re
import tomllib

from deia import files
from deia.problems import SettingsError

FILE = "deia.toml"


def write_setting(root: str, name: str, value: object) -> str:
    """Write a setting of the commons at `root`; return the file's path."""
    path = f"{root}/{FILE}"
    content = files.read(path)
    if content is None and files.is_regular(path):  # else its other lines would be lost
        raise SettingsError("the file cannot be read", where=FILE, fix=f"To see who may, type: ls -l {path}")
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError("the file is not UTF-8", where=FILE, fix="Save it as UTF-8.") from error
    after = with_setting(text, name, value)
    try:
        files.replace(path, after.encode())
    except OSError as error:
        fix = f'Give yourself the right to write in {root}, or set it for this shell: DEIA_{name.upper()}="{value}"'
        raise SettingsError(f"cannot be written: {error.strerror}", where=path, fix=fix) from error
    return path


def with_setting(text: str, name: str, value: object) -> str:
    """Return the text of a settings file in which a setting has a value."""
    before = _read(text)
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}\n"  # texts, numbers and truth values are alike in TOML
    lines = text.splitlines(keepends=True)
    top = next((at for at, row in enumerate(lines) if row.lstrip().startswith("[")), len(lines))
    own = next((at for at in range(top) if re.match(rf"\s*{re.escape(name)}\s*=", lines[at])), None)
    if own is not None:
        comment = re.search(r"\s+#[^\"']*$", lines[own])
        lines[own] = line.rstrip("\n") + (comment[0].rstrip("\n") if comment else "") + "\n"
    else:
        at = top
        while at and not lines[at - 1].strip():
            at -= 1
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += "\n"
        lines.insert(at, line)
    after = "".join(lines)
    if _read(after, broken={}) != {**before, name: value}:
        raise SettingsError(f"{name} cannot be written into it", where=FILE, fix=f"Write there: {line.strip()}")
    return after


def _read(text: str, *, broken: dict[str, object] | None = None) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if broken is not None:
            return broken
        raise SettingsError(f"not TOML: {error}", where=FILE, fix="Correct the line, or remove the file.") from error
