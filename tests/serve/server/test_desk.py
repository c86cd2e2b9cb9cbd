"""A desk opens what a server may give away, and says what it cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deia.compile.compiler import compile_commons
from deia.folders import LIBRARY_STATE, library_folder
from deia.problems import CommonsError
from deia.serve.server.desk import Desk

PART = ["library:red"]


def test_collections_of_a_replica_are_refused_and_not_compiled_again_and_again(tmp_path: Path) -> None:
    root = str(tmp_path / "commons")
    os.makedirs(f"{root}/bok")
    Path(root, "deia.toml").write_text("", encoding="utf-8")
    compile_commons(root, environ=os.environ, collections=PART, requested=True)
    early = Desk(root, collections=PART)
    state = Path(library_folder(root, os.environ), LIBRARY_STATE)
    state.parent.mkdir(parents=True)
    state.write_text("0123456789abcdef:1", encoding="utf-8")
    assert not early.is_library_behind()
    assert early.is_compiled()
    with pytest.raises(CommonsError, match="is a replica"):
        Desk(root, collections=PART)
    assert not Desk(root).is_library_behind()
