"""An answer for a person at a terminal: what was found, where, why, the lines that tell it, and what to do next.

Styled by itself, since a library for it would cost several times what the whole search does. Documents are untrusted:
what comes from them is made printable before it is styled, so that the only codes a terminal sees are those written
here. It refuses to look at the environment: how wide, whether in colour and where a path leads is told to it.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.search.rendering.columns import columns, cut, plain, wrap
from deia.search.rendering.excerpt import Marker, telling_rows
from deia.search.rendering.wording import CLUSTERS, found, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from deia.knowledge import Result
    from deia.search.answer import Answer

WIDTH = 100
NARROWEST = 40
WIDEST = 110  # longer lines are hard to read
ROWS = 3  # of a passage, for a document that answers
BADGE = 10  # columns of an urgency
STYLES = {
    "title": "1", "found": "1;35", "where": "36", "quiet": "2", "do": "32", "note": "33",
    "critical": "1;97;41", "high": "1;31", "medium": "33", "low": "2",
    "sure": "1;32", "likely": "1;33", "unsure": "1;31",
}  # fmt: skip
CONFIDENCE = {"high": "sure", "medium": "likely", "low": "unsure"}
PLAINER = str.maketrans({"│": "|", "→": ">", "·": "-", "─": "-", "…": "~"})  # where a terminal has only ASCII


class Look(Record):
    """What a terminal can show."""

    width: int = WIDTH
    colour: bool = False
    symbols: bool = True  # whether it has more than ASCII for our own signs
    link: Callable[[str], str] | None = None  # a document's path to the address that opens it


def table(answer: Answer, *, look: Look | None = None) -> str:
    """Give an answer for a terminal."""
    page = _Page(answer, look or Look())
    return "\n".join((*page.headline(), *page.documents(), *page.following()))


class _Page:
    """One answer being set: the words to mark in it, and how to write."""

    def __init__(self, answer: Answer, look: Look) -> None:
        asked = [*answer.keywords_matched, *(word for each in answer.documents for word in each.keywords_matched)]
        self._answer = answer
        self._look = look
        self._width = min(max(look.width, NARROWEST), WIDEST)
        self._marker = Marker(dict.fromkeys(asked))
        self._margin = 2 + len(str(len(answer.documents)))  # the columns before a title

    # --- parts ---

    def headline(self) -> Iterator[str]:
        """Say what was found, how sure that is, and what was made of the question."""
        answer = self._answer
        said = [(found(answer), "title")]
        if answer.documents and not answer.view:
            said.append((f"confidence {answer.confidence}", CONFIDENCE.get(answer.confidence, "")))
            said += [(plain(answer.primary_cluster), "quiet")] if answer.primary_cluster else []
            said.append((f"{plain(answer.audit.tier)} tier", "quiet"))
        yield from self._joined(said)
        for warning in answer.audit.warnings:
            yield from self._rows(f"{warning}.", style="note")

    def documents(self) -> Iterator[str]:
        """Give the documents: those that answer at length, those near it and those of an overview in short."""
        answer = self._answer
        for number, result in enumerate(answer.documents, 1):
            at_length = number <= len(answer.primary) and not answer.view
            if number == len(answer.primary) + 1:
                yield from ("", self._painted("── near it " + "─" * (self._width - 11), "quiet"))
            elif at_length or number == 1:
                yield ""
            yield from self._title(number, result)
            yield from self._at_length(result) if at_length else self._in_short(result)

    def following(self) -> Iterator[str]:
        """Say what to read, to do and to ask next."""
        answer = self._answer
        shown = {result.action for result in answer.primary}
        groups: Sequence[tuple[str, Sequence[str]]] = (
            ("try", answer.suggestions),
            ("asked", [similar.query for similar in answer.similar_queries]),
            ("clusters", [", ".join(answer.available_clusters[:CLUSTERS])] if answer.available_clusters else []),
            ("learn", self._learning()),
            ("tips", [tip for tip in answer.view.get("quick_tips", ()) if isinstance(tip, str)]),
            ("next", [line for line in answer.suggested_next if line not in shown]),
            ("related", answer.related_queries),
        )
        margin = max((len(name) + 2 for name, lines in groups if lines), default=0)
        yield from [""] if margin else []
        for name, lines in groups:
            for at, line in enumerate(lines):
                lead = self._painted((name if at == 0 else "").ljust(margin), "quiet")
                yield from self._rows(line, margin=margin, lead=lead)

    def _learning(self) -> list[str]:
        """Give what to read first, second, third, each with why."""
        titles = {result.id: result.title for result in self._answer.documents}
        path = [ident for ident in self._answer.view.get("learning_path", ()) if ident in titles]
        reasons = self._answer.view.get("learning_reasons", {})
        told = (f"{titles[ident]}: {reasons[ident]}" if ident in reasons else titles[ident] for ident in path)
        return [f"{number}. {line}" for number, line in enumerate(told, 1)]

    # --- a document ---

    def _title(self, number: int, result: Result) -> Iterator[str]:
        urgency = cut(plain(result.urgency), BADGE)
        badge = f" {urgency.upper()} " if urgency == "critical" else urgency
        room = self._width - self._margin - (columns(badge) + 2 if badge else 0)
        first, *more = [*wrap(plain(result.title), room)] or [cut(plain(result.id), room)]
        gap = " " * (self._width - self._margin - columns(first) - columns(badge)) if badge else ""
        yield (
            self._painted(str(number).rjust(self._margin - 2), "quiet")
            + f"  {self._marked(first, 'title')}{gap}{self._painted(badge, urgency)}"
        )
        yield from (" " * self._margin + self._marked(row, "title") for row in more)
        address = self._look.link(result.path) if self._look.link else ""
        for row in wrap(where(result), self._width - self._margin):
            yield " " * self._margin + self._linked(self._painted(row, "where"), address)

    def _at_length(self, result: Result) -> Iterator[str]:
        for row in wrap(plain(result.why_relevant), self._width - self._margin):
            yield " " * self._margin + self._marked(row, "quiet")
        bar = self._painted("│ ", "quiet")
        for row in telling_rows(result.passage, self._marker, room=self._width - self._margin - 2, most=ROWS):
            yield f"{' ' * self._margin}{bar}{self._marked(row)}"
        lead = f"{' ' * self._margin}{self._painted('→ ', 'do')}"
        yield from self._rows(result.action, margin=self._margin + 2, lead=lead, style="do")

    def _in_short(self, result: Result) -> Iterator[str]:
        told = plain(result.summary or result.action or result.why_relevant)
        yield from self._rows(cut(told, self._width - self._margin), margin=self._margin, style="quiet")

    # --- rows ---

    def _joined(self, parts: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Give texts, each with its style, side by side as far as there is room."""
        row, used = "", 0
        for text, style in parts:
            shown = cut(text, self._width)
            if row and used + 3 + columns(shown) > self._width:
                yield row
                row, used = "", 0
            row += (self._painted(" · ", "quiet") if row else "") + self._painted(shown, style)
            used += columns(shown) + (3 if used else 0)
        yield row

    def _rows(self, text: str, *, margin: int = 0, lead: str = "", style: str = "") -> Iterator[str]:
        """Give a text as rows behind a margin; `lead` stands in the margin of the first."""
        for at, row in enumerate(wrap(plain(text), self._width - margin)):
            yield (lead if lead and at == 0 else " " * margin) + self._painted(row, style)

    def _marked(self, text: str, style: str = "") -> str:
        """Style a text, and the words that were asked for most of all."""
        if not self._look.colour:
            return self._painted(text, style)
        return "".join(
            self._painted(piece, "found" if matched else style) for piece, matched in self._marker.marked(text)
        )

    def _painted(self, text: str, style: str) -> str:
        shown = text if self._look.symbols else text.translate(PLAINER)
        code = STYLES.get(style) if self._look.colour and text.strip() else None
        return f"\x1b[{code}m{shown}\x1b[0m" if code else shown

    def _linked(self, text: str, address: str) -> str:
        """Make a text lead to an address where the terminal can (OSC 8); one that is not plain ASCII is left out."""
        if not address or not (address.isascii() and address.isprintable()):
            return text
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"
