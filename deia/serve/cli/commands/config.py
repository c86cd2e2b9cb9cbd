"""`deia config`: the settings and folders, changing a setting, and the models of meaning that searches use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

import click

from deia import fast_json, files
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import PACKAGE, derived_folder, events_folder, state_folder
from deia.match import minilm, static_vectors
from deia.match.tiers import KEYWORD_TIER, TIERS, TRANSFORMER, open_tier
from deia.match.transformer import EXTRA, open_transformer
from deia.problems import SettingsError
from deia.search.catalog import StoredTier, open_catalog
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.shell_completion import complete_settings
from deia.serve.setup.check_results import why_this_commons
from deia.serve.setup.toml_text import write_setting
from deia.settings import (
    BOUNDS,
    CHOICES,
    MOST_DIGITS,
    NAMES,
    SECRETS,
    TABLES,
    TYPED,
    Settings,
    checked,
    resolve,
    secret,
)
from deia.suggestions import nearest
from deia.trust import why_trusted

FILES = {"static": static_vectors.FILE, "compact": minilm.FILE}
ABOUT = {
    "compact": "a small sentence transformer, MiniLM, in numpy",
    "static": "word vectors, without numpy",
    KEYWORD_TIER: "only words",
    TRANSFORMER: "any model of sentence-transformers",
}
NEEDED = "sentence_transformers"


@click.group(short_help="Choose the embedding model for search.")
def model() -> None:
    """Choose the embedding model for search: with one, a search also finds documents that use other words."""


@model.command("list", short_help="Show the models, and which of them are compiled.")
@shared.json_option
def list_models(*, as_json: bool) -> None:
    """Show the models with their size, which of them the commons was compiled with, and which the settings choose."""
    root = shared.commons_root()
    chosen = resolve(root, environ=os.environ)
    stored = _stored_tiers(derived_folder(root, os.environ))
    states = {name: _state(name, stored) for name in TIERS}
    states |= {KEYWORD_TIER: "always available", TRANSFORMER: _transformer_state(chosen.model, stored)}
    stamps = {name: files.stamp(f"{PACKAGE}/models/{FILES[name]}") for name in TIERS}
    sizes = {name: stamp[0] if stamp else 0 for name, stamp in stamps.items()}
    models: list[Json] = [
        {"name": name, "bytes": sizes.get(name, 0), "about": ABOUT[name], "state": state}
        for name, state in states.items()
    ]
    lines = [
        f"{name:<12} {f'{sizes[name] / 1e6:5.1f} MB' if sizes.get(name) else '':<8}  {ABOUT[name]}; {state}"
        for name, state in states.items()
    ]
    lines.append(f"tier = {chosen.tier} ({chosen.sources['tier']})")
    lines += [f"model = {chosen.model} ({chosen.sources['model']})"] if chosen.model else []
    fields = {"tier": chosen.tier, "source": chosen.sources["tier"], "model": chosen.model, "models": models}
    output.answer(fields, lines, as_json=as_json)


def _stored_tiers(derived: str) -> Mapping[str, StoredTier] | None:
    """Return the tiers whose vectors the catalog contains, or None if there is no catalog."""
    name = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    try:
        return open_catalog(f"{derived}/{name or 'no-catalog'}").tiers
    except ArtefactError:
        return None


def _state(name: str, stored: Mapping[str, StoredTier] | None) -> str:
    try:
        tier = open_tier(name)
    except ArtefactError as error:
        return f"cannot be used: {error.message}"
    if stored is None:
        return "nothing is compiled yet; type: deia compile"
    if name not in stored:
        return "the commons was compiled without it; type: deia compile"
    if stored[name].digest != tier.digest:
        return "the commons was compiled with another version of it; type: deia compile"
    return "the commons was compiled with it"


def _transformer_state(model: str, stored: Mapping[str, StoredTier] | None) -> str:
    tier = (stored or {}).get(TRANSFORMER)
    compiled = tier.model if tier else ""
    if find_spec(NEEDED) is None:
        return f"not installed. {EXTRA}"
    if not model:
        return "no model is set; type: deia config model use MODEL"
    if compiled == model:
        return f"the commons was compiled with {model}"
    return f"{f'compiled with {compiled}, but ' if compiled else ''}{model} is set; type: deia compile"


@model.command("use", short_help="Set the model for searches.")
@click.argument("name", metavar="TIER|MODEL")
def use_model(*, name: str) -> None:
    """Set the model for searches of this commons, in its deia.toml.

    TIER is auto, compact, static or keyword; auto takes the best that is compiled. MODEL is a folder, or the name of a
    model on the Hugging Face hub, which `deia config model pull` downloads. MODEL needs:
    pip install 'deia[transformers]'.
    """
    root = shared.writable_root()
    is_model = name not in CHOICES["tier"]
    chosen = resolve(root, environ=os.environ).model
    if name == TRANSFORMER and not chosen:
        fix = "Type: deia config model use MODEL, where MODEL is a folder or a name on the Hugging Face hub."
        raise SettingsError("no model is named", fix=fix)
    if is_model:
        chosen = files.forward(os.path.abspath(name)) if os.path.isdir(name) else name
        open_transformer(chosen)
        output.say(f'Wrote model = "{chosen}" into {write_setting(root, "model", chosen)}.')
    tier = TRANSFORMER if is_model else name
    output.say(f'Wrote tier = "{tier}" into {write_setting(root, "tier", tier)}.')
    for variable in ("DEIA_TIER", *(["DEIA_MODEL"] if is_model else [])):
        if variable in os.environ:
            output.say(f"But the environment variable {variable} is set and takes precedence.")
    stored = _stored_tiers(derived_folder(root, os.environ)) or {}
    is_stored = tier in stored and (tier != TRANSFORMER or stored[tier].model == chosen)
    if tier in (*TIERS, TRANSFORMER) and not is_stored:
        output.say("The commons was compiled without it. Type: deia compile")


@model.command("pull", short_help="Download a model of sentence-transformers.")
@click.argument("name", metavar="MODEL")
def pull_model(*, name: str) -> None:
    """Download MODEL by its name on the Hugging Face hub, or check whether the model in a folder can be used.

    This needs: pip install 'deia[transformers]'.
    """
    transformer = open_transformer(name, fetch=True)
    output.say(f"{name} can be used: {transformer.dimensions} dimensions, digest {transformer.digest[:16]}.")
    output.say(f"To search with it, type: deia config model use {name}")


def _source(settings: Settings, name: str) -> str:
    """Return where a setting comes from, with a note if its value is not what was written there."""
    return "; ".join(filter(None, (settings.sources[name], settings.clamped.get(name, ""))))


@click.group(invoke_without_command=True, short_help="Show and change settings.")
@shared.json_option
@click.pass_context
def config(ctx: click.Context, *, as_json: bool) -> None:
    """Show every setting with the source of its value, and the folders in use.

    `get` prints one setting, `set` writes one into deia.toml, and `model` chooses the embedding model.
    """
    if ctx.invoked_subcommand:
        return
    rows = _rows()
    shown = {name: fast_json.dumps(row["value"]) if name in NAMES else row["value"] for name, row in rows.items()}
    output.answer(rows, [f"{name} = {shown[name]}  ({row['source']})" for name, row in rows.items()], as_json=as_json)


config.add_command(model)


@config.command("get", short_help="Print one setting.")
@click.argument("name", shell_complete=complete_settings)
@shared.json_option
def get_setting(*, name: str, as_json: bool) -> None:
    """Print the value of the setting NAME, or of a folder that `deia config` shows."""
    rows = _rows()
    if name not in rows:
        raise SettingsError(f"there is no setting {name!r}", fix=nearest(name, rows))
    value = rows[name]["value"]
    output.answer({name: rows[name]}, [value if isinstance(value, str) else fast_json.dumps(value)], as_json=as_json)


@config.command(
    "set", short_help="Write one setting into deia.toml.", context_settings={"ignore_unknown_options": True}
)  # -3 is a value
@click.argument("name", shell_complete=complete_settings)
@click.argument("value")
def set_setting(*, name: str, value: str) -> None:
    """Write the setting NAME with a VALUE into the deia.toml of this commons, and leave its other lines as they are."""
    root = shared.writable_root()
    if name in TABLES:
        raise SettingsError(f"{name} is {TABLES[name]}", fix="Write it into deia.toml; docs/SETTINGS.md has examples.")
    least, most = BOUNDS.get(name, (0, 0))
    if name in BOUNDS and value.isdecimal() and (len(value) > MOST_DIGITS or not least <= int(value) <= most):
        own = f"For yourself alone, set DEIA_{name.upper()} in the environment."
        problem = f"{name} = {value[:40]} is out of range"
        raise SettingsError(problem, fix=f"A project may set {least} to {most}. {own}")
    setting = checked(name, value, TYPED)
    path = write_setting(root, name, setting)
    output.say(f"wrote {path}")
    settings = resolve(root, environ=os.environ)
    output.say(f"{name} = {fast_json.dumps(settings.values()[name])}  ({_source(settings, name)})")
    compile_and_say(root)


CROSS_MODAL = "ENABLE_CROSS_MODAL_SEARCH"  # a variable of other librarians
CROSS_MODAL_NOTE = (
    "changes nothing: one search always finds texts, code, PDFs and what images tell in words; to choose, use"
    " --asset-type"
)


def _rows() -> dict[str, dict[str, Json]]:
    """Return the value of each setting and folder, and where that comes from."""
    root = shared.commons_root()
    settings = resolve(root, environ=os.environ)
    values = settings.values()
    rows: dict[str, tuple[Json, str]] = {name: (values[name], _source(settings, name)) for name in NAMES}
    for name in SECRETS:
        source = secret(name, environ=os.environ)[1]
        rows[name] = ("set, not shown" if source else "not set", source or "default")
    why = why_this_commons(root, environ=os.environ, explicit=shared.named_commons(), start=shared.here())
    rows |= {
        "trusted": ("yes" if settings.trusted else "no", why_trusted(root, os.environ)),
        "commons": (root, why),
        "compiled": (derived_folder(root, os.environ), "derived"),
        "events": (events_folder(root, os.environ), "derived"),
        "state": (state_folder(os.environ), "DEIA_STATE" if os.environ.get("DEIA_STATE") else "default"),
    }
    if CROSS_MODAL in os.environ:
        rows[CROSS_MODAL] = (os.environ[CROSS_MODAL], CROSS_MODAL_NOTE)
    return {name: {"value": value, "source": source} for name, (value, source) in rows.items()}
