"""Prompts that a person may choose: what is known before a task, from a mistake to a lesson, a plan looked through.

Each puts what the commons knows below a request. What documents say is quoted, never given as the person's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deia.errors import QueryError
from deia.records import Record
from deia.search.rendering.render import full
from deia.serve.server.desk import Desk
from deia.serve.server.read_tools import judged, suggest
from deia.watch.clauses.folder_signs import SIGNS, signs_around

MOST = 20_000  # characters of what a person hands in
SHOWN = 400  # characters of it that a message repeats


class Prompt(Record):
    """A prompt: what it is for, what it takes, and what it says then."""

    about: str
    takes: tuple[tuple[str, str, bool], ...]  # name, what it is, whether it is needed
    says: Callable[[Desk, Mapping[str, str]], str]


def say(desk: Desk, name: str, given: Mapping[str, str] | None) -> str:
    """Give a prompt's text.

    Raises:
        QueryError: there is none of this name, or what it needs is missing.
    """
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise QueryError(f"there is no prompt {name[:100]!r}", fix=f"There are: {', '.join(PROMPTS)}.")
    arguments = {key: value[:MOST] for key, value in (given or {}).items() if value.strip()}
    known = [key for key, _, _ in prompt.takes]
    missing = [key for key, _, needed in prompt.takes if needed and key not in arguments]
    foreign = [key[:60] for key in arguments if key not in known]
    if missing or foreign:
        wrong = [f"{key} is missing" for key in missing] + [f"there is no argument {key!r}" for key in foreign]
        raise QueryError(f"{name}: {'; '.join(wrong)}.", fix=f"It takes: {', '.join(known)}.")
    return prompt.says(desk, arguments)


def _before_you_start(desk: Desk, given: Mapping[str, str]) -> str:
    task, folder = given["task"], given.get("folder", desk.folder)
    find = signs_around(folder)
    signs = [name for name in SIGNS if find([name])]
    known = full(desk.librarian.query(task, limit=5))
    fired = _fired(desk, [f"User: {task}"])
    around = f"\n\nThe folder shows: {', '.join(signs)}." if signs else ""
    return (
        f"I am about to start on this:\n\n{task}{around}\n\nBelow is what the team's commons knows that may bear on it."
        " Tell me in a few lines what of it matters here, what to check before the first change, and what you would do"
        f" differently because of it. Where nothing fits, say so.\n\n{known}{fired}"
    )


def _write_a_lesson(desk: Desk, given: Mapping[str, str]) -> str:
    mistake: dict[str, Any] = {"text": given["mistake"]}
    place = suggest(desk, mistake).text
    return (
        f"This went wrong:\n\n{given['mistake']}\n\nWrite it down as a lesson of at most 60 lines: what was done, what"
        " it came to, why, how it is noticed in time, and what to do instead, with the exact commands and messages."
        " Leave out names of people and anything secret. Show it to me first; then save it with save_lesson, with the"
        f" words that people would search for as keywords.\n\nWhere it belongs, by what there is already:\n{place}"
    )


def _review_plan(desk: Desk, given: Mapping[str, str]) -> str:
    plan = given["plan"]
    fired = _fired(desk, [f"Assistant: {plan}"])
    known = full(desk.librarian.query(" ".join(plan.split())[:SHOWN], limit=4))
    verdict = fired or "\n\nNo trigger of the commons fires on it."
    return (
        f"Look through this plan:\n\n{plan}\n\nGo step by step. For each step say whether a known mistake is in it, by"
        " what is below, and what has to be checked or saved before it. Say plainly what cannot be undone."
        f"{verdict}\n\n{known}"
    )


def _fired(desk: Desk, conversation: list[str]) -> str:
    context = judged(desk, conversation)[1]
    return f"\n\n{context}" if context else ""


PROMPTS: Mapping[str, Prompt] = {
    "before-you-start": Prompt(
        about="What the commons knows about a task, before the first change.",
        takes=(("task", "What is to be done.", True), ("folder", "Where; by default the server's folder.", False)),
        says=_before_you_start,
    ),
    "write-a-lesson": Prompt(
        about="From a mistake to a document.",
        takes=(("mistake", "What happened.", True),),
        says=_write_a_lesson,
    ),
    "review-plan": Prompt(
        about="A plan held against the known mistakes.",
        takes=(("plan", "The plan.", True),),
        says=_review_plan,
    ),
}
