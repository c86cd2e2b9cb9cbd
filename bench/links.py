"""Whether links between pages bring both ends of a two-hop question among the first five documents.

    python bench/links.py --docs FOLDER [--questions 250] [--seed 11] [--kept FOLDER]

FOLDER is the HTML of a documentation with references across its pages, such as `library/` of CPython's. Questions are
made mechanically of its links:

    reference  a sentence of a page that refers to a name, without that name; wanted are that page and the one that
               defines the name
    described  a name, and the beginning of how something is described that its entry refers to; wanted are both pages
    imported   (with --code, a folder of Python, such as the standard library's) a module, and how something is
               described that a module defines which it imports; wanted are both modules
    called     (likewise) a function or class, and how something that calls it is described; wanted are both files
    inherited  (likewise) a class, and how another class that it inherits is described; wanted are both files
    caller     (likewise) how something is described, and how something that calls it is; wanted are both files
    single     (likewise) how something is described, without its name; wanted is its file, and no link helps

Each is asked with and without links. Those of seeds 1 to 8 were in view when the weights in `search/ranking/links.py`
were chosen.
"""

from __future__ import annotations

import argparse
import bisect
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.search.catalog import Catalog

    Question = tuple[str, frozenset[str]]

DEPTH = 5
TRIED = ("reference", "described", "imported", "called", "inherited", "caller", "single")
REFERENCES = """select source.name, refs.line, refs.target, page.name, first from relations
    join refs on refs.id = ref join documents source on source.id = refs.document
    join places on places.entity = relations.target join documents page on page.id = places.document
    where page.id != source.id and relations.type = 'LINKS_TO' order by 1, 2, 3, 4"""
IMPORTED = """select source.name, others.name, entities.description from relations
    join refs on refs.id = ref join documents source on source.id = refs.document
    join documents others on others.entity = relations.target join entities on entities.document = others.id
    where relations.type = 'IMPORTS' and source.id != others.id and entities.description != ''
    and entities.type in ('FUNCTION', 'CLASS') order by 1, 2, 3"""
NEXT_TO = """select source.name, target.name, a.name, b.name, a.description, b.description from relations
    join entities a on a.id = relations.source join documents source on source.id = a.document
    join entities b on b.id = relations.target join documents target on target.id = b.document
    where relations.type = ? and source.id != target.id and b.type != 'MODULE' order by 1, 2, 3, 4"""
DESCRIBED = """select documents.name, entities.name, description from entities
    join documents on documents.id = document where description != '' and type in ('FUNCTION', 'CLASS') order by 1, 2"""
UNUSED = ("test/**", "tests/**", "site-packages/**", "idlelib/**", "lib2to3/**")
QUALIFIED = re.compile(r"\w+(\.\w+)+")


class Asked:
    """The library with its graph, and the texts of its documents."""

    def __init__(self, folder: Path, docs: Path, code: Path | None) -> None:
        os.environ.update(HOME=str(folder / "home"), DEIA_TRUST=str(folder / "commons"))
        from deia.commons.write.init import create_commons  # noqa: PLC0415 - after HOME is set
        from deia.compile.compiled_files import CompiledFiles  # noqa: PLC0415 - likewise
        from deia.compile.take_in import take_in  # noqa: PLC0415 - likewise
        from deia.ingest.library_store import library_at  # noqa: PLC0415 - likewise
        from deia.ingest.source import Source  # noqa: PLC0415 - likewise

        root = str(folder / "commons")
        if not os.path.isdir(root):
            create_commons(root, today="2026-01-01")
        sources = [
            Source(kind="folder", place=str(docs), name="docs", filter=("*.html",)),
        ]
        if code is not None:
            sources.append(Source(kind="folder", place=str(code), name="code", filter=("*.py",), exclude=UNUSED))
        take_in(root, sources, os.environ)
        compiled = CompiledFiles(root, environ=os.environ, collections=(), keep_fresh=True)
        catalog = compiled.open_library()
        library = library_at(root, os.environ)
        if catalog is None or catalog.links is None or library is None:
            raise SystemExit("nothing was taken in")
        self.catalog: Catalog = catalog
        self.database = catalog.links
        with library:
            kept = {shelved.id: library.kept(shelved.content) for shelved in library.documents()}
        self.lines = {name: one.text.split("\n") for name, one in kept.items()}
        self.names = {
            name: sorted((line, anchor) for anchor, line in one.anchors if QUALIFIED.fullmatch(anchor))
            for name, one in kept.items()
        }


def references(asked: Asked, chosen: random.Random) -> list[tuple[str, int, str, str, int]]:
    """Return every link to a qualified name on another page, in random order: page, line, name, page, line."""
    rows = [
        (page, line, target.rpartition("#")[2], other, first)
        for page, line, target, other, first in asked.database.execute(REFERENCES)
        if QUALIFIED.fullmatch(target.rpartition("#")[2])
    ]
    chosen.shuffle(rows)
    return rows


def reference_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield sentences from which the name that they refer to is taken out."""
    seen = set()
    for page, line, name, other, _ in references(asked, chosen):
        last = re.escape(name.rpartition(".")[2])
        sentences = re.split(r"(?<=[.;:]) ", asked.lines[page][line - 1])
        sentence = next((one for one in sentences if re.search(rf"\b{last}\b", one)), "")
        if 7 < len(sentence.split()) < 40 and (page, line) not in seen:
            seen.add((page, line))
            yield re.sub(rf"[\w.]*\b{last}\b(\(\))?", "", sentence), frozenset((page, other))


def described_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield a name with the beginning of the description of what its entry refers to."""
    seen = set()
    for page, line, name, other, first in references(asked, chosen):
        at = bisect.bisect_right(asked.names[page], (line, "~")) - 1
        subject = asked.names[page][at][1] if at >= 0 else ""
        below = asked.lines[other][first : first + 6]
        text = next((one for one in below if len(one.split()) > 6 and one[0] not in "|`"), "").split(". ")[0]
        told = [word for word in re.findall(r"[A-Za-z]+", text) if word.lower() not in name.lower().split(".")][:9]
        if subject and len(told) > 5 and (subject, name) not in seen:
            seen.add((subject, name))
            yield f"{subject}: what it refers to that {' '.join(told)}", frozenset((page, other))


def imported_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield a module with the description of something in a module that it imports, without the names of that one."""
    rows = asked.database.execute(IMPORTED).fetchall()
    chosen.shuffle(rows)
    seen = set()
    for source, other, description in rows:
        name, inner = (re.sub(r"^[^/]*/|(/__init__)?\.py$", "", each).replace("/", ".") for each in (source, other))
        told = [word for word in re.findall(r"[A-Za-z]+", description) if word.lower() not in inner.lower()][:10]
        if len(told) > 5 and (source, other) not in seen:
            seen.add((source, other))
            yield f"what {name} imports to {' '.join(told)}", frozenset((source, other))


def called_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield a function or class, with the description of what calls it."""
    rows = asked.database.execute(NEXT_TO, ("CALLS",)).fetchall()
    for source, target, caller, callee, description, _ in chosen.sample(rows, len(rows)):
        if told := told_of(description, caller, callee):
            yield f"what calls {callee} to {told}", frozenset((source, target))


def inherited_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield a class, with the description of what it inherits."""
    rows = asked.database.execute(NEXT_TO, ("INHERITS",)).fetchall()
    for source, target, child, parent, _, description in chosen.sample(rows, len(rows)):
        if told := told_of(description, child, parent):
            yield f"what {child} inherits to {told}", frozenset((source, target))


def caller_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield the descriptions of something and of what calls it, without names."""
    rows = asked.database.execute(NEXT_TO, ("CALLS",)).fetchall()
    for source, target, caller, callee, calling, called in chosen.sample(rows, len(rows)):
        if (first := told_of(calling, caller, callee)) and (second := told_of(called, caller, callee)):
            yield f"{first} with what will {second}", frozenset((source, target))


def single_questions(asked: Asked, chosen: random.Random) -> Iterator[Question]:
    """Yield the description of a function or class."""
    rows = asked.database.execute(DESCRIBED).fetchall()
    for source, name, description in chosen.sample(rows, len(rows)):
        if told := told_of(description, name, ""):
            yield told, frozenset((source,))


def told_of(description: str, *names: str) -> str:
    """Return the beginning of a description without the names of what it is about, "" if that says too little."""
    known = {part.casefold() for name in names for part in name.split(".")}
    told = [word for word in re.findall(r"[A-Za-z_.]*[A-Za-z]", description) if word.casefold() not in known][:10]
    return " ".join(told) if len(told) > 5 else ""


def recall(asked: Asked, questions: list[Question], *, links: bool) -> tuple[float, float, float]:
    """Return the recall among the first documents, the share of questions with both, and milliseconds a question."""
    from deia.knowledge import Query  # noqa: PLC0415 - after HOME is set
    from deia.search.pipeline import find_candidates  # noqa: PLC0415 - likewise
    from deia.search.question.interpret import interpret  # noqa: PLC0415 - likewise
    from deia.search.question.terms import read_question  # noqa: PLC0415 - likewise
    from deia.search.ranking.retrieve import choose_tier  # noqa: PLC0415 - likewise

    asked.catalog.links = asked.database if links else None
    total = whole = 0.0
    began = time.process_time()
    for text, wanted in questions:
        interpretation = interpret(asked.catalog, Query(text=text))
        question = read_question(interpretation.query.text, asked.catalog, strong=interpretation.strong)
        found = find_candidates(
            asked.catalog, question, interpretation.query.but(limit=4 * DEPTH),
            meaning=choose_tier(asked.catalog, tiers=("static",)), filters=interpretation.filters,
        )  # fmt: skip
        first = list(dict.fromkeys(document.entry.id for document in found.documents))[:DEPTH]
        total += len(wanted & set(first)) / len(wanted)
        whole += wanted <= set(first)
    count = len(questions) or 1
    return total / count, whole / count, (time.process_time() - began) * 1000 / count


def main() -> int:
    """Print a line for each kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, required=True)
    parser.add_argument("--code", type=Path)
    parser.add_argument("--questions", type=int, default=250)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--kept", type=Path)
    options = parser.parse_args()
    asked = Asked(options.kept or Path(tempfile.mkdtemp()), options.docs, options.code)
    for kind in TRIED:
        made = globals()[f"{kind}_questions"](asked, random.Random(options.seed))
        questions = [question for question, _ in zip(made, range(options.questions), strict=False)]
        (without, both, ms), (with_links, both_linked, linked_ms) = (
            recall(asked, questions, links=links) for links in (False, True)
        )
        print(
            f"{kind:10} {len(questions):4} questions  recall@{DEPTH} {without:.3f} -> {with_links:.3f}"
            f" ({with_links / (without or 1):.2f} x)  both found {both:.3f} -> {both_linked:.3f}"
            f"  {ms:.1f} -> {linked_ms:.1f} ms"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
