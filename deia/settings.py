"""Settings: what may be configured, and how it is settled.

Flags win over the environment, the environment over `.env`, that over `deia.toml` (or `[tool.deia]` in
`pyproject.toml`), that over the defaults, which stand once, here. The hook reads neither TOML nor `.env`: the compiler
bakes the settings into its artefact. Refuses a secret in a file that is shared, and keeps none among the settings.
"""

from __future__ import annotations

from deia import files
from deia.errors import SettingsError
from deia.records import ACTIONS, TYPE_CHECKING, URGENCIES, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Settings(Record):
    """Every setting with its default; `sources` says where each value came from."""

    telemetry: str = "full"  # full | metadata | off
    telemetry_days: int = 730  # how long events are kept; 0 is for good
    telemetry_mb: int = 500  # how large the ledger may grow, in millions of bytes; 0 is without bound
    injection_chars: int = 6000  # characters of one injection; hosts cut at 10,000
    conversation_chars: int = 24000  # characters of all injections of one conversation
    recent_turns: int = 30  # how far back `context` looks
    deadline_ms: int = 1000  # when the hook gives up, counted from its start
    hold: bool = True  # whether a `hold` may stop a tool call; false makes it a note
    limit: int = 5  # documents an answer names
    tier: str = "auto"  # what searches go by besides words: the best there is, or one of the others
    model: str = ""  # the model of the tier `transformer`: a folder, or a name at the hub
    starter: bool = True  # whether the starter commons lies below a project's own
    max_action: str = "hold"  # the most that any trigger may do
    forms: Mapping[str, str] = {}  # urgency or trigger → the most it may do, or "off"
    exceptions: Mapping[str, Sequence[str]] = {}  # trigger → globs of places where it does not count
    quiet: Mapping[str, Any] = {}  # hours in which what is less urgent than `below` waits
    most_per_hour: int = 0  # lessons of medium or low urgency in a conversation; 0 is without bound
    collections: str = ""  # what a server offers of the commons: clusters and folders, with commas between them
    sources: Mapping[str, str] = {}


OFF = "off"
CHOICES = {
    "telemetry": ("full", "metadata", "off"),
    "max_action": ACTIONS,
    "tier": ("auto", "compact", "static", "keyword", "transformer"),
}
TABLES = {
    "forms": f"a table of urgencies or triggers, each with one of {', '.join((OFF, *ACTIONS))}",
    "exceptions": "a table of triggers, each with a list of globs",
    "quiet": 'hours, such as "22:00-07:00", and perhaps below and days',
}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
BELOW = URGENCIES[:-1]  # nothing is less urgent than the last
QUIET = {
    "hours": 'two times of day from 00:00 to 24:00 with "-" between them, such as "22:00-07:00"',
    "below": f"one of {', '.join(BELOW)}: what is less urgent waits",
    "days": f"a list of days on which the hours begin, of {', '.join(DAYS)}",
}
KINDS = {int: "a whole number from 0", bool: "true or false", str: "text"}
DEFAULTS = Settings()
DOTENV = ".env"
SECRETS = ("token",)  # from the environment or `.env` alone: other settings files are shared with others
NAMES = tuple(name for name in DEFAULTS.values() if name != "sources")


def resolve(root: str, *, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> Settings:
    """Settle every setting for the commons at `root`.

    Raises:
        SettingsError: a file does not parse, or a name or value is unknown; it says which line or variable.
    """
    values: dict[str, Any] = {}
    sources = dict.fromkeys(NAMES, "default")
    wrong: list[SettingsError] = []
    layers = (*_file_layers(root), *_dotenv_layers(root), _environment_layer(environ), ("flag", dict(flags or {})))
    for source, layer in layers:
        for name, raw in layer.items():
            where = source if source != "environment" else f"DEIA_{name.upper()}"
            try:
                values[name] = _checked(name, raw, where)
            except SettingsError as error:
                wrong.append(_with_line(root, error, name))
            sources[name] = where
    if wrong:
        raise wrong[0] if len(wrong) == 1 else SettingsError(f"{len(wrong)} settings are wrong", problems=wrong)
    return Settings(**values, sources=sources)


def _with_line(root: str, error: SettingsError, name: str) -> SettingsError:
    """Name the line of a file's setting, where it is found."""
    line = setting_line(root, error.where, "", name) if error.where.endswith(".toml") else 0
    where = f"{error.where}:{line}" if line else error.where
    return SettingsError(error.message, where=where, fix=error.fix)


def setting_line(root: str, path: str, table: str, name: str) -> int:
    """Give the line of a settings file on which a name is set, in a table or (without one) itself; 0 if unseen."""
    top = "tool.deia" if path == "pyproject.toml" else ""
    within, wanted = "", ".".join(filter(None, (top, table, name)))
    for number, line in enumerate((files.read(f"{root}/{path}") or b"").decode("utf-8", "replace").splitlines(), 1):
        text = line.strip()
        if text.startswith("["):
            within = text.strip("[] ").partition("]")[0].strip()
            key = ""
        else:
            key = text.partition("=")[0].strip().replace('"', "").replace("'", "") if "=" in text else ""
        said = ".".join(filter(None, (within, key)))
        inline = key and said == ".".join(filter(None, (top, table))) and f"{name}" in text.partition("=")[2]
        if said == wanted or (table and inline):
            return number
    return 0


def _environment_layer(environ: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    given = {name: environ.get(f"DEIA_{name.upper()}") for name in NAMES}
    return "environment", {name: value for name, value in given.items() if value is not None}


def secret(name: str, root: str, *, environ: Mapping[str, str]) -> tuple[str, str]:
    """Give a secret and where it comes from, both empty where nobody set it; who shows anything shows the second only.

    Raises:
        SettingsError: its line in a `.env` cannot be read.
    """
    variable = f"DEIA_{name.upper()}"
    if environ.get(variable):
        return environ[variable], variable
    found = [(one.value, where) for where, one in _assignments(root) if one.name == name and one.value]
    return found[-1] if found else ("", "")


def _dotenv_layers(root: str) -> list[tuple[str, dict[str, Any]]]:
    """Give what `.env` files set, a layer a line; what names no setting there is somebody else's, or a secret."""
    return [(where, {one.name: one.value}) for where, one in _assignments(root) if one.name in NAMES]


def _assignments(root: str) -> list[tuple[str, Any]]:
    """Give the lines about deia in the `.env` beside the commons' settings and in that of the working folder.

    Raises:
        SettingsError: such a line cannot be read.
    """
    found: list[tuple[str, Any]] = []
    for path, content in _dotenv_files(root):
        from deia.dotenv import read_assignments  # noqa: PLC0415 - most have none that names deia

        found += [(f"{path}:{one.line}", one) for one in read_assignments(content.decode("utf-8", "replace"))]
    for where, one in found:
        if one.wrong and one.name in {*NAMES, *SECRETS}:
            raise SettingsError(f"DEIA_{one.name.upper()}: {one.wrong}", where=where, fix="Correct the line.")
    return found


def _dotenv_files(root: str) -> list[tuple[str, bytes]]:
    try:
        here = files.system.getcwd().replace("\\", "/")
    except OSError:  # it was removed
        here = root
    found = []
    for folder in dict.fromkeys((root, here)):
        path = f"{folder}/{DOTENV}"
        content = files.read(path) if _is_plain(path) else None  # a pipe there would hold whoever reads it
        if content and b"DEIA_" in content:
            found.append((DOTENV if folder == root else path, content))
    return found


def _is_plain(path: str) -> bool:
    try:
        return bool(files.system.stat(path).st_mode & 0o170000 == 0o100000)
    except (OSError, ValueError):
        return False


def _file_layers(root: str) -> list[tuple[str, dict[str, Any]]]:
    layers = []
    for name, table in (("pyproject.toml", ("tool", "deia")), ("deia.toml", ())):
        content = files.read(f"{root}/{name}")
        if content is not None and _says_something(name, content):
            layers.append((name, _toml_table(name, content, table)))
    return layers


def _says_something(name: str, content: bytes) -> bool:
    """Say whether a file could hold settings; reading TOML costs 13 ms, and `deia init` writes a file of comments."""
    if name == "pyproject.toml":
        return b"deia" in content
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in content.splitlines())


def _toml_table(name: str, content: bytes, table: tuple[str, ...]) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - 15 ms, and only where there is such a file

    try:
        value: Any = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"not TOML: {error}", where=name, fix="Correct the line, or remove the file.") from error
    for key in table:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    if not isinstance(value, dict):
        raise SettingsError("[tool.deia] is not a table", where=name, fix="Write it as a table of settings.")
    return value


def _checked(name: str, raw: Any, where: str) -> Any:
    if name in SECRETS:
        fix = f"Take it out, and set DEIA_{name.upper()} in the environment or in {DOTENV}."
        raise SettingsError(f"{name} is a secret, and this file is shared with others", where=where, fix=fix)
    if name not in NAMES:
        raise SettingsError(f"unknown setting {name!r}", where=where, fix=_meant(name))
    if name in TABLES:
        return _checked_table(name, raw, where)
    wanted = type(getattr(DEFAULTS, name))
    value = _converted(raw, wanted)
    if value is None or (name in CHOICES and value not in CHOICES[name]) or (wanted is int and value < 0):
        choices = " | ".join(CHOICES.get(name, ())) or KINDS[wanted]
        raise SettingsError(f"{name} = {raw!r} is no value for it", where=where, fix=f"Wanted: {choices}.")
    return value


def _meant(name: str) -> str:
    """Say which setting was perhaps meant, and which there are."""
    from difflib import get_close_matches  # noqa: PLC0415 - it loads `re`, and only a wrong name needs it

    meant = "".join(f"Did you mean {near}? " for near in get_close_matches(name, NAMES, n=1))
    return f"{meant}Known are: {', '.join(NAMES)}."


def _checked_table(name: str, raw: Any, where: str) -> dict[str, Any]:
    """Give a table of settings; the environment has no way to write one."""
    if name == "quiet" and isinstance(raw, dict):
        return _checked_quiet(raw, where)
    fits = _is_form if name == "forms" else _is_globs
    wrong = raw if not isinstance(raw, dict) else next(({key: raw[key]} for key in raw if not fits(raw[key])), None)
    if wrong is not None:
        raise SettingsError(f"{name}: {wrong!r} is no value for it", where=where, fix=f"Wanted: {TABLES[name]}.")
    return dict(raw)


def _checked_quiet(raw: dict[str, Any], where: str) -> dict[str, Any]:
    """Give the quiet hours; what is wrong with them is told together."""
    fits = {"hours": hours_of, "below": BELOW.__contains__, "days": _are_days}
    unknown = [f"{key!r} is unknown; known are {', '.join(QUIET)}" for key in raw if key not in QUIET]
    given = {"hours": None, **raw}
    wrong = [
        f"{key} = {given[key]!r} is no value for it; wanted: {QUIET[key]}"
        if key in raw
        else f"{key} is missing; wanted: {QUIET[key]}"
        for key, fit in fits.items()
        if key in given and not (isinstance(given[key], (str, list)) and fit(given[key]))
    ]
    if raw and (unknown or wrong):
        raise SettingsError(f"quiet: {'; '.join((*unknown, *wrong))}", where=where, fix=f"Wanted: {TABLES['quiet']}.")
    return dict(raw)


def hours_of(text: Any) -> tuple[int, int] | None:
    """Give a span of the day in minutes from midnight, its end before its beginning where midnight lies in it."""
    begin, _, end = text.partition("-") if isinstance(text, str) else ("", "", "")
    span = _minutes(begin.strip()), _minutes(end.strip())
    return None if span[0] is None or span[1] is None or span[0] == span[1] else (span[0], span[1])


def _minutes(text: str) -> int | None:
    hours, colon, minutes = text.partition(":")
    if not (colon and len(minutes) == 2 and 0 < len(hours) < 3 and (hours + minutes).isascii()):
        return None
    if not (hours + minutes).isdecimal() or int(minutes) > 59:
        return None
    value = int(hours) * 60 + int(minutes)
    return value if value <= 24 * 60 else None


def _are_days(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(day in DAYS for day in value)


def _is_form(value: Any) -> bool:
    return isinstance(value, str) and value in {OFF, *ACTIONS}


def _is_globs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(glob, str) and glob for glob in value)


def _converted(raw: Any, wanted: type) -> Any:
    if isinstance(raw, str) and wanted is bool:
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(raw.lower())
    if isinstance(raw, str) and wanted is int:
        return int(raw) if raw.isdecimal() and len(raw) < 10 else None
    return raw if type(raw) is wanted else None
