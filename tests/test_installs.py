"""However deia is installed, it answers alike, and nothing is written into where it was installed from."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

QUESTION = "the deploy fails on Netlify, should I delete the site and make it again?"
CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
PLACES = "import deia; from deia.folders import STARTER; print(deia.__path__[0], STARTER, sep=chr(10))"
IGNORED = shutil.ignore_patterns(
    ".venv", "__pycache__", ".git", "events", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository as a fresh clone has it, so that what is written into it shows."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("clone") / "deia", ignore=IGNORED))


def environment(folder: Path) -> Path:
    """Make a virtual environment that also sees the libraries of this one, and return its interpreter.

    deia itself is not among them: a folder on the path is searched, but the `.pth` files in it are not read.
    """
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    home = subprocess.run(asked, capture_output=True, text=True, check=True)
    Path(home.stdout.strip(), "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def install(python: Path, *what: str) -> Path:
    """Install deia from sources here, with the libraries that are there; return the interpreter."""
    flags = ("--quiet", "--no-deps", "--no-build-isolation", "--no-compile")
    done = subprocess.run([python, "-m", "pip", "install", *flags, *what], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return python


def from_clone(checkout: Path, folder: Path) -> Path:
    python = environment(folder)
    purelib = next(folder.rglob("libraries.pth"))
    purelib.write_text(f"{checkout}\n{purelib.read_text(encoding='utf-8')}", encoding="utf-8")
    return python


def from_editable(checkout: Path, folder: Path) -> Path:
    return install(environment(folder), "--editable", str(checkout))


def from_wheel(checkout: Path, folder: Path) -> Path:
    wheels = Path(os.environ.get("WHEEL_FOLDER") or folder.parent / "wheels")  # do.py has built one of these sources
    if not list(wheels.glob("*.whl")):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
        subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    return install(environment(folder), *map(str, wheels.glob("*.whl")))


def from_sdist(checkout: Path, folder: Path) -> Path:
    sources = folder.parent / "sources"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(sources)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    return install(environment(folder), *map(str, sources.glob("*.tar.gz")))


def from_pipx(checkout: Path, folder: Path) -> Path:
    environ = {**os.environ, "PIPX_HOME": str(folder), "PIPX_BIN_DIR": str(folder / "bin"), "USE_EMOJI": "0"}
    command = [sys.executable, "-m", "pipx", "install", str(checkout)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return next(folder.glob("venvs/deia/*/python"))


INSTALLS: dict[str, Callable[[Path, Path], Path]] = {
    "clone": from_clone, "editable": from_editable, "wheel": from_wheel, "sdist": from_sdist, "pipx": from_pipx,
}  # fmt: skip


def run(python: Path, folder: Path, *arguments: str, given: str = "") -> str:
    """Run the interpreter in an empty folder, as somebody new; return what it printed."""
    environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "DEIA_TIER": "static"}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env=environ, input=given, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr + done.stdout
    return done.stdout


def answers(python: Path, folder: Path) -> dict[str, Any]:
    """Return what an installation answers to a question, a call and a trigger's cases, and what it is made of.

    The same code with the same starter judges all cases alike, so that do.py, which judges them once, speaks for all.
    """
    deia = ("-m", "deia.serve.main")
    found = json.loads(run(python, folder, *deia, "search", QUESTION, "--format", "json"))
    hook = run(python, folder, "-c", "import deia.serve.hook as hook; print(hook.__file__)").strip()
    event = json.dumps({**CALL, "session_id": "s", "cwd": str(folder)})
    held = json.loads(run(python, folder, "-I", "-S", hook, "claude-code", given=event))["hookSpecificOutput"]
    return {
        "documents": [(one["id"], one["path"]) for one in found["documents"]["primary"]],
        "decision": held["permissionDecision"],
        "reason": held["permissionDecisionReason"],
        "cases": run(python, folder, *deia, "trigger", "test", "terraform-destroy").splitlines()[-1],
        "made of": made_of(*map(Path, run(python, folder, "-c", PLACES).splitlines())),
    }


def made_of(package: Path, starter: Path) -> dict[str, str]:
    """Return the digests of the code and the data of a package and of what people write in its starter."""
    code = {path: found for path, found in contents(package).items() if not path.startswith("starter/")}
    written = {
        f"{part}/{path}": digest for part in ("bok", "triggers") for path, digest in contents(starter / part).items()
    }
    return {**code, **written, "index": hashlib.sha256((starter / "commons_index.yaml").read_bytes()).hexdigest()}


def contents(folder: Path) -> dict[str, str]:
    """Return every file of a folder with a digest of what it holds, bytecode left out."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the sources under test answer."""
    return answers(Path(sys.executable), tmp_path_factory.mktemp("here"))


@pytest.mark.parametrize("kind", INSTALLS)
def test_an_installation_answers_like_the_others_and_writes_nothing_into_itself(
    checkout: Path, tmp_path: Path, expected: dict[str, Any], kind: str
) -> None:
    python = INSTALLS[kind](checkout, tmp_path / "installed")
    package = Path(run(python, tmp_path, "-c", "import deia; print(deia.__path__[0])").strip())
    before = contents(checkout), contents(package)
    home = tmp_path / "home"
    home.mkdir()
    assert answers(python, home) == expected
    assert (contents(checkout), contents(package)) == before
    assert not [name for name in os.listdir(home) if name[0] != "."]


def test_an_editable_install_leaves_no_copy_of_the_starter(checkout: Path, tmp_path: Path) -> None:
    from_editable(checkout, tmp_path / "installed")
    assert not list((tmp_path / "installed").rglob("commons_index.yaml"))


def test_whoever_works_in_a_clone_adds_to_the_starter_as_contributing_says(checkout: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(checkout, tmp_path / "mine"))
    python = from_editable(copy, tmp_path / "installed")
    deia = (python, "-m", "deia.serve.main")
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "DEIA_TIER": "static"}
    (copy / "bok" / "patterns" / "a-new-lesson.md").write_text("# A new lesson\n\nWash the ladder.\n", encoding="utf-8")
    for arguments in (("index", "build", "--write"), ("lint",), ("search", "wash the ladder")):
        done = subprocess.run([*deia, *arguments], cwd=copy, env=environ, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr
    assert "bok/patterns/a-new-lesson.md" in done.stdout
    assert "bok/patterns/a-new-lesson.md" in (copy / "commons_index.yaml").read_text(encoding="utf-8")
