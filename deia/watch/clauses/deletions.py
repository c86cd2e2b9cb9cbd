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
    ABOUT,
    LISTING,
    LOOKING,
    OWN_HOSTS,
    OWN_MACHINE,
    TRIED,
    UNDOING,
    VERBS,
    host_of,
    is_name,
    parts_of,
    plain,
    posted_to_delete,
)
from deia.watch.clauses.deletions_by_request import (
    HTTP,
    PASSING,
    method_of,
    mutation_that_deletes,
    request_that_deletes,
)
from deia.watch.shell.templates import DATABASE_CLIENTS, own_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.watch.shell.nodes import Command

TABLES = Tables(__file__)
MILDER, FINAL = TABLES.words("milder"), TABLES.words("final")
HERE = TABLES.words("here")
ALL = TABLES.words("all")
RESOURCES, SCOPES, EXECUTING = TABLES.words("resources"), TABLES.words("scopes"), TABLES.words("executing")
ALLOWING, ALLOWED = frozenset(("allow", "force", "enable")), frozenset(("delete", "deletion", "deletions", "destroy"))
FORCING = frozenset(("--force", "-f", "--yes", "-y", "--auto-approve"))
RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun"))
WRITING = frozenset("create comment edit commit send message chat ask -p --prompt note".split())  # these only take text
TELLING = frozenset(("query", "eval", "run", "shell"))  # sub-commands whose next word a client executes
CALLED = frozenset(("delete", "destroy", "drop", "purge", "truncate"))  # how calls begin in what it executes
SEARCHING = frozenset("search find list ls logs".split())  # sub-commands whose option `--query` is a question
STAYING = frozenset(("local", "emulator", "simulator", "scratch"))  # names of what runs on this machine
FILES = ("sqlite:", "file:")  # beginnings of the addresses of data on this machine
# Signs of code that loops over a list.
LOOPS = ("\nfor ", ".forEach(", ".map(", ".each(", ".each ", ".each{", "foreach (", "foreach(", ") for ")
KINDS = (["table"], ["index"], ["database"], ["namespace"], ["collection"], ["user"], ["schema"], ["stream"], ["graph"])
GLUED = ("delete", "destroy", "purge")  # verbs that are written together with what they delete: `deleteusers`
LEAST_GLUED = 4  # letters of what they delete
AROUND_VERB = 3  # parts of a name that has its verb in the middle
MOST_TEXT = 4_000  # characters of a client's input
IN_BULK, ENTERED = TABLES.words("in bulk"), TABLES.words("entered")
CONTRACTS, PRUNING = TABLES.words("contracts"), TABLES.words("pruning")
OPTIONS, OTHERS, LOCAL = TABLES.words("options"), TABLES.words("others"), TABLES.words("local")
MAKING = TABLES.words("making")
GLANCING = TABLES.words("glancing")
SWITCHES, TRYING = TABLES.words("switches"), TABLES.words("trying")
CMDLETS = TABLES.words("cmdlets")
CODE = TABLES.lists("code")
LOGIN = "-l"  # whose value is a person, also before the first name: `ssh -l deploy host delete-node 7`
MOST_WORDS = 6  # of a command line in which a sub-command is looked for
CONTAINERS = ("docker", "podman", "nerdctl")  # which run on this machine
FEEDING = frozenset(("xargs", "parallel"))
COPYING = frozenset(("scp", "rsync"))
PASSING_PLACES = ("/tmp/", "/var/tmp/", "/backup", "//")  # noqa: S108 - of another machine
SYSTEM = ("/etc/", "/usr/", "/boot/", "/lib/", "/var/lib/")  # of another machine, as the target of a copy
COPIES = frozenset(
    ("sync", "upload", "push", "mirror", "deploy", "publish")
)  # sub-commands that may delete what is gone here
PROSE = frozenset(("to", "in", "the", "a", "of", "and", "is", "was"))  # words of a sentence that looks like a command
OWN_OPTIONS = frozenset(("--local", "--self", "-self"))
TESTS = frozenset(("test", "tests", "testing", "local", "localstack", "sandbox", "mock"))  # values: `--env test`
WIDE_WORDS = frozenset(("prod", "production", "live", "prd"))
WIDE_OPTIONS = frozenset(("--all", "--force", "-f", "--recursive", "-r", "--permanent", "--no-prompt", "--purge"))


def deletion(command: Command) -> str:
    """Return the part of a command by which it deletes or overwrites something remote, or ""."""
    program = command.program.lower().removesuffix(".exe")
    if program in CODE and _is_client(command):
        sub_command = _sub_command(command.arguments[1:], is_fed=_is_fed(command))
        return sub_command if not VERBS.isdisjoint(parts_of(sub_command)) else ""
    if program in CODE:
        from deia.watch.clauses.deletions_in_code import call_that_deletes  # noqa: PLC0415 - few turns have inline code

        return call_that_deletes(_code_of(command, CODE[program]), program)
    arguments = own_arguments(command)
    is_caption = command.program.isalpha() and command.program[0].isupper()  # "Append soft-delete tests": of a call
    if is_caption or _is_here((*command.arguments, *command.environment)) or any(map(_is_container, command.through)):
        return ""
    return _by_client(program, command, arguments)


def _is_client(command: Command) -> bool:
    """Return whether a command runs a script that takes sub-commands as a client does: `php bin/shop user:delete 7`."""
    script, name = "".join(command.arguments[:1]), "".join(command.arguments[1:2])
    return script[:1].isalpha() and "." not in script and name[:1].isalpha() and ":" in name


def _is_container(through: str) -> bool:
    return through.startswith(CONTAINERS)


def _by_client(program: str, command: Command, arguments: list[str]) -> str:
    if program in HTTP and (program not in PASSING or arguments[:1] == [PASSING[program]]):
        return request_that_deletes(program, command)
    last = "".join(arguments[-1:])
    special = {
        "kubectl": "delete --raw" if "--raw" in arguments and "delete" in arguments[:4] else "",
        "nsupdate": "update delete" if "update delete" in command.stdin and not _is_here(command.stdin.split()) else "",
        "grpcurl": posted_to_delete(last.rpartition("/")[2]),
        **dict.fromkeys(COPYING, _overwritten(last)),
    }.get(program, program if _is_deleter(program, arguments) else "")
    if special or program in COPYING:
        return special
    program, arguments = _client_behind(program, arguments)
    verb, hyphen, _ = program.partition("-")
    if not program[:1].isalnum() or program in OTHERS or "/" in program or "." in program:
        return ""
    deleting = "" if _is_tried(arguments) else _said_to_client(program, command)
    if deleting or (hyphen and verb in CMDLETS) or _is_tried(arguments):
        return deleting
    # Of a client that passes requests on: `jf rt curl -XDELETE /api/x`.
    if "delete" in {method_of("curl", arguments), method_of("wget", arguments)}:
        return "DELETE"
    return _sub_command(arguments, is_fed=_is_fed(command)) or next(filter(_allows_deletion, command.environment), "")


def _is_deleter(program: str, arguments: Sequence[str]) -> bool:
    """Return whether a program's own name says that it deletes something remote: `Remove-Mailbox`, `ldapdelete`."""
    is_cmdlet = program.startswith("remove-") and program not in HERE
    is_remote = any("://" in word or word.startswith("cn=") for word in arguments)  # of a directory: `-D cn=admin`
    return is_cmdlet or (program.endswith(GLUED) and is_remote)


def _client_behind(program: str, arguments: list[str]) -> tuple[str, list[str]]:
    """Return the client that another program runs, and its arguments: `java -jar a.jar …`, `npm run a -- …`."""
    if program == "java" and "-jar" in arguments[:-1]:
        at = arguments.index("-jar") + 1
        return arguments[at].rpartition("/")[2].removesuffix(".jar"), arguments[at + 1 :]
    if program in RUNNERS and "--" in arguments and arguments[:1] in (["run"], ["exec"]):
        at = arguments.index("--")
        client = next((word for word in arguments[1:at] if word[:1] != "-"), "")
        return client, [word.removeprefix("./") for word in arguments[at + 1 :]]
    return program, arguments


def _said_to_client(program: str, command: Command) -> str:
    """Return what deletes in the text that a client reads or is told to execute: `echo 'delete x' | adminctl`."""
    arguments = command.arguments
    is_search = not SEARCHING.isdisjoint(word.rpartition(":")[2] for word in arguments[:MOST_WORDS])
    executed = [value for option, value in pairwise(arguments) if option in EXECUTING and not is_search]
    evaluated = [value for word, value in pairwise(arguments) if word in TELLING or "exec" in word]
    called = next(filter(None, map(_call_that_deletes, (*executed, *evaluated))), "")
    if called and program not in DATABASE_CLIENTS:
        return called
    mutation = next((word for word in arguments if word.lstrip().startswith("mutation")), "")
    if mutation and mutation_that_deletes(mutation):
        return "mutation"
    if any(word.lower().startswith("match (") and " delete " in word.lower() for word in arguments):
        return "delete"  # of a graph
    if program in DATABASE_CLIENTS or not (WRITING | STAYING).isdisjoint(arguments):
        return ""
    lines = "\n".join((command.stdin[:MOST_TEXT], *executed)).replace(";", "\n").split("\n")
    return next(filter(None, map(_line_that_deletes, lines)), "")


def _line_that_deletes(line: str) -> str:
    """Return the verb of a line in a client's own language that deletes: `delete jobid=7 yes`, `DROP MEASUREMENT x`."""
    verb, *rest = line.lower().split() or [""]
    if verb[-1:] == ":" and len(rest) == 1 and not VERBS.isdisjoint(rest):
        return line  # `changetype: delete`
    parts = parts_of(verb) if is_name(verb) else []
    is_deletion = parts[:1] == [verb] and (verb in VERBS or verb == "drop")
    is_deletion = is_deletion or (bool(parts) and parts[0] in VERBS | MILDER and (len(parts) > 1 or rest[:1] in KINDS))
    return verb if is_deletion and rest and len(rest) < MOST_WORDS and PROSE.isdisjoint(rest) else ""


def _call_that_deletes(text: str) -> str:
    """Return the name of a call that deletes, in code for a client: `db._dropDatabase("shop")`, `User.x().delete()`."""
    names = [piece.rpartition(".") for piece in text.split("(")[:-1]]
    return next((name for _, dot, name in names if dot and not CALLED.isdisjoint(parts_of(name.lstrip("_"))[:1])), "")


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
    if any(map(_is_of_list, own_arguments(command))):
        return True
    typed_words = (*command.arguments, *command.environment)
    code = _code_of(command, CODE[command.program]) if command.program in CODE else ""
    if any(sign in f"\n{code}" for sign in LOOPS):
        return True
    return any("*" in word for word in typed_words) or not WIDE_WORDS.isdisjoint(words(" ".join((*typed_words, code))))


def _is_of_list(word: str) -> bool:
    """Return whether a word stands for each of the lines that a command prints: `$(widgetctl flags list)`."""
    return word == "{}" or (word[:2] == "$(" and not LISTING.isdisjoint(word[2:-1].split()))


def _is_here(typed_words: Sequence[str]) -> bool:
    """Return whether a command only talks to this machine, or is only a trial."""
    lowered = [word.lower() for word in typed_words]
    if any(sign in spelled for word in lowered for spelled in (word, plain(word)) for sign in TRIED):
        return True
    pairs = pairwise(("", *lowered))
    if any((word.rpartition("=")[2] if "=" in word else before[:1] == "-" and word) in TESTS for before, word in pairs):
        return True
    if any(word.rpartition("=")[2].startswith(FILES) for word in lowered):
        return True
    hosts = map(host_of, lowered)
    return any(host.startswith(OWN_MACHINE) or host.partition(":")[0].endswith(OWN_HOSTS) for host in hosts)


def _is_tried(arguments: Sequence[str]) -> bool:
    """Return whether an option says that a sub-command only shows what it would do; `-n` does so without a value."""
    options = {word.partition("=")[0].lower() for word in arguments}
    if not TRYING.isdisjoint(options) or "--mode=plan" in arguments:
        return True
    return any(word == "-n" and after[:1] in {"", "-"} for word, after in pairwise([*arguments, ""]))


# --- a sub-command of any client ---


def _sub_command(arguments: Sequence[str], *, is_fed: bool) -> str:
    names = _names(arguments)
    option = next((word for word in arguments if word.partition("=")[0] in OPTIONS or _allows_deletion(word)), "")
    pruned = next((word for word in arguments if word in PRUNING), "")
    if pruned and (not COPIES.isdisjoint(names) or (pruned == "--delete" and any("://" in word for word in names))):
        option = pruned  # of a copy that makes the other side the same
    if not PROSE.isdisjoint(names):
        return ""
    for at, name in enumerate(names[:MOST_WORDS]):
        if _looks(name, names[at + 1 : at + 3]):
            return ""
        if name == "post" and "/" in "".join(names[at + 1 : at + 2]):
            return posted_to_delete(names[at + 1])
        if name.rpartition(":")[2] in MAKING and not (name in RESOURCES and _is_verb(names[at + 1 : at + 3])):
            return "" if any(_looks(word, ()) for word in names[at + 1 : at + 2]) else option
        parts = _parts_of_sub_command(name.removeprefix(names[at - 1]) if at else name)
        ends = (parts[0], parts[-1]) if parts else ()
        if not at and len(parts) == AROUND_VERB and ABOUT.isdisjoint(parts):
            ends = (*ends, parts[1])  # `group-remove-member`
        is_contract = at > 0 and not CONTRACTS.isdisjoint(parts_of(names[at - 1]))
        ended = IN_BULK if is_fed or is_contract or (at and not FORCING.isdisjoint(arguments)) else ()
        verb = next((part for part in ends if part in VERBS or part in MILDER or part in ended), "")
        if verb and _is_kept_here(arguments, names, at, verb):
            return ""
        if verb and _has_object(arguments, names, at, verb, is_fed=is_fed):
            return name
    return option


def _is_verb(following: Sequence[str]) -> bool:
    """Return whether a verb that deletes, and its object, follow a word that is also the name of a resource."""
    return len(following) > 1 and following[0] in VERBS | MILDER


def _allows_deletion(option: str) -> bool:
    """Return whether an option or a variable permits deletions: `--allow-data-deletion`, `ALLOW_DELETE=true`."""
    name, _, value = option.partition("=")
    parts = parts_of(name) if option[:1] == "-" or name.isupper() else []
    return not (ALLOWING.isdisjoint(parts) or ALLOWED.isdisjoint(parts)) and value.lower() not in {"false", "0", "no"}


def _names(arguments: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor, after the first name, values of options other than switches."""
    names: list[str] = []
    for before, word in pairwise(["", *arguments]):
        is_value = names and before.startswith("-") and "=" not in before and before not in SWITCHES
        is_value = is_value or before == LOGIN
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
    glued = next((verb for verb in GLUED if parts == [name] and name.startswith(verb)), "")
    if glued and len(name) >= len(glued) + LEAST_GLUED:
        return [glued, name.removeprefix(glued)]
    return parts_of(name.rpartition(".")[2])[:1] if parts and "." in name else parts  # `files.delete`, not `delete.py`


def _is_kept_here(arguments: Sequence[str], names: Sequence[str], at: int, verb: str) -> bool:
    """Return whether a verb deletes only what belongs to the client itself on this machine, or help is asked for."""
    since = max(at - 1, 0) if verb in VERBS else 0
    named = [word for word in names[since : at + 1] if "." not in word or word == names[at]]  # and no hosts
    around = [*(part for word in named for part in parts_of(word)), *names[at + 1 : at + 2]]
    if any(word.partition("=")[0] in SCOPES for word in arguments):
        around = []
    if (
        not LOCAL.isdisjoint(around)
        or not STAYING.isdisjoint(names[:at])
        or not OWN_OPTIONS.isdisjoint(arguments)
        or arguments[-1] == "-h"
    ):
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
    is_named = (
        at > 0
        or is_long
        or "--recursive" in arguments
        or any("://" in word for word in bare)
        or len(names) > at + 2
        or _is_identifier(after)
    )
    return bool(is_fed or ((after or options) and is_named))


def _is_identifier(word: str) -> bool:
    """Return whether a word names something by its kind or owner rather than a file: `users/alice`, `team/db`."""
    return "/" in word and word[0].isalnum() and all(char.isalnum() or char in "/-_" for char in word)


def _code_of(command: Command, options: Sequence[str]) -> str:
    """Return the code that a program is given, as an argument or as its input."""
    arguments = command.arguments
    for at, word in enumerate(arguments):
        if word in options:
            return "\n".join(arguments[at + 1 : at + 2])
    return command.stdin if not any(not word.startswith("-") for word in arguments[:1]) else ""
