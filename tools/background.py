"""Remake the background that thresholds of `meaning` clauses are measured against: ordinary talk, as bags of words.

    python -m tools.background TEXTS [--out deia/models]

TEXTS holds unpacked documentation packages, each in a folder `package_version`. Of each sentence only the words that
carry meaning are kept, sorted, so that no text is shipped; packages under a copyleft licence and dictionaries are left
out. A third is made by a small grammar of what agents say before they do something harmless. The same seed and texts
give the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path
from typing import Any

from deia.text import words
from deia.watch.clauses.similarity import WORDS_AFTER, WORDS_BEFORE, content_words
from tools import static_texts

FILE = "background.txt"
FROM_TEXTS, FROM_GRAMMAR = 2_800, 1_200
LEFT_OUT = ("git-doc", "wordnet-base")  # GPL-2.0; no talk of anybody
WINDOW = WORDS_BEFORE + 1 + WORDS_AFTER  # what the watcher compares
FEWEST = 3  # words that carry meaning

FRAMES = (
    "let me {verb} {thing}", "I'll {verb} {thing} first", "now I'll {verb} {thing} and {verb} {other}",
    "next I'm going to {verb} {thing}", "please {verb} {thing}", "can you {verb} {thing} and tell me what you find",
    "I'm {doing} {thing} to see how {other} is used", "{doing} {thing} while {other} is being built",
    "the plan is to {verb} {thing}, then {verb} {other}", "could you {verb} {thing} {where}",
    "I need to {verb} {thing} before we talk about {other}", "we should {verb} {thing} {where}",
    "I want to {verb} {thing} so that {other} is easier to read", "good, now {verb} {thing}",
    "before I touch {other} I'll {verb} {thing}", "so I'll {verb} {thing} {where} and compare it with {other}",
    "that works; I'll {verb} {thing} as well", "I'm about to {verb} {thing} {where}",
)  # fmt: skip
# Acts that nobody has to be warned about, and what they are done to besides what the rest of the tools names.
HARMLESS = (
    "read,open,look at,check,review,inspect,list,search,explain,describe,summarise,document,compare,count,measure,"
    "profile,test,try,validate,verify,print,log,trace,debug,find,locate,sketch,draft,outline,format,lint,add,create,"
    "write,extend,refactor,tidy,simplify,split,name,annotate,translate,import,wire up,render,mock,stub,cover,rerun,"
    "build,install,configure,connect to,query,fetch,download,back up,copy,save,watch,monitor,wait for,schedule,plan,"
    "discuss,ask about,fix,improve,update,handle,support,implement,sort,filter,group,parse,load,cache,store"
).split(",")
ORDINARY = (
    "the parser,the failing assertion,the new endpoint,the settings page,the type hints,the error message,"
    "the login form,the table of contents,the release notes,the retry loop,the date picker,the unit tests,"
    "the integration tests,the API client,the route handler,the helper function,the base class,the README,"
    "the changelog,the benchmark,the stack trace,the log output,the request body,the response headers,the schema,"
    "the query plan,the component,the style sheet,the dark mode,the sidebar,the search box,the upload form,"
    "the pagination,the export button,the invoice template,the report,the chart,the notebook,the training script,"
    "the data loader,the config parser,the command line,the help text,the exit code,the thread pool,the event loop,"
    "the message format,the webhook handler,the permission model,the review comments,the open issues,the design"
).split(",")


def said(count: int, chance: random.Random) -> list[str]:
    """Give sentences in which somebody announces or asks for something harmless."""
    things = [*static_texts.THINGS, *ORDINARY]
    found = dict[str, None]()
    while len(found) < count:
        verb, other = chance.choice(HARMLESS), chance.choice(HARMLESS)
        text = chance.choice(FRAMES).replace("{verb}", verb, 1).replace("{verb}", other)
        doing = f"{verb.partition(' ')[0].removesuffix('e')}ing {verb.partition(' ')[2]}".strip()
        found[text.format(
            doing=doing, thing=chance.choice(things), other=chance.choice(things),
            where=chance.choice(static_texts.WHERE),
        )] = None  # fmt: skip
    return list(found)


def bag(text: str, chance: random.Random) -> str:
    """Give the words that carry meaning of a piece as long as the watcher compares, sorted; "" where there are few."""
    found = words(text)
    start = chance.randrange(max(1, len(found) - WINDOW + 1))
    kept = content_words(found[start : start + WINDOW])
    return " ".join(sorted(kept)) if len(kept) >= FEWEST else ""


def gather(folder: Path, chance: random.Random) -> tuple[list[str], list[dict[str, Any]]]:
    """Give as many sentences of each package as of any other, and what was taken from where."""
    places = [one for one in sorted(folder.iterdir()) if static_texts.package_of(one.name)[0] not in LEFT_OUT]
    most = -(-FROM_TEXTS // len(places))
    taken, sources = [], []
    for place in places:
        package, version = static_texts.package_of(place.name)
        found = static_texts.sentences(place)
        chosen = chance.sample(found, min(most, len(found)))
        taken += chosen
        licence = static_texts.LICENCES[package]
        sources.append({"package": package, "version": version, "licence": licence, "sentences": len(chosen)})
    return taken, sources


def main() -> None:
    """Read, sample, sort, write, and say how much it came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--out", type=Path, default=Path("deia/models"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - to be repeated, not to be secret
    texts, sources = gather(options.texts, chance)
    made = said(FROM_GRAMMAR, chance)
    bags = sorted({found for text in (*texts, *made) if (found := bag(text, chance))})
    data = ("\n".join(bags) + "\n").encode()
    (options.out / FILE).write_bytes(data)
    about = {
        "made_by": "tools/background.py", "seed": options.seed, "bags": len(bags),
        "sha256": hashlib.sha256(data).hexdigest(), "grammar": len(made), "texts": sources,
    }  # fmt: skip
    (options.out / "background.provenance.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    print(f"{options.out / FILE}: {len(data):,} bytes, {len(bags):,} bags of words")


if __name__ == "__main__":
    main()
