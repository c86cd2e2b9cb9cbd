"""The container files are what they should be, as far as reading them shows: nothing here runs a container."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from deia.serve.cli.commands import engine, server

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs/engines"
KNOWN = set("ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM RUN STOPSIGNAL USER VOLUME WORKDIR".split())


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def instructions() -> list[tuple[str, str]]:
    lines = (FOLDER / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def test_the_container_is_built_of_this_project_and_runs_as_nobody_in_particular() -> None:
    steps = instructions()
    assert {name for name, _ in steps} <= KNOWN
    assert steps[0][0] == "FROM"
    names = [name for name, _ in steps]
    assert names.index("USER") > max(at for at, name in enumerate(names) if name == "RUN")
    assert not re.search(r"PASSWORD|TOKEN=", "\n".join(rest for _, rest in steps))
    installed = next(rest for _, rest in steps if "pip install" in rest)
    extras = re.search(r"/src\[([a-z,0-9]+)\]", installed)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras
    assert set(extras[1].split(",")) <= set(known)


def test_every_command_of_the_containers_is_one_of_deia(compose: Any) -> None:
    commands = [compose["services"]["worker"]["command"]]
    commands += [yaml.safe_load(rest) for name, rest in instructions() if name == "CMD"]
    known = {"serve": server.serve, "worker": engine.worker}
    for program, name, *options in commands:
        assert program == "deia"
        said = CliRunner().invoke(known[name], ["--help"]).output
        assert all(option in said for option in options if option.startswith("--"))


def test_the_composition_shows_no_secret_and_opens_no_port_to_others(compose: Any) -> None:
    services = compose["services"]
    assert set(services) == {"database", "server", "worker"}
    for service in services.values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|TOKEN", name):
                assert re.fullmatch(r"\$\{[A-Z_]+:\?[^}]+\}", value), "a secret comes from outside, and has to be there"
            assert "@" not in value or ":" not in value.partition("://")[2].partition("@")[0]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    used = {volume.partition(":")[0] for service in services.values() for volume in service.get("volumes", ())}
    assert {name for name in used if not name.startswith("$")} == set(compose["volumes"])
    assert (FOLDER / services["server"]["build"]["context"] / services["server"]["build"]["dockerfile"]).exists()
    assert shlex.split(services["database"]["healthcheck"]["test"][1])[0] == "pg_isready"
