"""What a shell puts in the place of a word before it runs a command: braces, `${IFS}`, the values of a loop, an alias.

Only what stands in the text itself is put in place, and only so much of it: a word that would grow beyond a few dozen
stays as it was written. Quotes are gone by now, so only words that read as paths and options are touched.
"""

from __future__ import annotations

from deia.watch.shell.nodes import options_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_VALUES = 32  # that one word becomes
MOST_WORDS = 400
LONGEST = 400  # characters of a word with braces
_BRACED = frozenset("{},./~*-_:@%+=")
_BLANKS = ("${IFS}", "$IFS$9", "$IFS$1", "$IFS")
_OPERATORS = frozenset(";&|<>()`\n")


def expanded(words: list[str], lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the words with braces, `${IFS}` and the variables of loops put in place."""
    if not any("{" in word or "$" in word for word in words):
        return words
    found: list[str] = []
    for at, word in enumerate(words):
        pieces = _without_blanks(word) if "IFS" in word else [word]
        for piece in pieces:
            values = braced(piece) if "{" in piece and "," in piece else [piece]
            most = 1 if lists and _is_of_option(words, at) else MOST_VALUES
            found += [one for value in values for one in _looped(value, lists)[:most]]
        if len(found) > MOST_WORDS:
            return words
    return found or words


def _is_of_option(words: Sequence[str], at: int) -> bool:
    """Say whether a word may be an option's value with the sub-command behind it: of a loop it is one at a time."""
    return at > 0 and words[at - 1][:1] == "-" and any(word[:1] != "-" for word in words[at + 1 :])


def _without_blanks(word: str) -> list[str]:
    for name in _BLANKS:
        word = word.replace(name, " ")
    return word.split()


def braced(word: str) -> list[str]:
    """Give what `a{b,c}d` stands for, the word itself where the braces are none of a path or an option."""
    if len(word) > LONGEST or not all(char.isalnum() or char in _BRACED for char in word):
        return [word]
    done: list[str] = []
    pending = [word]
    while pending:
        one = pending.pop()
        close = one.find("}")
        begin = one.rfind("{", 0, close) if close >= 0 else -1
        if begin < 0 or "," not in one[begin:close]:
            done.append(one)
        else:
            pending += [one[:begin] + part + one[close + 1 :] for part in one[begin + 1 : close].split(",")]
        if len(done) + len(pending) > MOST_VALUES:
            return [word]
    return list(dict.fromkeys(one for one in reversed(done) if one)) or [word]


def _looped(word: str, lists: Mapping[str, Sequence[str]]) -> Sequence[str]:
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
    """Give the variable of a `for name in a b`, or of a `read name`, and its values; "" where there is none.

    What is read is known to nobody here: `{}` stands for it, as for what find and xargs put in place.
    """
    if words[0] in {"for", "select"}:
        if len(words) > 3 and words[2] == "in" and len(words) < MOST_VALUES:
            return words[1], tuple(words[3:])
        return "", ()
    at = options_end(list(words), 1, "-d -u -n -t -N -a -i -p")
    asked = any(word.startswith("-p") for word in words[1:at])  # of a person
    return ("", ()) if asked or at >= len(words) else (words[-1], ("{}",))


def unaliased(words: list[str], meaning: str) -> list[str]:
    """Give the words of a command whose program is an alias; empty where the alias is more than one command."""
    return [] if _OPERATORS.intersection(meaning) else [*meaning.split(), *words[1:]]


def lowered(words: list[str]) -> list[str]:
    """Give the words of a command in capitals (`GIT RESET --HARD`) as they are meant where case does not count."""
    return [words[0], *(word.lower() if word.isupper() and len(word.lstrip("-")) > 1 else word for word in words[1:])]
