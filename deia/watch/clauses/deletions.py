"""Deletions through any client, known or not: a sub-command, a request, or a call in inline code.

These are the last resort beneath the triggers that know a service: what counts is the verb, and that something remote
is its object. The words are in `deletions.txt`.
"""

from __future__ import annotations

from itertools import pairwise

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.text import words
from deia.watch.clauses.deletion_words import (
    LISTING,
    LOOKING,
    OWN_HOSTS,
    OWN_MACHINE,
    TELLING,
    TRIED,
    UNDOING,
    host_of,
    is_name,
    parts_of,
    posted_to_delete,
)
from deia.watch.shell.templates import own_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.shell.nodes import Command

TABLES = Tables(__file__)
VERBS, MILDER, FINAL = TABLES.words("verbs"), TABLES.words("milder"), TABLES.words("final")
HERE = TABLES.words("here")
ALL = TABLES.words("all")
IN_BULK, ENTERED = TABLES.words("in bulk"), TABLES.words("entered")
OPTIONS, OTHERS, LOCAL = TABLES.words("options"), TABLES.words("others"), TABLES.words("local")
POSTS = TABLES.words("posts")
MAKING = TABLES.words("making")
GLANCING = TABLES.words("glancing")
SWITCHES, TRYING = TABLES.words("switches"), TABLES.words("trying")
CMDLETS = TABLES.words("cmdlets")
HTTP, CODE = TABLES.lists("http"), TABLES.lists("code")
MOST_WORDS = 6  # of a command line in which a sub-command is looked for
PASSING = {"gh": "api", "glab": "api", "az": "rest"}  # clients with a sub-command that sends any request
CONTAINERS = ("docker", "podman", "nerdctl")  # which run on this machine
SQL_VERBS = ("drop ", "truncate ", "delete from ", "alter table ")
FEEDING = frozenset(("xargs", "parallel"))
COPYING = frozenset(("scp", "rsync"))
PASSING_PLACES = ("/tmp/", "/var/tmp/", "/backup", "//")  # noqa: S108 - of another machine
SYSTEM = ("/etc/", "/usr/", "/boot/", "/lib/", "/var/lib/")  # of another machine, as the target of a copy
BODY_SIGNS = TABLES.listed("body")
OVERRIDES = ("method-override: delete", "_method=delete")  # a POST that is meant as DELETE
ASKING = ('"filter', '"where', '"query', '"match"')  # keys of a request that only selects
BODY_VERBS = (["delete"], ["destroy"], ["purge"])
METHODS = frozenset(("get", "head", "options", "post", "put", "patch", "delete"))
COPIES = frozenset(
    ("sync", "upload", "push", "mirror", "deploy", "publish")
)  # sub-commands that may delete what is gone here
PROSE = frozenset(("to", "in", "the", "a", "of", "and", "is", "was"))  # words of a sentence that looks like a command
OWN_OPTIONS = frozenset(("--local", "--self", "-self"))
TESTS = frozenset(("test", "tests", "testing", "local", "localstack", "sandbox", "mock"))  # values: `--env test`
SHOWING = frozenset(("--offline", "--curl"))  # options with which a request is only shown
WIDE_WORDS = frozenset(("prod", "production", "live", "prd"))
WIDE_OPTIONS = frozenset(("--all", "--force", "-f", "--recursive", "-r", "--permanent", "--no-prompt", "--purge"))


def deletion(command: Command) -> str:
    """Return what of a command says that it deletes or overwrites something remote, "" if nothing does."""
    program = command.program.lower().removesuffix(".exe")
    if program in CODE:
        from deia.watch.clauses.deletions_in_code import call_that_deletes  # noqa: PLC0415 - few turns have inline code

        return call_that_deletes(_code_of(command, CODE[program]), program)
    arguments = own_arguments(command)
    if _is_here((*command.arguments, *command.environment)) or any(map(_is_container, command.through)):
        return ""
    return _by_client(program, command, arguments)


def _is_container(through: str) -> bool:
    return through.startswith(CONTAINERS)


def _by_client(program: str, command: Command, arguments: list[str]) -> str:
    if program in HTTP and (program not in PASSING or arguments[:1] == [PASSING[program]]):
        return _request(program, command)
    last = "".join(arguments[-1:])
    special = {
        "kubectl": "delete --raw" if "--raw" in arguments and "delete" in arguments[:4] else "",
        "nsupdate": "update delete" if "update delete" in command.stdin else "",
        "grpcurl": posted_to_delete(last.rpartition("/")[2]),
        **dict.fromkeys(COPYING, _overwritten(last)),
    }.get(program, program if program.startswith("remove-") and program not in HERE else "")
    if special or program in COPYING:
        return special
    verb, hyphen, _ = program.partition("-")
    if not program[:1].isalnum() or program in OTHERS or "/" in program or "." in program:
        return ""
    if (hyphen and verb in CMDLETS) or _is_tried(arguments):
        return ""
    # Of a client that passes requests on: `jf rt curl -XDELETE /api/x`.
    if "delete" in {_method("curl", arguments), _method("wget", arguments)}:
        return "DELETE"
    return _sub_command(arguments, is_fed=_is_fed(command))


def _overwritten(target: str) -> str:
    """Return where a copy overwrites something on another machine: in a system folder, or on a production host."""
    host, _, path = target.partition(":")
    is_live = not WIDE_WORDS.isdisjoint(word.rstrip("0123456789") for word in words(host))
    return path if path.startswith(SYSTEM) or (is_live and path and not path.startswith(PASSING_PLACES)) else ""


def _is_fed(command: Command) -> bool:
    return not FEEDING.isdisjoint(command.through)


def is_wide(command: Command) -> bool:
    """Return whether a deletion reaches far: production, everything, a wildcard, a list of names, or by force."""
    is_by_option = command.program not in CODE and not WIDE_OPTIONS.isdisjoint(command.arguments)
    if is_by_option or _is_fed(command) or command.program in COPYING:
        return True
    given = (*command.arguments, *command.environment)
    return any("*" in word or not WIDE_WORDS.isdisjoint(words(word)) for word in given)


def _is_here(given: Sequence[str]) -> bool:
    """Return whether a command only talks to this machine, or only tries."""
    lowered = [word.lower() for word in given]
    if any(sign in spelled for word in lowered for spelled in (word, _plain(word)) for sign in TRIED):
        return True
    pairs = pairwise(("", *lowered))
    if any((word.rpartition("=")[2] if "=" in word else before[:1] == "-" and word) in TESTS for before, word in pairs):
        return True
    hosts = map(host_of, lowered)
    return any(host.startswith(OWN_MACHINE) or host.partition(":")[0].endswith(OWN_HOSTS) for host in hosts)


def _plain(word: str) -> str:
    """Return JSON without quotation marks and spaces, a colon as `=`: `"dry_run": true` is `dry_run=true`."""
    return word.replace('"', "").replace(" ", "").replace(":", "=")


def _is_tried(arguments: Sequence[str]) -> bool:
    """Return whether an option says that a sub-command only shows what it would do; `-n` does so without a value."""
    options = {word.partition("=")[0].lower() for word in arguments}
    if not TRYING.isdisjoint(options) or "--mode=plan" in arguments:
        return True
    return any(word == "-n" and after[:1] in {"", "-"} for word, after in pairwise([*arguments, ""]))


# --- a sub-command of any client ---


def _sub_command(arguments: Sequence[str], *, is_fed: bool) -> str:
    names = _names(arguments)
    option = next((word for word in arguments if word.partition("=")[0] in OPTIONS), "")
    if "--delete" in arguments and (not COPIES.isdisjoint(names) or any("://" in word for word in names)):
        option = "--delete"  # of a copy that makes the other side the same
    if not PROSE.isdisjoint(names):
        return ""
    for at, name in enumerate(names[:MOST_WORDS]):
        if _looks(name, names[at + 1 : at + 3]):
            return ""
        if name == "post" and "/" in "".join(names[at + 1 : at + 2]):
            return posted_to_delete(names[at + 1])
        if name.rpartition(":")[2] in MAKING:
            return option
        parts = _parts_of_sub_command(name)
        ends = (parts[0], parts[-1]) if parts else ()
        verb = next((part for part in ends if part in VERBS or part in MILDER or (is_fed and part in IN_BULK)), "")
        if verb and _is_kept_here(arguments, names, at, verb):
            return ""
        if verb and _has_object(arguments, names, at, verb, is_fed=is_fed):
            return name
    return option


def _names(arguments: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor, behind the first name, values of options that are no switches."""
    names: list[str] = []
    for before, word in pairwise(["", *arguments]):
        is_value = names and before.startswith("-") and "=" not in before and before not in SWITCHES
        if not word.startswith("-") and not is_value:
            names.append(word)
    return names


def _looks(name: str, following: Sequence[str]) -> bool:
    """Return whether a sub-command only looks: `list`, `apps:info`, `list-runs`; but not `status delete 7`."""
    verb = name.rpartition(":")[2]
    if verb in LISTING or verb.partition("-")[0] in UNDOING:
        return True
    has_verb = bool(following) and following[0] in VERBS | MILDER and (len(following) > 1 or "-" in verb)
    return not has_verb and (verb in LOOKING | GLANCING or verb.partition("-")[0] in LISTING)


def _parts_of_sub_command(name: str) -> list[str]:
    parts = parts_of(name) if is_name(name) else []
    return parts[-1:] if "." in name else parts  # `files.delete`, but not `delete.py`


def _is_kept_here(arguments: Sequence[str], names: Sequence[str], at: int, verb: str) -> bool:
    """Return whether what a verb deletes belongs to the client itself, on this machine, or only help is asked for."""
    around = [*(part for word in names[: at + 1] for part in parts_of(word)), *names[at + 1 : at + 2]]
    if not LOCAL.isdisjoint(around) or not OWN_OPTIONS.isdisjoint(arguments) or arguments[-1] == "-h":
        return True
    before = parts_of(names[at])[:-1] or names[max(at - 1, 0) : at]
    return before == ["auth"] or (verb in MILDER and not ENTERED.isdisjoint((*names[:at], *before)))


def _has_object(arguments: Sequence[str], names: Sequence[str], at: int, verb: str, *, is_fed: bool) -> bool:
    """Return whether a verb has something to delete, or needs nothing to be named."""
    bare = [word for word in arguments if not word.startswith("-")]
    after = "".join(bare[bare.index(names[at]) + 1 :][:1])
    parts = parts_of(names[at])
    if after in LISTING and (len(parts) > 1 or bare[-1] == after):
        return False
    is_long = len(parts) > 1 and (at == 0 or ":" in names[at] or parts[-1] in ALL or parts[-1].endswith("s"))
    options = any(word.startswith("-") for word in arguments)
    if verb in VERBS:
        has_object = is_fed or after or any("=" in word for word in arguments) or is_long
        return bool(has_object or verb in FINAL or options)
    is_named = at > 0 or is_long or "://" in after or len(names) > at + 2 or _is_identifier(after)
    return bool(is_fed or ((after or options) and is_named))


def _is_identifier(word: str) -> bool:
    """Return whether a word names something by its kind or owner rather than a file: `users/alice`, `team/db`."""
    return "/" in word and word[0].isalnum() and all(char.isalnum() or char in "/-_" for char in word)


# --- a request ---


def _request(program: str, command: Command) -> str:
    arguments = list(command.arguments)
    method, address = _method(program, arguments), _address(program, arguments)
    if not address or not SHOWING.isdisjoint(arguments):
        return ""
    if method == "delete" or any(sign in word.lower() for word in arguments for sign in OVERRIDES):
        return "DELETE"
    is_sent = (
        at in command.data or "{" in word or ("=" in word and ":" not in word) for at, word in enumerate(arguments)
    )
    sent = " ".join((*(word for word, is_part in zip(arguments, is_sent, strict=True) if is_part), command.stdin))
    if "mutation" in sent and _mutation_that_deletes(sent[sent.index("mutation") :]):
        return "mutation"
    has_body = method in {"post", "put", "patch"} or (not method and not POSTS.isdisjoint(_option_names(arguments)))
    if not has_body or "-G" in arguments or "--get" in arguments:
        return ""
    _, _, behind = address.partition("://")
    path = (behind or address).partition("$(")[0].partition("?")[0].partition("/")[2]
    looks = any(not (LOOKING | TELLING).isdisjoint(parts_of(part)) or "search" in part for part in path.split("/"))
    return posted_to_delete(path) or ("" if looks else _body_that_deletes(sent))


def _body_that_deletes(sent: str) -> str:
    """Return the key or method in a request's JSON that deletes: `{"delete": {…}}`, `"method": "DELETE"`."""
    start = " ".join(sent.lower().split())
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
    return "" if asks else next((sign for sign in BODY_SIGNS if sign in _plain(lowered)), "")


def _mutation_that_deletes(text: str) -> bool:
    """Return whether a GraphQL mutation calls a field that deletes: `deleteUser(`, `issueDelete(`."""
    names = [piece.rpartition(" ")[2].rpartition("{")[2] for piece in text.replace("\n", " ").split("(")[:-1]]
    ends = [(parts[0], parts[-1]) for parts in map(parts_of, names) if parts]
    return any(not (VERBS | {"archive", "remove"}).isdisjoint(end) for end in ends)


def _option_names(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the options without their values, also those that are joined: `-dname=value`."""
    for word in arguments:
        if word.startswith("-"):
            yield word.partition("=")[0]
            yield word[:2]


def _method(program: str, arguments: Sequence[str]) -> str:
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
        return next((word for word in arguments if word.startswith("$") or ("." in word and "/" in word)), "")
    hosts = ((word, word.partition("/")[0]) for word in arguments if "/" in word)
    return next((f"://{word}" for word, host in hosts if "." in host or host.startswith("$")), "")


def _code_of(command: Command, options: Sequence[str]) -> str:
    """Return the code that a program is given, as an argument or as its input."""
    arguments = command.arguments
    for at, word in enumerate(arguments):
        if word in options:
            return "\n".join(arguments[at + 1 : at + 2])
    return command.stdin if not any(not word.startswith("-") for word in arguments[:1]) else ""
