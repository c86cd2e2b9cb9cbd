"""The wheel contains what a user needs and nothing else, and its metadata agrees with the project's files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import deia
from tests.paths import ROOT

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Return the wheel in WHEEL_FOLDER, or else a wheel built now."""
    folder = Path(os.environ.get("WHEEL_FOLDER") or tmp_path_factory.mktemp("wheel"))
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def named(wheel: zipfile.ZipFile, ending: str) -> str:
    """Return the text of the only file of a wheel whose path ends with `ending`."""
    (name,) = [name for name in wheel.namelist() if name.endswith(ending)]
    return wheel.read(name).decode()


def test_the_wheel_has_every_file_of_the_package_and_the_starter_commons(wheel: zipfile.ZipFile) -> None:
    ignored = {"__pycache__"}
    files = [path for path in (ROOT / "deia").rglob("*") if path.is_file() and not ignored & set(path.parts)]
    wanted = {path.relative_to(ROOT).as_posix() for path in files}
    starter = [
        ROOT / "commons_index.yaml",
        ROOT / "docs/ERRORS.md",
        *(ROOT / "triggers").rglob("*.*"),
        *(ROOT / "bok").rglob("*.md"),
    ]
    wanted |= {f"deia/starter/{path.relative_to(ROOT).as_posix()}" for path in starter}
    wanted |= {"deia/starter/ready/starter.json", "deia/starter/ready/units"}  # made by the build
    assert {"deia/py.typed", "deia/starter/commons_index.yaml", "deia/serve/hook.py"} <= wanted
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == wanted


def test_the_wheel_has_the_licence(wheel: zipfile.ZipFile) -> None:
    assert named(wheel, "/licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_wheel_has_both_commands(wheel: zipfile.ZipFile) -> None:
    told = named(wheel, "/entry_points.txt")
    assert "deia = deia.serve.main:main" in told
    assert "deia-hook = deia.serve.hook:main" in told


def test_the_version_is_the_same_everywhere(wheel: zipfile.ZipFile) -> None:
    metadata = Parser().parsestr(named(wheel, "/METADATA"))
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest
    assert {metadata["Version"], deia.__version__, newest[1]} == {PROJECT["version"]}


# What extras are called where they are not installed, by the name that is imported.
UNINSTALLED = {
    "agents": "openai-agents", "google": "google-adk", "pydantic_ai": "pydantic-ai-slim",
}  # fmt: skip


def test_everything_imported_is_declared() -> None:
    extras = [wanted for name, extra in PROJECT["optional-dependencies"].items() if name != "dev" for wanted in extra]
    declared = {
        re.split(r"[^\w.-]", wanted)[0].lower().replace("-", "_") for wanted in PROJECT["dependencies"] + extras
    }
    provided = packages_distributions()
    imported = {name for path in (ROOT / "deia").rglob("*.py") for name in imports(path)}
    foreign = imported - set(sys.stdlib_module_names) - {"deia"}
    assert foreign >= {"click", "yaml"}
    names = {name: [*provided.get(name, ()), UNINSTALLED.get(name, name)] for name in foreign}
    assert {name for name in foreign if not {one.lower().replace("-", "_") for one in names[name]} & declared} == set()


def imports(path: Path) -> set[str]:
    """Return the top-level names that a module imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    direct = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return {
        name.split(".")[0] for name in direct | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    }
