"""Make labelled sets of lists of frequently asked questions: what people asked, and who answered it at length.

    python tools/faq_sets.py TARGET [--root FOLDER]

FOLDER, / by default, is where Debian's packages perl-doc, python3-doc and debian-faq lie, installed or unpacked. Each
answer becomes a document, with the name of the subject for a title and without its question. The sets have the layout
of those by tools/installed_sets.py. Nothing of the texts is shipped.
"""

from __future__ import annotations

import argparse
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installed_sets import write_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORTEST = 150  # characters of an answer
POD_CODE = re.compile(r"[A-Z]<<? ?(?:[^<>|]*\|)?([^<>]*?) ?>>?")
POD_COMMAND = re.compile(r"\n=(?:over|back|item|cut|for|begin|end)[^\n]*")
ROLE = re.compile(r":\w+:`~?!?([^`<]*)[^`]*`")
HTML_QUESTION = re.compile(r"<h2[^>]*>(.*?)</h2>(.*?)(?=<h2|<h1|</body|<div class=\"footer)", re.DOTALL)


class Asked(NamedTuple):
    """A question with its answer."""

    question: str
    answer: str


def perl(root: Path) -> Iterator[Asked]:
    """Yield the questions of perlfaq1 to perlfaq9."""
    for path in sorted(root.glob("usr/share/perl/*/pod/perlfaq[1-9].pod")):
        for part in path.read_text("utf-8", "replace").split("\n=head2 ")[1:]:
            question, _, answer = part.partition("\n")
            plain = POD_CODE.sub(r"\1", answer.partition("\n=head1")[0])
            yield Asked(POD_CODE.sub(r"\1", question), POD_COMMAND.sub("\n", plain))


def python(root: Path) -> Iterator[Asked]:
    """Yield the questions of Python's documentation: lines that are underlined with hyphens."""
    for path in sorted(root.glob("usr/share/doc/python3*/html/_sources/faq/*.rst.txt")):
        chapters = re.split(r"\n[^\n]+\n[=*]{4,}\n", path.read_text("utf-8", "replace"))
        for chapter in chapters:
            parts = re.split(r"\n([^\n]+)\n-{4,}\n", chapter)
            for question, answer in zip(parts[1::2], parts[2::2], strict=True):
                yield Asked(ROLE.sub(r"`\1`", question), ROLE.sub(r"`\1`", answer))


def debian(root: Path) -> Iterator[Asked]:
    """Yield the questions of the Debian FAQ."""
    for path in sorted(root.glob("usr/share/doc/debian/FAQ/*.en.html")):
        for question, answer in HTML_QUESTION.findall(path.read_text("utf-8", "replace")):
            numbered = _without_tags(question).replace("¶", "")
            yield Asked(re.sub(r"^[\d. ]+", "", numbered), _without_tags(answer.replace("</p>", "\n\n")))


def _without_tags(marked: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", marked))


FAQS: dict[str, Callable[[Path], Iterator[Asked]]] = {"perl": perl, "python": python, "debian": debian}


def write_set(name: str, target: Path, root: Path) -> int:
    """Write the set of one list; return how many questions it has."""
    every = {each.question: each.answer.strip() for each in FAQS[name](root) if len(each.answer.strip()) >= SHORTEST}
    return write_asked(target, name, ((" ".join(question.split()), answer) for question, answer in every.items()))


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--root", type=Path, default=Path("/"))
    given = parser.parse_args()
    for name in FAQS:
        print(f"{name}faq: {write_set(name, given.target / f'{name}faq', given.root)} questions")


if __name__ == "__main__":
    main()
