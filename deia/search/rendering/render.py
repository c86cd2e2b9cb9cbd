"""An answer as text: for a terminal, for a language model, for a program.

It refuses to let a document's text pass for deia's own: control characters never reach a terminal, and what a model is
given is quoted (see `quoting`).
"""

from __future__ import annotations

from deia import fast_json
from deia.errors import QueryError
from deia.records import TYPE_CHECKING
from deia.search.answer import Answer
from deia.search.rendering.columns import plain
from deia.search.rendering.llm_quotes import BUDGET, quoted
from deia.search.rendering.terminal_answer import table
from deia.search.rendering.wording import advice, headline, where
from deia.search.rendering.yaml_text import yaml_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def paths(answer: Answer) -> str:
    """Give the documents' paths, one a line."""
    return "\n".join(plain(result.path) for result in answer.documents)


def summary(answer: Answer) -> str:
    """Give the answer in a few lines."""
    lines = [headline(answer)]
    for result in answer.documents:
        about = f": {plain(result.summary)}" if result.summary else ""
        lines.append(f"- {plain(result.title)} ({where(result)}){about}")
        lines += [f"  To do: {plain(result.action)}"] if result.action else []
    return "\n".join([*lines, *advice(answer)])


def markdown(answer: Answer) -> str:
    """Give the answer as Markdown."""
    lines = [f"**{_literal(headline(answer))}**", ""]
    for number, result in enumerate(answer.documents, 1):
        lines.append(f"{number}. [{_literal(result.title)}](<{_address(result.path)}>)")
        told = (
            result.summary,
            result.why_relevant and f"Why: {result.why_relevant}",
            result.action and f"To do: {result.action}",
        )
        lines += [f"   {_literal(line)}  " for line in told if line]
    following = [f"- {_literal(line)}" for line in advice(answer)]
    return "\n".join([*lines, *([""] if answer.documents else []), *following]).strip() + "\n"


def as_json(answer: Answer) -> str:
    """Give the published dictionary as JSON."""
    return fast_json.dumps(answer.to_dict())


def as_yaml(answer: Answer) -> str:
    """Give the published dictionary as YAML."""
    return yaml_text(answer.to_dict())


def full(answer: Answer, *, budget: int = BUDGET) -> str:
    """Give the documents' texts for a language model, quoted, within a number of tokens (see `quoting.tokens`)."""
    return quoted(tuple(answer.documents), head=headline(answer), after=advice(answer), budget=budget)


def render(answer: Answer, form: str) -> str:
    """Give the answer in one of the RENDERINGS.

    Raises:
        QueryError: there is no such form.
    """
    if form not in RENDERINGS:
        raise QueryError(f"there is no form {plain(form)!r}", fix=f"Use one of: {', '.join(RENDERINGS)}.")
    return RENDERINGS[form](answer)


RENDERINGS: Mapping[str, Callable[[Answer], str]] = {
    "paths": paths,
    "summary": summary,
    "full": full,
    "markdown": markdown,
    "json": as_json,
    "yaml": as_yaml,
    "table": table,
}


class RenderableAnswer(Answer):
    """An answer that renders itself: what people who ask in Python are given."""

    @property
    def summary(self) -> str:
        """The answer in a few lines of plain text."""
        return summary(self)

    @property
    def full_context(self) -> str:
        """The documents' texts, quoted for a language model."""
        return full(self)


def _literal(text: str) -> str:
    """Give a text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in plain(text))


def _address(path: str) -> str:
    """Give a path for a link between angle brackets."""
    return plain(path).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
