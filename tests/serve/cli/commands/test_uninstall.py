"""`deia uninstall --purge`, with a deia that works and with one that is half broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.folders import PACKAGE
from deia.serve.setup.own_folders import is_temporary, leaving
from tests.serve.cli.commands.test_install import tree

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

HEAVY = ("numpy", "duckdb", "tantivy", "yaml", "ruamel", "pydantic", "mcp", "rapidfuzz", "jsonschema", "uvicorn")
# Removes everything while the libraries that deia uses for the rest cannot be imported.
HALF_BROKEN = """
import sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {heavy!r}:
            raise ImportError(f"{{name}} was built for another Python")
sys.meta_path.insert(0, Broken())
sys.argv = ["deia", "uninstall", "--purge", "--yes"]
from deia.serve.main import main
main()
"""


def test_a_purge_leaves_nothing_of_deia_but_the_lessons(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    before = tree(commons)
    home = Path(environ["HOME"])
    deia("install", "claude-code", "kiro", "opencode")
    deia("install", "claude-code", "--user", "--mcp", "--statusline")
    shown = deia("uninstall", "--purge", "--dry-run")
    assert f"To be removed: {home / 'state'}" in shown.out
    assert "What stays: your lessons" in shown.out
    assert (home / "state" / "deia-hook").exists()
    done = deia("uninstall", "--purge", "--yes")
    assert (done.code, tree(commons)) == (0, before)
    assert not [path for path in home.rglob("*") if path.is_file()]
    assert "To remove the program, type: " in done.out


def test_a_purge_wants_consent_and_no_host(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    deia("install", "claude-code")
    refused = deia("uninstall", "--purge")
    assert (refused.code, "consent" in refused.err) == (2, True)
    assert deia("uninstall", "codex", "--purge", "--yes").code == 2
    assert (commons / ".claude/settings.json").exists()
    assert (Path(environ["HOME"]) / "state").is_dir()


@pytest.mark.parametrize("what", ["home", "link", "repository"])
def test_a_folder_that_is_more_than_deia_s_is_not_removed(
    deia: Deia, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(Path(environ["HOME"]))
    named = {"home": Path(environ["HOME"]).parent, "link": link, "repository": other}[what]
    monkeypatch.setenv("DEIA_STATE", str(named))
    refused = deia("uninstall", "--purge", "--yes")
    assert (refused.code, "is not removed, since" in refused.err) == (2, True)
    assert (other / ".git").is_dir()


@pytest.mark.slow
def test_a_half_broken_deia_removes_itself(commons: Path, deia: Deia, environ: dict[str, str], tmp_path: Path) -> None:
    before = tree(commons)
    deia("install", "claude-code", "codex")
    (commons / "deia.toml").write_text("broken = [", encoding="utf-8")
    (commons / "commons_index.yaml").write_text(": : :", encoding="utf-8")
    for path in Path(environ["DEIA_CACHE"]).rglob("*"):
        if path.is_file():
            path.write_bytes(b"torn")
    script = tmp_path / "purge.py"
    script.write_text(HALF_BROKEN.format(heavy=HEAVY), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], cwd=commons, capture_output=True, text=True, check=False,
                          env={**environ, "PYTHONPATH": os.path.dirname(PACKAGE)}, timeout=60)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert set(tree(commons)) == {*before, "deia.toml"}
    assert not Path(environ["DEIA_STATE"]).exists()
    assert not Path(environ["DEIA_CACHE"]).exists()


@pytest.mark.parametrize(
    ("package", "temporary", "command"),
    [
        ("/home/you/.cache/uv/archive-v0/x1/lib/python3.13/site-packages/deia", True, "pip uninstall deia"),
        ("/home/you/.local/pipx/.cache/6f/lib/python3.13/site-packages/deia", True, "pip uninstall deia"),
        (r"C:\Users\you\AppData\Local\uv\cache\archive-v0\x\Lib\site-packages\deia", True, "pip uninstall deia"),
        ("/home/you/.local/share/uv/tools/deia/lib/python3.13/site-packages/deia", False, "uv tool uninstall deia"),
        ("/home/you/.local/share/pipx/venvs/deia/lib/python3.13/site-packages/deia", False, "pipx uninstall deia"),
        ("/usr/lib/python3/dist-packages/deia", False, "pip uninstall deia"),
    ],
)
def test_where_the_program_is_says_how_it_is_removed(package: str, command: str, *, temporary: bool) -> None:
    assert (is_temporary(package), leaving({}, package)) == (temporary, command)
