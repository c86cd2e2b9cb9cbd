"""Which programs run other programs, and which part of their command line says what.

`peel` removes one layer from a list of words and returns what is inside: words to run, a script for a shell, or code of
another language. Programs are known by name only; an unknown program has nothing inside.
"""

from __future__ import annotations

from deia.watch.shell import programs
from deia.watch.shell.nodes import Inner, base_name, option_value, options_end
from deia.watch.shell.runners import (
    MAX_ITEMS,
    passed_on,
    run_by_cmd,
    run_by_find,
    run_by_iex,
    run_by_parallel,
    run_by_powershell,
    run_by_start,
    run_by_xargs,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[[str, list[str], str], list[Inner]]

_TMUX_COMMANDS = frozenset(("new", "new-session", "new-window", "neww", "send-keys", "send", "split-window"))
# What may stand before the `!` of an editor's shell command.
_BEFORE_BANG = frozenset(("", "%", "silent", "r", "w", "exe"))


def peel(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what a program with these words runs; nothing if its words do not say so."""
    rule = _RULES.get(key)
    if rule is None:
        return []
    inners = rule(key, words, stdin)
    return [inner for inner in inners if inner.words or inner.script.strip()]


def _runner(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what a sub-command such as `docker exec` or `npm exec` runs."""
    label, at = key, options_end(words, 1, programs.GLOBALS[key])
    name = programs.SAME_AS.get(key, key)
    while at < len(words):
        label, name = f"{label} {words[at]}", f"{name} {words[at]}"
        at += 1
        if name not in programs.NESTED:
            break
        at = options_end(words, at, programs.GLOBALS.get(name, ""))
    name = {"npm x": "npm exec", "mise x": "mise exec"}.get(name, name)
    if name == "npm exec" and key in programs.SCRIPT_OPTIONS:
        scripts = _scripted(key, words, stdin)
        if scripts:
            return scripts
    if name not in programs.RUNNERS:
        return _project_program(key, words)
    return [_inside_runner(name, label, words, at)]


def _inside_runner(name: str, label: str, words: list[str], begin: int) -> Inner:
    """Return what is behind the options of the runner `name`, which begin at `begin`."""
    at = options_end(words, begin, programs.RUNNERS[name])
    if name in ("kubectl run", "kubectl debug") and "--" not in words[begin:]:
        return Inner(label)
    entry = option_value(words[begin:at], "--entrypoint") if name == "docker run" else None
    one_first = name in programs.ONE_WORD_FIRST
    at += one_first
    if name.startswith(("kubectl ", "mise ")) and "--" in words[begin:]:
        at = words.index("--", begin) + 1
    elif one_first:
        at += words[at : at + 1] == ["--"]
    rest = words[at:]
    if name in programs.VERSIONED:
        rest = _unversioned(rest)
    if name == "hatch run" and rest:
        rest = [rest[0].rpartition(":")[2], *rest[1:]]  # the environment comes before the program
    return Inner(label, [entry, *rest] if entry else rest)


def _project_program(key: str, words: list[str]) -> list[Inner]:
    """Return the program or script of the project that `yarn prisma migrate reset` or the like runs."""
    at = options_end(words, 1, programs.GLOBALS[key])
    own = programs.OWN.get(key)
    return [] if own is None or at >= len(words) or words[at] in own else [Inner(key, words[at:])]


def _nix(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `nix develop -c x y` or `nix shell pkg --command x y` runs."""
    at = next((at for at, word in enumerate(words) if word in ("-c", "--command")), len(words))
    return [Inner(f"{key} {words[1]}", words[at + 1 :])] if at > 1 else []


def _aws(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what runs elsewhere: `aws ssm send-command --parameters commands=[…]`, `aws ecs execute-command`."""
    if "execute-command" in words:
        return [Inner(f"{key} execute-command", script=option_value(words, "--command") or "")]
    if "send-command" not in words and "start-session" not in words:
        return []
    parameters = option_value(words, "--parameters") or ""
    if parameters[:1] == "{":  # JSON; the names of fields are left out
        return [Inner(f"{key} ssm", script="\n".join(_quoted_parts(parameters)))]
    _, named, after = parameters.replace("command=", "commands=").partition("commands=")
    items = after[1:].rpartition("]")[0] if after[:1] == "[" else ""
    lines = _quoted_parts(items) or items.split(",") if items else [after]
    return [Inner(f"{key} ssm", script="\n".join(lines))] if named else []


def _quoted_parts(text: str) -> list[str]:
    """Return the strings in double quotes, except for names of fields; an escaped quote is part of the string."""
    parts = text.replace("\\\\", "\0").replace('\\"', "\1").split('"')
    parts = [part for part, after in zip(parts[1::2], parts[2::2], strict=False) if after.strip()[:1] != ":"]
    return [part.replace("\1", '"').replace("\\n", "\n").replace("\0", "\\") for part in parts]


def _git(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what git's own options and sub-commands run, such as `rebase --exec`."""
    at = options_end(words, 1, programs.GLOBALS[key])
    name = words[at] if at < len(words) else ""
    if name == "bisect":
        return _runner(key, words, stdin)
    if name in ("rebase", "filter-branch"):
        return _scripted(key, words, stdin)
    if name != "submodule" or "foreach" not in words:
        return []
    at = options_end(words, words.index("foreach") + 1, "")
    return [Inner("git submodule foreach", script=" ".join(words[at:]))]


def _unversioned(words: list[str]) -> list[str]:
    """Return the words with the version removed from the first (`prisma@5`, `@nestjs/cli@latest`)."""
    if not words:
        return words
    cut = words[0].rfind("@")
    return [words[0][:cut] if cut > 0 else words[0], *words[1:]]


def _fetcher(key: str, words: list[str], stdin: str) -> list[Inner]:
    scripts = _scripted(key, words, stdin) if key in programs.SCRIPT_OPTIONS else []
    return scripts or [Inner(key, _unversioned(words[options_end(words, 1, programs.FETCHERS[key]) :]))]


def _scripted(key: str, words: list[str], _stdin: str) -> list[Inner]:
    script = option_value(words[1:], programs.SCRIPT_OPTIONS[key])
    for word, after in zip(words[1:8], [*words[2:9], ""], strict=False) if script is None else ():
        if word[:1] == "-" and 2 < len(word) < 6 and word[1:].isalpha() and word[-1] == "c":  # `su -lc 'x'`
            script = after
            break
    label = f"{key} -c" if key == "su" else key
    return [] if script is None else [Inner(label, script=script)]


def _script(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what `script -c 'x' file` runs, or the BSD form `script file x`."""
    at = options_end(words, 1, "-c --command -t -T -I -O -B -m -o -E")
    return _scripted(key, words, stdin) or [Inner(key, words[at + 1 :])]


def _editor(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return the shell commands that an editor starts with: `vim -c '!x'`, `vim +'!x'`."""
    inners = []
    for number, word in enumerate(words[1:]):
        before = words[number]
        text = word[1:] if word[:1] == "+" else word
        at = text.find("!")
        is_command = word[:1] == "+" or before in ("-c", "--cmd") or text[:2] == ":!"
        if is_command and at >= 0 and text[:at].strip(": ") in _BEFORE_BANG:
            inners.append(Inner(key, script=text[at + 1 :]))
    return inners


def _lines(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return the words that are lines for a shell, and the script of an option."""
    at = options_end(words, 1, programs.LINES[key])
    before = _scripted(key, words, stdin) if key in programs.SCRIPT_OPTIONS else []
    return before + [Inner(key, script=word) for word in words[at:] if word[:1] != "-"]


def _tmux(key: str, words: list[str], _stdin: str) -> list[Inner]:
    if _TMUX_COMMANDS.isdisjoint(words):
        return []
    return [Inner(key, script=word) for word in words[1:] if " " in word]


def _ansible(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return an ad-hoc command for many machines; modules that run no commands are ignored."""
    module = option_value(words, "-m --module-name") or "command"
    script = option_value(words, "-a --args")
    runs = module.rpartition(".")[2] in ("command", "shell", "raw", "win_shell", "win_command")
    return [Inner(key, script=script)] if script and runs else []


def _shell(_key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what `bash -c 'x'` runs, or a shell that reads its standard input."""
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


def _trap(key: str, words: list[str], _stdin: str) -> list[Inner]:
    at = options_end(words, 1, "")
    handled = len(words) > at + 1 and words[at] != "-" and not any(word in ("-p", "-l") for word in words[1:at])
    return [Inner(key, script=words[at])] if handled else []


def _ssh(key: str, words: list[str], stdin: str) -> list[Inner]:
    at = options_end(words, 1, programs.VALUE_OPTIONS["ssh"]) + 1  # the host; options may follow it again
    at = options_end(words, at, programs.VALUE_OPTIONS["ssh"])
    return [Inner(key, script=" ".join(words[at:]) or stdin)]


def _code(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return the code that an interpreter runs, or the module of `python -m`."""
    names, letters = programs.CODE_OPTIONS[key], programs.CODE_LETTERS.get(key, "")
    program = base_name(words[0])
    at = 1
    while at < len(words):
        word = words[at]
        joined_code = _code_at(word, names, letters)
        if joined_code is not None:
            code = joined_code or " ".join(words[at + 1 : at + 2])
            return [Inner(f"{program} {word[:2] if joined_code else word}", script=code, kind=key)]
        if word == "-m" and key in ("python", "py", "pypy"):
            module = [name.replace("_", "-") for name in words[at + 1 : at + 2]]  # the name of its program
            return [Inner(f"{program} -m", module + words[at + 2 :])]
        if word[:1] != "-" or word in ("-", "--"):
            break
        at += 1 + (word in ("-W", "-X", "-r", "--require", "--import", "-I"))
    if key == "bun":
        return _runner(key, words, stdin)
    reads = at >= len(words) or words[at] == "-"
    return [Inner(program, script=stdin, kind=key)] if reads else []


def _code_at(word: str, names: str, letters: str) -> str | None:
    """Return the code joined to an option that brings code, "" if it is the next word, None for any other word."""
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


def _lines_fed(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return the lines that a client gets by its standard input: `echo FLUSHALL | redis-cli -h db`."""
    return [Inner(key, [words[0], *line.split()]) for line in stdin.splitlines()[:MAX_ITEMS] if line.strip()]


_RULES: dict[str, Rule] = {
    **dict.fromkeys(programs.PREFIXES, passed_on),
    **dict.fromkeys(programs.SCRIPT_OPTIONS, _scripted),
    **dict.fromkeys(programs.GLOBALS, _runner),
    **dict.fromkeys(programs.FETCHERS, _fetcher),
    **dict.fromkeys(programs.SHELLS, _shell),
    **dict.fromkeys(("find", "fd", "fdfind"), run_by_find),
    **dict.fromkeys(("powershell", "pwsh"), run_by_powershell),
    **dict.fromkeys(programs.CODE_OPTIONS, _code),
    **dict.fromkeys(programs.AWKS, _awk),
    **dict.fromkeys(("redis-cli", "valkey-cli"), _lines_fed),
    "git": _git,
    "nix": _nix,
    "aws": _aws,
    **dict.fromkeys(programs.EDITORS, _editor),
    **dict.fromkeys(programs.LINES, _lines),
    **dict.fromkeys(("iex", "invoke-expression"), run_by_iex),
    **dict.fromkeys(("start-process", "saps", "start"), run_by_start),
    "script": _script,
    "tmux": _tmux,
    "ansible": _ansible,
    "eval": lambda key, words, _: [Inner(key, script=" ".join(words[1:]))],
    "trap": _trap,
    **dict.fromkeys(("at", "batch"), lambda key, _, stdin: [Inner(key, script=stdin)]),
    "ssh": _ssh,
    "xargs": run_by_xargs,
    "parallel": run_by_parallel,
    "cmd": run_by_cmd,
    **dict.fromkeys(("runuser", "flock"), passed_on),
}
