"""Questions that crash other tools are answered or politely refused by the command and by the Librarian alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from deia.librarian import Librarian

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process

TEN = [
    "what's Netlify's site for?", '"netlify site', "netlify, site, delete", "why does netlify fail???",
    "delete [netlify] (site) {now}", "NOT netlify", "OR netlify AND site NEAR/2 *", 'title:"^netl* NEAR(a b) -',
    "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\nKeyError: 'netlify'", "",
]  # fmt: skip
LONG = "netlify site " * 7_500


@pytest.mark.parametrize("text", [*TEN, LONG], ids=lambda text: repr(text[:20]))
def test_the_command_and_the_librarian_answer_alike(deia: Deia, commons: Path, text: str) -> None:
    told = deia("search", "--format", "json", "--", text)
    assert told.code in (0, 1)
    answer = Librarian(commons, ledger=False).query(text).to_dict()
    shown = json.loads(told.out)
    assert {**shown, "audit": {}} == {**answer, "audit": {}}
    assert shown["audit"]["kind"] == answer["audit"]["kind"]


@pytest.mark.slow
def test_a_process_of_its_own_answers_them_too(process: Process) -> None:
    for text in TEN[:9:4]:
        done = process("search", "--format", "json", "--", text)
        assert done.returncode in (0, 1)
        assert b"Traceback" not in done.stderr
        assert json.loads(done.stdout)["audit"]


def test_an_unknown_value_is_refused_in_one_line(deia: Deia) -> None:
    told = deia("search", "site", "platform:nowhere")
    assert told.code == 2
    assert "nowhere" in told.err
    assert "Traceback" not in told.err


def test_paths_of_nothing_are_nothing(deia: Deia) -> None:
    told = deia("search", "--format", "paths", "zzqqxx")
    assert (told.code, told.out) == (1, "")
