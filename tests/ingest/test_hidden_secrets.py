"""What of a file is hidden before it is kept, and what is not."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.hidden_secrets import file_without_secrets, without_secrets
from deia.redaction import HIDDEN

BODY = "lQOYBGXabcdEADx7hq83vASNFZ4k"
KEYS = (
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----",
    f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{BODY}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    f"Private-Lines: 2\n{BODY}\nq83v\nPrivate-MAC: 0a1b2c",
)
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83vASNFZ4k=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: hunter2hunter2\n", "hunter2hunter2"),
        ("API_KEY = 'a8f3k2l9s0d8f7g6h5j4'\n", "a8f3k2l9s0d8f7g6h5j4"),
        ("export GITHUB_TOKEN=ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8", "x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8"),
        ("db: postgres://ann:s3cr3tpw9@db.example.org/shop", "s3cr3tpw9"),
        (f"before\n{KEY}\nafter", "q83vASNFZ4k"),
    ],
)
def test_what_is_surely_a_secret_is_hidden_and_its_line_told(text: str, secret: str) -> None:
    hidden, lines = without_secrets(text)
    assert secret not in hidden
    assert HIDDEN in hidden
    assert lines == (2 if KEY in text else 1,)
    assert hidden.count("\n") == text.count("\n")


@pytest.mark.parametrize("key", KEYS)
def test_private_keys_of_every_kind_are_hidden_up_to_their_end(key: str) -> None:
    hidden, lines = without_secrets(f"before\n{key}\nafter\n")
    assert BODY not in hidden
    assert (lines, hidden.count("\n")) == ((2,), key.count("\n") + 3)
    assert hidden.startswith("before\n")
    assert hidden.endswith("\nafter\n")


@pytest.mark.parametrize("secret", ["Kiln@Firing99", "S3cr3tP@ssw0rd!!x", "aB3$xY9!qW2@"])
@pytest.mark.parametrize("written", ["password: {}", 'secret: "{}"', "PGPASSWORD='{}'", 'password = "{}"'])
def test_a_password_with_an_at_sign_is_no_address(secret: str, written: str) -> None:
    assert secret not in without_secrets(written.format(secret))[0]


@pytest.mark.parametrize(
    "text",
    [
        "password: ann2@example.org",
        "Write to ann@example.org or https://example.org/tokens?page=2",
        "if token is Token.Name.Builtin: return token.value",
        'Token.Name.Builtin: "#038B8B",',
        "password = os.environ['DB_PASSWORD']",
        "def reset_password(user, token=None): ...",
        "commit 7379f58e0c1b2a3d4e5f60718293a4b5c6d7e8f9",
        "The password is asked for at the first start.",
    ],
)
def test_code_prose_and_addresses_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == (text, ())


PIECES = (*"ab1=:@/ \n'\"-_İ\u2028", "password", "token", "ghp_", "://", "-----BEGIN PRIVATE KEY-----")


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_no_text_breaks_it_and_every_line_keeps_its_place(text: str) -> None:
    hidden, lines = without_secrets(text)
    assert hidden.count("\n") == text.count("\n")
    assert all(0 < number <= text.count("\n") + 1 for number in lines)


PHRASE = "hunter2hunter2"
FILES = {
    "a.md": f"# Zugang für alle\r\npassword: {PHRASE}\r\nGrüße\r\n".encode(),
    "latin.txt": f"Grüße\npassword: {PHRASE}\n".encode("latin-1"),
    "wide.txt": codecs.BOM_UTF16_LE + f"Grüße\npassword: {PHRASE}\n".encode("utf-16-le"),
    "page.html": f"<title>Grüße</title>\n<p>password: {PHRASE}</p>\n".encode(),
    "settings.json": f'{{"password": "{PHRASE}",\n "greeting": "Grüße"}}\n'.encode(),
    "mail.eml": f"Subject: access\n\npassword: {PHRASE}\n".encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_text_loses_its_secrets_and_nothing_else_in_whatever_encoding(name: str) -> None:
    codec = {"latin.txt": "latin-1", "wide.txt": "utf-16-le"}.get(name, "utf-8")
    content = FILES[name].replace(b"\r", b"") if codec == "utf-8" else FILES[name]
    assert file_without_secrets(name, FILES[name]) == content.replace(PHRASE.encode(codec), HIDDEN.encode(codec))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.md", b"# Pumps\r\nOil them.\r\n"),
        ("page.pdf", b"%PDF-1.7\npassword: hunter2hunter2\n"),
        ("odd.docx", b"password: hunter2hunter2\n\x00\x01"),
        ("picture.txt", b"\x89PNG\r\npassword: hunter2hunter2\n"),
    ],
)
def test_a_file_without_secrets_and_one_that_is_no_text_stay_as_they_are(name: str, content: bytes) -> None:
    assert file_without_secrets(name, content) == content


@given(st.binary())
def test_no_bytes_make_hiding_in_a_file_raise(content: bytes) -> None:
    for mark in (b"", codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, b"<\0?\0x\0"):
        file_without_secrets("a.txt", mark + b"password: hunter2hunter2\n" + content)
