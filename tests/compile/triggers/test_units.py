"""Units: a trigger is lowered once, and what is kept comes to what lowering it again would come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.triggers.read_triggers import load_triggers
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.units import GateRow, KeptUnits, Unit, Units, read_units, write_units
from deia.folders import STARTER
from deia.settings import DEFAULTS

MADE_WITH = "t"
A_TRIGGER = """
- id: {id}
  title: A title
  urgency: high
  message: A message.
  documents: [one]
  when: {{any: [{{phrase: "{phrase}"}}, {{command: "rm -rf"}}, {{act: {{do: destroy, what: database}}}}]}}
"""


class Counted(Units):
    """Units that count what had to be made."""

    def __init__(self, known: Units | None = None) -> None:
        super().__init__(known.used if known else None)
        self.before = set(known.used) if known else set[str]()

    @property
    def made(self) -> int:
        return len(set(self.used) - self.before)


def compiled(text: str, root: Path, units: Units) -> bytes:
    (root / "triggers").mkdir(exist_ok=True)
    (root / "triggers" / "own.yaml").write_text(text)
    data, _ = compile_triggers(
        load_triggers(str(root)).triggers, {}, settings=DEFAULTS.by_name(), identity={}, units_of=lambda _origin: units
    )
    return data


def two(phrase: str = "drop the table") -> str:
    return A_TRIGGER.format(id="first", phrase="wipe the disk") + A_TRIGGER.format(id="second", phrase=phrase)


def test_only_a_changed_trigger_is_lowered_again(tmp_path: Path) -> None:
    first = Counted()
    compiled(two(), tmp_path, first)
    second = Counted(first)
    compiled(two("drop all tables"), tmp_path, second)
    assert second.made == 1


def test_a_trigger_that_only_moved_is_not_lowered_again(tmp_path: Path) -> None:
    first = Counted()
    compiled(two(), tmp_path, first)
    second = Counted(first)
    compiled("# a comment\n" + two(), tmp_path, second)
    assert second.made == 0


def test_kept_units_come_to_the_same_bytes(tmp_path: Path) -> None:
    first = Units()
    compiled(two(), tmp_path, first)
    write_units(str(tmp_path / "units"), MADE_WITH, first.used)
    kept = read_units(str(tmp_path / "units"), MADE_WITH)
    assert compiled(two("drop all tables"), tmp_path, kept) == compiled(two("drop all tables"), tmp_path, Units())


@pytest.mark.slow
def test_the_starter_comes_to_the_same_bytes_from_its_units(tmp_path: Path) -> None:
    triggers = load_triggers(STARTER).triggers[:60]
    first = Units()
    fresh, _ = compile_triggers(triggers, {}, settings={}, identity={}, units_of=lambda _origin: first)
    write_units(str(tmp_path / "units"), MADE_WITH, first.used)
    kept = read_units(str(tmp_path / "units"), MADE_WITH)
    again, _ = compile_triggers(triggers, {}, settings={}, identity={}, units_of=lambda _origin: kept)
    assert again == fresh
    assert not kept.changed


@pytest.mark.parametrize("damage", ["another token", "torn", "changed", "absent"])
def test_a_file_that_is_not_whole_counts_as_empty(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "units"
    units = Units()
    compiled(two(), tmp_path, units)
    write_units(str(path), MADE_WITH, units.used)
    whole = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        path.write_bytes({"torn": whole[:-1], "changed": whole.replace(b"wipe", b"wope")}.get(damage, whole))
    kept = read_units(str(path), "other" if damage == "another token" else MADE_WITH)
    assert compiled(two(), tmp_path, kept) == compiled(two(), tmp_path, Units())
    assert kept.changed


@pytest.mark.slow
def test_what_the_starter_comes_to_is_kept_apart_from_what_a_commons_comes_to(tmp_path: Path) -> None:
    kept = KeptUnits(str(tmp_path / "starter"), str(tmp_path / "own"))
    unit = Unit(record=b"{}", rows=[], antecedents={}, acts=[])
    kept.of("starter").of("a", lambda: unit)
    kept.of("project").of("b", lambda: unit)
    kept.keep()
    later = KeptUnits(str(tmp_path / "starter"), str(tmp_path / "own"))

    def unexpected() -> Unit:
        raise AssertionError

    assert later.of("starter").of("a", unexpected) == unit
    assert later.of("untrusted").of("b", unexpected) == unit
    with pytest.raises(AssertionError):
        later.of("starter").of("b", unexpected)


rows = st.lists(st.builds(GateRow, st.integers(0, 2**20), st.tuples(st.text(), st.text())), max_size=4)
any_unit = st.builds(
    Unit,
    record=st.binary(),
    rows=rows,
    antecedents=st.dictionaries(st.text(), rows, max_size=2),
    acts=st.lists(st.tuples(st.integers(0, 9), st.lists(st.text()), st.lists(st.text())), max_size=2),
)


@pytest.mark.slow
@given(units=st.dictionaries(st.text("0123456789abcdef", min_size=1), any_unit, max_size=5))
def test_units_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, units: dict[str, Unit]) -> None:
    path = str(tmp_path_factory.mktemp("units") / "units")
    write_units(path, MADE_WITH, units)
    kept = read_units(path, MADE_WITH)

    def unexpected() -> Unit:
        raise AssertionError

    assert {key: kept.of(key, unexpected) for key in units} == units
