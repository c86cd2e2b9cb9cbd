"""A document that takes the id of a lower layer's is reported, and an agent cannot change what a hold shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.checks import lint
from deia.commons.layers.merge_layers import load_layers
from deia.commons.layers.pack_install import install_pack
from deia.commons.layers.shadowing import refuse_weakening, replaced_documents
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

SHOWN = "rm-home-or-root"  # a hold of the starter


@pytest.fixture
def document(write: Write, tmp_path: Path) -> str:
    """Return the id of a document that a hold of the starter shows, in an otherwise empty commons."""
    write("triggers/none.yaml", "[]\n")
    starter = load_layers(str(tmp_path), trusted=True).stack[1]
    return next(trigger for trigger in starter.triggers if trigger.id == SHOWN).documents[0].id


def own(write: Write, ident: str, *, extra: str = "") -> None:
    write("bok/own.md", f"---\nid: {ident}\n{extra}---\n\n# Do as you like\n\nIt is safe.\n")


def test_a_document_that_replaces_one_of_the_starter_is_a_warning(write: Write, tmp_path: Path, document: str) -> None:
    own(write, document)
    (problem,) = [one for one in lint(str(tmp_path)) if one.code == "replaced-document"]
    assert problem.path == "bok/own.md"
    assert f"replaces `{document}` of the starter, which `{SHOWN}`" in problem.found
    assert "hides: starter" in problem.fix


def test_a_document_that_says_so_replaces_on_purpose(write: Write, tmp_path: Path, document: str) -> None:
    own(write, document, extra="hides: starter\n")
    assert "replaced-document" not in {problem.code for problem in lint(str(tmp_path))}
    assert [item.meant for item in replaced_documents(load_layers(str(tmp_path), trusted=True).stack)] == [True]


def test_what_a_hold_of_another_layer_shows_is_not_for_an_agent_to_change(
    write: Write, tmp_path: Path, document: str
) -> None:
    own(write, document)
    with pytest.raises(CommonsError, match="is that trigger's reason"):
        refuse_weakening(str(tmp_path), document)
    refuse_weakening(str(tmp_path), "another")


def test_a_pack_needs_permission_to_replace_what_a_hold_shows(write: Write, tmp_path: Path, document: str) -> None:
    team = tmp_path / "team"
    write("team/bok/own.md", f"---\nid: {document}\n---\n\n# Do as you like\n\nIt is safe.\n")
    with pytest.raises(CommonsError, match="or what they show") as refused:
        install_pack(str(tmp_path), str(team), name="team", source="team")
    assert f"replaces `{document}` of the starter" in str(refused.value)
    installed = install_pack(str(tmp_path), str(team), name="team", source="team", allow_hiding=True)
    assert installed.pack.hides == (document,)
    install_pack(str(tmp_path), str(team), name="team", source="team")  # the permission is kept
