"""The options of `deia search` as a table, `flags.txt`, from which the quick path and the click command are both made.

The quick path parses only ordinary command lines. All others, and all errors, are left to click.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.search.rendering.llm_quotes import LEAST
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, TypeAlias

    Options: TypeAlias = dict[str, Any]  # of `deia search`, by the name of the parameter that each sets

TABLES = Tables(__file__)
HELP = TABLES.pairs("help")
METAVARS = TABLES.pairs("metavar")
CHOICES = TABLES.lists("choices")
LAYERS = CHOICES["--layer"]
MOST_DOCUMENTS = 200  # that a search returns at most (deia.search.pipeline)
MOST_TOKENS = 1_000_000
COMPLETION = "_DEIA_COMPLETE"  # the environment variable with which a shell asks click for completions


class Flag(Record):
    """An option that takes a value, or that stands for one of another option."""

    name: str
    help: str
    metavar: str = "TEXT"
    choices: tuple[str, ...] = ()
    most: int = 0  # the largest integer; 0 if the value is a text
    least: int = 1  # the smallest integer
    repeated: bool = False
    means: tuple[str, str] = ("", "")  # the parameter that it sets, and to what; such an option takes no value

    @property
    def field(self) -> str:
        """The name of the parameter of `search` that the option sets."""
        return {"--keyword": "keywords", "--format": "form"}.get(self.name, self.name[2:].replace("-", "_"))


COMMONS = Flag(name="--commons", help="The folder of the commons to use.", metavar="FOLDER")
REPEATED = ("--keyword", "--skip")
NUMBERS = {"--limit": (1, MOST_DOCUMENTS), "--budget": (LEAST, MOST_TOKENS)}
SEARCH = (
    *(
        Flag(
            name=name, help=about, metavar=METAVARS.get(name, "TEXT"), choices=CHOICES.get(name, ()),
            least=NUMBERS.get(name, (1, 0))[0], most=NUMBERS.get(name, (1, 0))[1], repeated=name in REPEATED,
            means=("form", "json") if name == "--json" else ("", ""),
        )
        for name, about in HELP.items()
    ),
    COMMONS,
)  # fmt: skip


NAMES = frozenset(flag.name for flag in SEARCH)


def is_word(argument: str, names: Collection[str]) -> bool:
    """Return whether an argument with a dash is no option: a number below zero, or words that begin with no option.

    An option, one of the `names`, with its value in one argument is a mistake, and no question.
    """
    begin, has_space, _ = argument.partition("=")[0].partition(" ")
    return argument[1:2].isdigit() or (bool(has_space) and begin not in names)


def read_search(arguments: Sequence[str]) -> Options | None:
    """Return the options of an ordinary `deia [--commons FOLDER] search …`, or None for any other command line."""
    options: Options = {}
    words: list[str] = []
    known: Sequence[Flag] = (COMMONS,)  # before the command's name
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        at += 1
        if known is not SEARCH and argument == "search":
            known = SEARCH
        elif argument == "--" and known is SEARCH:
            words += arguments[at:]
            break
        elif known is SEARCH and (not argument.startswith("-") or is_word(argument, NAMES)):
            words.append(argument)
        else:
            name, equals, value = argument.partition("=")
            flag = next((flag for flag in known if flag.name == name), None)
            if flag is None or (not flag.means[0] and not equals and at == len(arguments)):
                return None
            if flag.means[0]:
                value = "=" if equals else ""
            elif not equals:
                value = arguments[at]
                at += 1
            if not _add(flag, value, options):
                return None
    return {**options, "text": " ".join(words)} if known is SEARCH else None


def _add(flag: Flag, value: str, options: Options) -> bool:
    """Add an option's value and return whether it is an ordinary one."""
    if value.startswith("-") or (
        flag.choices and (value not in flag.choices or (flag.field in options and not flag.repeated))
    ):
        return False
    if flag.means[0]:
        name, meant = flag.means
        if value or name in options:
            return False
        options[name] = meant
    elif flag.most:
        if not (value.isascii() and value.isdecimal() and len(value) < 8 and flag.least <= int(value) <= flag.most):
            return False
        options[flag.field] = int(value)
    elif flag.repeated:
        options[flag.field] = (*options.get(flag.field, ()), value)
    else:
        options[flag.field] = value
    return True
