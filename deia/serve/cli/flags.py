"""The options of `deia search` as a table, from which the quick path and the click command are both made.

The quick path parses only ordinary command lines. All others, and all errors, are left to click.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.search.rendering.llm_quotes import LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FORMS = ("table", "summary", "full", "markdown", "json", "yaml", "paths")
COLOURS = ("auto", "always", "never")
LAYERS = ("own", "packs", "starter", "library")
TIERS = ("auto", "compact", "static", "keyword")
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
SEARCH = (
    Flag(name="--platform", help="Only documents about this platform; without a question, an overview of them."),
    Flag(name="--audience", help="Only documents for this audience; without a question, an overview of them."),
    Flag(name="--urgency", help="Only documents of this urgency.", choices=("critical", "high", "medium", "low")),
    Flag(name="--cluster", help="Only documents of this cluster."),
    Flag(name="--tag", help="Only documents with this tag."),
    Flag(
        name="--layer",
        help="Only the project's own documents, or those of packs, the starter or the library.",
        choices=LAYERS,
    ),
    Flag(name="--asset-type", help="Only text, code, pdf, image or multimodal, or a type such as markdown or office."),
    Flag(name="--collection", help="Only documents of this collection of the library."),
    Flag(
        name="--since", help="Only documents from this day on: 2026-01-31, 2026, 7d, today, this-month.", metavar="DAY"
    ),
    Flag(name="--until", help="Only documents up to this day.", metavar="DAY"),
    Flag(
        name="--expand-context",
        help="Show the passages beside the one that answers, or the whole that it is a part of.",
        choices=("neighbours", "parent"),
    ),
    Flag(name="--keyword", help="A keyword that must match as a whole word; may be repeated.", repeated=True),
    Flag(name="--limit", help="How many documents to show.", metavar="NUMBER", most=MOST_DOCUMENTS),
    Flag(
        name="--format",
        help="How to show the answer; by default a table in a terminal and a summary otherwise.",
        choices=FORMS,
    ),
    Flag(name="--json", help="Print JSON.", means=("form", "json")),
    Flag(
        name="--budget",
        help="How many tokens --format full may use; by default 3000.",
        metavar="TOKENS",
        most=MOST_TOKENS,
        least=LEAST,
    ),
    Flag(
        name="--tier",
        help="The embedding model to use besides words; by default the best that is compiled.",
        choices=TIERS,
    ),
    Flag(
        name="--color",
        help="Whether the table is in colour; auto decides by the terminal and NO_COLOR.",
        choices=COLOURS,
    ),
    COMMONS,
)


def read_search(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the options of an ordinary `deia [--commons FOLDER] search …`, or None for any other command line."""
    options: dict[str, Any] = {}
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
        elif not argument.startswith("-") and known is SEARCH:
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


def _add(flag: Flag, value: str, options: dict[str, Any]) -> bool:
    """Add an option's value and return whether it is an ordinary one."""
    if value.startswith("-") or (flag.choices and (value not in flag.choices or flag.field in options)):
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
