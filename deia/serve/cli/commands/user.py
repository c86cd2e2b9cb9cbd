"""`deia user`, `deia collection`, `deia audit-log`: who may ask the server, of what, how much, and what was asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

import click

from deia import files, spool
from deia.compile.catalog.effort import TIER, TIERS
from deia.compile.encoding_start import library_tiers, start_encoding
from deia.compile.take_in import bring_up_to_date, open_library, registered_sources, said_of_replica
from deia.fast_json import Json
from deia.folders import LIBRARY_PREFIX, derived_folder, library_collections
from deia.ingest.source import slug
from deia.problems import SettingsError
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.server.audit_trail import audit_folder, read_trail
from deia.serve.server.users import (
    READ,
    SCOPES,
    Allowance,
    Limited,
    Owned,
    Team,
    User,
    change_team,
    checked_name,
    digest_of,
    new_token,
    read_team,
    users_file,
)
from deia.settings import resolve
from deia.text import counted, shorten
from deia.typed_json import plain

SHOWN_ONCE = "This token is shown once and kept nowhere. Who asks sends it as: Authorization: Bearer …"
EVERYTHING = "everything"
SHOWN = ("name", "scopes", "collections", "created", "expires", "allowance")  # of a user, and never the digest
MOST_QUESTION = 70  # characters of a question in a list

PER_MINUTE = {
    "requests": "requests", "sub_questions": "sub-questions of answers", "tokens": "tokens of answers",
}  # fmt: skip


def _limits(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an allowance to a command."""
    for name, what in reversed(PER_MINUTE.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, type=click.IntRange(0), help=f"Most {what} a minute; 0: unlimited.")(command)
    return command


_expires = click.option(
    "--expires", metavar="TIME", callback=shared.read_span, help="When the token ends: in 12h, 90d. [default: never]"
)


def _file() -> str:
    return users_file(shared.commons_root(), os.environ)


@click.group(short_help="Say who may ask the server, and of what.")
def user() -> None:
    """The users of `deia serve`: each has a token, scopes, and perhaps only some collections.

    Once there is a user, nobody is answered over HTTP without a token. On standard input there is only you.
    """


@user.command("add", short_help="Add a user, and print their token.")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="read, write or admin; each includes those before. [default: read]",
)
@click.option(
    "--collection",
    "collections",
    multiple=True,
    metavar="NAME",
    help="Only this cluster, folder or library:NAME; may be repeated.",
)
@_expires
@_limits
@shared.json_option
def user_add(
    *, name: str, scopes: tuple[str, ...], collections: tuple[str, ...], expires: int, as_json: bool,
    **amounts: int | None,
) -> None:  # fmt: skip
    """Add the user NAME of the server, and print their token.

    Only a hash of the token is kept. Whoever may read only collections may write only by uploading files to those of
    the library; `admin` also sees reports, metrics and hooks, if they may read everything.
    """
    token, known = new_token(), _checked_collections(collections)
    new = User(
        name=checked_name(name), digest=digest_of(token), scopes=scopes or (READ,), collections=known,
        created=spool.timestamp(time.time()), expires=spool.timestamp(time.time() + expires) if expires else "",
        allowance=_allowance(Allowance(), amounts),
    )  # fmt: skip

    def change(team: Team) -> Team:
        if any(user.name == name for user in team.users):
            fix = f"To give them a new token, type: deia user rotate {name}"
            raise SettingsError(f"there is a user {name!r} already", fix=fix)
        return team.but(users=(*team.users, new))

    change_team(_file(), change)
    _show_token(name, token, as_json=as_json)


@user.command("rotate", short_help="Give a user a new token; the old one ends.")
@click.argument("name")
@_expires
@shared.json_option
def user_rotate(*, name: str, expires: int, as_json: bool) -> None:
    """Replace the token of the user NAME, and print the new one; the old one ends at once, with all that it opened.

    The new one ends when the old one would have, unless you say otherwise.
    """
    token, now = new_token(), time.time()

    def change(team: Team) -> Team:
        changed = team.user(name).but(digest=digest_of(token))
        changed = changed.but(expires=spool.timestamp(now + expires)) if expires else changed
        if changed.has_ended(now):
            fix = f"Type: deia user rotate {name} --expires 90d"
            problem = f"the time of {name} ended at {changed.expires}, so a new token would open nothing"
            raise SettingsError(problem, fix=fix)
        return team.but(users=tuple(changed if user.name == name else user for user in team.users))

    change_team(_file(), change)
    _show_token(name, token, as_json=as_json)


@user.command("revoke", short_help="Remove a user.")
@click.argument("name")
def user_revoke(*, name: str) -> None:
    """Remove the user NAME: their token ends within a second, and what they are listening to."""

    def change(team: Team) -> Team:
        gone = team.user(name)  # raises if there is none, also in a team of nobody
        owners = tuple(owned for owned in team.owners if owned.owner != name)
        return team.but(users=tuple(user for user in team.users if user != gone), owners=owners)

    change_team(_file(), change)
    output.say(f"{name} is no user any more.")


@user.command("list", short_help="Show the users.")
@shared.json_option
def user_list(*, as_json: bool) -> None:
    """Show who may ask the server, of what, and until when."""
    users = read_team(_file()).users
    values = [{name: value for name, value in plain(user).items() if name in SHOWN} for user in users]
    lines = [
        f"{user.name}: {', '.join(user.scopes)}; {', '.join(user.collections) or EVERYTHING}"
        f"{f'; until {user.expires}' if user.expires else ''}"
        for user in users
    ]
    output.answer(
        {"users": values}, lines or ["There are no users. To add one, type: deia user add NAME"], as_json=as_json
    )


def _show_token(name: str, token: str, *, as_json: bool) -> None:
    output.answer({"name": name, "token": token}, [token], as_json=as_json)
    output.complain(f"{name}: {SHOWN_ONCE}")


def _allowance(before: Allowance, amounts: dict[str, int | None]) -> Allowance:
    return before.but(**{name: amount for name, amount in amounts.items() if amount is not None})


def _checked_collections(names: Sequence[str]) -> tuple[str, ...]:
    """Return the full names of collections; raise SettingsError if one does not exist.

    A collection of the library may still be empty: users who may write fill it.
    """
    catalog = shared.open_librarian().open_catalog() if names else None
    for name in names:
        of_library = library_collections([name])
        is_known = bool(of_library) and slug(of_library[0]) == of_library[0] != ""
        if catalog is not None and not of_library:
            is_known = name in catalog.clusters or catalog.keyword.has("path", name.rstrip("/"))
        if not is_known:
            fix = "Name a cluster of the index, a folder such as bok/hosting/, or library:NAME."
            raise SettingsError(f"there is no collection {name!r}", fix=fix)
    return tuple(
        dict.fromkeys(
            f"{LIBRARY_PREFIX}{library_collections([name])[0]}" if library_collections([name]) else name
            for name in names
        )
    )


@click.group(short_help="Show the collections of the library, and limit them.")
def collection() -> None:
    """The collections of the library: what was taken in under one name, and who may read it."""


@collection.command("owner", short_help="Say who answers for a collection.")
@click.argument("name")
@click.argument("owner", required=False, default="", metavar="[USER]")
def collection_owner(*, name: str, owner: str) -> None:
    """Note that USER answers for the collection NAME, so that people know whom to ask; without USER, nobody does."""
    full = _of_library(name)

    def change(team: Team) -> Team:
        others = tuple(owned for owned in team.owners if owned.collection != full)
        new = (Owned(collection=full, owner=team.user(owner).name),) if owner else ()
        return team.but(owners=(*others, *new))

    change_team(_file(), change)
    output.say(f"{full}: {f'{owner} answers for it' if owner else 'nobody answers for it'}.")


def _of_library(name: str) -> str:
    """Return the full name of a collection of the library; raise SettingsError if there is none.

    Which collections a replica has is known only where it is published, so there any name counts.
    """
    root = shared.commons_root()
    full = _checked_collections([name if name.startswith(LIBRARY_PREFIX) else f"{LIBRARY_PREFIX}{name}"])[0]
    is_known = full.removeprefix(LIBRARY_PREFIX) in _collections(root, read_team(_file()))
    if not is_known and not said_of_replica(root, os.environ):
        raise SettingsError(f"there is no collection {name!r}", fix="To see them, type: deia collection list")
    return full


def _collections(root: str, team: Team) -> set[str]:
    """Return the collections of the library: of sources, of users who may fill them, and of settings."""
    chosen = resolve(root, environ=os.environ)
    _, set_tiers = library_tiers(root, os.environ, chosen.tier, chosen.model)
    named = [name for user in team.users for name in user.collections]
    named += [*(limit.collection for limit in team.limits), *(owned.collection for owned in team.owners)]
    sources = registered_sources(root, os.environ)
    return {*(registered.source.collection for registered in sources), *library_collections(named), *set_tiers}


@collection.command("tier", short_help="Say with which vectors a collection is searched.")
@click.argument("name")
@click.argument("tier", required=False, type=click.Choice((TIER, *TIERS)), metavar="[compact|static]")
def collection_tier(*, name: str, tier: str | None) -> None:
    """Have the collection NAME encoded for the sentence model (compact), or keep it to word vectors (static).

    Without a tier, it is searched as the settings say. Once a tier is set, only what keeps to word vectors is left out
    when the library is encoded, however large the rest is.
    """
    root, full = shared.commons_root(), _of_library(name)
    with open_library(root, os.environ) as library:
        library.set_tier(full.removeprefix(LIBRARY_PREFIX), tier or "")
    bring_up_to_date(root, os.environ)
    is_encoding = start_encoding(root, os.environ)
    sentence = f"{full}: {tier or 'as the settings say'}."
    output.say(
        f"{sentence} The rest is being encoded; to see how far it is, type: deia source list"
        if is_encoding
        else sentence
    )


@collection.command("list", short_help="Show the collections, and who may read them.")
@shared.json_option
def collection_list(*, as_json: bool) -> None:
    """Show every collection of the library: its sources, documents, tier and owner, who may read it and add to it."""
    root, team = shared.commons_root(), read_team(_file())
    catalog = files.read(f"{derived_folder(root, os.environ)}/library/catalog") or b""
    is_encoded, chosen = catalog.endswith(TIER.encode()), resolve(root, environ=os.environ)
    static, set_tiers = library_tiers(root, os.environ, chosen.tier, chosen.model)
    sources = registered_sources(root, os.environ)
    values: dict[str, Json] = {}
    lines = []
    for name in sorted(_collections(root, team)):
        own = [registered for registered in sources if registered.source.collection == name]
        readers = [
            user.name for user in team.users if not user.collections or f"{LIBRARY_PREFIX}{name}" in user.collections
        ]
        writers = [user.name for user in team.users if user.name in readers and user.may("write")]
        limits = [limit.allowance.values() for limit in team.limits if limit.collection == f"{LIBRARY_PREFIX}{name}"]
        owner = next((owned.owner for owned in team.owners if owned.collection == f"{LIBRARY_PREFIX}{name}"), "")
        documents = sum(registered.documents for registered in own)
        tier = TIER if is_encoded and name not in static else TIERS[0]
        values[name] = {
            "sources": [registered.source.name for registered in own], "documents": documents,
            "chunks": sum(registered.chunks for registered in own), "tier": tier,
            "set_tier": set_tiers.get(name, ""), "owner": owner,
            "readers": readers, "writers": writers, "limits": limits,
        }  # fmt: skip
        who = f"; read by {', '.join(readers)}" if readers else ""
        who += f"; {owner} answers for it" if owner else ""
        who += f"; {set_tiers[name]} was set" if name in set_tiers else ""
        lines.append(f"{name}: {counted(len(own), 'source')}, {counted(documents, 'document')}{who}")
    lines += filter(None, [said_of_replica(root, os.environ)])
    output.answer({"collections": values}, lines or ["Nothing was taken in yet."], as_json=as_json)


@collection.command("limit", short_help="Limit what each user may ask of a collection.")
@click.argument("name")
@_limits
def collection_limit(*, name: str, **amounts: int | None) -> None:
    """Limit what each user may ask of the collection NAME in a minute; without options, lift its limits."""
    full = _of_library(name)
    allowance = _allowance(Allowance(requests=0, sub_questions=0, tokens=0), amounts)

    def change(team: Team) -> Team:
        others = tuple(limit for limit in team.limits if limit.collection != full)
        new = (Limited(collection=full, allowance=allowance),) if any(allowance.values().values()) else ()
        return team.but(limits=(*others, *new))

    change_team(_file(), change)
    limited = [f"{amount} {PER_MINUTE[name]}" for name, amount in allowance.values().items() if amount]
    output.say(f"{full}: {', '.join(limited) or 'no limits'} a minute.")


@click.command("audit-log", short_help="Show what the server was asked, and check that nothing was changed.")
@shared.since_option
@click.option("--user", "name", default="", metavar="NAME", help="Only what this user asked; yours is called local.")
@click.option("--collection", "named", default="", metavar="NAME", help="Only what was asked of this collection.")
@shared.json_option
def audit_log(*, since: str, name: str, named: str, as_json: bool) -> int:
    """Show what the server was asked: when, by whom, of what, and what was returned; and check the chain of the log.

    Every line has the hash of the line before. If one was changed or removed, says where, and exits 1. The head that
    is printed at the end may be noted elsewhere: a log that was forged as a whole has another one.
    """
    checked = read_trail(audit_folder(shared.commons_root(), os.environ))
    lines = [
        line
        for line in checked.lines
        if str(line.get("ts", "")) >= since and name in ("", line.get("user"))
        and (not named or _concerns(line, named.removeprefix(LIBRARY_PREFIX)))
    ]  # fmt: skip
    shown = [_shown(line) for line in lines]
    value: dict[str, Json] = {
        "lines": list(lines), "damages": plain(checked.damages), "head": plain(checked.head),
    }  # fmt: skip
    head = f"{counted(checked.head.seq, 'line')} in all, {checked.head.hash[:16]}"
    output.answer(value, [*shown, f"The chain is whole: {head}."] if not checked.damages else shown, as_json=as_json)
    for damage in checked.damages:
        output.complain(f"{damage.where}: {damage.problem}")
    return output.NOTHING if checked.damages else output.FOUND


def _concerns(line: Mapping[str, Json], name: str) -> bool:
    """Return whether a line of the log names a collection, or returned a document of it."""
    collections, returned = line.get("collections"), line.get("returned")
    is_named = isinstance(collections, list) and not {name, f"{LIBRARY_PREFIX}{name}"}.isdisjoint(map(str, collections))
    paths = map(str, returned) if isinstance(returned, list) else ()
    return is_named or any(path.startswith(f"{LIBRARY_PREFIX}{name}/") for path in paths)


def _shown(line: dict[str, Json] | object) -> str:
    fields: dict[str, Json] = line if isinstance(line, dict) else {}
    question = shorten(str(fields.get("question", "")), MOST_QUESTION)
    returned = fields.get("returned")
    count = counted(len(returned), "document") if isinstance(returned, list) else ""
    what = f"{fields.get('what')} {fields.get('name')}"
    return f"{fields.get('ts')} {fields.get('user')}: {what}, {fields.get('outcome')}, {count}: {question}"
