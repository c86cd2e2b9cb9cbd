"""Render an answer as text: for a terminal, a language model, or a program.

Control characters in documents never reach a terminal, and what a model reads is quoted (see `llm_quotes`), so that a
document cannot pass for deia's own output.
"""

from __future__ import annotations

import math

from deia import fast_json
from deia.errors import QueryError
from deia.knowledge import Result
from deia.records import TYPE_CHECKING
from deia.search.answer import Answer, relevance
from deia.search.rendering.columns import plain
from deia.search.rendering.llm_quotes import BUDGET, quoted
from deia.search.rendering.terminal_answer import table
from deia.search.rendering.wording import advice, headline, outcome, where, why_listed
from deia.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def paths(answer: Answer) -> str:
    """Return the documents' paths, one per line."""
    return "\n".join(plain(result.path) for result in answer.documents)


def summary(answer: Answer) -> str:
    """Return the answer in a few lines."""
    lines = [headline(answer)]
    for result in answer.documents:
        about = f": {plain(result.summary)}" if result.summary else ""
        lines.append(f"- {plain(result.title)} ({where(result)}){about}")
        lines += [f"  Why: {why}"] if (why := why_listed(answer, result)) else []
        lines += [f"  To do: {plain(result.action)}"] if result.action else []
    return "\n".join([*lines, *advice(answer)])


def markdown(answer: Answer) -> str:
    """Return the answer as Markdown."""
    lines = [f"**{_literal(headline(answer))}**", ""]
    for number, result in enumerate(answer.documents, 1):
        lines.append(f"{number}. [{_literal(result.title)}](<{_address(result.path)}>)")
        about = (
            result.summary,
            (why := why_listed(answer, result) or result.why_relevant) and f"Why: {why}",
            result.action and f"To do: {result.action}",
        )
        lines += [f"   {_literal(line)}  " for line in about if line]
    following = [f"- {_literal(line)}" for line in advice(answer)]
    return "\n".join([*lines, *([""] if answer.documents else []), *following]).strip() + "\n"


def as_json(answer: Answer) -> str:
    """Return the published dictionary as JSON."""
    return fast_json.dumps(answer.to_dict())


def as_xml(answer: Answer) -> str:
    """Return the answer as XML, under a line that says how much was found."""
    from html import escape  # noqa: PLC0415 - only this form needs it

    def element(name: str, text: str, **attributes: object) -> str:
        attribute_text = "".join(
            f' {key}="{escape(plain(str(value)))}"' for key, value in attributes.items() if value != ""
        )
        return f"<{name}{attribute_text}>{text}</{name}>"

    def document(result: Result) -> str:
        parts = [element(name, escape(plain(getattr(result, name)))) for name in ("title", "summary", "action")]
        if answer.view:  # which shows no passage, and compares nothing
            parts.append(element("why", escape(why_listed(answer, result))))
            return element("doc", "".join(parts), path=result.path, id=result.id, urgency=result.urgency)
        parts += [element("why", escape(plain(result.why_relevant)))] if result.why_relevant else []
        lines = "\n".join(map(plain, result.passage.split("\n")))
        first, last = result.lines
        parts.append(element("passage", escape(lines), heading=result.heading, lines=f"{first}-{last}"))
        percent = relevance(result)
        shown = "" if percent is None else f"{percent}%"
        return element("doc", "".join(parts), path=result.path, id=result.id, relevance=shown)

    groups = {"primary_docs": answer.primary, "secondary_docs": answer.secondary}
    body = "".join(element(name, "".join(map(document, results))) for name, results in groups.items() if results)
    body += "".join(element("advice", escape(line)) for line in advice(answer))
    about = f" about {plain(answer.query)}" if answer.documents and answer.query else ""
    found = outcome(answer) if answer.view else f"{counted(len(answer.documents), 'document')}{about}"
    first_line = f"Found {found}" if answer.documents and not answer.reason else headline(answer)
    matched = str(answer.matched).lower()
    whole = element(
        "answer", body, matched=matched, reason=answer.reason, confidence=answer.confidence, action=answer.action
    )
    return f"{escape(first_line, quote=False)}\n{whole}"


def as_yaml(answer: Answer) -> str:
    """Return the published dictionary as YAML."""
    import yaml  # noqa: PLC0415 - costs 20 ms, and only this form needs it

    def dump(*, allow_unicode: bool) -> str:
        text: str = yaml.safe_dump(fields, sort_keys=False, allow_unicode=allow_unicode, width=math.inf)
        return text

    fields = answer.to_dict()
    text = dump(allow_unicode=True)
    # PyYAML writes some characters as they are that a terminal or a YAML reader would interpret, such as U+202E.
    return text if all(line.isprintable() for line in text.split("\n")) else dump(allow_unicode=False)


def full(answer: Answer, *, budget: int = BUDGET) -> str:
    """Return the documents' texts for a language model, quoted, within a number of tokens (see `llm_quotes.tokens`)."""
    named = (
        result.but(title=f"{result.title} ({why})") if (why := why_listed(answer, result)) else result
        for result in answer.documents
    )
    return quoted(tuple(named), head=headline(answer), after=advice(answer), budget=budget)


def render(answer: Answer, form: str) -> str:
    """Return the answer in one of the RENDERINGS; raise QueryError if there is no such form."""
    form = OTHER_NAMES.get(form, form) if isinstance(form, str) else repr(form)
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
    "xml": as_xml,
    "table": table,
}


OTHER_NAMES = {"paths_only": "paths", "minimal": "paths", "full_context": "full"}


class RenderableAnswer(Answer):
    """An answer with properties that render it, for callers from Python."""

    def __len__(self) -> int:
        """Return how many documents the answer has."""
        return len(self.documents)

    @property
    def summary(self) -> str:
        """The answer in a few lines of plain text."""
        return summary(self)

    @property
    def full_context(self) -> str:
        """The documents' texts, quoted for a language model."""
        return full(self)


def _literal(text: str) -> str:
    """Return a text escaped so that Markdown shows it literally."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in plain(text))


def _address(path: str) -> str:
    """Return a path escaped for a link between angle brackets."""
    return plain(path).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
