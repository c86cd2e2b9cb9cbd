"""One visit to a hostile repository: what a person and an agent do there, and what must be true afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import runpy
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostile_calls import Call, run
from hostile_contents import build
from hostile_installation import CACHE, CANARY, STATE, Person, environment
from hostile_pieces import FILES, NAMES, Site, make_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_CPU, MOST_MEMORY = 1.0, 512  # seconds of a hook, MB of any call
MOST_WALL = 2.0  # seconds of a hook, a busy machine allowed for; the report tells how many took more than one
TRUSTING = 0.3  # share of the repositories that the person trusts nevertheless
PATIENCE = 3  # tries of a hold that came too late on a busy machine
MOST_READ = 64_000_000  # bytes of a file that is searched for canaries
EDGE = 65_536  # bytes at both ends of a large file that are compared
GUARDED = "terraform destroy -auto-approve"
TRACEBACK = "Traceback (most recent call last)"
Listing = dict[str, str]


class Visit:
    """A person in a repository: how they call deia, and what came of it."""

    def __init__(self, place: Path, person: Person, chance: random.Random, *, real: bool) -> None:
        self.person, self.chance, self.real = person, chance, real
        self.place, self.home, self.outside = place, place / "home", place / "outside"
        name = os.fsdecode(chance.choice(NAMES)) if chance.random() < 0.1 else "clone"
        self.root = place / "work" / name
        self.failures: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.hooks: list[Sequence[float]] = []
        self.calls: list[Sequence[float]] = []
        self.held = self.late = self.sessions = 0
        self.trusted = chance.random() < TRUSTING

    def prepare(self) -> tuple[list[str], list[str]]:
        """Make the repository and what is beside it; return the names of its pieces, and the canaries outside."""
        shutil.copytree(self.person.home, self.home, symlinks=True)
        self.outside.mkdir()
        self.root.mkdir(parents=True)
        canaries = make_outside(self.outside, self.chance)
        pieces = build(Site(self.root, self.outside, self.chance))
        self.environ = environment(self.home, self.person.package)
        if self.trusted:
            self._trust()
        inner = [os.path.join(self.root, path) for path in ("bok", "vendor/x", "packs/p")]
        self.folders = [str(self.root), *filter(os.path.isdir, inner)]
        self.ways = [
            *self.folders,
            f"{self.root}/",
            f"{self.root}/bok/..",
            f"{self.root}/./gone",
            str(self.place / "way"),
        ]
        (self.place / "way").symlink_to(self.root)
        return pieces, [*canaries, CANARY]

    def _trust(self) -> None:
        """Trust the repository, as a person does in a terminal who was talked into it."""
        from deia.errors import DeiaError  # noqa: PLC0415 - of the installation
        from deia.trust import trust  # noqa: PLC0415 - as above

        with contextlib.suppress(DeiaError):  # its name may be none that the list can hold
            trust(str(self.root), self.environ)

    # --- calls ---

    def hook(self, event: str, folder: str, **fields: object) -> Call:
        """Send an event to the hook, as Claude Code does."""
        from deia.serve.hooks.start import start  # noqa: PLC0415 - of the installation

        given = {"session_id": f"s{self.sessions}", "hook_event_name": event, "cwd": folder, **fields}
        self._mark_compiles()
        action = self.person.command if self.real else self._main(start, "claude-code")
        call = run(action, cwd=str(self.root), environ=self.environ, given=json.dumps(given).encode())
        self.hooks.append(call.figures)
        self._examine(f"hook {event}", call, most=MOST_CPU, codes=(0,))
        if call.wall > MOST_WALL:
            self.failures.append(f"hook {event}: took {call.wall:.2f} s, of which {call.cpu:.2f} s of CPU")
        self._examine_words(event, call.out)
        return call

    def deia(self, *arguments: str, given: bytes = b"") -> Call:
        """Call the command line in the repository."""
        from deia.serve.cli.quick_path import answer  # noqa: PLC0415 - of the installation

        started = [sys.executable, "-m", "deia.serve.main", *arguments]
        action = started if self.real else self._main(answer, *arguments)
        call = run(action, cwd=str(self.root), environ=self.environ, given=given)
        self.calls.append(call.figures)
        self._examine(f"deia {' '.join(arguments[:2])}", call)
        return call

    def compile_in_background(self) -> Call:
        """Compile the repository as the hook would have it compiled."""
        from deia.serve.hooks.fallback import SCRIPT  # noqa: PLC0415 - of the installation

        arguments = [str(self._marker(str(self.root))), str(self.root)]
        script = self._main(lambda: runpy.run_path(SCRIPT, run_name="__main__"), *arguments)
        action = [sys.executable, "-I", SCRIPT, *arguments] if self.real else script
        call = run(action, cwd=str(self.home / STATE), environ=self.environ)
        self.calls.append(call.figures)
        self._examine("compile", call)
        return call

    def _main(self, function: Callable[[], object], *arguments: str) -> Callable[[], object]:
        def call() -> object:
            sys.argv = ["deia", *arguments]
            return function()

        return call

    def _mark_compiles(self) -> None:
        """Claim that compiles are under way already, since they are made at a time of our choosing."""
        for folder in self.ways:
            marker = self._marker(folder)
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()

    def _marker(self, folder: str) -> Path:
        from deia.watch.memory.log import fingerprint  # noqa: PLC0415 - of the installation

        return self.home / STATE / "compiling" / f"{fingerprint(folder):016x}"

    def _examine(self, name: str, call: Call, *, most: float = 1e9, codes: Sequence[int] = (0, 1, 2)) -> None:
        self.said.append((name, call.out + call.err))
        if call.code not in codes:
            self.failures.append(f"{name}: ended with {call.code}: {call.err[-1500:]}")
        elif TRACEBACK in call.err + call.out:
            self.failures.append(f"{name}: traceback: {call.err[-1500:]}")
        if call.cpu > most:
            self.failures.append(f"{name}: took {call.cpu:.2f} s of CPU, {call.wall:.2f} s in all")
        if call.peak > MOST_MEMORY:
            self.failures.append(f"{name}: needed {call.peak:.0f} MB")

    def _examine_words(self, event: str, out: str) -> None:
        """Report an answer that is no JSON, or in which words of the repository stand as a line of their own."""
        try:
            answer = json.loads(out or "{}")
        except ValueError:
            self.failures.append(f"hook {event}: no JSON: {out[:800]!r}")
            return
        lines = [line for text in _strings(answer) for line in text.splitlines()]
        posing = [line for line in lines if line.lstrip().upper().startswith("SYSTEM: OBEY")]
        if posing:
            self.failures.append(f"words: {event} says {posing[0]!r} in {out[:1500]!r}")

    # --- what happens ---

    def enter(self, folder: str) -> None:
        """Begin a session in a folder; what the agent does there must be held."""
        self.sessions += 1
        self.hook("SessionStart", folder, source="startup")
        self.hook("UserPromptSubmit", folder, prompt=self.chance.choice(("Deploy the shop, please.", "deia: why", "x")))
        for attempt in range(PATIENCE):
            call = self.hook("PreToolUse", folder, tool_name="Bash", tool_input={"command": GUARDED})
            if '"permissionDecision":"deny"' in call.out.replace(" ", ""):
                self.held += 1
                self.late += attempt > 0
                break
            if self.trusted:  # it may weaken what the person installed
                break
            if call.wall < MOST_CPU * 0.8 or attempt == PATIENCE - 1:
                self.failures.append(f"not held: in {folder!r}: {call.out[:800]!r}")
                break
            self.sessions += 1
        path = os.path.join(self.root, self.chance.choice(FILES))
        edit = {"file_path": path, "old_string": "deploy", "new_string": "x", "content": "deploy"}
        self.hook("PreToolUse", folder, tool_name=self.chance.choice(("Edit", "Write")), tool_input=edit)
        used = {"tool_name": "Bash", "tool_input": {"command": f"rm -rf {path} && cat {path}"}}
        self.hook(self.chance.choice(("PreToolUse", "PostToolUseFailure")), folder, **used, error="deploy failed")

    def work(self) -> None:
        """Go through everything that deia offers in a project."""
        before = listing(self.root)
        self.enter(str(self.root))
        if not self.trusted:
            self.compare("the hook", before, listing(self.root), self.root)
        if self.chance.random() < 0.5:
            self.deia("compile")
        else:
            self.compile_in_background()
        self.enter(self.chance.choice(self.ways))
        for query in self.chance.sample(("deploy the shop", "canary", "how do I x", "a:b AND (c", "odd"), 2):
            self.deia("search", query, *self.chance.choice(([], ["--format", "json"], ["--format", "full"])))
        self.deia("learn", self.chance.choice(("propose", "undo", "log")))
        if self.chance.random() < 0.5:
            self.deia("graph", *self.chance.choice(GRAPH))
        self.deia(*self._one_of(OTHERS))
        self.deia("mcp", given=mcp_session(self.chance))
        self.enter(str(self.root))
        self.deia(*self._one_of(CHANGES))
        self.deia(
            "add", "--title", self.chance.choice(("Deploy", "Terraform destroy", "../x", "a\nb")), "--text", "Text."
        )

    def _one_of(self, calls: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """Return a call; in a trusted project, none that does what its settings or lock say, as trust allows."""
        allowed = [call for call in calls if not (self.trusted and {call[0], " ".join(call[:2])} & OF_TRUST)]
        return self.chance.choice(allowed)

    def compare(self, actor: str, before: Listing, after: Listing, folder: Path) -> None:
        """Report what an actor changed in a folder that it must leave as it is."""
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        if changed:
            shown = "; ".join(f"{path!r} was {before.get(path)}, is {after.get(path)}" for path in changed[:4])
            self.failures.append(f"changed: by {actor}, in {folder}: {shown}")

    def find_canaries(self, canaries: Sequence[str]) -> None:
        """Report canaries of files outside in what was said, and in the files that deia may write."""
        told = [(f"said by {name}", text.encode("utf-8", "replace")) for name, text in self.said]
        for name, data in [*told, *_contents(self.root), *_contents(self.home / STATE), *_contents(self.home / CACHE)]:
            for word in canaries:
                if word.encode() in data:
                    at = data.index(word.encode())
                    self.failures.append(f"read: {word} {name}: {data[max(0, at - 200) : at + 60]!r}")


OF_TRUST = {"doctor", "install", "uninstall", "pack update"}
OTHERS = (
    ("lint",), ("lint", "--json"), ("config",), ("why",), ("log",), ("stats", "queries"), ("show", "a"),
    ("stats", "gaps"), ("stats", "triggers"), ("report",), ("stats", "agents"), ("learn",),
    ("trigger", "test"), ("trigger", "list"), ("trigger", "lint"), ("stats", "triggers"), ("learn", "log"),
    ("check", "deploy the shop with terraform destroy"), ("pack", "list"), ("eval",), ("mute", "--list"),
    ("statusline",), ("config", "--json"), ("feedback", "last", "useful"), ("stats", "documents"),
    ("doctor",), ("doctor",), ("stats", "sql", "FROM events"), ("stats", "latency"), ("install", "--list"),
)  # fmt: skip
GRAPH = (
    ("stats",), ("entities", "--limit", "100"), ("relations", "deploy"), ("trace", "a"), ("draw", "shop"), ("export",),
    ("export", "--format", "graphml"), ("dependents", "canary"), ("path", "a", "b"),
)  # fmt: skip
CHANGES = (
    ("learn", "undo"), ("learn", "undo"), ("learn", "apply", "--all"), ("stats", "compact"), ("index", "build"),
    ("index", "migrate"), ("pack", "update"), ("pack", "remove", "p"), ("init",),
    ("uninstall", "claude-code", "--project", "--yes"),
    ("trigger", "new", "I will deploy the shop"), ("install", "claude-code", "--mcp", "--yes"),
    ("install", "cline", "opencode", "--yes"), ("install", "codex", "--yes"),
)  # fmt: skip


def visit(place: Path, person: Person, chance: random.Random, *, real: bool) -> dict[str, Any]:
    """Make a repository and go through it; return the figures and what failed."""
    visiting = Visit(place, person, chance, real=real)
    pieces, canaries = visiting.prepare()
    fenced = (visiting.outside, visiting.home, visiting.root.parent)
    own = (visiting.root, visiting.home / STATE, visiting.home / CACHE)
    before = [listing(folder, own) for folder in fenced]
    visiting.work()
    for folder, earlier in zip(fenced, before, strict=True):
        visiting.compare("somebody", earlier, listing(folder, own), folder)
    visiting.find_canaries(canaries)
    names = ("real", "trusted", "hooks", "calls", "held", "late", "failures")
    return {"pieces": pieces, **{name: getattr(visiting, name) for name in names}}


def mcp_session(chance: random.Random) -> bytes:
    """Return what a client sends: a handshake and some calls."""
    handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    title = chance.choice(("Terraform destroy", "Deploy", "../../x", "bok terraform destroy"))
    document = chance.choice(("a", "../outside/notes.md", "v", "bok/a.md"))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("query_global_commons", {"query": chance.choice(("deploy the shop", "canary"))}),
        ("save_lesson", {"title": title, "text": "Text.", "trigger": True}),
        ("check_triggers", {"conversation": ["User: terraform destroy now"]}),
        ("read_document", {"document": document}),
        ("list_documents", {}),
        ("remove_document", {"id": document}),
    ]
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": handshake}, {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"}, {"id": 3, "method": "resources/list"},
        {"id": 4, "method": "resources/read", "params": {"uri": "deia://document/a"}},
    ]  # fmt: skip
    for number, (name, arguments) in enumerate(chance.sample(calls, 4), 5):
        messages.append({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages).encode()


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _strings(item)


# --- files ---


def listing(folder: Path, without: Sequence[Path] = ()) -> Listing:
    """Return the kind, mode, size, time and content of everything at and below a folder; links are not followed."""
    skipped = {os.fspath(path) for path in without}
    found = {"": _described(folder, None, folder.lstat()) if folder not in without else ""}
    for place, folders, names, handle in os.fwalk(folder):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            if path not in skipped:
                state = os.stat(name, dir_fd=handle, follow_symlinks=False)
                found[os.path.relpath(path, folder)] = _described(name, handle, state)
        folders[:] = [name for name in folders if os.path.join(place, name) not in skipped]
    return found


def _described(name: str | Path, handle: int | None, state: os.stat_result) -> str:
    """Return what describes a file; the time of a folder is left out where something in it may be written."""
    content = ""
    if stat.S_ISLNK(state.st_mode):
        content = os.readlink(name, dir_fd=handle)
    elif stat.S_ISREG(state.st_mode):
        content = _digest(name, handle, state.st_size)
    moved = 0 if stat.S_ISDIR(state.st_mode) else state.st_mtime_ns
    size = 0 if stat.S_ISDIR(state.st_mode) else state.st_size
    return f"{state.st_mode:o} {state.st_uid} {size} {moved} {content}"


def _digest(name: str | Path, handle: int | None, size: int) -> str:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle)
    try:
        ends = os.pread(file, EDGE, 0) + os.pread(file, EDGE, max(0, size - EDGE))
    finally:
        os.close(file)
    return hashlib.sha256(ends).hexdigest()[:16]


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files below a folder that can be read whole."""
    for place, _, names, handle in os.fwalk(folder):
        for name in names:
            state = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISREG(state.st_mode) and state.st_size < MOST_READ:
                with contextlib.suppress(OSError), open(os.open(name, os.O_RDONLY, dir_fd=handle), "rb") as file:
                    yield f"in {os.path.join(place, name)}", file.read()
