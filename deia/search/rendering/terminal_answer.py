"""An answer for a person at a terminal: what was found, where, why, the lines that match, and what to do next.

Styles are written directly, because a library for it would take several times as long as the whole search. Documents
are untrusted: their text is made printable before it is styled, so that a terminal receives no other codes than those
written here. The environment is not read: the caller passes the width, whether to use colour, and where a path links
to.
"""

from __future__ import annotations

from itertools import accumulate

from deia.commons.source_files.outline import PLACEHOLDERS
from deia.knowledge import Result
from deia.match.keyword import analyser
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING, Record
from deia.search.answer import Answer, AudienceView, PlatformView
from deia.search.rendering.columns import ELLIPSIS, columns, cut, plain, wrap
from deia.search.rendering.wording import asked_before, by_situation, clusters_to_choose, outcome, to_browse, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

WIDTH = 100
NARROWEST = 40
WIDEST = 110  # longer lines are hard to read
ROWS = 3  # of a passage, for each document that answers
BADGE = 10  # columns of the urgency
STYLES = {
    "title": "1", "found": "1;35", "where": "36", "quiet": "2", "do": "32", "note": "33",
    "critical": "1;97;41", "high": "1;31", "medium": "33", "low": "2",
    "sure": "1;32", "likely": "1;33", "unsure": "1;31",
}  # fmt: skip
CONFIDENCE = {"high": "sure", "medium": "likely", "low": "unsure"}
PLAINER = str.maketrans({"│": "|", "→": ">", "·": "-", "─": "-", "…": "~"})  # for terminals with only ASCII


class Look(Record):
    """What a terminal can show."""

    width: int = WIDTH
    colour: bool = False
    symbols: bool = True  # whether it can show our own non-ASCII signs
    link: Callable[[str], str] | None = None  # maps a document's path to the address that opens it


def table(answer: Answer, *, look: Look | None = None) -> str:
    """Return an answer for a terminal."""
    page = _Page(answer, look or Look())
    return "\n".join((*page.headline(), *page.documents(), *page.following()))


class _Page:
    """An answer in layout: the words to mark in it, and the look."""

    def __init__(self, answer: Answer, look: Look) -> None:
        matched = [*answer.keywords_matched, *(word for result in answer.documents for word in result.keywords_matched)]
        self._answer = answer
        self._look = look
        self._width = min(max(look.width, NARROWEST), WIDEST)
        self._marker = Marker(dict.fromkeys(matched))
        self._margin = 2 + len(str(len(answer.documents)))  # the columns before a title

    # --- parts ---

    def headline(self) -> Iterator[str]:
        """Yield what was found, how sure that is, and the warnings."""
        answer = self._answer
        parts = [(outcome(answer), "title")]
        if answer.documents and not answer.view:
            parts.append((f"confidence {answer.confidence}", CONFIDENCE.get(answer.confidence, "")))
            parts += [(plain(answer.primary_cluster), "quiet")] if answer.primary_cluster else []
            parts.append((f"{plain(answer.audit.tier)} tier", "quiet"))
        yield from self._joined(parts)
        for warning in answer.audit.warnings:
            yield from self._rows(f"{warning}.", style="note")

    def documents(self) -> Iterator[str]:
        """Yield the documents: those that answer in full, related ones and those of an overview in short."""
        answer = self._answer
        for number, result in enumerate(answer.documents, 1):
            in_full = number <= len(answer.primary) and not answer.view
            if number == len(answer.primary) + 1:
                yield from ("", self._painted("── near it " + "─" * (self._width - 11), "quiet"))
            elif in_full or number == 1:
                yield ""
            yield from self._title(number, result)
            yield from self._in_full(result) if in_full else self._in_short(result)

    def following(self) -> Iterator[str]:
        """Yield what to read, to do and to ask next."""
        answer = self._answer
        shown = {result.action for result in answer.primary}
        situations = by_situation(answer)
        groups: Sequence[tuple[str, Sequence[str]]] = (
            ("graph", answer.dependents),
            ("try", answer.suggestions),
            ("asked", asked_before(answer)),
            ("browse", to_browse(answer)),
            ("clusters", clusters_to_choose(answer)),
            ("when down", situations.get("when_production_down", ())),
            ("to prevent", situations.get("for_prevention", ())),
            ("learn", self._learning()),
            ("tips", answer.view.quick_tips if isinstance(answer.view, PlatformView) else ()),
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
        """Return what to read first, second and third, each with the reason."""
        view = self._answer.view
        if not isinstance(view, AudienceView):
            return []
        titles = {result.id: result.title for result in self._answer.documents}
        path = [ident for ident in view.learning_path if ident in titles]
        reasons = view.learning_reasons
        lines = (f"{titles[ident]}: {reasons[ident]}" if ident in reasons else titles[ident] for ident in path)
        return [f"{number}. {line}" for number, line in enumerate(lines, 1)]

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

    def _in_full(self, result: Result) -> Iterator[str]:
        for row in wrap(plain(result.why_relevant), self._width - self._margin):
            yield " " * self._margin + self._marked(row, "quiet")
        bar = self._painted("│ ", "quiet")
        for row in best_rows(result.passage, self._marker, room=self._width - self._margin - 2, most=ROWS):
            yield f"{' ' * self._margin}{bar}{self._marked(row)}"
        lead = f"{' ' * self._margin}{self._painted('→ ', 'do')}"
        yield from self._rows(result.action, margin=self._margin + 2, lead=lead, style="do")

    def _in_short(self, result: Result) -> Iterator[str]:
        about = plain(result.summary or result.action or result.why_relevant)
        yield from self._rows(cut(about, self._width - self._margin), margin=self._margin, style="quiet")

    # --- rows ---

    def _joined(self, parts: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield texts side by side in rows, each in its style."""
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
        """Yield a text as rows behind a margin; `lead` stands in the margin of the first."""
        for at, row in enumerate(wrap(plain(text), self._width - margin)):
            yield (lead if lead and at == 0 else " " * margin) + self._painted(row, style)

    def _marked(self, text: str, style: str = "") -> str:
        """Return a text in a style, with the words of the query emphasised."""
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
        """Return a text that links to an address (OSC 8), unless the address is not printable ASCII."""
        if not address or not (address.isascii() and address.isprintable()):
            return text
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


# --- which words and rows match the query: words are compared by their stems, as in the index ---

MOST_ROWS = 400  # of a passage that are considered; one has about twenty
FENCES = ("```", "~~~")
OWN_LINE = ("#", "- ", "* ", "+ ", "|", ">", *FENCES)  # prefixes of lines that do not continue a paragraph in Markdown
INDENTED = ("    ", "\t")


class Marker:
    """Finds the words of a text that match a query."""

    __slots__ = ("_known", "_stemmer", "_stems")

    def __init__(self, query_words: Iterable[str]) -> None:
        self._stemmer = analyser()
        self._stems = frozenset(self._stemmed(query_words))
        self._known: dict[str, frozenset[str]] = {}  # words, each with those of its stems that the query has

    def _stemmed(self, texts: Iterable[str]) -> list[str]:
        return self._stemmer.analyze(" ".join(term for text in texts for word in words(text) for term in word))

    def matches(self, text: str) -> frozenset[str]:
        """Return the query's stems that a text contains."""
        return frozenset[str]().union(*(stems for _, stems in self._runs(text)))

    def marked(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield a text in the longest possible pieces, each with whether it matches the query."""
        piece, matching = "", False
        for run, stems in self._runs(text):
            if piece and bool(stems) != matching:
                yield piece, matching
                piece = ""
            piece, matching = piece + run, bool(stems)
        if piece:
            yield piece, matching

    def _runs(self, text: str) -> Iterator[tuple[str, frozenset[str]]]:
        for run in _runs(text) if self._stems else (text,):
            if run not in self._known:
                is_word = self._stems and run[:1].isalnum()
                self._known[run] = self._stems.intersection(self._stemmed((run,))) if is_word else frozenset()
            yield run, self._known[run]


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of letters and digits in a text, and the runs between them."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or text[at].isalnum() != text[start].isalnum():
            yield text[start:at]
            start = at


def best_rows(passage: str, marker: Marker, *, room: int, most: int) -> list[str]:
    """Return the few rows of a passage that contain most of the query's words, or the first rows if none does.

    Headings are left out if there is anything else, since the title is shown already. An ellipsis marks a paragraph
    that goes on.
    """
    blocks = [wrapped for block in _blocks(passage) if (wrapped := list(wrap(block, room - 2)))]
    rows = [row for block in blocks for row in block][:MOST_ROWS]
    if not rows:
        return []
    matches = [marker.matches(row) for row in rows]
    best = max(range(len(rows)), key=lambda at: (*_value(matches[at : at + most]), bool(matches[at]), -at))
    shown = rows[best : best + most]
    begins = {0, *accumulate(map(len, blocks))}
    shown[0] = shown[0] if best in begins else f"{ELLIPSIS} {shown[0]}"
    shown[-1] = shown[-1] if best + len(shown) in begins else f"{shown[-1]} {ELLIPSIS}"
    return shown


def _value(matches: Sequence[frozenset[str]]) -> tuple[int, int]:
    return len(frozenset[str]().union(*matches)), sum(map(len, matches))


def _blocks(passage: str) -> list[str]:
    """Return a passage's paragraphs and other lines, without marks of Markdown and an outline's placeholders."""
    blocks: list[list[str]] = [[]]
    headings = []
    for line in passage.splitlines():
        bare = plain(line).strip()
        if not bare or bare.startswith(OWN_LINE) or line.startswith(INDENTED):
            blocks.append([])
        if bare.startswith("#"):
            headings.append(_unmarked(bare.lstrip("#")))
        elif bare and not bare.startswith(FENCES) and bare not in PLACEHOLDERS:
            blocks[-1].append(bare)
    return [_unmarked(" ".join(block)) for block in blocks if block] or headings


def _unmarked(text: str) -> str:
    """Return a text without the marks of bold words; stars that open nothing stay, as in `docs/**`."""
    kept, bold = [], False
    for word in text.split():
        opens = word.startswith("**") and word[2:3].isalnum()
        bare = word[2:] if opens else word
        closes = (bold or opens) and "**" in bare
        kept.append(bare.replace("**", "", 1) if closes else bare)
        bold = (bold or opens) and not closes
    return " ".join(kept)
