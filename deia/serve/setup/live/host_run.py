"""Runs a host once against the fake model, in a home folder and a working folder of its own, for a limited time.

Of the person's settings it has deia's hooks alone: no key, no login, no conversation. Whatever the host asks of another
server than the model's goes to a proxy that refuses it.

How a host is started without a person is said in `headless.toml` beside this module.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

from deia import files
from deia.folders import TRUSTED, cache_folder, state_folder
from deia.records import Record
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hosts_table import Machine
from deia.serve.setup.live.fake_model import Exchange, FakeModel
from deia.serve.setup.live.model_request import Step
from deia.tables import toml_beside

LIMIT = 90.0  # seconds for a run; OpenCode's first one takes half a minute
VERSION_LIMIT = 15.0
VERSION = re.compile(rb"\d+(?:\.[0-9A-Za-z-]+)+")
MOST_OUTPUT = 4_000  # bytes from the end of what a host printed
RUNNABLE = 0o755
OURS = ("DEIA_COMMONS", "DEIA_TRUST")  # of the person's environment
SYSTEMS = ("SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR", "SYSTEMDRIVE", "TZ")  # without which programs do not start
HOMES = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP")
PROFILES = (".bash_profile", ".profile", ".bashrc", ".zshenv")  # shells of a login set the search path anew
Connect = Callable[[Machine], object]  # enters deia's hooks into the settings of the machine of a run


class Headless(Record):
    """How one host is started against a model on loopback, or why it cannot be."""

    program: str = ""
    setup: tuple[str, ...] = ()  # what is run first, if anything
    start: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # below the home folder
    unseen: str = ""

    def filled(self, **values: str) -> Headless:
        """Return this with every `{name}` replaced by its value."""

        def fill(text: str) -> str:
            for name, value in values.items():
                text = text.replace(f"{{{name}}}", value)
            return text

        return self.but(
            setup=tuple(map(fill, self.setup)), start=tuple(map(fill, self.start)),
            environ={name: fill(value) for name, value in self.environ.items()},
            files={name: fill(text) for name, text in self.files.items()},
        )  # fmt: skip


def _read() -> dict[str, Headless]:
    tables = toml_beside(__file__, "headless")
    words = {host: {name: tuple(table.get(name, ())) for name in ("setup", "start")} for host, table in tables.items()}
    return {host: Headless(**table | words[host]) for host, table in tables.items()}


HEADLESS: Mapping[str, Headless] = _read()


class Trial(Record):
    """What is tried: what the person says, the command that the model asks for twice, and what it prints."""

    prompt: str
    command: str
    printed: str


class Arrived(Record):
    """What a run came to."""

    exchanges: tuple[Exchange, ...]  # with the model, those with tools
    ran: int  # how often the command was run
    hooked: bool  # whether deia's hook has remembered anything
    output: str  # the last lines that the host printed
    late: bool  # whether it was ended because its time was over
    seconds: float


def run_host(headless: Headless, trial: Trial, connect: Connect, environ: Mapping[str, str]) -> Arrived:
    """Return what arrived at the model and at the shell when a host was run once."""
    script = (Step(shell=trial.command), Step(shell=trial.command))
    with tempfile.TemporaryDirectory(prefix="deia-live-", ignore_cleanup_errors=True) as place:
        folder = os.path.realpath(place)
        with FakeModel(script) as model:
            machine = _machine(folder, trial, environ)
            run = headless.filled(url=model.url, prompt=trial.prompt, home=machine.home, work=machine.project)
            for name, text in run.files.items():
                write(os.path.join(machine.home, *name.split("/")), text)
            connect(machine)
            own = {**machine.environ, **_no_network(model.url), **run.environ}
            began = time.monotonic()
            late = False
            for words in filter(None, (run.setup, run.start)):
                left = LIMIT - (time.monotonic() - began)
                command = [program_of(run, environ), *words]
                late = late or not _ends(command, machine.project, own, folder, seconds=left)
            seconds = time.monotonic() - began
        return Arrived(
            exchanges=tuple(exchange for exchange in model.exchanges if exchange.request.tools), seconds=seconds,
            ran=len((files.read(f"{folder}/ran") or b"").split()), hooked=bool(files.names(f"{folder}/state/memory")),
            output=files.read_end(f"{folder}/output", MOST_OUTPUT).decode("utf-8", "replace"), late=late,
        )  # fmt: skip


def program_of(headless: Headless, environ: Mapping[str, str]) -> str:
    """Return the path of a host's program, or the empty text if it is not on the search path."""
    return shutil.which(headless.program, path=environ.get("PATH", "")) or ""


def version_of(headless: Headless, environ: Mapping[str, str]) -> str:
    """Return the version that a host's program names, or the empty text; it gets a home folder of its own."""
    with tempfile.TemporaryDirectory(prefix="deia-live-", ignore_cleanup_errors=True) as folder:
        own = {**_basics(folder, environ), **_no_network("http://127.0.0.1:9"), **headless.environ}
        _ends([program_of(headless, environ), "--version"], folder, own, folder, seconds=VERSION_LIMIT)
        named = VERSION.search(files.read_end(f"{folder}/output", MOST_OUTPUT))
    return named.group().decode() if named else ""


def _machine(folder: str, trial: Trial, environ: Mapping[str, str]) -> Machine:
    """Make the folders of a run, and the program of the command, which only leaves a line behind."""
    home, work, programs = (os.path.join(folder, name) for name in ("home", "work", "bin"))
    for path in (home, work, programs):
        os.mkdir(path)
    name, ran = shlex.split(trial.command)[0], os.path.join(folder, "ran")
    script = f"#!/bin/sh\necho ran >> {shlex.quote(ran)}\necho {shlex.quote(trial.printed)}\n"
    write(os.path.join(programs, name), script, mode=RUNNABLE)
    if on_windows():
        write(os.path.join(programs, f"{name}.bat"), f'@echo ran>> "{ran}"\r\n@echo {trial.printed}\r\n')
    path = os.pathsep.join([programs, environ.get("PATH", os.defpath)])
    for profile in PROFILES:
        write(os.path.join(home, profile), f"export PATH={shlex.quote(path)}\n")
    files.keep(f"{folder}/state/{TRUSTED}", files.read(f"{state_folder(environ)}/{TRUSTED}") or b"")
    own = {
        **_basics(home, environ), **{name: environ[name] for name in OURS if name in environ}, "PATH": path,
        "DEIA_STATE": f"{folder}/state", "DEIA_CACHE": cache_folder(environ), "DEIA_TELEMETRY": "off",
    }  # fmt: skip
    return Machine(project=work, environ=own)


def _basics(home: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the least environment in which a program starts."""
    known = {name: value for name, value in environ.items() if name.upper() in SYSTEMS}
    own = {**dict.fromkeys(HOMES, home), "PATH": environ.get("PATH", "")}
    return {**known, **own, "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/sh", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}


def _no_network(url: str) -> dict[str, str]:
    """Return the variables that send everything but loopback to a proxy that refuses it."""
    proxies = {name: url for proxy in ("http_proxy", "https_proxy", "all_proxy") for name in (proxy, proxy.upper())}
    return {**proxies, "no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}


def write(path: str, text: str, *, mode: int = 0) -> None:
    """Write a file of a run, in folders that are made for it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    if mode:
        os.chmod(path, mode)


def _ends(words: Sequence[str], work: str, environ: Mapping[str, str], folder: str, *, seconds: float) -> bool:
    """Run a command to its end, and return whether it came to one before its time was over."""
    with open(f"{folder}/output", "ab") as output:
        try:
            process = subprocess.Popen(  # noqa: S603 - the host, in an environment of its own
                words, cwd=work, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            output.write(str(error).encode())
            return True
        try:
            process.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(OSError):
                if on_windows():
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    return True
