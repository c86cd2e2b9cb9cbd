"""Label what fired on real conversations and nobody has judged yet: read each, say what it was, and it is kept.

    python bench/label.py FOLDER                  at a terminal: shows each firing with the turns before it, and asks
    python bench/label.py FOLDER --to FILE        writes them as JSON lines, to be filled in with an editor
    python bench/label.py --from FILE             takes over the lines of such a file that were filled in

FOLDER holds `conversations*/conversations.jsonl` (source, conversation_id, turn, role, tool, text). Labels go to
`labels/firings.jsonl`, without any text of a conversation. Repositories that are held out are left out, so that nobody
who writes triggers reads them by accident; with `--held-out`, only they are shown, to readers who never saw the rules.

deserved   the lesson was worth reading at this moment: the act was about to be done, and could do the damage
arguable   a reasonable person could say either: a small risk, or said once more
noise      the person would be annoyed: not done here, another object, another act, nothing at stake
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from firings import (
    ARGUABLE,
    DESERVED,
    HELD_OUT,
    LABELS,
    NOISE,
    UNLABELLED,
    Labels,
    all_fired,
    conversations,
    rows,
    to_label,
)

from deia import folders
from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from firings import Fired, Row

KEPT = ("source", "conversation_id", "turn", "trigger", "label", "why", "note")
WHYS = {  # of each label: why, in a word
    DESERVED: ("ok",),
    ARGUABLE: ("too-weak", "repeated", "ok"),
    NOISE: ("wrong-object", "wrong-act", "mentioned", "unrelated", "trivial-target", "done-already"),
}
MOST_NOTE = 200  # characters
SHOWN_BEFORE = 400  # characters of a turn before the one that is labelled


def unlabelled(folder: Path, *, held_out: bool) -> list[Fired]:
    """Return what fires on the conversations of a folder and has no label."""
    artefact = Librarian(folders.STARTER, ledger=False).open_artefact()
    files = sorted(folder.glob("conversations*/conversations.jsonl"))
    members = [
        turns for path in files for turns in conversations(path) if (turns[0]["source"] in HELD_OUT) == held_out
    ]  # fmt: skip
    return [one for one in all_fired(artefact, members) if one.label == UNLABELLED]


def problem_of(row: Row) -> str:
    """Return what is wrong with a row as a label, or ""."""
    missing = [name for name in KEPT if name not in row]
    if missing:
        return f"it lacks {', '.join(missing)}"
    if row["label"] not in WHYS:
        return f"its label is {row['label']!r}, not one of {', '.join(WHYS)}"
    if row["why"] not in WHYS[row["label"]]:
        return f"its why is {row['why']!r}, not one of {', '.join(WHYS[row['label']])}"
    note = row["note"]
    return "" if isinstance(note, str) and 0 < len(note) <= MOST_NOTE else f"its note needs 1 to {MOST_NOTE} characters"


def keep(row: Row, labels: Path = LABELS) -> None:
    """Add a label to those that are kept, without the conversation's text."""
    with labels.open("a", encoding="utf-8") as file:
        file.write(json.dumps({name: row[name] for name in KEPT}, ensure_ascii=False) + "\n")


def take(path: Path, labels: Path = LABELS) -> Iterator[str]:
    """Keep the labels of a file in which unlabelled firings were filled in; yield what is not taken over, and why."""
    known = Labels(labels)
    for number, row in enumerate(rows(path), 1):
        problem = "it has no label" if not row.get("label") else problem_of(row)
        if not problem and known.of(row, row["trigger"]) != UNLABELLED:
            problem = "it is labelled already"
        if problem:
            yield f"{path}:{number}: {problem}"
        else:
            keep(row, labels)
            known = Labels(labels)


def ask(found: Sequence[Fired], answer: Callable[[str], str], labels: Path = LABELS) -> int:
    """Show each firing, ask for its label, and keep it; return how many were kept. "q" ends, and "s" skips one."""
    kept = 0
    for number, one in enumerate(found, 1):
        row = to_label(one)
        print(f"\n--- {number} of {len(found)}: {one.key}")
        print("\n".join(f"  | {text[:SHOWN_BEFORE]}" for text in row["before"]))
        print(f"  > {row['text']}\n{row['urgency']}, {row['action']}: {row['said']}\nbecause {row['because']}")
        label = _choice(answer, "label", (*WHYS, "skip", "quit"))
        if label == "quit":
            break
        if label == "skip":
            continue
        row |= {"label": label, "why": _choice(answer, "why", WHYS[label]), "note": _note(answer)}
        keep(row, labels)
        kept += 1
    return kept


def _choice(answer: Callable[[str], str], what: str, choices: Iterable[str]) -> str:
    """Return the choice that begins with what was typed; if there is only one choice, nobody is asked."""
    options = list(choices)
    while len(options) > 1:
        typed = answer(f"{what} ({', '.join(options)}): ").strip().lower()
        fitting = [option for option in options if typed and option.startswith(typed)]
        if len(fitting) == 1 or typed in options:
            return typed if typed in options else fitting[0]
    return options[0]


def _note(answer: Callable[[str], str]) -> str:
    """Return why in a few words of the reader's own."""
    while not 0 < len(note := answer("note, in your own words, without the conversation's: ").strip()) <= MOST_NOTE:
        pass
    return note


def main() -> int:
    """Ask, write or take over, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--to", type=Path, metavar="FILE")
    parser.add_argument("--from", type=Path, metavar="FILE", dest="source")
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    if (options.folder is None) == (options.source is None):
        parser.error("name a FOLDER of conversations, or a file with --from")
    if options.source:
        left = list(take(options.source))
        print("\n".join(left))
        return int(bool(left))
    print("replaying the conversations, which takes about a minute …", file=sys.stderr)
    with tempfile.TemporaryDirectory() as state:
        os.environ.update(DEIA_STATE=f"{state}/state", DEIA_CACHE=f"{state}/cache", DEIA_TRUST="*")
        found = unlabelled(options.folder, held_out=options.held_out)
    if options.to:
        options.to.write_text("".join(json.dumps(to_label(one), ensure_ascii=False) + "\n" for one in found), "utf-8")
        print(f"{len(found)} in {options.to}. Fill in label, why and note of each, then type:")
        print(f"python bench/label.py --from {options.to}")
    else:
        print(f"{len(found)} firings without a label.")
        print(f"{ask(found, input)} kept in {LABELS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
