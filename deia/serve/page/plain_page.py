"""The page to read without JavaScript: the same views as whole pages, made here of the same replies.

No script adds a token to a header here, so the address holds the key of a session, which can only read. Nothing that
is shown links to another server, and no address is sent on, so the key stays in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from urllib.parse import parse_qsl, urlencode

from deia.errors import DeiaError
from deia.fast_json import Json
from deia.serve.page import asking, health_views, lesson_views, live_views, try_turn
from deia.serve.page.asked_values import Asked
from deia.serve.page.page_file import digest_of, inside
from deia.serve.server.desk import Desk

MOST_QUERY = 8_000  # bytes of an address's query
SHOWN_EVENTS = 200
OLD = "This address is too old, or was never one of this page. Type in a terminal: deia page --plain"
VOID = frozenset(("input", "meta"))  # elements that have no end
EVENT = ("ts", "event", "trigger", "outcome", "query", "because", "host")
STATE = ("version", "root", "documents", "passages", "vectors", "triggers", "tier", "behind", "encoding")


class Markup(str):
    """Text of a page that is markup already; any other text is escaped where it is put into markup."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` stands for `class`, `aria_label` for `aria-label`; what is None or "" is left out."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value not in (None, "")
    )
    return Markup(f"<{tag}{attribute_text}>" if tag in VOID else f"<{tag}{attribute_text}>{_inside(children)}</{tag}>")


def _inside(children: Sequence[object]) -> Markup:
    parts = [child if isinstance(child, Markup) else escape(str(child)) for child in children if child is not None]
    return Markup("".join(parts))


def joined(items: Sequence[Json], make: Callable[[Mapping[str, Json]], Markup]) -> Markup:
    """Return the markup that `make` returns for each item that is an object."""
    return _inside([make(item) for item in items if isinstance(item, Mapping)])


def table(rows: Json, columns: Sequence[str], *, linked: str = "") -> Markup:
    """Return a table of objects, if there are any; the first column leads to the view `linked` of what it names."""
    if not rows:
        return element("p", "None.", class_="soft")
    head = element("tr", *(element("th", column, scope="col") for column in columns))

    def row(item: Mapping[str, Json]) -> Markup:
        """Return the row of an object."""
        first, *others = (_written(item.get(column)) for column in columns)
        named = link(linked, first, id=first) if linked else first
        return element("tr", element("td", named), *(element("td", other) for other in others))

    return element("table", head, joined(_list(rows), row))


def link(view: str, shown: object, **asked: str) -> Markup:
    """Return a link to a view of this page."""
    return element("a", shown, href=f"{view}?{urlencode(asked, errors='replace')}" if asked else view)


def _written(value: Json) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, (list, tuple)) else ()


def _facts(values: Mapping[str, Json], names: Sequence[str]) -> Markup:
    pairs = [(name, _written(values.get(name))) for name in names]
    return element("dl", *(_inside([element("dt", name), element("dd", value)]) for name, value in pairs if value))


def _try(desk: Desk, asked: Asked) -> Markup:
    roles = [
        element("option", role, selected="selected" if role == asked.get("role") else None)
        for role in try_turn.SPEAKERS
    ]
    typed = str(asked.get("text", ""))
    form = element(
        "form",
        element("p", element("label", "Whose turn ", element("select", *roles, name="role"))),
        element("p", element("label", "Text", element("textarea", typed, name="text", rows="4", class_="wide"))),
        element("button", "Judge", class_="main"), action="try", method="get",
    )  # fmt: skip
    if not typed.strip():
        return form
    judged = try_turn.try_turn(desk, asked)
    return _inside([form, joined(_list(judged["verdicts"]), _verdict), _injection(judged), _silence(judged)])


def _verdict(verdict: Mapping[str, Json]) -> Markup:
    fires = verdict["stage"] == "fires"
    why = verdict.get("because") if fires else f"{verdict['stage']}: {verdict['detail']}"
    mark = element("span", "● speaks" if fires else "○ silent", class_=f"tag {'bad' if fires else 'good'}")
    head = element("h2", mark, " ", link("trigger", verdict["trigger"], id=str(verdict["trigger"])))
    return element("section", head, element("p", verdict["title"]), element("p", _written(why), class_="soft"))


def _injection(judged: Mapping[str, Json]) -> Markup | None:
    text = _written(judged["injection"])
    return _inside([element("h2", "What the model is told"), element("pre", text)]) if text else None


def _silence(judged: Mapping[str, Json]) -> Markup | None:
    return None if judged["verdicts"] else element("p", "deia stays silent: no trigger has all of its words here.")


def _ask(desk: Desk, asked: Asked) -> Markup:
    typed = str(asked.get("question", ""))
    field = element("label", "Question ", element("input", name="question", value=typed, class_="wide"))
    form = element("form", element("p", field), element("button", "Search", class_="main"), action="ask", method="get")
    if not typed.strip():
        return form
    answer = asking.ask(desk, asked)
    results = _list(answer["results"])
    summary = (
        f"{len(results)} documents, confidence {answer['confidence']}" if results else "Nothing here answers that."
    )
    return _inside([form, element("p", summary), element("p", _written(answer["reason"]), class_="soft"),
                    joined(results, _result)])  # fmt: skip


def _result(result: Mapping[str, Json]) -> Markup:
    return element(
        "section", element("h2", link("lesson", result["title"], id=str(result["id"]))),
        element("p", _written(result["why_relevant"]), class_="soft"), element("p", _written(result["summary"])),
        element("pre", _written(result["passage"])) if result["passage"] else None,
    )  # fmt: skip


def _lessons(desk: Desk, _asked: Asked) -> Markup:
    columns = ("id", "title", "urgency", "clusters", "triggers", "golden", "path")
    return table(lesson_views.overview(desk, {})["documents"], columns, linked="lesson")


def _triggers(desk: Desk, _asked: Asked) -> Markup:
    columns = ("id", "title", "urgency", "action", "fires", "silent", "path")
    return table(lesson_views.overview(desk, {})["triggers"], columns, linked="trigger")


def _lesson(desk: Desk, asked: Asked) -> Markup:
    shown = lesson_views.lesson(desk, asked)
    return _inside([
        element("h2", _written(shown["title"])),
        _facts(shown, ("id", "path", "urgency", "updated", "verified", "superseded_by", "golden", "paths")),
        element("h3", "Triggers"), table(shown["triggers"], ("id", "title", "action"), linked="trigger"),
        element("h3", "Text"), element("pre", _written(shown["text"])),
    ])  # fmt: skip


def _trigger(desk: Desk, asked: Asked) -> Markup:
    shown = lesson_views.trigger_view(desk, asked)
    documents = [link("lesson", document, id=str(document)) for document in _list(shown["documents"])]
    return _inside([
        element("h2", _written(shown["title"])),
        _facts(shown, ("id", "path", "line", "urgency", "action", "status", "origin", "message")),
        element("p", "Documents: ", *documents), element("pre", _written(shown["source"])) if shown["source"] else None,
        element("h3", "Cases"), table(shown["cases"], ("text", "fires", "holds", "stage", "path", "line")),
    ])  # fmt: skip


def _log(desk: Desk, _asked: Asked) -> Markup:
    events = _list(live_views.recent(desk, {"last": SHOWN_EVENTS})["events"])
    return table([*reversed(events)], EVENT) if events else element("p", "The log is empty.")


def _health(desk: Desk, _asked: Asked) -> Markup:
    state = health_views.state(desk, {})
    sound = "Everything that answers come from is sound." if state["valid"] else "Something is wrong:"
    return _inside([
        element("p", sound), table(state["findings"], ("text", "fix")) if state["findings"] else None,
        _facts(state, STATE),
        element("h2", "Hosts"), table(state["hosts"], ("title", "installed", "problems")),
        element("h2", "Sources"), table(state["sources"], ("name", "kind", "status")),
    ])  # fmt: skip


VIEWS: Mapping[str, tuple[str, Callable[[Desk, Asked], Markup]]] = {
    "try": ("Try", _try), "ask": ("Ask", _ask), "lessons": ("Lessons", _lessons), "triggers": ("Triggers", _triggers),
    "log": ("Log", _log), "health": ("Health", _health),
    "lesson": ("Lesson", _lesson), "trigger": ("Trigger", _trigger),
}  # fmt: skip
LISTED = ("try", "ask", "lessons", "triggers", "log", "health")


def read_query(query: bytes) -> dict[str, str]:
    """Return the values in an address; if one is given twice, the last counts."""
    return dict(parse_qsl(query[:MOST_QUERY].decode("latin-1"), keep_blank_values=True))


def shown_view(desk: Desk, view: str, asked: Asked) -> tuple[int, bytes]:
    """Return the status and the page of a view; an error in the request is shown on the page."""
    title, make = VIEWS[view]
    try:
        return 200, page_of(view, title, make(desk, asked))
    except DeiaError as error:
        wrong = _inside([element("p", error.message), element("p", error.fix)])
        return 400, page_of(view, title, element("div", wrong, class_="note bad", role="alert"))


def refusal() -> bytes:
    """Return the page for an address that has no session."""
    return page_of("", "Not signed in", element("p", OLD))


def page_of(view: str, title: str, content: Markup) -> bytes:
    """Return a whole page: a view, or a message in place of one, with links to the views."""
    nav = [
        element("a", VIEWS[linked_view][0], href=linked_view, aria_current="page" if linked_view == view else None)
        for linked_view in (LISTED if view else ())
    ]
    head = _inside([
        element("meta", charset="utf-8"), element("meta", name="viewport", content="width=device-width"),
        element("meta", name="color-scheme", content="light dark"), element("title", f"deia: {title}"),
        element("style", Markup(inside("style").decode())),
    ])  # fmt: skip
    body = _inside([
        element("header", element("div", element("b", "deia"), element("nav", *nav, aria_label="Views"))),
        element("main", element("h1", title), element("div", content, class_="card")),
    ])  # fmt: skip
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'.encode("utf-8", "replace")


@cache
def policy() -> bytes:
    """Return the content security policy: no script, nothing from elsewhere, and the page's own style by digest."""
    return (
        f"default-src 'none'; style-src '{digest_of('style')}'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ).encode()
