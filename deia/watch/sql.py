"""SQL statements, read far enough to know what they would do: their words outside strings and comments, their reach.

Refuses to be a parser: it knows where a statement begins and ends, which words stand at its top level, and whether a
condition bounds it. Text that is no SQL gives statements that match nothing. Linear in the length of the text.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAP = "…"
WHOLE = ("without", "where")  # what a template ends with to mean "every row"
MOST_STATEMENTS = 2_000
MOST_WORDS = 400  # of one statement; a bulk insert's thousand values say nothing more
QUOTES = {"'": "'", '"': '"', "`": "`", "[": "]"}
VERBS = frozenset(("insert", "update", "delete", "merge", "select"))  # what may follow a WITH
ALWAYS_TRUE = (("where", "true"), ("where", "1"), ("where", "1", "1"), ("where", "not", "false"))


class Statement(Record):
    """One statement: its unquoted words in lower case, those inside parentheses left out."""

    words: tuple[str, ...]
    text: str
    undone: bool = False  # inside a transaction that is rolled back, or only explained

    @property
    def bounded(self) -> bool:
        """Whether a condition (or a limit) stands between the statement and every row."""
        if "limit" in self.words:
            return True
        if "where" not in self.words:
            return False
        at = self.words.index("where")
        return not any(self.words[at:] == true for true in ALWAYS_TRUE)


def statements(text: str) -> list[Statement]:
    """Give the statements of a text, a bounded number of them."""
    found: list[Statement] = []
    for words, source in _split(text):
        if len(found) >= MOST_STATEMENTS:
            break
        found.append(_statement(words, source))
    return _with_rollbacks(found)


def _statement(words: list[str], source: str) -> Statement:
    explained = words[0] == "explain" and "analyze" not in words[:4]
    while words and words[0] in {"explain", "analyze", "verbose"}:
        words = words[1:]
    if words[:1] == ["with"]:
        at = next((number for number, word in enumerate(words) if word in VERBS), 0)
        words = words[at:]
    return Statement(words=tuple(words), text=source, undone=explained)


def _with_rollbacks(found: list[Statement]) -> list[Statement]:
    """Mark what a rollback undoes."""
    begun = -1
    for at, statement in enumerate(found):
        first = "".join(statement.words[:1])
        if first in {"begin", "start"}:
            begun = at
        elif first in {"commit", "end"}:
            begun = -1
        elif first == "rollback" and begun >= 0:
            found[begun:at] = [one.but(undone=True) for one in found[begun:at]]
            begun = -1
    return found


def _split(text: str) -> Iterator[tuple[list[str], str]]:
    words: list[str] = []
    depth = start = 0
    for kind, begin, end in _pieces(text):
        if kind == "word":
            if depth == 0 and len(words) < MOST_WORDS:
                words.append(text[begin:end].lower())
        elif text[begin] == "(":
            depth += 1
        elif text[begin] == ")":
            depth = max(depth - 1, 0)
        elif text[begin] == ";":
            if words:
                yield words, text[start:begin].strip()
            words, depth, start = [], 0, end
    if words:
        yield words, text[start:].strip()


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Give words and marks with their places; strings, quoted names and comments are passed over."""
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char.isalpha() or char in "_@":
            end = at + 1
            while end < size and (text[end].isalnum() or text[end] in "_$@"):
                end += 1
            yield "word", at, end
            at = end
        elif char.isdigit():
            end = at + 1
            while end < size and (text[end].isalnum() or text[end] == "."):
                end += 1
            yield "word", at, end
            at = end
        else:
            end = _passed_over(text, at)
            if end == at + 1 and char in "();":
                yield "mark", at, end
            at = end


def _passed_over(text: str, at: int) -> int:
    """Give the place after what begins at `at`: a string, a comment, or one character."""
    char = text[at]
    if text.startswith("--", at) or (char == "#" and text[at + 1 : at + 2] in {" ", "!"}):
        return _after(text, "\n", at)
    if text.startswith("/*", at):
        return _after(text, "*/", at + 2)
    if char == "$":
        tag = text.find("$", at + 1, at + 64)
        body = text[at : tag + 1]
        return (
            _after(text, body, tag + 1)
            if tag > 0 and body[1:-1].replace("_", "a").isalnum() | (body == "$$")
            else at + 1
        )
    if char not in QUOTES or (char == "[" and text[at + 1 : at + 2] in {"", " ", "]"}):
        return at + 1
    end = at + 1
    while True:
        end = text.find(QUOTES[char], end)
        if end < 0:
            return len(text)
        if text[end - 1] == "\\" and char != "[" and end - 1 > at:
            end += 1
        elif text[end + 1 : end + 2] == QUOTES[char]:  # a doubled quote is a quote inside
            end += 2
        else:
            return end + 1


def _after(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end + len(mark)


def matches_statement(wanted: Sequence[str], statement: Statement) -> bool:
    """Say whether a statement is what a template's words describe: its words from the beginning, gaps where those are.

    A template that ends with `without where` wants a statement that nothing bounds.
    """
    whole = tuple(wanted[-2:]) == WHOLE
    if whole and statement.bounded:
        return False
    at = 0
    free = False
    for word in wanted[:-2] if whole else wanted:
        if word == GAP:
            free = True
            continue
        while free and at < len(statement.words) and statement.words[at] != word:
            at += 1
        if at >= len(statement.words) or statement.words[at] != word:
            return False
        at, free = at + 1, False
    return True
