"""Draw the pictures of docs/page: each view in light and dark, over a small commons that is made for it.

python3 do.py page --pictures
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from deia.compile.compiler import compile_commons
from tests.paths import ROOT
from tests.serve.page.conftest import CASES, FALSE_ALARM, MISSING, Browser, Paged, start_page
from tests.serve.page.events import call, hook, log
from tests.serve.page.small_png import make_small
from tests.serve.server.conftest import Place, make_place

FOLDER = ROOT / "docs" / "page"
SIZE = {"width": 1000, "height": 700}
MOST_BYTES = 61_440  # of a picture
VIEWS = {
    "try": ("#try?text=Please+delete+the+shop+site+now&trigger=site-delete", "text=because phrase"),
    "ask": ("#ask?question=what+to+save+before+a+site+is+deleted&id=site-checklist&lines=6-10", ".lines .hit"),
    "lessons": ("#lessons?id=site-checklist", "section[aria-label='The document']"),
    "triggers": ("#lessons?trigger=site-delete", "text=all 3 cases pass"),
    "live": ("#live", "text=● live"),
    "learning": ("#learning", "section[aria-label=Proposals] article"),
    "health": ("#health", "text=answers can be relied on"),
}


def made(folder: Path) -> Place:
    """Return a commons with cases, and a log of a few days."""
    place = make_place(folder)
    (place.root / "triggers" / "sites.cases.yaml").write_text(CASES, encoding="utf-8")
    compile_commons(str(place.root), environ=place.environ)
    for days in (3, 2):
        ts = time.strftime("%Y-%m-%dT10:00:00Z", time.gmtime(time.time() - days * 86_400))
        fired = {
            "trigger": "site-delete",
            "outcome": "held",
            "action": "hold",
            "because": 'command "shopctl site:delete"',
        }
        common = {"ts": ts, "conversation": f"day-{days}"}
        log(
            place, {**common, "event": "injection", "id": f"a-b-{days}", **fired},
            {**common, "event": "feedback", "id": f"f-b-{days}", "of": f"a-b-{days}", "verdict": "noise"},
            {**common, "event": "query", "id": f"q-b-{days}", "query": "purge a queue", "matched": True},
        )  # fmt: skip
    return place


def draw(paged: Paged, scheme: str, address: str) -> None:
    """Draw every view in one of the two schemes."""
    browser = Browser(paged.origin)
    browser.do("context", options={"colorScheme": scheme, "viewport": SIZE, "reducedMotion": "reduce"})
    try:
        browser.open(address)
        if scheme == "light":
            browser.go("#learning")
            browser.click("text=Look for proposals")
            browser.wait("section[aria-label=Proposals] article")
        for name, (view, seen) in VIEWS.items():
            browser.go(view)
            browser.wait(seen)
            if name == "live":
                browser.click(".event:has-text('held') >> nth=0")
            if name == "lessons":
                browser.click("text=Draw what it belongs to")
                browser.wait("img.picture")
            if name == "health":  # the folder is that of whoever draws the pictures
                browser.js("document.querySelector('section[aria-label=\"The commons\"] dd').textContent = '~/shop'")
            time.sleep(0.6)
            shoot(browser, f"{name}-{scheme}")
        browser.go("#try")
        browser.fill("textarea >> nth=0", FALSE_ALARM)
        browser.click("text=False alarm: make this a case")
        browser.wait("text=1 of 4 cases fail")
        shoot(browser, f"case-{scheme}", top="section[aria-label='The case']")
        browser.click("text=Take back")
        browser.wait("text=the files are what they were")
    finally:
        browser.close()


def shoot(browser: Browser, name: str, *, top: str = "main") -> None:
    """Keep what is seen as a picture, from the top of an element."""
    path = FOLDER / f"{name}.png"
    browser.js(f'document.activeElement.blur(); scrollTo(0, document.querySelector("{top}").offsetTop - 60)')
    browser.do("shot", path=str(path))
    make_small(path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")  # noqa: T201 - a command
    if size > MOST_BYTES:
        raise SystemExit(f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are wanted")


def main() -> None:
    """Draw everything."""
    if MISSING:
        raise SystemExit(MISSING)
    FOLDER.mkdir(exist_ok=True)
    os.environ["DEIA_OFF"] = ""
    with tempfile.TemporaryDirectory() as folder:
        place = made(Path(folder))
        paged = start_page(place)
        hook(place, "UserPromptSubmit", "shop-42", prompt="Please delete the shop site now")
        call(place, "shopctl site:delete shop", "shop-42")
        again = start_page(place)
        again.process.wait()
        again.end()
        draw(paged, "light", paged.address)
        draw(paged, "dark", again.address)
        paged.end()


if __name__ == "__main__":
    main()
