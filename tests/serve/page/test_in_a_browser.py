"""The page in headless Chromium: each view, each way through it, hostile texts, two tabs, restarts, and axe-core."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.serve.page.conftest import CASES, FALSE_ALARM, Browser, Paged, start_page
from tests.serve.page.events import call, hook, log

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals on Windows")]

VIEWS = {
    "#try?text=Please+delete+the+shop+site&trigger=site-delete": "text=because phrase",
    "#ask?question=delete+a+site&id=site-checklist&lines=6-10": ".lines .hit",
    "#lessons?id=site-checklist": "text=golden questions",
    "#lessons?trigger=site-delete": "text=all 3 cases pass",
    "#lessons?show=problems": "section[aria-label=List] .entries, section[aria-label=List] .note",
    "#lessons?show=paths": "text=Learning paths",
    "#live": "text=● live",
    "#learning": "text=Nothing was applied yet",
    "#health": "text=answers can be relied on",
}
SCRIPT = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
TYPED = "textarea >> nth=0"


def test_every_view_is_shown_and_axe_finds_nothing_in_light_and_dark(paged: Paged, browser: Browser) -> None:
    call(paged.place, "shopctl site:delete shop")
    paged.sign_in()
    for scheme in ("light", "dark"):
        browser.do("context", options={"colorScheme": scheme, "viewport": {"width": 1200, "height": 850}})
        browser.open(start_page_again(paged))
        for view, seen in VIEWS.items():
            browser.go(view)
            browser.wait(seen)
            assert browser.do("axe") == [], f"{scheme} {view}"
            assert browser.js("document.documentElement.scrollWidth <= innerWidth"), view
    assert browser.troubles() == []


def start_page_again(paged: Paged) -> str:
    """Give another address of the same server, for another browser."""
    again = start_page(paged.place)
    again.process.wait(30)
    again.end()
    return again.address


def test_every_view_fits_a_narrow_screen(paged: Paged, browser: Browser) -> None:
    browser.do("context", options={"viewport": {"width": 360, "height": 700}, "reducedMotion": "reduce"})
    browser.open(paged.address)
    for view, seen in VIEWS.items():
        browser.go(view)
        browser.wait(seen)
        assert browser.js("document.documentElement.scrollWidth <= innerWidth"), view
        assert browser.do("axe") == [], view
    assert browser.troubles() == []


def test_a_verdict_comes_as_one_types_and_the_address_keeps_it(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.fill(TYPED, "I will remove the site of the shop")
    browser.do("choose", selector="select >> nth=0", value="assistant")
    browser.until(lambda: "site-delete would speak" in browser.text("#status"))
    assert "because phrase" in browser.text()
    assert "remove the site" in browser.text("mark.fired")
    assert "deia-reference" in browser.text()
    browser.until(lambda: "role=assistant" in browser.js("location.hash"))
    assert browser.js("sessionStorage.length + localStorage.length") == 0
    browser.open(start_page_again(paged), tab="second")
    browser.do("reload")  # the other tab was open with this one, and hands the session over
    browser.wait("text=because phrase")
    assert browser.js("document.querySelector('textarea').value") == "I will remove the site of the shop"
    browser.do("choose", selector="select >> nth=0", value="tool_call")
    browser.fill(TYPED, "shopctl site:delete shop")
    browser.wait("text=because command")
    for host, said in (("claude-code", "permissionDecision"), ("windsurf", "exit code 2"), ("cursor", "permission")):
        browser.do("choose", selector="select >> nth=1", value=host)
        browser.wait(f"text={said}")
    assert browser.troubles() == []


def test_it_says_why_a_trigger_does_not_speak(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.fill(TYPED, "We never delete the site")
    browser.fill("input[list=ids]", "site-delete")
    browser.wait("text=What site-delete asks for")
    browser.fill("input[list=ids]", "site-delet")
    browser.wait("text=there is no trigger")
    assert "site-delete" in browser.text("[role=alert]")


def test_a_false_alarm_becomes_a_passing_case_in_two_clicks(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.fill(TYPED, FALSE_ALARM)
    browser.click("text=False alarm: make this a case")  # the first
    browser.wait("text=1 of 4 cases fail")
    browser.wait("button[disabled] >> text=False alarm: make this a case")  # also after it was judged anew
    browser.click("button:has-text('Apply') >> nth=0")  # the second
    browser.wait("text=all 4 cases pass")
    assert FALSE_ALARM in (paged.place.root / "triggers/sites.cases.yaml").read_text()
    assert "unless: [sandbox]" in (paged.place.root / "triggers/sites.yaml").read_text()
    browser.wait("text=an exception applies")  # compiled meanwhile, and judged anew
    browser.click("text=Take back")
    browser.wait("text=the files are what they were")
    browser.wait("button:not([disabled]) >> text=False alarm: make this a case")
    assert (paged.place.root / "triggers/sites.cases.yaml").read_text() == CASES
    assert "unless" not in (paged.place.root / "triggers/sites.yaml").read_text()
    assert browser.troubles() == []


def test_a_missed_mistake_becomes_a_passing_case_in_two_clicks(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.fill(TYPED, "Zap the shop of the customer")
    browser.wait("text=no trigger has all of its words here")
    browser.fill("input[list=ids]", "site-delete")
    browser.click("text=Should speak: make this a case")
    browser.wait("text=1 of 4 cases fail")
    browser.click("button:has-text('Apply') >> nth=0")
    browser.wait("text=all 4 cases pass")
    browser.wait("text=● speaks")  # compiled meanwhile, and judged anew
    assert browser.troubles() == []


def test_a_false_alarm_in_the_log_becomes_a_passing_case_in_three_clicks(paged: Paged, browser: Browser) -> None:
    hook(paged.place, "UserPromptSubmit", prompt=FALSE_ALARM.replace("site from the sandbox", "sandbox site"))
    browser.open(f"{paged.address}")
    browser.go("#live")
    browser.wait(".event >> text=site-delete")
    browser.do("eval", script="document.querySelector('.list').focus()")
    browser.do("press", key="ArrowDown")
    browser.click("text=Try it, make a case")
    browser.click("text=False alarm: make this a case")
    browser.click("button:has-text('Apply') >> nth=0")
    browser.wait("text=all 4 cases pass")


def test_a_search_shows_its_parts_the_document_and_why_another_was_not_found(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#ask")
    browser.fill("input[type=search]", "delete a site")
    browser.wait("text=by words: place 1")
    browser.click("article button")
    browser.wait("section[aria-label='The document'] .hit")
    browser.click("text=Why not this one?")
    browser.fill("input[list=documents]", "queue-purge")
    browser.wait("section, .note >> text=queue-purge:")
    browser.do("choose", selector="select >> nth=3", value="queues")
    browser.until(lambda: "cluster=queues" in browser.js("location.hash"))
    browser.fill("input[type=search]", "zzzz qqqq xxxx")
    browser.wait("text=Nothing here fits")
    assert browser.troubles() == []


def test_a_document_is_edited_with_a_preview_and_an_error_is_not_kept(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#lessons?id=site-checklist")
    browser.click("section[aria-label='The document'] >> text=Draw what it belongs to")
    browser.wait("img.picture")
    assert browser.js("document.querySelector('img.picture').naturalWidth") > 50
    browser.click("section[aria-label='The document'] button:text-is('Edit')")
    browser.fill("textarea.code", "# Before a site is deleted\n\nSave the records, twice.\n")
    browser.wait(".plus >> text=twice")
    browser.click("button:text-is('Save')")
    browser.wait("text=Git shows the change")
    assert "Save the records, twice." in (paged.place.root / "bok/hosting/site-checklist.md").read_text()
    browser.go("#lessons?trigger=site-delete")
    before = (paged.place.root / "triggers/sites.yaml").read_bytes()
    browser.click("text=Edit its file")
    browser.fill("textarea.code", "- id: site-delete\n  title: Broken\n")
    browser.wait(".note.bad")
    browser.click("button:text-is('Save')")
    browser.wait("text=Nothing was changed")
    assert (paged.place.root / "triggers/sites.yaml").read_bytes() == before
    assert browser.troubles() == [
        "console: Failed to load resource: the server responded with a status of 400 (Bad Request)"
    ]


def test_an_unsaved_text_is_kept_when_another_entry_is_chosen_and_when_the_session_ends(
    paged: Paged, browser: Browser
) -> None:
    browser.open(paged.address)
    browser.go("#lessons?id=site-checklist")
    browser.click("section[aria-label='The document'] button:text-is('Edit')")
    browser.fill("textarea.code", "# Typed by hand\n\nNot saved yet.\n")
    browser.click(".entries button >> nth=0")
    browser.wait("text=Not saved yet: bok/hosting/site-checklist.md")
    browser.go("#try")
    browser.wait("#try-help")
    browser.go("#lessons")
    browser.click("text=Go on editing")
    browser.wait("text=have not saved")
    assert "Typed by hand" in browser.js("document.querySelector('textarea.code').value")
    browser.wait(".plus >> text=Typed by hand")
    browser.open(start_page_again(paged), tab="second")
    browser.click("text=End session", tab="second")
    browser.wait("text=Not signed in", tab="second")
    browser.wait("textarea.code")
    paged.end()  # the server is started anew, so no session of before is known
    again = start_page(paged.place, "--port", paged.origin.rpartition(":")[2])
    try:
        browser.click("button:text-is('Save')")
        browser.wait("#out >> text=Your text below is kept")
        assert "Typed by hand" in browser.js("document.querySelector('textarea.code').value")
        assert browser.do("axe") == []
        browser.open(again.address, tab="second")
        browser.wait("nav a")
        assert browser.js("document.getElementById('out')") is None
        browser.click("button:text-is('Save')")
        browser.wait("text=Git shows the change")
        assert "Typed by hand" in (paged.place.root / "bok/hosting/site-checklist.md").read_text()
        assert "Go on editing" not in browser.text()
    finally:
        again.end()


def test_a_new_event_leaves_the_chosen_one_as_it_is(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#live")
    browser.wait("text=● live")
    call(paged.place, "shopctl site:delete shop")
    browser.click(".event >> text=held")
    browser.wait("section[aria-label='The event'] >> text=Allow once")
    browser.click("text=Not relevant")
    browser.wait("text=Recorded as not relevant")
    browser.wait(".event >> text=feedback")
    browser.js("window.kept = [...document.querySelectorAll('main section button')]; kept[1].focus()")
    log(paged.place, {"event": "error", "id": "e-1-1", "error": "something else"})
    browser.wait(".event >> text=something else")
    assert browser.js("kept.length > 3 && kept.every(one => one.isConnected)")
    assert browser.js("document.activeElement === kept[1]")
    assert "Recorded as not relevant." in browser.text("section[aria-label='The event']")
    browser.fill("input[type=search]", "nothing is like this")
    browser.wait("text=There are no events like this")
    assert browser.js("document.querySelector('.list').getAttribute('aria-activedescendant')") is None


def test_odd_lines_of_the_log_and_a_broken_stream_do_not_end_live(paged: Paged, browser: Browser) -> None:
    odd: list[dict[str, object]] = [
        {"event": 7, "id": 8, "ts": 5, "outcome": "constructor"},
        {"event": "injection", "id": "o-1", "ts": 5, "trigger": 5, "because": [1], "conversation": 6},
        {"event": "query", "id": "o-2", "ts": None, "query": 5}, {"event": "feedback", "id": "o-3", "verdict": [2]},
    ]  # fmt: skip
    log(paged.place, *odd)
    browser.open(paged.address)
    browser.go("#live")
    browser.until(lambda: browser.js("document.querySelectorAll('.event').length") >= len(odd))
    browser.do("eval", script="document.querySelector('.list').focus()")
    for _ in odd:
        browser.do("press", key="ArrowDown")
        assert "trouble" not in browser.text("section[aria-label='The event']")
    show = "Object.defineProperty(document, 'hidden', {get: () => %s, configurable: true});"
    tell = "document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))"
    browser.js(show % "true" + tell)  # as a tab that nobody sees
    browser.wait("text=waits until this tab is seen")
    log(paged.place, {"event": "error", "id": "e-2-1", "error": "written meanwhile", "ts": 6})
    time.sleep(1)
    assert "written meanwhile" not in browser.text()
    browser.js(show % "false" + tell)
    browser.wait(".event >> text=written meanwhile")
    assert browser.troubles() == []


def test_marks_stand_where_they_belong_after_characters_of_two_units(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.fill(TYPED, "😀😀 Please delete the site of the shop 😀")
    browser.wait("mark.fired")
    assert browser.js("document.querySelector('.said').textContent") == "😀😀 Please delete the site of the shop 😀"
    cut = browser.js(
        "marked('😀 I delete it', {verdicts: [], acts: [{start: 4, verb_end: 10, end: 13, head: 'it'}]})"
        ".map(one => one.textContent || one)"
    )
    assert cut == ["😀 I ", "delete", " ", "it"]
    other = browser.js(
        "marked('x', {text: 'rm it', verdicts: [], acts: [{start: 0, verb_end: 2, end: 5, head: 'it'}]})"
        ".map(one => one.textContent || one)"
    )
    assert other == ["rm", " ", "it"]


def test_a_blank_question_and_an_unknown_view_are_no_trouble(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#ask")
    browser.fill("input[type=search]", "a site")
    browser.wait("article")
    browser.fill("input[type=search]", "   ")
    browser.wait("text=Type a question, keywords")
    assert "Cannot read" not in browser.text()
    browser.go("#constructor")
    browser.wait("#try-help")
    assert browser.troubles() == []


STUB = """(values => { const real = window.fetch; window.asked = []; window.fetch = async (url, of) => {
    const view = url.split('/').pop(), one = values[view];
    asked.push([view, of.body]);
    if (!one) return real(url, of);
    await new Promise(next => setTimeout(next, one.wait || 0));
    if (one.refuse && of.body.includes(one.refuse)) {
        one.refuse = '';
        return new Response('{"error": "refused once"}', {status: 400});
    }
    return new Response(JSON.stringify(one.value), {status: 200}); } })(VALUES)"""


def answer(browser: Browser, **views: object) -> None:
    """Have some views answered in the browser: by a `value`, after `wait` ms, or once not, if it has what to refuse."""
    named = {view.replace("_", "-"): of for view, of in views.items()}
    browser.js(STUB.replace("VALUES", json.dumps(named)))


def test_what_was_taken_back_is_not_taken_back_again(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    case = {"holds": False, "fires": False, "text": "x", "path": "a", "line": 1, "stage": "fires", "detail": ""}
    one = {"id": "a", "does": ["x"], "files": [], "trigger": "site-delete", "cases": [case], "mends": []}
    mend = {"id": "m", "does": ["an exception"]}
    answer(
        browser, case={"value": {**one, "mends": [mend]}}, mend={"value": {**one, "id": "b"}}, compiled={"value": {}},
        take_back={"value": {}, "refuse": '"a"'},
    )  # fmt: skip
    browser.fill(TYPED, FALSE_ALARM)
    browser.click("text=False alarm: make this a case")
    browser.click("button:has-text('Apply')")
    browser.until(lambda: browser.js("asked.some(one => one[0] === 'mend')"))
    browser.wait("text=No small change")
    browser.click("text=Take back")
    browser.wait("text=refused once")
    browser.click("text=Take back")
    browser.wait("text=the files are what they were")
    taken = browser.js("asked.filter(one => one[0] === 'take-back').map(one => JSON.parse(one[1]).id)")
    assert taken == ["b", "a", "a"]


def test_what_an_undo_changes_which_call_waits_and_where_is_muted_is_shown(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    undo = {"id": "p-1", "does": ["adds a word"], "at": 5, "because": "noise", "files": ["a.yaml"], "undone": False}
    waiting = {"code": "abc", "conversation": "c1", "triggers": ["site-delete"], "text": "shopctl site:delete x"}
    answer(
        browser, proposals={"value": {"proposals": [], "applied": [{**undo, "diff": ["-  - word", "+  - other"]}]}},
        silences={"value": {"mutes": [], "pending": [waiting], "folder": "/the/commons"}},
    )  # fmt: skip
    browser.go("#learning")
    browser.wait("section[aria-label=Applied] .minus >> text=word")
    assert "+  - other" in browser.text("section[aria-label=Applied] .plus")
    assert browser.do("axe") == []
    call(paged.place, "shopctl site:delete shop")
    browser.go("#live")
    browser.wait("code >> text=shopctl site:delete x")
    browser.click(".event >> text=held")
    browser.wait("button[title='In /the/commons and below']")
    assert browser.troubles() == []


def test_a_late_answer_does_not_replace_what_was_chosen_since(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    problem = {"severity": "error", "path": "a.md", "line": 1, "found": "found late", "fix": ""}
    answer(browser, problems={"wait": 1500, "value": {"problems": [problem]}})
    browser.go("#lessons")
    browser.wait(".entries button")
    browser.do("choose", selector="select >> nth=0", value="problems")
    browser.wait("text=Checking everything")
    browser.do("choose", selector="select >> nth=0", value="documents")
    browser.wait(".entries button")
    time.sleep(2)
    assert "found late" not in browser.text()
    assert browser.js("document.querySelectorAll('.entries button').length") > 1
    browser.do("choose", selector="select >> nth=0", value="problems")
    browser.wait("text=found late")
    assert browser.troubles() == []


def test_events_come_live_and_are_acted_on(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#live")
    browser.wait("text=● live")
    call(paged.place, "shopctl site:delete shop")
    browser.wait(".event >> text=held")
    browser.click(".event >> nth=0")
    browser.click("text=Not relevant")
    browser.wait("text=Recorded as not relevant")
    browser.wait(".event >> text=feedback")
    browser.click("text=Mute in this conversation")
    browser.wait("text=in conversation c1")
    browser.do("choose", selector="select[aria-label='For how long to mute it']", value="hour")
    browser.click("text=Mute in this commons")
    browser.wait("text=/until .*, in /")
    browser.wait("text=in /")
    call(paged.place, "shopctl site:delete other", "c2")
    browser.wait(".event >> text=muted")
    for _ in range(2):
        browser.click("button:text-is('End') >> nth=0")
        time.sleep(0.5)
    browser.wait("text=Nothing.")
    browser.click("section[aria-label='Stopped and muted'] >> text=Allow once")
    browser.wait("text=None.")
    assert "permissionDecision" not in call(paged.place, "shopctl site:delete shop")
    browser.click("summary >> text=Noise by trigger")
    browser.wait("figure img, table")
    assert browser.troubles() == []


def test_proposals_are_looked_for_applied_and_undone(paged: Paged, browser: Browser) -> None:
    for days in (3, 2):
        ts = time.strftime("%Y-%m-%dT10:00:00Z", time.gmtime(time.time() - days * 86_400))
        common = {"ts": ts, "conversation": f"day{days}"}
        fired = {
            "trigger": "site-delete",
            "outcome": "held",
            "action": "hold",
            "because": 'command "shopctl site:delete"',
        }
        log(
            paged.place, {**common, "event": "injection", "id": f"a-b-{days}", **fired},
            {**common, "event": "feedback", "id": f"f-b-{days}", "of": f"a-b-{days}", "verdict": "noise"},
        )  # fmt: skip
    browser.open(paged.address)
    browser.go("#learning")
    browser.click("text=Look for proposals")
    browser.wait("article >> text=because")
    before = (paged.place.root / "triggers/sites.yaml").read_bytes()
    browser.click("section[aria-label=Proposals] article button >> nth=0")
    browser.wait("section[aria-label=Applied] article")
    assert (paged.place.root / "triggers/sites.yaml").read_bytes() != before
    browser.click("button[aria-label^=Undo]")
    browser.wait("text=undone")
    assert (paged.place.root / "triggers/sites.yaml").read_bytes() == before


def test_health_runs_every_check(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#health")
    browser.click("text=Run every check")
    browser.wait("section[aria-label=Checks] li")
    assert "deia 0." in browser.text("section[aria-label=Checks]")
    assert browser.do("axe") == []


def test_nothing_in_a_hostile_commons_runs(paged: Paged, browser: Browser) -> None:
    root: Path = paged.place.root
    hostile = root / "bok" / "queues" / "a<img src=x onerror=alert(1)>.md"
    hostile.write_text(f"# {SCRIPT}\n\n{SCRIPT} javascript:alert(1) </script></style>\n", encoding="utf-8")
    triggers = (root / "triggers/sites.yaml").read_text(encoding="utf-8")
    title, message = json.dumps(SCRIPT), json.dumps(f"{SCRIPT}</pre><iframe srcdoc='<script>alert(1)</script>'>")
    (root / "triggers/sites.yaml").write_text(
        triggers.replace("title: Deleting a shop site", f"title: {title}").replace(
            "message: Deleting a site drops its domain records.", f"message: {message}"
        ),
        encoding="utf-8",
    )
    log(
        paged.place,
        {"event": "query", "id": "q-1-1", "query": SCRIPT, "docs": [SCRIPT], "matched": False},
        {"event": "injection", "id": "q-1-2", "trigger": SCRIPT, "outcome": "shown", "because": SCRIPT, SCRIPT: SCRIPT},
        {"event": SCRIPT, "id": "q-1-3"}, {"event": "error", "id": "q-1-4", "error": SCRIPT * 90, "where": SCRIPT},
        {"event": "query", "id": {"deep": [SCRIPT]}, "query": {"a": SCRIPT}, "docs": {"b": 1}, "ts": SCRIPT},
    )  # fmt: skip
    browser.open(paged.address)
    views = [*VIEWS, "#ask?question=img+onerror+script", "#lessons?show=triggers", "#live?q=img", "#lessons"]
    for view in (
        *views,
        f"#try?text={SCRIPT}",
        f"#ask?question={SCRIPT}&id={SCRIPT}",
        "#lessons?id=%3Cimg%3E",
        "#x<img>",
    ):
        browser.go(view)
        time.sleep(1.0)
        assert browser.js("document.title").startswith("deia"), view
        assert browser.js("document.querySelectorAll('main img:not(.picture), main script, main iframe').length") == 0
    browser.go("#live")
    browser.wait(".event")
    browser.do("eval", script="document.querySelector('.list').focus()")
    for _ in range(6):
        browser.do("press", key="ArrowDown")
    assert browser.js("document.title") == "deia: Live"
    assert [one for one in browser.troubles() if "400" not in one] == []


def test_a_second_tab_shares_the_session_and_signing_out_ends_both(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.open(start_page_again(paged), tab="second")
    browser.go("#lessons", tab="second")
    browser.do("reload", tab="second")
    browser.wait("text=Before a site is deleted", tab="second")
    browser.do("goto", url=f"{paged.origin}/page#lessons", tab="new")  # whoever opens a tab has no session by that
    browser.wait("text=A new tab does not have it", tab="new")
    assert browser.js("document.querySelectorAll('nav a').length", tab="new") == 0
    browser.click("text=End session", tab="second")
    browser.wait("text=Not signed in", tab="second")
    browser.fill(TYPED, "delete the site")
    browser.wait("text=This session has ended")


def test_a_reload_without_another_tab_says_how_to_sign_in(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.do("reload")
    browser.wait("text=Not signed in")
    assert "deia page" in browser.text()
    browser.open(start_page_again(paged), tab="second")
    browser.wait("nav a")  # it was signed in before, so the next one to sign in takes it along


def test_who_has_no_token_or_a_used_one_is_told_what_to_type(paged: Paged, browser: Browser) -> None:
    browser.do("goto", url=f"{paged.origin}/page")
    browser.wait("text=Not signed in")
    assert "deia page" in browser.text()
    paged.sign_in()
    browser.do("goto", url="about:blank")
    browser.do("goto", url=paged.address)
    browser.wait("text=was used, or is too old")
    assert "once" not in browser.js("location.href")


def test_a_page_outlives_its_server_and_goes_on_with_the_next(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    paged.end()
    browser.fill(TYPED, "delete the site")
    browser.wait("text=The server does not answer")
    again = start_page(paged.place, "--port", paged.origin.rpartition(":")[2])
    try:
        browser.fill(TYPED, "delete the site now")
        browser.wait("text=This session has ended")
        browser.open(again.address, tab="second")
        browser.wait("nav a")  # the first tab is signed in by the second
        browser.wait("text=because phrase")
    finally:
        again.end()


def test_the_server_ends_while_a_page_listens(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#live")
    browser.wait("text=● live")
    began = time.monotonic()
    paged.end()
    assert time.monotonic() - began < 10
    assert paged.process.returncode == 0
    browser.wait("text=the server does not answer")


def test_without_a_script_the_page_says_what_to_type(paged: Paged, browser: Browser) -> None:
    browser.do("context", options={"javaScriptEnabled": False})
    browser.do("goto", url=paged.address)
    assert "deia check --explain" in browser.text()


def test_everything_is_reached_by_the_keyboard(paged: Paged, browser: Browser) -> None:
    browser.open(paged.address)
    browser.go("#lessons")
    browser.wait(".entries button")
    browser.do("eval", script="document.activeElement.blur()")
    reached = set()
    for _ in range(16):
        browser.do("press", key="Tab")
        reached.add(browser.js("document.activeElement.textContent.slice(0, 30) || document.activeElement.tagName"))
        where = browser.js("document.activeElement.tagName")
        assert where == "BODY" or browser.js("getComputedStyle(document.activeElement).outlineStyle") != "none", where
    assert {"To the content", "Try", "Health", "Before a site is deleted"} <= reached
    browser.go("#lessons")
    browser.js("document.querySelectorAll('.entries button')[0].focus()")
    browser.do("press", key="Enter")
    browser.wait("section[aria-label='The document']")
