"""`deia trust` and what trusts by the way: only what a person types at a terminal changes the list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.folders import is_trusted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.conftest import Process

    Typed = Callable[..., str]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    """Return the environment of a person who trusts nobody yet."""
    return {**environ, "DEIA_TRUST": ""}


@pytest.fixture
def typed(environ: dict[str, str], commons: Path) -> Typed:
    """Return a function that types a command at a terminal, and returns what it prints."""

    def type_(*words: str, folder: Path = commons, **variables: str) -> str:
        person, terminal = os.openpty()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "deia.serve.main", *words], stdin=terminal, capture_output=True, check=False,
                cwd=folder, env={**environ, **variables}, timeout=120,
            )  # fmt: skip
        finally:
            os.close(person)
            os.close(terminal)
        return (done.stdout + done.stderr).decode()

    return type_


@pytest.mark.slow
def test_a_person_trusts_a_commons_and_takes_it_back(typed: Typed, commons: Path, environ: dict[str, str]) -> None:
    assert "trust no commons yet" in typed("trust", "--list")
    assert f"You trust {commons}\n" in typed("trust")
    assert is_trusted(str(commons), environ)
    assert typed("trust", "--list") == f"{commons}\n"
    assert json.loads(typed("trust", "--list", "--json")) == [str(commons)]
    assert "taken off the list" in typed("trust", "--remove")
    assert not is_trusted(str(commons), environ)
    assert "is not on the list" in typed("trust", "--remove")


@pytest.mark.slow
def test_all_below_a_folder_can_be_trusted(typed: Typed, commons: Path, environ: dict[str, str]) -> None:
    above = str(commons.parent)
    assert "add --below" in typed("trust", above)
    assert f"You trust {above}/**" in typed("trust", above, "--below")
    assert is_trusted(str(commons), environ)
    assert "still trusted" in typed("trust", above, "--below", "--remove", DEIA_TRUST="*")
    assert not is_trusted(str(commons), environ)


@pytest.mark.slow
def test_without_a_terminal_nothing_is_trusted(process: Process, commons: Path, environ: dict[str, str]) -> None:
    for words in (("trust",), ("trust", "--below", "/"), ("trust", "--remove")):
        done = process(*words, DEIA_TRUST="")
        assert done.returncode == 2
        assert b"only a person at a terminal" in done.stderr
    assert b"trust no commons yet" in process("trust", "--list", DEIA_TRUST="").stdout
    for words in (("add", "--title", "A lesson"), ("init", "new"), ("install", "claude-code", "--yes")):
        done = process(*words, DEIA_TRUST="")
        assert done.returncode == 0, done.stderr
        assert b"type in a terminal: deia trust" in done.stdout
    assert not is_trusted(str(commons), environ)
    assert not is_trusted(f"{commons}/new", environ)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("add", "--title", "A lesson"), ("install", "claude-code", "--yes")])
def test_what_a_person_types_in_a_commons_trusts_it_and_says_so(
    typed: Typed, commons: Path, environ: dict[str, str], words: tuple[str, ...]
) -> None:
    said = typed(*words)
    assert f"You trust {commons} from now on. To take that back, type: deia trust --remove" in said
    assert is_trusted(str(commons), environ)
    assert "from now on" not in typed(*words)


def test_a_hook_for_all_projects_trusts_none_of_them(typed: Typed, commons: Path, environ: dict[str, str]) -> None:
    assert "This commons is not trusted" in typed("install", "claude-code", "--user", "--yes")
    assert not is_trusted(str(commons), environ)


@pytest.mark.slow
def test_only_a_new_commons_is_trusted_by_starting_it(typed: Typed, commons: Path, environ: dict[str, str]) -> None:
    assert "You trust" in typed("init", "new")
    assert is_trusted(f"{commons}/new", environ)
    for marker in ("triggers", "bok", "deia.toml", "packs"):
        folder = commons / f"with-{marker}"
        folder.mkdir()
        (folder / marker).mkdir() if "." not in marker else (folder / marker).touch()
        assert "You trust" not in typed("init", folder.name)
        assert not is_trusted(str(folder), environ)


@pytest.mark.slow
def test_the_settings_say_what_is_ignored_and_what_is_out_of_bounds(
    typed: Typed, commons: Path, process: Process
) -> None:
    (commons / "deia.toml").write_text("deadline_ms = 1\nhold = false\n", encoding="utf-8")
    said = json.loads(typed("config", "--json"))
    assert (said["trusted"]["value"], said["hold"]) == ("no", {"value": True, "source": "default"})
    assert said["trusted"]["source"].startswith("deia.toml ignored")
    doctor = typed("doctor")
    assert "you have not trusted this commons: its lessons can only add notes; deia.toml does not count" in doctor
    typed("trust")
    said = json.loads(typed("config", "--json"))
    assert said["trusted"] == {"value": "yes", "source": "deia trust"}
    assert said["deadline_ms"] == {
        "value": 250, "source": "deia.toml; deia.toml says 1; a project may set 250 to 1000",
    }  # fmt: skip
    doctor = typed("doctor")
    assert "hold = false weakens deia; it was set by deia.toml" in doctor
    assert "deadline_ms is 250, because deia.toml says 1" in doctor
    assert "you have not trusted" not in process("doctor", DEIA_TRUST="*").stdout.decode()


@pytest.mark.slow
def test_searches_and_checks_say_where_an_untrusted_trigger_comes_from(typed: Typed) -> None:
    assert '"origin":"untrusted"' in typed("trigger", "list", "--json").replace('": "', '":"')
    assert "low" in typed("check", "I will delete the shop site now")
    assert "repository that the person has not trusted" in typed("search", "site checklist")
    assert "not trusted" not in typed("search", "site checklist", DEIA_TRUST="*")
