"""`deia model`: the models of meaning that a search can go by: which there are, which is used, and fetching one."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from deia import fast_json, files
from deia.errors import ArtefactError
from deia.match import compact, static
from deia.match.semantic import KEYWORD_TIER, TIERS, open_tier
from deia.match.transformer import EXTRA, open_transformer
from deia.search.catalog import open_catalog
from deia.serve import output
from deia.serve.commands.options import commons_option, commons_root, form_option, writable_root
from deia.serve.toml_edit import write_setting
from deia.settings import CHOICES, PACKAGE, derived_folder, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = {"static": static.FILE, "compact": compact.FILE}
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
    rows = [*(_row(name, held) for name in TIERS), _words_row(), _transformer_row()]
    if form == "json":
        output.say(fast_json.dumps({"tier": chosen.tier, "source": chosen.sources["tier"], "models": rows}))
        return output.FOUND
    for row in rows:
        size = f"{row['bytes'] / 1e6:5.1f} MB" if row["bytes"] else " " * 8
        output.say(f"{row['name']:<12} {size}  {row['about']}; {row['state']}")
    output.say(f"tier = {chosen.tier} ({chosen.sources['tier']})")
    return output.FOUND


def _compiled(derived: str) -> Mapping[str, Mapping[str, Any]] | None:
    """Give the tiers that the catalog holds vectors of; None where there is no catalog."""
    name = (files.read(f"{derived}/catalog") or b"").decode("ascii", "replace").strip()
    try:
        return open_catalog(f"{derived}/{name or 'no-catalog'}").tiers
    except ArtefactError:
        return None


def _row(name: str, held: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    stamp = files.stamp(f"{PACKAGE}/models/{FILES[name]}")
    return {"name": name, "bytes": stamp[0] if stamp else 0, "about": ABOUT[name], "state": _state(name, held)}


def _state(name: str, held: Mapping[str, Mapping[str, Any]] | None) -> str:
    try:
        tier = open_tier(name)
    except ArtefactError as error:
        return f"cannot be used: {error.message}"
    if held is None:
        return "nothing is compiled yet; type: deia compile"
    if name not in held:
        return "the commons was compiled without it; type: deia compile"
    if held[name].get("digest") != tier.digest:
        return "the commons was compiled with another such model; type: deia compile"
    return "the commons was compiled with it"


def _words_row() -> dict[str, Any]:
    return {"name": KEYWORD_TIER, "bytes": 0, "about": ABOUT[KEYWORD_TIER], "state": "always there"}


def _transformer_row() -> dict[str, Any]:
    state = "the extra is installed; see deia model pull" if find_spec(NEEDED) else f"not installed. {EXTRA}"
    return {"name": "transformer", "bytes": 0, "about": "any model of sentence-transformers", "state": state}


@model.command("use", short_help="Set the model that searches go by.")
@click.argument("name", type=click.Choice(CHOICES["tier"]))
@commons_option
def use_model(*, name: str) -> int:
    """Set the model that searches of this commons go by, in its deia.toml; auto takes the best that is compiled."""
    root = writable_root()
    output.say(f'Wrote tier = "{name}" into {write_setting(root, "tier", name)}.')
    if "DEIA_TIER" in os.environ:
        output.say("DEIA_TIER is set in the environment and wins.")
    if name in TIERS and name not in (_compiled(derived_folder(root, os.environ)) or {}):
        output.say("The commons was compiled without it. Type: deia compile")
    return output.FOUND


@model.command("pull", short_help="Fetch a model of sentence-transformers.")
@click.argument("name", metavar="MODEL")
def pull_model(*, name: str) -> int:
    """Fetch MODEL by its name at the hub of sentence-transformers, or look whether the model in a folder can be used.

    Needs the extra: pip install 'deia[transformers]'.
    """
    found = open_transformer(name)
    output.say(f"{name} is here: {found.dimensions} dimensions, digest {found.digest[:16]}.")
    return output.FOUND
