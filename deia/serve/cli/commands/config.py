"""`deia config`: the settings and folders, and changing a setting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import click

from deia import fast_json
from deia.fast_json import Json
from deia.folders import derived_folder, events_folder, state_folder
from deia.problems import SettingsError
from deia.serve.cli import output
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.model import model
from deia.serve.cli.commands.shared_options import (
    commons_option,
    commons_root,
    form_option,
    here,
    named_commons,
    writable_root,
)
from deia.serve.cli.shell_completion import complete_settings
from deia.serve.setup.toml_text import write_setting
from deia.serve.setup.why_commons import why_this_commons
from deia.settings import BOUNDS, FLAG, NAMES, SECRETS, TABLES, Settings, checked, resolve, secret
from deia.suggestions import nearest
from deia.trust import why_trusted


def _source(settings: Settings, name: str) -> str:
    """Return where a setting comes from, and that its value is not what was written there."""
    return "; ".join(filter(None, (settings.sources[name], settings.clamped.get(name, ""))))


@click.group(invoke_without_command=True, short_help="Show and change settings.")
@form_option("text", "json")
@commons_option
@click.pass_context
def config(ctx: click.Context, *, form: str) -> int:
    """Show every setting with the source of its value, and the folders in use.

    `get` prints one setting, `set` writes one into deia.toml, and `model` chooses the embedding model.
    """
    if ctx.invoked_subcommand:
        return output.FOUND
    rows = _rows()
    lines = [
        f"{name} = {fast_json.dumps(value) if name in NAMES else value}  ({source})"
        for name, (value, source) in rows.items()
    ]
    output.answer(_fields(rows), lines, as_json=form == "json")
    return output.FOUND


config.add_command(model)


@config.command("get", short_help="Print one setting.")
@click.argument("name", shell_complete=complete_settings)
@form_option("text", "json")
@commons_option
def get_setting(*, name: str, form: str) -> int:
    """Print the value of the setting NAME, or of a folder that `deia config` shows."""
    rows = _rows()
    if name not in rows:
        raise SettingsError(f"there is no setting {name!r}", fix=nearest(name, rows))
    value, _ = rows[name]
    line = value if isinstance(value, str) else fast_json.dumps(value)
    output.answer(_fields({name: rows[name]}), [line], as_json=form == "json")
    return output.FOUND


@config.command(
    "set", short_help="Write one setting into deia.toml.", context_settings={"ignore_unknown_options": True}
)  # -3 is a value
@click.argument("name", shell_complete=complete_settings)
@click.argument("value")
@commons_option
def set_setting(*, name: str, value: str) -> int:
    """Write the setting NAME with a VALUE into the deia.toml of this commons, and leave its other lines as they are."""
    root = writable_root()
    if name in TABLES:
        raise SettingsError(f"{name} is {TABLES[name]}", fix="Write it into deia.toml; docs/SETTINGS.md has examples.")
    found = checked(name, value, FLAG)
    least, most = BOUNDS.get(name, (0, 0))
    if isinstance(found, int) and name in BOUNDS and not least <= found <= most:
        own = f"For yourself alone, DEIA_{name.upper()} in the environment has no bounds."
        raise SettingsError(f"{name} = {value} is out of range", fix=f"A project may set {least} to {most}. {own}")
    path = write_setting(root, name, found)
    output.say(f"wrote {path}")
    settings = resolve(root, environ=os.environ)
    output.say(f"{name} = {fast_json.dumps(settings.values()[name])}  ({_source(settings, name)})")
    compile_and_say(root)
    return output.FOUND


Rows: TypeAlias = Mapping[str, tuple[Any, str]]  # each setting or folder: its value and where that comes from


def _rows() -> Rows:
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    values = settings.values()
    state = state_folder(os.environ)
    places = {
        "commons": (root, why_this_commons(root, environ=os.environ, explicit=named_commons(), start=here())),
        "compiled": (derived_folder(root, os.environ), "derived"),
        "events": (events_folder(root, os.environ), "derived"),
        "state": (state, "DEIA_STATE" if os.environ.get("DEIA_STATE") else "default"),
    }
    origins = {name: secret(name, environ=os.environ)[1] for name in SECRETS}
    secrets = {
        name: ("set, not shown" if source else "not set", source or "default") for name, source in origins.items()
    }
    trusted = {"trusted": ("yes" if settings.trusted else "no", why_trusted(root, os.environ))}
    return {name: (values[name], _source(settings, name)) for name in NAMES} | secrets | trusted | places


def _fields(rows: Rows) -> dict[str, Json]:
    return {name: {"value": value, "source": source} for name, (value, source) in rows.items()}
