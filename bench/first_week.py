"""Type what a newcomer types, in a real host against a scripted model, and take the time of every line.

    python bench/first_week.py --wheel deia-0.1.0-py3-none-any.whl --host claude-code --path FOLDER [--write]

Three ways: from nothing to the first lesson in one's own agent, from a pasted note to a trigger that fires, and from
`git pull` of a colleague's lesson to the call that it holds. Each must take less than two minutes. The person has a
home folder of their own and types at a terminal; FOLDER has the host's program, and the model listens on loopback.
Installing the wheel fetches what it needs from the package index. --write keeps the lines in docs/FIRST_WEEK.md.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

import deia
from deia.serve.setup.live.fake_model import FakeModel
from deia.serve.setup.live.host_run import HEADLESS, version_of, write
from deia.serve.setup.live.model_request import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "FIRST_WEEK.md")
LIMIT = 120.0  # seconds that each way may take
NOTE = "Someone ran `jobctl restart` while jobs were open, and all of them were lost. Drain the queue first."
LESSON = "restarting-the-queue-drops-its-jobs"
HOLD = f"""\
- id: queue-purge
  title: Purging the queue
  urgency: critical
  action: hold
  message: A purge deletes every job of every customer, and nothing brings them back.
  documents: [{LESSON}]
  when: {{any: [{{command: jobctl purge}}]}}
"""
WAYS = {
    "From nothing to the first lesson in your own agent": "git-force-push",
    "From a pasted note to a trigger that fires": LESSON,
    "From a colleague's lesson to the call that it holds": "queue-purge",
}
TEXT = """\
# The first week, with a stopwatch

Written by `python bench/first_week.py --write`, which types these lines at a terminal, in a home folder where nothing
is installed. The host is {host} {version}, run without a person against a scripted model on loopback that asks for one
command; deia is {deia}. The seconds are those of the machine ({cores} shared cores, and a package index that answers);
typing and reading come on top. It fails if a lesson does not reach the model, if the call of the last way is not held,
or if a way takes two minutes.
"""
BASH = "/bin/bash"


class Line(NamedTuple):
    """What was typed, and the seconds that it took."""

    text: str
    seconds: float


class Person:
    """Somebody at a terminal, with a home folder of their own."""

    def __init__(self, folder: str, path: str) -> None:
        self.home = os.path.join(folder, "home")
        self.shop = os.path.join(self.home, "shop")
        self.ran = os.path.join(folder, "ran")
        programs = os.path.join(folder, "bin")
        write(os.path.join(programs, "jobctl"), f"#!/bin/sh\necho ran >> {shlex.quote(self.ran)}\n", mode=0o755)
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
        where = os.pathsep.join([f"{self.home}/deia/bin", programs, path, os.environ["PATH"]])
        self.environ = {**kept, "HOME": self.home, "PATH": where, "TERM": "dumb", "NO_COLOR": "1", "SHELL": BASH}
        os.makedirs(self.shop)

    def types(self, line: str, *, shown: str = "", environ: Mapping[str, str] | None = None) -> Line:
        """Type a line in the repository; raise CalledProcessError if it fails."""
        own, theirs = pty.openpty()
        began = time.perf_counter()
        process = subprocess.Popen(
            [BASH, "-c", line], cwd=self.shop, env={**self.environ, **(environ or {})}, stdin=theirs, stdout=theirs,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        printed = b"".join(iter(lambda: read(own), b""))
        code = process.wait()
        seconds = time.perf_counter() - began
        os.close(own)
        print(f"{seconds:6.1f} s  {shown or line}", flush=True)
        if code:
            raise subprocess.CalledProcessError(code, line, printed)
        return Line(shown or line, seconds)


def read(terminal: int) -> bytes:
    """Return what a terminal shows next, or nothing at its end."""
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's way of saying that the other side was closed
        return b""


def asks(person: Person, host: str, command: str, trigger: str) -> Line:
    """Let the host's model ask for a command; return the line that started it.

    Raise SystemExit if the trigger's lesson did not reach the model.
    """
    with FakeModel((Step(shell=command),)) as model:
        run = HEADLESS[host].filled(
            url=model.url, prompt="Get the queue going again", home=person.home, work=person.shop
        )
        for name, text in run.files.items():
            write(os.path.join(person.home, *name.split("/")), text)
        line = f"{shlex.join([run.program, *run.start])} < /dev/null"
        typed = person.types(line, shown=f'{run.program} "Get the queue going again"', environ=run.environ)
        read_by_model = "".join(str(request.values()) for request in model.requests)
    if not re.search(rf"deia-reference trigger=\W*{trigger}\b", read_by_model):
        sys.exit(f"the lesson of {trigger} did not reach the model")
    return typed


def ways(person: Person, host: str, wheel: str) -> Iterator[list[Line]]:
    """Go each of the ways, and yield its lines."""
    hub = f"{person.home}/hub.git"
    git = "git -c init.defaultBranch=main -c user.name=p -c user.email=p@example.org"
    quiet(person, f"{git} init --bare {hub} && {git} clone {hub} . && {git} commit --allow-empty -m one && git push")
    trigger, note, lesson = WAYS.values()
    yield [
        person.types("python3 -m venv ~/deia"),
        person.types(f"~/deia/bin/pip install {wheel}", shown=f"~/deia/bin/pip install {os.path.basename(wheel)}"),
        person.types(f"deia install {host} --user -y"),
        asks(person, host, "git push --force origin main", trigger),
    ]
    yield [
        person.types("deia init"),
        person.types(f"deia add --title 'Restarting the queue drops its jobs' --text '{NOTE}' --trigger"),
        person.types(f"deia trigger test {LESSON}"),
        asks(person, host, "jobctl restart", note),
    ]
    quiet(person, f"git add -A && {git} commit -m two && git push && git clone {hub} ../colleague")
    write(f"{person.home}/colleague/triggers/purge.yaml", HOLD)
    quiet(person, f"cd ../colleague && git add -A && {git} commit -m three && git push")
    before = runs(person)
    yield [person.types("git pull"), asks(person, host, "jobctl purge --all", lesson)]
    if runs(person) != before:
        sys.exit("the call was not held")


def quiet(person: Person, line: str) -> None:
    """Do what is not part of a way."""
    done = subprocess.run([BASH, "-c", line], cwd=person.shop, env=person.environ, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{line}\n{done.stderr.decode()}")


def runs(person: Person) -> int:
    """Return how often the stand-in for the queue's program was run."""
    return os.path.getsize(person.ran) if os.path.exists(person.ran) else 0


def table(lines: list[Line]) -> str:
    """Return lines with their seconds and their sum."""
    rows = [*(Line(f"$ {text}", seconds) for text, seconds in lines), Line("", sum(line.seconds for line in lines))]
    return "\n".join(f"{seconds:6.1f} s  {text}".rstrip() for text, seconds in rows)


def main() -> int:
    """Go the three ways; return 1 if one takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", required=True, type=os.path.abspath)
    parser.add_argument("--host", default="claude-code", choices=("claude-code", "codex"))
    parser.add_argument("--path", default="", help="the folder of the host's program")
    parser.add_argument("--write", action="store_true", help="keep the lines in docs/FIRST_WEEK.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        person = Person(os.path.realpath(folder), os.path.abspath(given.path))
        version = version_of(HEADLESS[given.host], person.environ)
        parts = [TEXT.format(host=given.host, version=version, deia=deia.__version__, cores=os.cpu_count())]
        slowest = 0.0
        for title, lines in zip(WAYS, ways(person, given.host, given.wheel), strict=True):
            parts.append(f"## {title}\n\n```text\n{table(lines)}\n```\n")
            slowest = max(slowest, sum(line.seconds for line in lines))
    if given.write:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("\n".join(parts))
    print(f"the longest way: {slowest:.1f} s of {LIMIT:.0f}")
    return int(slowest > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
