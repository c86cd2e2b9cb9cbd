"""Secrets of every format, planted in conversations: none reaches the ledger, and ordinary text stays as it is."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from deia import spool
from deia.librarian import Librarian
from deia.redaction import HIDDEN, MOST_TEXT, redact
from tests.planted import makers

CONVERSATIONS = 1000
EACH = 4  # secrets a conversation
FORMATS = sorted(makers(random.Random(0)))  # noqa: S311 - drawn again from a seed


@pytest.fixture
def librarian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Librarian:
    """Give a Librarian of a commons with a trigger that quotes what was said."""
    root = tmp_path / "commons"
    (root / "triggers").mkdir(parents=True)
    (root / "bok").mkdir()
    entry = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy first., keywords: [shop]}"
    index = f"version: '1.0'\nclusters: {{all: {{description: All, documents: [{entry}]}}}}\n"
    (root / "commons_index.yaml").write_text(index)
    (root / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy first.\n")
    (root / "triggers" / "shop.yaml").write_text(
        "- {id: shop, title: T, urgency: high, action: note, message: Careful., repeat: every_time, status: stable,"
        " documents: [{id: lesson, mode: full_context}], when: {any: [{phrase: sell … shop}]}}\n"
    )
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"DEIA_{name}", str(tmp_path / name))
    monkeypatch.setenv("DEIA_STARTER", "false")
    return Librarian(root, agent="tester")


@pytest.mark.slow
def test_of_secrets_of_every_format_in_a_thousand_conversations_none_is_in_the_ledger(librarian: Librarian) -> None:
    chance = random.Random(41)  # noqa: S311 - secrets that open nothing
    made = makers(chance)
    planted: dict[str, set[str]] = {name: set() for name in made}
    folder = f"{librarian.root}/telemetry/events"
    for number in range(CONVERSATIONS):
        names = [FORMATS[(number * EACH + at) % len(FORMATS)] for at in range(EACH)]
        said = []
        for name in names:
            secret, text = made[name]()
            planted[name].add(secret)
            said.append(text)
        where = ("query", "note", "error", "because", "change", "trigger", "docs", "where", "anything")[number % 9]
        value = said if where == "docs" else {"nested": {"deep": said}} if where == "anything" else " and ".join(said)
        spool.append(folder, "query", {"conversation": f"c{number}", where: value})
        if number % 20 == 0:
            librarian.query(f"how is this used? {said[0]}")
            turns = [f"User: I will sell the shop with {said[1]}"]
            librarian.get_context(librarian.check_triggers(turns, conversation_id=f"c{number}"))
    written = "".join(path.read_text(encoding="utf-8") for path in Path(folder).glob("*.jsonl"))
    assert written.count('"event":"query"') >= CONVERSATIONS + CONVERSATIONS // 20
    assert written.count('"event":"injection"') > 20
    assert min(map(len, planted.values())) > 30
    leaked = {name: secret for name, secrets in planted.items() for secret in secrets if secret in written}
    assert leaked == {}


@pytest.mark.parametrize("name", FORMATS)
def test_hardly_any_secret_of_a_format_is_overlooked(name: str) -> None:
    """Of generated keys without a sign of their own, one in some hundred may look like a word."""
    make = makers(random.Random(name))[name]  # noqa: S311 - as above
    missed = [text for secret, text in (make() for _ in range(200)) if secret in redact(text)]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize(
    "text",
    [
        "what does max_tokens: 12000 mean?", "a token expired in the login page", "password reset mails do not arrive",
        "git@github.com:owner/repository.git", "npm install @types/node@20.1.0", "docker run -p 8080:80 nginx",
        "git push -u origin feature/long-branch-name-2026", "src/components/HomePage2/UserProfileView3.tsx",
        "session 0b8e3c1e-5c6a-4f3e-9a53-2f1f6a1a7c11", "the secret of good documentation", "AC/DC and SKU numbers",
        "sk-learn-style pipelines with key-value-stores", "error at 2026-11-20T10:00:00.123Z in worker-17",
        "kubectl get pods -n kube-system -o wide", "https://example.org/docs/2026/11/release-notes-for-version-2",
        "live_reload and secret_management_in_kubernetes", "1795168800123 ms since 1970", "EAAs and SKs and ACs",
        "how do I rotate an API key without downtime?", "antidisestablishmentarianism and donaudampfschifffahrt",
    ],
)  # fmt: skip
def test_ordinary_words_about_secrets_are_left_alone(text: str) -> None:
    assert redact(text) == text


def test_what_was_redacted_once_stays_as_it_is() -> None:
    chance = random.Random(3)  # noqa: S311 - as above
    for make in makers(chance).values():
        once = redact(make()[1])
        assert redact(once) == once


def test_lists_and_objects_are_redacted_and_a_secrets_name_hides_its_value() -> None:
    key = "gh" + "p_" + "aB3d" * 9
    kept = spool.kept({"docs": [key], "extra": {"password": "hunter", "list": [{"note": key}]}, key: 1}, "full")
    assert key not in repr(kept)
    assert isinstance(kept["extra"], dict)
    assert kept["extra"]["password"] == HIDDEN


def test_conversations_stay_apart_even_where_their_names_look_secret() -> None:
    one, other = ("0a1b2c3d4e5f6789" * 2, "9a8b7c6d5e4f3210" * 2)
    kept = [spool.kept({"conversation": each}, "full")["conversation"] for each in (one, other, one)]
    assert kept[0] == kept[2] != kept[1]
    assert one not in kept
    assert spool.kept({"conversation": "plain-7"}, "full") == {"conversation": "plain-7"}


def test_half_a_surrogate_pair_does_not_make_a_line_that_readers_refuse(tmp_path: Path) -> None:
    spool.append(str(tmp_path), "query", {"query": "a\ud800b", "extra": {"\udc00": ["\ud83d"]}})
    (path,) = tmp_path.iterdir()
    assert b"\\ud" not in path.read_bytes()


@pytest.mark.parametrize(
    "piece", ["a:", "a=", "=:", "/a", "https://", "a@", "&a=", "%41", "a-", '"', '\\"', "'", "(", "mysql -p'"]
)
def test_no_text_makes_redaction_raise_or_hang(piece: str) -> None:
    began = time.process_time()
    assert len(redact(piece * 9000)) <= 9 * MOST_TEXT
    assert time.process_time() - began < 2
