"""Make labelled sets of manuals in HTML: what a heading promises, and the section below it.

    python tools/section_sets.py TARGET [--root FOLDER]

FOLDER, / by default, is where Debian's documentation packages of SUBJECTS lie, installed or unpacked, each in a folder
of its own or all together. Each section becomes a document, with the name of the subject for a title and without its
heading. The sets have the layout of those by tools/installed_sets.py. Nothing of the texts is shipped.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from installed_sets import FEWEST_WORDS, LONGEST, MOST, write_asked
from static_texts import sections

if TYPE_CHECKING:
    from collections.abc import Iterable

SUBJECTS = {  # of packages, each a pattern of folders below usr/share
    "apache": "doc/apache2-doc/manual/en",
    "bind": "doc/bind9-doc",
    "celery": "doc/python-celery-doc",
    "django": "doc/python-django-doc",
    "erlang": "doc/erlang-doc",
    "llvm": "doc/llvm-15-doc",
    "openstack": "doc/{nova,neutron,cinder,keystone}-doc",
    "postfix": "doc/postfix",
    "scrapy": "doc/python-scrapy-doc",
    "sphinx": "doc/sphinx-doc",
    "sqlalchemy": "doc/python-sqlalchemy-doc",
    "tomcat": "tomcat10-docs/docs",
    "varnish": "doc/varnish",
}
MOST_PAGES = 400  # of a subject
SHORTEST = 350  # characters of a section
MOST_WORDS = 16  # of a heading that says something
CODE = re.compile(r"[(\[]\)?.*[)\]]|::|->|[=_]|^Source code|[^\x00-\x7f]|^Module |^Class ")  # and other languages


def pages(root: Path, folders: str) -> list[Path]:
    """Return some of the pages of a subject, from all over it."""
    inside, _, rest = folders.partition("}")
    before, _, among = inside.rpartition("{")
    names = [before + name + rest for name in among.split(",")]
    places = [place for name in names for place in sorted(root.glob(f"**/usr/share/{name}"))]
    every = [path for place in places for path in sorted((*place.rglob("*.html"), *place.rglob("*.html.en")))]
    return every[:: len(every) // MOST_PAGES + 1]


def write_set(folder: Path, found: Iterable[tuple[str, str]]) -> int:
    """Write a set of some of the sections; return how many."""
    every = list(found)
    times = Counter(heading.casefold() for heading, _ in every)
    kept = [
        (heading, text)
        for heading, text in every
        if times[heading.casefold()] == 1
        and FEWEST_WORDS <= len(heading.split()) <= MOST_WORDS
        and len(text) >= SHORTEST
        and not CODE.search(heading)
    ]
    random.Random(7).shuffle(kept)  # noqa: S311 - the same ones each time
    return write_asked(folder, folder.name, ((heading, text[:LONGEST]) for heading, text in kept[:MOST]))


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--root", type=Path, default=Path("/"))
    given = parser.parse_args()
    for name, folders in SUBJECTS.items():
        print(f"{name}: {write_set(given.target / name, sections(pages(given.root, folders)))} sections")


if __name__ == "__main__":
    main()
