"""Every host's hook over a compiled commons: as the installed process, and in this process where that will do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from deia.compile.compiler import compile_commons
from deia.serve import hook
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import host_module, respond
from deia.serve.hosts.sample_events import Happening, sample

if TYPE_CHECKING:
    from collections.abc import Callable

CONTRACTS = Path(__file__).parent / "hosts" / "contracts"


@dataclass(frozen=True)
class Contract:
    """What a host sends and takes, as JSON Schemas by event."""

    event: str
    input: dict[str, Any]
    output: dict[str, Any]
    refusal: tuple[str, ...] = ()

    def check_input(self, event: dict[str, Any]) -> str:
        """Check an event against the schemas and return its name."""
        named = str(event.get(self.event) or "")
        fitting = [named] if named else [name for name in self.input if self._fits(name, event)]
        jsonschema.validate(event, self.input[fitting[0]])
        return fitting[0]

    def _fits(self, name: str, event: dict[str, Any]) -> bool:
        schema = {**self.input[name], "additionalProperties": False}
        return not list(jsonschema.Draft202012Validator(schema).iter_errors(event))

    def check_output(self, name: str, answer: Any) -> None:
        """Check an answer against the schema of its event; no answer is always right."""
        if isinstance(answer, bytes):
            assert name in self.refusal
            assert answer.decode("utf-8")
        elif answer is not None:
            jsonschema.validate(answer, self.output[name])


@dataclass(frozen=True)
class Hosted:
    """A host's hook over a compiled commons."""

    host: str
    contract: Contract
    folder: str
    environ: dict[str, str]
    conversation: str = "c1"

    def event(self, moment: str, text: str = "", **more: Any) -> dict[str, Any] | None:
        """Return what the host would send."""
        about = {"moment": moment, "text": text, "conversation": self.conversation, "folder": self.folder, **more}
        return sample(self.host, Happening(**about))

    def send(self, event: dict[str, Any] | None) -> str:
        """Run the installed hook as the host does; give what it answers, checked, as one text."""
        if event is None:
            return ""
        name = self.contract.check_input(event)
        done = self.run(json.dumps(event).encode())
        assert done.returncode in ({0, 2} if done.stderr else {0})
        assert bool(done.stderr) == (done.returncode == 2)
        answer = done.stderr or (json.loads(done.stdout) if done.stdout else None)
        self.contract.check_output(name, answer)
        return (done.stderr or done.stdout).decode()

    def run(self, data: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run the installed hook."""
        return subprocess.run(
            [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), self.host],
            input=data, capture_output=True, check=False, env=self.environ, timeout=30,
        )  # fmt: skip

    def ask(self, event: dict[str, Any] | None) -> str:
        """Answer an event in this process; give the answer, checked, as one text."""
        if event is None:
            return ""
        name = self.contract.check_input(event)
        place = Place([self.host])
        place.environ, place.state = self.environ, self.environ["DEIA_STATE"]
        adapter = host_module(self.host)
        occasion = adapter.read_event(event)
        if occasion is None:
            return ""
        place.settle(occasion.folder)
        said = respond(place, occasion, adapter.CARRIES)
        answer = adapter.write_answer(occasion, said) if said else None
        self.contract.check_output(name, answer)
        return answer.decode() if isinstance(answer, bytes) else json.dumps(answer) if answer else ""

    def say(self, moment: str, text: str = "", **more: Any) -> str:
        """Send an event in this process."""
        return self.ask(self.event(moment, text, **more))

    def but(self, **changes: Any) -> Hosted:
        """Return the same with some things changed."""
        return replace(self, **changes)

    def firings(self) -> list[tuple[str, str]]:
        """Return what the ledger holds of injections: trigger and outcome."""
        lines: list[dict[str, Any]] = []
        for path in sorted((Path(self.folder) / "telemetry" / "events").glob("*.jsonl")):
            lines += [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        return [(line["trigger"], line["outcome"]) for line in lines if line["event"] == "injection"]


def contract_of(host: str) -> Contract:
    """Read a host's contract."""
    told = json.loads((CONTRACTS / f"{host}.json").read_text(encoding="utf-8"))
    refusal = tuple(told.get("refusal", ()))
    return Contract(event=told["event"], input=told["input"], output=told["output"], refusal=refusal)


@pytest.fixture
def hosted(commons: Path, environ: dict[str, str]) -> Callable[[str], Hosted]:
    """Return a function that returns a host's hook over a compiled commons."""
    compile_commons(str(commons), environ=environ)
    return lambda host: Hosted(
        host=host, contract=contract_of(host), folder=commons.as_posix(), environ=environ, conversation=f"c-{host}"
    )


@pytest.fixture
def contract() -> Callable[[str], Contract]:
    """Return a function that reads a host's contract."""
    return contract_of
