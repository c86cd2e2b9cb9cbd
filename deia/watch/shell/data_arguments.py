"""Which arguments of a command are only data: text to print, a message, a pattern to look for.

The program's name and the options before an argument decide, by the tables in `programs`. An argument that is not known
to be data is not.
"""

from __future__ import annotations

from deia.watch.shell import programs

_NONE: frozenset[int] = frozenset()
_WITH_GLOBALS = {"git": "-C -c --git-dir --work-tree --namespace", "gh": "-R --repo", "docker": "--context -H"}


def data_arguments(key: str, arguments: list[str]) -> frozenset[int]:
    """Return the indices of the arguments that the program `key` only prints, stores or searches for."""
    if key in programs.TEXT_PROGRAMS:
        return frozenset(range(len(arguments)))
    if key in programs.PATTERN_PROGRAMS:
        return _pattern(key, arguments, 0)
    if key == "find":
        return _texts(arguments, programs.TEXT_OPTIONS[key], joined=False) | _executed(arguments)
    if key in programs.TEXT_OPTIONS:
        return _texts(arguments, programs.TEXT_OPTIONS[key], joined=key == "curl")
    if key in _HAS_SUBCOMMAND:
        return _under_subcommand(key, arguments)
    return _NONE


def _executed(arguments: list[str]) -> frozenset[int]:
    """Return the indices of the words of the commands that `find -exec` runs, which are listed on their own."""
    indices: list[int] = []
    inside = False
    for at, word in enumerate(arguments):
        if inside and (word == ";" or (word == "+" and arguments[at - 1] == "{}")):
            inside = False
        elif inside:
            indices.append(at)
        else:
            inside = word in programs.FIND_RUNS
    return frozenset(indices)


def _under_subcommand(key: str, arguments: list[str]) -> frozenset[int]:
    """Return the indices of the data of a program whose first plain argument is a sub-command."""
    takes = f" {_WITH_GLOBALS.get(key, '')} "
    at = 0
    while at < len(arguments) and arguments[at][:1] == "-":
        at += 1 + (f" {arguments[at]} " in takes)
    if at >= len(arguments):
        return _NONE
    name = f"{key} {arguments[at]}"
    if name in programs.PATTERN_PROGRAMS:
        return _pattern(name, arguments, at + 1)
    if name in programs.TEXT_OPTIONS:
        return _texts(arguments, programs.TEXT_OPTIONS[name], joined=True)
    return _NONE


def _pattern(key: str, arguments: list[str], at: int) -> frozenset[int]:
    """Return the index of the first plain argument, unless an option brings the pattern, and of texts in options."""
    padded, bringing = f" {programs.PATTERN_PROGRAMS[key]} ", f" {programs.PATTERN_OPTIONS.get(key, '')} "
    pending = True
    indices = set(_texts(arguments, programs.PATTERN_TEXTS.get(key, ""), joined=True))
    first = -1
    while at < len(arguments):
        word = arguments[at].lower() if key == "select-string" else arguments[at]
        if word == "--" and first < 0:
            first = at + 1
            break
        if word[:1] != "-" or word == "-":
            first = at if first < 0 else first
        else:
            name = word.partition("=")[0]
            cluster = f"-{word[-1]}" if word[1:2] != "-" and word[1:].isalpha() else name
            pending = pending and f" {name} " not in bringing and (f" {cluster} " not in bringing or "=" in word)
            at += "=" not in word and (f" {word} " in padded or f" {cluster} " in padded)
        at += 1
    if pending and 0 <= first < len(arguments):
        indices.add(first)
    return frozenset(indices)


def _texts(arguments: list[str], names: str, *, joined: bool) -> frozenset[int]:
    """Return the indices of the values of these options: the next word, or the option's own word if joined."""
    padded = f" {names} "
    indices: list[int] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word[:1] == "-":
            if word == "--":
                break
            if f" {word} " in padded or (joined and _ends_in_text(word, padded)):
                at += 1
                indices.append(at)
            elif (word[:2] == "--" and f" {word.partition('=')[0]} " in padded) or (
                joined and word[:2] != "--" and f" {word[:2]} " in padded
            ):
                indices.append(at)
        at += 1
    return frozenset(place for place in indices if place < len(arguments))


def _ends_in_text(word: str, padded: str) -> bool:
    """Return whether an option such as `-am` ends in a letter that takes a text."""
    return word[1:2] != "-" and word[1:].isalpha() and len(word) < 6 and f" -{word[-1]} " in padded


_HAS_SUBCOMMAND = frozenset(
    name.partition(" ")[0] for name in (*programs.TEXT_OPTIONS, *programs.PATTERN_PROGRAMS) if " " in name
)
