"""Whom a person trusts: what a line of the list and the variable mean, and what they never mean."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from deia.folders import CHECKOUT, STARTER, derived_folder, events_folder, find_commons, is_trusted
from deia.problems import CommonsError
from deia.trust import distrust, listed, trust

POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such owners and names")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a person who trusts nobody yet."""
    return {"DEIA_STATE": str(tmp_path / "state"), "DEIA_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Return a folder that is a commons."""
    folder = tmp_path / "clone" / "inner"
    folder.mkdir(parents=True)
    (folder / "deia.toml").touch()
    return folder.as_posix()


def test_nobody_is_trusted_but_deia_itself(root: str, environ: dict[str, str]) -> None:
    assert not is_trusted(root, environ)
    assert is_trusted(STARTER, environ)
    assert is_trusted(CHECKOUT, environ)


def test_a_line_means_one_folder_and_is_taken_off_again(root: str, environ: dict[str, str]) -> None:
    assert trust(root, environ) == trust(root, environ)
    assert listed(environ) == [os.path.realpath(root).replace("\\", "/")]
    assert is_trusted(root, environ)
    assert not is_trusted(os.path.dirname(root), environ)
    assert not is_trusted(f"{root}/vendor", environ)
    assert distrust(root, environ)
    assert not distrust(root, environ)
    assert not is_trusted(root, environ)


def test_a_line_for_all_below_means_the_folder_too_and_nothing_beside_it(root: str, environ: dict[str, str]) -> None:
    above = os.path.dirname(root)
    trust(above, environ, below=True)
    assert all(is_trusted(path, environ) for path in (above, root))
    os.mkdir(f"{above}-other")
    assert not is_trusted(f"{above}-other", environ)
    assert not is_trusted(os.path.dirname(above), environ)


@POSIX
def test_a_link_means_the_folder_that_it_leads_to(root: str, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    trust(str(tmp_path / "link"), environ)
    assert is_trusted(root, environ)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    assert not is_trusted(str(tmp_path / "link"), environ)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_of_what_is_below_a_folder_only_what_the_person_owns_is_trusted(root: str, environ: dict[str, str]) -> None:
    trust(os.path.dirname(root), environ, below=True)
    assert is_trusted(root, environ)
    os.chown(root, 12345, 12345)
    assert not is_trusted(root, environ)
    assert not is_trusted(root, {**environ, "DEIA_TRUST": f"{os.path.dirname(root)}/**"})
    assert is_trusted(root, {**environ, "DEIA_TRUST": "*"})  # as git takes `safe.directory = *`
    trust(root, environ)
    assert is_trusted(root, environ)


@POSIX
@pytest.mark.parametrize("name", ["a\nb", "**"])
def test_a_folder_whose_name_would_mean_another_is_not_put_on_the_list(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(CommonsError, match="cannot hold"):
        trust(str(tmp_path / name), environ)
    assert not listed(environ)


@pytest.mark.parametrize("value", ["", ".", "clone", "**", "inner", "./**", os.pathsep, "/nowhere", "*x"])
def test_only_full_paths_and_the_star_count_in_the_variable(
    root: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.chdir(root)
    assert not is_trusted(root, {**environ, "DEIA_TRUST": value})


def test_the_variable_names_several_folders(root: str, environ: dict[str, str]) -> None:
    for value in ("*", root, f"/nowhere{os.pathsep}{root}", f"{os.path.dirname(root)}/**", f"{root}/../inner"):
        assert is_trusted(root, {**environ, "DEIA_TRUST": value}), value


def test_no_file_of_a_repository_sets_the_variable(
    root: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(root, ".env").write_text("DEIA_TRUST=*\n", encoding="utf-8")
    Path(root, "deia.toml").write_text('trust = "*"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    assert not is_trusted(root, environ)


def test_compiled_files_and_the_log_are_elsewhere_until_a_commons_is_trusted(
    root: str, environ: dict[str, str]
) -> None:
    before = derived_folder(root, environ), events_folder(root, environ)
    assert before[0].startswith(f"{environ['DEIA_CACHE']}/untrusted-")
    assert before[1].startswith(f"{environ['DEIA_STATE']}/untrusted/")
    trust(root, environ)
    assert derived_folder(root, environ).startswith(f"{environ['DEIA_CACHE']}/commons-")
    assert events_folder(root, environ) == f"{root}/telemetry/events"
    distrust(root, environ)
    assert (derived_folder(root, environ), events_folder(root, environ)) == before


def test_an_untrusted_commons_does_not_hide_a_trusted_one_further_up(root: str, environ: dict[str, str]) -> None:
    above = os.path.dirname(root)
    Path(above, "deia.toml").touch()
    assert find_commons(f"{root}/src", environ=environ) == root
    trust(above, environ)
    assert find_commons(f"{root}/src", environ=environ) == above
    trust(root, environ)
    assert find_commons(f"{root}/src", environ=environ) == root


@POSIX
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "bytes"])
def test_whatever_is_in_the_place_of_the_list_nobody_waits_or_is_trusted(
    root: str, environ: dict[str, str], kind: str
) -> None:
    place = Path(environ["DEIA_STATE"], "trusted")
    place.parent.mkdir()
    match kind:
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "device":
            place.symlink_to("/dev/zero")
        case _:
            place.write_bytes(b"\xff\x00\n" * 100 + b"/**/\n*\r\n")
    began = time.perf_counter()
    assert not is_trusted(root, environ)
    assert time.perf_counter() - began < 1
