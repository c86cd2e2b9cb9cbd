"""A machine of its own for one run: a fresh home folder and repository, programs that only leave a line, and deia."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATIENCE = 90.0  # seconds for a host's turn
MOST_ENDING = 10.0  # for what a host leaves behind
SHORT_PATIENCE = 60.0  # and for a command of deia or git
DENIED = "An error occurred (AccessDenied) when calling the PutObject operation: Access Denied"
REFUSED = "Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures"
PROGRAMS = {  # what they print besides leaving a line; what they really do is nothing
    "terraform": 'echo "Destroy complete! Resources: 3 destroyed."',
    "ssh": f'case "$*" in *fails*) echo "{REFUSED}" >&2; exit 255;; *) echo "{REFUSED}";; esac',
    "aws": f'case "$*" in *fails*) echo "{DENIED}" >&2; exit 254;; s3*) echo "{DENIED}";; *) echo "{{}}";; esac',
    "npm": "echo '- left-pad'",
}
OWN = (".cache/deia", ".local/state/deia", ".local/share/deia")  # what deia keeps for itself, below the home folder
PROFILES = (".bash_profile", ".profile", ".bashrc", ".zshenv")
GIT = (
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "start"],
    ["branch", "feature"],
)


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a program."""

    code: int | None  # None if it took too long
    printed: str
    seconds: float


@dataclass(kw_only=True)
class Machine:
    """The folders and the environment of one run."""

    folder: Path
    node: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.folder / "home"

    @property
    def work(self) -> Path:
        """The repository that the host works in."""
        return self.folder / "work"

    @property
    def executed(self) -> list[tuple[float, str]]:
        """What the programs that leave a line were called with, and when."""
        log = self.folder / "executed.log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return [(float(at), command) for at, _, command in (line.partition(" ") for line in lines)]

    def write(self, path: str, text: str) -> None:
        """Write a file below the home folder."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def deia(self, *words: str) -> Done:
        """Run a command of deia in the repository."""
        return self.run([str(self.folder / "bin" / "deia"), *words], patience=SHORT_PATIENCE)

    def run(self, command: Sequence[str], *, patience: float = PATIENCE) -> Done:
        """Run a program until it ends or its time is over, and leave nothing of it behind."""
        began = time.time()
        with (self.folder / "printed").open("w+b") as printed:
            process = subprocess.Popen(
                ["nice", "-n", "10", *command], cwd=self.work, env=self.environ, stdin=subprocess.DEVNULL,
                stdout=printed, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                code: int | None = process.wait(patience)
            except subprocess.TimeoutExpired:
                code = None
            taken = time.time() - began
            self._end(process)
            printed.seek(0)
            return Done(code=code, printed=printed.read().decode("utf-8", "replace"), seconds=taken)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End a program's group, and what left the group but still has this machine's home."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end = time.monotonic() + MOST_ENDING
        while (left := list(self._left())) and time.monotonic() < end:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _left(self) -> Iterator[int]:
        """Yield the processes that have this machine's home, where the system shows it."""
        mark = f"HOME={self.home}\0".encode()
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in place.read_bytes() + b"\0":
                    yield int(place.parent.name)

    def files(self) -> dict[str, bytes]:
        """Return every file of the home folder and the repository, without what deia keeps for itself."""
        kept = tuple(str(self.home / name) for name in OWN)
        paths = (path for top in (self.home, self.work) for path in top.rglob("*"))
        return {str(path): path.read_bytes() for path in paths if path.is_file() and not str(path).startswith(kept)}


def make_machine(folder: Path, *, node: Path, compiled: Path | None) -> Machine:
    """Make a machine; `compiled` is a cache of deia's that saves it from compiling the starter in every run."""
    machine = Machine(folder=folder, node=node)
    for own in (machine.home, machine.work, folder / "bin", folder / "tmp"):
        own.mkdir(parents=True)
    for name, then in PROGRAMS.items():
        _program(folder, name, then)
    (folder / "bin" / "deia").symlink_to(Path(sys.executable).parent / "deia")
    path = f"{folder / 'bin'}:{node}:/usr/local/bin:/usr/bin:/bin"
    machine.environ = {
        "HOME": str(machine.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash",
        "TMPDIR": str(folder / "tmp"), "NO_COLOR": "1",
    }  # fmt: skip
    for profile in PROFILES:
        machine.write(profile, f'export PATH="{path}"\n')
    if compiled is not None:
        shutil.copytree(compiled, machine.home / ".cache" / "deia")
    _repository(machine)
    return machine


def _program(folder: Path, name: str, then: str) -> None:
    path = folder / "bin" / name
    path.write_text(
        f'#!/bin/sh\necho "$(date +%s.%N) {name} $*" >> "{folder}/executed.log"\n{then}\n', encoding="utf-8"
    )
    path.chmod(0o755)


def _repository(machine: Machine) -> None:
    (machine.work / "README.md").write_text("# shop\n", encoding="utf-8")
    remote = str(machine.folder / "remote.git")
    for words in (*GIT, ["init", "-q", "--bare", remote], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *words], cwd=machine.work, env=machine.environ, check=True, timeout=SHORT_PATIENCE)


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of the names in it."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
