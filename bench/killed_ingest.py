"""Kill `deia ingest` at random moments: nothing may be half, no answer wrong, and the next run goes on from there.

    python bench/killed_ingest.py [--kills 200] [--files 300] [--seed N] [--folder FOLDER]

Before each kill some files are written, changed and deleted. After it, the database is whole, every document of the
library is one that a file held at some time, a search answers with such a text or not at all, and the next run reads
exactly what the killed one had not recorded. At the end the library is the same as one that was never killed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from deia.folders import library_folder
from deia.ingest.library_store import Library

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[1]
LONG_AGO = 1_600_000_000  # so that no file has to be read again because it has just been written
KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP")
CHANGED = 0.4  # of the files, before each run


DIAL = re.compile(r"dial of pump(\d+) stands at (\d+)\.")


def require(is_so: object, problem: object) -> None:
    """End with a problem unless something is so."""
    if not is_so:
        raise SystemExit(f"wrong: {problem}")


class Trial:
    """A folder of documents, and the library of a person of their own."""

    def __init__(self, folder: Path, files: int, dice: random.Random) -> None:
        self.docs, self.commons, self._files, self._dice = folder / "docs", folder / "commons", files, dice
        self.docs.mkdir()
        (self.commons / "bok").mkdir(parents=True)
        (self.commons / "deia.toml").write_text("", encoding="utf-8")
        self.environ = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "HOME": str(folder), "DEIA_STATE": str(folder / "state"), "DEIA_CACHE": str(folder / "cache"),
            "DEIA_TRUST": "*", "DEIA_STARTER": "false", "PYTHONPATH": str(ROOT), "DEIA_COMMONS": str(self.commons),
        }  # fmt: skip
        self.folder = library_folder(str(self.commons), self.environ)
        self.now: dict[str, str] = {}  # what each file holds
        self.ever: set[str] = set()
        self._version = 0

    def change(self) -> None:
        """Write, change and delete some files."""
        for number in range(self._files):
            name = f"{number % 7}/page-{number}.md"
            if name in self.now and self._dice.random() > CHANGED:
                continue
            path = self.docs / name
            path.parent.mkdir(exist_ok=True)
            self._version += 1
            if self._dice.random() < 0.1:
                path.unlink(missing_ok=True)
                self.now.pop(name, None)
                continue
            text = f"# Page {number}\n\n" + f"The dial of pump{number} stands at {self._version}. " * 60
            path.write_text(text.strip(), encoding="utf-8")
            os.utime(path, (LONG_AGO + self._version,) * 2)
            self.now[name] = text.strip()
            self.ever.add(text.strip())

    def deia(self, *words: str, state: str = "") -> subprocess.Popen[str]:
        """Start deia."""
        environ = self.environ | ({"DEIA_STATE": state} if state else {})
        command = (sys.executable, "-P", "-m", "deia.serve.main", *words)
        return subprocess.Popen(
            command, env=environ, cwd=self.commons, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip

    def ingest(self) -> dict[str, int]:
        """Take the folder in, undisturbed, and return what that came to."""
        out, errors = (process := self.deia("ingest", str(self.docs), "--json")).communicate()
        require(process.returncode == 0, errors)
        values: dict[str, int] = json.loads(out)[0]
        return values

    def killed(self, after: float) -> bool:
        """Take the folder in and kill that after some seconds; return whether it was still running."""
        process = self.deia("ingest", str(self.docs))
        try:
            process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            kill = os.killpg if self._dice.random() < 0.5 else os.kill  # with its reader, or without
            kill(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        return False

    def recorded(self) -> dict[str, str]:
        """Return the text of each document of the library, after seeing that the database and all of them are whole."""
        database = Path(self.folder, "library.sqlite")
        if not database.exists():
            return {}
        connection = sqlite3.connect(database)
        require(connection.execute("pragma integrity_check").fetchone() == ("ok",), "the database is damaged")
        connection.close()
        with Library(self.folder) as library:
            texts = {one.id.partition("/")[2]: library.kept(one.content).text for one in library.documents()}
        require(set(texts.values()) <= self.ever, "a document is none that ever was")
        return texts

    def search(self, texts: Iterable[str]) -> bool:
        """Ask for a page; return whether it was found, after seeing that the answers are whole and of these texts."""
        words = ("search", f"dial of pump{self._dice.randrange(self._files)}", "--layer", "library", "--format", "full")
        out, errors = (process := self.deia(*words)).communicate()
        require(process.returncode in (0, 1) and "Traceback" not in errors, errors)
        shown = set(DIAL.findall(out))
        require(shown <= {pair for text in texts for pair in DIAL.findall(text)}, f"nobody wrote {shown}")
        require(len(shown) == len({page for page, _ in shown}), f"half of one, half of another: {shown}")
        return bool(shown)

    def chunks(self, state: str = "") -> list[str]:
        """Return the chunks of the library."""
        out, errors = (process := self.deia("source", "export", "docs", state=state)).communicate()
        require(process.returncode == 0, errors)
        return out.splitlines()


def run(folder: Path, *, kills: int, files: int, seed: int) -> Counter[str]:
    """Kill so many runs; return what they came to; end with a problem if anything was half or wrong."""
    dice = random.Random(seed)
    trial, counts = Trial(folder, files, dice), Counter[str]()
    trial.change()
    began = time.monotonic()
    trial.ingest()
    usual = time.monotonic() - began
    while counts["killed"] < kills:
        trial.change()
        counts["killed" if trial.killed(dice.uniform(0, usual)) else "ended before"] += 1
        before = trial.recorded()
        done = {name for name, text in trial.now.items() if before.get(name) == text}
        counts["with some of it recorded"] += bool(done) and len(done) < len(trial.now)
        counts["searches that found"] += trial.search(trial.ever)
        if dice.random() < 0.5:
            continue  # the next change meets what was left
        outcome = trial.ingest()
        counts["runs that went on"] += 1
        require(outcome["read"] == len(trial.now) - len(done), (outcome, len(trial.now), len(done)))
        require(trial.recorded() == trial.now, "the next run did not mend it")
        trial.search(trial.now.values())
    trial.ingest()
    require(trial.recorded() == trial.now, "the last run did not mend it")
    out, errors = (process := trial.deia("ingest", str(trial.docs), state=str(folder / "fresh"))).communicate()
    require(process.returncode == 0, out + errors)
    require(trial.chunks() == trial.chunks(str(folder / "fresh")), "the library differs from one that was never killed")
    return counts


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    print(f"seed {options.seed}, in {folder}")
    counts = run(folder, kills=options.kills, files=options.files, seed=options.seed)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
