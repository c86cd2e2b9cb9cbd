"""Measure the page in headless Chromium: first paint, bytes, a verdict after a keystroke, scrolling a long log, others.

    python3 do.py page && .venv/bin/python bench/page.py [--triggers 10000] [--events 100000] [--rounds 40]

The commons is generated. A verdict is timed in the browser, from the event of the key to the changed text; the server's
own time stands beside it. While a list of all events is scrolled from the top to the end, each frame is timed. What
hooks cost is measured with no page, with one that follows the log, and while somebody types thirty keys a second,
interleaved in blocks. Bare requests stand beside the figures, since a busy machine changes both.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from synthetic import make_commons
from timing import percentile

from deia.compile.compiler import compile_commons
from deia.folders import events_folder
from deia.serve.page.page_file import html
from deia.serve.page.sign_in import make_once
from tests.serve.page.conftest import MISSING, Browser, Paged, start_page
from tests.serve.server.conftest import Place, settled

QUIET = "Please look at the failing checks in the parser module and write down what you would change first."
SENTENCE = "I will delete the production database of the shop now and then push"
TYPE = """(async () => {
  const typed = document.querySelector('textarea'), seen = [], own = [], floor = [];
  const cards = [...document.querySelectorAll('section.card')];
  const card = cards.find(one => one.querySelector('h2')?.textContent === 'Verdict');
  for (let at = 1; at <= %d; at++) {
    const text = %s.slice(0, 20 + at %% 40) + ' '.repeat(at %% 2);
    const shown = new Promise(done => new MutationObserver((_, watch) => { watch.disconnect(); done(); })
      .observe(card, {childList: true, subtree: true}));
    const began = performance.now();
    typed.value = text;
    typed.dispatchEvent(new Event('input'));
    await shown;
    seen.push(performance.now() - began);
    const cost = [...document.querySelectorAll('span')].find(one => / ms$/.test(one.textContent));
    own.push(parseFloat(cost?.textContent ?? '0'));
    const asked = performance.now();
    await (await fetch('/health')).json();
    floor.push(performance.now() - asked);
  }
  return {seen, own, floor};
})()"""
SCROLL = """(async () => {
  const list = document.querySelector('.list'), frames = [], step = list.scrollHeight / %d;
  let before = await new Promise(requestAnimationFrame);
  for (let at = 0; at < %d; at++) {
    list.scrollTop = at * step;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return {frames, height: list.scrollHeight};
})()"""
DAYS = 50  # over which the events are spread
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def line(name: str, values: list[float], budget: str = "") -> None:
    """Print the median and the 95th percentile of some times in ms."""
    told = f"  budget {budget}" if budget else ""
    print(f"{name:44} p50 {statistics.median(values):7.2f} ms  p95 {percentile(values, 0.95):7.2f} ms{told}")


def made(folder: Path, triggers: int, events: int) -> Place:
    """Write and compile the commons and its log."""
    make_commons(folder / "work place", triggers=triggers)
    (folder / "home").mkdir()
    place = settled(folder)
    compile_commons(str(place.root), environ=place.environ)
    logs = events_folder(str(place.root), place.environ, trusted=True)
    Path(logs).mkdir(parents=True, exist_ok=True)
    each = max(1, events // DAYS)
    for day in range(-(-events // each)):
        with open(f"{logs}/2026-{day // 28 + 1:02}-{day % 28 + 1:02}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(_event(number, day) for number in range(day * each, min(events, (day + 1) * each)))
    return place


def _event(number: int, day: int) -> str:
    at = f"2026-{day // 28 + 1:02}-{day % 28 + 1:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    because = f'phrase "delete the site {number}" in user turn 1'
    fields = {"event": "injection", "trigger": f"trigger-{number % 900}", "outcome": "shown", "because": because}
    return json.dumps({"ts": at, "v": 1, "id": f"{number:x}-1-1", "conversation": f"c{number % 50}", **fields}) + "\n"


def paint(browser: Browser, paged: Paged, rounds: int) -> None:
    """Print how long the first paint takes."""
    browser.open(paged.address)
    time.sleep(3)  # in which the server reads what verdicts need
    taken: dict[str, list[float]] = {"/health": [], "/page": []}
    for _ in range(rounds):
        for path, values in taken.items():
            browser.do("goto", url=f"{paged.origin}{path}")
            browser.until(lambda: browser.js(PAINT) is not None)
            values.append(float(browser.js(PAINT)))
    print(f"{'bytes in all':44} {len(html()):,}  budget 80,000")
    line("first paint of the page", taken["/page"], "100 ms")
    line("first paint of 60 bytes of JSON, the floor", taken["/health"])


def sign_in(browser: Browser, paged: Paged) -> None:
    """Open the page with a session: one that is opened anew has none."""
    browser.open(f"{paged.origin}/page#once={make_once(paged.place.environ['DEIA_STATE'])}")


def verdicts(browser: Browser, rounds: int) -> None:
    """Print how long a verdict takes after a key."""
    browser.go("#try")
    browser.js(TYPE % (10, json.dumps(SENTENCE)))
    taken: dict[str, Any] = browser.js(TYPE % (rounds * 5, json.dumps(SENTENCE)))
    line("a verdict after a key, in the browser", taken["seen"], "20 ms")
    line("  of it, judging in the server", taken["own"])
    line("a request of the browser that asks nothing", taken["floor"])


def scrolling(browser: Browser, events: int) -> None:
    """Print how long the events take to load, and each frame while they are scrolled."""
    browser.go("#live")
    browser.wait(".event")
    began = time.perf_counter()
    while int(browser.js("Math.round(document.querySelector('.space').offsetHeight / 46)")) < events:
        browser.js("{const list = document.querySelector('.list'); list.scrollTop = list.scrollHeight}")
        time.sleep(0.05)
    print(f"{f'{events:,} events, loaded by scrolling on':44} {time.perf_counter() - began:.1f} s")
    frames = browser.js(SCROLL % (300, 300))["frames"][5:]
    line(f"a frame while {events:,} events are scrolled", frames, "smooth: 16.7 ms")
    print(f"{'frames of more than 34 ms':44} {sum(frame > 34 for frame in frames)} of {len(frames)}")


def others(browser: Browser, paged: Paged, rounds: int) -> None:
    """Print what a quiet hook event costs: with no page, with one that follows the log, and while somebody types."""
    port = int(paged.origin.rpartition(":")[2])
    taken: dict[str, list[float]] = {"no page": [], "a page that follows the log": [], "somebody typing": []}
    for number in range(rounds):
        for kind, values in taken.items():
            if kind == "no page":
                browser.do("goto", url="about:blank")
            else:
                sign_in(browser, paged)
                browser.go("#live")
            time.sleep(2)  # until it has loaded
            ended = threading.Event()
            typist = threading.Thread(target=_ask_on, args=(paged, ended))
            if kind == "somebody typing":
                typist.start()
            values += [_hook(port, paged, f"{kind}-{number}-{one}") for one in range(20)]
            ended.set()
            if typist.is_alive():
                typist.join()
    for kind, values in taken.items():
        line(f"a quiet hook event, {kind}", values)


def _ask_on(paged: Paged, ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        number += 1
        paged.ask("try", text=SENTENCE[: 20 + number % 40])
        time.sleep(0.03)  # a quick typist


def _hook(port: int, paged: Paged, session: str) -> float:
    told = {"session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": str(paged.place.root), "prompt": QUIET}
    wire = http.client.HTTPConnection("127.0.0.1", port)
    began = time.perf_counter()
    wire.request("POST", "/hooks/claude-code", json.dumps(told).encode())
    wire.getresponse().read()
    taken = (time.perf_counter() - began) * 1000
    wire.close()
    return taken


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triggers", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    if MISSING:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as folder:
        place = made(Path(folder), given.triggers, given.events)
        print(f"{given.triggers:,} triggers, {given.events:,} events, {os.cpu_count()} processors")
        paged = start_page(place)
        browser = Browser(paged.origin)
        try:
            paint(browser, paged, given.rounds)
            sign_in(browser, paged)
            verdicts(browser, given.rounds)
            scrolling(browser, given.events)
            again = start_page(place)
            again.process.wait()
            others(browser, again.sign_in(), given.rounds // 2)
            again.end()
        finally:
            browser.close()
            paged.end()


if __name__ == "__main__":
    main()
