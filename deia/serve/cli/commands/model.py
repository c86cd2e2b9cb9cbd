"""`deia model`: the models of meaning that a search can go by: which there are, which is used, and fetching one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import click

from deia import fast_json, files
from deia.errors import ArtefactError, SettingsError
from deia.folders import PACKAGE, derived_folder
from deia.match import minilm, static_vectors
from deia.match.tiers import KEYWORD_TIER, TIERS, TRANSFORMER, open_tier
from deia.match.transformer import EXTRA, open_transformer
from deia.search.catalog import StoredTier, open_catalog
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option, writable_root
from deia.serve.setup.toml_text import write_setting
from deia.settings import CHOICES, resolve

FILES = {"static": static_vectors.FILE, "compact": minilm.FILE}
ABOUT = {
    "compact": "a small sentence transformer, MiniLM, in numpy",
    "static": "word vectors, without numpy",
    KEYWORD_TIER: "words alone",
}
NEEDED = "sentence_transformers"


@click.group(short_help="Choose the model of meaning that searches go by.")
def model() -> None:
    """Choose the model of meaning that searches go by."""


@model.command("list", short_help="Show the models, and which the commons was compiled with.")
@form_option("text", "json")
@commons_option
def list_models(*, form: str) -> int:
    """Show the models, what they take, which the commons was compiled with and which is set."""
    root = commons_root()
    chosen = resolve(root, environ=os.environ)
    held = _compiled(derived_folder(root, os.environ))
    rows = [*(_row(name, held) for name in TIERS), _words_row(), _transformer_row(chosen.model, held)]
    if form == "json":
        told = {"tier": chosen.tier, "source": chosen.sources["tier"], "model": chosen.model, "models": rows}
        output.say(fast_json.dumps(told))
        return output.FOUND
    for row in rows:
        size = f"{row['bytes'] / 1e6:5.1f} MB" if row["bytes"] else " " * 8
        output.say(f"{row['name']:<12} {size}  {row['about']}; {row['state']}")
    output.say(f"tier = {chosen.tier} ({chosen.sources['tier']})")
    if chosen.model:
        output.say(f"model = {chosen.model} ({chosen.sources['model']})")
    return output.FOUND


def _compiled(derived: str) -> Mapping[str, StoredTier] | None:
    """Give the tiers that the catalog holds vectors of; None where there is no catalog."""
    name = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    try:
        return open_catalog(f"{derived}/{name or 'no-catalog'}").tiers
    except ArtefactError:
        return None


def _row(name: str, held: Mapping[str, StoredTier] | None) -> dict[str, Any]:
    stamp = files.stamp(f"{PACKAGE}/models/{FILES[name]}")
    return {"name": name, "bytes": stamp[0] if stamp else 0, "about": ABOUT[name], "state": _state(name, held)}


def _state(name: str, held: Mapping[str, StoredTier] | None) -> str:
    try:
        tier = open_tier(name)
    except ArtefactError as error:
        return f"cannot be used: {error.message}"
    if held is None:
        return "nothing is compiled yet; type: deia compile"
    if name not in held:
        return "the commons was compiled without it; type: deia compile"
    if held[name].digest != tier.digest:
        return "the commons was compiled with another such model; type: deia compile"
    return "the commons was compiled with it"


def _words_row() -> dict[str, Any]:
    return {"name": KEYWORD_TIER, "bytes": 0, "about": ABOUT[KEYWORD_TIER], "state": "always there"}


def _transformer_row(model: str, held: Mapping[str, StoredTier] | None) -> dict[str, Any]:
    stored = (held or {}).get(TRANSFORMER)
    made = stored.model if stored else ""
    if find_spec(NEEDED) is None:
        state = f"not installed. {EXTRA}"
    elif not model:
        state = "no model is set; type: deia model use MODEL"
    elif made == model:
        state = f"the commons was compiled with {model}"
    else:
        state = f"{f'compiled with {made}, and ' if made else ''}{model} is set; type: deia compile"
    return {"name": TRANSFORMER, "bytes": 0, "about": "any model of sentence-transformers", "state": state}


@model.command("use", short_help="Set the model that searches go by.")
@click.argument("name", metavar="TIER|MODEL")
@commons_option
def use_model(*, name: str) -> int:
    """Set the model that searches of this commons go by, in its deia.toml.

    It is one of the tiers auto, compact, static and keyword, where auto takes the best that is compiled; or MODEL, a
    folder or a name at the hub of sentence-transformers, which `deia model pull` fetches. MODEL needs the extra:
    pip install 'deia[transformers]'.
    """
    root = writable_root()
    own = name not in CHOICES["tier"]
    kept = resolve(root, environ=os.environ).model
    if name == TRANSFORMER and not kept:
        raise SettingsError("no model is named", fix="Type: deia model use MODEL, a folder or a name at the hub.")
    if own:
        kept = os.path.abspath(name).replace("\\", "/") if os.path.isdir(name) else name
        open_transformer(kept)
        output.say(f'Wrote model = "{kept}" into {write_setting(root, "model", kept)}.')
    tier = TRANSFORMER if own else name
    output.say(f'Wrote tier = "{tier}" into {write_setting(root, "tier", tier)}.')
    for variable in ("DEIA_TIER", *(["DEIA_MODEL"] if own else [])):
        if variable in os.environ:
            output.say(f"{variable} is set in the environment and wins.")
    held = _compiled(derived_folder(root, os.environ)) or {}
    if (tier in TIERS and tier not in held) or (tier == TRANSFORMER and (tier not in held or held[tier].model != kept)):
        output.say("The commons was compiled without it. Type: deia compile")
    return output.FOUND


@model.command("pull", short_help="Fetch a model of sentence-transformers.")
@click.argument("name", metavar="MODEL")
def pull_model(*, name: str) -> int:
    """Fetch MODEL by its name at the hub of sentence-transformers, or look whether the model in a folder can be used.

    Needs the extra: pip install 'deia[transformers]'.
    """
    found = open_transformer(name, fetch=True)
    output.say(f"{name} is here: {found.dimensions} dimensions, digest {found.digest[:16]}.")
    output.say(f"To search with it, type: deia model use {name}")
    return output.FOUND
