"""Measure the server: its start, its hooks compared with the started hook, and many clients while the commons changes.

    python bench/server.py [--seconds 10] [--clients 16] [--processes 4] [--rounds 60] [--triggers 1000]

The start is timed from the beginning of the process to the answer, interleaved with a bare import of the protocol's
library. The hook is timed as the host sees it (one kept connection) and as the server reports it. Under load every
answer is checked: a document that changes all the time states one number in each of its lines, and never an older one
than before. The clients are in processes of their own, so that none waits for another's parsing; they begin when all
are ready.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import httpx2
from synthetic import make_commons
from timing import FLOOR, PYTHON, percentile, report

import deia.folders
import deia.settings
from deia.compile.compiler import compile_commons

HOOK = str(Path(deia.folders.PACKAGE) / "serve" / "hook.py")
DEIA = (sys.executable, "-P", "-m", "deia.serve.main")
QUIET = "Please look at the failing checks in the parser module and write down what you would change first."
WATCHED = "bok/watched.md"
WARM_UP = 6.0  # seconds until all clients begin: so long the library takes to load in all of them
OPENING_TIME = 0.05  # seconds besides for each client, which opens a session before it measures
TOKEN = "a-token-of-this-bench"  # noqa: S105 - no secret; without one, nobody may write
SHOWN = {"Authorization": f"Bearer {TOKEN}"}
PATIENCE = 60.0  # seconds for an answer
CHANGE = 0.7  # seconds between two changes of the commons
OPENING: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "list_documents", "arguments": {}}},
)  # fmt: skip


def write_watched(root: Path, number: int) -> None:
    """Write the document that changes: the same number in every line, replaced atomically."""
    lines = [f"# Watched lesson {number}", "", *(f"Zebra line {place} says {number}." for place in range(20))]
    (root / "watched.new").write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(root / "watched.new", root / WATCHED)


# --- the start ---


def time_start(root: Path, rounds: int) -> None:
    """Print how long the first answers take, beside the bare library."""
    taken: dict[str, list[float]] = {name: [] for name in ("import mcp", "tools/list", "first call")}
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server.lowlevel"], check=True)
        taken["import mcp"].append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        process = subprocess.Popen([*DEIA, "mcp"], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None  # noqa: S101 - a bench says at once that it measures nothing
        assert process.stdout is not None  # noqa: S101 - a bench says at once that it measures nothing
        for message in OPENING:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        for name in ("", "tools/list", "first call"):
            assert b"result" in process.stdout.readline()  # noqa: S101 - a bench says at once that it measures nothing
            if name:
                taken[name].append((time.perf_counter() - began) * 1000)
        process.communicate()
    report(taken, against="import mcp", budgets={"tools/list": "500 ms"})


# --- the hooks ---


def _event(root: Path, session: str, prompt: str) -> bytes:
    told = {"session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": str(root), "prompt": prompt}
    return json.dumps(told).encode()


def time_hooks(root: Path, port: int, rounds: int, firing: str) -> None:
    """Print what an event costs warm and cold, quiet and firing."""
    line = http.client.HTTPConnection("127.0.0.1", port)
    taken: dict[str, list[float]] = {}
    cold = [PYTHON, "-I", "-S", HOOK, "claude-code"]
    for number in range(rounds):
        began = time.perf_counter()
        subprocess.run(FLOOR, check=True)
        taken.setdefault("floor", []).append((time.perf_counter() - began) * 1000)
        for kind, prompt in (("quiet", QUIET), ("firing", firing)):
            began = time.perf_counter()
            line.request("POST", "/hooks/claude-code", _event(root, f"warm {kind} {number}", prompt), SHOWN)
            answer = line.getresponse()
            assert bool(answer.read()) == (kind == "firing")  # noqa: S101 - a bench says at once that it measures nothing
            taken.setdefault(f"{kind}: warm, as the host sees it", []).append((time.perf_counter() - began) * 1000)
            own = float(str(answer.headers["server-timing"]).partition("dur=")[2])
            taken.setdefault(f"{kind}: warm, the server's time", []).append(own)
            event = _event(root, f"cold {kind} {number}", prompt)
            began = time.perf_counter()
            subprocess.run(cold, input=event, stdout=subprocess.DEVNULL, check=True)
            taken.setdefault(f"{kind}: cold", []).append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        try:
            http.client.HTTPConnection("127.0.0.1", 9, timeout=1).connect()
        except OSError:
            taken.setdefault("finding that no server is there", []).append((time.perf_counter() - began) * 1000)
    report(taken, against="floor", budgets={"quiet: warm, the server's time": "1 ms"})


# --- many at once ---


class _Session:
    """A client's session. The protocol's own client would take more of the two cores than the server does."""

    def __init__(self, url: str, line: httpx2.AsyncClient) -> None:
        self._url, self._line, self._number = url, line, 0
        self._headers = {"Accept": "application/json, text/event-stream"}

    async def open(self) -> None:
        """Open the session, as every client does."""
        answer = await self._post(OPENING[0])
        self._headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        self._headers["mcp-protocol-version"] = OPENING[0]["params"]["protocolVersion"]
        await self._post(OPENING[1])

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a tool."""
        self._number += 1
        params = {"name": name, "arguments": arguments}
        answer = await self._post({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})
        message = json.loads(next(line for line in answer.text.splitlines() if line.startswith("data: {"))[6:])
        if message["id"] != self._number:
            raise ValueError(f"the answer to {message['id']} came to {self._number}")
        result: dict[str, Any] = message["result"]
        return result

    async def close(self) -> None:
        """End the session."""
        await self._line.delete(self._url, headers=self._headers)

    async def _post(self, message: dict[str, Any]) -> httpx2.Response:
        answer = await self._line.post(self._url, json=message, headers=self._headers)
        return answer.raise_for_status()


class Load:
    """The answers of many clients, and whether all were right."""

    def __init__(self, url: str, words: list[str]) -> None:
        self.url, self.words = url, words
        self.taken: dict[str, list[float]] = {}
        self.wrong: list[str] = []

    async def client(self, seed: int, until: float) -> None:
        """Make all kinds of calls until the time is up; what ends it before counts as wrong."""
        try:
            async with httpx2.AsyncClient(headers=SHOWN, timeout=PATIENCE, verify=False) as line:
                await self._call(_Session(self.url, line), random.Random(seed), until)
        except Exception as error:  # noqa: BLE001 - whatever a client meets is a finding
            self.wrong.append(f"client {seed} ended: {error!r}")

    async def _call(self, session: _Session, random_: random.Random, until: float) -> None:
        await session.open()
        last = 0
        while time.monotonic() < until:
            name, given = self._pick(random_)
            began = time.perf_counter()
            result = await session.call(name, given)
            self.taken.setdefault(name, []).append((time.perf_counter() - began) * 1000)
            if result.get("isError"):
                self.wrong.append(f"{name}: {result['content'][0].get('text', '')}")
            elif given.get("document") == "watched":
                last = self._check(str(result["structuredContent"].get("text", "")), last)
        await session.close()

    def _pick(self, random_: random.Random) -> tuple[str, dict[str, Any]]:
        word = random_.choice(self.words)
        choices: list[tuple[str, dict[str, Any]]] = [
            ("query_global_commons", {"query": f"how do I {word}?"}),
            ("read_document", {"document": "watched"}),
            ("query_global_commons", {"query": word, "detail": "full"}),
            ("list_documents", {"limit": 5}),
            ("check_triggers", {"conversation": [f"User: I will {word} now"]}),
            ("read_document", {"document": "watched"}),
            ("suggest_location", {"text": f"a lesson about {word}"}),
            ("feedback", {"id": "watched", "verdict": "useful", "note": word}),
        ]
        return random_.choice(choices)

    def _check(self, text: str, last: int) -> int:
        numbers = {int(line.rpartition(" says ")[2].rstrip(".")) for line in text.splitlines() if " says " in line}
        if len(numbers) != 1:
            self.wrong.append(f"half a document: {sorted(numbers)}")
            return last
        (number,) = numbers
        if number < last:
            self.wrong.append(f"an older document: {number} after {last}")
        return number


def change(root: Path, until: float, *, after: int = 0) -> int:
    """Change the commons meanwhile; return how often."""
    number = after
    while time.monotonic() < until:
        time.sleep(CHANGE)
        number += 1
        write_watched(root, number + 1)
    return number - after


def _work(*given: Any) -> dict[str, Any]:
    return asyncio.run(work(*given))


async def work(port: int, first: int, clients: int, times: tuple[float, float], seconds: float) -> dict[str, Any]:
    """Run some of the clients; return their answers.

    Until the first time, the library gets warm; at the second, all begin. The clock is the machine's, which all
    processes share.
    """
    until, begin = times
    asking = Load(f"http://127.0.0.1:{port}/mcp", ["delete", "deploy", "rotate", "reset"])
    await asyncio.gather(*(asking.client(-each - first, until) for each in range(1, clients + 1)))
    asking.taken.clear()
    await asyncio.sleep(max(0.0, begin - time.monotonic()))
    await asyncio.gather(*(asking.client(first + each, begin + seconds) for each in range(clients)))
    return {"taken": asking.taken, "wrong": asking.wrong}


def load(root: Path, port: int, *, clients: int, processes: int, seconds: float, process: int) -> None:
    """Print what many clients at once got."""
    warm_up = WARM_UP + OPENING_TIME * clients
    begin = time.monotonic() + warm_up
    taken: dict[str, list[float]] = {}
    wrong: list[str] = []
    shares = [len(range(each, clients, processes)) for each in range(processes)]
    firsts = [sum(shares[:each]) for each in range(processes)]
    times = (begin - warm_up / 2, begin)
    with ProcessPoolExecutor(processes) as pool:
        working = [
            pool.submit(_work, port, first, share, times, seconds) for first, share in zip(firsts, shares, strict=True)
        ]
        time.sleep(max(0.0, begin - time.monotonic()))
        before, half = memory(process), begin + seconds / 2
        changes = change(root, half)
        middle_memory = memory(process)
        changes += change(root, begin + seconds, after=changes)
        for one in working:
            got = one.result()
            wrong += got["wrong"]
            for name, values in got["taken"].items():
                taken.setdefault(name, []).extend(values)
    every = sorted(one for values in taken.values() for one in values)
    for name, values in sorted(taken.items()):
        middle, high = statistics.median(values), percentile(values, 0.99)
        print(f"{name:24} {len(values):6}  p50 {middle:8.1f} ms  p99 {high:8.1f} ms")
    print(f"{clients} clients in {processes} processes, {seconds:g} s: {len(every)} calls"
          f" ({len(every) / seconds:.0f}/s), {changes} changes, p50 {statistics.median(every):.1f} ms,"
          f" p99 {percentile(every, 0.99):.1f} ms, wrong {len(wrong)},"
          f" memory {before:.0f} → {middle_memory:.0f} → {memory(process):.0f} MB")  # fmt: skip
    for told in wrong[:10]:
        print(f"  wrong: {told[:200]}")


def memory(process: int) -> float:
    """Return a process's resident memory in MB, or 0 if the system does not report it."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0.0)


def main() -> None:
    """Measure all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--triggers", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = make_commons(Path(place) / "commons", triggers=given.triggers, documents=200)
        write_watched(root, 1)
        os.environ |= {
            "DEIA_STATE": f"{place}/state",
            "DEIA_CACHE": f"{place}/cache",
            "DEIA_STARTER": "false",
            "DEIA_TRUST": "*",
        }
        compile_commons(str(root), environ=os.environ)
        time_start(root, max(3, given.rounds // 10))
        trigger = json.loads((root / "triggers/topic-0.yaml").read_text(encoding="utf-8"))[1]
        verb, thing, _, product = trigger["title"].replace(" the ", " ").split()
        firing = f"I will {verb} the {thing} of {product} now"
        command = [*DEIA, "serve", "--port", "0", "--rate", "0"]
        environ = {**os.environ, "DEIA_TOKEN": TOKEN}
        server = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, env=environ)
        assert server.stderr is not None  # noqa: S101 - a bench says at once that it measures nothing
        port = int(server.stderr.readline().decode().rpartition("/mcp")[0].rpartition(":")[2])
        try:
            await_ready(port)
            time_hooks(root, port, given.rounds, firing)
            load(root, port, clients=given.clients, processes=given.processes, seconds=given.seconds,
                 process=server.pid)  # fmt: skip
        finally:
            server.terminate()
            server.communicate()


def await_ready(port: int) -> None:
    """Wait until the server answers."""
    for _ in range(600):
        try:
            line = http.client.HTTPConnection("127.0.0.1", port)
            line.request("GET", "/ready", headers=SHOWN)
            if line.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)


if __name__ == "__main__":
    main()
