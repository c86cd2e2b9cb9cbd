"""The starter commons, compiled once for the tests of a file."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from deia.folders import STARTER
from deia.librarian import Librarian

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact


@pytest.fixture(scope="session")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    """Give the starter's triggers as a copy of it compiles them."""
    folder = tmp_path_factory.mktemp("starter") / "commons"
    shutil.copytree(STARTER, folder, ignore=shutil.ignore_patterns(".deia"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder.parent / "state"))
        return Librarian(folder, ledger=False).open_artefact()
