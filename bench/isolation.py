"""Ask a server everything as everybody, and look for anything that the asker may not read.

    python bench/isolation.py --calls 5000

Five users read different ones of six collections, each of which has words that no other has. Each call asks a random
tool, resource, prompt, completion, list or path, with words of all collections. An answer leaks if it has a word of a
collection that its asker may not read and did not say. One user's calls also go to a second server, which has nothing
but what that user may read: there, every answer must be the same, so that no count, suggestion or order tells anything.
At the end, refusals are timed: of documents that exist, but are not the asker's, and of some that do not exist.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from deia.serve.server.tool_schemas import COMPAT_TOOLS, TOOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

LIBRARY = ("red", "blue", "green")
WORDS = {
    "library:red": ("zorvex", "quibnal", "mardole"), "library:blue": ("tulpern", "vexadin", "orlumat"),
    "library:green": ("brindoc", "salpurn", "ketovar"), "hosting": ("plomter", "wexilon", "dorvane"),
    "queues": ("grenduk", "yalpist", "fombric"), "bok/ops/": ("hasquel", "nimdort", "carvoxi"),
}  # fmt: skip
PLACES = {"hosting": "bok/hosting", "queues": "bok/queues", "bok/ops/": "bok/ops"}
USERS = {
    "anna": ("read", ("library:red", "hosting")), "bert": ("read", ("library:blue",)),
    "cleo": ("read", ("library:green", "queues")), "dora": ("write", ("bok/ops/", "library:blue")),
    "emil": ("admin", ("queues", "library:red")),
}  # fmt: skip
TWIN = "anna"  # whose calls the second server answers, too
COMMON = ("pump", "valve", "restart", "delete", "site", "checklist", "before", "")
CHANGING = re.compile(
    r'"(token|process|ms)": ?"?[^,}"]*"?'
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|continue [0-9a-f]+|there is no answer '[0-9a-f]*'|once-[0-9a-f]+"
)
START = 60.0  # seconds
REFUSALS, RESAMPLES = 600, 1_000  # of each kind that are timed, and how often they are drawn anew
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
EVENT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "delete the site"}


@dataclass
class World:
    """A commons with users, and a server over it."""

    folder: Path
    collections: tuple[str, ...]
    tokens: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    port: int = 0

    def environ(self) -> dict[str, str]:
        """Return the environment of a person of this world."""
        home = str(self.folder / "home")
        own = {name: value for name, value in os.environ.items() if not name.startswith("DEIA_")}
        return {**own, "HOME": home, "DEIA_STATE": f"{home}/state", "DEIA_CACHE": f"{home}/cache",
                "DEIA_STARTER": "false", "DEIA_TRUST": "*", "DEIA_TIER": "static"}  # fmt: skip

    def deia(self, *arguments: str) -> str:
        """Run a command of deia; return what it says."""
        command = [sys.executable, "-P", "-m", "deia.serve.main", *arguments]
        done = subprocess.run(
            command, cwd=self.folder / "work", env=self.environ(), capture_output=True, text=True, check=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout.strip()

    def build(self) -> None:
        """Write and compile the commons, take in the library, add the users."""
        work = self.folder / "work"
        lines, triggers = ['version: "1.0"', "clusters:"], []
        (work / "triggers").mkdir(parents=True)
        for name, folder in PLACES.items():
            if name in self.collections:
                lines += _cluster(name, folder, work)
                triggers.append(_trigger(name))
        (work / "commons_index.yaml").write_text("\n".join([*lines, ""]) if len(lines) > 2 else "clusters: {}\n")
        (work / "triggers/all.yaml").write_text("".join(triggers))
        for name in LIBRARY:
            if f"library:{name}" in self.collections:
                self._take_in(name)
        limits = ("--requests", "0", "--sub-questions", "0", "--tokens", "0")
        for user, (scope, collections) in USERS.items():
            if set(collections) <= set(self.collections):
                chosen = [word for one in collections for word in ("--collection", one)]
                self.tokens[user] = self.deia("user", "add", user, "--scope", scope, *chosen, *limits)

    def _take_in(self, name: str) -> None:
        first, second, third = WORDS[f"library:{name}"]
        source = self.folder / f"source-{name}"
        source.mkdir()
        (source / f"{first}.md").write_text(f"# The {first} pump\n\nThe {second} valve is opened before a restart.\n")
        (source / "more.md").write_text(f"# Restart of {third}\n\nSee [{first}]({first}.md). The {third} pump waits.\n")
        self.deia("ingest", str(source), "--collection", name)

    def serve(self) -> None:
        """Start the server, and wait until it answers."""
        command = [sys.executable, "-P", "-m", "deia.serve.main", "serve", "--port", "0", "--rate", "0", "--compat",
                   "agent-library"]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=self.folder / "work", env=self.environ(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        said = self.process.stderr.readline().decode() if self.process.stderr else ""
        self.port = int(said.partition("/mcp")[0].rpartition(":")[2])
        end = time.monotonic() + START
        while time.monotonic() < end:
            try:
                Asker(self, "nobody", "").http("GET", "/health")
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise SystemExit("the server does not answer")

    def end(self) -> None:
        """End the server."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()


def _cluster(name: str, folder: str, work: Path) -> list[str]:
    first, second, third = WORDS[name]
    ident = name if "/" not in name else f"{first}-group"
    (work / folder).mkdir(parents=True, exist_ok=True)
    (work / folder / f"{first}.md").write_text(f"# The {first} site\n\nBefore a delete, save the {second} records.\n")
    return [
        f"  {ident}:", f"    description: About {third} sites", "    documents:", f"      - id: {first}-checklist",
        f"        path: {folder}/{first}.md", f"        title: The {first} site",
        f"        summary: Save the {second}.",
        f"        keywords: [{second}, site]", "        urgency: high", f"        platform: {third}ctl",
        f"        tags: [{third}]",
    ]  # fmt: skip


def _trigger(name: str) -> str:
    first = WORDS[name][0]
    return (
        f"- id: {first}-delete\n  title: Deleting the {first}\n  status: test\n  urgency: high\n  action: warn\n"
        f"  message: The {first} is lost.\n  documents: [{{id: {first}-checklist, mode: summary_only, reason: Save}}]\n"
        f"  when: {{any: [{{phrase: '{{delete|remove}} … {{site|{first}}}'}}]}}\n"
    )


class Asker:
    """One user's client."""

    def __init__(self, world: World, user: str, token: str) -> None:
        self.world, self.user, self.token = world, user, token
        self._connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=START)
        self._session: dict[str, str] = {}
        self._number = 0

    def http(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> str:
        """Send a request; return the status, the content and the headers that a server chooses."""
        own = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        for last in (False, True):
            try:
                self._connection.request(method, path, body=body or None, headers={**own, **(headers or {})})
                answer = self._connection.getresponse()
                content = answer.read().decode("utf-8", "replace")
                break
            except (http.client.HTTPException, ConnectionError):  # it was idle for too long
                self._connection.close()
                if last:
                    raise
        session = answer.headers["mcp-session-id"]
        self._session = {"mcp-session-id": session} if session else self._session
        return f"{answer.status} {content}"

    def mcp(self, method: str, params: dict[str, Any]) -> str:
        """Send a request of MCP; return the answer."""
        if not self._session:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
            self._post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
            self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._number += 1
        answer = self._post({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return re.sub(r'"id":\d+', '"id":0', answer)

    def _post(self, message: dict[str, Any]) -> str:
        return self.http("POST", "/mcp", json.dumps(message).encode(), {**ACCEPT, **self._session})


def words_of(chance: random.Random) -> str:
    """Return some words: those of collections, misspelt ones, common ones."""
    said = []
    for _ in range(chance.randint(1, 4)):
        word = chance.choice(WORDS[chance.choice(tuple(WORDS))])
        at = chance.randrange(len(word))
        said.append(chance.choice((word, word[:at] + word[at + 1 :], word[:3], *COMMON)))
    return " ".join(filter(None, said))


def name_of(chance: random.Random) -> str:
    """Return a name of a document, a cluster, a collection or nothing."""
    place = chance.choice(tuple(WORDS))
    first = chance.choice(WORDS[place])
    folder = PLACES.get(place, place)
    return chance.choice((
        f"{first}-checklist", f"{folder}/{first}.md", f"{place}/more.md", place, folder, first, first[:-1],
        place.removeprefix("library:"), f"{first}-delete", "nonesuch", f"./{folder}/../{folder}/{first}.md",
        f"{folder}/{first}.md:1-2", f"upload-{place.removeprefix('library:')}", f"{first}ctl",
    ))  # fmt: skip


def argument(name: str, schema: Any, chance: random.Random) -> Any:
    """Return a value for a parameter of a tool."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "integer":
        return chance.choice((0, 1, 3, 10, 50))
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "array":
        return [f"User: delete the {words_of(chance)} site"] if name == "conversation" else [words_of(chance)]
    if name in ("query", "question", "text", "task", "title", "content"):
        return words_of(chance)
    return name_of(chance)


def request(chance: random.Random) -> tuple[str, str, Any]:
    """Return a random call: its kind, its method or path, and its parameters or body."""
    kind = chance.choice(("tool",) * 6 + ("resource", "prompt", "complete", "list", "path", "path"))
    if kind == "tool":
        tool = chance.choice((*TOOLS, *COMPAT_TOOLS))
        properties: dict[str, Any] = dict(tool.inputs.properties)
        chosen = [one for one in properties if one in tool.inputs.required or chance.random() < 0.25]
        given = {one: argument(one, properties[one], chance) for one in chosen if one not in ("encoding", "content")}
        return kind, "tools/call", {"name": tool.name, "arguments": given}
    if kind == "resource":
        place = chance.choice(("index", "schema", "telemetry/summary", f"document/{quote(name_of(chance), safe='')}",
                               f"cluster/{quote(name_of(chance), safe='')}", name_of(chance)))  # fmt: skip
        return kind, "resources/read", {"uri": f"deia://{place}"}
    if kind == "prompt":
        prompt, field = chance.choice(
            (("before-you-start", "task"), ("write-a-lesson", "mistake"), ("review-plan", "plan"))
        )
        folder = {"folder": "/"} if prompt == "before-you-start" and chance.random() < 0.3 else {}
        return kind, "prompts/get", {"name": prompt, "arguments": {field: words_of(chance) or "x", **folder}}
    if kind == "complete":
        name = chance.choice(("id", "cluster", "platform", "tag", "audience", "urgency"))
        typed = chance.choice(("", name_of(chance)[:3]))
        reference = {"type": "ref/resource", "uri": "deia://document/{id}"}
        return kind, "completion/complete", {"ref": reference, "argument": {"name": name, "value": typed}}
    if kind == "list":
        return kind, chance.choice(("tools/list", "resources/list", "resources/templates/list", "prompts/list")), {}
    path = chance.choice((
        f"/search?q={quote(words_of(chance) or 'x')}", f"/search?q=x&collection={quote(name_of(chance))}", "/metrics",
        "/ready", "/health", "/hooks/claude-code", "/hooks/git", "/hooks/nonesuch", "/page",
        f"/{quote(name_of(chance))}", f"/upload?name=x.md&collection={quote(name_of(chance))}",
    ))  # fmt: skip
    return kind, path, json.dumps(EVENT) if path.startswith("/hooks") else ""


def ask(asker: Asker, call: tuple[str, str, Any]) -> str:
    """Send a call; return the answer."""
    kind, what, given = call
    if kind != "path":
        return asker.mcp(what, given)
    return asker.http("POST" if given or what.startswith("/upload") else "GET", what, str(given).encode())


def leaks(answer: str, said: str, user: str) -> list[str]:
    """Return the words of collections that a user may not read, and did not say, in an answer."""
    own = USERS.get(user, ("", ()))[1]
    return words_in(answer, said, [place for place in WORDS if place not in own])


def words_in(answer: str, said: str, places: Sequence[str]) -> list[str]:
    """Return the words of collections that are in an answer, and were not said."""
    words = [word for place in places for word in WORDS[place]]
    words += [place for place in places if place.startswith("library:")]
    text = answer.replace("\\n", "\n").lower()  # a line that begins with a word is no other word
    return [word for word in words if word in text and word not in said.lower()]


def parted(one: str, two: str) -> str:
    """Return a text from a little before where it differs from another."""
    at = next((at for at, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), 0)
    return one[max(0, at - 80) : at + 200]


def is_uploading(call: tuple[str, str, Any]) -> bool:
    """Return whether a call would change the world, so that a second server would have to be asked at the same time."""
    return call[1].startswith("/upload") or (isinstance(call[2], dict) and call[2].get("name") == "index_source")


def timings(asker: Asker) -> dict[str, tuple[float, float, float]]:
    """Return by how many ms refusals differ: of documents of others from those of none, and of none from none.

    Each is the difference of the medians with the ends of its 95 % interval, by resampling.
    """
    chance, seconds = random.Random(1), ([], [], [])  # type: tuple[random.Random, tuple[list[float], ...]]
    hidden = [f"{WORDS[place][0]}-checklist" for place in PLACES if place not in USERS[asker.user][1]]
    for _ in range(REFUSALS):
        kinds = [0, 1, 2]
        chance.shuffle(kinds)
        for kind in kinds:
            invented = "".join(chance.choices("abdefgknoprstuv", k=7))
            name = chance.choice(hidden) if kind == 0 else f"{invented}-checklist"
            began = time.perf_counter()
            answer = asker.mcp("tools/call", {"name": "read_document", "arguments": {"document": name}})
            seconds[kind].append((time.perf_counter() - began) * 1000)
            if "there is no document" not in answer:
                raise SystemExit(f"this is no refusal: {answer}")
    return {
        "hidden from none": difference(seconds[0], seconds[1], chance),
        "none from none": difference(seconds[1], seconds[2], chance),
    }


def difference(one: Sequence[float], other: Sequence[float], chance: random.Random) -> tuple[float, float, float]:
    """Return the difference of two medians, and the ends of its 95 % interval."""
    drawn = sorted(
        statistics.median(chance.choices(one, k=len(one))) - statistics.median(chance.choices(other, k=len(other)))
        for _ in range(RESAMPLES)
    )
    ends = drawn[RESAMPLES // 40], drawn[-RESAMPLES // 40]
    return statistics.median(one) - statistics.median(other), *ends


def measure(calls: int, seed: int) -> dict[str, Any]:
    """Return how many calls of which kinds leaked or differed, and how long refusals took."""
    with tempfile.TemporaryDirectory(prefix="isolation-") as folder:
        world = World(Path(folder) / "a", tuple(WORDS))
        twin = World(Path(folder) / "b", USERS[TWIN][1])
        try:
            for one in (world, twin):
                one.build()
                one.serve()
            return _asked(world, twin, calls, random.Random(seed))
        finally:
            world.end()
            twin.end()


def _asked(world: World, twin: World, calls: int, chance: random.Random) -> dict[str, Any]:
    askers = [Asker(world, user, world.tokens[user]) for user in USERS]
    askers += [Asker(world, "nobody", ""), Asker(world, "nobody", "deia_wrong")]
    second = Asker(twin, TWIN, twin.tokens[TWIN])
    counts: dict[str, int] = {}
    found: list[str] = []
    differing: list[str] = []
    compared, shown, began = 0, 0, time.monotonic()
    for _ in range(calls):
        asker, call = chance.choice(askers), request(chance)
        answer = ask(asker, call)
        counts[call[0]] = counts.get(call[0], 0) + 1
        said = unquote(f"{call[1]} {json.dumps(call[2])}")
        shown += bool(words_in(answer, said, USERS.get(asker.user, ("", ()))[1]))
        found += [f"{asker.user}: {said[:300]} -> {word}: {answer[:1500]}" for word in leaks(answer, said, asker.user)]
        if asker.user == TWIN and not is_uploading(call):
            compared += 1
            other = ask(second, call)
            one, two = CHANGING.sub("", answer), CHANGING.sub("", other)
            differing += [f"{said[:300]}\n  {parted(one, two)}\n  {parted(two, one)}"] if one != two else []
    seconds = time.monotonic() - began
    return {
        "calls": calls, "by_kind": counts, "shown": shown, "leaks": found, "compared": compared, "differing": differing,
        "seconds": round(seconds, 1), "refusal_ms": timings(askers[0]),
    }  # fmt: skip


def main() -> int:
    """Measure and print; return 1 if anything leaked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    result = measure(given.calls, given.seed)
    found, differing = result["leaks"], result["differing"]
    print(f"{result['calls']} calls in {result['seconds']} s: {result['by_kind']}")
    print(f"{result['shown']} answers showed words of what their asker may read")
    print(f"leaks: {len(found)}; of {result['compared']} answers of the second server, {len(differing)} differ")
    for name, (median, low, high) in result["refusal_ms"].items():
        print(f"refusals, {name}: {median:+.3f} ms, 95 % from {low:+.3f} to {high:+.3f}")
    for one in (*found[:5], *differing[:5]):
        print(one)
    return 1 if found or differing else 0


if __name__ == "__main__":
    sys.exit(main())
