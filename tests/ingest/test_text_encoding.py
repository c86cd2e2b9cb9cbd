from __future__ import annotations

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read
from deia.ingest.reading import ReadingError
from deia.ingest.text_encoding import as_utf8, encoding_named

CHINESE, JAPANESE, KOREAN, RUSSIAN, CZECH = (
    "图书馆的文件",
    "図書館の本です",
    "도서관의 문서",
    "Библиотека",
    "Žluťoučký kůň",
)
META = '<html><head><meta charset="{}"></head><body><p>{}</p></body></html>'
EQUIV = '<meta http-equiv="Content-Type" content="text/html; charset={}"><p>{}</p>'
XML = "<?xml version='1.0' encoding='{}'?>\n<a>{}</a>"
PYTHON = '#!/usr/bin/python\n# -*- coding: {} -*-\nx = "{}"\n'
SAID = [("gb2312", CHINESE), ("gbk", CHINESE), ("gb18030", CHINESE), ("Shift_JIS", JAPANESE), ("euc-kr", KOREAN),
        ("KOI8-R", RUSSIAN), ("iso-8859-2", CZECH), ("windows-1250", CZECH), ("big5", "圖書館")]  # fmt: skip
HOSTILE = (
    "hex rot13 zlib bz2 base64 uu quopri unicode_escape raw_unicode_escape idna punycode undefined mbcs oem none os"
)


@pytest.mark.parametrize(("path", "form"), [("a.html", META), ("a.htm", EQUIV), ("a.xml", XML), ("a.py", PYTHON)])
@pytest.mark.parametrize(("label", "words"), SAID)
def test_a_text_is_read_in_the_encoding_that_it_declares(path: str, form: str, label: str, words: str) -> None:
    reading = read(path, form.format(label, words).encode(label))
    assert words in reading.text
    assert "it declares another encoding" in reading.notes[0]


@pytest.mark.parametrize("label", [*HOSTILE.split(), "utf-16", "x" * 40, "../gbk"])
def test_only_encodings_of_texts_are_taken_and_what_is_not_in_them_is_read_as_before(label: str) -> None:
    for path, form in (("a.html", META), ("a.xml", XML), ("a.py", PYTHON)):
        plain = read(path, form.format("", "Käse").encode("cp1252"))
        reading = read(path, form.format(label, "Käse").encode("cp1252"))
        assert "Käse" in reading.text
        assert reading.notes == plain.notes
    assert encoding_named(label) in {"", "utf_16"}


def test_bytes_that_are_not_in_the_declared_encoding_are_read_as_before() -> None:
    reading = read("a.html", META.format("gbk", "Käse").encode("cp1252") + b"\xff\xff")
    assert "Käse" in reading.text
    assert "Windows-1252" in reading.notes[0]


@pytest.mark.parametrize(("label", "path", "form"), [
    ("utf-8", "a.txt", "{}{}"), ("utf-8", "a.html", META), ("koi8-r", "a.html", META), ("gbk", "a.html", META),
])  # fmt: skip
def test_a_damaged_byte_makes_no_other_encoding_of_a_long_text(label: str, path: str, form: str) -> None:
    words = {"gbk": CHINESE}.get(label, RUSSIAN)
    damaged = form.format(label, f"{words} " * 20).encode(label).replace(b"<body>", b"<body>\xff", 1) + b"\xff\xff"
    assert read(path, damaged).text.count(words) >= 19


@pytest.mark.parametrize("form", [META, EQUIV, XML, PYTHON])
def test_a_text_in_utf_8_stays_so_whatever_it_declares(form: str) -> None:
    path = {META: "a.html", EQUIV: "a.html", XML: "a.xml", PYTHON: "a.py"}[form]
    reading = read(path, form.format("gbk", CHINESE).encode())
    assert CHINESE in reading.text
    assert not reading.notes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_xml_in_utf_16_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert CHINESE in read("a.xml", XML.format("utf-16", CHINESE).encode(encoding)).text


def test_a_mark_comes_before_what_is_declared() -> None:
    assert CHINESE in read("a.html", codecs.BOM_UTF16_LE + META.format("gbk", CHINESE).encode("utf-16-le")).text


def test_an_encoding_of_escapes_is_read_although_its_bytes_are_those_of_utf_8() -> None:
    assert JAPANESE in read("a.html", META.format("iso-2022-jp", JAPANESE).encode("iso-2022-jp")).text
    assert "\x1b[0m" in read("a.txt", b"\x1b[0m plain").text


@pytest.mark.parametrize(
    "head",
    [
        "<!-- <meta charset=gbk> -->", '<meta name="description" content="see charset=gbk">', "<p>charset=gbk</p>",
        " " * 1024 + "<meta charset=gbk>",
    ],
)  # fmt: skip
def test_what_only_speaks_of_an_encoding_declares_none(head: str) -> None:
    assert "Käse" in read("a.html", f"{head}<p>Käse".encode("cp1252")).text


def test_a_first_line_of_code_counts_in_the_first_two_lines_only() -> None:
    assert "Käse" in read("a.py", "x = 1\ny = 2\n# coding: gbk\n# Käse".encode("cp1252")).text
    assert CHINESE in read("a.py", f"\r\n# vim: set fileencoding=gbk :\r\n# {CHINESE}".encode("gbk")).text


@pytest.mark.parametrize(("label", "words"), SAID)
def test_what_a_server_names_counts_unless_the_bytes_are_utf_8(label: str, words: str) -> None:
    assert as_utf8(words.encode(label), label) == words.encode()
    assert as_utf8(words.encode(), label) == words.encode()
    assert as_utf8(codecs.BOM_UTF8 + b"\xff", label) == codecs.BOM_UTF8 + b"\xff"


def test_a_server_may_name_utf_16_and_escapes() -> None:
    assert as_utf8("<p>words".encode("utf-16-le"), "utf-16le") == b"<p>words"
    assert as_utf8(b"plain words", "utf-16le") == b"plain words"
    assert as_utf8(JAPANESE.encode("iso-2022-jp"), "ISO-2022-JP") == JAPANESE.encode()


@pytest.mark.parametrize("label", [*HOSTILE.split(), "gb2312"])
def test_a_mail_is_read_in_the_encoding_that_it_names_if_texts_are_written_in_it(label: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={label}\nContent-Transfer-Encoding: 8bit\n\n"
    words = CHINESE if label == "gb2312" else "plain"
    assert read("a.eml", head.encode() + words.encode("gbk")).text.endswith(words)


RARE = st.text(st.characters(min_codepoint=0xA0, max_codepoint=0x2FFF, exclude_categories=["Cs"]), min_size=1)


NOT_UTF_8 = "It is not UTF-8; it was read as Windows-1252."


@pytest.mark.parametrize(("content", "text", "note"), [
    (b"good \xc3\xbc utf8. bad \xfc latin", "good ü utf8. bad ü latin",
     "It is UTF-8 but for 1 byte, read as Windows-1252."),
    ("schön grün ".encode() + b"\xfc\xe4", "schön grün üä", "It is UTF-8 but for 2 bytes, read as Windows-1252."),
    ("größer".encode()[:-3], "grö�", "It is UTF-8, but ends within a character."),
    ("a €".encode()[:-1], "a �", "It is UTF-8, but ends within a character."),
    (b"words\xc3", "words�", "It is UTF-8, but ends within a character."),
    (b"caf\xe9", "café", NOT_UTF_8),
    ("schön grün Ã¼".encode("cp1252"), "schön grün Ã¼", NOT_UTF_8),
])  # fmt: skip
def test_a_text_that_is_mostly_utf_8_stays_so_and_its_notice_is_true(content: bytes, text: str, note: str) -> None:
    reading = read("a.txt", content)
    assert reading.text == text
    assert reading.notes == (note,)


@given(RARE, st.integers(0, 400), st.sampled_from(range(0xE0, 0xF0)))
def test_a_stray_byte_of_latin_changes_nothing_else_in_a_text(words: str, at: int, stray: int) -> None:
    at %= len(words) + 1
    before, after = words[:at].encode(), words[at:].encode()
    reading = read("a.txt", before + bytes([stray]) + b" " + after)
    assert reading.text == f"{words[:at]}{chr(stray)} {words[at:]}"


@given(st.text(st.characters(min_codepoint=0x80, max_codepoint=0x1FFFF, exclude_categories=["Cs", "Cc"]), min_size=2))
def test_a_text_that_is_cut_within_a_character_keeps_all_others(words: str) -> None:
    assert read("a.txt", words.encode()[:-1]).text == words[:-1] + "�"


@given(st.binary(max_size=200), st.text(max_size=20) | st.sampled_from([*HOSTILE.split(), "gbk", "utf-16", "euc-kr"]))
def test_no_bytes_and_no_name_of_an_encoding_do_more_than_be_refused(content: bytes, label: str) -> None:
    as_utf8(content, label)
    for path in ("a.html", "a.xml", "a.py", "a.css", "a"):
        for form in (META, EQUIV, XML, PYTHON, '@charset "{}";{}'):
            with suppress(ReadingError):
                read(path, form.format(label, "").encode("utf-8", "replace") + content)
