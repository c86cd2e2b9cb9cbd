"""Lowered triggers and marks, kept between compiles: lowering is the slow part of compiling triggers.

A unit is one lowered trigger or mark, independent of all others. It is kept under a digest of everything that it was
made from, so a unit with the right key is up to date, and only a changed trigger is lowered again. The file is in the
person's cache; one that is damaged, or that another version made, counts as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from deia import __version__, fast_json, files
from deia.compile.sources import code_contents, code_stamps
from deia.compile.triggers.act_words import Vocabulary
from deia.compile.triggers.word_forms import forms_source
from deia.folders import STARTER
from deia.knowledge import Clause, Earlier, Trigger
from deia.records import Record
from deia.watch.gate.artefact import FORMAT
from deia.watch.turn.regex import MAKER

HEAD = "deia-units-1"
NAME = "units"
SHIPPED = f"{STARTER}/ready/{NAME}"
LOWERING = ("compile/triggers", "watch", "watch/prose", "watch/shell")  # the code that units depend on
STARTER_ORIGIN = "starter"
KEY_BYTES = 16
IN_GROUP = "\n"  # between the words of a group, which are sorted
NOT_LOWERED = ("path", "line", "hides", "references", "since", "status")
CLAUSES = ("any", "all")

Groups = tuple[str, ...]  # the words of each group, joined by IN_GROUP


class GateRow(NamedTuple):  # there are thousands, and a record is slower
    """A row of the gate: its flags, and the groups of words that it needs."""

    flags: int  # whose turns it counts for, how far apart its words may be, and the number of its clause
    groups: Groups


class Unit(Record):
    """A trigger or a mark, lowered."""

    record: bytes  # as in the artefact, but for the numbers of its documents
    rows: Sequence[GateRow]
    antecedents: Mapping[str, Sequence[GateRow]]  # what its `<it>`s stand for, by name
    acts: Sequence[tuple[int, Sequence[str], Sequence[str]]]  # vocabulary, and the names of the verbs and the nouns


class Units:
    """The units that earlier compiles made, and those that this one uses."""

    __slots__ = ("known", "used")

    def __init__(self, known: Mapping[str, Unit] | None = None) -> None:
        self.known = known or {}
        self.used: dict[str, Unit] = {}

    def of(self, key: str, make: Callable[[], Unit]) -> Unit:
        """Return the unit with this key, made now if there is none."""
        unit = self.known.get(key) or make()
        self.used[key] = unit
        return unit

    @property
    def changed(self) -> bool:
        """Whether the units that are used differ from those that were known."""
        return self.used.keys() != self.known.keys()


def trigger_key(trigger: Trigger, origin: str, vocabulary: int) -> str:
    """Return the key of a trigger's unit; its place in its file does not matter."""
    fields = {name: value for name, value in trigger.values().items() if name not in NOT_LOWERED}
    fields |= {name: [_written(clause) for clause in fields[name]] for name in CLAUSES}
    fields["earlier"] = _written_earlier(trigger.earlier)
    return _digest((origin, vocabulary, fields))


def mark_key(name: str, earlier: Earlier, known: Vocabulary) -> str:
    """Return the key of a mark's unit; `known` are the words of its acts."""
    return _digest((name, _written_earlier(earlier), _own_words(known)))


def words_key(do: Iterable[str], what: Iterable[str], known: Vocabulary) -> str:
    """Return the key of the verbs and nouns that acts with these names know."""
    return _digest((sorted(do), sorted(what), _own_words(known)))


def _own_words(known: Vocabulary) -> tuple[object, ...]:
    return (known.number, known.verbs, known.objects, known.vessels) if known.number else ()


def _written_earlier(earlier: Earlier | None) -> object:
    if earlier is None:
        return None
    fields = earlier.values()
    return {**fields, **{name: [_written(clause) for clause in fields[name]] for name in ("any", "until")}}


def _written(clause: Clause) -> tuple[object, ...]:
    return (clause.kind, clause.language, clause.value)


def _digest(value: object) -> str:
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).hexdigest()


class KeptUnits:
    """The units of earlier compiles: those of the starter, which all commons share, and those of one commons."""

    __slots__ = ("_of_starter", "_own", "_shared", "_token", "_units")

    def __init__(self, shared: str, own: str, *, force: bool = False) -> None:
        """Read the units in the folder of the compiled starter and in that of a commons, unless `force` is true."""
        self._shared, self._own = f"{shared}/{NAME}", f"{own}/{NAME}"
        self._token = _token()
        self._of_starter = Units() if force else read_units(self._shared, self._token)
        if not (force or self._of_starter.known):
            self._of_starter = read_units(SHIPPED, shipped_token())  # which the wheel brought along
        self._units = Units() if force or own == shared else read_units(self._own, self._token)

    def of(self, origin: str) -> Units:
        """Return the units for the triggers of an origin."""
        return self._of_starter if origin == STARTER_ORIGIN else self._units

    def keep(self) -> None:
        """Write the units that were used, for the next compile."""
        for path, units in ((self._shared, self._of_starter), (self._own, self._units)):
            if units.used and units.changed:
                write_units(path, self._token, units.used)


def _token(code_of: Callable[[str], object] = code_stamps) -> str:
    """Return a digest of what lowers triggers: the code and its tables, the interpreter, and the word forms."""
    return _digest((__version__, MAKER, FORMAT, forms_source(), [code_of(folder) for folder in LOWERING]))


def shipped_token() -> str:
    """Return the token of units that a wheel brings along, for an interpreter like the one that built it."""
    return _token(code_contents)


def read_units(path: str, token: str) -> Units:
    """Return the units in a file that was written with the same token."""
    body = read_kept(path, HEAD, token)
    if not body:
        return Units()
    facts, _, records = body.partition(b"\n")
    values = fast_json.loads(facts.decode("ascii"))
    groups, at, known = values["groups"], 0, dict[str, Unit]()
    for key, size, rows, antecedents, acts in values["units"]:
        known[key] = Unit(
            record=records[at : at + size],
            rows=_rows(rows, groups),
            antecedents={name: _rows(of_name, groups) for name, of_name in antecedents.items()},
            acts=[tuple(act) for act in acts],
        )
        at += size
    return Units(known)


def _rows(numbered: Iterable[Sequence[int]], groups: Sequence[str]) -> list[GateRow]:
    return [GateRow(flags, tuple([groups[number] for number in needed])) for flags, *needed in numbered]


def write_units(path: str, token: str, units: Mapping[str, Unit]) -> None:
    """Write units to a file, if it can be written."""
    numbers: dict[str, int] = {}
    kept = [
        [
            key, len(unit.record), _numbered(unit.rows, numbers),
            {name: _numbered(rows, numbers) for name, rows in unit.antecedents.items()}, unit.acts,
        ]
        for key, unit in sorted(units.items())
    ]  # fmt: skip
    facts = fast_json.dumps({"groups": list(numbers), "units": kept}).encode("ascii")
    body = b"".join((facts, b"\n", *(unit.record for _, unit in sorted(units.items()))))
    write_kept(path, HEAD, token, body)


def _numbered(rows: Iterable[GateRow], numbers: dict[str, int]) -> list[list[int]]:
    """Return rows with their groups as numbers; new groups are added to `numbers`."""
    return [[row.flags, *(numbers.setdefault(group, len(numbers)) for group in row.groups)] for row in rows]


def read_kept(path: str, form: str, token: str) -> bytes:
    """Return the content of a file with this form and token, or nothing if it has another, or is damaged."""
    head, _, body = (files.read(path, files.ANY_SIZE) or b"").partition(b"\n")
    return body if head == _head(form, token, body) else b""


def write_kept(path: str, form: str, token: str, body: bytes) -> None:
    """Write a file that `read_kept` reads, if it can be written."""
    files.keep(path, b"\n".join((_head(form, token, body), body)))


def _head(form: str, token: str, body: bytes) -> bytes:
    return f"{form} {token} {blake2b(body, digest_size=KEY_BYTES).hexdigest()}".encode("ascii")
