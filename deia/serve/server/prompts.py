"""Prompts that a person may choose: what is known about a task, from a mistake to a lesson, the review of a plan.

Each adds what the commons knows to a request. The text of documents is quoted, never presented as the person's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deia.errors import QueryError
from deia.records import Record
from deia.search.rendering.render import full
from deia.serve.server.desk import Desk
from deia.serve.server.read_tools import check_conversation, suggest
from deia.watch.clauses.folder_signs import SIGNS, signs_around

MOST = 20_000  # characters of an argument
SEARCHED = 400  # characters of a plan with which documents are searched


class Parameter(Record):
    """A parameter of a prompt."""

    name: str
    description: str
    required: bool = True


class Prompt(Record):
    """A prompt: what it is for, its parameters, and the function that writes its text."""

    description: str
    parameters: tuple[Parameter, ...]
    write: Callable[[Desk, Mapping[str, str]], str]


def prompt_text(desk: Desk, name: str, values: Mapping[str, str] | None) -> str:
    """Return the text of a prompt; raise QueryError if there is no such prompt, or its arguments are wrong."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise QueryError(f"there is no prompt {name[:100]!r}", fix=f"Known are: {', '.join(PROMPTS)}.")
    arguments = {key: value[:MOST] for key, value in (values or {}).items() if value.strip()}
    known = [parameter.name for parameter in prompt.parameters]
    problems = [
        f"{parameter.name} is missing"
        for parameter in prompt.parameters
        if parameter.required and parameter.name not in arguments
    ]
    problems += [f"there is no parameter {key[:60]!r}" for key in arguments if key not in known]
    if problems:
        raise QueryError(f"{name}: {'; '.join(problems)}.", fix=f"The parameters are: {', '.join(known)}.")
    return prompt.write(desk, arguments)


def _before_you_start(desk: Desk, arguments: Mapping[str, str]) -> str:
    task = arguments["task"]
    find = signs_around(arguments.get("folder", desk.folder))
    signs = [name for name in SIGNS if find([name])]
    known = full(desk.librarian.query(task, limit=5))
    firings = _context_of(desk, f"User: {task}")
    folder = f"\n\nThe folder shows: {', '.join(signs)}." if signs else ""
    return (
        f"I am about to start on this:\n\n{task}{folder}\n\nBelow is what the team's commons knows that may bear on it."
        " Tell me in a few lines what of it matters here, what to check before the first change, and what you would do"
        f" differently because of it. If nothing applies, say so.\n\n{known}{firings}"
    )


def _write_a_lesson(desk: Desk, arguments: Mapping[str, str]) -> str:
    mistake = arguments["mistake"]
    return (
        f"This went wrong:\n\n{mistake}\n\nWrite it down as a lesson of at most 60 lines: what was done, what happened,"
        " why, how to notice it in time, and what to do instead, with the exact commands and messages."
        " Leave out names of people and anything secret. Show it to me first; then save it with save_lesson, with the"
        " words that people would search for as keywords.\n\nWhere it belongs, judging by the existing documents:\n"
        f"{suggest(desk, mistake).text}"
    )


def _review_plan(desk: Desk, arguments: Mapping[str, str]) -> str:
    plan = arguments["plan"]
    firings = _context_of(desk, f"Assistant: {plan}") or "\n\nNo trigger of the commons fires on it."
    known = full(desk.librarian.query(" ".join(plan.split())[:SEARCHED], limit=4))
    return (
        f"Review this plan:\n\n{plan}\n\nGo step by step. For each step say whether it repeats a known mistake, judging"
        " by what is below, and what has to be checked or saved before it. Say plainly what cannot be undone."
        f"{firings}\n\n{known}"
    )


def _context_of(desk: Desk, turn: str) -> str:
    """Return the text about what fires on a turn, after an empty line."""
    context = check_conversation(desk, [turn])[1]
    return f"\n\n{context}" if context else ""


PROMPTS: Mapping[str, Prompt] = {
    "before-you-start": Prompt(
        description="What the commons knows about a task, before the first change.",
        parameters=(
            Parameter(name="task", description="What is to be done."),
            Parameter(name="folder", description="Where; by default the server's folder.", required=False),
        ),
        write=_before_you_start,
    ),
    "write-a-lesson": Prompt(
        description="From a mistake to a document.",
        parameters=(Parameter(name="mistake", description="What happened."),),
        write=_write_a_lesson,
    ),
    "review-plan": Prompt(
        description="Compare a plan with the known mistakes.",
        parameters=(Parameter(name="plan", description="The plan."),),
        write=_review_plan,
    ),
}
