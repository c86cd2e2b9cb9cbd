"""Tables of words in text files: what a section holds, and that every section is used by the module beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from deia.errors import DeiaError
from deia.folders import PACKAGE
from deia.tables import Tables, toml_beside

MODULES = [
    path
    for path in Path(PACKAGE).rglob("*.py")
    if path.with_suffix(".txt").exists() and "catalog" not in path.parts and path.stem != "commands_table"
]  # the sections of the help page are the commands, which its own tests hold
TEXT = """\
# A comment for the file.

[small]
# What these words are for.
a b
c a
# In between.
d

[phrases]
go on, go ahead,
do it

[options]
rm, git rm:
sudo: -u --user
  -g --group
"""


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    (tmp_path / "words.txt").write_bytes(TEXT.replace("\n", "\r\n").encode())  # as git may check it out on Windows
    return Tables(str(tmp_path / "words.py"))


def test_words_are_a_set_or_in_their_order(tables: Tables) -> None:
    assert tables.words("small") == {"a", "b", "c", "d"}
    assert tables.listed("small") == ("a", "b", "c", "a", "d")
    assert tables.lines("small") == ["a b", "c a", "d"]


def test_phrases_may_go_on_in_the_next_line(tables: Tables) -> None:
    assert tables.phrases("phrases") == ("go on", "go ahead", "do it")


def test_names_share_a_value_and_a_value_may_go_on_in_the_next_line(tables: Tables) -> None:
    assert tables.pairs("options") == {"rm": "", "git rm": "", "sudo": "-u --user -g --group"}
    assert tables.lists("options")["sudo"] == ("-u", "--user", "-g", "--group")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DeiaError, match="Install deia again"):
        Tables(str(tmp_path / "none.py")).words("small")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_reads_every_section_of_its_file(module: Path) -> None:
    sections = {
        line[1:-1] for line in module.with_suffix(".txt").read_text(encoding="utf-8").splitlines() if line[:1] == "["
    }
    tree = ast.parse(module.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    read = {
        call.args[0].value
        for call in calls
        if ast.unparse(call.func).startswith("TABLES.") and call.args and isinstance(call.args[0], ast.Constant)
    }
    named = set(Tables(str(module)).listed("kinds")) if "kinds" in read else set()
    assert read | (named & sections) == sections


def test_a_toml_file_beside_a_module_has_its_name_or_another_one(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text("a = 1\r\n", newline="")
    (tmp_path / "other.toml").write_text("b = 2\n")
    module = str(tmp_path / "hosts.py")
    assert toml_beside(module) == {"a": 1}
    assert toml_beside(module, "other") == {"b": 2}
    with pytest.raises(DeiaError, match="none"):
        toml_beside(module, "none")
