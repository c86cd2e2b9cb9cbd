"""What a shell substitutes in a word before it runs a command: braces, `${IFS}`, the values of a loop, an alias.

Only what the text itself contains is substituted, and only a limited amount: a word that would become more than a few
dozen stays as written. Quotes are gone by now, so only words that read as paths and options are changed.
"""

from __future__ import annotations

from deia.watch.shell.nodes import options_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_VALUES = 32  # that one word may become
MOST_WORDS = 400
LONGEST = 400  # characters of a word with braces
_BRACED = frozenset("{},./~*-_:@%+=")
_BLANKS = ("${IFS}", "$IFS$9", "$IFS$1", "$IFS")
_OPERATORS = frozenset(";&|<>()`\n")


def expanded(words: list[str], lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the words with braces, `${IFS}` and the variables of loops substituted."""
    if not any("{" in word or "$" in word for word in words):
        return words
    result: list[str] = []
    for at, word in enumerate(words):
        pieces = _without_blanks(word) if "IFS" in word else [word]
        for piece in pieces:
            values = braced(piece) if "{" in piece and "," in piece else [piece]
            most = 1 if lists and _is_option_value(words, at) else MOST_VALUES
            result += [substituted for value in values for substituted in _looped(value, lists)[:most]]
        if len(result) > MOST_WORDS:
            return words
    return result or words


def _is_option_value(words: Sequence[str], at: int) -> bool:
    """Return whether a word may be an option's value before the sub-command, where a loop sets one value at a time."""
    return at > 0 and words[at - 1][:1] == "-" and any(word[:1] != "-" for word in words[at + 1 :])


def _without_blanks(word: str) -> list[str]:
    """Return the words into which `${IFS}` splits a word."""
    for name in _BLANKS:
        word = word.replace(name, " ")
    return word.split()


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
