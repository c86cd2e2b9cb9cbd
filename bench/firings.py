"""Real conversations replayed as `deia trigger replay` does it, and the judgements kept on what fired in them.

`labels/firings.jsonl` says of a firing whether it was deserved, arguable or noise, with a reason and no text of the
conversation. A label belongs to a turn and to what was warned of: `labels/renamed.tsv` leads from a trigger's former id
to the present one. A firing that nobody has judged counts as noise.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deia.evaluate.transcripts import Reader
from deia.watch.authoring.replay import Replay
from deia.watch.clauses.confirm import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.firing import Firing
    from deia.watch.gate.artefact import Artefact

Row = dict[str, Any]
FOLDER = Path(__file__).resolve().parent / "labels"
LABELS = FOLDER / "firings.jsonl"
RENAMED = FOLDER / "renamed.tsv"
DESERVED, ARGUABLE, NOISE, UNLABELLED = "deserved", "arguable", "noise", "unlabelled"
# Nobody who wrote triggers has read these repositories' conversations.
HELD_OUT = frozenset(("specstoryai/getspecstory", "0-auth/zero-auth", "SWE-agent/SWE-agent"))
BEFORE = 3  # turns shown before one that is to be labelled
MOST_SHOWN = 3000  # characters of a turn that is to be labelled
ANSWER = "yes"  # the kind of a firing on an answer to an announcement
HELD = frozenset(("ask", "hold"))


class Fired(NamedTuple):
    """A firing in a real conversation: its row, the kind of clause that matched, and its label."""

    row: Row
    firing: Firing
    label: str
    before: Sequence[Row]

    @property
    def source(self) -> str:
        """The repository."""
        return str(self.row["source"])

    @property
    def key(self) -> str:
        """The turn and the trigger."""
        return f"{self.source} {self.row['conversation_id']} {self.row['turn']} {self.firing.trigger}"

    @property
    def shown(self) -> str:
        """Why it fired, which quotes the turn; nothing of a repository that is held out."""
        return "held out" if self.source in HELD_OUT else self.firing.because

    @property
    def is_prose(self) -> bool:
        """Whether a person or the assistant only said it."""
        return self.row["role"] in {"user", "assistant"} or self.kind in {"phrase", "words", "meaning", "act"}

    @property
    def is_noise(self) -> bool:
        """Whether it should not have been said, as far as anybody has judged."""
        return self.label in {NOISE, UNLABELLED}

    @property
    def kind(self) -> str:
        """The kind of the clause that decided, "said" added where prose only mentions what a tool call would do."""
        parts = [part.partition(' "') for part in self.firing.because.split("; ")]
        kinds = [kind for kind, _, _ in parts if kind in KINDS]
        kind = kinds[-1] if kinds else ANSWER
        is_said = self.row["role"] in {"user", "assistant"} and kind in {"command", "pattern", "sql"}
        return f"{kind} (said)" if is_said else kind


def rows(path: Path) -> list[Row]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def fired(artefact: Artefact, turns: Iterable[Row]) -> list[Firing]:
    """Return what fires on a fresh conversation of these turns."""
    return [firing for _, firings in replayed(artefact, turns) for firing in firings]


def replayed(artefact: Artefact, turns: Iterable[Row]) -> Iterator[tuple[Row, tuple[Firing, ...]]]:
    """Yield the rows of a conversation, each with what fires on it; rows that the host itself wrote are no turns."""
    reader, replay = Reader(), Replay(artefact)
    number = 0
    for row in turns:
        firings: list[Firing] = []
        for turn in reader.turns(row):
            number += 1
            firings += replay.judge(turn.but(index=number))
        yield row, tuple(firings)


def conversations(path: Path) -> list[list[Row]]:
    """Return the conversations of a file, their turns in order."""
    members: dict[tuple[str, str], list[Row]] = {}
    for row in rows(path):
        members.setdefault((row["source"], row["conversation_id"]), []).append(row)
    return [sorted(turns, key=lambda row: int(row["turn"])) for turns in members.values()]


def all_fired(artefact: Artefact, members: Iterable[Sequence[Row]]) -> Iterator[Fired]:
    """Yield everything that fires in some conversations, with its label."""
    labels = Labels()
    for turns in members:
        for at, (row, firings) in enumerate(replayed(artefact, turns)):
            for firing in firings:
                yield Fired(row, firing, labels.of(row, firing.trigger), turns[max(at - BEFORE, 0) : at])


class Labels:
    """The judgements kept, by turn and by what was warned of."""

    def __init__(self, kept: Path = LABELS) -> None:
        lines = RENAMED.read_text(encoding="utf-8").splitlines()
        self._renamed = dict(line.split("\t") for line in lines if line and not line.startswith("#"))
        self._labels = {self._key(row, row["trigger"]): str(row["label"]) for row in rows(kept)}

    def of(self, row: Row, trigger: str) -> str:
        """Return the label of a trigger's firing on a turn."""
        return self._labels.get(self._key(row, trigger), UNLABELLED)

    def _key(self, row: Row, trigger: str) -> tuple[str, str, int, str]:
        while trigger in self._renamed:
            trigger = self._renamed[trigger]
        return row["source"], row["conversation_id"], int(row["turn"]), trigger


def write_unlabelled(found: Iterable[Fired], path: Path) -> int:
    """Write the firings that nobody has judged, with their turn and those before it; return how many there are."""
    left = [one for one in found if one.label == UNLABELLED]
    with path.open("w", encoding="utf-8") as file:
        for one in left:
            file.write(json.dumps(to_label(one), ensure_ascii=False) + "\n")
    return len(left)


def to_label(one: Fired) -> Row:
    """Return a firing as it is shown to whoever labels it, with the label still empty."""
    names = ("source", "conversation_id", "turn")
    shown = {name: one.row[name] for name in names}
    firing = one.firing
    shown |= {"trigger": firing.trigger, "label": "", "why": "", "note": "", "held_out": one.source in HELD_OUT}
    shown |= {"urgency": firing.urgency, "action": firing.action, "because": firing.because, "said": firing.message}
    return shown | {"text": _text(one.row), "before": [_text(row) for row in one.before]}


def _text(row: Row) -> str:
    return f"{row['role']} {row.get('tool', '')}: {row['text'][:MOST_SHOWN]}"


def rate(found: Sequence[Fired], turns: int) -> float:
    """Return how many of some firings are noise, in 1,000 turns."""
    return 1000 * sum(one.is_noise for one in found) / max(turns, 1)


def shares(found: Iterable[Fired]) -> Counter[str]:
    """Return how many firings have each label."""
    return Counter(one.label for one in found)
