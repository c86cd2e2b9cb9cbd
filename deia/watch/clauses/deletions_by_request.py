"""Requests that delete something remote, whatever sends them: by their method, their address, or what they carry.

The words are in `deletions_by_request.txt`.
"""

from __future__ import annotations

from itertools import pairwise

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.clauses.deletion_words import (
    LAST,
    LOOKING,
    TELLING,
    VERBS,
    parts_of,
    plain,
    posted_to_delete,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.shell.nodes import Command

TABLES = Tables(__file__)
HTTP, POSTS, BODY_SIGNS = TABLES.lists("http"), TABLES.words("posts"), TABLES.listed("body")
NAMING, STATEMENTS = TABLES.listed("naming"), TABLES.words("statements")
STATES, GONE = TABLES.words("states"), TABLES.words("gone")
PASSING = {"gh": "api", "glab": "api", "az": "rest"}  # clients with a sub-command that sends any request
SQL_VERBS = ("drop ", "truncate ", "delete from ", "alter table ")
MARKUP = ("<delete>", "<delete ")  # of a body in XML
OVERRIDES = ("method-override: delete", "_method=delete")  # a POST that is meant as DELETE
ASKING = ('"filter', '"where', '"query', '"match"')  # keys of a request that only selects
BODY_VERBS = (["delete"], ["destroy"], ["purge"])
BULK_VERBS = (*BODY_VERBS, ["drop"], ["clear"], ["remove"], ["truncate"])
METHODS = frozenset(("get", "head", "options", "post", "put", "patch", "delete"))
SHOWING = frozenset(("--offline", "--curl"))  # options with which a request is only shown
IDENTIFYING = frozenset(("id", "ids", "name", "key", "uuid"))  # words of a parameter that says what is meant


def request_that_deletes(program: str, command: Command) -> str:
    """Return what of a request says that it deletes, "" if nothing does or it is only shown."""
    arguments = list(command.arguments)
    method, address = method_of(program, arguments), _address(program, arguments)
    if not address or not SHOWING.isdisjoint(arguments):
        return ""
    _, _, behind = address.partition("://")
    path, _, asked = (behind or address).partition("$(")[0].partition("/")[2].partition("?")
    state = path.rpartition("/")[2]
    if method == "delete" or any(sign in word.lower() for word in arguments for sign in OVERRIDES):
        return "DELETE" if state not in STATES else ""
    sent = _sent(arguments, command)
    if "mutation" in sent and mutation_that_deletes(sent[sent.index("mutation") :]):
        return "mutation"
    has_body = method in {"post", "put", "patch"} or (not method and not POSTS.isdisjoint(_option_names(arguments)))
    looks = any(not (LOOKING | TELLING).isdisjoint(parts_of(part)) or "search" in part for part in path.split("/"))
    if not has_body or "-G" in arguments or "--get" in arguments:
        is_call = (
            state[:1].islower() and not state.islower() and not VERBS.isdisjoint(parts_of(state)[:1])
        )  # `deleteWebhook`
        return state if is_call else "" if looks else _named_action(asked)
    if method == "put" and state in GONE:
        return state
    carried = _statement_in(sent) or (
        "" if looks else _body_that_deletes(sent) or _named_action(f"id=1&{asked}&{sent}")
    )
    return posted_to_delete(path) or carried


def _sent(arguments: Sequence[str], command: Command) -> str:
    """Return what a request carries: the values of options for it, fields, JSON, and the standard input."""
    kept = [
        word
        for at, (before, word) in enumerate(pairwise(("", *arguments)))
        if at in command.data or "{" in word or ("=" in word and ":" not in word) or before in POSTS
    ]
    return " ".join((*kept, command.stdin))


def _named_action(fields: str) -> str:
    """Return the field that names what a request does, and that deletes something named: `action=DELETE&name=a`."""
    pairs = [field.partition("=") for field in fields.split("&")]
    if not any(not IDENTIFYING.isdisjoint(parts_of(name)) for name, _, value in pairs if value):
        return ""
    values = (value.rpartition(".")[2] for name, _, value in pairs if name.lower().endswith(NAMING))
    return next((value for value in values if posted_to_delete(value)), "")


def _statement_in(sent: str) -> str:
    """Return the first word of a statement for a database that deletes and is the value of such a key in JSON."""
    key = ""
    fields = (part for field in sent.split("&") for part in field.split("=", 1))
    for text in (*sent.split('"')[1::2], *fields):
        start = " ".join(text.lower().split())
        if key in STATEMENTS and start.startswith(SQL_VERBS[:3]):
            return start.partition(" ")[0]
        key = start
    return ""


def _key_that_deletes(text: str) -> str:
    """Return the key and value in plain JSON that say what is done, if it deletes: `method=host.delete`."""
    for mark in "{}[],":
        text = text.replace(mark, " ")
    for word in text.split():
        key, _, value = word.partition("=")
        if value == "true" and parts_of(key)[:1] in BULK_VERBS and parts_of(key)[1:] == ["all"]:
            return word
        if key.endswith(NAMING) and not LAST.isdisjoint(parts_of(value)) and posted_to_delete(value):
            return word
    return ""


def _body_that_deletes(sent: str) -> str:
    """Return the key or method in a request's JSON that deletes: `{"delete": {…}}`, `"method": "DELETE"`."""
    start = " ".join(sent.lower().split())
    if any(mark in start for mark in MARKUP):
        return "<delete>"
    if start.startswith(SQL_VERBS[:3]) or (
        start.startswith(SQL_VERBS[3]) and (" drop " in start or " delete " in start)
    ):
        return start.partition(" ")[0]
    spelled = sent.replace(" ", "")
    pieces = spelled.split('"')
    for before, key, after in zip(pieces[::2], pieces[1::2], pieces[2::2], strict=False):
        if parts_of(key)[:1] in BODY_VERBS and after[:1] == ":" and (after[1:2] in {"{", "["} or after == ":"):
            return "" if ":{" in before[-2:] else key
    lowered = spelled.lower()
    asks = any(sign in lowered for sign in ASKING)
    if asks:
        return ""
    return next((sign for sign in BODY_SIGNS if sign in plain(lowered)), "") or _key_that_deletes(plain(lowered))


def mutation_that_deletes(text: str) -> bool:
    """Return whether a GraphQL mutation calls a field that deletes: `deleteUser(`, `issueDelete(`."""
    names = [piece.rstrip().rpartition(" ")[2].rpartition("{")[2] for piece in text.replace("\n", " ").split("(")[:-1]]
    ends = [(parts[0], parts[-1]) for parts in map(parts_of, names) if parts]
    return any(not (VERBS | {"archive", "remove"}).isdisjoint(end) for end in ends)


def _option_names(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the options without their values, also those that are joined: `-dname=value`."""
    for word in arguments:
        if word.startswith("-"):
            yield word.partition("=")[0]
            yield word[:2]


def method_of(program: str, arguments: Sequence[str]) -> str:
    """Return the method of a request in lower case, "" if none is given."""
    names = HTTP[program]
    if not names:
        return next((word.lower() for word in arguments[:8] if word.lower() in METHODS), "")
    lowered = [name.lower() for name in names]
    for at, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name.lower() in lowered and (name in names or program != "curl"):
            return (value if equals else "".join(arguments[at + 1 : at + 2])).strip("'\"").lower()
        joined, is_short, value = word.partition("X")
        if "-X" in names and is_short and joined[:1] == "-" and joined[1:2] != "-" and len(word) > len("-X"):
            return (value or "".join(arguments[at + 1 : at + 2])).lower()  # `-sX DELETE`, `-XDELETE`
    return ""


def _address(program: str, arguments: Sequence[str]) -> str:
    """Return the address of a request, "" if it has none."""
    address = next((word for word in arguments if "://" in word and not word.startswith("-")), "")
    if address or program in PASSING:
        return address or "://api/" + "".join(arguments[1:2])
    if program in {"curl", "wget"}:
        bare = (word for word in arguments if word[:1] not in {"{", "["})
        return next((word for word in bare if word.startswith("$") or ("." in word and "/" in word)), "")
    hosts = ((word, word.partition("/")[0]) for word in arguments if "/" in word)
    return next((f"://{word}" for word, host in hosts if "." in host or host.startswith("$")), "")
