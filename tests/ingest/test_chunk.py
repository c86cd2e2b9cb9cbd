from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.ingest.chunk import chunk
from deia.ingest.read import read
from deia.ingest.reading import DATA_LIMIT, STRATEGIES, TYPES, ChunkerConfig, Reading
from deia.knowledge import Chunk

CHINESE = "图书馆收藏许多文件。每个文件都被切成小段\uff01你能找到它们吗\uff1f"
LONG = {
    "chinese": CHINESE * 300,
    "japanese": "図書館には、たくさんの本があります。" * 300,
    "thai": "ห้องสมุดมีเอกสารมากมายและแต่ละเอกสารถูกตัด" * 200,
    "letters": "x" * 30_000,
    "words": "many words that go on and on " * 400,
    "rows": "a row of some words\n" * 500,
    "zalgo": "e" + "\u0301" * 9_000,
    "base64": ("QUJD" * 19 + "\n") * 200,
    "brackets": json.dumps({"deep": [[["x" * 5_000, {"k": "y" * 5_000}]]]}),
    "heading": "# " + "long title " * 900,
    "fence": "```\n" + "some code(that, goes, on)\n" * 300 + "```",
    "blank": "a" + " " * 5_000 + "b",
}
ENDINGS = {"csv": "csv", "python": "py", "cpp": "cpp", "javascript": "js", "sql": "sql", "jsonl": "jsonl"}
KINDS = [*((kind, "") for kind in TYPES), *((("json" if name == "jsonl" else "code"), name) for name in ENDINGS)]
TEXTS = st.lists(
    st.sampled_from([*LONG.values(), *(text[:900] for text in LONG.values()), CHINESE, "", "# Head", "```", "INFO"])
    | st.text(max_size=30),
    max_size=8,
)  # fmt: skip


def cut(text: str, kind: str = "text", language: str = "") -> list[Chunk]:
    path = f"a.{ENDINGS.get(language, kind)}"
    language = "" if language == "jsonl" else language
    return chunk(Reading(type=kind, title="T", text=text, path=path, language=language), id="a")


@pytest.mark.parametrize(("kind", "language"), KINDS)
@pytest.mark.parametrize("name", LONG)
def test_no_chunk_is_longer_than_the_limit_whatever_the_type(kind: str, language: str, name: str) -> None:
    chunks = cut(LONG[name], kind, language)
    assert max(len(c.text) for c in chunks) <= DATA_LIMIT


@given(TEXTS, st.sampled_from(KINDS), st.sampled_from(["\n", "\n\n", " ", ""]))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_chunks_within_the_limit_hold_every_letter_on_their_lines(
    texts: list[str], kind: tuple[str, str], joint: str
) -> None:
    text = joint.join(texts).replace("\r", "")
    chunks, rows = cut(text, *kind), text.split("\n")
    assert all(len(c.text) <= DATA_LIMIT for c in chunks)
    kept = "".join(letter for c in chunks for letter in c.text if letter.isalnum())
    assert kept == "".join(letter for letter in text if letter.isalnum())
    for c in chunks:
        here = "".join("\n".join(rows[c.lines[0] - 1 : c.lines[1]]).split())
        assert "".join(c.text.split()) in here


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.html", "<pre>" + "x" * 9_609 + "</pre>"),
        ("a.html", f"<p>{CHINESE * 200}</p>"),
        ("a.html", f"<table><tr><td>{CHINESE * 200}</td></tr></table>"),
        ("a.eml", f"Subject: x\nContent-Type: text/plain; charset=utf-8\n\n{CHINESE * 200}"),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": "x = 1;" * 900}]})),
        ("a.json", json.dumps([{"text": CHINESE * 9, "n": n} for n in range(300)])),
        ("a.js", "function f(){return 1};" * 900),
        ("a.log", "2026-01-01 " + "x" * 9_000),
        ("a.csv", "a,b\n" + "x" * 9_000 + ",1\n"),
    ],
)
def test_what_readers_make_is_cut_to_the_limit_too(path: str, content: str) -> None:
    assert max(len(c.text) for c in chunk(read(path, content.encode()), id="a")) <= DATA_LIMIT


def test_a_text_without_spaces_is_cut_after_its_sentences() -> None:
    assert {c.text[-1] for c in cut(LONG["chinese"])} <= set("。\uff01\uff1f")


def test_a_sequence_of_combining_characters_is_not_cut_apart() -> None:
    chunks = cut("e\u0301\u0323" * 3_000)
    assert len(chunks) > 1
    assert all(c.text[0] == "e" for c in chunks)
    family = "\U0001f469\u200d\U0001f467"
    assert {c.text[0] + c.text[-1] for c in cut(family * 3_000)} == {family[0] + family[-1]}


@pytest.mark.parametrize(
    ("path", "content", "strategy"),
    [
        ("a.md", "# " + "h" * 90_000 + "\n\n" + "word " * 9_000, "recursive"),
        ("a.md", "# " + "h" * 90_000 + "\n\n" + "word " * 9_000, ""),
        ("a.json", json.dumps({"k" * 90_000: {f"{n}": "word " * 300 for n in range(99)}}), ""),
        ("a.yaml", "k" * 900 + ":\n" + "".join(f"  a{n}: {'word ' * 300}\n" for n in range(99)), ""),
    ],
)
def test_a_huge_name_is_not_repeated_in_every_chunk_below_it(path: str, content: str, strategy: str) -> None:
    chunks = chunk(read(path, content.encode()), id="a", config=ChunkerConfig(strategy=strategy))
    assert len(json.dumps([c.values() for c in chunks])) < 3 * len(content) + 1_000 * len(chunks)


@pytest.mark.parametrize("strategy", ["", *STRATEGIES])
def test_messages_of_a_mailbox_share_no_chunk(strategy: str) -> None:
    messages = [f"From a@x Mon\nSubject: No {n}\n\n# a{n}\n\nWords of {n}. {'More. ' * 90 * n}\n\n" for n in range(5)]
    reading = read("a.mbox", "".join(messages).encode())
    chunks = chunk(reading, id="a", config=ChunkerConfig(strategy=strategy))
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    assert all(c.text.count("# No ") <= 1 for c in chunks)
    assert {c.text for c in chunks if c.text.startswith("# No 1")}
    rows = reading.text.split("\n")
    for c in chunks:
        assert c.text in "\n".join(rows[c.lines[0] - 1 : c.lines[1]])
        assert c.parent < c.ordinal


def test_sections_without_spaces_begin_passages_as_those_with_words_do() -> None:
    section = f"# 标题\n\n{CHINESE * 30}\n\n"
    assert [c.text.count("#") for c in cut(section * 4, "markdown")] == [1, 1, 1, 1]


@given(
    st.lists(st.lists(st.sampled_from(["# A", "## B", " # Text@.", "Text@.", "word@ " * 100, "word@ " * 400]))),
    st.sampled_from(["", "recursive"]),
)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_all_text_of_a_chunk_is_of_the_page_that_it_names(blocks: list[list[str]], strategy: str) -> None:
    rows: list[str] = []
    pages: list[int] = []
    for number, page in enumerate(blocks, 1):
        pages.append(len(rows) + 1)
        rows += [row.replace("@", f"_{number}") for block in page for row in (block, "")]
    reading = Reading(type="pdf", title="T", text="\n".join(rows), pages=tuple(pages))
    chunks = chunk(reading, id="a", config=ChunkerConfig(strategy=strategy))
    assert "".join("".join(c.text for c in chunks).split()) == "".join(reading.text.split())
    for c in chunks:
        assert {int(number) for number in re.findall(r"_(\d+)", c.text)} <= {c.page}
