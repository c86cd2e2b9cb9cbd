"""The starter commons is sound: it has no problems, every case holds, and every golden query finds its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.checks import lint
from deia.folders import STARTER
from deia.librarian import Librarian
from tests.starter.copying import copy_starter
from tests.starter.starter_commons import COMMONS

if TYPE_CHECKING:
    from pathlib import Path

FIRST = 5  # documents among which the answer must be
QUESTIONS = [
    pytest.param(question, pattern.common_docs, id=question)
    for pattern in COMMONS.query_patterns
    for question in pattern.natural_language
]


@pytest.fixture(scope="module")
def librarian(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    folder: Path = tmp_path_factory.mktemp("starter") / "commons"
    copy_starter(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder.parent / "state"))
        return Librarian(folder, ledger=False)


def test_it_has_no_problems() -> None:
    assert lint(STARTER) == []


def test_every_trigger_file_trigger_is_proven() -> None:
    assert {trigger.status for trigger in COMMONS.triggers} == {"stable"}


@pytest.mark.slow
@pytest.mark.parametrize(("question", "wanted"), QUESTIONS)
def test_a_golden_query_finds_one_of_its_documents(
    librarian: Librarian, question: str, wanted: tuple[str, ...]
) -> None:
    answer = librarian.query(question, limit=FIRST)
    assert answer.matched is not False
    assert {result.id for result in answer.documents} & set(wanted)
