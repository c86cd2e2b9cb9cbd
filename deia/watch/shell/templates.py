"""Whether a parsed command is the one a trigger names: program, words in order, options anywhere and however spelt."""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.delete_targets import is_place, place_of
from deia.watch.shell.git import same_options, without_values
from deia.watch.shell.globs import matches_glob
from deia.watch.shell.nodes import is_assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.watch.shell.nodes import Command

GAP = "…"
WRAPPERS = frozenset(("sudo", "xargs", "parallel", "ssh", "awk"))  # `xargs rm`: rm, fed by xargs
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")  # `find -exec rm`: rm, run on what find finds
SHORTEST_PREFIX = 4  # of a long option, dashes included: `--ha` is `--hard` to git and to GNU programs
MARKS = frozenset("=*?[")  # in a template's first word: no plain name of a program
NO_OTHERS: Mapping[str, str] = {}
LONGEST_JOINED = 4  # of a template's short options: `-rf`, `-fdx`; longer ones are words, such as -empty
LONGEST_CLUSTER = 6  # characters of joined short options, the dash included
SLASH_PROGRAMS = frozenset(("del", "erase", "rd", "rmdir", "format", "taskkill", "reg", "shutdown", "icacls", "attrib"))
ENDPOINTS = frozenset(("--endpoint-url", "--endpoint", "--registry", "--repository-url", "--index-url", "--api-url"))
LOCAL_ADDRESSES = tuple(
    f"{scheme}://{host}" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1", "[::1]")
)
DATABASE_CLIENTS = frozenset(("psql", "pgcli", "mysql", "mariadb", "mongosh", "dropdb", "dropuser", "pg_restore"))
NAMING_DATABASE = frozenset(("-d", "--dbname", "-D", "--database"))
TEST_FILES = {"docker": ("-f", "--file"), "docker-compose": ("-f", "--file"), "podman-compose": ("-f", "--file")}
TESTS = frozenset(("test", "tests", "testing", "testdb", "dbtest"))
PRODUCTION = frozenset(("prod", "production", "live"))
DRY_OPTIONS = ("--dry-run", "--dryrun", "--help", "-help", "-WhatIf", "--what-if", "--simulate", "--just-print")
SHORT_DRY_OPTIONS = {"apt-get": "-s", "apt": "-s", "aptitude": "-s", "make": "-n", "rsync": "-n"}


def matches_command(wanted: Sequence[str], command: Command) -> bool:
    """Say whether a command is what a template's words describe; its data (messages, patterns) does not count."""
    first = wanted[0]
    plain = first not in WRAPPERS and MARKS.isdisjoint(first)
    if plain and first.lower() != command.program.lower() and first != "find":
        return False  # nearly every template: a trigger names many programs, and a line has few
    if len(wanted) > 1 and is_assignment(wanted[0]):
        return _is_set(wanted[0], command) and matches_command(wanted[1:], command)
    if wanted[0] in WRAPPERS and len(wanted) > 1 and wanted[0] in command.through:
        return matches_command(wanted[1:], command)
    if wanted[0] == "find" and len(wanted) > 2 and wanted[1] in FIND_RUNS:
        return f"find {wanted[1]}" in command.through and matches_command(wanted[2:], command)
    if not matches_glob(wanted[0].lower(), command.program.lower()):
        return False
    slashes = command.program.lower() in SLASH_PROGRAMS
    options = [word for word in wanted[1:] if _is_option(word, slashes=slashes)]
    words = [word for word in wanted[1:] if word not in options]
    if not _in_order(words, own_arguments(command), command.folder):
        return False
    return all(gives_option(option, command) for option in options)


def _is_set(wanted: str, command: Command) -> bool:
    """Say whether the environment of a command, or a setting given to git for it, is as wanted; case does not count."""
    name, _, value = wanted.partition("=")
    for one in command.environment:
        given, _, own = one.partition("=")
        if matches_glob(name.lower(), given.lower()) and matches_glob(value.lower(), own.lower()):
            return True
    return False


def own_arguments(command: Command) -> list[str]:
    """Give the arguments of a command that it acts on: without its data, and without what only looks like an option.

    A word after `--` that begins with a hyphen is a path, and is written as one.
    """
    return _known(command)[0]


def _known(command: Command) -> tuple[list[str], dict[str, str]]:
    if command.known is None:
        arguments = _own_arguments(command)
        command.known = (arguments, same_options(command.program, arguments))
    return command.known


def _own_arguments(command: Command) -> list[str]:
    arguments = [one for at, one in enumerate(command.arguments) if at not in command.data]
    if command.program.lower() == "git":
        arguments = without_values(arguments)
    if "--" in arguments:
        end = arguments.index("--") + 1
        arguments[end:] = [f"./{one}" if one.startswith("-") else one for one in arguments[end:]]
    return arguments


def gives_option(wanted: str, command: Command) -> bool:
    """Say whether a command is given an option, with the value that is wanted, if one is."""
    if "=" in wanted:
        return has_option(wanted, command.arguments)
    arguments, same = _known(command)
    return has_option(wanted, arguments, same=same)


def is_dry(command: Command) -> bool:
    """Say whether a command only shows what it would do, or how it is used, or acts on what is there for tests."""
    arguments = own_arguments(command)
    options = [one for one in arguments if one.startswith("-")]
    if any(has_option(option, options) for option in DRY_OPTIONS) or arguments[:1] == ["help"]:
        return True
    short = SHORT_DRY_OPTIONS.get(command.program.lower())
    if short and has_option(short, options):
        return True
    return _is_for_tests(command.program.lower(), arguments)


def _is_for_tests(program: str, arguments: Sequence[str]) -> bool:
    """Hear a local endpoint or registry, a database whose name says that it is for tests, a compose file for tests."""
    for one, value in zip(arguments, [*arguments[1:], ""], strict=False):
        option, equals, own = one.partition("=")
        given = own if equals else value
        if option in ENDPOINTS and given.startswith(LOCAL_ADDRESSES):
            return True
        if option in TEST_FILES.get(program, ()) and _says_test(given.rpartition("/")[2]):
            return True
        if program in DATABASE_CLIENTS and (option in NAMING_DATABASE and _says_test(given)):
            return True
    if program not in DATABASE_CLIENTS:
        return False
    before = ["", *arguments]
    places = [one for one, last in zip(arguments, before, strict=False) if one[:1] != "-" and last[:1] != "-"]
    return bool(places) and " " not in places[0] and _says_test(places[0].rpartition("/")[2])


def _says_test(name: str) -> bool:
    """Say whether a part of a name is `test`: `app_test`, `docker-compose.test.yml`, `myapp_test_3`."""
    parts = "".join(char if char.isalpha() else " " for char in name.lower()).split()
    return not TESTS.isdisjoint(parts) and PRODUCTION.isdisjoint(parts)


def _is_option(word: str, *, slashes: bool) -> bool:
    return (word.startswith("-") and word not in {"-", "--"}) or (slashes and word.startswith("/") and len(word) <= 3)


def has_option(wanted: str, arguments: Sequence[str], *, same: Mapping[str, str] = NO_OTHERS) -> bool:
    """Say whether an option is given: apart or joined, abbreviated, with `=` or a space before its value.

    A longer option is another one, what follows `--` is none, and a later `--no-…` takes it back. `same` gives the
    long name of each short option of the program, which then is the same option.
    """
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if wanted.startswith("/"):
        return any(one.lower() == wanted.lower() for one in arguments)
    name, equals, value = wanted.partition("=")
    if equals:
        return _has_value(name, value, arguments)
    joined = _is_cluster(wanted) and 2 < len(wanted) <= LONGEST_JOINED
    if joined and all(_stands(f"-{letter}", arguments, same) for letter in wanted[1:]):
        return True
    return _stands(wanted, arguments, same)


def _stands(wanted: str, arguments: Sequence[str], same: Mapping[str, str]) -> bool:
    """Say whether the last word that gives an option comes after the last that takes it back."""
    long = same.get(wanted, wanted)
    opposite = f"--{long[5:]}" if long.startswith("--no-") else f"--no-{long[2:]}"
    given = taken = -1
    for at, one in enumerate(arguments):
        if _gives(wanted, long, one, same):
            given = at
        elif long[:2] == "--" and _gives(opposite, opposite, one, same):
            taken = at
    return given > taken


def _gives(wanted: str, long: str, one: str, same: Mapping[str, str]) -> bool:
    if _same_option(wanted, one) or (long is not wanted and _same_option(long, one)):
        return True
    if not _is_cluster(one):
        return False
    letters = [f"-{letter}" for letter in one[1:]]
    return wanted in letters or any(same.get(letter) == long for letter in letters)


def _has_value(name: str, value: str, arguments: Sequence[str]) -> bool:
    following = [*arguments[1:], ""]
    for one, after in zip(arguments, following, strict=False):  # strict fails where there are no arguments
        given, equals, own = one.partition("=")
        if _same_option(name, given) and matches_glob(value, own if equals else after):
            return True
        if len(name) == 2 and one.startswith(name) and matches_glob(value, one[2:]):
            return True  # -XDELETE
    return False


def _is_cluster(word: str) -> bool:
    return word[:1] == "-" and 1 < len(word) <= LONGEST_CLUSTER and word[1:].isalpha()


def _same_option(wanted: str, given: str) -> bool:
    given = given.partition("=")[0]
    if wanted == given:
        return True
    if given.startswith("--") and len(given) >= SHORTEST_PREFIX and wanted.startswith(given):
        return wanted[len(given)] != "-"  # what ends with a word is an option of its own: --force, --force-with-lease
    if not wanted.startswith("-") or wanted.startswith("--") or len(wanted) < 3 or not given.startswith("-"):
        return False
    if wanted[1].isupper() and wanted not in DRY_OPTIONS and len(given) > 1:  # PowerShell takes any clear beginning
        return wanted.lower().startswith(given.partition(":")[0].lower())
    return wanted in (given, given[1:]) or (wanted[1].isupper() and wanted.lower() == given.lower())


def _in_order(wanted: list[str], arguments: list[str], folder: str) -> bool:
    """Match words in order; only options and what may be their values stand between, unless a gap allows anything."""
    at = 0
    free = False
    for word in wanted:
        if word == GAP:
            free = True
            continue
        while at < len(arguments) and not _same_word(word, arguments[at], folder):
            if not (free or arguments[at].startswith("-") or (at > 0 and _takes_value(arguments[at - 1]))):
                return False
            at += 1
        if at >= len(arguments):
            return False
        at, free = at + 1, False
    return True


def _takes_value(argument: str) -> bool:
    return argument.startswith("-") and argument not in {"-", "--"} and "=" not in argument


def _same_word(wanted: str, given: str, folder: str) -> bool:
    if wanted[:1] in "*?" and given.startswith("-") and given != "-":
        return False  # a wildcard stands for an argument, not for an option
    if is_place(wanted):
        return not given.startswith("-") and place_of(given, folder) == wanted
    if matches_glob(wanted, given):
        return True
    trimmed = given.removeprefix("./").rstrip("/")
    return bool(trimmed) and trimmed != given and matches_glob(wanted, trimmed)
