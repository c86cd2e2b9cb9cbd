"""Compiled files of commons that are gone are removed in time, and nobody else's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from deia.compile import abandoned
from deia.compile.abandoned import remove_abandoned
from deia.compile.compiler import compile_commons
from deia.folders import commons_caches, derived_folder, root_of
from tests.derived import private

NOW = time.time()
LATER = NOW + abandoned.SECONDS + 86_400


def compiled(folder: Path, environ: dict[str, str]) -> Path:
    (folder / "triggers").mkdir(parents=True)
    return Path(compile_commons(str(folder), environ=environ).folder)


def test_a_folder_goes_when_its_commons_has_been_gone_for_long(tmp_path: Path) -> None:
    environ = private(tmp_path)
    gone, there = compiled(tmp_path / "a gone: 100%", environ), compiled(tmp_path / "there", environ)
    shutil.rmtree(tmp_path / "a gone: 100%")
    assert remove_abandoned(environ, now=NOW) == []
    assert remove_abandoned(environ, now=LATER) == [str(gone)]
    assert not gone.exists()
    assert there.exists()


def test_deia_compile_removes_them(tmp_path: Path) -> None:
    environ = private(tmp_path)
    gone = compiled(tmp_path / "gone", environ)
    shutil.rmtree(tmp_path / "gone")
    for path in (gone, *gone.iterdir()):
        os.utime(path, (NOW - abandoned.SECONDS - 60,) * 2)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/deia.toml").touch()
    command = [sys.executable, "-m", "deia.serve.main", "--commons", str(tmp_path / "there"), "compile"]
    subprocess.run(command, env={**os.environ, **environ}, check=True, capture_output=True)
    assert not gone.exists()


def test_what_is_no_folder_of_a_commons_stays(tmp_path: Path) -> None:
    environ = private(tmp_path)
    cache = Path(commons_caches(environ)[0])
    victim = tmp_path / "victim"
    victim.mkdir()
    cache.mkdir(parents=True)
    for name in ("other", "half+", "%2Fa%2", "=", "a=b"):
        (cache / name).mkdir()
    (cache / "%2Fno%2Fsuch=").symlink_to(victim)
    assert remove_abandoned(environ, now=LATER) == []
    assert victim.exists()


def test_only_so_many_are_removed_at_a_time(tmp_path: Path) -> None:
    environ = private(tmp_path)
    for number in range(abandoned.MOST_REMOVED + 3):
        os.makedirs(derived_folder(f"{tmp_path}/gone-{number}", environ))
    assert len(remove_abandoned(environ, now=LATER)) == abandoned.MOST_REMOVED
    assert len(remove_abandoned(environ, now=LATER)) == 3


def test_a_name_in_the_cache_is_read_back_as_its_root(tmp_path: Path) -> None:
    for root in ("/a/b", "/a%2Fb=", "/a b/ü:c", "/a/\udcff\ud800", "/日本"):
        assert root_of(Path(derived_folder(root, private(tmp_path))).name) == root
    long = Path(derived_folder("/x" * 300, private(tmp_path)))
    assert root_of(long.relative_to(private(tmp_path)["DEIA_CACHE"]).parts[1]) == ""
