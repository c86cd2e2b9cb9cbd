"""Programs that run others: the rest of their words (`sudo`, `env A=b`), items (`xargs`, `find -exec`), on Windows.

An option that the tables do not list takes no value. Items that the text itself contains are substituted. If the input
decides which command runs, and not only on what, `$0` stands for the command.
"""

from __future__ import annotations

from deia.watch.shell.nodes import Inner, base_name, is_assignment, option_value, options_end
from deia.watch.shell.programs import FIND_RUNS, ONE_WORD_FIRST, PREFIXES, SCRIPT_OPTIONS, SHELLS, VALUE_OPTIONS

# Arguments of find that exclude nothing below its starting point, or only folders or only files.
ALL_FOUND = frozenset("-exec -execdir -ok -okdir -depth -mindepth -maxdepth -xdev 0 1 -type f d f,d d,f".split())
RECURSIVELY = {"rm": "-r", "chmod": "-R", "chown": "-R", "chgrp": "-R"}
MAX_ITEMS = 64  # items of a known standard input that are passed on


def key_of(program: str) -> str:
    """Return the name of a program in the tables: lower case, without a version (`python3.11`)."""
    if program in SHELLS:
        return program
    name = program.lower()
    return name.rstrip("0123456789.") or name


def passed_on(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what a program of `PREFIXES` runs."""
    script = option_value(words[:8], SCRIPT_OPTIONS[key]) if key in SCRIPT_OPTIONS else None
    if script is not None:
        return [Inner(f"{key} -c", script=script)]
    at = options_end(words, 1, PREFIXES[key])
    if key == "command" and any("v" in word.lower() for word in words[1:at]):
        return []
    if key == "env":
        split = _split_string(words, at)
        if split:
            return split
        at += words[at : at + 1] == ["-"]
    begin = at = at + (key in ONE_WORD_FIRST)
    while at < len(words) and is_assignment(words[at]):
        at += 1
    environment = tuple(words[begin:at])
    if key == "watch" and at == len(words) - 1 and " " in words[at]:
        return [Inner(key, script=words[at])]
    if at == len(words) and stdin and key in ("sudo", "chroot", "wsl"):
        return []
    return [Inner(key, words[at:], environment=environment)]


def _split_string(words: list[str], end: int) -> list[Inner]:
    """Return what `env -S 'program word'` runs, whose one word is split like a line."""
    for at in range(1, min(end + 1, len(words))):
        word = words[at]
        if word in ("-S", "--split-string"):
            return [Inner("env", script=" ".join(words[at + 1 :]))]
        if word.startswith(("-S", "--split-string=")):
            first = word[2:] if word.startswith("-S") else word.partition("=")[2]
            return [Inner("env", script=" ".join([first, *words[at + 1 :]]))]
    return []


def run_by_xargs(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what xargs runs."""
    at = options_end(words, 1, VALUE_OPTIONS["xargs"])
    mark = _replacement_mark(words[1:at])
    items = stdin.split(None, MAX_ITEMS)[:MAX_ITEMS]
    inner = words[at:]
    if inner and mark and stdin:
        item = stdin.partition("\n")[0].strip()
        inner = [inner[0], *(word.replace(mark, item) if len(word) < len(stdin) + 4096 else word for word in inner[1:])]
    elif inner and not mark:
        inner = inner + items
    return [Inner(key, inner), *_input_runs(key, words[at:], mark or "{}")]


def _input_runs(key: str, template: list[str], mark: str) -> list[Inner]:
    """Return `$0` if the input decides what runs: `xargs sh -c`, `xargs sudo`, `parallel bash -c {}`; else nothing."""
    inner = template
    while inner and key_of(base_name(inner[0])) in PREFIXES:
        peeled = passed_on(key_of(base_name(inner[0])), inner, "")
        inner = peeled[0].words if peeled else []
    bare = bool(template) and (not inner or inner == [mark])
    name = base_name(inner[0]) if inner else ""
    if name in SHELLS:
        at = next((at for at, word in enumerate(inner) if at and word[:1] == "-" and word[-1:] == "c"), len(inner))
        bare = at < len(inner) and "".join(inner[at + 1 : at + 2]).strip() in ("", mark)
    elif name == "find":  # xargs appends items to the tests of find, and one may be -delete
        bare = len(inner) > 2 and inner[-2][:1] == "-" and not any(mark in word for word in inner)
    return [Inner(key, ["$0"])] if bare else []


def _replacement_mark(options: list[str]) -> str:
    """Return the mark that xargs replaces, "" if it appends."""
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


def run_by_parallel(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what GNU parallel runs."""
    at = options_end(words, 1, VALUE_OPTIONS["parallel"])
    if not {"--dry-run", "--dryrun"}.isdisjoint(words[1:at]):
        return []
    cut = next((place for place in range(at, len(words)) if words[place].startswith(":::")), len(words))
    template = words[at:cut]
    items = [word for word in words[cut + 1 :] if not word.startswith(":::")] or stdin.splitlines()
    literal = cut < len(words)
    if not template:
        inner = [] if literal or any(word in ("--version", "--help", "--citation") for word in words) else ["$0"]
        return [Inner(key, script="\n".join(items)), Inner(key, inner)]
    marked = [] if literal else _input_runs(key, template, "{}")
    return [*_with_first_item(key, template, items), *marked]


def _with_first_item(key: str, template: list[str], items: list[str]) -> list[Inner]:
    """Return the command of parallel with its first item substituted."""
    item = items[0] if items else ""
    if len(template) == 1 and " " in template[0]:
        return [Inner(key, script=template[0].replace("{}", item))]
    if any("{}" in word for word in template):
        return [Inner(key, [word.replace("{}", item) if item else word for word in template])]
    return [Inner(key, template + items[:MAX_ITEMS])]


def run_by_find(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `find -exec` and fd run."""
    inners: list[Inner] = []
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if word not in FIND_RUNS or (key == "find" and word not in ("-exec", "-execdir", "-ok", "-okdir")):
            continue
        begin = at
        while at < len(words) and words[at] != ";" and not (words[at] == "+" and words[at - 1] == "{}"):
            at += 1
        inners.append(Inner(f"{key} {word}", _on_starting_point(words, begin, words[begin:at])))
    return inners


def _on_starting_point(words: list[str], begin: int, inner: list[str]) -> list[str]:
    """Return what find runs with its starting point in place of `{}`, if no test excludes anything."""
    # What is done to everything below a folder is done to the folder recursively.
    start = words[1] if len(words) > 1 and words[1][:1] in ("/", "~", "$") else ""
    if not start or not inner or any(word not in ALL_FOUND for word in words[2:begin]):
        return inner
    recursively = RECURSIVELY.get(base_name(inner[0]), "") if not {"-maxdepth", "-mindepth"}.intersection(words) else ""
    filled = [start if word == "{}" else word for word in inner[1:]]
    return [inner[0], *([recursively] if recursively and recursively not in filled else []), *filled]


def run_by_powershell(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what powershell and pwsh run, with base64 decoded."""
    at = 1
    while at < len(words) and words[at][:1] in ("-", "/"):
        option = words[at][1:].lower()
        at += 1
        if option and "command".startswith(option):
            break
        if option in ("e", "ec") or (len(option) > 1 and "encodedcommand".startswith(option)):
            from deia.watch.shell.obfuscation import decoded  # noqa: PLC0415 - hardly any line holds base64

            return [Inner(f"{key} -EncodedCommand", script=decoded("".join(words[at : at + 1])), kind="powershell")]
        if option.startswith("f"):
            return []  # a file
        at += option.startswith(("ex", "ep", "win", "w", "v", "config", "outputf", "inputf", "psc"))
    script = " ".join(words[at:])
    return [Inner(f"{key} -Command", script=stdin if script in ("", "-") else script, kind="powershell")]


def run_by_cmd(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `cmd /c` runs."""
    for at, word in enumerate(words[1:], 1):
        if word.lower() in ("/c", "/k", "//c", "//k", "/r"):
            return [Inner(f"{key} /c", script=" ".join(words[at + 1 :]), kind="cmd")]
    return []


def run_by_iex(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what `Invoke-Expression` runs; the value of an expression in parentheses is unknown."""
    at = 1 + (words[1:2] != [] and words[1].lower() == "-command")
    first = "".join(words[at : at + 1])
    if first[:1] == "(":
        return [Inner(key, ["$" + " ".join(words[at:])])]
    return [Inner(key, script=" ".join(words[at:]) or stdin, kind="powershell")]


def run_by_start(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `Start-Process program -ArgumentList 'x y'` runs, or cmd's `start "" /b program x`."""
    if key == "start":
        rest = [word for word in words[1:] if word and word[:1] != "/"]
        return [Inner(key, rest)]
    line_words = [
        word for word in words[1:] if (word[:1] != "-" or " " in word) and word.lower() not in ("runas", "hidden")
    ]
    return [Inner(key, script=" ".join(line_words), kind="powershell")]
