"""Make a labelled set of the starter commons: its golden questions, clean and misspelt, and its documents.

    python tools/starter_set.py TARGET

Writes `TARGET/starter` in the layout that tools/train_confidence.py and bench/retrieval.py read. These are questions
that people ask, unlike those of tools/installed_sets.py. They were written together with the documents, so how well
searches find documents on this set says little.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from installed_sets import write_labelled

from deia.commons.index.golden_queries import golden_patterns
from deia.commons.index.load_commons import load_commons

STARTER = Path(__file__).parent.parent


def write_set(folder: Path) -> int:
    """Write the set; return how many questions it has."""
    commons = load_commons(str(STARTER))
    texts = {each.path: each.text for each in commons.documents}
    held = [each for each in commons.entries if each.path in texts]
    corpus = [{"_id": each.id, "title": each.title, "text": texts[each.path]} for each in held]
    known = {row["_id"] for row in corpus}
    golden = golden_patterns(commons.query_patterns)
    clean = [{"_id": f"q{at}", "text": each.query} for at, each in enumerate(golden)]
    judged = (
        (f"q{at}", document, grade)
        for at, each in enumerate(golden)
        for document, grade in each.grades.items()
        if document in known
    )
    write_labelled(folder, corpus, clean, judged)
    return len(golden)


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    print(f"starter: {write_set(given.target / 'starter')} questions")


if __name__ == "__main__":
    main()
