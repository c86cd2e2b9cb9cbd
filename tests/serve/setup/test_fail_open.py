"""Whatever happens to deia, no host is kept from going on: what is installed is run as the host runs it, and broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia import files
from deia.folders import PACKAGE, _fingerprint
from deia.serve.setup.hook_installation import Spot, hook_parts
from deia.serve.setup.host_settings.hook_file import words_in
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PLUGIN, SETUPS, Machine
from deia.serve.setup.host_settings.launcher import launched_command, spoken_keys, write_launcher
from deia.serve.setup.live_check import Output, read_output
from deia.serve.setup.settings_changes import carry_out, planned
from deia.watch.gate.artefact import MAGIC
from tests.serve.setup.test_installed_hooks import ACT, EVENTS, NODE, started

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.hosted import Hosted

    Hosts = Callable[[str], Hosted]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher of Windows is tested as Python runs it, below")
HOSTS = [setup.host for setup in SETUPS]
CALL = "shopctl site:delete --yes"
LESSON = "Save the domain records first."
MENDING = "To mend it, install deia again"
MOMENTS = ("prompt", "before_tool", "after_tool")
UNUSED = shutil.ignore_patterns("models", "__pycache__", "starter")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the program, whose files others may link."""
    return Path(shutil.copytree(PACKAGE, tmp_path_factory.mktemp("sources") / "deia", ignore=UNUSED))


@pytest.fixture
def patient(environ: dict[str, str]) -> None:
    """Let hooks take long: these programs have no bytecode yet, and a busy machine is not to decide what is held."""
    environ["DEIA_DEADLINE_MS"] = "30000"


class Installation:
    """A program of its own, a Python of its own and the settings of a host, which start the one with the other."""

    def __init__(self, it: Hosted, folder: Path, sources: Path) -> None:
        self.it, self.host = it, it.host
        self.package = folder / "it's a place" / "deia"
        shutil.copytree(sources, self.package, copy_function=os.link)
        (compiled,) = Path(it.environ["DEIA_CACHE"]).glob("commons-*")  # where this installation looks for it
        compiled.rename(compiled.with_name(f"commons-{_fingerprint(files.real(str(self.package)))}"))
        self.python = folder / "it's a place" / "python3"
        self.python.symlink_to(getattr(sys, "_base_executable", sys.executable))
        hook, status = (str(self.package / "serve" / name) for name in ("hook.py", "statusline.py"))
        write_launcher([str(self.python)], hook, status, environ=it.environ)
        command = launched_command(str(self.python), self.host, environ=it.environ)
        machine = Machine(project=it.folder, environ=it.environ)
        self.spot = Spot(setup=BY_NAME[self.host], scope="project", machine=machine)
        for change in planned(hook_parts(self.spot, command)).changes:
            carry_out(change)

    def start(self, moment: str) -> list[str]:
        """Return what the host starts at a moment."""
        if self.host not in ACT:
            return started(self.host, Path(self.it.folder), EVENTS[self.host][MOMENTS.index(moment)])
        (path,) = self.spot.paths
        return words_in(BY_NAME[self.host], Path(path).read_text(encoding="utf-8"))

    def send(
        self, moment: str, text: str, mark: str, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the hook for an event as the host does."""
        event = json.dumps(self.it.event(moment, text, mark=mark)).encode()
        return subprocess.run([*before, *self.start(moment)], input=event, capture_output=True, check=False,
                              env=self.it.environ, cwd=self.it.folder, timeout=60)  # fmt: skip


@pytest.fixture
def installed(hosted: Hosts, tmp_path: Path, sources: Path) -> Callable[[str], Installation]:
    """Return a function that connects a host with a program that a test may break."""
    return lambda host: Installation(hosted(host), tmp_path, sources)


def remove_program(it: Installation) -> None:
    shutil.rmtree(it.package)


def remove_python(it: Installation) -> None:
    it.python.unlink()


def break_python(it: Installation) -> None:
    it.python.unlink()
    it.python.write_text("#!/bin/sh\necho no such library >&2\nexit 127\n", encoding="utf-8")
    it.python.chmod(0o755)


def tear_hook(it: Installation) -> None:
    replace(it.package / "serve/hook.py", "def main(:\n")


def take_modules(it: Installation) -> None:
    shutil.rmtree(it.package / "watch")


def mix_versions(it: Installation) -> None:
    replace(it.package / "records.py", "TYPE_CHECKING = False\n")


def replace(path: Path, text: str) -> None:
    path.unlink()  # the file is a link of the copy that all tests share
    path.write_text(text, encoding="utf-8")


BREAKAGES = [remove_program, remove_python, break_python, tear_hook, take_modules, mix_versions]


def blocks(host: str, done: subprocess.CompletedProcess[bytes]) -> bool:
    """Return whether a host would block something after this: of all answers, only what the launcher says is let by."""
    answer = json.loads(done.stdout) if done.stdout else {}
    return bool(done.returncode or set(answer) - {spoken_keys().get(host)})


@pytest.mark.parametrize("broken", BREAKAGES)
@pytest.mark.parametrize("host", HOSTS)
def test_a_broken_deia_blocks_nothing_and_says_so_once(
    installed: Callable[[str], Installation], host: str, broken: Callable[[Installation], None]
) -> None:
    it = installed(host)
    broken(it)
    moments = [moment for moment in ("prompt", "before_tool", "before_tool") if it.it.event(moment, CALL) is not None]
    done = [it.send(moment, CALL, mark) for moment, mark in zip(moments, "abc", strict=False)]
    assert not [each for each in done if blocks(host, each)]
    said = [each.stdout if host in spoken_keys() else each.stderr for each in done]
    assert [MENDING.encode() in each for each in said] == [True] + [False] * (len(done) - 1)
    if host in spoken_keys():
        assert f"deia install {host}" in json.loads(said[0])[spoken_keys()[host]]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("host", HOSTS)
def test_what_was_mended_holds_again_and_a_second_breakage_is_said_again(
    installed: Callable[[str], Installation], host: str, tmp_path: Path
) -> None:
    it = installed(host)
    it.send("before_tool", "ls", "w")  # makes the bytecode; without it a hook takes ten times as long
    shutil.move(it.package, tmp_path / "away")
    first = it.send("before_tool", CALL, "a")
    shutil.move(tmp_path / "away", it.package)
    held = it.send("before_tool", CALL, "b")
    assert LESSON.encode() in held.stdout + held.stderr
    shutil.move(it.package, tmp_path / "away")
    second = it.send("before_tool", CALL, "c")
    assert MENDING.encode() in first.stdout + first.stderr
    assert MENDING.encode() in second.stdout + second.stderr


@pytest.mark.parametrize("host", HOSTS)
def test_compiled_triggers_of_a_newer_version_block_nothing(
    installed: Callable[[str], Installation], host: str
) -> None:
    it = installed(host)
    (compiled,) = (path for path in Path(it.it.environ["DEIA_CACHE"]).rglob("triggers") if path.is_file())
    compiled.write_bytes(b"DEIATFF\n" + compiled.read_bytes()[len(MAGIC) :])
    done = it.send("before_tool", CALL, "a")
    assert (done.returncode, b"deny" in done.stdout) == (0, False)


@pytest.mark.parametrize("host", HOSTS)
def test_without_the_launcher_the_hooks_do_nothing(installed: Callable[[str], Installation], host: str) -> None:
    it = installed(host)
    shutil.rmtree(it.it.environ["DEIA_STATE"])
    done = it.send("before_tool", CALL, "a")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


FULL = 'mount -t tmpfs -o size=4m none "$1" && cp -R "$2" "$1/cache" && cat /dev/zero > "$1/rest"; shift 2; exec "$@"'
ON_FULL_DISK = ("unshare", "--map-root-user", "--mount", "sh", "-c", FULL, "sh")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("host", HOSTS)
def test_on_a_full_disk_nothing_is_blocked(
    installed: Callable[[str], Installation], host: str, tmp_path: Path, *, missing: bool
) -> None:
    it, full = installed(host), tmp_path / "full"
    full.mkdir()
    before = (*ON_FULL_DISK, str(full), it.it.environ["DEIA_CACHE"])
    done = subprocess.run([*before, "sh", "-c", 'echo full > "$0/new"', str(full)], check=False, capture_output=True)
    if b"No space left" not in done.stderr:
        pytest.skip("no file system may be mounted here")
    launcher = Path(it.it.environ["DEIA_STATE"], "deia-hook")
    text = launcher.read_text(encoding="utf-8").replace(str(launcher.parent), str(full))
    launcher.write_text(text, encoding="utf-8")
    it.it.environ.update(dict.fromkeys(("DEIA_STATE", "TMPDIR", "XDG_RUNTIME_DIR"), str(full)))
    it.it.environ["DEIA_CACHE"] = str(full / "cache")
    if missing:
        remove_program(it)
    done = it.send("before_tool", CALL, "a", before)
    moment = EVENTS[host][1] if host in EVENTS else BY_NAME[host].tried["before_tool"]
    heard = read_output(host, "before_tool", moment, Output(code=done.returncode, out=done.stdout, err=done.stderr))
    assert (done.returncode, heard.held) == (0, False)


@pytest.mark.skipif(not NODE, reason="node is not installed")
@pytest.mark.parametrize("host", ACT)
def test_a_plugin_goes_on_when_deia_is_gone(
    installed: Callable[[str], Installation], host: str, tmp_path: Path
) -> None:
    it = installed(host)
    remove_program(it)
    (path,) = it.spot.paths
    shutil.copy(path, tmp_path / "plugin.mjs")
    (tmp_path / "act.mjs").write_text(ACT[host], encoding="utf-8")
    done = subprocess.run([NODE, str(tmp_path / "act.mjs"), it.it.folder, CALL], capture_output=True, check=True,
                          env=it.it.environ, cwd=it.it.folder, timeout=60)  # fmt: skip
    assert done.stdout.decode().strip() in {"", "undefined"}


def test_every_plugin_is_one_of_those() -> None:
    assert {setup.host for setup in SETUPS if setup.shape == PLUGIN} == set(ACT)
