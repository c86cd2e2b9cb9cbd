"""The settings: which there are, and how their values are found.

Flags override the environment, which overrides `.env`, which overrides `deia.toml` (or `[tool.deia]` in
`pyproject.toml`), which overrides the defaults in this module. The hook reads neither TOML nor `.env`: the compiler
stores the settings in its artefact. A secret in a shared file is an error, and secrets are not kept with the settings.
The files of a commons that the person does not trust are not read, and no file of a project passes `BOUNDS`.
"""

from __future__ import annotations

from deia import files
from deia.durations import hours_of
from deia.folders import is_trusted, notes_folder, state_folder
from deia.problems import SettingsError
from deia.records import ACTIONS, TYPE_CHECKING, URGENCIES, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deia.dotenv import Assignment
    from deia.fast_json import Json


class Settings(Record):
    """All settings with their defaults, and what `ABOUT` names: where the values came from."""

    telemetry: str = "full"  # full | metadata | off
    telemetry_days: int = 730  # how long events are kept; 0 means for ever
    telemetry_mb: int = 500  # how large the ledger may grow, in millions of bytes; 0 means no limit
    injection_chars: int = 6000  # characters of one injection; hosts cut at 10,000
    conversation_chars: int = 24000  # characters of all injections of one conversation
    recent_turns: int = 30  # how far back `context` looks
    deadline_ms: int = 1000  # when the hook gives up, counted from its start
    hold: bool = True  # whether a `hold` may stop a tool call; false makes it a note
    limit: int = 5  # documents an answer names
    answer_depth: int = 2  # rounds of sub-questions for an answer
    answer_sub_questions: int = 24
    answer_passages: int = 40  # that sub-questions may add
    answer_seconds: int = 20  # within which an answer comes, with a language model or without
    answer_tokens: int = 6000  # of evidence that a language model is shown at once
    tier: str = "auto"  # what searches use besides words: the best available, or a named tier
    hybrid_alpha: str = "learned"  # the weight of meaning against words, from 0.0 to 1.0
    mmr_lambda: str = "learned"  # how much relevance counts against variety, from 0.0 to 1.0
    model: str = ""  # the model of the tier `transformer`: a folder, or a name on the Hugging Face hub
    starter: bool = True  # whether the starter commons adds its triggers and documents to a project's own
    starter_documents: bool = True  # whether searches find the starter's documents
    starter_triggers: bool = True  # whether the starter's triggers watch
    max_action: str = "hold"  # the strongest action that any trigger may take
    forms: Mapping[str, str] = {}  # urgency or trigger → the strongest action it may take, or "off"
    exceptions: Mapping[str, Sequence[str]] = {}  # trigger → globs of paths where it does not fire
    quiet: Mapping[str, object] = {}  # hours during which anything less urgent than `below` waits
    most_per_hour: int = 0  # lessons of medium or low urgency per conversation and hour; 0 means no limit
    documents: Sequence[str] = ()  # globs of notes outside `bok/` that are documents too
    schema: Mapping[str, object] = {}  # types and fields of the graph; see `deia.graph.schema`
    transport: str = "http"  # what `deia serve` speaks: http, or stdio for one agent
    port: int = 8765  # on which `deia serve` listens; 0 takes a free one
    audit: str = "full"  # what a server writes down of each question: full | metadata | off
    audit_days: int = 90  # how long that is kept; 0 means for ever
    offers: bool = False  # whether the person is told of documents about what a conversation turns to
    collections: str = ""  # the part of the commons that a server offers: clusters and folders, separated by commas
    sources: Mapping[str, str] = {}  # where each value came from
    trusted: bool = True  # whether the person trusts the commons, so that its files count
    clamped: Mapping[str, str] = {}  # what a project's file says of a setting, if that is out of bounds

    def by_name(self) -> dict[str, Json]:
        """Return the settings themselves."""
        return {name: value for name, value in self.values().items() if name not in ABOUT}


ABOUT = ("sources", "trusted", "clamped")
OFF = "off"
SHARES = ("learned", *(f"{tenths / 10}" for tenths in range(11)))
CHOICES = {
    "hybrid_alpha": SHARES,
    "mmr_lambda": SHARES,
    **dict.fromkeys(("telemetry", "audit"), ("full", "metadata", "off")),
    "max_action": ACTIONS,
    "transport": ("http", "stdio"),
    "tier": ("auto", "compact", "static", "keyword", "transformer"),
}
GLOBS = {"documents": 'a list of globs within the commons, such as ["docs/**"]'}
TABLES = {
    "forms": f"a table of urgencies or triggers, each with one of {', '.join((OFF, *ACTIONS))}",
    "exceptions": "a table of triggers, each with a list of globs",
    "schema": "lists entityTypes and relationTypes, and tables documentFields, entityFields and relationFields",
    "quiet": 'hours, such as "22:00-07:00", and perhaps below and days',
}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
BELOW = URGENCIES[:-1]  # the values of `below`: nothing is less urgent than the last urgency
QUIET = {
    "hours": 'two times of day from 00:00 to 24:00 with "-" between them, such as "22:00-07:00"',
    "below": f"one of {', '.join(BELOW)}: anything less urgent waits",
    "days": f"a list of days on which the hours begin, of {', '.join(DAYS)}",
}
MOST_DIGITS = 9  # of a number that is written as text
KINDS = {int: "a whole number from 0", bool: "true or false", str: "text"}
DEFAULTS = Settings()
MOST_BYTES = 512_000  # of a settings file; honest ones have some thousands
MOST_PARTS, MOST_DOTS = 60, 1_000  # dots in a key or in the name of a table, and in a line
DOTENV = ".env"
SECRETS = ("token", "hook_secret", "engine")  # a person's own: for clients of a server, webhooks, an engine
NAMES = tuple(DEFAULTS.by_name())
# What files of a project may set: with less time or room, the person's own guard would be silent; with far more, an
# agent would wait or read too long. Variables and flags are the person's, and have no bounds.
BOUNDS = {
    "port": (0, 65_535),
    "deadline_ms": (250, 1_000),
    "injection_chars": (1_000, 10_000),
    "conversation_chars": (4_000, 400_000),
    "recent_turns": (5, 500),
    "limit": (1, 100),
    "answer_seconds": (1, 120),
}
ENVIRONMENT, FLAG = PERSONAL = ("environment", "flag")  # layers that no file of a project can be
TYPED = "what you typed"  # where a wrong value of a flag is, in words for a person


def resolve(root: str, *, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Settings:
    """Return the settings for the commons at `root`."""
    trusted = is_trusted(root, environ)
    values: dict[str, object] = {}
    clamped: dict[str, str] = {}
    sources = dict.fromkeys(NAMES, "default")
    wrong: list[SettingsError] = []
    project = (*(_file_layers(root) if trusted else ()), *_dotenv_layers(root, environ), *_named_layers(root, environ))
    for source, layer in (*project, _environment_layer(environ), (FLAG, dict(flags or {}))):
        for name, raw in layer.items():
            where = source if source != ENVIRONMENT else f"DEIA_{name.upper()}"
            sources[name] = where
            clamped.pop(name, None)
            try:
                value = values[name] = checked(name, raw, TYPED if source == FLAG else where)
            except SettingsError as error:
                wrong.append(_with_line(root, error, name))
                continue
            if name in BOUNDS and source not in PERSONAL:
                values[name] = min(max(int(str(value)), BOUNDS[name][0]), BOUNDS[name][1])
            if values[name] != value:
                clamped[name] = f"{where} says {value}; a project may set {BOUNDS[name][0]} to {BOUNDS[name][1]}"
    if wrong:
        raise wrong[0] if len(wrong) == 1 else SettingsError(f"{len(wrong)} settings are wrong", problems=wrong)
    return DEFAULTS.but(**values, sources=sources, trusted=trusted, clamped=clamped)


def is_personal(source: str) -> bool:
    """Return whether the person themself set a value, by its source in `Settings.sources`, and no file of a project."""
    return source in PERSONAL or source.startswith("DEIA_")


def _with_line(root: str, error: SettingsError, name: str) -> SettingsError:
    """Return the error with the line number of the setting, if it is found in the file."""
    line = setting_line(root, error.where, "", name) if error.where.endswith(".toml") else 0
    return SettingsError(error.message, where=f"{error.where}:{line}" if line else error.where, fix=error.fix)


def setting_line(root: str, path: str, table: str, name: str) -> int:
    """Return the line of a settings file that sets a name, at the top level or in a table; 0 if there is none."""
    top = "tool.deia" if path == "pyproject.toml" else ""
    within, wanted = "", ".".join(filter(None, (top, table, name)))
    content = (files.read(f"{root}/{path}", MOST_BYTES) or b"").decode("utf-8", "replace")
    for number, line in enumerate(content.splitlines(), 1):
        text = line.strip()
        if text.startswith("["):
            within = text.strip("[] ").partition("]")[0].strip()
            key = ""
        else:
            key = text.partition("=")[0].strip().replace('"', "").replace("'", "") if "=" in text else ""
        full_name = ".".join(filter(None, (within, key)))
        inline = key and full_name == ".".join(filter(None, (top, table))) and f"{name}" in text.partition("=")[2]
        if full_name == wanted or (table and inline):
            return number
    return 0


def _environment_layer(environ: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    values = {name: environ.get(f"DEIA_{name.upper()}") for name in NAMES}
    return ENVIRONMENT, {name: value for name, value in values.items() if value is not None}


def secret(name: str, *, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return a secret and where it was set, both empty if it is not set; only the second may be shown.

    It is a person's own: it comes from the environment or from `.env` in the state folder, never from a project. Raise
    SettingsError if its line in the state folder's `.env` cannot be read.
    """
    variable = f"DEIA_{name.upper()}"
    if environ.get(variable):
        return environ[variable], variable
    path = f"{state_folder(environ)}/{DOTENV}"
    values = [(line.value, where) for where, line in _readable(_lines_of(path, path), (name,)) if line.name == name]
    return values[-1] if values and values[-1][0] else ("", "")


def ignored_secrets(root: str) -> list[str]:
    """Return where `.env` files of the commons and the working folder name a secret, which they cannot set."""
    lines = [item for path, shown in _dotenv_files(root).items() for item in _lines_of(path, shown)]
    return [f"DEIA_{line.name.upper()} in {where}" for where, line in lines if line.name in SECRETS]


def _dotenv_layers(root: str, environ: Mapping[str, str]) -> list[tuple[str, dict[str, object]]]:
    """Return one layer for each line that sets a setting in a `.env` file of a folder that the person trusts."""
    places = [item for item in _dotenv_files(root).items() if is_trusted(files.parent(item[0]), environ)]
    lines = _readable([item for path, shown in places for item in _lines_of(path, shown)], NAMES)
    return [(where, {line.name: line.value}) for where, line in lines if line.name in NAMES]


def _dotenv_files(root: str) -> dict[str, str]:
    """Return the places of `.env` in the commons and the working folder, each as shown; no link out of them is one."""
    try:
        here = files.forward(files.system.getcwd())
    except OSError:  # the working folder was removed
        here = root
    places = {f"{folder}/{DOTENV}": DOTENV if folder == root else f"{folder}/{DOTENV}" for folder in (root, here)}
    return {at: shown for at, shown in places.items() if not (files.is_link(at) and _leads_out(files.parent(at), at))}


def _lines_of(path: str, shown: str) -> list[tuple[str, Assignment]]:
    """Return the DEIA_ lines of one `.env` file, with their places."""
    content = files.read(path, MOST_BYTES)
    if not content or b"DEIA_" not in content:
        return []
    from deia.dotenv import read_assignments  # noqa: PLC0415 - few people have a `.env` file that names deia

    return [(f"{shown}:{line.line}", line) for line in read_assignments(content.decode("utf-8", "replace"))]


def _readable(lines: list[tuple[str, Assignment]], names: Sequence[str]) -> list[tuple[str, Assignment]]:
    """Return lines of `.env` files after checking those that set one of `names`."""
    for where, line in lines:
        if line.wrong and line.name in names:
            raise SettingsError(f"DEIA_{line.name.upper()}: {line.wrong}", where=where, fix="Correct the line.")
    return lines


def _file_layers(root: str) -> list[tuple[str, dict[str, object]]]:
    layers = []
    for name, table in (("pyproject.toml", ("tool", "deia")), ("deia.toml", ())):
        content = _settings_file(root, name)
        if content is not None and _may_hold_settings(name, content):
            _refuse_deep(name, content)
            layers.append((name, _toml_table(name, content, table)))
    return layers


def _named_layers(root: str, environ: Mapping[str, str]) -> list[tuple[str, dict[str, object]]]:
    """Return the settings of the file in DEIA_CONFIG, and that notes alone count in the folder that DEIA_DOCS names."""
    path, docs = environ.get("DEIA_CONFIG", ""), notes_folder(environ)
    alone = {"documents": ["**"], "starter_documents": False}
    layers: list[tuple[str, dict[str, object]]] = [("DEIA_DOCS", alone)] if docs and docs == files.full(root) else []
    if path:
        content = files.read(path, MOST_BYTES)
        if content is None:
            raise SettingsError("there is no such file", where=path, fix="Correct --config or DEIA_CONFIG.")
        _refuse_deep(path, content)
        layers.append((path, _toml_table(path, content, ())))
    return layers


def _settings_file(root: str, name: str) -> bytes | None:
    """Return the content of a settings file, or None if there is none that concerns deia."""
    path = f"{root}/{name}"
    content = files.read(path, MOST_BYTES)
    stamp = files.stamp(path) if content is None else None
    if stamp and (name == "deia.toml" or stamp[0] > MOST_BYTES or not files.is_regular(path)):
        problem = f"this is no regular file of at most {MOST_BYTES:,} bytes that you may read"
        raise SettingsError(problem, where=name, fix="Put a regular file in its place, remove it, or let it be read.")
    if content is not None and files.is_link(path) and _leads_out(root, path):
        if name != "deia.toml":
            return None
        problem = "this is a link that leads out of the commons, so it is not read"
        raise SettingsError(problem, where=name, fix="Put a file in its place, or remove it.")
    return content


def _leads_out(root: str, path: str) -> bool:
    import os  # noqa: PLC0415 - hardly anybody links these files

    return not os.path.realpath(path).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)


def _refuse_deep(name: str, content: bytes) -> None:
    """Raise a SettingsError for keys of very many parts: parsing them takes time and memory of the square of that."""
    for number, line in enumerate(content.splitlines(), 1):
        if line.count(b".") > MOST_PARTS:
            key = line if line.lstrip().startswith(b"[") else line.partition(b"=")[0]
            if key.count(b".") > MOST_PARTS or line.count(b".") > MOST_DOTS:
                where, fix = f"{name}:{number}", "Write shorter keys, or several lines."
                raise SettingsError(f"this line has more than {MOST_PARTS} dots", where=where, fix=fix)


def _may_hold_settings(name: str, content: bytes) -> bool:
    """Return whether a file may hold settings: parsing TOML costs 13 ms, and many a project only needs deia."""
    lines = [line.partition(b"#")[0].strip() for line in content.splitlines()]
    if name == "deia.toml":
        return any(lines)
    keys = [line.partition(b"=")[0].strip(b" \t[]'\"") for line in lines if b"tool" in line or b"\\" in line]
    return b"deia" in content and any(b"deia" in key or key == b"tool" or b"\\" in key for key in keys)


def _toml_table(name: str, content: bytes, table: tuple[str, ...]) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - 15 ms, and needed only if there is such a file

    try:
        value: object = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        fix = "Correct the line, or remove the file."
        raise SettingsError(f"this file is not valid TOML: {error}", where=name, fix=fix) from error
    for key in table:
        value = value.get(key, {}) if isinstance(value, dict) else {}
    if not isinstance(value, dict):
        raise SettingsError("[tool.deia] is not a table", where=name, fix="Write it as a table of settings.")
    return value


def checked(name: str, raw: object, where: str) -> object:
    """Return the value of a setting as its kind, given as text or from a file; raise SettingsError if it is wrong."""
    if name in SECRETS:
        fix = f"Remove it, and set DEIA_{name.upper()} in the environment or in {DOTENV} of your state folder."
        raise SettingsError(f"{name} is a secret, and this file is shared with others", where=where, fix=fix)
    if name not in NAMES:
        raise SettingsError(f"unknown setting {name!r}", where=where, fix=_suggestion(name))
    if name in TABLES:
        return _checked_table(name, raw, where)
    if name in GLOBS:
        return _checked_globs(name, raw, where)
    kind = type(getattr(DEFAULTS, name))
    value = _converted(raw, kind)
    is_outside = isinstance(value, int) and (value < 0 or (name == "port" and value > BOUNDS[name][1]))
    if value is None or is_outside or (name in CHOICES and value not in CHOICES[name]):
        most = BOUNDS["port"][1] if name == "port" else 10**MOST_DIGITS - 1
        choices = " | ".join(CHOICES.get(name, ())) or KINDS[kind] + (f" to {most}" if kind is int else "")
        raise SettingsError(f"{name} = {raw!r} is not a valid value", where=where, fix=f"Expected: {choices}.")
    return value


def _suggestion(name: str) -> str:
    """Return a sentence that suggests a similar setting, if there is one, and lists all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - it imports `re`, and only a wrong name needs it

    mean = "".join(f"Did you mean {near}? " for near in get_close_matches(name, NAMES, n=1))
    return f"{mean}Known are: {', '.join(NAMES)}."


def _checked_table(name: str, raw: object, where: str) -> dict[str, object]:
    """Return a table of settings; a variable cannot hold one."""
    if name == "quiet" and isinstance(raw, dict):
        return _checked_quiet(raw, where)
    if name == "schema" and isinstance(raw, dict):  # `deia.graph.schema` checks what is in it
        return raw
    is_valid = (OFF, *ACTIONS).__contains__ if name == "forms" else _is_globs
    bad = [{key: value} for key, value in raw.items() if not is_valid(value)] if isinstance(raw, dict) else [raw]
    if bad:
        raise SettingsError(f"{name}: {bad[0]!r} is not a valid value", where=where, fix=f"Expected: {TABLES[name]}.")
    return dict(raw) if isinstance(raw, dict) else {}


def _checked_quiet(raw: dict[str, object], where: str) -> dict[str, object]:
    """Return the quiet hours."""
    checks: dict[str, Callable[[object], object]] = {
        "hours": hours_of, "below": BELOW.__contains__,
        "days": lambda days: isinstance(days, list) and bool(days) and all(day in DAYS for day in days),
    }  # fmt: skip
    unknown = [f"{key!r} is unknown; known are {', '.join(QUIET)}" for key in raw if key not in QUIET]
    values: dict[str, object] = {"hours": None, **raw}
    wrong = [
        f"{key} = {values[key]!r} is not a valid value; expected: {QUIET[key]}"
        if key in raw
        else f"{key} is missing; expected: {QUIET[key]}"
        for key, is_valid in checks.items()
        if key in values and not (isinstance(values[key], (str, list)) and is_valid(values[key]))
    ]
    if raw and (unknown or wrong):
        raise SettingsError(f"quiet: {'; '.join((*unknown, *wrong))}", where=where, fix=f"Expected: {TABLES['quiet']}.")
    return dict(raw)


def _is_globs(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(glob, str) and glob for glob in value)


def _checked_globs(name: str, raw: object, where: str) -> tuple[str, ...]:
    """Return a list of globs, none of which names anything outside its folder."""
    if raw != [] and not (_is_globs(raw) and not any(map(_leads_away, raw))):  # type: ignore[call-overload]
        raise SettingsError(f"{name} = {raw!r} is not a valid value", where=where, fix=f"Expected: {GLOBS[name]}.")
    return tuple(raw)  # type: ignore[arg-type]


def _leads_away(glob: str) -> bool:
    return files.is_absolute(path := files.forward(glob)) or path.startswith("~") or ".." in path.split("/")


def _converted(raw: object, kind: type) -> object:
    """Return a value in the expected type, or None if it does not fit; text may stand for a number or truth value."""
    if isinstance(raw, str) and kind is bool:
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(raw.lower())
    if isinstance(raw, str) and kind is int:
        return int(raw) if raw.isdecimal() and len(raw) <= MOST_DIGITS else None
    return raw if type(raw) is kind else None
