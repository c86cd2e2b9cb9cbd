"""The page to read without JavaScript: every view, for whoever has an address of a session, and only to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.page.plain_page import LISTED, VIEWS, element, link, page_of, policy, read_query
from tests.serve.page.conftest import Browser, Paged
from tests.serve.page.events import log

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def text_of(paged: Paged, address: str) -> str:
    status, body, headers = paged.request("GET", address)
    assert status == 200, body
    assert headers["content-security-policy"] == policy().decode()
    assert headers["referrer-policy"] == "no-referrer"
    return body.decode()


def test_every_view_is_a_whole_page_with_links_to_the_others(paged: Paged) -> None:
    plain = paged.plain()
    for view in LISTED:
        text = text_of(paged, f"{plain}/{view}")
        assert text.startswith("<!doctype html>")
        assert "<script" not in text
        assert re.findall(r'<a href="(\w+)"', text)[: len(LISTED)] == list(LISTED)


def test_a_lesson_a_trigger_and_an_answer_are_read(paged: Paged) -> None:
    plain = paged.plain()
    assert 'href="lesson?id=site-checklist"' in text_of(paged, f"{plain}/lessons")
    assert "<pre>" in text_of(paged, f"{plain}/lesson?id=site-checklist")
    trigger = text_of(paged, f"{plain}/trigger?id=site-delete")
    assert "Please delete the site of the shop" in trigger
    assert "site-checklist" in text_of(paged, f"{plain}/ask?question=what+to+save+before+a+site+is+deleted")
    judged = text_of(paged, f"{plain}/try?role=user&text=Please+delete+the+shop+site+now")
    assert "● speaks" in judged
    assert "What the model is told" in judged
    assert "stays silent" in text_of(paged, f"{plain}/try?role=user&text=Good+morning")


def test_the_address_is_given_once_and_reads_only(paged: Paged) -> None:
    plain = paged.plain()
    assert paged.request("GET", f"/page/plain?once={paged.once}")[0] == 401
    assert paged.request("POST", f"{plain}/try", b"{}")[0] == 404
    key = plain.rpartition("/")[2]
    assert paged.post("overview", authorization=f"Bearer {key}")[0] == 401, "a key to read opens no other view"
    assert paged.request("GET", f"{plain}/lessons", headers={"host": "rebound.example"})[0] == 421


@pytest.mark.parametrize(
    "address", ["/page/plain", "/page/plain/", "/page/plain/wrong/try", "/page/plain?once=", "/page/plain/x"]
)
def test_whoever_has_no_session_is_told_what_to_type(paged: Paged, address: str) -> None:
    status, body, _ = paged.request("GET", address)
    assert status == 401
    assert b"deia page --plain" in body


def test_what_is_asked_wrongly_is_said_on_the_page(paged: Paged) -> None:
    plain = paged.plain()
    for asked in (
        "trigger?id=none",
        "lesson?id=none",
        "try?role=nobody&text=x",
        f"ask?question={'x' * 5_000}",
        "lesson",
    ):
        status, body, _ = paged.request("GET", f"{plain}/{asked}")
        assert status == 400, asked
        assert b'role="alert"' in body
    assert paged.request("GET", f"{plain}/no-such-view")[0] == 404


def test_nothing_that_is_shown_is_markup(paged: Paged) -> None:
    root: Path = paged.place.root
    (root / "bok" / "queues" / "hostile.md").write_text(f"# {SCRIPT}\n\n{SCRIPT} </pre></style>\n", encoding="utf-8")
    log(paged.place, {"event": "query", "id": "q-1-1", "query": SCRIPT}, {"event": SCRIPT, "id": "q-1-2", "ts": SCRIPT})
    plain, hostile = paged.plain(), quote(SCRIPT)
    views = [*LISTED, f"try?text={hostile}", f"ask?question={hostile}", f"try?role=user&text={hostile}"]
    for view in views:
        text = text_of(paged, f"{plain}/{view}")
        assert "<script" not in text
        assert "<img" not in text
    assert b"<img" not in paged.request("GET", f"{plain}/lesson?id={hostile}")[1]


@given(st.text(), st.text())
def test_a_text_or_an_attribute_never_ends_its_element(text: str, value: str) -> None:
    made = element("p", text, title=value, aria_label=value)
    assert made.count("<") == 2
    assert made.count(">") == 2


def test_half_a_character_is_no_error() -> None:
    assert "%3F" in link("lesson", "x", id="\ud800")
    assert b"?" in page_of("try", "\ud800", element("p", "\ud800"))


@given(st.binary())
def test_any_query_of_an_address_is_read(query: bytes) -> None:
    assert all(isinstance(value, str) for value in read_query(query).values())


def test_the_views_that_are_listed_are_among_those_that_there_are() -> None:
    assert set(LISTED) < set(VIEWS)


@pytest.mark.slow
def test_a_browser_without_javascript_reads_and_asks_and_axe_finds_nothing(paged: Paged, browser: Browser) -> None:
    for scheme in ("light", "dark"):
        browser.do("context", options={"colorScheme": scheme, "javaScriptEnabled": scheme == "dark"})
        if scheme == "light":
            plain = paged.origin + paged.plain()
        for view in (*LISTED, "lesson?id=site-checklist", "trigger?id=site-delete"):
            browser.do("goto", url=f"{plain}/{view}")
            browser.wait("main h1")
            if scheme == "dark":
                assert browser.do("axe") == [], view
        browser.do("goto", url=f"{plain}/try")
        browser.fill("textarea", "Please delete the shop site now")
        browser.click("button")
        browser.wait("section .tag.bad")
        assert "● speaks" in browser.text()
    assert browser.troubles() == []
