"""Settings and folders: which source wins, which values are refused, and which commons is used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.durations import hours_of
from deia.folders import (
    STARTER,
    derived_folder,
    events_folder,
    find_commons,
    is_commons,
    is_packaged,
    nearest_commons,
    state_folder,
)
from deia.problems import CommonsError, SettingsError
from deia.settings import DEFAULTS, NAMES, ignored_secrets, resolve
from tests.derived import private
from tests.paths import ROOT
from tests.without_rights import without_rights

if TYPE_CHECKING:
    from collections.abc import Callable

TRUSTING = {"DEIA_TRUST": "*"}


def test_without_anything_the_defaults_count(tmp_path: Path) -> None:
    found = resolve(str(tmp_path), environ=TRUSTING)
    assert found.but(sources={}) == DEFAULTS
    assert set(found.sources.values()) == {"default"}


def test_flags_win_over_the_environment_over_the_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.deia]\nlimit = 1\nrecent_turns = 1\nhold = false\ntelemetry = 'off'\n"
    )
    (tmp_path / "deia.toml").write_text("limit = 2\nrecent_turns = 2\nhold = true\n")
    found = resolve(
        str(tmp_path), environ={**TRUSTING, "DEIA_LIMIT": "3", "DEIA_RECENT_TURNS": "3"}, flags={"limit": 4}
    )
    assert (found.limit, found.recent_turns, found.hold, found.telemetry) == (4, 3, True, "off")
    assert [found.sources[name] for name in ("limit", "recent_turns", "hold", "telemetry", "deadline_ms")] == [
        "flag", "DEIA_RECENT_TURNS", "deia.toml", "pyproject.toml", "default",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("limit = \nhold = true", r"deia\.toml: this file is not valid TOML.*line 1"),
        ("limit = 'x'", r"limit = 'x'.*whole number"),
        ("limit = -1", r"limit = -1"),
        ("limit = true", r"limit = True"),
        ("limit = 1.5", r"limit = 1\.5"),
        ("hold = 1", r"hold = 1.*true or false"),
        ("telemetry = 'loud'", r"telemetry = 'loud'.*full \| metadata \| off"),
        ("limt = 1", r"unknown setting 'limt'.*Known are: telemetry"),
        ("max_action = 'shout'", r"max_action = 'shout'.*note \| warn \| ask \| hold"),
        ("forms = 'ask'", r"forms: 'ask'.*off, note, warn, ask, hold"),
        ("[forms]\ncritical = 'stop'", r"forms: {'critical': 'stop'}"),
        ("[forms]\ncritical = ['ask']", r"forms: {'critical': \['ask'\]}"),
        ("exceptions = ['a']", r"exceptions: \['a'\].*list of globs"),
        ("[exceptions]\nt = 'infra'", r"exceptions: {'t': 'infra'}"),
        ("[exceptions]\nt = []", r"exceptions: {'t': \[\]}"),
        ("\xff\xfe", r"not valid TOML"),
        ("quiet = '22:00-07:00'", r"quiet: '22:00-07:00'.*hours, such as"),
        ("[quiet]\nbelow = 'high'", r"deia\.toml:1: .*hours is missing; expected: two times"),
        ("limit = 1\n[quiet]\nhours = '22-7'", r"deia\.toml:2: .*hours = '22-7' is not a valid value.*such as"),
        ("[quiet]\nhours = '22:00-22:00'", r"hours = '22:00-22:00'"),
        ("[quiet]\nhours = '25:00-07:00'", r"hours = '25:00-07:00'"),
        ("[quiet]\nhours = 5", r"hours = 5"),
        ("[quiet]\nhours = '22:00-07:00'\nbelow = 'low'", r"below = 'low'.*critical, high, medium"),
        ("[quiet]\nhours = '1:00-2:00'\ndays = ['monday']", r"days = \['monday'\].*mon, tue"),
        ("[quiet]\nhours = '1:00-2:00'\nday = 'mon'\nbelow = 3", r"'day' is unknown.*below = 3"),
        ("most_per_hour = -1", r"most_per_hour = -1"),
    ],
)
def test_a_malformed_file_is_refused_with_what_is_wanted(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "deia.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=says):
        resolve(str(tmp_path), environ=TRUSTING)


def test_tables_of_forms_and_exceptions_are_read(tmp_path: Path) -> None:
    text = "[forms]\ncritical = 'ask'\nt = 'off'\n[exceptions]\nt = ['infra/**', 'old']\n"
    (tmp_path / "deia.toml").write_text(text)
    found = resolve(str(tmp_path), environ=TRUSTING)
    assert found.forms == {"critical": "ask", "t": "off"}
    assert found.exceptions == {"t": ["infra/**", "old"]}
    assert found.sources["forms"] == "deia.toml"
    with pytest.raises(SettingsError, match="DEIA_FORMS"):
        resolve(str(tmp_path), environ={"DEIA_FORMS": "critical=ask"})


def test_quiet_hours_are_read(tmp_path: Path) -> None:
    (tmp_path / "deia.toml").write_text("[quiet]\nhours = '22:00-07:00'\nbelow = 'high'\ndays = ['sat']\n")
    assert resolve(str(tmp_path), environ=TRUSTING).quiet == {"hours": "22:00-07:00", "below": "high", "days": ["sat"]}
    with pytest.raises(SettingsError, match="DEIA_QUIET"):
        resolve(str(tmp_path), environ={"DEIA_QUIET": "22:00-07:00"})


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789:- ", max_size=12) | st.text(max_size=8))
def test_only_two_times_of_day_are_hours(text: str) -> None:
    span = hours_of(text)
    assert span is None or (0 <= min(span) < max(span) <= 24 * 60 and text.count("-") == 1 and text.count(":") == 2)


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\ndeia = 1"])
def test_another_kind_of_pyproject_is_no_table_of_settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    if "deia" in text:
        with pytest.raises(SettingsError, match=r"\[tool\.deia\] is not a table"):
            resolve(str(tmp_path), environ=TRUSTING)
    else:
        assert resolve(str(tmp_path), environ=TRUSTING).limit == DEFAULTS.limit


@pytest.mark.parametrize(
    ("value", "hold"), [("true", True), ("1", True), ("YES", True), ("false", False), ("0", False), ("no", False)]
)
def test_a_variable_may_say_yes_or_no(tmp_path: Path, value: str, *, hold: bool) -> None:
    assert resolve(str(tmp_path), environ={"DEIA_HOLD": value}).hold is hold


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(NAMES), st.text(max_size=12))
def test_every_variable_is_a_value_or_refused_by_name(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str
) -> None:
    variable = f"DEIA_{name.upper()}"
    try:
        found: Any = resolve("/no/such/folder", environ={variable: text})
    except SettingsError as error:
        assert variable in str(error)  # noqa: PT017 - both outcomes are right, the third is a traceback
    else:
        assert type(getattr(found, name)) is type(getattr(DEFAULTS, name))


# --- places ---


def test_the_nearest_commons_upwards_counts(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a"):
        (folder / "commons_index.yaml").touch()
    assert nearest_commons(f"{tmp_path}/a/b") == f"{tmp_path}/a"
    assert find_commons(f"{tmp_path}/a/b", environ=TRUSTING) == f"{tmp_path}/a"


def test_a_named_commons_wins_over_the_variable_over_the_nearest(tmp_path: Path) -> None:
    for name in ("near", "variable", "named"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "deia.toml").touch()
    near, variable, named = (f"{tmp_path}/{name}" for name in ("near", "variable", "named"))
    assert find_commons(near, environ={"DEIA_COMMONS": variable}, explicit=f"{named}/") == named
    assert find_commons(near, environ={"DEIA_COMMONS": variable}) == variable
    assert find_commons(near, environ={"DEIA_COMMONS": ""}) == near


def test_a_named_folder_that_is_no_commons_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommonsError, match=r"DEIA_COMMONS names .*deia init"):
        find_commons("/", environ={"DEIA_COMMONS": str(tmp_path)})
    with pytest.raises(CommonsError, match="--commons names"):
        find_commons("/", environ=TRUSTING, explicit=str(tmp_path))


def test_without_any_commons_the_starter_counts_and_nothing_is_written_into_it(tmp_path: Path) -> None:
    assert find_commons(str(tmp_path), environ=TRUSTING) == STARTER
    assert is_commons(STARTER)
    assert is_packaged(STARTER)
    environ = {"HOME": "/h"}
    assert derived_folder(STARTER, environ).startswith("/h/.cache/deia/starter-")
    assert events_folder(STARTER, environ) == "/h/.local/state/deia/starter/events"


def test_places_may_be_named(tmp_path: Path) -> None:
    assert state_folder({"DEIA_STATE": "/s", "HOME": "/h"}) == "/s"
    assert state_folder({"XDG_STATE_HOME": "/x", "HOME": "/h"}) == "/x/deia"
    assert state_folder({"LOCALAPPDATA": "C:/l", "USERPROFILE": "C:/u"}) == "C:/l/deia"
    assert events_folder(str(tmp_path), TRUSTING) == f"{tmp_path}/telemetry/events"
    assert derived_folder(STARTER, {"DEIA_CACHE": "/c"}).startswith("/c/starter-")


# --- files that a stranger made ---

FORMS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo if sys.platform != "win32" else Path.mkdir,
    "folder": lambda path: path.mkdir(),
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "huge": lambda path: path.write_bytes(b"# deia\n" * 200_000),
    "deep": lambda path: path.write_bytes(b"[tool.deia]\na = " + b"[" * 200_000),
    "long keys": lambda path: path.write_bytes(b"[tool.deia]\n" + b"a." * 100_000 + b"b = 1"),
    "long headers": lambda path: path.write_bytes(b"[tool.deia]\n[" + b"a." * 1_000 + b"b]\n" * 100),
    "many dots": lambda path: path.write_bytes(b'[tool.deia]\n"=" = {' + b"a." * 100_000 + b"b = 1}"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")
@pytest.mark.parametrize("name", ["deia.toml", "pyproject.toml"])
@pytest.mark.parametrize("form", FORMS)
def test_a_settings_file_that_could_hang_deia_is_refused_by_its_name(tmp_path: Path, name: str, form: str) -> None:
    FORMS[form](tmp_path / name)
    began = time.monotonic()
    with pytest.raises(SettingsError) as caught:
        resolve(str(tmp_path), environ=TRUSTING)
    assert caught.value.where.startswith(name)
    assert caught.value.fix
    assert time.monotonic() - began < 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_settings_behind_a_link_count_only_inside_the_commons(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "kept.toml").write_text("limit = 3", encoding="utf-8")
    (root / "deia.toml").symlink_to("kept.toml")
    assert resolve(str(root), environ=TRUSTING).limit == 3
    (tmp_path / "outside.toml").write_text("limit = 4\n[tool.deia]\nlimit = 4", encoding="utf-8")
    (root / "pyproject.toml").symlink_to("../outside.toml")
    assert resolve(str(root), environ=TRUSTING).limit == 3
    (root / "deia.toml").unlink()
    (root / "deia.toml").symlink_to("../outside.toml")
    with pytest.raises(SettingsError, match="leads out of the commons"):
        resolve(str(root), environ=TRUSTING)


def test_an_env_file_behind_a_link_counts_only_inside_its_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "kept.env").write_text("DEIA_LIMIT=3\n", encoding="utf-8")
    (root / ".env").symlink_to("kept.env")
    assert resolve(str(root), environ=TRUSTING).limit == 3
    (tmp_path / "secrets.env").write_text("DEIA_LIMIT=hunter2\nDEIA_TOKEN=hunter2\n", encoding="utf-8")
    (root / ".env").unlink()
    (root / ".env").symlink_to("../secrets.env")
    assert resolve(str(root), environ=TRUSTING).limit == 5
    assert ignored_secrets(str(root)) == []


@pytest.mark.parametrize(
    "text",
    [
        "[tool.deia]\nlimit = 3", "[ 'tool' . \"deia\" ]\nlimit = 3", "tool.deia.limit = 3",
        "tool = {deia = {limit = 3}}", "[tool] # ours\ndeia.limit = 3", "[tool]\ndeia = {limit = 3}",
        '"\\u0074ool".deia.limit = 3', '["t\\u006Fol".deia]\nlimit = 3',
    ],
)  # fmt: skip
def test_the_table_of_a_project_file_counts_in_each_way_to_write_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{text}\n", encoding="utf-8")
    assert resolve(str(tmp_path), environ=TRUSTING).limit == 3


def test_a_project_file_that_only_needs_deia_is_not_parsed(tmp_path: Path) -> None:
    """It would cost every search and every hook 13 ms."""
    text = '[project]\nscripts.deia = "deia:main"\ndependencies = ["deia"]\n[tool.ruff]\nthis is no TOML\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert resolve(str(tmp_path), environ=TRUSTING).but(sources={}) == DEFAULTS


def test_an_honest_project_file_with_a_long_line_is_read(tmp_path: Path) -> None:
    listed = ", ".join(f'"package-{number}>=1.2.3"' for number in range(200))
    text = f"[project]\ndependencies = [{listed}]\n[tool.deia]\nlimit = 3\n"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert resolve(str(tmp_path), environ=TRUSTING).limit == 3


def test_a_file_that_cannot_be_read_is_told_and_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "deia.toml").write_text("hold = false\ntelemetry = 'off'\n", encoding="utf-8")
    environ = {**os.environ, **private(tmp_path / "person"), "DEIA_TRUST": "*"}
    (tmp_path / "deia.toml").chmod(0)
    try:
        for command in (("get", "hold"), ("set", "limit", "3")):
            typed = [sys.executable, "-P", "-m", "deia.serve.main", "--commons", str(tmp_path), "config", *command]
            done = subprocess.run(without_rights(*typed), env=environ, capture_output=True, check=False, cwd=ROOT)
            assert done.returncode == 2
            assert b"deia.toml" in done.stderr
            assert b"Traceback" not in done.stderr
    finally:
        (tmp_path / "deia.toml").chmod(0o644)
    assert (tmp_path / "deia.toml").read_text(encoding="utf-8") == "hold = false\ntelemetry = 'off'\n"
