"""How fast chunkers in WebAssembly are, how long the first chunk takes, and how soon hostile ones are ended.

A small component cuts text before each line that begins with #. Rates are of one process that cuts (`here`), and of
asking the process that ingesting uses, with everything sent to and fro. `cold` is from starting that process to the
first chunk, with native code in the cache. The hostile components are those of the tests, run by a process that has run
another one. CPU time is that of all processes; on a machine with other work, what has passed by the clock says little.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import wasmtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from deia.ingest.added_chunkers import add, chunker_in, with_native_code
from deia.ingest.custom.cutting import CustomChunker, custom_chunker
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError
from tests.ingest.custom.components import HOSTILE, RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable

PLAIN = ChunkerConfig()


def reading(text: str) -> Reading:
    """Return a text as a reader makes it."""
    return Reading(type="text", title="manual", text=text, path="manual.pmp")


def costs(run: Callable[[], object]) -> tuple[float, float]:
    """Return how many seconds something takes, by the clock and of CPU time, processes included that it ends."""
    began, before = time.perf_counter(), cpu()
    run()
    return time.perf_counter() - began, cpu() - before


def cpu() -> float:
    """Return the CPU time of this process and of those that it has ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the middle of some costs."""
    clock, used = zip(*runs, strict=True)
    return statistics.median(clock), statistics.median(used)


def saved(folder: Path, wat: str, name: str) -> str:
    """Return the path of a component."""
    path = folder / f"{name}.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm(wat)))
    return str(path)


def speed(custom: CustomChunker, rounds: int) -> float:
    """Print rates and the time to the first chunk; return the CPU time to that."""
    text = "".join(f"# record {number}\n" + "some words of a record that go on\n" * 30 for number in range(4000))
    large, small = reading(text), reading(text[:1000])
    cut = custom_chunker(custom)
    count, size = len(cut(large, "a", PLAIN)), len(text) / 1e6
    clock, used = middle([costs(lambda: cut(large, "a", PLAIN)) for _ in range(rounds)])
    print(f"{size:.1f} MB, {count:,} chunks; the middle of {rounds}")
    print(f"here: {size / clock:.1f} MB/s by the clock, {size / used:.1f} MB per CPU-second")
    cold, cold_used = middle([costs(lambda: ask(custom, [small])) for _ in range(rounds)])
    clock, used = middle([costs(lambda: ask(custom, [small, *[large] * 4])) for _ in range(rounds)])
    rates = (4 * size / (clock - cold), 4 * size / (used - cold_used))
    print(f"through the process: {rates[0]:.1f} MB/s by the clock, {rates[1]:.1f} MB per CPU-second of both")
    print(f"cold: {cold * 1000:.0f} ms by the clock, {cold_used * 1000:.0f} ms of CPU time")
    return cold_used


def ask(custom: CustomChunker, texts: list[Reading]) -> None:
    """Start a process and cut some texts."""
    with ReaderProcess() as process:
        for text in texts:
            process.chunk(text, id="a", custom=custom)


def hostile(folder: Path, honest: CustomChunker, cold: float) -> None:
    """Print what becomes of each hostile component, and when."""
    slowest = (0.0, 0.0)
    for name, (wat, _) in HOSTILE.items():
        custom = CustomChunker(name=name, path=saved(folder, wat, name))
        before, told = cpu(), "NOT ENDED"
        with ReaderProcess() as process:
            process.chunk(reading("# warm"), id="a", custom=honest)
            began = time.perf_counter()
            try:
                process.chunk(reading("äöü, a text"), id="a", custom=custom)
            except ReadingError as error:
                told = error.message.partition("cannot cut it: ")[2] or error.message
            took = time.perf_counter() - began
        used = cpu() - before - cold
        slowest = (max(slowest[0], took), max(slowest[1], used))
        print(f"{name:22} {took * 1000:4.0f} ms by the clock, {used * 1000:4.0f} ms of CPU time: {told[:80]}")
    print(f"slowest: {slowest[0] * 1000:.0f} ms by the clock, {slowest[1] * 1000:.0f} ms of CPU time")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="times that each is done (default: %(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {"DEIA_STATE": f"{name}/state", "DEIA_CACHE": f"{name}/cache"}
        honest = with_native_code(add(chunker_in(saved(folder, RECORDS, "records")), environ), environ)
        hostile(folder, honest, speed(honest, options.rounds))


if __name__ == "__main__":
    main()
