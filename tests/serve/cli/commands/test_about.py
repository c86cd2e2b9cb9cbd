"""The manual page: every command is in it, and roff finds nothing wrong."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from deia.serve.cli.commands_table import COMMANDS

if TYPE_CHECKING:
    from tests.serve.conftest import Deia


def test_the_page_has_every_command_with_its_options(deia: Deia) -> None:
    page = deia("completion", "man").out
    assert all(".SS deia {}\n".format(command.replace("-", "\\-")) in page for command in COMMANDS)
    assert ".B \\-\\-dry\\-run\nOnly show the draft" in page
    assert page.isascii()


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_roff_finds_nothing_wrong(deia: Deia) -> None:
    page = deia("completion", "man").out.encode()
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, check=True)
    assert done.stderr == b""
    assert "deia trigger new" in done.stdout.decode()
