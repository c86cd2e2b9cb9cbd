"""Every command in the starter's documents was tried or is listed as not run, and dangerous ones are never tried."""

from __future__ import annotations

import pytest

from tests.paths import ROOT
from tests.starter.loading import loaded

DANGEROUS = (
    "rm -rf /",
    "rm -rf ~",
    "rm -rf ..",
    'rm -rf "$DIR/"*',
    'rm -rf "${DIR:?}/"*',
    "cd / && rm -rf *",
    "find / -name x -delete",
    "find .. -exec rm {} +",
    'bash -c "rm -rf /srv"',
    "sudo git clean -fdx",
    "mv app.py /etc/app.py",
    "git clone https://github.com/acme/shop.git",
    "pip install requests",
    "kill -9 1",
    "dd if=/dev/zero of=disk.img",
    "ls | xargs kubectl delete",
    'eval "$X"',
)


TOOL = loaded(ROOT / "tools" / "document_commands.py")
RECORD = TOOL.read_record()
DOCUMENTS = TOOL.documents()
AGAIN = "Run `python tools/document_commands.py --write`."


def test_the_record_holds_every_command_of_every_document() -> None:
    named = {named for path, text in DOCUMENTS.items() for named in TOOL.named_commands(path, text)}
    assert {each.named for each in RECORD} == named, AGAIN


def test_no_program_said_that_it_does_not_know_an_option() -> None:
    assert [each.named.command for each in RECORD if each.outcome == TOOL.UNKNOWN] == []
    assert sum(each.outcome == TOOL.RAN for each in RECORD) > 200


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_names_what_was_not_run(path: str) -> None:
    happened = [each for each in RECORD if each.named.document == path]
    said = set(TOOL.said_before(DOCUMENTS[path]))
    assert set(TOOL.not_run_programs(happened, before=sorted(said))) == said, AGAIN


@pytest.mark.parametrize("command", DANGEROUS)
def test_what_could_do_harm_is_not_started(command: str) -> None:
    assert TOOL.why_not(command)


@pytest.mark.parametrize(
    "command", ["git status --short", "rm -rf dist", "find . -name '*.pyc' -delete", "git stash list"]
)
def test_what_stays_in_the_scene_is_started(command: str) -> None:
    assert TOOL.why_not(command) == ""


def test_a_client_is_only_started_where_it_reaches_nobody_and_alone() -> None:
    alone = {"ALONE": "1", "PATH": "/nowhere"}
    assert "network" in TOOL.why_not_read("kubectl delete pod web", "kubectl", {"PATH": "/nowhere"})
    for command in ("aws s3 ls | sh", "sudo docker ps", "docker ps && make deploy"):
        assert TOOL.why_not_read(command, "docker", alone) == "more than a client would be started", command
    assert TOOL.why_not_read("kubectl get pods", "kubectl", alone) == "kubectl is not installed here"


def test_what_was_only_read_is_named_as_not_run() -> None:
    def happened(command: str, outcome: str) -> object:
        return TOOL.Happened(TOOL.Named("a.md", command), outcome)

    read, ran = happened("kubectl get pods", TOOL.READ), happened("git status", TOOL.RAN)
    assert TOOL.not_run_programs([read, ran]) == ["kubectl"]


def test_a_block_is_cut_where_a_command_ends() -> None:
    block = "# first\ngit fetch \\\n  --all\nfor f in *; do\n  echo $f\ndone\ncat <<X\na\nX\nls |\nwc\n"
    assert TOOL.block_lines(block) == [
        "git fetch    --all",
        "for f in *; do\n  echo $f\ndone",
        "cat <<X\na\nX",
        "ls |\nwc",
    ]


def test_a_line_is_written_once_and_taken_away_again() -> None:
    text = "# T\n\n## Sources\n- x\n"
    written = TOOL.with_line(text, ["aws", "git lfs"])
    assert written.endswith("\n\nCommands checked against documentation, not run here: aws, git lfs.\n")
    assert TOOL.with_line(written, ["aws"]).count("not run here") == 1
    assert TOOL.with_line(written, []) == text
