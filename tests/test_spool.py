"""Writing the ledger: one event a line, short, redacted, whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia import spool
from deia.redaction import redact

if TYPE_CHECKING:
    from pathlib import Path


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in folder.iterdir() for line in file.read_text().split("\n") if line]


def test_an_event_is_one_line_with_its_time_version_and_id(tmp_path: Path) -> None:
    identity = spool.append(
        str(tmp_path / "events"), "query", {"query": "a\nb", "docs": ["x"], "empty": "", "none": None}
    )
    (event,) = events(tmp_path / "events")
    assert event.pop("ts").endswith("Z")
    assert event == {"v": 1, "event": "query", "id": identity, "query": "a\nb", "docs": ["x"]}
    (file,) = (tmp_path / "events").iterdir()
    assert file.name[:10].count("-") == 2
    assert file.read_bytes().startswith(b"\n")


def test_metadata_leaves_the_texts_out_and_off_writes_nothing(tmp_path: Path) -> None:
    assert spool.append(str(tmp_path / "off"), "query", {"query": "a"}, telemetry="off") == ""
    assert not (tmp_path / "off").exists()
    spool.append(str(tmp_path / "some"), "query", {"query": "a", "matched": True}, telemetry="metadata")
    (event,) = events(tmp_path / "some")
    assert "query" not in event
    assert event["matched"] is True


def test_a_ledger_that_cannot_be_written_is_given_up_quietly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert spool.append(f"{tmp_path}/file", "query", {"query": "a"}) == ""
    assert spool.append("a\0b", "query", {"query": "a"}) == ""
    assert spool.append("", "query", {"query": "a"}) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3000),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=9,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(("query", "note", "docs", "x", "y")), JSON))
def test_every_event_is_a_line_of_at_most_four_kib(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("events")
    assert spool.append(str(folder), "query", fields)
    (file,) = folder.iterdir()
    assert len(file.read_bytes()) <= spool.MOST_BYTES
    assert events(folder)[0]["event"] == "query"


@pytest.mark.parametrize("name", ["x" * 10_000, "\u20ac" * 3000])
def test_a_long_name_of_a_field_does_not_hang(tmp_path: Path, name: str) -> None:
    spool.append(str(tmp_path), "query", {name: 1, "query": "a"})
    assert all(len(file.read_bytes()) <= spool.MOST_BYTES for file in tmp_path.iterdir())


def test_several_writers_lose_and_tear_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from deia import spool\n"
        "for number in range(150):\n"
        "    fields = {'query': f'{sys.argv[2]}-{number} ' + 'w ' * 900}\n"
        "    assert spool.append(sys.argv[1], 'query', fields)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(who)]) for who in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    written = events(tmp_path)
    assert len({event["query"].split()[0] for event in written}) == 600
    assert len({event["id"] for event in written}) == 600


# Keys are put together here, so that no scanner takes this file for a leak.
SECRETS = (
    "sk-" + "ab12" * 8,
    "ghp_" + "aB3d" * 9,
    "AKIA" + "ABCD1234" * 2,
    "eyJ" + "hbGciOi" * 4,
    "xoxb-" + "1234-abcd" * 3,
    "9f86d081" + "884c7d659a2feaa0c55ad015a3bf4f1b",
    "npm_" + "a1B2c3" * 6,
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "form",
    ["{}", "use {} now", "KEY={}", "'{}'", '{{"token": "{}"}}', "Authorization: Bearer {}", "https://u:{}@host/x"],
)
def test_a_secret_is_never_written(secret: str, form: str) -> None:
    assert secret not in redact(form.format(secret))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password=hunter22", "password=[secret]"),
        ("DB_PASSWORD: hunter22", "DB_PASSWORD: [secret]"),
        ("--token abcdef123", "--token [secret]"),
        ("mail ann@example.org now", "mail [email] now"),
        ("postgres://app:pw@db/shop", "postgres://[secret]@db/shop"),
    ],
)
def test_what_is_hidden_leaves_the_rest_as_it_is(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "how do I delete the Netlify project?", "git push --force-with-lease origin main", "https://docs.example.org/a/b?c=d",
        "bok/platforms/netlify/delete-and-recreate-checklist.md", "2026-11-20T10:00:00Z", "a token of thanks", "x@y",
        "commit 9f86d08", "netlify-delete-and-recreate", "",
    ],
)  # fmt: skip
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_redacting_never_raises_and_settles(text: str) -> None:
    once = redact(text)
    assert isinstance(once, str)


def test_a_time_is_utc_in_milliseconds() -> None:
    assert spool.timestamp(0.0) == "1970-01-01T00:00:00.000Z"
    assert spool.timestamp(1.9999) == "1970-01-01T00:00:01.999Z"
