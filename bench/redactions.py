"""Count how often redaction hides what is no secret, over real conversations.

    python bench/redactions.py CONVERSATIONS.jsonl … [--show]

A conversation file holds a turn a line (source, conversation_id, turn, text). Whatever redaction changes was read:
`labels/redactions.jsonl` says of each such turn whether a secret was hidden, something that looks exactly like one
("alike": opaque generated text whose purpose only its surroundings tell), or neither ("false"). A turn that nobody has
labelled counts as false, and `--show` prints what was hidden there. The exit code is 1 above one false in 1,000.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deia.redaction import MOST_TEXT, redact

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS = Path(__file__).resolve().parent / "labels" / "redactions.jsonl"
MOST_FALSE = 1 / 1000
SHOWN = 60  # characters before and after what was hidden


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def key(row: dict[str, Any]) -> tuple[str, str, int]:
    """Return what identifies a turn."""
    return row["source"], row["conversation_id"], row["turn"]


def differences(text: str, redacted: str) -> Iterator[str]:
    """Yield each part of a text that redaction changed, with what stands around it."""
    marked = redacted.replace("[email]", "[secret]").split("[secret]")
    at = len(marked[0])
    for piece in marked[1:]:
        after = text.find(piece[:SHOWN], at) if piece else len(text)
        yield f"{text[max(0, at - SHOWN) : at]!r} >>> {text[at : max(at, after)]!r}"
        at = max(at, after) + len(piece)


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conversations", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    labels = {key(row): row["label"] for row in rows(LABELS)}
    counts: Counter[str] = Counter()
    for row in (row for path in options.conversations for row in rows(path)):
        counts["turns"] += 1
        redacted = redact(row["text"])
        if redacted == row["text"][:MOST_TEXT]:
            continue
        label = labels.get(key(row), "not labelled")
        counts[label] += 1
        if options.show and label == "not labelled":
            print(json.dumps(dict(zip(("source", "conversation_id", "turn"), key(row), strict=True))))
            print(*[f"  {change}" for change in differences(row["text"], redacted)], sep="\n")
    false = counts["false"] + counts["not labelled"]
    print("  ".join(f"{name} {count:,}" for name, count in counts.most_common()))
    print(f"false in 1,000 turns: {1000 * false / max(1, counts['turns']):.2f}")
    return int(false > MOST_FALSE * counts["turns"])


if __name__ == "__main__":
    sys.exit(main())
