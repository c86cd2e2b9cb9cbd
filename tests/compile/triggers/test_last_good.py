"""The last good version of a trigger file is used, and reported, while the file has errors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.triggers.read_triggers import TRIGGER_BYTES
from deia.compile.compiler import Compiled, compile_commons
from deia.compile.manifest import read_manifest
from deia.compile.triggers.last_good import NAME, read_lasting
from deia.watch.gate.artefact import Artefact, open_artefact
from tests.derived import derived, private

if TYPE_CHECKING:
    from pathlib import Path

TRIGGER = """\
- id: {0}
  title: T
  urgency: high
  message: Careful.
  documents: [{{id: lesson, mode: full_context}}]
  when: {{any: [{{phrase: {0} shop}}]}}
"""
BOTH = TRIGGER.format("sell") + TRIGGER.format("buy")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a commons with two triggers in one file."""
    for name in ("bok", "triggers"):
        (tmp_path / "commons" / name).mkdir(parents=True)
    (tmp_path / "commons" / "bok" / "lesson.md").write_text("# Lesson\n\nA copy first.\n", encoding="utf-8")
    return tmp_path / "commons"


def folder_of(root: Path) -> str:
    return str(derived(root, private(root.parent)))


def compiled(root: Path, text: str | None, *, force: bool = False) -> Compiled:
    place = root / "triggers" / "shop.yaml"
    place.write_text(text, encoding="utf-8") if text is not None else place.unlink()
    environ = private(root.parent)
    return compile_commons(str(root), environ=environ, force=force)


def guarding(root: Path) -> set[str]:
    artefact: Artefact = open_artefact(f"{folder_of(root)}/triggers")
    return {artefact.trigger(number).id for number in range(artefact.meta.triggers)}


@pytest.mark.parametrize("broken", ["- id: [\n", "nothing: of the kind\n", "", "- id: sell\n  title: {\n"])
def test_a_file_that_does_not_parse_goes_on_guarding(root: Path, broken: str) -> None:
    compiled(root, BOTH)
    for force in (False, True):
        done = compiled(root, broken or "\t", force=force)
        assert guarding(root) == {"sell", "buy"}
        assert [one.code for one in done.problems].count("last-good") == 1
    (fault,) = read_manifest(folder_of(root)).faults
    assert fault.startswith("triggers/shop.yaml:")
    assert fault.endswith("its last good version counts.")


def test_of_a_file_with_one_broken_trigger_that_one_is_as_it_was(root: Path) -> None:
    compiled(root, BOTH)
    compiled(root, TRIGGER.format("sell").replace("Careful.", "New.") + TRIGGER.format("buy").replace("high", "hihg"))
    artefact = open_artefact(f"{folder_of(root)}/triggers")
    said = {trigger.id: trigger.message for trigger in map(artefact.trigger, range(artefact.meta.triggers))}
    assert said == {"sell": "New.", "buy": "Careful."}


def test_a_new_file_with_an_error_is_named_with_its_line_and_does_not_guard(root: Path) -> None:
    done = compiled(root, TRIGGER.format("sell") + TRIGGER.format("buy").replace("high", "hihg"))
    assert guarding(root) == {"sell"}
    (fault,) = done.faults
    assert re.match(r"triggers/shop\.yaml:\d+: .*hihg.* it does not guard\.$", fault)
    assert open_artefact(f"{folder_of(root)}/triggers").meta.faults == [fault]


def test_what_was_taken_out_stays_out(root: Path) -> None:
    compiled(root, BOTH)
    compiled(root, TRIGGER.format("buy").replace("high", "hihg"))
    assert guarding(root) == {"buy"}
    compiled(root, None)
    assert guarding(root) == set()
    assert read_lasting(folder_of(root)) == {}


def test_a_mended_file_counts_as_it_is(root: Path) -> None:
    compiled(root, BOTH)
    compiled(root, "- id: [\n")
    done = compiled(root, TRIGGER.format("rent"))
    assert guarding(root) == {"rent"}
    assert read_manifest(folder_of(root)).faults == ()
    assert "last-good" not in {one.code for one in done.problems}


def test_a_file_that_is_too_long_to_be_read_is_not_kept(root: Path) -> None:
    (root / "triggers").rmdir()
    (root / "triggers").symlink_to(".")
    (root / "packs" / "p").mkdir(parents=True)
    with open(root / "packs" / "p" / "commons_index.yaml", "wb") as file:
        file.truncate(TRIGGER_BYTES + 1)
    compiled(root, BOTH)
    assert [*read_lasting(folder_of(root))] == ["triggers/shop.yaml"]


def test_an_id_that_another_file_took_is_not_doubled(root: Path) -> None:
    compiled(root, BOTH)
    (root / "triggers" / "a.yaml").write_text(TRIGGER.format("sell").replace("Careful.", "New."), encoding="utf-8")
    compiled(root, "- id: [\n")
    artefact = open_artefact(f"{folder_of(root)}/triggers")
    said = {trigger.id: trigger.message for trigger in map(artefact.trigger, range(artefact.meta.triggers))}
    assert said == {"sell": "New.", "buy": "Careful."}


@pytest.mark.slow
@given(
    st.one_of(st.binary(max_size=60), st.recursive(st.text(max_size=5), st.lists).map(lambda x: json.dumps(x).encode()))
)
def test_any_file_in_its_place_is_read_or_passed_over(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / NAME).write_bytes(content)
    assert isinstance(read_lasting(str(folder)), dict)
