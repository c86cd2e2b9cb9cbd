"""Whether a file's new text guards less than its old text did.

Each function compares two texts of one kind of file: a host's settings, deia's settings, a shell profile. A text may be
a whole file or the part of it that an edit takes out and puts in.
"""

from __future__ import annotations

from deia.fast_json import Json, NestingError, dumps, loads
from deia.records import ACTIONS, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.settings import Settings

HOOK = ("deia/serve/hook.py", "deia-hook", "powershell.exe-nologo-noprofile-noninteractive-encodedcommand")
TRUST = "trusted_hash"  # Codex's memory that a person allowed a hook
SWITCHES = (
    '"disableallhooks":true', '"hooksdisabled":true', '"allowmanagedhooksonly":true',
)  # fmt: skip
TOML_SWITCHES = ("hooks=false", "features.hooks=false", "codex_hooks=false", "features={hooks=false")
TABLES = ('"hooksconfig":{', '"hooks":{')  # of Gemini: an `enabled` in one of them switches all hooks
OFF_ENTRY = ('"enabled":false', "enabled=false")
PLUGIN = ('"deia@', '"deia":')  # deia as a plugin of Claude Code, before its marketplace
MOST_DEPTH = 12
# The settings that weaken, by the file's name and as DEIA_NAME.
WEAKENING = tuple("deadline_ms starter starter_triggers hold max_action forms exceptions quiet telemetry".split())
FORMS = frozenset(("off", *ACTIONS)) - {"hold"}
LEAST_DEADLINE = 1000  # milliseconds, the default
TABLE_SETTINGS = frozenset(("forms", "exceptions", "quiet"))
# Variables that switch deia off, or move what a person decided out of its sight.
SWITCHING_VARIABLES = ("DEIA_OFF", "DEIA_STATE", "DEIA_TRUST")
VARIABLES = SWITCHING_VARIABLES + tuple(f"DEIA_{name.upper()}" for name in WEAKENING)
TOP = "tool.deia"


def names_hook(text: str) -> bool:
    """Return whether a settings file calls deia's hook."""
    return _mentions(text) > 0


def _mentions(text: str) -> int:
    plain = _squeezed(text).replace("\\\\", "/").replace("\\", "/")
    return sum(plain.count(name) for name in (*HOOK, TRUST))


def weakened_host(before: str, after: str, *, whole: bool, own: bool = False) -> str:
    """Return what is lost between two texts of a host's settings, or "".

    `own` is true of a file that is deia's alone, in which nothing may change.
    """
    if _mentions(before) > _mentions(after) or (own and names_hook(before) and before != after):
        return "deia's hook would go from"
    if set(_switches(after)) - set(_switches(before)):
        return "hooks would be switched off in"
    if set(weak_variables(after)) - set(weak_variables(before)):
        return "a variable that weakens deia would be set in"
    return _changed_hook(before, after) if whole and names_hook(before) else ""


def _changed_hook(before: str, after: str) -> str:
    """Return what becomes of deia's hook between two whole texts of a host's settings in JSON, or ""."""
    try:
        old = loads(before)
    except NestingError:  # hosts may still read it
        return "deia's hook may be changed in"
    except ValueError:
        return ""
    try:
        kept = list(_entries(loads(after), ()))
        entries = list(_entries(old, ()))
    except (ValueError, RecursionError):  # what is too deep to be compared may hide a change
        return "deia's hook would be lost with broken JSON in"
    for entry in entries:
        if entry not in kept:
            return "deia's hook would be changed in"
        kept.remove(entry)
    return ""


def _entries(value: Json, place: tuple[str, ...], matcher: str = "") -> Iterator[tuple[object, ...]]:
    """Yield each hook of deia: the keys that lead to it, the matcher of its group, and its own text."""
    if len(place) > MOST_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _entries(item, (*place, ""), matcher)
    elif isinstance(value, dict):
        matcher = str(value.get("matcher", matcher))
        texts = [text for text in value.values() if isinstance(text, str)]
        texts += [
            text for items in value.values() if isinstance(items, list) for text in items if isinstance(text, str)
        ]
        if any(map(names_hook, texts)):
            yield place, matcher, dumps(value)
        for key, item in value.items():
            yield from _entries(item, (*place, key), matcher)


def _squeezed(text: str) -> str:
    return "".join(text.split()).lower()


def _switches(text: str) -> Iterator[str]:
    """Yield the switches of a settings text that silence hooks."""
    yield from (switch for line in text.splitlines() for switch in TOML_SWITCHES if _squeezed(line).startswith(switch))
    text = _squeezed(text)
    yield from (switch for switch in SWITCHES if switch in text)
    for table in TABLES:
        inside = text.partition(table)[2].partition("}")[0].partition("[")[0]
        if inside.startswith(OFF_ENTRY[0]) or f",{OFF_ENTRY[0]}" in inside:
            yield table
    for name in PLUGIN:
        if '":false' in text.partition(name)[2][:60].partition(",")[0] or (
            name == PLUGIN[1] and text.partition(name)[2].startswith("false")
        ):
            yield name
    states = text.split("hooks.state")[1:]
    yield from (f"state {number}" for number, state in enumerate(states) if OFF_ENTRY[1] in state.partition("[")[0])


def weak_settings(text: str, *, top: str, within: str = "") -> Iterator[str]:
    """Yield the settings of a TOML text that weaken deia, each as `name = value`.

    `top` is the table that holds deia's settings, `within` the table in which the text begins.
    """
    for line in text.splitlines():
        line = line.strip()  # noqa: PLW2901 - only the blanks are gone
        if line[:1] == "[" and "=" not in line.partition("]")[0]:
            within = line.strip("[] \t").partition("]")[0].replace('"', "").replace("'", "").replace(" ", "")
            continue
        key, equals, value = line.partition("=")
        if not equals or line[:1] == "#":
            continue
        name = ".".join(filter(None, (within, key.replace('"', "").replace("'", "").replace(" ", ""))))
        if top and not name.startswith(f"{top}."):
            name, setting = "", "deia" if name == top else ""
            if setting and "{" in value:
                yield from weak_settings(value.strip(" {}").replace(",", "\n"), top="")
            continue
        name = name.removeprefix(f"{top}.") if top else name.removeprefix(f"{TOP}.")
        first = name.partition(".")[0]
        if first in WEAKENING and is_weak(name, value):
            yield f"{name} ={value}"[:120]


def weakened_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the settings that guard less than the defaults do, each with where it comes from."""
    for name, value in settings.by_name().items():
        text = dumps(value)
        if name in WEAKENING and is_weak(name, text):
            yield f"{name} = {text}", settings.sources.get(name, "")


def is_weak(name: str, value: str) -> bool:
    """Return whether a value of a setting guards less than the default does."""
    first, dot, _ = name.partition(".")
    value = _bare(value)
    if first == "deadline_ms":
        digits = value.replace("_", "")
        return not digits.isdecimal() or int(digits[:9]) < LEAST_DEADLINE
    if first in {"starter", "starter_triggers", "hold"}:
        return value not in {"true", "1", "yes"}
    if first == "max_action":
        return value != "hold"
    if first == "forms" and dot:
        return value in FORMS
    if first in TABLE_SETTINGS:
        return value not in {"", "{}"}
    return first == "telemetry" and value == "off"


def _bare(value: str) -> str:
    """Return a value without quotes, blanks and the comment behind it, in lower case."""
    value = value.strip()
    quote = value[:1]
    if quote in {'"', "'"}:
        value = value.strip(quote) if value.endswith(quote) else value[1:].partition(quote)[0]
    else:
        value = value.partition("#")[0].partition(";")[0]
    return value.strip(" \t\r\n,}\"'`").lower() if value.strip() != "{}" else "{}"


def is_weak_variable(name: str, value: str) -> bool:
    """Return whether a variable with this value switches deia off or weakens it."""
    name = name.upper()
    if name not in VARIABLES:
        return False
    value = _bare(value)
    if name == "DEIA_OFF":
        return value not in {"", "0"}
    return True if name in SWITCHING_VARIABLES else is_weak(name[5:].lower(), value)


def weak_variables(text: str) -> Iterator[str]:
    """Yield the variables that a text sets and that weaken deia, each as `NAME=value`; comments are left out."""
    for line in text.splitlines() if "DEIA_" in text else ():
        if line.lstrip()[:1] == "#":
            continue
        at = line.find("DEIA_")
        while at >= 0:
            end = at + len("DEIA_")
            while end < len(line) and (line[end].isalnum() or line[end] == "_"):
                end += 1
            name, rest = line[at:end], line[end:].lstrip("\"' \t)],")
            is_set = rest[:1] in {"=", ":"} and rest[:2] != "=="
            spaced = not is_set and line[end : end + 1] in {" ", '"', "'"} and _sets_by_words(line[:at])
            value = rest[1:] if is_set else rest
            if (is_set or spaced) and line[at - 1 : at] not in {"_", "$"} and is_weak_variable(name, _first(value)):
                yield f"{name}={_first(value)}"
            at = line.find("DEIA_", end)


def _first(value: str) -> str:
    value = value.strip()
    quote = value[:1]
    if quote in {'"', "'"}:
        return value[1:].partition(quote)[0]
    return (value.split() or [""])[0].partition(";")[0]


def _sets_by_words(before: str) -> bool:
    """Return whether what stands before a name sets it to the next word: `set -gx`, `setx`, `setenv`."""
    words = before.replace("(", " ").strip("\"' ").split()
    return any(word.lower().rpartition(".")[2] in {"set", "setx", "setenv", "setenvironmentvariable"} for word in words)
