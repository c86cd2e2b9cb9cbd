"""`deia trigger replay` on a person's own past conversations: found by itself, read safely, muted only by a person."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.evaluate import replay_files as replaying
from deia.serve.cli.commands import triggers_replay
from deia.watch.silence.mutes import Mute, write_mute

if TYPE_CHECKING:
    from tests.serve.conftest import Deia, Process

SAID = "I will delete the shop site now"
RUN = "shopctl site:delete --yes"
KEY = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA" + "-AA"


@pytest.fixture
def home(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Path(environ["HOME"])


def lines(place: Path, *rows: Any) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


def claude_code(home: Path, *, said: str = SAID, name: str = "0b5c7b1e-4f6f-4d1e-9d54-2f0c2c6a5d11") -> Path:
    """Write a session as Claude Code keeps it."""
    common = {"parentUuid": None, "isSidechain": False, "cwd": "/srv/shop", "sessionId": name, "version": "2.1.40"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": RUN, "description": "x"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done", "is_error": False}
    return lines(
        home / ".claude" / "projects" / "-srv-shop" / f"{name}.jsonl",
        {"type": "summary", "summary": "The shop", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False},
        {"type": "user", **common, "uuid": "u1", "message": {"role": "user", "content": said}},
        {
            "type": "assistant", **common, "uuid": "u2",
            "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Very well."}, call,
            ]},
        },
        {"type": "user", **common, "uuid": "u3", "message": {"role": "user", "content": [result]}, "toolUseResult": {}},
        {"type": "system", **common, "subtype": "turn_duration", "content": "x", "durationMs": 9},
    )  # fmt: skip


def codex(home: Path) -> Path:
    """Write a session as Codex keeps it."""

    def item(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-01T10:00:00.000Z", "type": kind, "payload": payload}

    return lines(
        home / ".codex" / "sessions" / "2026" / "11" / "01" / "rollout-2026-11-01T10-00-00-0199.jsonl",
        item("session_meta", id="0199", cwd="/srv/shop", originator="codex_cli_rs", cli_version="0.136.0"),
        item("turn_context", cwd="/srv/shop", approval_policy="on-request"),
        item("response_item", type="message", role="user", content=[{"type": "input_text", "text": "look around"}]),
        item("event_msg", type="user_message", message="look around"),
        item("response_item", type="function_call", name="shell", call_id="c1",
             arguments=json.dumps({"command": ["bash", "-lc", RUN]})),
        item("response_item", type="function_call_output", call_id="c1", output=json.dumps({"output": "x"})),
    )  # fmt: skip


def gemini(home: Path) -> Path:
    """Write a chat as Gemini CLI records it."""
    call = {
        "id": "run-1", "name": "run_shell_command", "args": {"command": RUN}, "status": "success", "resultDisplay": "x",
        "result": [{"functionResponse": {"id": "run-1", "name": "run_shell_command", "response": {"output": "x"}}}],
    }  # fmt: skip
    messages = [
        {"id": "1", "timestamp": "t", "type": "user", "content": "look around"},
        {"id": "2", "timestamp": "t", "type": "gemini", "content": "Yes.", "thoughts": [], "toolCalls": [call]},
        {"id": "3", "timestamp": "t", "type": "info", "content": "Request cancelled."},
    ]
    whole = {"sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t", "messages": messages}
    place = home / ".gemini" / "tmp" / "79b6fa" / "chats" / "session-2026-11-01T10-00-f86f5318.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return place


def copilot(home: Path) -> Path:
    """Write a session as Copilot CLI keeps it."""

    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "e", "timestamp": "t", "parentId": None}

    request = {"toolCallId": "t1", "name": "bash", "arguments": {"command": RUN, "description": "x"}}
    return lines(
        home / ".copilot" / "session-state" / "0a1b" / "events.jsonl",
        event("session.start", sessionId="0a1b", version=1, producer="copilot-agent", context={"cwd": "/srv/shop"}),
        event("user.message", content="look around", attachments=[]),
        event("assistant.message", messageId="m", content="", toolRequests=[request]),
        event("tool.execution_start", toolCallId="t1", toolName="bash", arguments=request["arguments"]),
        event("tool.execution_complete", toolCallId="t1", success=True, result={"content": "x"}),
    )


def other_hosts(home: Path) -> list[Path]:
    """Write what Cursor, Cline, Amp and Droid keep: messages with blocks, in lines or in one list."""
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": RUN}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "look around"}]},
        {"role": "assistant", "content": [use]},
    ]
    task = home / ".cline" / "data" / "tasks" / "1764" / "api_conversation_history.json"
    thread = home / ".local" / "share" / "amp" / "threads" / "T-019b.json"
    for place, whole in ((task, messages), (thread, {"id": "T-019b", "messages": messages})):
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(whole), encoding="utf-8")
    (task.parent / "ui_messages.json").write_text(json.dumps([{"type": "say", "text": SAID}]), encoding="utf-8")
    return [
        task, thread,
        lines(home / ".factory" / "sessions" / "-srv-shop" / "1.jsonl", {"type": "session_start", "id": "1"},
              *({"type": "message", "id": "m", "message": message} for message in messages)),
        lines(home / ".cursor" / "projects" / "srv-shop" / "agent-transcripts" / "1" / "1.jsonl",
              *({"role": message["role"], "message": {"content": message["content"]}} for message in messages)),
    ]  # fmt: skip


def fields(deia: Deia, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(deia("trigger", "replay", "--json", *arguments).out))


# --- what is found ---


def test_the_folders_of_all_hosts_are_found_and_named(deia: Deia, home: Path) -> None:
    written = [claude_code(home), codex(home), gemini(home), copilot(home), *other_hosts(home)]
    found = fields(deia)
    assert [one["host"] for one in found["folders"]] == [
        "Claude Code", "OpenAI Codex CLI", "GitHub Copilot CLI", "Gemini CLI", "Cursor", "Cline", "Amp",
        "Factory Droid",
    ]  # fmt: skip
    assert [one["files"] for one in found["folders"]] == [1] * len(written)
    assert found["conversations"] == len(written)
    (fired,) = found["triggers"]
    assert (fired["trigger"], fired["fired"]) == ("site-delete", len(written) + 1)
    assert fired["actions"] == {"warn": 1, "hold": len(written)}  # the person ordered the first, which is held too
    told = deia("trigger", "replay").out
    assert "Claude Code: 1 file in ~/.claude/projects\n" in told.replace(os.sep, "/")
    assert f"~/.claude/projects/-srv-shop/{written[0].name}, turn 1, user: {SAID}" in told.replace(os.sep, "/")
    assert f"{len(written)} of these would have stopped a call once, 0 would have asked you." in told


def test_a_host_whose_folder_was_moved_is_found_there(deia: Deia, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_code(home)
    (home / ".claude").rename(home / "elsewhere")
    assert deia("trigger", "replay").code == 1
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    assert fields(deia)["folders"][0]["folder"] == str(home / "elsewhere" / "projects")


def test_where_nothing_is_found_it_says_where_it_looked(deia: Deia, home: Path) -> None:
    told = deia("trigger", "replay")
    assert (told.code, told.out) == (1, "")
    assert "looked in ~/.claude/projects, ~/.codex/sessions" in told.err.replace(os.sep, "/")


def test_only_lately_changed_conversations_are_read_if_that_is_wanted(deia: Deia, home: Path) -> None:
    recent = claude_code(home)
    old = claude_code(home, name="1b5c7b1e-4f6f-4d1e-9d54-2f0c2c6a5d11")
    os.utime(old, (1_700_000_000, 1_700_000_000))
    assert fields(deia)["conversations"] == 2
    assert fields(deia, "--since", "7d")["conversations"] == 1
    os.utime(recent, (1_700_000_000, 1_700_000_000))
    assert "there are no past conversations that changed since 20" in deia("trigger", "replay", "--since", "7d").err
    recent.touch()
    assert fields(deia, str(home / ".claude"), "--since", "7d")["conversations"] == 1
    assert deia("trigger", "replay", "--since", "soon").code == 2


def test_where_there_is_much_it_says_how_to_read_less(deia: Deia, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_code(home)
    assert "--since 30d" not in deia("trigger", "replay").err
    monkeypatch.setattr(triggers_replay, "PATIENCE", 1)
    assert "to read only recent ones: --since 30d" in deia("trigger", "replay").err
    assert "--since 30d" not in deia("trigger", "replay", "--since", "30d").err


@pytest.mark.slow
def test_it_works_before_there_is_any_commons_with_the_starter_alone(
    process: Process, commons: Path, home: Path
) -> None:
    (commons / "commons_index.yaml").unlink()
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "sudo terraform destroy -auto-approve"}}
    lines(
        home / ".claude" / "projects" / "-srv" / "a.jsonl",
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
    )
    done = process("trigger", "replay", DEIA_STARTER="true", DEIA_TRUST="")
    assert done.returncode == 0, done.stderr
    assert b"2 turns in 1 conversation, judged in " in done.stdout
    assert b"terraform-destroy" in done.stdout


def test_install_says_how_to_look_before_and_after(deia: Deia, home: Path) -> None:
    for arguments in (["--dry-run"], []):
        told = deia("install", "codex", *arguments).out
        assert told.count("type: deia trigger replay") == 1


# --- what is read, and shown ---


def test_secrets_and_control_characters_are_not_shown(deia: Deia, home: Path) -> None:
    claude_code(home, said=f"{SAID} with the key {KEY} \x1b[31m and password=hunter2hunter2")
    for arguments in ((), ("--json",)):
        told = deia("trigger", "replay", *arguments).out
        assert SAID in told
        assert "[secret]" in told
        assert KEY[:20] not in told
        assert "hunter2" not in told
        assert "\x1b" not in told


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")
def test_nothing_outside_of_the_folder_is_read_and_no_pipe_is_waited_for(deia: Deia, home: Path) -> None:
    folder = claude_code(home).parent
    outside = lines(home / "private" / "diary.jsonl", {"role": "user", "content": SAID})
    (folder / "out.jsonl").symlink_to(outside)
    (folder / "below").symlink_to(outside.parent)
    (folder / "gone.jsonl").symlink_to(home / "nowhere")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "again.jsonl").symlink_to(next(iter(sorted(folder.glob("0b*.jsonl")))))
    found = fields(deia)
    assert (found["conversations"], found["folders"][0]["files"]) == (2, 2)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="anybody may read there")
def test_a_file_that_may_not_be_read_is_named_and_left_out(deia: Deia, home: Path) -> None:
    claude_code(home)
    closed = claude_code(home, name="closed")
    closed.chmod(0)
    told = deia("trigger", "replay")
    assert told.code == 0
    assert "closed.jsonl: it cannot be read: Permission denied" in told.err


def test_a_file_that_is_too_large_is_named_and_left_out(
    deia: Deia, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_code(home)
    large = claude_code(home, name="large")
    large.write_text(large.read_text(encoding="utf-8") * 3, encoding="utf-8")
    monkeypatch.setattr(replaying, "MOST_FILE", large.stat().st_size - 1)
    told = deia("trigger", "replay")
    assert (told.code, "large.jsonl: it is larger than" in told.err) == (0, True)
    monkeypatch.setattr(replaying, "MOST_FILES", 1)
    told = deia("trigger", "replay")
    assert (told.code, "more than 1 files below" in told.err, "--since" in told.err) == (2, True, True)


ODD = (
    b"", b"\xff\xfe\x00\x00", b"[" * 200_000, b'{"type":"user","message":' + b'{"content":' * 5000, b"{}\n" * 3,
    b'{"type":"gemini","content":[[[1]]],"toolCalls":[3,{"args":[],"result":[{"functionResponse":{"response":[]}}]}]}\n{}',
    b'{"type":"tool.execution_complete","data":{"result":[1],"toolCallId":{}}}\n{"type":"user.message","data":{"content":{}}}',
    b'{"type":"assistant.message","data":{"toolRequests":[1,{"arguments":7,"name":[]}]}}\n{"a":1}',
    b'{"type":"session.start","data":{"context":[1]},"payload":3}\n{"role":"user","content":"hi"}',
    b'{"messages":[{"type":"gemini","content":null,"toolCalls":{"a":1}},{"type":{},"content":"x"}]}',
    b'{"type":"user","message":{"role":"user","content":"' + b"x" * 3_000_000 + b'"}}\n',
)  # fmt: skip


def test_no_file_breaks_it(deia: Deia, home: Path) -> None:
    folder = claude_code(home).parent
    for number, content in enumerate(ODD):
        (folder / f"odd-{number}.jsonl").write_bytes(content)
    told = deia("trigger", "replay", "--jobs", "1")
    assert (told.code, "Traceback" in told.err) == (0, False)
    assert "site-delete" in told.out
    for number in range(len(ODD)):
        told = deia("trigger", "replay", str(folder / f"odd-{number}.jsonl"))
        assert "Traceback" not in told.err


# --- muting ---


def test_a_trigger_that_is_named_is_muted_and_is_heard_no_more(deia: Deia, home: Path) -> None:
    claude_code(home)
    assert (
        "To mute one of them for yourself, type in a terminal: deia mute TRIGGER --for 7d"
        in deia("trigger", "replay").out
    )
    assert "To end that, type: deia mute site-delete --off" in deia("trigger", "replay", "--mute", "site-delete").out
    told = deia("trigger", "replay").out
    assert "deia would have spoken 0 times, 0.00 per 1,000 turns." in told
    assert "critical, hold, muted by you" in told
    assert fields(deia)["muted"] == ["site-delete"]


def test_only_what_is_muted_for_good_counts_as_muted(deia: Deia, home: Path, environ: dict[str, str]) -> None:
    claude_code(home)
    write_mute(environ["DEIA_STATE"], Mute(trigger="site-delete", folder="/srv/other"))
    assert fields(deia)["muted"] == []


def test_a_trigger_that_does_not_exist_is_not_muted(deia: Deia, home: Path) -> None:
    claude_code(home)
    told = deia("trigger", "replay", "--mute", "site-delte")
    assert (told.code, "site-delete" in told.err) == (2, True)
    assert deia("mute", "--list").out == "Nothing is muted.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize(
    ("answers", "variables", "muted"),
    [
        ([b"\n"], {}, False), ([b"site-delete\n", b"y\n"], {}, True), ([b"site-delete\n", b"n\n"], {}, False),
        ([b"nothing\n", b"site-delete\n", b"y\n"], {}, True), ([], {"CLAUDECODE": "1"}, False),
    ],
)  # fmt: skip
def test_at_a_terminal_a_person_is_asked_what_is_noise(
    commons: Path, environ: dict[str, str], home: Path, answers: list[bytes], variables: dict[str, str], *, muted: bool
) -> None:
    claude_code(home)
    told = typed(["trigger", "replay"], commons, {**environ, **variables}, answers)
    is_asked = "Is one of these noise to you? site-delete (2 times)" in told
    assert is_asked == bool(answers)
    assert ("site-delete is critical and stops calls: Deleting a shop site. Mute it all the same?" in told) is (
        b"site-delete\n" in answers
    )
    assert ("site-delete is muted for you." in told) is muted


def typed(arguments: list[str], folder: Path, environ: dict[str, str], answers: list[bytes]) -> str:
    """Return what a command shows at a terminal, in which each of its questions is answered."""
    import pty  # noqa: PLC0415 - there is none on Windows

    command = [sys.executable, "-m", "deia.serve.main", *arguments]
    told, asked = b"", 0
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(command[0], command, environ)  # noqa: S606 - a process at a terminal is what is tested
    try:
        while part := os.read(terminal, 1000):
            told += part
            questions = told.count(b"Enter for none: ") + told.count(b"[y/N]: ")
            if questions > asked:
                asked = questions
                os.write(terminal, answers[asked - 1])
    except OSError:  # the terminal was closed, as Linux says it
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return told.decode()
