"""`deia install --mcp` and `--warm`: entered beside the hook, once, and taken out without a trace."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import HostError
from deia.serve.setup.host_settings.claude_code_settings import WARM, asked_at, with_warm, without_warm
from deia.serve.setup.host_settings.hosts_table import SERVERS, SETUPS
from deia.serve.setup.host_settings.server_file import fields_for, server_in, with_server, without_server

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

DEEP = "a = " + "[" * 100_000
FIELDS = {"command": "/usr/bin/python3", "args": ["-P", "-m", "deia.serve.main", "mcp"]}
TOML = '# of mine\nmodel = "x"  # kept\n\n[mcp_servers.other]\ncommand = "y"\n\n[tui]\nlines = [\n  "[a]",\n]\n'


@pytest.fixture(autouse=True)
def _no_host_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    variables = {name for each in SERVERS.values() for place in each.places.values() for name in place.variables}
    for name in {name for setup in SETUPS for name in setup.variables} | variables:
        monkeypatch.delenv(name, raising=False)


def tree(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    mine = [path for path in files if path.relative_to(folder).parts[0] not in {"state", "cache"}]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in mine}


@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_servers_of_every_host_are_entered_once_and_taken_out_without_a_trace(
    deia: Deia, commons: Path, environ: dict[str, str], scope: str
) -> None:
    home = Path(environ["HOME"])
    (commons / ".codex").mkdir()
    (commons / ".codex/config.toml").write_text(TOML, encoding="utf-8", newline="\r\n")
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    before = tree(commons), tree(home)
    told = deia("install", *SERVERS, scope, "--mcp")
    assert told.code == 0, told.err
    entered = tree(commons), tree(home)
    again = deia("install", *SERVERS, scope, "--mcp")
    assert again.code == 0
    assert (tree(commons), tree(home)) == entered
    texts = [each.decode() for part in entered for name, each in part.items() if not name.endswith(".before-deia")]
    assert sum("deia.serve.main" in text for text in texts) == len(SERVERS)
    assert deia("uninstall", *SERVERS).code == 0
    assert (tree(commons), tree(home)) == before


def test_the_host_that_works_in_no_folder_is_told_which_commons(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    assert deia("install", "claude-desktop", "--mcp").code == 0
    (path,) = Path(environ["HOME"]).rglob("claude_desktop_config.json")
    args = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["deia"]["args"]
    assert args[-2:] == ["--commons", str(commons)]
    refused = deia("install", "claude-desktop")
    assert refused.code == 2
    assert "deia install claude-desktop --mcp" in refused.err


def test_all_hosts_that_are_here_get_a_server_where_they_keep_one(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    (commons / ".cursor").mkdir()
    (commons / ".windsurf").mkdir()
    told = deia("install", "--all", "--mcp", "--yes")
    assert told.code == 0, told.err
    assert "deia" in json.loads((commons / ".cursor/mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert not (commons / ".mcp.json").exists()
    assert (commons / ".windsurf/hooks.json").exists()
    assert deia("uninstall", "--all", "--yes").code == 0
    assert not (commons / ".cursor/mcp.json").exists()


def test_a_dry_run_shows_it_and_writes_nothing(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    before = tree(commons)
    told = deia("install", "claude-code", "--mcp", "--warm", "--dry-run")
    assert '+    "deia": {' in told.out
    assert '"url": "http://127.0.0.1:8765/hooks/claude-code"' in told.out
    assert tree(commons) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("install", "windsurf", "--mcp"), "no file in which windsurf keeps servers"),
        (("install", "claude-code", "--local", "--mcp"), "Use --project or --user"),
        (("install", "gemini", "--warm"), "deia install claude-code --warm"),
        (("install", "claude-code", "--warm", "--url", "localhost"), "is not an address"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    deia: Deia, commons: Path, environ: dict[str, str], arguments: tuple[str, ...], told: str
) -> None:
    before = tree(commons)
    outcome = deia(*arguments)
    assert outcome.code == 2
    assert told in outcome.err
    assert tree(commons) == before


def test_a_token_is_named_and_never_written_down(
    deia: Deia, commons: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(commons)
    own = Path(environ["DEIA_STATE"], ".env")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("DEIA_TOKEN=a-secret-of-the-team\n", encoding="utf-8")
    assert deia("install", "claude-code", "--warm").code == 0
    text = (commons / ".claude/settings.json").read_text(encoding="utf-8")
    assert "Bearer $DEIA_TOKEN" in text
    assert "a-secret" not in text
    shown = deia("config")
    assert f"token = set, not shown  ({own}:1)" in shown.out
    assert "a-secret" not in shown.out + deia("config", "--format", "json").out
    block = deia("mcp", "config", "codex", "--url", "http://127.0.0.1:8765/mcp")
    assert 'bearer_token_env_var = "DEIA_TOKEN"' in block.out
    assert "a-secret" not in block.out


# --- the texts ---


@pytest.mark.parametrize(
    ("host", "file", "key"),
    [
        ("opencode", ".config/opencode/opencode.json", "mcp"),
        ("copilot", ".copilot/mcp-config.json", "mcpServers"),
        ("droid", ".factory/mcp.json", "mcpServers"),
        ("cline", ".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
    ],
)
def test_the_server_is_entered_beside_the_hook_where_the_host_keeps_its_servers(
    deia: Deia, environ: dict[str, str], host: str, file: str, key: str
) -> None:
    told = deia("install", host, "--user", "--mcp")
    assert told.code == 0, told.err
    entry = json.loads((Path(environ["HOME"]) / file).read_text(encoding="utf-8"))[key]["deia"]
    assert "deia.serve.main" in [*entry.get("args", ()), *entry["command"]]
    assert f"installed (user): {environ['HOME']}" in deia("install", "--list").out


@pytest.mark.parametrize("host", [host for host in SERVERS if host != "codex"])
def test_what_a_person_added_to_the_server_stays(host: str) -> None:
    key = SERVERS[host].key
    text = json.dumps({key: {"deia": {"command": "deia", "args": ["mcp"], "env": {"A": "b"}}, "other": {"x": 1}}})
    after = json.loads(with_server(text, host, fields_for(host), path="f"))
    assert after[key]["deia"]["env"] == {"A": "b"}
    wanted = fields_for(host)
    assert {name: after[key]["deia"].get(name) for name in wanted} == wanted
    assert after[key]["other"] == {"x": 1}


@pytest.mark.parametrize("host", SERVERS)
def test_a_server_of_that_name_that_is_somebody_elses_is_refused(host: str) -> None:
    text = '[mcp_servers.deia]\ncommand = "node"\n'
    if host != "codex":
        text = json.dumps({SERVERS[host].key: {"deia": {"command": "node", "args": ["server.js"]}}})
    with pytest.raises(HostError, match="somebody else's"):
        with_server(text, host, FIELDS, path="f")


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {deia = {command = "deia"}}\n',
        '[mcp_servers]\ndeia.command = "deia"\n',
        "[mcp_servers\n",
        "= 1",
        DEEP,
    ],
)
def test_a_table_that_lines_cannot_change_is_left_to_the_person(text: str) -> None:
    with pytest.raises(HostError, match=r"line by line|not TOML") as caught:
        without_server(with_server(text, "codex", FIELDS, path="f"), "codex", path="f")
    assert "deia serve config codex" in caught.value.fix


def test_codexs_file_keeps_its_comments_and_order() -> None:
    after = with_server(TOML, "codex", FIELDS, path="f")
    assert after.startswith(TOML)
    assert tomllib.loads(after)["mcp_servers"]["deia"] == FIELDS
    assert with_server(after, "codex", FIELDS, path="f") == after
    added = after + '\n[mcp_servers.deia.env]\nA = "b"\n\n[last]\nz = 1\n'
    assert without_server(added, "codex", path="f") == TOML + "\n[last]\nz = 1\n"


@settings(max_examples=100)
@given(st.text(alphabet='[]mcp_servers.deia="\n #1', max_size=60) | st.sampled_from([TOML, ""]),
       st.sampled_from(["codex", "cursor"]))  # fmt: skip
def test_no_text_of_a_file_raises_anything_but_what_is_foreseen(text: str, host: str) -> None:
    try:
        after = with_server(text, host, FIELDS, path="f")
    except HostError:
        return
    assert server_in(after, host, path="f") == FIELDS
    assert server_in(without_server(after, host, path="f"), host, path="f") is None


def test_hooks_that_ask_a_server_are_entered_once_beside_everything_else() -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "https://mine.example/hooks"}]}]}}'
    wanted = asked_at("http://127.0.0.1:8765/", token=False)
    after = with_warm(text, wanted, path="f")
    assert with_warm(after, wanted, path="f") == after
    assert set(json.loads(after)["hooks"]) == set(WARM)
    assert after.count("/hooks/claude-code") == len(WARM)
    moved = with_warm(after, asked_at("http://127.0.0.1:9000", token=False), path="f")
    assert (moved.count(":8765"), moved.count(":9000")) == (0, len(WARM))
    assert json.loads(without_warm(moved, path="f")) == json.loads(text)
    assert json.loads(without_warm(with_warm("", wanted, path="f"), path="f")) == {}


def test_a_file_that_cannot_be_read_keeps_nothing_else_from_being_taken_out(
    deia: Deia, commons: Path, environ: dict[str, str]
) -> None:
    assert deia("install", "cursor", "claude-code", "--mcp").code == 0
    (commons / ".cursor/mcp.json").write_text("{", encoding="utf-8")
    assert deia("uninstall", "cursor", "claude-code").code == 0
    assert not (commons / ".mcp.json").exists()
    assert (commons / ".cursor/mcp.json").read_text(encoding="utf-8") == "{"
