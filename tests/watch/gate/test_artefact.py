"""The file of compiled triggers: it is read whole or refused, and the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.triggers.gate_tables import pack
from deia.errors import ArtefactError
from deia.fast_json import dumps
from deia.watch.gate.artefact import (
    BYTE_ORDER,
    FORMAT,
    HEADER,
    MAGIC,
    META,
    TABLES,
    Artefact,
    Meta,
    open_artefact,
)
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.watch.conftest import Build, Make

EMPTY = Meta(
    settings={}, triggers=0, marks=0, contexts="", known=0, words=0, paths=0, names=0, parts=(), fields=(), waiting={},
    ending={}, ungated=(), regex=(), format=FORMAT,
)  # fmt: skip
META_ITEM = [dumps(EMPTY.values()).encode()]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.binary(max_size=9), max_size=4), min_size=len(TABLES) - 1, max_size=len(TABLES) - 1))
def test_what_is_packed_is_found_again(tables: list[list[bytes]]) -> None:
    artefact = Artefact(pack([*tables, META_ITEM]))
    for table, items in enumerate(tables):
        assert artefact.count(table) == len(items)
        assert [artefact.item(table, number) for number in range(len(items))] == items
        with pytest.raises(ArtefactError):
            artefact.item(table, len(items))


def test_a_file_cut_short_anywhere_is_refused(make: Make, build: Build, tmp_path: Path) -> None:
    whole = bytes(build(make(("phrase", "sell shop")), text="x" * 40)._data)
    path = tmp_path / "triggers"
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtefactError, match=r"deia compile"):
            open_artefact(str(path))
    path.write_bytes(whole + b"\0")
    with pytest.raises(ArtefactError):
        open_artefact(str(path))
    path.write_bytes(whole)
    assert open_artefact(str(path)).trigger(0).id == "t"


@pytest.mark.parametrize("name", ["missing", "a\0b", "folder"])
def test_what_cannot_be_opened_is_refused_with_the_cure(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArtefactError, match="deia compile"):
        open_artefact(f"{tmp_path}/{name}")


def test_another_byte_order_and_garbage_of_the_right_length_are_refused() -> None:
    whole = pack([*([[b"x"]] * META), META_ITEM])
    order = BYTE_ORDER.to_bytes(4, sys.byteorder)
    with pytest.raises(ArtefactError, match="machine"):
        Artefact(whole.replace(order, order[::-1], 1))
    with pytest.raises(ArtefactError):
        Artefact(whole[: len(MAGIC) + 8] + b"\xff" * (len(whole) - len(MAGIC) - 8))
    with pytest.raises(ArtefactError):
        Artefact(whole[:-4] + b"{{{{")
    assert len(whole) > HEADER


def test_words_lead_to_their_groups_and_only_they(make: Make, build: Build) -> None:
    artefact = build(
        *(make(("phrase", f"sell {word}"), id=word) for word in ("shop", "shopping", "\u5e97\u92ea", "caf\u00e9"))
    )
    for known in ("shop", "shopping", "\u5e97", "\u92ea", "caf\u00e9"):  # in scripts without spaces letters are words
        assert artefact.groups_of(known)
    for unknown in ("", "sho", "hop", "shop\t", "\n", "\ud800", "x" * 1000):
        assert artefact.groups_of(unknown) == ()


def test_a_document_is_found_by_its_id(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    found = artefact.document_of("lesson")
    assert found is not None
    assert found["path"] == "bok/lesson.md"
    assert artefact.document_of("a") is artefact.document_of("zzz") is None


@pytest.mark.slow
def test_the_same_triggers_give_the_same_bytes_in_every_process() -> None:
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
        "from tests.watch.conftest import build_artefact, make_trigger\n"
        "names = ['delete', 'drop', 'wipe', 'push']\n"
        "kinds = [('phrase', '{%s|tear down} … {shop|site}'), ('command', '{%s|x} y --force')]\n"
        "kinds += [('pattern', r'\\b%s\\b (a|b)')]\n"
        "made = [make_trigger(*((k, t % n) for k, t in kinds), id=n, context=('netlify', 'aws')) for n in names]\n"
        "order = reversed(made) if sys.argv[2] == 'b' else made\n"
        "print(hashlib.sha256(bytes(build_artefact(*order)._data)).hexdigest())\n"
    )
    root = str(ROOT)
    digests = set()
    for seed, order in (("0", "a"), ("1", "a"), ("2", "b")):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", code, root, order], env=environ, capture_output=True, text=True, check=True
        )
        digests.add(ran.stdout.strip())
    assert len(digests) == 1
    assert len(digests.pop()) == hashlib.sha256().digest_size * 2
