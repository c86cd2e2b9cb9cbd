"""Make labelled sets from manual pages and docstrings installed on this machine, for training the verdict of a search.

    python tools/installed_sets.py TARGET [--python PACKAGE…] [--manuals NAME=SECTIONS:PATTERN…]

The NAME line of a manual page summarises the rest of the page; so does the first line of a docstring. That line becomes
a question, clean and misspelt, and the rest a document, in the layout of BEIR: `TARGET/NAME/corpus.jsonl`,
`queries.jsonl`, `queries.typo.jsonl`, `qrels.tsv`. Such questions are easier than what people ask. They provide many
subjects, because the features that show whether a question belongs must not depend on a few of them. Nothing of the
texts is shipped. Refuses to import packages that are not named.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import inspect
import json
import pkgutil
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

    Row = dict[str, str]

MANUALS = Path("/usr/share/man")
MOST = 150  # documents of a set
LONGEST = 1800  # characters of a document
SHORTEST = 200
FEWEST_WORDS, MOST_WORDS = 3, 25  # of a question
TEXT_MACROS = {"B", "BR", "I", "IR", "RB", "BI", "SM", "Nm", "Nd", "Fl", "Ar", "IP", "TP"}
HEADINGS = {"SH", "SS", "Sh", "Ss"}
NAME_LINE = re.compile(r"# \"?NAME\"?\s*\n(.*?)\n# ", re.DOTALL | re.IGNORECASE)
ESCAPES = re.compile(r"\\f(?:\(..|\[[^]]*]|.)|\\s[-+]?\d|\\\(..|\\\[[^]]*]|\\.")


class Page(NamedTuple):
    """A name with its description, in one line and at length."""

    name: str
    line: str
    text: str


def read_page(path: Path) -> Page | None:
    """Read a manual page; None if it is only a reference to another, or its NAME line is empty."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = "\n".join(filter(None, map(_plain, raw.decode("utf-8", "replace").split("\n"))))
    found = NAME_LINE.search(text)
    name, _, line = " ".join(found[1].split()).partition(" - ") if found else ("", "", "")
    return Page(name.split(",")[0], line, text[found.end() - 2 :]) if found and line else None


def _plain(line: str) -> str:
    """Return a line of a manual page's source without its markup."""
    if line.startswith((".", "'")):
        macro, _, rest = line[1:].partition(" ")
        if macro not in TEXT_MACROS | HEADINGS:
            return ""
        line = f"\n# {rest}\n" if macro in HEADINGS else rest.replace('"', "")
    return ESCAPES.sub("", line.replace("\\-", "-").replace("\\(aq", "'"))


def manuals(sections: str, pattern: str) -> Iterator[Page]:
    """Yield the manual pages of some sections whose file name begins as the pattern says."""
    for section in sections:
        for path in sorted((MANUALS / f"man{section}").iterdir()):
            if re.match(pattern, path.name) and path.is_file() and (page := read_page(path)):
                yield page


def docstrings(package: str) -> Iterator[Page]:
    """Yield what the public functions, classes and methods of a package and its modules say about themselves."""
    for module in _modules(package):
        for name, found in sorted(vars(module).items()):
            if not name.startswith("_") and getattr(found, "__module__", "").startswith(package):
                yield from _documented(name, found)


def _modules(package: str) -> Iterator[ModuleType]:
    top = importlib.import_module(package)
    yield top
    for each in pkgutil.iter_modules(getattr(top, "__path__", []), f"{package}."):
        if not each.name.rpartition(".")[2].startswith("_") and "test" not in each.name:
            try:
                yield importlib.import_module(each.name)
            except ImportError:  # what it needs is not installed
                continue


def _documented(name: str, found: object) -> Iterator[Page]:
    inside = vars(found) if inspect.isclass(found) else {}
    methods = ((f"{name}.{each}", method) for each, method in inside.items() if not each.startswith("_"))
    for called, each in ((name, found), *methods):
        if inspect.isclass(each) or inspect.isroutine(each):
            line, _, text = (inspect.getdoc(each) or "").partition("\n\n")
            yield Page(called, " ".join(line.split()).rstrip("."), text)


def misspelt(text: str, chance: random.Random) -> str:
    """Misspell one word in four: a letter lost, doubled, or swapped with the next."""
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    for at in chance.sample(long, min(len(long), 1 + len(long) // 4)):
        word, here = words[at], chance.randrange(1, len(words[at]) - 1)
        swapped = word[:here] + word[here + 1] + word[here] + word[here + 2 :]
        words[at] = chance.choice([word[:here] + word[here + 1 :], word[:here] + word[here:][0] + word[here:], swapped])
    return " ".join(words)


def write_set(folder: Path, pages: Iterable[Page]) -> int:
    """Write a set of some of the pages; return how many."""
    usable = [
        page for page in pages if len(page.text) >= SHORTEST and FEWEST_WORDS <= len(page.line.split()) <= MOST_WORDS
    ]
    kept = list({page.line.casefold(): page for page in usable}.values())
    random.Random(7).shuffle(kept)  # noqa: S311 - the same ones each time
    kept = kept[:MOST]
    texts = [{"_id": f"d{at}", "title": page.name, "text": page.text[:LONGEST]} for at, page in enumerate(kept)]
    clean = [{"_id": f"q{at}", "text": page.line} for at, page in enumerate(kept)]
    write_labelled(folder, texts, clean, [(f"q{at}", f"d{at}", 1) for at in range(len(kept))])
    return len(kept)


def write_asked(folder: Path, title: str, asked: Iterable[tuple[str, str]]) -> int:
    """Write a set of questions with their answers, all of one title; return how many questions.

    An answer whose question is too short to say anything is a document that no question asks for.
    """
    every = list(asked)
    texts = [{"_id": f"d{at}", "title": title, "text": answer} for at, (_, answer) in enumerate(every)]
    clean = [
        {"_id": f"q{at}", "text": question}
        for at, (question, _) in enumerate(every)
        if len(question.split()) >= FEWEST_WORDS
    ]
    write_labelled(folder, texts, clean, [(query["_id"], f"d{query['_id'][1:]}", 1) for query in clean])
    return len(clean)


def write_labelled(
    folder: Path, texts: Iterable[Row], clean: Sequence[Row], judged: Iterable[tuple[str, str, int]]
) -> None:
    """Write a labelled set: its documents, its questions, clean and misspelt, and which document answers which."""
    chance = random.Random(3)  # noqa: S311 - the same ones each time
    wrong = [{**query, "text": misspelt(query["text"], chance)} for query in clean]
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus.jsonl", texts), ("queries.jsonl", clean), ("queries.typo.jsonl", wrong)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    lines = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in judged)
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}", "utf-8")


def main() -> None:
    """Write the sets that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--python", nargs="*", default=[], metavar="PACKAGE")
    parser.add_argument("--manuals", nargs="*", default=[], metavar="NAME=SECTIONS:PATTERN")
    given = parser.parse_args()
    for package in given.python:
        print(f"{package}: {write_set(given.target / package, docstrings(package))} documents")
    for asked in given.manuals:
        name, _, rest = asked.partition("=")
        sections, _, pattern = rest.partition(":")
        print(f"{name}: {write_set(given.target / name, manuals(sections, pattern))} documents")


if __name__ == "__main__":
    main()
