"""Commands inside a sentence, without quotes: "let me run git push --force now", "I'll just npm publish".

A command begins right after a word that introduces one, and ends with the sentence or at a word that is unlikely in a
command line. After anything but a verb of running, the program must have a name that is not an English word, or an
option must follow it.
"""

from __future__ import annotations

from itertools import pairwise

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.prose.intent import RUNS
from deia.watch.prose.regions import BREAK, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TABLES = Tables(__file__)
LEADS = frozenset("ll me to please just gonna will do doing a the then and now".split())
LEADING = LEADS | RUNS
NAMES = TABLES.words("names")
ENDS = TABLES.words("ends")
SENTENCE_ENDS = frozenset(".!?\n:;")
GOING_ON = frozenset("and then so to first now please again before after since because instead but pls with".split())
STRIPPED = ".,;:!?)'\""
INTRODUCING = frozenset("this that these the following command commands line one it in terminal".split())
LONGEST_INTRODUCTION = 40  # characters
MOST = 50  # commands of a turn
LONGEST = 300  # characters of a command


def inline_commands(text: str, tokens: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield each command in a sentence, with the start and end of the verb whose stance counts for it.

    `text` is prose with its quotations masked; `tokens` are its words with their positions.
    """
    count = last = 0
    for (word, start, end), (following, begin, _) in pairwise(tokens):
        runs = word in RUNS
        # Also in a language without a word table: "\u0437\u0430\u043f\u0443\u0449\u0443 terraform destroy".
        by_verb = runs or (not word.isascii() and following in NAMES)
        if begin < last or not (by_verb or word in LEADS) or following in LEADING or following == BREAK:
            continue
        first = (_introduced(text, end) if runs else 0) or begin  # "run this: rm -rf build"
        if first == begin and text[end:first].strip(" '\u2019"):
            continue
        command = _from(text, first)
        if command and (runs or _is_technical(command)):
            count, last = count + 1, first + len(command)
            yield command, (start if by_verb else first), (end if by_verb else first + len(following))
            if count >= MOST:
                return


def opening_commands(text: str, tokens: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Yield each command that begins a sentence which goes on in words: "rm -rf build, then try again"."""
    end = count = 0
    for word, start, after in tokens:
        opens = not end or not SENTENCE_ENDS.isdisjoint(text[end:start])
        end = after
        if not opens or word == BREAK or text[start:after] != word:
            continue
        command = _from(text, start)
        if command and _is_technical(command) and _goes_on(text, start, start + len(command)):
            count += 1
            yield command
            if count >= MOST:
                return


def _goes_on(text: str, start: int, end: int) -> bool:
    """Return whether the rest of the sentence leaves a command an order: it makes no statement and asks nothing."""
    _, last = sentence(text, start, start)
    rest = text[end:last].strip()
    if rest.endswith("?"):
        return False
    return rest[:1] in {"", ",", ".", ";"} or rest.split(" ")[0].strip(",.") in GOING_ON


def _introduced(text: str, end: int) -> int:
    """Return where the command begins after "run this: ", or 0."""
    introduction, colon, rest = text[end : end + LONGEST_INTRODUCTION].partition(":")
    if not colon or rest[:1] != " " or not INTRODUCING.issuperset(introduction.split()):
        return 0
    return end + len(introduction) + 1 + len(rest) - len(rest.lstrip(" "))


def _from(text: str, first: int) -> str:
    """Return the possible command line at `first`, up to the sentence's end, a comma or a word of `ENDS`, or ""."""
    _, last = sentence(text, first, first)
    kept: list[str] = []
    for word in text[first : min(last, first + LONGEST)].split(" "):
        bare = word.strip()
        bare = bare.rstrip(STRIPPED.replace(")", "") if "(" in " ".join((*kept, bare)) else STRIPPED)
        if not bare or bare.lower() in ENDS or not bare.isascii():
            break
        kept.append(bare)
        if len(bare) < len(word.strip()):
            break
    return " ".join(kept) if len(kept) > 1 and kept[0] == kept[0].lower() else ""


def _is_technical(command: str) -> bool:
    program, *arguments = command.split(" ")
    return program in NAMES or any(word[:1] == "-" and word[1:2] not in {"", " "} for word in arguments)
