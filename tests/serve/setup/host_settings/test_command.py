"""Command lines for three kinds of reader: run where the reader is at hand, compared as text where it is not."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.serve.setup.host_settings.command import (
    CMD,
    ENCODED,
    POSIX,
    POWERSHELL,
    dialect_of,
    line,
    shell_start,
    words_of,
)

SHOW = "import json, sys; print(json.dumps(sys.argv[1:]))"
WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=1, max_size=5)
NASTY = [
    "/a b/it's",
    '/c "d"',
    "$HOME `id` $(id)",
    "100% %PATH% !x!",
    "näme 日本",
    "back\\slash",
    "& | ; < > ^ * ?",
    "-x",
]


@pytest.mark.skipif(os.name == "nt", reason="there is no POSIX shell")
@pytest.mark.parametrize("shell", ["/bin/sh", "bash"])
def test_a_posix_shell_passes_every_word_on_as_it_was(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    text = line([sys.executable, "-c", SHOW, *NASTY], POSIX)
    done = subprocess.run([shell, "-c", text], capture_output=True, check=True, timeout=30)
    assert json.loads(done.stdout) == NASTY


def test_powershell_gets_every_word_in_single_quotes_and_gives_the_exit_code_on() -> None:
    text = line(["C:\\Program Files\\py.exe", "it's", "\u2018so\u2019", '$env:X %Y% `z` "q"'], POWERSHELL)
    assert text == (
        "& 'C:\\Program Files\\py.exe' 'it''s' '\u2018\u2018so\u2019\u2019' '$env:X %Y% `z` \"q\"'; exit $LASTEXITCODE"
    )


def test_cmd_gets_bare_words_where_nothing_in_them_means_anything_to_it() -> None:
    words = ["C:\\Python313\\python.exe", "-I", "-S", "C:\\Users\\Jürgen\\deia\\serve\\hook.py", "codex"]
    assert line(words, CMD) == " ".join(words)


@pytest.mark.parametrize(
    "path", ["C:\\Program Files\\py.exe", "C:\\100%\\py.exe", "C:\\a&b\\py.exe", "C:\\it's\\py.exe"]
)
def test_cmd_gets_letters_and_digits_alone_where_a_word_means_something_to_it(path: str) -> None:
    text = line([path, "codex"], CMD)
    assert text.startswith(ENCODED)
    encoded = text.removeprefix(ENCODED)
    assert not set(encoded) & set(" \"%&^<>|!'")
    assert base64.b64decode(encoded).decode("utf-16-le") == line([path, "codex"], POWERSHELL)


@given(words=WORDS, dialect=st.sampled_from([POSIX, POWERSHELL, CMD]))
@settings(max_examples=100)
def test_a_line_is_read_back_as_the_words_it_was_made_of(words: list[str], dialect: str) -> None:
    plain = dialect == CMD and not line(words, CMD).startswith(ENCODED) and not any("\\" in word for word in words)
    assert plain or words_of(line(words, dialect)) == words


@given(st.text())
@settings(max_examples=100)
def test_no_line_that_somebody_wrote_makes_the_reader_raise(text: str) -> None:
    for each in (text, "& " + text, "& '" + text, ENCODED + text):
        assert all(isinstance(word, str) for word in words_of(each))


def test_every_shell_of_a_host_has_its_start_and_its_dialect() -> None:
    assert shell_start("login", {"SHELL": "/bin/zsh"}) == ["/bin/zsh", "-lc"]
    assert shell_start("login", {}) == ["/bin/sh", "-lc"]
    assert shell_start("cmd", {}) == ["cmd.exe", "/C"]
    assert [dialect_of(shell) for shell in ("sh", "bash", "login", "powershell", "cmd")] == [
        POSIX, POSIX, POSIX, POWERSHELL, CMD,
    ]  # fmt: skip
