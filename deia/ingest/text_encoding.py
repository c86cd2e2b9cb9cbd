"""The encoding of a text that is not UTF-8: the one that it declares, or that its server names.

A declaration is untrusted. Only encodings of the table are taken, since Python's codecs also include what is no
encoding of texts (`hex`, `zlib`), what takes long (`punycode`) and what reads instructions (`unicode_escape`).
"""

from __future__ import annotations

import codecs
import re
from encodings import normalize_encoding
from encodings.aliases import aliases

DECLARED_WITHIN = 1024  # bytes, as browsers have it
MOSTLY = 20  # letters beyond ASCII for each damaged one
LATIN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}  # of escaped bytes
STRAY = re.compile("[\udc80-\udcff]")
USUAL_LEADS = (b"\xc2", b"\xc3")  # most sequences begin so, and hardly any word in Latin letters ends so
SAMPLE = 4096  # bytes that show whether a text is of a kind that only looks like UTF-8
BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
WIDE = ((b"<\0?\0x\0", "utf-16-le"), (b"\0<\0?\0x", "utf-16-be"))  # how XML begins in UTF-16 without a mark
UTF_16 = ("utf_16", "utf_16_le", "utf_16_be")
ESCAPING = ("iso2022_jp", "iso2022_kr")  # have only bytes of ASCII
KNOWN = frozenset(
    "big5hkscs cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp866 cp874 cp932 cp949 cp950 cp1125 cp1250 cp1251 "
    "cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 euc_jp gb18030 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 "
    "iso8859_7 iso8859_8 iso8859_10 iso8859_13 iso8859_14 iso8859_15 iso8859_16 johab koi8_r koi8_t koi8_u kz1048 "
    "mac_cyrillic mac_greek mac_latin2 mac_roman mac_turkish".split()
).union((*ESCAPING, *UTF_16, "hz", "utf_7"))
# What is written under these names is mostly in a larger encoding, as browsers read it.
WIDER = {
    "ascii": "cp1252", "latin_1": "cp1252", "big5": "big5hkscs", "gb2312": "gb18030", "gbk": "gb18030",
    "euc_kr": "cp949", "shift_jis": "cp932", "iso8859_9": "cp1254", "iso8859_11": "cp874", "tis_620": "cp874",
    "windows_874": "cp874", "windows_31j": "cp932", "iso_8859_8_i": "iso8859_8",
}  # fmt: skip
LABEL = rb"[ \t]{0,9}[\"']?[ \t]{0,9}([\w.:-]{1,40})"
COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
META = re.compile(rb"<meta\b[^>]{0,400}")
CHARSET = re.compile(rb"[\s\"'/;]charset[ \t]{0,9}=" + LABEL)
XML = re.compile(rb"\s{0,9}<\?xml\b[^>]{0,200}?\bencoding[ \t]{0,9}=" + LABEL)
CODING = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*|\r)?\n)?[ \t\f]*#[^\n]{0,200}?coding[:=]" + LABEL)  # PEP 263
STYLE = re.compile(rb"@charset" + LABEL)


def encoding_named(label: str) -> str:
    """Return the codec for the name of an encoding, or "" if it is none that texts are written in."""
    name = normalize_encoding(label.strip()).lower().removeprefix("x_") if label.isascii() else ""
    codec = aliases.get(name, name)
    codec = WIDER.get(codec, codec)
    return codec if codec in KNOWN else ""


def declared_encoding(content: bytes, kind: str) -> str:
    """Return the codec that the beginning of a file of a type declares, or ""."""
    head = content[:DECLARED_WITHIN]
    if kind in {"html", "xml"}:
        label = _label(XML.match(head)) or _meta(COMMENT.sub(b"", head.lower()))
    else:
        label = _label((CODING.match(head) or STYLE.match(head)) if kind == "code" else None)
    codec = encoding_named(label)
    return "" if codec in UTF_16 else codec  # that could not be read so far


def _label(match: re.Match[bytes] | None) -> str:
    return match[1].decode("ascii") if match else ""


def _meta(head: bytes) -> str:
    """Return the label of the first tag that declares one; what is said about a page is no declaration."""
    tags = (tag[0] for tag in META.finditer(head) if b"http-equiv" in tag[0] or b"content" not in tag[0])
    return next((label for tag in tags if (label := _label(CHARSET.search(tag)))), "")


def text_in(content: bytes, codec: str) -> str | None:
    """Return the text of bytes in an encoding, or None if they are not in it."""
    try:
        return content.decode(codec) if codec else None
    except UnicodeError:
        return None


def text_mostly_in(content: bytes, codec: str) -> str | None:
    """Return the text of bytes in an encoding but for a few damaged ones, or None if it is hardly in it."""
    try:
        text = content.decode(codec, "replace")
    except UnicodeError:
        return None
    damaged, beyond_ascii = text.count("\ufffd"), len(text) - len(text.encode("ascii", "ignore"))
    return text if beyond_ascii - damaged >= MOSTLY * damaged else None


def text_mixed_with_latin(content: bytes) -> tuple[str, str] | None:
    """Return the text of bytes that are UTF-8 but for some single ones, and what is to be said of these, or None.

    Text of another encoding hardly ever has a valid sequence of UTF-8 beyond ASCII, so more of these than of other
    bytes are enough. A sequence that the end of the text cuts has no meaning; one byte there is none, though, if there
    are others that belong to no sequence.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    text = decoder.decode(content)
    cut = decoder.getstate()[0]
    if len(cut) == 1 and STRAY.search(text):
        text, cut = text + cut.decode("utf-8", "surrogateescape"), b""
    whole = text.encode("utf-8", "ignore").decode()
    valid, stray = len(whole) - len(whole.encode("ascii", "ignore")), len(text) - len(whole)
    if stray > valid or not (valid or len(cut) > 1 or cut in USUAL_LEADS):
        return None
    if cut:
        text += "\ufffd"
    read_as = f"{stray:,} byte{'s' * (stray > 1)}, read as Windows-1252" if stray else ""
    notes = (f"It is UTF-8 but for {read_as}" if stray else "It is UTF-8", "but ends within a character" if cut else "")
    return text.translate(LATIN), f"{', '.join(note for note in notes if note)}."


def as_utf8(content: bytes, label: str) -> bytes:
    """Return a text in UTF-8 whose server names its encoding, unless its own first bytes or all of them show UTF-8."""
    codec, sample = encoding_named(label), content[:SAMPLE]
    if not codec or content.startswith(tuple(bom for bom, _ in BOMS)):
        return content
    is_other = b"\0" in sample if codec in UTF_16 else b"\x1b" in sample if codec in ESCAPING else not _is_utf8(content)
    text = text_in(content, codec) if is_other else None
    return content if text is None else text.encode("utf-8", "replace")


def _is_utf8(content: bytes) -> bool:
    return text_in(content, "utf-8") is not None
