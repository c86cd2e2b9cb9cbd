"""The arguments of a command: which are only data, and what a shell substitutes in them before it runs the command.

Data are a text to print, a message, a pattern to look for. The program's name and the options before an argument
decide, by the tables in `programs`. Substituted are braces, the values of a loop and an alias: only what the
text itself contains, and only a limited amount. Quotes are gone by now, so only words that read as paths and options
are changed, and a word that would become more than a few dozen stays as written.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell import programs
from deia.watch.shell.nodes import options_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NONE: frozenset[int] = frozenset()
_WITH_GLOBALS = {"git": "-C -c --git-dir --work-tree --namespace", "gh": "-R --repo", "docker": "--context -H"}
MOST_VALUES = 32  # that one word may become
MOST_WORDS = 400
LONGEST = 400  # characters of a word with braces
_BRACED = frozenset("{},./~*-_:@%+=")
_OPERATORS = frozenset(";&|<>()`\n")


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


def expanded(words: list[str], lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the words with braces and the variables of loops substituted."""
    if not any("{" in word or "$" in word for word in words):
        return words
    result: list[str] = []
    for at, word in enumerate(words):
        values = braced(word) if "{" in word and "," in word else [word]
        most = 1 if lists and _is_option_value(words, at) else MOST_VALUES
        result += [substituted for value in values for substituted in _looped(value, lists)[:most]]
        if len(result) > MOST_WORDS:
            return words
    return result or words


def _is_option_value(words: Sequence[str], at: int) -> bool:
    """Return whether a word may be an option's value before the sub-command, where a loop sets one value at a time."""
    return at > 0 and words[at - 1][:1] == "-" and any(word[:1] != "-" for word in words[at + 1 :])


def braced(word: str) -> list[str]:
    """Return what `a{b,c}d` expands to; the word itself if it is no path or option."""
    if len(word) > LONGEST or not all(char.isalnum() or char in _BRACED for char in word):
        return [word]
    done: list[str] = []
    pending = [word]
    while pending:
        candidate = pending.pop()
        close = candidate.find("}")
        begin = candidate.rfind("{", 0, close) if close >= 0 else -1
        if begin < 0 or "," not in candidate[begin:close]:
            done.append(candidate)
        else:
            pending += [
                candidate[:begin] + part + candidate[close + 1 :] for part in candidate[begin + 1 : close].split(",")
            ]
        if len(done) + len(pending) > MOST_VALUES:
            return [word]
    return list(dict.fromkeys(candidate for candidate in reversed(done) if candidate)) or [word]


def _looped(word: str, lists: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the word with each value of a loop's variable substituted; the word itself without one."""
    if "$" not in word or not lists:
        return (word,)
    for name, values in lists.items():
        for written in ("${" + name + "}", "$" + name):
            at = word.find(written)
            end = at + len(written)
            if at >= 0 and (written[-1] == "}" or not (word[end : end + 1].isalnum() or word[end : end + 1] == "_")):
                return [word[:at] + value + word[end:] for value in values]
    return (word,)


def loop_values(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the variable of a `for name in a b`, or of a `read name`, and its values; "" if there is none.

    What `read` reads is unknown: `{}` stands for it, as for the items of find and xargs.
    """
    if words[0] in {"for", "select"}:
        if len(words) > 3 and words[2] == "in" and len(words) < MOST_VALUES:
            return words[1], tuple(words[3:])
        return "", ()
    at = options_end(list(words), 1, "-d -u -n -t -N -a -i -p")
    prompts = any(word.startswith("-p") for word in words[1:at])  # a person types the value
    return ("", ()) if prompts or at >= len(words) else (words[-1], ("{}",))


def unaliased(words: list[str], meaning: str) -> list[str]:
    """Return the words of a command whose program is an alias; empty if the alias is more than one command."""
    return [] if _OPERATORS.intersection(meaning) else [*meaning.split(), *words[1:]]


def lowered(words: list[str]) -> list[str]:
    """Return the words of a command in capitals (`GIT RESET --HARD`) in lower case, except for single letters."""
    return [words[0], *(word.lower() if word.isupper() and len(word.lstrip("-")) > 1 else word for word in words[1:])]
