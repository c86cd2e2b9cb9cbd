"""The starter commons, compiled once for the tests of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.librarian import Librarian
from tests.starter.copying import copy_starter

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact


@pytest.fixture(scope="session")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    """Return the compiled triggers of a copy of the starter."""
    folder = tmp_path_factory.mktemp("starter") / "commons"
    copy_starter(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder.parent / "state"))
        return Librarian(folder, ledger=False).open_artefact()
