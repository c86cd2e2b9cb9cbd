"""`deia config get` and `set`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deia.settings import BOUNDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("telemetry", "metadata", "metadata"),
        ("limit", "3", 3),
        ("hold", "false", False),
        ("model", 'a "b" é', 'a "b" é'),
    ],
)
def test_a_setting_that_is_written_is_read(deia: Deia, name: str, typed: str, value: object) -> None:
    written = deia("config", "set", name, typed)
    assert written.code == 0, written.err
    assert json.loads(deia("config", "get", name, "--json").out) == {name: {"value": value, "source": "deia.toml"}}
    assert deia("config", "get", name).out.strip() == (value if isinstance(value, str) else json.dumps(value))


def test_other_lines_of_the_file_stay(deia: Deia, commons: Path) -> None:
    (commons / "deia.toml").write_text('# Ours.\nlimit = 7  # few\n\n[forms]\nlow = "off"\n', encoding="utf-8")
    assert deia("config", "set", "limit", "2").code == 0
    after = (commons / "deia.toml").read_text(encoding="utf-8")
    assert after == '# Ours.\nlimit = 2  # few\n\n[forms]\nlow = "off"\n'


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("limt", "3", "Did you mean limit?"),
        ("limit", "many", "what you typed: limit = 'many' is not a valid value\n  Expected: a whole number"),
        ("limit", "9" * 20, f"limit = {'9' * 20} is out of range\n  A project may set 1 to 100. For yourself alone,"),
        ("answer_depth", "9" * 20, "Expected: a whole number from 0 to 999999999"),
        ("limit", "-3", "Expected: a whole number from 0"),
        ("telemetry", "loud", "full | metadata | off"),
        ("token", "x" * 20, "secret"),
        ("forms", "off", "Write it into deia.toml"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_written(
    deia: Deia, commons: Path, name: str, typed: str, told: str
) -> None:
    refused = deia("config", "set", name, typed)
    assert refused.code == 2
    assert told in refused.err
    assert not (commons / "deia.toml").exists()


def test_a_variable_that_counts_more_is_told(deia: Deia, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEIA_LIMIT", "9")
    assert "limit = 9  (DEIA_LIMIT)" in deia("config", "set", "limit", "3").out


def test_folders_can_be_asked_for_too(deia: Deia, commons: Path) -> None:
    assert deia("config", "get", "commons").out.strip() == commons.as_posix()
    assert deia("config", "get", "nonsense").code == 2


@pytest.mark.parametrize(("name", "typed"), [("limit", "0"), ("deadline_ms", "9999999"), ("recent_turns", "4")])
def test_what_a_project_may_not_set_is_refused_with_the_range(deia: Deia, commons: Path, name: str, typed: str) -> None:
    refused = deia("config", "set", name, typed)
    assert refused.code == 2
    assert f"{name} = {typed} is out of range" in refused.err
    assert "A project may set {} to {}.".format(*BOUNDS[name]) in refused.err
    assert not (commons / "deia.toml").exists()
