"""Other languages: phrases match without English word endings, and denials and questions are recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.knowledge import Clause
from deia.records import STANCES, Turn
from deia.watch.gate.word_gate import candidates
from deia.watch.memory.recall import InMemoryLog
from deia.watch.prose.languages import foreign_stance
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Fires, Make


def phrase(make: Make, value: str, language: str = "", **fields: Any) -> Any:
    return make(**fields).but(any=(Clause(kind="phrase", value=value, language=language),))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("lösche … Datenbank", "Lösche bitte die Datenbank!"),
        ("удали базу", "УДАЛИ всю базу, пожалуйста"),
        ("删除数据库", "请把旧的都清理。现在删除数据库。谢谢"),
        ("删除 … 数据库", "删除我们的生产数据库"),
        ("把 … 删除", "请把整个目录删除"),
        ("データベース … 削除", "本番データベースを今すぐ削除します"),
        ("{削除|消去} し", "ログを消去します"),
        ("ลบฐานข้อมูล", "กรุณาลบฐานข้อมูลทั้งหมด"),
        ("데이터베이스 … 삭제", "데이터베이스를 삭제해 주세요"),
        ("supprime … base de données", "Supprime toute la base de données"),
        ("删除 S3 存储桶", "删除S3存储桶"),
    ],
)
def test_a_phrase_is_found_in_any_script(make: Make, fires: Fires, wanted: str, said: str) -> None:
    assert fires(phrase(make, wanted), said)


@pytest.mark.parametrize(
    ("wanted", "language", "said", "found"),
    [
        ("lad laden", "de", "lads laden", False),
        ("lad laden", "", "lads laden", True),
        ("gift", "de", "the gifts", False),
        ("gift", "en", "I want the gifts", True),
        ("stop évier", "", "stopped évier", False),
    ],
)
def test_only_english_words_get_english_endings(
    *, make: Make, fires: Fires, wanted: str, language: str, said: str, found: bool
) -> None:
    assert fires(phrase(make, wanted, language, stance=STANCES), said) is found


def test_letters_in_another_order_are_another_phrase(make: Make, fires: Fires) -> None:
    assert not fires(phrase(make, "删除数据库"), "数据库已删除")
    assert not fires(phrase(make, "データベース削除"), "削除 データ")


def test_the_gate_lets_a_phrase_without_spaces_through_from_the_middle_of_a_long_text(make: Make, build: Build) -> None:
    artefact = build(phrase(make, "删除生产数据库"))
    text = "这是一段很长的说明文字" * 400 + "现在删除生产数据库" + "然后继续做别的事情" * 400
    assert list(candidates(artefact, Turn(role="assistant", text=text))[0]) == [0]
    assert watch(artefact, Turn(role="assistant", text=text), InMemoryLog(), lambda: Surroundings(now=0.0)).firings


SAID = (
    ("", "Lösche die Datenbank", "", "announced"), ("Bitte ", "lösche die Datenbank", " nicht", "negated"),
    ("Kannst du die Datenbank ", "löschen", "?", "requested"), ("Was passiert, wenn ich sie ", "lösche", "?", "asked"),
    ("niemals ", "lösche die Datenbank", "", "negated"), ("", "lösche die Datenbank nicht jetzt", "", "negated"),
    ("no ", "borres la base de datos", "", "negated"), ("¿puedes ", "borrar la base de datos", "?", "requested"),
    ("¿qué pasa si ", "borro la base de datos", "?", "asked"), ("ahora ", "borro la base de datos", "", "announced"),
    ("vou no servidor ", "apagar o banco de dados", "", "announced"), ("não ", "apague o banco", "", "negated"),
    ("você pode ", "apagar o banco de dados", "?", "requested"),
    ("ne ", "supprime pas la base", "", "negated"), ("il faut ", "supprimer la base de données", "", "announced"),
    ("pouvez-vous ", "supprimer la base de données", " ?", "requested"),
    ("non ", "cancellare il database", "", "negated"), ("puoi ", "cancellare il database della prod", "?", "requested"),
    ("不要", "删除数据库", "", "negated"), ("请", "删除数据库", "", "announced"),
    ("如何", "删除数据库", "\uff1f", "asked"),
    ("可以帮我", "删除数据库", "吗\uff1f", "requested"), ("昨天已经", "删除了数据库", "", "reported"),
    ("", "データベースを削除", "しないでください", "negated"), ("", "データベースを削除", "してください", "announced"),
    ("", "データベースを削除", "しました", "reported"), ("", "データベースを削除", "してくれますか\uff1f", "requested"),
    ("не ", "удаляй базу", "", "negated"), ("", "удали базу", "", "announced"),
    ("можешь ", "удалить базу", "?", "requested"), ("что будет, если ", "удалить базу", "?", "asked"),
    ("", "데이터베이스를 삭제", "하지 마세요", "negated"),
    ("isso é mais rápido do que ", "reescrever o histórico", " do git", "reported"),
    ("c'est plus simple que de ", "supprimer la base", " de production", "reported"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "act", "after", "stance"), SAID)
def test_what_denies_or_asks_is_heard(before: str, act: str, after: str, stance: str) -> None:
    question = after.rstrip().endswith(("?", "\uff1f"))
    assert foreign_stance(before, act, after, question=question) == stance


ENGLISH = (
    "never force push as root", "do a force push to main", "please delete the site",
    "don't delete das Laufwerk from it",
    "run it as is",
    "delete os files", "we deleted the site in la Paz", "delete", "",
)  # fmt: skip


@pytest.mark.parametrize("said", ENGLISH)
def test_english_is_left_to_the_english_rules(said: str) -> None:
    assert foreign_stance("", said, "", question=False) == ""


@settings(max_examples=100, deadline=None)
@given(before=st.text(max_size=30), act=st.text(max_size=20), after=st.text(max_size=30), question=st.booleans())
def test_any_text_has_a_stance_or_none(*, before: str, act: str, after: str, question: bool) -> None:
    assert foreign_stance(before, act, after, question=question) in {"", *STANCES}
