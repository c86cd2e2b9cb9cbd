"""Which programs run other programs, and how their command line says what.

`peel` takes one layer off a list of words and returns what stands inside: words to run as they are, a script for a
shell, or code of another language. It knows programs by name only: it runs nothing, looks nothing up, and leaves a
program that it does not know alone.
"""

from __future__ import annotations

from deia.watch.command import base_name, is_assignment, option_value, options_end
from deia.watch.programs import (
    AWKS,
    CODE_OPTIONS,
    FETCHERS,
    FIND_RUNS,
    GLOBALS,
    NESTED,
    PARALLEL_OPTIONS,
    PREFIXES,
    RUNNERS,
    SAME_AS,
    SCRIPT_OPTIONS,
    SHELLS,
    SSH_OPTIONS,
    TRANSPARENT,
    VERSIONED,
    XARGS_OPTIONS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[[str, list[str], str], list["Inner"]]

MAX_ITEMS = 64  # items of a known standard input that xargs and parallel are given


class Inner:
    """Hold what one wrapper runs: `words`, or a `script` in the language `kind` (a shell, or "code")."""

    __slots__ = ("environment", "kind", "label", "script", "words")

    def __init__(
        self,
        label: str,
        words: list[str] | None = None,
        *,
        script: str = "",
        kind: str = "bash",
        environment: tuple[str, ...] = (),
    ) -> None:
        self.label = label
        self.words = words or []
        self.script = script
        self.kind = kind
        self.environment = environment


def is_transparent(key: str) -> bool:
    """Tell whether a wrapper is left out of the list when what it runs is in it."""
    return key in TRANSPARENT


def key_of(program: str) -> str:
    """Return the name under which the tables know a program: lower case, without a version (`python3.11`)."""
    if program in SHELLS:
        return program
    name = program.lower()
    return name.rstrip("0123456789.") or name


def peel(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what a program with these words runs, nothing where it runs nothing that can be read off them."""
    rule = _RULES.get(key)
    if rule is None:
        return []
    found = rule(key, words, stdin)
    return [inner for inner in found if inner.words or inner.script.strip()]


def _prefix(key: str, words: list[str], stdin: str) -> list[Inner]:
    script = option_value(words[:8], SCRIPT_OPTIONS[key]) if key in SCRIPT_OPTIONS else None
    if script is not None:
        return [Inner(f"{key} -c", script=script)]
    takes, skip = PREFIXES[key]
    at = options_end(words, 1, takes)
    if key == "command" and any("v" in word.lower() for word in words[1:at]):
        return []
    if key == "env":
        split = _split_string(words, at)
        if split:
            return split
        at += words[at : at + 1] == ["-"]
    begin = at = at + skip
    while at < len(words) and is_assignment(words[at]):
        at += 1
    environment = tuple(words[begin:at])
    if key == "watch" and at == len(words) - 1 and " " in words[at]:
        return [Inner(key, script=words[at])]
    if at == len(words) and stdin and key in ("sudo", "chroot", "wsl"):
        return []
    return [Inner(key, words[at:], environment=environment)]


def _split_string(words: list[str], end: int) -> list[Inner]:
    """Read `env -S 'program word'`, whose one word is split like a line."""
    for at in range(1, min(end + 1, len(words))):
        word = words[at]
        if word in ("-S", "--split-string"):
            return [Inner("env", script=" ".join(words[at + 1 :]))]
        if word.startswith(("-S", "--split-string=")):
            first = word[2:] if word.startswith("-S") else word.partition("=")[2]
            return [Inner("env", script=" ".join([first, *words[at + 1 :]]))]
    return []


def _runner(key: str, words: list[str], stdin: str) -> list[Inner]:
    label, at = key, options_end(words, 1, GLOBALS[key])
    name = SAME_AS.get(key, key)
    while at < len(words):
        label, name = f"{label} {words[at]}", f"{name} {words[at]}"
        at += 1
        if name not in NESTED:
            break
        at = options_end(words, at, GLOBALS.get(name, ""))
    name = {"npm x": "npm exec", "mise x": "mise exec"}.get(name, name)
    if name == "npm exec" and key in SCRIPT_OPTIONS:
        given = _scripted(key, words, stdin)
        if given:
            return given
    if name not in RUNNERS:
        return []
    return [_inside_runner(name, label, words, at)]


def _inside_runner(name: str, label: str, words: list[str], begin: int) -> Inner:
    takes, skip = RUNNERS[name]
    at = options_end(words, begin, takes)
    entry = option_value(words[begin:at], "--entrypoint") if name == "docker run" else None
    at += skip
    if name == "kubectl exec" and "--" in words[begin:]:
        at = words.index("--", begin) + 1
    elif skip:
        at += words[at : at + 1] == ["--"]
    rest = words[at:]
    if name in VERSIONED:
        rest = _unversioned(rest)
    return Inner(label, [entry, *rest] if entry else rest)


def _git(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = options_end(words, 1, GLOBALS[key])
    name = words[at] if at < len(words) else ""
    if name == "bisect":
        return _runner(key, words, stdin)
    if name in ("rebase", "filter-branch"):
        return _scripted(key, words, stdin)
    return _after(words, "foreach", "git submodule foreach") if name == "submodule" else []


def _after(words: list[str], mark: str, label: str) -> list[Inner]:
    if mark not in words:
        return []
    at = options_end(words, words.index(mark) + 1, "")
    return [Inner(label, script=" ".join(words[at:]))]


def _unversioned(words: list[str]) -> list[str]:
    """Return words with the version taken off the first (`prisma@5`, `@nestjs/cli@latest`)."""
    if not words:
        return words
    cut = words[0].rfind("@")
    return [words[0][:cut] if cut > 0 else words[0], *words[1:]]


def _fetcher(key: str, words: list[str], stdin: str) -> list[Inner]:
    given = _scripted(key, words, stdin) if key in SCRIPT_OPTIONS else []
    return given or [Inner(key, _unversioned(words[options_end(words, 1, FETCHERS[key]) :]))]


def _scripted(key: str, words: list[str], _stdin: str) -> list[Inner]:
    script = option_value(words[1:], SCRIPT_OPTIONS[key])
    label = f"{key} -c" if key == "su" else key
    return [] if script is None else [Inner(label, script=script)]


def _shell(_key: str, words: list[str], stdin: str) -> list[Inner]:
    at, command, check = 1, False, False
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            command = command or word == "--command"
            at += word in ("--rcfile", "--init-file")
            continue
        command = command or "c" in word
        check = check or "n" in word
        at += word[-1] in "oO"
    at += words[at : at + 1] == ["--"]
    if check:
        return []
    if command:
        return [Inner(f"{base_name(words[0])} -c", script=words[at])] if at < len(words) else []
    reads = at >= len(words) or "-s" in words[1:at] or words[at] in ("-", "/dev/stdin")
    return [Inner(base_name(words[0]), script=stdin)] if reads else []


def _eval(key: str, words: list[str], _stdin: str) -> list[Inner]:
    return [Inner(key, script=" ".join(words[1:]))]


def _trap(key: str, words: list[str], _stdin: str) -> list[Inner]:
    at = options_end(words, 1, "")
    handled = len(words) > at + 1 and words[at] != "-" and not any(word in ("-p", "-l") for word in words[1:at])
    return [Inner(key, script=words[at])] if handled else []


def _at(key: str, _words: list[str], stdin: str) -> list[Inner]:
    return [Inner(key, script=stdin)]


def _ssh(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = options_end(words, 1, SSH_OPTIONS) + 1  # the host; options may follow it again
    at = options_end(words, at, SSH_OPTIONS)
    return [Inner(key, script=" ".join(words[at:]) or stdin)]


def _xargs(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = options_end(words, 1, XARGS_OPTIONS)
    mark = _replaced(words[1:at])
    items = stdin.split(None, MAX_ITEMS)[:MAX_ITEMS]
    inner = words[at:]
    if inner and mark and stdin:
        item = stdin.partition("\n")[0].strip()
        inner = [inner[0], *(word.replace(mark, item) if len(word) < len(stdin) + 4096 else word for word in inner[1:])]
    elif inner and not mark:
        inner = inner + items
    return [Inner(key, inner)]


def _replaced(options: list[str]) -> str:
    """Return the mark that xargs replaces, "" where it appends."""
    for at, word in enumerate(options):
        if word in ("-i", "--replace", "--replace="):
            return "{}"
        if word in ("-I", "-J"):
            return options[at + 1] if at + 1 < len(options) else "{}"
        if word.startswith(("-I", "-i", "-J")):
            return word[2:]
        if word.startswith("--replace="):
            return word[len("--replace=") :]
    return ""


def _parallel(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = options_end(words, 1, PARALLEL_OPTIONS)
    cut = next((place for place in range(at, len(words)) if words[place].startswith(":::")), len(words))
    template = words[at:cut]
    given = [word for word in words[cut + 1 :] if not word.startswith(":::")] or stdin.splitlines()
    if not template:
        return [Inner(key, script="\n".join(given))]
    item = given[0] if given else ""
    if len(template) == 1 and " " in template[0]:
        return [Inner(key, script=template[0].replace("{}", item))]
    if any("{}" in word for word in template):
        return [Inner(key, [word.replace("{}", item) if item else word for word in template])]
    return [Inner(key, template + given[:MAX_ITEMS])]


def _find(key: str, words: list[str], _stdin: str) -> list[Inner]:
    found: list[Inner] = []
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word not in FIND_RUNS or (key == "find" and word not in ("-exec", "-execdir", "-ok", "-okdir")):
            continue
        begin = at
        while at < len(words) and words[at] != ";" and not (words[at] == "+" and words[at - 1] == "{}"):
            at += 1
        found.append(Inner(f"{key} {word}", words[begin:at]))
    return found


def _code(key: str, words: list[str], stdin: str) -> list[Inner]:
    names, letters = CODE_OPTIONS[key]
    shown = base_name(words[0])
    at = 1
    while at < len(words):
        word = words[at]
        found = _code_at(word, names, letters)
        if found is not None:
            code = found or " ".join(words[at + 1 : at + 2])
            return [Inner(f"{shown} {word[:2] if found else word}", script=code, kind=key)]
        if word == "-m" and key in ("python", "py", "pypy"):
            return [Inner(f"{shown} -m", words[at + 1 :])]
        if word[:1] != "-" or word in ("-", "--"):
            break
        at += 1 + (word in ("-W", "-X", "-r", "--require", "--import", "-I"))
    if key == "bun":
        return _runner(key, words, stdin)
    reads = at >= len(words) or words[at] == "-"
    return [Inner(shown, script=stdin, kind=key)] if reads else []


def _code_at(word: str, names: str, letters: str) -> str | None:
    """Return the code joined to an option that brings code, "" when it is the next word, None for another word."""
    padded = f" {names} "
    name, equals, value = word.partition("=")
    if f" {word} " in padded:
        return ""
    if equals and name.startswith("--") and f" {name} " in padded:
        return value
    if not letters or word[:1] != "-" or word[:2] == "--":
        return None
    for place, letter in enumerate(word[1:], 2):
        if f" -{letter} " in padded:
            return word[place:]
        if letter not in letters:
            return None
    return None


def _awk(key: str, words: list[str], _stdin: str) -> list[Inner]:
    return [Inner(key, script=word, kind="awk") for word in words[1:] if "system" in word or "|" in word]


def _powershell(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = 1
    while at < len(words) and words[at][:1] in ("-", "/"):
        option = words[at][1:].lower()
        at += 1
        if option and "command".startswith(option):
            break
        if option.startswith(("f", "e")) and not option.startswith("ex"):
            return []  # a file, or code in base64
        at += option.startswith(("ex", "ep", "win", "w", "v", "config", "outputf", "inputf", "psc"))
    script = " ".join(words[at:])
    return [Inner(f"{key} -Command", script=stdin if script in ("", "-") else script, kind="powershell")]


def _cmd(key: str, words: list[str], _stdin: str) -> list[Inner]:
    for at, word in enumerate(words[1:], 1):
        if word.lower() in ("/c", "/k", "//c", "//k", "/r"):
            return [Inner(f"{key} /c", script=" ".join(words[at + 1 :]), kind="cmd")]
    return []


_RULES: dict[str, Rule] = {
    **dict.fromkeys(PREFIXES, _prefix),
    **dict.fromkeys(SCRIPT_OPTIONS, _scripted),
    **dict.fromkeys(GLOBALS, _runner),
    **dict.fromkeys(FETCHERS, _fetcher),
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
    **dict.fromkeys(CODE_OPTIONS, _code),
    **dict.fromkeys(AWKS, _awk),
    "git": _git,
    "eval": _eval,
    "trap": _trap,
    "at": _at,
    "batch": _at,
    "ssh": _ssh,
    "xargs": _xargs,
    "parallel": _parallel,
    "cmd": _cmd,
}
for _name in ("runuser", "flock"):
    _RULES[_name] = _prefix
