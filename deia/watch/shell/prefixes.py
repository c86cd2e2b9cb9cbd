"""Programs that only run the rest of their words: `sudo`, `env A=b`, `timeout 5`.

An option that the tables do not list takes no value.
"""

from __future__ import annotations

from deia.watch.shell.nodes import Inner, is_assignment, option_value, options_end
from deia.watch.shell.programs import ONE_WORD_FIRST, PREFIXES, SCRIPT_OPTIONS, SHELLS


def key_of(program: str) -> str:
    """Return the name of a program in the tables: lower case, without a version (`python3.11`)."""
    if program in SHELLS:
        return program
    name = program.lower()
    return name.rstrip("0123456789.") or name


def passed_on(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what a program of `PREFIXES` runs."""
    script = option_value(words[:8], SCRIPT_OPTIONS[key]) if key in SCRIPT_OPTIONS else None
    if script is not None:
        return [Inner(f"{key} -c", script=script)]
    at = options_end(words, 1, PREFIXES[key])
    if key == "command" and any("v" in word.lower() for word in words[1:at]):
        return []
    if key == "env":
        split = _split_string(words, at)
        if split:
            return split
        at += words[at : at + 1] == ["-"]
    begin = at = at + (key in ONE_WORD_FIRST)
    while at < len(words) and is_assignment(words[at]):
        at += 1
    environment = tuple(words[begin:at])
    if key == "watch" and at == len(words) - 1 and " " in words[at]:
        return [Inner(key, script=words[at])]
    if at == len(words) and stdin and key in ("sudo", "chroot", "wsl"):
        return []
    return [Inner(key, words[at:], environment=environment)]


def _split_string(words: list[str], end: int) -> list[Inner]:
    """Return what `env -S 'program word'` runs, whose one word is split like a line."""
    for at in range(1, min(end + 1, len(words))):
        word = words[at]
        if word in ("-S", "--split-string"):
            return [Inner("env", script=" ".join(words[at + 1 :]))]
        if word.startswith(("-S", "--split-string=")):
            first = word[2:] if word.startswith("-S") else word.partition("=")[2]
            return [Inner("env", script=" ".join([first, *words[at + 1 :]]))]
    return []
