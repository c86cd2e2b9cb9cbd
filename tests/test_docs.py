"""The documents are true: their commands run, their transcript is what the program prints, their lists are complete."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from deia import records, settings
from deia.commons.index import index_parts, shapes
from deia.commons.notes import describe
from deia.commons.triggers import cases, conditions, read_triggers
from deia.commons.triggers.own_act_words import PATH as OWN_ACT_WORDS
from deia.commons.write.index_store import build
from deia.librarian import Librarian
from deia.serve import hook
from deia.serve.cli.commands_table import COMMANDS
from tests.paths import ROOT
from tests.starter.copying import copy_starter

STARTER = ROOT
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAMES = [document.relative_to(ROOT).as_posix() for document in DOCUMENTS]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
TRANSCRIPT = re.compile(r"<!-- transcript: (\w+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "[…]"
OLD_PYTHON = """
import runpy, sys
sys.version_info, sys.argv = (3, 9, 1), ["do.py", "demo"]
runpy.run_path("do.py", run_name="__main__")
"""
# Who follows a document has no settings of this machine's, and is not measured: that would take three times as long.
NOT_KEPT = ("DEIA_", "XDG_", "CLAUDE_", "COVERAGE_")
PUT_TOGETHER = {"f'unknown-{kind}'": {"unknown-document", "unknown-cluster"}}
READ_FIELDS = {"code", "c"}  # from which compiled files read a code: no codes themselves
CODE = re.compile(r"[a-z]+(-[a-z0-9]+)+")


class Block(NamedTuple):
    """One fenced block of a document."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The file of the commons that a block shows, by its first line, or the empty text."""
        first = self.text.partition("\n")[0]
        return first[2:] if re.fullmatch(r"# [\w./-]+\.(yaml|toml)", first) else ""


class Person:
    """Somebody who follows a document: a home and a working folder, and nothing of ours but deia."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        copy_starter(self.folder)
        (folder / "home").mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_KEPT)}
        home = str(folder / "home")
        self.environ = {**kept, "HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home, "PYTHONIOENCODING": "utf-8"}
        self.environ["DEIA_TRUST"] = "*"  # a test has no terminal in which a person could say so
        self.triggers = ["terraform-destroy"]  # and those that a document shows

    def run(self, command: list[str], *, given: str = "") -> str:
        """Run a program and give what it printed."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ, input=given.encode(), capture_output=True, check=False
        )
        told = done.stdout.decode()
        assert done.returncode == 0, f"{shlex.join(command)}\n{told}\n{done.stderr.decode()}"
        return told

    def follow(self, block: Block) -> int:
        """Do what a block says; give how many commands that were."""
        if block.file:
            place = self.folder / block.file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
            self.triggers += re.findall(r"^- id: (\S+)", block.text, re.MULTILINE)
        if block.language == "python":
            self.run([sys.executable, "-c", block.text])
        lines = block.text.splitlines() if block.language == "sh" else []
        return (block.language == "python") + sum(map(self.type, lines))

    def type(self, line: str) -> bool:
        """Type a line, if it is one for deia; say whether it was."""
        words = shlex.split(line, comments=True)
        if words[:1] == ["cd"] and len(words) == 2:
            self.folder = self.folder / words[1]
        if words[:1] != ["deia"]:
            return False
        tested = self.triggers if words[1:] == ["trigger", "test"] else []  # do.py runs the cases of the whole starter
        self.run([sys.executable, "-m", "deia.serve.main", *words[1:], *tested])
        return True


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[Block]:
    return [Block(language, text) for language, text in FENCE.findall(read(name))]


def in_code(name: str) -> set[str]:
    """Give every word and every whole text that a document sets as code."""
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", read(name)))
    return {*spans, *(word for span in spans for word in re.findall(r"[\w-]+", span))}


def tells_to_type(name: str) -> bool:
    return any(
        block.language == "python" or re.search(r"^deia ", block.text, re.MULTILINE)
        for block in blocks(name)
        if block.language in {"sh", "python"}
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if tells_to_type(name)])
def test_what_a_document_tells_people_to_type_works(name: str, tmp_path: Path) -> None:
    person = Person(tmp_path)
    assert sum(map(person.follow, blocks(name))) > 0


@pytest.mark.slow
def test_the_transcript_in_the_readme_is_what_the_hook_says_now(tmp_path: Path) -> None:
    shown = dict(TRANSCRIPT.findall(read("README.md")))
    event = json.loads(shown["event"])
    person = Person(tmp_path)
    person.type("deia compile")
    command = [sys.executable, "-I", "-S", hook.__file__, "claude-code", "--commons", str(person.folder)]
    answer = json.loads(person.run(command, given=json.dumps(event)))["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert matches(shown["reason"], answer["permissionDecisionReason"])
    assert person.run(command, given=json.dumps(event)) == ""


def matches(shown: str, told: str) -> bool:
    """Say whether a shown text is the told one, apart from the lines that it says it left out."""
    parts = [re.escape(part.strip("\n")) for part in shown.split(LEFT_OUT)]
    return re.fullmatch(r"\n(.*\n)?".join(parts), told.strip("\n"), re.DOTALL) is not None


@pytest.mark.parametrize(
    ("shown", "told", "same"),
    [
        ("a\n[…]\nd", "a\nb\nc\nd", True),
        ("a\n[…]\nd", "a\nd", True),
        ("a\n[…]\nd", "a\nb\nc", False),
        ("a\nd", "a\nb\nd", False),
    ],
)
def test_a_transcript_may_leave_lines_out_but_not_change_them(shown: str, told: str, *, same: bool) -> None:
    assert matches(shown, told) is same


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_files_and_headings_that_are_there(name: str) -> None:
    for target in LINK.findall(FENCE.sub("", read(name))):
        path, _, heading = target.partition("#")
        if "://" in path:
            continue
        place = (ROOT / name).parent / path if path else ROOT / name
        assert place.exists(), target
        titles = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), re.MULTILINE) if heading else []
        assert not heading or heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", NAMES)
def test_a_comment_behind_a_command_does_no_harm_in_zsh_which_takes_it_for_arguments(name: str) -> None:
    lines = [line for block in blocks(name) if block.language == "sh" for line in block.text.splitlines()]
    comments = [(line, line.partition(" #")) for line in lines if " #" in line or line.startswith("#")]
    assert [line for line, _ in comments if not line.startswith(("deia ", "python3 do.py "))] == []
    assert [line for line, (_, _, text) in comments if not re.fullmatch(r"[\w ,.:/-]*", text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_document_names_a_place_of_somebody_s_machine(name: str) -> None:
    assert not re.findall(r"(?<![\w.~])/(?:root|home|Users|tmp|work|opt)/\S*", read(name))


# --- completeness ---


@pytest.mark.slow
def test_the_page_of_commands_is_their_help() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_cli.py"), "--check"], check=False)
    assert done.returncode == 0, "docs/CLI.md is not what the commands say; type: python3 do.py docs"
    headings = re.findall(r"^## deia ([\w-]+)$", read("docs/CLI.md"), re.MULTILINE)
    assert headings == list(COMMANDS)


def test_every_setting_is_documented_with_its_default_and_its_variable() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| (?:`(DEIA_\w+)` )?\|", read("docs/SETTINGS.md"), re.MULTILINE)
    told = {name: (json.loads(default), variable) for name, default, variable in rows}
    defaults = settings.DEFAULTS.values()
    variables = {
        name: "" if name in {*settings.TABLES, *settings.GLOBS} else f"DEIA_{name.upper()}" for name in settings.NAMES
    }
    assert told == {
        name: (list(defaults[name]) if defaults[name] == () else defaults[name], variable)
        for name, variable in variables.items()
    }
    choices = {choice for known in settings.CHOICES.values() for choice in known}
    assert choices <= in_code("docs/SETTINGS.md")


@pytest.mark.slow
def test_every_variable_that_the_program_reads_is_documented() -> None:
    used = {
        node.value
        for path in (ROOT / "deia").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"(DEIA|XDG)_[A-Z_]*[A-Z]", node.value)
    }
    assert {"DEIA_STATE", "DEIA_OFF"} <= used
    assert {name for name in used if f"`{name}" not in read("docs/SETTINGS.md")} == set()


TRIGGER_WORDS = {
    "fields": (*read_triggers.FIELDS, *read_triggers.WHEN_FIELDS, *read_triggers.REFERENCE_FIELDS),
    "clauses": (*conditions.KINDS, *conditions.TOOL_FIELDS),
    "cases": (*cases.CASE_FIELDS, *cases.TURN_FIELDS, *cases.VERDICTS),
    "values": (*records.STANCES, *records.STATUSES, *records.TIMINGS, *records.ACTIONS, *records.MODES,
               *records.URGENCIES, *read_triggers.WATCHED),
    "old form": (*index_parts.TRIGGER_FIELDS, *index_parts.ACTIONS),
}  # fmt: skip


@pytest.mark.parametrize("kind", TRIGGER_WORDS)
def test_every_word_of_the_trigger_language_is_documented(kind: str) -> None:
    assert set(TRIGGER_WORDS[kind]) - in_code("docs/TRIGGERS.md") == set()


def test_every_field_of_the_index_is_documented() -> None:
    known = {*describe.KNOWN, *shapes.CLUSTER_FIELDS, *index_parts.QUERY_FIELDS} - {"notes"}  # a misspelling, read too
    assert known - in_code("docs/FORMATS.md") == set()


def test_the_index_that_is_written_has_only_documented_fields(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok" / "lesson.md").write_text("---\nurgency: high\naudience: [agent]\n---\n# A lesson\n\nRead.\n")
    written = build(str(tmp_path), write=True, today="2026-11-20")
    top_level = set(re.findall(r"^(\w+):", written, re.MULTILINE))
    assert {"clusters", "urgency_index"} <= top_level <= in_code("docs/FORMATS.md")


@pytest.fixture(scope="module")
def librarian(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    folder = tmp_path_factory.mktemp("commons")
    copy_starter(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder / "state"))
        return Librarian(folder, ledger=False)


ASKED: list[dict[str, object]] = [
    {"text": "how do I delete a Netlify site?"},
    {"keywords": ["terraform", "state"]},
    {"platform": "netlify"},
    {"audience": "agent"},
    {"text": "xylophone zeppelin quasar"},
    {"text": "how do I do it?"},
    {"text": "thanks!"},
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_every_field_of_an_answer_is_documented(librarian: Librarian, asked: dict[str, object]) -> None:
    told = librarian.query(**asked).to_dict()  # type: ignore[arg-type]
    found = {"documents", "results", "documents_found"} & set(told)
    assert found if told["matched"] is True else told["reason"]
    nested = [told.get("audit", {}), *(each[0] for each in map(told.get, ("results", "similar_queries")) if each)]
    nested += [told["documents"], *told["documents"]["primary"][:1]] if "documents" in told else []
    names = {*told, *(name for each in nested for name in each)}
    assert names - in_code("docs/FORMATS.md") == set()


def test_every_field_of_an_injection_is_documented(librarian: Librarian) -> None:
    firings = librarian.check_triggers(["User: I'll delete the Netlify project and recreate it"])
    part = librarian.get_context(firings).parts[0]
    names = {*part, *part["injection"], *part["injection"]["documents"][0]}
    assert names - in_code("docs/FORMATS.md") == set()


@pytest.mark.parametrize("name", [name for name in NAMES if "- id:" in read(name)])
def test_the_triggers_that_documents_show_are_sound(name: str, tmp_path: Path) -> None:
    (tmp_path / "triggers").mkdir()
    shown = [block for block in blocks(name) if block.language == "yaml"]
    for number, block in enumerate(shown):
        ending = "yaml" if "- id:" in block.text else "cases.yaml"
        path = OWN_ACT_WORDS if OWN_ACT_WORDS in block.text else f"triggers/{number}.{ending}"
        (tmp_path / path).write_text(block.text, encoding="utf-8")
    found = read_triggers.load_triggers(str(tmp_path))
    assert found.triggers
    assert found.cases
    assert found.problems == ()


@pytest.mark.slow
def test_every_problem_is_documented_and_nothing_else() -> None:
    used = {code for path in (ROOT / "deia").rglob("*.py") for code in codes(path)}
    rows = [line.split("|")[1] for line in read("docs/ERRORS.md").splitlines() if line.startswith("| `")]
    assert {code for row in rows for code in re.findall(r"`([\w-]+)`", row)} == used


def codes(path: Path) -> set[str]:
    """Give the codes of problems that a module reports: an argument of what notes one, or `code=`."""
    found: set[str] = set()
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        given = call.args[1:4] if name in {"error", "warning", "_warning", "_unread", "_problem"} else []
        found |= {text for one in given for text in texts(one) if CODE.fullmatch(text)}
        found |= {text for keyword in call.keywords if keyword.arg == "code" for text in texts(keyword.value)}
    return found - READ_FIELDS


def texts(node: ast.expr) -> set[str]:
    """Give the texts that an expression may be; one that is put together from pieces is told by its pieces."""
    if isinstance(node, ast.JoinedStr):
        return PUT_TOGETHER.get(ast.unparse(node), set())
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


# --- architecture and scripts ---


def test_the_architecture_fits_on_two_hundred_lines() -> None:
    assert len(read("ARCHITECTURE.md").splitlines()) <= 200


def test_every_invariant_names_tests_that_are_there() -> None:
    found = re.findall(r"^\*\*Invariant:\*\* (.*?)(?:\n\n|\Z)", read("ARCHITECTURE.md"), re.MULTILINE | re.DOTALL)
    assert len(found) >= 10
    for invariant in found:
        paths = re.findall(r"`(tests/[\w/]+\.py)`", invariant)
        assert paths, invariant
        assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_every_room_of_the_program_is_on_the_map() -> None:
    named = set(re.findall(r"\w+", read("ARCHITECTURE.md")))
    rooms = {path.parent.name for path in (ROOT / "deia").rglob("__init__.py")}
    modules = {path.stem for path in (ROOT / "deia").glob("*.py")} - {"__init__"}
    assert (rooms | modules) - named == set()


def test_every_target_of_make_is_a_command_of_do_py() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.MULTILINE)
    assert targets
    told = run_do("--help")
    assert told.returncode == 0
    assert [name for name in targets[1].split() if f"do.py {name}" not in told.stdout] == []


def test_every_benchmark_that_is_named_is_there() -> None:
    named = {f"bench/{name}.py" for name in runpy.run_path(str(ROOT / "do.py"))["BENCHMARKS"]}
    named |= set(re.findall(r"bench/\w+\.py", read("README.md")))
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


def test_an_unknown_command_of_do_py_shows_those_that_there_are() -> None:
    told = run_do("everything")
    assert told.returncode == 2
    assert "do.py demo" in told.stdout


def test_an_older_python_is_told_what_is_wanted() -> None:
    ast.parse(read("do.py"), feature_version=(3, 7))
    told = subprocess.run([sys.executable, "-c", OLD_PYTHON], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "3.11 or newer; this is 3.9.1" in told.stdout


def run_do(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "do.py", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_package_and_every_extra_is_explained() -> None:
    page = (ROOT / "docs/PACKAGES.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = [re.match(r"[\w.-]+", text) for text in project["dependencies"]]
    extras = [name for name in project["optional-dependencies"] if name != "dev"]
    named = [f"`{package[0]}`" for package in packages if package]
    missing = [name for name in named if name not in page]
    assert missing + [name for name in extras if f"[{name}]" not in page] == []
    assert set(re.findall(r"`'?(?:deia)?\[([\w-]+)\]'?`", page)) == set(extras)
