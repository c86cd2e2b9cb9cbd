"""What a call runs is judged when it is run, however that is written, and only what it runs."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.folders import STARTER
from deia.librarian import Librarian
from deia.records import Turn
from deia.watch.authoring.replay import Replay
from deia.watch.turn.build_files import pipeline_deletions, task_block, yaml_commands
from deia.watch.turn.run_texts import OLDER, disk_reader, gate_text
from deia.watch.turn.scripts import WrittenFiles, from_disk
from deia.watch.turn.tool_call import RUN_MARK, command_of

if TYPE_CHECKING:
    from pathlib import Path

    from deia.watch.gate.artefact import Artefact

BRANCHES = 'case "$1" in\n  reset)\n    terraform destroy\n    ;;\n  *)\n    echo usage\n    ;;\nesac\n'
WRITTEN = {
    "/repo/x.sh": "set -e\nterraform destroy -auto-approve\n",
    "/repo/branches.sh": BRANCHES,
    "/repo/run.py": "import os\nos.system('terraform destroy')\n",
    "/repo/run.js": "require('child_process').execSync('terraform destroy')\n",
    "/repo/drop.sql": "drop database shop;\n",
    "/repo/Makefile": "all:\n\tcc main.c\n\ndown: stop\n\techo $(PWD)\n\nstop:\n\t@terraform destroy\n",
    "/repo/package.json": '{"scripts": {"down": "node run.js", "build": "tsc", "postinstall": "node run.js"}}',
    "/repo/outer.sh": "./x.sh\n",
    "/repo/ops.mk": "down:\n\tterraform destroy\n",
    "/repo/nightly.cron": "0 3 * * * terraform destroy -auto-approve\n",
    "/repo/Taskfile.yml": (
        "version: '3'\ntasks:\n  build:\n    cmd: tsc\n  down:\n    desc: ends it\n    cmds:\n"
        "      - echo a\n      - cmd: terraform destroy\n  up:\n    cmds: [terraform apply]\n"
    ),
    "/repo/site.yml": (
        "- hosts: web\n  tasks:\n    - name: end\n      ansible.builtin.shell: |\n        terraform destroy\n"
    ),
    "/repo/other.yaml": "- hosts: web\n  tasks:\n    - name: terraform destroy\n      command: uptime\n",
    "/repo/composer.json": '{"scripts": {"down": "terraform destroy", "build": "php a.php"}}',
    "/repo/deno.json": '{"tasks": {"down": "terraform destroy", "build": "tsc"}}',
    "/repo/tool": "#!/usr/bin/env python3\nimport os\nos.system('terraform destroy')\n",
}


def call(command: str) -> Turn:
    return Turn(role="tool_call", text="", tool="Bash", tool_input={"command": command})


def write(path: str, text: str) -> Turn:
    return Turn(role="tool_call", text="", tool="Write", tool_input={"file_path": path, "content": text})


def after_writing(command: str) -> str:
    """Return the command as it is judged after the files of `WRITTEN` were written."""
    written = WrittenFiles()
    for path, text in WRITTEN.items():
        written.widened(write(path, text))
    return command_of(written.widened(call(command))).removeprefix(command)


@pytest.fixture(scope="module")
def artefact() -> Artefact:
    return Librarian(STARTER, ledger=False).open_artefact()


@pytest.mark.parametrize(
    "command",
    [
        "bash x.sh", "sh -e /repo/x.sh", "for s in *x.sh; do bash $s; done", "composer down",
        "./x.sh", "cd /repo && ./x.sh", "source x.sh", ". ./x.sh", "sudo ./x.sh",
        "bash < x.sh", "cat x.sh | bash", "cat x.sh | sudo sh -s", 'bash -c "$(cat x.sh)"', 'eval "$(cat x.sh)"',
        "source <(cat x.sh)", "timeout 60 bash x.sh | tail -5", "chmod +x x.sh && ./x.sh", "./outer.sh",
        "python3 run.py --now", "uv run run.py",
        "node run.js", "npx tsx run.js", "make down", "make -C /repo down", "npm run down", "yarn down", "./tool",
        "bash branches.sh reset", "psql -f drop.sql shop", "psql shop < drop.sql",
        "cat drop.sql | psql shop", "at now < x.sh", "ssh host 'bash -s' < x.sh", "cat x.sh | ssh host bash",
        "crontab nightly.cron", "make -f ops.mk down", "npm ci", "task down", "cd /repo && go-task down",
        "ansible-playbook -i hosts site.yml", "composer run down", "deno task down", "mysql shop -e 'source drop.sql'",
        "docker compose run --rm web ./x.sh", "docker compose run web bash x.sh",
    ],
)  # fmt: skip
def test_what_was_written_is_judged_when_it_is_run(command: str, artefact: Artefact) -> None:
    replay = Replay(artefact)
    for path, text in WRITTEN.items():
        assert not replay.judge(write(path, text))
    fired = {firing.trigger: firing.because for firing in replay.judge(call(command))}
    assert fired.keys() & {"terraform-destroy", "sql-drop-in-client"}, fired
    assert any(": in " in because for because in fired.values())


@pytest.mark.parametrize(
    "command",
    ["cat x.sh", "cat x.sh | bash -c ls", "cat x.sh | grep bash", 'echo "$(cat x.sh)"', "git add x.sh",
      "shellcheck x.sh", "make", "npm run build", "bash branches.sh",
     "bash branches.sh status", "bash -c 'ls x.sh'", "python3 -m run", "ssh host ./x.sh", "echo ./x.sh",
     "ssh host uptime < x.sh", "cat x.sh && ssh host bash -c ls", "cat drop.sql; psql -l", "npm install left-pad",
     "task build", "task up", "task", "task --list", "ansible-playbook site.yml --check", "ansible-playbook other.yaml",
     "composer install", "composer run build", "deno run down", "git push", "git status"],
)  # fmt: skip
def test_what_is_not_run_is_not_judged(command: str, artefact: Artefact) -> None:
    replay = Replay(artefact)
    for path, text in WRITTEN.items():
        replay.judge(write(path, text))
    assert not replay.judge(call(command))


def test_a_script_that_one_call_writes_and_runs_is_judged(artefact: Artefact) -> None:
    line = "cat > y.sh <<'E'\nterraform destroy\nE\nbash y.sh"
    assert [firing.trigger for firing in Replay(artefact).judge(call(line))] == ["terraform-destroy"]
    assert not Replay(artefact).judge(call(line.replace("bash", "cat")))


def test_an_edit_changes_what_is_judged(artefact: Artefact) -> None:
    replay = Replay(artefact)
    replay.judge(write("/repo/x.sh", "terraform destroy\n"))
    edit = {"file_path": "/repo/x.sh", "old_string": "terraform destroy", "new_string": "terraform plan"}
    replay.judge(Turn(role="tool_call", text="", tool="Edit", tool_input=edit))
    assert not replay.judge(call("bash x.sh"))


def test_a_package_script_is_known_from_an_edit_that_shows_the_head_of_the_scripts(artefact: Artefact) -> None:
    replay = Replay(artefact)
    new = '"scripts": {\n    "fresh": "terraform destroy",'
    edit = {"file_path": "package.json", "old_string": '"scripts": {', "new_string": new}
    replay.judge(Turn(role="tool_call", text="", tool="Edit", tool_input=edit))
    assert [firing.trigger for firing in replay.judge(call("npm run fresh"))] == ["terraform-destroy"]


def test_lines_for_cron_are_judged_when_they_are_entered(artefact: Artefact) -> None:
    line = "(crontab -l; echo '0 3 * * * terraform destroy -auto-approve') | crontab -"
    assert [firing.trigger for firing in Replay(artefact).judge(call(line))] == ["terraform-destroy"]


PIPELINE = (
    "on: push\njobs:\n  a:\n    steps:\n      - uses: x/y@v4\n"
    "      - name: end\n        run: |\n          ls\n          %s\n"
)


def test_a_pipeline_that_was_written_is_judged_when_it_is_pushed(artefact: Artefact, tmp_path: Path) -> None:
    replay = Replay(artefact)
    replay.judge(write("/repo/.github/workflows/end.yml", PIPELINE % "terraform destroy -auto-approve"))
    assert not replay.judge(call("git commit -am x"))
    assert "terraform-destroy" in {firing.trigger for firing in replay.judge(call("git push origin HEAD"))}
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    new, old = folder / "a.yml", folder / "b.yml"
    new.write_text(PIPELINE % "npm test")
    old.write_text(PIPELINE % "terraform destroy")
    os.utime(old, (1, 1))
    assert "npm test" in gate_text(call("git push"), disk_reader(str(tmp_path)))
    assert "terraform" not in command_of(from_disk(call("git push"), str(tmp_path)))


def test_of_a_pipeline_only_what_deletes_is_judged() -> None:
    deploy = PIPELINE % "echo $KEY | base64 --decode -o key.p12\n          aws s3 rm s3://a/b --recursive"
    assert list(pipeline_deletions(deploy)) == ["aws s3 rm s3://a/b --recursive"]


def test_a_playbook_that_removes_a_folder_removes_it_on_its_hosts() -> None:
    task = (
        "  tasks:\n    - name: empty\n      ansible.builtin.file:\n"
        "        path: /var/lib/postgresql\n        state: absent\n"
    )
    inline = "  tasks:\n    - apt: {name: nginx, state: absent}\n"
    assert list(yaml_commands(task, hosts="prod")) == ["ssh prod rm -rf /var/lib/postgresql"]
    assert list(yaml_commands(inline)) == ["ansible all -m apt -a 'name: nginx, state: absent state=absent'"]


@given(st.text(), st.text(max_size=9))
def test_no_build_file_raises(text: str, name: str) -> None:
    assert "\n" not in "".join(yaml_commands(text + task_block(text, name)))


def test_a_target_brings_what_it_depends_on_and_nothing_else() -> None:
    assert "terraform destroy" in after_writing("make down")
    assert "${PWD}" in after_writing("make down")
    assert "terraform" not in after_writing("make all")


def test_from_disk_only_what_lies_in_the_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deia.watch.turn.run_texts.TEMPORARY", ())
    work, other = tmp_path / "work", tmp_path / "other"
    (work / "infra").mkdir(parents=True)
    other.mkdir()
    (other / "x.sh").write_text("terraform destroy\n")
    (work / "infra" / "y.sh").write_text("terraform destroy\n")
    (work / "link.sh").symlink_to(other / "x.sh")
    (work / "long.sh").write_text("terraform destroy\n" + "# filling\n" * 10_000)
    os.mkfifo(work / "pipe.sh")
    for command in (
        "bash ../other/x.sh",
        f"bash {other}/x.sh",
        "bash link.sh",
        "bash long.sh",
        "bash pipe.sh",
        "sh \0.sh",
    ):
        assert from_disk(call(command), str(work)) == call(command)
        assert not gate_text(call(command), disk_reader(str(work)))
    for command in ("bash infra/y.sh", "cd infra && ./y.sh"):
        assert RUN_MARK in command_of(from_disk(call(command), str(work)))
        assert "destroy" in gate_text(call(command), disk_reader(str(work)))


def test_what_was_there_long_before_is_no_more_than_a_warning(tmp_path: Path, artefact: Artefact) -> None:
    script = tmp_path / "x.sh"
    script.write_text("terraform destroy\n")
    fresh = Replay(artefact).judge(from_disk(call("bash x.sh"), str(tmp_path)))
    long_ago = time.time() - 86_400
    os.utime(script, (long_ago, long_ago))
    assert disk_reader(str(tmp_path))("x.sh").startswith(OLDER)
    older = Replay(artefact).judge(from_disk(call("bash x.sh"), str(tmp_path)))
    assert [firing.action for firing in (*fresh, *older)] == ["hold", "warn"]
    assert "in x.sh, which was there before" in older[0].because


@given(
    st.text(),
    st.sampled_from(["x.sh", "Makefile", "package.json", "x.py", "x.sql", "Taskfile.yml"]),
    st.text(max_size=40),
)
def test_no_text_of_a_file_or_command_raises(text: str, name: str, command: str) -> None:
    written = WrittenFiles()
    written.widened(write(f"/repo/{name}", text))
    for line in (
        f"bash {name}",
        f"make {command}",
        f"npm run {command}",
        f"task {command}",
        f"psql -f {name}",
        f"{command} | crontab -",
    ):
        assert command_of(written.widened(call(line))).startswith(line)
