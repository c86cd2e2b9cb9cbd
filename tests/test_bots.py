"""The code in docs/BOTS.md runs as written, and does what the page says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import make_bots
import pytest

import deia
from deia.frameworks import session
from tests.frameworks import verdicts
from tests.frameworks.verdicts import PACKAGES, WAYS, wanted

if TYPE_CHECKING:
    from deia.firing import Injection

PINS = Path(verdicts.__file__).with_name("versions.json")
PAGE = Path(deia.__file__).parent.parent / "docs" / "BOTS.md"
SAID = "I will sell the shop now. Then we see."


class Bot:
    """A bot that keeps what is put in front of its model."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def inject_to_llm_context(self, context: Injection) -> None:
        self.told += [context.text] if context.text else []


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the page's code blocks in order, in a folder with a small commons, and return their names."""
    (tmp_path / "bok").mkdir()
    (tmp_path / "triggers").mkdir()
    entry = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy., keywords: [shop]}"
    index = f"version: '1.0'\nclusters: {{all: {{description: All., documents: [{entry}]}}}}\n"
    clauses = "when: {any: [{phrase: sell shop}]}"
    trigger = f"- {{id: sale, title: T, urgency: high, message: M., documents: [{{id: lesson}}], {clauses}}}\n"
    (tmp_path / "commons_index.yaml").write_text(index, encoding="utf-8")
    (tmp_path / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy first.\n", encoding="utf-8")
    (tmp_path / "triggers" / "shop.yaml").write_text(trigger, encoding="utf-8")
    (tmp_path / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DEIA_COMMONS", str(tmp_path))
    names: dict[str, Any] = {}
    for block in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]:
        exec(compile(block.partition("```")[0], str(PAGE), "exec"), names)  # noqa: S102 - the page is ours
    return names


def test_the_plain_bot_is_told_once(code: dict[str, Any]) -> None:
    bot, conversation = Bot(), [f"User: {SAID}"]
    code["inject"](conversation, bot)
    code["inject"]([*conversation, "Assistant: Fine."], bot)
    assert len(bot.told) == 1
    assert 'trigger="sale"' in bot.told[0]


def test_the_awaited_bot_is_told_the_same(code: dict[str, Any]) -> None:
    bot = Bot()
    asyncio.run(code["inject_async"]([{"role": "user", "content": SAID}], bot))
    assert len(bot.told) == 1


def test_the_speaking_bot_is_told_before_it_ends(code: dict[str, Any]) -> None:
    bot, told = Bot(), []

    def pieces() -> Any:
        for word in SAID.split(" "):
            yield word + " "
            told.append(len(bot.told))

    assert code["speak"](pieces(), bot) == ["sale"]
    assert told == [0, 0, 0, 0, 0, 1, 1, 1, 1][: len(told)]


def test_every_adapter_stands_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = {path.stem for path in Path(session.__file__).parent.glob("*.py")} - {
        "__init__",
        "session",
        "missing_extra",
    }
    assert len(names) >= 6
    for name in names:
        assert f"`{name.replace('_', '-')}`" in text


def test_awaited_questions_are_answered(code: dict[str, Any]) -> None:
    answer = asyncio.run(code["librarian"].aquery("copy of the shop", limit=1))
    assert [result.id for result in answer.primary] == ["lesson"]


def test_the_table_of_runs_is_that_of_the_verdicts_that_are_kept() -> None:
    assert make_bots.page() == PAGE.read_text(encoding="utf-8")


def test_the_kept_verdicts_are_as_wanted_and_of_the_versions_that_are_pinned() -> None:
    kept = json.loads(make_bots.VERDICTS.read_text(encoding="utf-8"))
    lines = [pin for pins in json.loads(PINS.read_text(encoding="utf-8")).values() for pin in pins]
    pinned = {name.partition("[")[0]: version for name, _, version in (line.partition("==") for line in lines)}
    assert set(kept) == set(PACKAGES)
    for name, verdict in kept.items():
        assert {way: verdict[way] for way in WAYS} == dict.fromkeys(WAYS, wanted(name))
        package = PACKAGES[name][0]
        assert verdict["versions"][package] == pinned[package]
