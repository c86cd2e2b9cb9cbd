"""What git makes of its command line: settings and aliases given on it, programs it runs, options with a value.

Read from the words and the environment of one command alone; a repository's own configuration is not looked at.
"""

from __future__ import annotations

from deia.watch.shell.nodes import options_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GLOBALS = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
# By sub-command: the options whose value is the next word (git's own documentation of each command).
VALUES = {
    "checkout": "-b -B --orphan --conflict -U --unified --inter-hunk-context --pathspec-from-file",
    "restore": "-s --source --conflict -U --unified --inter-hunk-context --pathspec-from-file",
    "switch": "-c -C --create --force-create --orphan --conflict",
    "reset": "--pathspec-from-file",
    "rm": "--pathspec-from-file",
    "push": "-o --push-option --repo --receive-pack",
    "clean": "-e --exclude",
    "branch": "-u --set-upstream-to --format --sort",
    "commit": "-C -c -F -t --author --date --file --template --fixup --squash --reuse-message",
    "rebase": "--onto -s --strategy -X --strategy-option -C --whitespace",
}
# By program or sub-command: what the short options are called when they are written out.
LONG_NAMES = {
    "rm": "r=recursive R=recursive f=force d=dir i=interactive",
    "chmod": "R=recursive", "chown": "R=recursive", "chgrp": "R=recursive", "cp": "r=recursive R=recursive f=force",
    "git checkout": "f=force p=patch m=merge d=detach t=track",
    "git switch": "f=force d=detach m=merge t=track",
    "git restore": "p=patch S=staged W=worktree s=source m=merge",
    "git clean": "f=force n=dry-run i=interactive",
    "git push": "f=force n=dry-run d=delete",
    "git branch": "d=delete f=force",
    "git rm": "f=force n=dry-run",
    "git tag": "d=delete f=force l=list",
    "git commit": "n=no-verify",
    "git worktree": "f=force",
}  # fmt: skip
CONNECTING = frozenset(("fetch", "pull", "push", "clone", "ls-remote", "archive", "remote", "submodule"))
TRANSPORTS = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "core.sshcommand")
PROGRAMS = ("GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL", "GIT_PAGER", "PAGER", "GIT_EXTERNAL_DIFF",
            "core.editor", "sequence.editor", "core.pager", "diff.external", "core.fsmonitor")  # fmt: skip
MOST_SETTINGS = 64


def settings_of(words: Sequence[str], environment: Sequence[str]) -> list[str]:
    """Give the settings, each as `name=value`, that git gets for this command alone: `-c`, and by the environment."""
    found: list[str] = []
    at = 1
    while at < len(words) and words[at][:1] == "-":
        word = words[at]
        if word == "-c":
            found += words[at + 1 : at + 2]
        elif word.startswith("-c"):
            found.append(word[2:])
        at += 1 + _brings(word)
    given = dict(one.partition("=")[::2] for one in environment if one.startswith("GIT_CONFIG_"))
    for number in range(min(len(given), MOST_SETTINGS)):
        name = given.get(f"GIT_CONFIG_KEY_{number}")
        if name is not None:
            found.append(f"{name}={given.get(f'GIT_CONFIG_VALUE_{number}', '')}")
    quoted = given.get("GIT_CONFIG_PARAMETERS", "").split("'")
    found += [part for part in quoted if "=" in part.strip("=")]
    return [one for one in found[:MOST_SETTINGS] if "=" in one]


def unaliased_git(words: list[str], settings: Sequence[str]) -> list[str]:
    """Give the words with an alias of these settings spelt out; `["!", script]` where it is a shell command."""
    at = options_end(list(words), 1, GLOBALS)
    if at >= len(words):
        return words
    wanted = f"alias.{words[at]}=".lower()
    meant = next((one[len(wanted) :] for one in settings if one.lower().startswith(wanted)), "")
    if meant.startswith("!"):
        return ["!", " ".join((meant[1:], *words[at + 1 :]))]
    return [*words[:at], *meant.split(), *words[at + 1 :]] if meant.split() else words


def programs_run(words: Sequence[str], environment: Sequence[str]) -> list[str]:
    """Give the command lines that settings or environment make git run: editors, pagers, and what it connects with."""
    at = options_end(list(words), 1, GLOBALS)
    names = PROGRAMS if "".join(words[at : at + 1]) not in CONNECTING else (*PROGRAMS, *TRANSPORTS)
    found = []
    for one in environment:
        name, _, value = one.partition("=")
        if value and (name in names or name.lower() in names):
            found.append(value)
    return found


def _brings(word: str) -> bool:
    return word[:1] == "-" and f" {word} " in f" {GLOBALS} "


def without_values(arguments: list[str]) -> list[str]:
    """Give git's arguments without the values of options, so that a value is taken for no option and no path."""
    at = options_end(["git", *arguments], 1, GLOBALS) - 1
    if at >= len(arguments):
        return arguments
    takes = f" {VALUES.get(arguments[at], '')} "
    kept = [word for word in arguments[:at] if word != "--"] + arguments[at : at + 1]
    at += 1
    while at < len(arguments):
        word = arguments[at]
        kept.append(word)
        if word == "--":
            return [*kept, *arguments[at + 1 :]]
        at += 2 if f" {word} " in takes else 1
    return kept


def same_options(program: str, arguments: Sequence[str]) -> dict[str, str]:
    """Give the long name of each short option of a program (of its sub-command, for git), as its manual has them."""
    key = program.lower()
    if key == "git":
        at = options_end(["git", *arguments], 1, GLOBALS) - 1
        key = f"git {arguments[at]}" if at < len(arguments) else key
    return {f"-{short}": f"--{long}" for short, _, long in map(_halves, LONG_NAMES.get(key, "").split())}


def _halves(pair: str) -> tuple[str, str, str]:
    return pair.partition("=")
