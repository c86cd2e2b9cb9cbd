"""Notes are taken into a commons where they are or as copies; nothing is lost and nothing overwritten."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from deia.commons.checks import lint
from deia.commons.index.load_commons import load_commons
from deia.commons.source_files import safe_files
from deia.commons.write import index_store
from deia.commons.write.import_notes import COPIED, IN_PLACE, KNOWN, Import, import_notes, plan_import
from deia.commons.write.init import create_commons
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

TODAY = "2026-11-23"


@pytest.fixture
def root(tmp_path: Path) -> str:
    create_commons(str(tmp_path / "project"), today=TODAY)
    return str(tmp_path / "project")


def run(root: str, *sources: str, copy: bool = False, category: str = "") -> Import:
    plan = plan_import(
        root, [os.path.join(root, source) for source in sources], copy=copy, category=category, environ=os.environ
    )
    import_notes(root, plan, today=TODAY, environ=os.environ)
    return plan


def test_notes_inside_are_read_where_they_are_and_new_ones_follow(root: str, write: Write) -> None:
    write("project/docs/a.md", "---\ntags: x, y\n---\n# A\n\nText.\n")
    plan = run(root, "docs")
    assert [(note.source, note.how) for note in plan.notes] == [("docs/a.md", IN_PLACE)]
    write("project/docs/new/b.md", "# B\n\nSee [[a]].\n")
    entries = {entry.path: entry for entry in load_commons(root).entries}
    assert entries["docs/a.md"].tags == ("x", "y")
    assert entries["docs/new/b.md"].related_docs == ("docs-a",)
    assert lint(root, starter=False) == []


def test_notes_outside_are_copied_whole_with_an_entry_and_their_links(root: str, write: Write) -> None:
    text = "---\naliases: [bad gateway]\n---\nThe [[Restart Order|order]] matters. --force hurts.\n"
    write("vault/ops/Nginx 502.md", text)
    write("vault/ops/Restart Order.md", "```\nonly code\n```\n")
    write("vault/adr/0001-x.md", "# X\n\n## Context\n\nC\n\n## Decision\n\nD\n")
    plan = run(root, "../vault")
    assert sorted(note.entry.path for note in plan.having(COPIED)) == [
        "bok/decisions/0001-x.md", "bok/ops/nginx-502.md", "bok/ops/restart-order.md",
    ]  # fmt: skip
    with open(f"{root}/bok/ops/nginx-502.md", encoding="utf-8") as file:
        assert file.read() == text
    entry = next(entry for entry in load_commons(root).index.entries if entry.id == "ops-nginx-502")
    assert (entry.keywords, entry.related_docs) == (("bad gateway",), ("ops-restart-order",))
    assert lint(root, starter=False) == []


def test_toml_above_a_note_is_its_metadata_and_not_its_summary(root: str, write: Write) -> None:
    write("site/suit.md", '+++\ntitle = "Wash the bee suit"\ntags = ["gear"]\n+++\n\nSalt stops the stings.\n')
    (note,) = run(root, "../site").notes
    assert (note.entry.title, note.entry.summary) == ("Wash the bee suit", "Salt stops the stings.")
    assert note.entry.tags == ("gear",)
    assert lint(root, starter=False) == []


def test_what_was_imported_before_is_recognised_and_changes_nothing(root: str, write: Write) -> None:
    write("vault/a.md", "# A\n\nText.\n")
    write("project/docs/b.md", "# B\n\nText.\n")
    run(root, "../vault", "docs")
    with open(f"{root}/commons_index.yaml", encoding="utf-8") as file:
        before = file.read()
    again = run(root, "../vault", "docs")
    assert [note.how for note in again.notes] == [KNOWN, KNOWN]
    assert again.globs == ()
    with open(f"{root}/commons_index.yaml", encoding="utf-8") as file:
        assert file.read() == before


def test_names_and_ids_that_are_taken_are_not_taken_again(root: str, write: Write) -> None:
    for path in ("vault/a/CLAUDE.md", "vault/b/CLAUDE.md", "vault/CLAUDE.md"):
        write(path, f"---\nid: git-force-push\n---\nFor {path}.\n")
    plan = run(root, "../vault")
    assert len({note.entry.path for note in plan.notes}) == 3
    assert len({note.entry.id for note in plan.notes}) == 3
    assert "git-force-push" not in {note.entry.id for note in plan.notes}  # a trigger of the starter has it


def test_an_id_that_is_no_plain_name_is_not_taken_over(root: str, write: Write) -> None:
    write("vault/a.md", "---\nid: ../../etc/x\ntitle: [a, b]\n---\n# A\n\nText.\n")
    write("vault/b.md", "---\nid: 'my-id'\n---\n# B\n\nText.\n")
    assert {note.entry.id for note in run(root, "../vault").notes} == {"notes-a", "my-id"}
    assert [problem.code for problem in lint(root, starter=False)] == ["wrong-type"]


def test_the_settings_stay_if_nothing_new_is_in_a_folder(root: str, write: Write) -> None:
    write("project/docs/a.md", "# A\n\nText.\n")
    os.mkdir(f"{root}/empty")
    run(root, ".")
    assert run(root, "docs", "empty").globs == ()


def test_all_problems_are_said_at_once_and_the_rest_is_imported(root: str, write: Write) -> None:
    write("vault/ok.md", "# Ok\n\nText.\n")
    write("vault/bad.md", "").write_bytes(b"\xff\xfe\x00")
    write("vault/big.md", "").write_bytes(b"x" * 2_000_001)
    plan = run(root, "../vault", "../missing", "bok")
    assert [note.entry.title for note in plan.notes] == ["Ok"]
    assert {problem.path.rpartition("/")[2] for problem in plan.problems} == {"bad.md", "big.md", "missing", "bok"}


def test_in_a_commons_that_is_not_trusted_notes_are_only_copied(root: str, write: Write) -> None:
    write("project/docs/a.md", "# A\n\nText.\n")
    untrusted = {**os.environ, "DEIA_TRUST": ""}
    with pytest.raises(CommonsError, match="trust"):
        plan_import(root, [f"{root}/docs"], copy=False, category="", environ=untrusted)
    plan = plan_import(root, [f"{root}/docs"], copy=True, category="mine", environ=untrusted)
    assert [note.entry.path for note in plan.notes] == ["bok/mine/a.md"]


def test_nothing_is_left_behind_if_the_index_cannot_be_written(root: str, write: Write) -> None:
    write("vault/a.md", "# A\n\nText.\n")
    write("project/commons_index.yaml", "clusters: [\n")
    with pytest.raises(CommonsError):
        run(root, "../vault")
    assert not os.path.exists(f"{root}/bok/notes/a.md")


def test_links_that_lead_out_of_the_commons_are_not_read(root: str, write: Write) -> None:
    secret = write("secret.md", "# Secret\n")
    write("project/docs/a.md", "# A\n\nText.\n")
    os.symlink(secret, f"{root}/docs/link.md")
    plan = run(root, "docs")
    assert [note.source for note in plan.notes] == ["docs/a.md"]
    assert "docs/link.md" in {problem.path for problem in plan.problems}


def test_nothing_is_left_behind_if_the_settings_cannot_be_written(
    root: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("vault/a.md", "# A\n\nText.\n")
    write("project/docs/b.md", "# B\n\nText.\n")
    before = load_commons(root).index.entries

    write_text = safe_files.write_text

    def refuse(root: str, path: str, text: str) -> None:
        if path == "deia.toml":
            raise CommonsError("the disk is full", fix="")
        write_text(root, path, text)

    monkeypatch.setattr(safe_files, "write_text", refuse)
    with pytest.raises(CommonsError):
        run(root, "../vault", "docs")
    assert not os.path.exists(f"{root}/bok/notes/a.md")
    assert load_commons(root).index.entries == before


def test_the_settings_are_as_before_if_the_index_cannot_be_written(
    root: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("vault/a.md", "# A\n\nText.\n")
    write("project/docs/b.md", "# B\n\nText.\n")
    settings = write("project/deia.toml", "# mine\n")

    def refuse(*_: object, **__: object) -> None:
        raise CommonsError("the disk is full", fix="")

    monkeypatch.setattr(index_store, "add_entries", refuse)
    with pytest.raises(CommonsError):
        run(root, "../vault", "docs")
    assert settings.read_text(encoding="utf-8") == "# mine\n"
