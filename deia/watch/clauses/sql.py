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
LAST_STATEMENTS = 500  # of these are the last of the text: what counts may stand behind thousands that do not
LAST_CHARACTERS = 100_000  # of a text with more statements, in which its last ones are looked for
MOST_WORDS = 400  # of one statement; a bulk insert's thousand values say nothing more
QUOTES = {"'": "'", '"': '"', "`": "`", "[": "]"}
AFTER_WITH = frozenset(("insert", "update", "delete", "merge", "select"))
VERBS = frozenset(
    "abort alter analyze attach begin call checkpoint close cluster comment commit copy create deallocate declare"
    " delete detach do drop end exec execute explain flush grant handler import insert kill load lock merge move notify"
    " optimize pragma prepare purge reassign refresh reindex release rename repair replace reset revoke rollback"
    " savepoint select set show start truncate unlock update use vacuum with".split()
)
DOING = VERBS - frozenset(
    "do end show close move comment start use set".split()
)  # verbs that tell where a block begins
COMMITTED = frozenset(("alter", "create", "drop", "rename", "truncate"))  # what some databases never roll back
TEMPORARY = frozenset(("temp", "temporary"))
BESIDE_NAMES = frozenset(("if", "not", "exists", "only", "cascade", "restrict"))
OPENS = frozenset(("begin", "then", "else", "loop"))  # in a block of code, after which a statement begins
# Lines that end a batch or stand for a statement without a semicolon, as T-SQL has them.
LONE = frozenset(
    ("go", *(f"{verb}{noun}" for verb in ("begin", "commit", "rollback") for noun in (" tran", " transaction"))),
)
LONE_AFTER = frozenset(("commit", "rollback"))
MOST_BODIES = 3  # blocks of code inside one another
LONGEST_LONE = 40
ALWAYS_TRUE = (("where", "true"), ("where", "1"), ("where", "1", "1"), ("where", "not", "false"))


class Statement(Record):
    """One statement: its unquoted words in lower case, those inside parentheses left out."""

    words: tuple[str, ...]
    text: str
    undone: bool = False  # inside a transaction that is rolled back, or only explained
    own: bool = False  # of tables alone that the same text made
    body: str = ""  # the block of code that it runs

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
    """Give the statements of a text, a bounded number of them; those of a block that runs stand after its own."""
    return _with_own(_statements(text, 0))


def _statements(text: str, depth: int) -> list[Statement]:
    flat: list[Statement] = []
    for one in [one for found in _first_and_last(text, block=depth > 0) for one in _with_rollbacks(found)]:
        inner = _statements(one.body, depth + 1) if one.body and depth < MOST_BODIES else []
        flat += [one, *(deep.but(undone=True) if one.undone else deep for deep in inner)]
    first = MOST_STATEMENTS - LAST_STATEMENTS
    return flat[:first] + flat[first:][-LAST_STATEMENTS:]


def _with_own(found: list[Statement]) -> list[Statement]:
    """Mark what only takes away tables that the same text made a moment before."""
    made: set[str] = set()
    marked = []
    for one in found:
        first, rest = "".join(one.words[:1]), one.words[1:]
        at = rest.index("table") + 1 if "table" in rest[:4] else 0
        names = {word for word in rest[at:] if word not in BESIDE_NAMES}
        if first == "create" and at and ("if" not in rest or not TEMPORARY.isdisjoint(rest[:at])):
            made.update([word for word in rest[at:] if word not in BESIDE_NAMES][:1])
        takes = first in {"drop", "truncate"} and bool(at) and bool(names) and names <= made
        marked.append(one.but(own=True) if takes else one)
    return marked


def _first_and_last(text: str, *, block: bool) -> Iterator[list[Statement]]:
    """Give the statements of a text; of too many the first and then the last, between which nothing is known."""
    pieces = _split(text, block=block)
    found: list[Statement] = []
    for words, source, body, end in pieces:  # noqa: B007 - wanted behind the loop
        found.append(_statement(words, source, body))
        if len(found) >= MOST_STATEMENTS:
            break
    else:
        yield found
        return
    begin = len(text) - LAST_CHARACTERS
    if begin > end:
        at = next((at for mark in (";\n", ";") if (at := text.find(mark, begin) + 1)), begin)
        pieces = _split(text[at:], block=block)
    last = [_statement(words, source, body) for words, source, body, _ in pieces]
    if len(last) <= LAST_STATEMENTS and begin <= end:
        yield found + last
    else:
        yield found[: MOST_STATEMENTS - LAST_STATEMENTS]
        yield last[-LAST_STATEMENTS:]


def holds_sql(text: str, *, named: bool = False) -> bool:
    """Say whether a text holds a statement; of one that nothing names as SQL, a lone word is a name."""
    sure = named or ";" in text
    return any(one.words[0] in VERBS and (sure or len(one.words) > 1) for one in statements(text) if one.words)


def _statement(words: list[str], source: str, body: str) -> Statement:
    explained = words[0] == "explain" and "analyze" not in (*words[:4], *_options(source))
    while words and words[0] in {"explain", "analyze", "verbose"}:
        words = words[1:]
    if words[:1] == ["with"]:
        at = next((number for number, word in enumerate(words) if word in AFTER_WITH), 0)
        words = words[at:]
    return Statement(words=tuple(words), text=source, undone=explained, body=body)


def _options(source: str) -> list[str]:
    """Give the options in parentheses after EXPLAIN."""
    after = source[source.lower().find("explain") + len("explain") :].lstrip()
    return after.partition(")")[0].lower().replace(",", " ").strip("( ").split() if after[:1] == "(" else []


def _with_rollbacks(found: list[Statement]) -> list[Statement]:
    """Mark what a rollback undoes: all since the transaction began, or since the savepoint that it names."""
    begun = -1
    undone = [0] * (len(found) + 1)  # where a stretch that is undone begins and ends
    saved: dict[str, int] = {}
    for at, statement in enumerate(found):
        first, rest = "".join(statement.words[:1]), statement.words[1:]
        if _begins(first, rest):
            begun, saved = at, {}
        elif first in {"commit", "end"}:
            begun = -1
        elif first == "savepoint" and rest:
            saved[rest[-1]] = at
        elif first in {"rollback", "abort"} and begun >= 0:
            to = "to" in rest
            since = saved.get(rest[-1], at) if to else begun
            undone[since] += 1
            undone[at] -= 1
            begun = begun if to else -1
    level = 0
    for at, change in enumerate(undone[:-1]):
        level += change
        found[at] = found[at].but(undone=True) if level else found[at]
    return found


def _begins(first: str, rest: Sequence[str]) -> bool:
    if first == "set":
        return "autocommit" in rest[:2] and rest[-1] in {"0", "off"}
    return first == "begin" or (first == "start" and rest[:1] == ("transaction",))


def _split(text: str, *, block: bool) -> Iterator[tuple[list[str], str, str, int]]:
    """Give the words, the text, the block of code and the end of each statement; `block`: the text is such code."""
    words: list[str] = []
    depth = start = 0
    body = ""
    for kind, begin, end in _pieces(text):
        if kind == "word":
            word = text[begin:end].lower()
            if depth == 0 and words and (_opens(words, word, block=block) or _is_lone(text, begin, end)):
                yield words, text[start:begin].strip(), body, begin
                words, body, start = [], "", begin
            if depth == 0 and len(words) < MOST_WORDS and not (word == "go" and _line(text, begin) == "go"):
                words += [word] if text[max(begin - 3, 0) : begin] != "/*!" or not word.isdigit() else []
        elif kind == "string":
            body = body or _code_in(words, text[begin:end])
        elif text[begin] in "()":
            depth = max(depth + (1 if text[begin] == "(" else -1), 0) if not _dynamic(words) else 0
        else:
            if words:
                yield words, text[start:begin].strip(), body, begin
            words, body, depth, start = [], "", 0, end
    if words:
        yield words, text[start:].strip(), body, len(text)


def _opens(words: list[str], word: str, *, block: bool) -> bool:
    """Say whether a statement begins here without a semicolon before it: after `begin`, or `then` in a block."""
    if word not in DOING:
        return False
    return words[-1] in OPENS if block else (words[0] == "begin" and words[1:] in ([], ["tran"], ["transaction"]))


def _is_lone(text: str, begin: int, end: int) -> bool:
    """Say whether a word begins a line that ends what stands before it: `GO`, `COMMIT`."""
    word = text[begin:end].lower()
    return word in {"go", "begin", "commit", "rollback"} and _line(text, begin) in LONE | LONE_AFTER


def _line(text: str, at: int) -> str:
    """Give the short line that begins at a place, in lower case; the empty text, where it begins before."""
    if text[max(at - LONGEST_LONE, 0) : at].rpartition("\n")[2].strip():
        return ""
    return text[at : at + LONGEST_LONE].partition("\n")[0].strip(" \t\r;").lower()


def _code_in(words: list[str], quoted: str) -> str:
    """Give the code of a `do $$ … $$`, or the statement that an `execute '…'` runs; else the empty text."""
    if words[:1] == ["do"] and quoted[:1] == "$":
        tag = quoted[: quoted.find("$", 1) + 1]
        return quoted.removeprefix(tag).removesuffix(tag)
    return quoted.strip("'$").replace("''", "'") if _dynamic(words) and quoted[:1] in {"'", "$"} else ""


def _dynamic(words: list[str]) -> bool:
    return words in (["execute"], ["execute", "format"], ["execute", "immediate"], ["exec"], ["exec", "sp_executesql"])


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Give words, marks and strings with their places; quoted names, comments and client lines are passed over."""
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char.isalnum() or char == "_" or (char == "@" and text[at + 1 : at + 2] != "@"):
            also = "." if char.isdigit() else "_$@"
            end = at + 1
            while end < size and (text[end].isalnum() or text[end] in also):
                end += 1
            yield "word", at, end
            at = end
        elif text.startswith("@@", at):  # a variable of the server, called as its setting is
            at += 2
        elif char == "\\":
            at, ends = _client_line(text, at)
            if ends:
                yield "mark", ends - 1, ends
        else:
            end = _passed_over(text, at)
            if end == at + 1 and char in "();":
                yield "mark", at, end
            elif char in "'$" and end > at + 1:
                yield "string", at, end
            at = end


def _client_line(text: str, at: int) -> tuple[int, int]:
    r"""Give the place after a line for the client (`\set x 1`), and the end of a mark that ends a statement (`\g`)."""
    if text[at + 1 : at + 2] in {"g", "G", ";"}:
        return at + 2, at + 2
    if text[max(at - LONGEST_LONE, 0) : at].rpartition("\n")[2].strip():
        return at + 1, 0
    end = _after(text, "\n", at)
    follows = text.find("\\\\", at, end)
    return (follows + 2 if follows >= 0 else end), 0


def _passed_over(text: str, at: int) -> int:
    """Give the place after what begins at `at`: a string, a comment, or one character."""
    char = text[at]
    if text.startswith("--", at) or (char == "#" and text[at + 1 : at + 2] in {" ", "!"}):
        return _after(text, "\n", at)
    if text.startswith("/*!", at):  # MySQL runs what such a comment holds
        return at + 3
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
    return _quoted(text, at) if char in QUOTES else at + 1


def _quoted(text: str, at: int) -> int:
    """Give the place after a string or a quoted name; a bracket that quotes nothing is one character."""
    char = text[at]
    if char == "[" and text[at + 1 : at + 2] in {"", " ", "]"}:
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
