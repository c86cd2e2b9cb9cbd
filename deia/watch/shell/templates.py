"""Whether a command is one that a trigger's template describes: program, words in order, options anywhere."""

from __future__ import annotations

from deia.globs import matches_glob
from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.shell.delete_targets import is_place, is_temporary, place_of
from deia.watch.shell.git import GLOBALS, long_names, without_values
from deia.watch.shell.nodes import Command, is_assignment, options_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TABLES = Tables(__file__)
GAP = "…"
WRAPPERS = frozenset(("sudo", "xargs", "parallel", "ssh", "awk"))  # `xargs rm`: rm, fed by xargs
FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")  # `find -exec rm`: rm, run on what find finds
SHORTEST_PREFIX = 4  # characters of a long option, with its dashes: git and GNU programs read `--ha` as `--hard`
UNABBREVIATED = TABLES.words("unabbreviated")
GLOB_MARKS = frozenset("=*?[")  # a first word of a template with one of these is no plain name
NO_LONG_NAMES: Mapping[str, str] = {}
LONGEST_JOINED = 4  # characters of joined short options in a template: `-fdx`; longer ones are words: `-empty`
LONGEST_CLUSTER = 6  # characters of joined short options, the dash included
SLASH_PROGRAMS = frozenset(("del", "erase", "rd", "rmdir", "format", "taskkill", "reg", "shutdown", "icacls", "attrib"))
ENDPOINTS = frozenset(("--endpoint-url", "--endpoint", "--registry", "--repository-url", "--index-url", "--api-url"))
LOCAL_ADDRESSES = tuple(
    f"{scheme}://{host}" for scheme in ("http", "https") for host in ("localhost", "127.0.0.1", "[::1]")
)
DATABASE_CLIENTS, LOCAL_SERVERS = TABLES.words("database clients"), TABLES.words("local servers")
MOST_NAMES = 4  # `config profile delete old`
SETTINGS, FORGETTING = TABLES.words("settings"), TABLES.words("forgetting")
SERVER_OPTIONS = frozenset(("--server", "--servers", "--host", "--api-url", "--server-url", "--base-url"))
OWN_ADDRESSES = ("localhost", "127.0.0.1", "[::1]")
REQUESTING = frozenset(("curl", "wget", "http", "https", "xh", "xhs"))
LOCAL_CONTEXTS = TABLES.listed("local contexts")
NAMING_CONTEXT = frozenset(("--context", "--kube-context", "--kubecontext"))
CONTAINERS = ("docker", "podman", "nerdctl")
NAMING_INSTANCE = frozenset(("--db-instance-identifier", "--db-cluster-identifier"))
NAMING_DATABASE = frozenset(("-d", "--dbname", "-D", "--database"))
TEST_FILES = {"docker": ("-f", "--file"), "docker-compose": ("-f", "--file"), "podman-compose": ("-f", "--file")}
NAMING_PLACE = {
    **dict.fromkeys(("docker", "docker-compose", "podman-compose"), ("-p", "--project-name")),
    **dict.fromkeys(("kubectl", "oc", "helm"), ("-n", "--namespace")),
}
NAMESPACES = frozenset(("ns", "namespace", "namespaces", "project"))
LOCAL_GIT = frozenset("reset clean checkout switch restore rm merge rebase revert cherry-pick am stash".split())
BACKUPS = frozenset(("restic", "rustic", "borg", "kopia", "duplicity"))
TESTS = TABLES.words("tests")
PRODUCTION = frozenset(("prod", "production", "live"))
DRY_OPTIONS = (
    "--dry-run",
    "--dryrun",
    "--dry_run",
    "--help",
    "-help",
    "-WhatIf",
    "--what-if",
    "--simulate",
    "--just-print",
    "--local",
)
HELPING = frozenset(("aws", "gcloud", "doctl"))  # whose last word may be `help`, for the page of a sub-command
HALTING = frozenset(("shutdown", "chown", "chgrp", "rm"))  # for which `-h` means something other than help
SHORT_DRY_OPTIONS = TABLES.pairs("dry options")


def matches_command(template: Sequence[str], command: Command) -> bool:
    """Return whether a command matches the words of a template; its data (messages, patterns) does not count."""
    first = template[0]
    plain = first not in WRAPPERS and GLOB_MARKS.isdisjoint(first)
    if plain and first.lower() != command.program.lower() and first != "find":
        return False  # true of nearly every template, so it is checked first
    if len(template) > 1 and is_assignment(template[0]):
        return _is_set(template[0], command) and matches_command(template[1:], command)
    if template[0] in WRAPPERS and len(template) > 1 and template[0] in command.through:
        return matches_command(template[1:], command)
    if template[0] == "find" and len(template) > 2 and template[1] in FIND_RUNS:
        return f"find {template[1]}" in command.through and matches_command(template[2:], command)
    if not matches_glob(template[0].lower(), command.program.lower()):
        return False
    slashes = command.program.lower() in SLASH_PROGRAMS
    options = [word for word in template[1:] if _is_option(word, slashes=slashes)]
    words = [word for word in template[1:] if word not in options]
    if not _in_order(words, own_arguments(command), command.folder):
        return False
    return all(gives_option(option, command) for option in options)


def _is_set(assignment: str, command: Command) -> bool:
    """Return whether a command's environment, or a setting passed to git, is as in the template; case is ignored."""
    name, _, value = assignment.partition("=")
    for setting in command.environment:
        setting_name, _, setting_value = setting.partition("=")
        if matches_glob(name.lower(), setting_name.lower()) and matches_glob(value.lower(), setting_value.lower()):
            return True
    return False


def own_arguments(command: Command) -> list[str]:
    """Return the arguments that a command acts on: without its data, and without what only looks like an option.

    A word after `--` that begins with a hyphen is a path, and is returned as `./-word`.
    """
    return _cached(command)[0]


def _cached(command: Command) -> tuple[list[str], dict[str, str]]:
    """Return the own arguments of a command and the long names of its options, which are worked out once."""
    if command.known is None:
        arguments = [word for at, word in enumerate(command.arguments) if at not in command.data]
        if command.program.lower() == "git":
            arguments = without_values(arguments)
        if "--" in arguments:
            end = arguments.index("--") + 1
            arguments[end:] = [f"./{word}" if word.startswith("-") else word for word in arguments[end:]]
        command.known = (arguments, long_names(command.program, arguments))
    return command.known


def gives_option(option: str, command: Command) -> bool:
    """Return whether a command has an option, with the template's value if there is one."""
    if "=" in option:
        return has_option(option, command.arguments)
    arguments, same = _cached(command)
    return has_option(option, arguments, same=same)


def is_dry(command: Command) -> bool:
    """Return whether a command only shows something, forgets a setting of its own, or acts on something for tests."""
    arguments = own_arguments(command)
    options = [word for word in arguments if word.startswith("-")]
    if any(has_option(option, options) for option in DRY_OPTIONS) or arguments[:1] == ["help"]:
        return True
    if command.program in HELPING and arguments[-1:] == ["help"]:
        return True
    if len(arguments) > 1 and arguments[-1] == "-h" and command.program not in HALTING:
        return True
    short = SHORT_DRY_OPTIONS.get(command.program.lower())
    if short and has_option(short, options):
        return True
    names = [word for word in arguments if not word.startswith("-")]
    if "".join(arguments[:1]) in SETTINGS and not FORGETTING.isdisjoint(names[1:3]) and len(names) <= MOST_NAMES:
        return True  # of the client itself, on this machine: `hcloud context delete old`
    if command.program == "rsync" and arguments and ":" not in arguments[-1] and place_of(arguments[-1]) == "<scratch>":
        return True  # a mirror on this machine
    program = command.program.lower()
    return _is_for_tests(program, arguments) or _is_beside_tests(command) or _is_in_scratch(program, command)


def _is_in_scratch(program: str, command: Command) -> bool:
    """Return whether a command acts on nothing but temporary files: `cd /tmp/x && git clean -f`.

    A push counts wherever the repository lies, and so does a change of branches, which a worktree shares with others.
    """
    arguments = command.arguments
    if program == "git":
        at = options_end(["git", *arguments], 1, GLOBALS) - 1
        inside = is_temporary(_value_of(("-C",), arguments[:at]) or command.folder)
        return inside and "".join(arguments[at : at + 1]) in LOCAL_GIT
    repository = _value_of(("-r", "--repo", "--repository"), arguments) or "".join(own_arguments(command)[-1:])
    return program in BACKUPS and is_temporary(repository.partition("::")[0])


def _value_of(options: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the value of the first of some options, "" if none is given."""
    for word, value in zip(arguments, [*arguments[1:], ""], strict=False):
        name, equals, own = word.partition("=")
        if name in options:
            return own if equals else value
    return ""


def _asks_this_machine(command: Command) -> bool:
    """Return whether a client names this machine as the server that it asks; a request must name no other."""
    program = command.program.lower().removesuffix(".sh")
    if program in REQUESTING:
        addresses = [word for word in own_arguments(command) if "://" in word or word.startswith(OWN_ADDRESSES)]
        hosts = [word.partition("://")[2] or word for word in addresses]
        return bool(hosts) and all(host.startswith(OWN_ADDRESSES) for host in hosts)
    if program not in DATABASE_CLIENTS and any(
        before in SERVER_OPTIONS and word.rpartition("://")[2].startswith(OWN_ADDRESSES)
        for before, word in zip(command.arguments, command.arguments[1:], strict=False)
    ):
        return True
    typed_words = (*command.arguments, *command.environment) if program in LOCAL_SERVERS else ()
    return any(word.rpartition("=")[2].rpartition("://")[2].startswith(OWN_ADDRESSES) for word in typed_words)


def _is_beside_tests(command: Command) -> bool:
    """Return whether a command runs in a container for tests, or asks a server on this machine."""
    if _asks_this_machine(command):
        return True
    if not any(through.startswith(CONTAINERS) for through in command.through):
        return False
    return any(map(names_test, command.text.partition(f" {command.program}")[0].split()))


def _is_for_tests(program: str, arguments: Sequence[str]) -> bool:
    """Return whether a command acts on a local endpoint, registry or cluster, a test database or compose file."""
    for word, value in zip(arguments, [*arguments[1:], ""], strict=False):
        option, equals, own = word.partition("=")
        if _names_place_for_tests(program, option, own if equals else value):
            return True
        if program in CONTAINERS and word.startswith("$(") and " ps " in word and any(map(names_test, word.split())):
            return True  # `docker rm -f $(docker ps -q --filter label=e2e)`
        if program in {"kubectl", "oc"} and word in NAMESPACES and names_test(value):
            return True
    return program in DATABASE_CLIENTS and _opens_test_database(arguments)


def _names_place_for_tests(program: str, option: str, value: str) -> bool:
    """Return whether an option names something local, or a place for tests."""
    if option in ENDPOINTS:
        return value.startswith(LOCAL_ADDRESSES)
    if option in NAMING_CONTEXT and value.startswith(LOCAL_CONTEXTS):
        return True
    if option in TEST_FILES.get(program, ()):
        return names_test(value.rpartition("/")[2])
    naming = {
        *NAMING_INSTANCE,
        *NAMING_PLACE.get(program, ()),
        *(NAMING_DATABASE if program in DATABASE_CLIENTS else ()),
    }
    return option in naming and names_test(value)


def _opens_test_database(arguments: Sequence[str]) -> bool:
    """Return whether the database that a client opens is one for tests, in memory, or a temporary file."""
    before = ["", *arguments]
    places = [
        word
        for word, last in zip(arguments, before, strict=False)
        if word[:1] != "-" and (last[:1] != "-" or (last[1:2] in "uphP" and len(last) > 2 and last[:2] != "--"))
    ]
    if not places or " " in places[0]:
        return False
    names = (places[0], *(word for word in arguments if "://" in word))
    is_own = places[0].startswith((":memory:", "/tmp/"))  # noqa: S108 - looked for
    return is_own or any(names_test(name.partition("?")[0].rpartition("/")[2]) for name in names)


def names_test(name: str) -> bool:
    """Return whether a part of a name is `test`, `ci` or the like: `app_test`, `docker-compose.test.yml`, `pr-341`."""
    lowered = name.lower().replace("e2e", "test")
    parts = "".join(char if char.isalpha() else " " for char in lowered).split()
    is_of_request = lowered.startswith(("pr-", "mr-")) and lowered[3:4].isdigit()  # `pr-341-shop`
    return (is_of_request or not TESTS.isdisjoint(parts)) and PRODUCTION.isdisjoint(parts)


def _is_option(word: str, *, slashes: bool) -> bool:
    return (word.startswith("-") and word not in {"-", "--"}) or (slashes and word.startswith("/") and len(word) <= 3)


def has_option(option: str, arguments: Sequence[str], *, same: Mapping[str, str] = NO_LONG_NAMES) -> bool:
    """Return whether an option is present: alone or joined, abbreviated, with `=` or a space before its value.

    A longer option is another one, words after `--` are no options, and a later `--no-…` cancels it. `same` maps the
    short options of the program to their long names; both are the same option then.
    """
    arguments = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if option.startswith("/"):
        return any(word.lower() == option.lower() for word in arguments)
    name, equals, value = option.partition("=")
    if equals:
        return _has_value(name, value, arguments)
    joined = _is_cluster(option) and 2 < len(option) <= LONGEST_JOINED
    if joined and all(_is_in_force(f"-{letter}", arguments, same) for letter in option[1:]):
        return True
    return _is_in_force(option, arguments, same)


def _is_in_force(option: str, arguments: Sequence[str], same: Mapping[str, str]) -> bool:
    """Return whether the last word that sets an option comes after the last that cancels it."""
    long = same.get(option, option)
    opposite = f"--{long[5:]}" if long.startswith("--no-") else f"--no-{long[2:]}"
    last_set = last_cancelled = -1
    for at, word in enumerate(arguments):
        if _sets(option, long, word, same):
            last_set = at
        elif long[:2] == "--" and _sets(opposite, opposite, word, same):
            last_cancelled = at
    return last_set > last_cancelled


def _sets(option: str, long: str, word: str, same: Mapping[str, str]) -> bool:
    """Return whether a word sets an option, alone, by its long name, or joined with others."""
    if _same_option(option, word) or (long is not option and _same_option(long, word)):
        return True
    if not _is_cluster(word):
        return False
    letters = [f"-{letter}" for letter in word[1:]]
    return option in letters or any(same.get(letter) == long for letter in letters)


def _has_value(name: str, value: str, arguments: Sequence[str]) -> bool:
    following = [*arguments[1:], ""]
    for word, after in zip(arguments, following, strict=False):  # strict fails if there are no arguments
        word_name, equals, own = word.partition("=")
        if _same_option(name, word_name) and matches_glob(value, own if equals else after):
            return True
        if len(name) == 2 and word.startswith(name) and matches_glob(value, word[2:]):
            return True  # -XDELETE
    return False


def _is_cluster(word: str) -> bool:
    return word[:1] == "-" and 1 < len(word) <= LONGEST_CLUSTER and word[1:].isalpha()


def _same_option(option: str, word: str) -> bool:
    """Return whether two words are the same option; the second may be abbreviated."""
    word = word.partition("=")[0]
    if option == word:
        return True
    if word.startswith("--") and len(word) >= SHORTEST_PREFIX and option.startswith(word):
        return word not in UNABBREVIATED and option[len(word)] != "-"  # --force is not short for --force-with-lease
    if not option.startswith("-") or option.startswith("--") or len(option) < 3 or not word.startswith("-"):
        return False
    if option[1].isupper() and option not in DRY_OPTIONS and len(word) > 1:  # PowerShell takes unambiguous beginnings
        return option.lower().startswith(word.partition(":")[0].lower())
    return option in (word, word[1:]) or (option[1].isupper() and option.lower() == word.lower())


def _in_order(template_words: list[str], arguments: list[str], folder: str) -> bool:
    """Return whether the words occur among the arguments in order."""
    # Only options and what may be their values stand between them, unless a gap allows anything.
    at = 0
    free = False
    for word in template_words:
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


def _same_word(template_word: str, argument: str, folder: str) -> bool:
    """Return whether an argument is the word of a template, a glob or a place."""
    if template_word[:1] in "*?" and argument.startswith("-") and argument != "-":
        return False  # a wildcard matches an argument, not an option
    if is_place(template_word):
        return not argument.startswith("-") and place_of(argument, folder) == template_word
    if matches_glob(template_word, argument):
        return True
    if "," in argument and argument.replace(",", "").isalpha():  # `kubectl delete deploy,svc`
        return any(matches_glob(template_word, word) for word in argument.split(","))
    trimmed = argument.removeprefix("./").rstrip("/")
    return bool(trimmed) and trimmed != argument and matches_glob(template_word, trimmed)
