"""Split SQL into statements, and find out roughly what each would do.

This is not a parser: it knows where a statement begins and ends, which words are at its top level, and whether a
condition limits it. Text that is not SQL gives statements that match nothing. The time is linear in the text's length.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables
from deia.watch.shell.templates import names_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TABLES = Tables(__file__)
GAP = "…"
WHOLE = ("without", "where")  # the end of a template that means "every row"
MOST_STATEMENTS = 2_000
LAST_STATEMENTS = 500  # of these are the text's last: the one that matters may follow thousands of others
LAST_CHARACTERS = 100_000  # in which the last statements of a text with more are looked for
MOST_WORDS = 400  # of one statement; more are the values of a bulk insert
QUOTES = {"'": "'", '"': '"', "`": "`", "[": "]"}
AFTER_WITH = frozenset(("insert", "update", "delete", "merge", "select"))
VERBS = TABLES.words("verbs")
DOING = VERBS - frozenset("do end show close move comment start use set".split())  # need no semicolon before them
COMMITTED = frozenset(("alter", "create", "drop", "rename", "truncate"))  # some databases cannot roll these back
TEMPORARY = frozenset(("temp", "temporary"))
BESIDE_NAMES = frozenset(("if", "not", "exists", "only", "cascade", "restrict"))
HOLDERS = (("database",), ("schema",), ("keyspace",))
PARSED_ONLY = (("parseonly",), ("noexec",))  # settings under which T-SQL runs nothing
OPENS = frozenset(("begin", "then", "else", "loop"))  # in a code block, a statement begins after one of these
# Lines that are a statement or end a batch without a semicolon, as in T-SQL.
LONE = frozenset(
    ("go", *(f"{verb}{noun}" for verb in ("begin", "commit", "rollback") for noun in (" tran", " transaction"))),
)
LONE_AFTER = frozenset(("commit", "rollback"))
MOST_BODIES = 3  # nested code blocks
LONGEST_LONE = 40
ALWAYS_TRUE = (("where", "true"), ("where", "1"), ("where", "1", "1"), ("where", "not", "false"))


class Statement(Record):
    """One statement: its unquoted words in lower case, without those inside parentheses."""

    words: tuple[str, ...]
    text: str
    undone: bool = False  # inside a transaction that is rolled back, or only explained
    own: bool = False  # only about tables that the same text created, or that are for tests by their name
    body: str = ""  # the code block that it runs

    @property
    def bounded(self) -> bool:
        """Whether a condition or a limit keeps the statement from every row."""
        if "limit" in self.words:
            return True
        if "where" not in self.words:
            return False
        at = self.words.index("where")
        return not any(self.words[at:] == true for true in ALWAYS_TRUE)


def statements(text: str) -> list[Statement]:
    """Return the statements of a text, at most `MOST_STATEMENTS`; those of a code block follow the one that runs it."""
    return _with_own(_statements(text, 0))


def _statements(text: str, depth: int) -> list[Statement]:
    flat: list[Statement] = []
    for statement in [marked for part in _first_and_last(text, block=depth > 0) for marked in _with_rollbacks(part)]:
        inner = _statements(statement.body, depth + 1) if statement.body and depth < MOST_BODIES else []
        flat += [statement, *(deep.but(undone=True) if statement.undone else deep for deep in inner)]
    first = MOST_STATEMENTS - LAST_STATEMENTS
    return flat[:first] + flat[first:][-LAST_STATEMENTS:]


def _with_own(statements: list[Statement]) -> list[Statement]:
    """Return the statements; those that only drop or truncate tables that the text created before are marked `own`."""
    made: set[str] = set()
    marked = []
    for statement in statements:
        first, rest = "".join(statement.words[:1]), statement.words[1:]
        at = rest.index("table") + 1 if "table" in rest[:4] else 0
        names = {word for word in rest[at:] if word not in BESIDE_NAMES}
        if first == "create" and at and ("if" not in rest or not TEMPORARY.isdisjoint(rest[:at])):
            made.update([word for word in rest[at:] if word not in BESIDE_NAMES][:1])
        is_own = first in {"drop", "truncate"} and bool(at) and bool(names) and names <= made
        is_own = is_own or (bool(names) and at > 0 and all(f"#{name}" in statement.text.lower() for name in names))
        is_own = is_own or (first == "drop" and rest[:1] in HOLDERS and any(map(names_test, rest[1:])))
        marked.append(statement.but(own=True) if is_own else statement)
    return marked


def _first_and_last(text: str, *, block: bool) -> Iterator[list[Statement]]:
    """Yield the statements of a text; if there are too many, the first ones and then, separately, the last ones."""
    pieces = _split(text, block=block)
    beginning: list[Statement] = []
    for words, source, body, end in pieces:  # noqa: B007 - used after the loop
        beginning.append(_statement(words, source, body))
        if len(beginning) >= MOST_STATEMENTS:
            break
    else:
        yield beginning
        return
    begin = len(text) - LAST_CHARACTERS
    if begin > end:
        at = next((at for mark in (";\n", ";") if (at := text.find(mark, begin) + 1)), begin)
        pieces = _split(text[at:], block=block)
    last = [_statement(words, source, body) for words, source, body, _ in pieces]
    if len(last) <= LAST_STATEMENTS and begin <= end:
        yield beginning + last
    else:
        yield beginning[: MOST_STATEMENTS - LAST_STATEMENTS]
        yield last[-LAST_STATEMENTS:]


def holds_sql(text: str, *, named: bool = False) -> bool:
    """Return whether a text has a statement. Unless it is `named` as SQL, a single word is taken for a name."""
    sure = named or ";" in text
    all_words = [statement.words for statement in statements(text)]
    return any(words[0] in VERBS and (sure or len(words) > 1) for words in all_words if words)


def _statement(words: list[str], source: str, body: str) -> Statement:
    explained = words[0] == "explain" and "analyze" not in (*words[:4], *_options(source))
    while words and words[0] in {"explain", "analyze", "verbose"}:
        words = words[1:]
    if words[:1] == ["with"]:
        at = next((number for number, word in enumerate(words) if word in AFTER_WITH), 0)
        words = words[at:]
    return Statement(words=tuple(words), text=source, undone=explained, body=body)


def _options(source: str) -> list[str]:
    """Return the options in parentheses after EXPLAIN."""
    after = source[source.lower().find("explain") + len("explain") :].lstrip()
    return after.partition(")")[0].lower().replace(",", " ").strip("( ").split() if after[:1] == "(" else []


def _with_rollbacks(statements: list[Statement]) -> list[Statement]:
    """Mark the statements that a rollback undoes: all since the transaction began, or since the named savepoint."""
    begun = -1
    undone = [0] * (len(statements) + 1)  # +1 where an undone range begins, -1 where it ends
    saved: dict[str, int] = {}
    for at, statement in enumerate(statements):
        first, rest = "".join(statement.words[:1]), statement.words[1:]
        if first == "set" and rest[:1] in PARSED_ONLY:
            undone[at] += 1 if rest[-1] == "on" else -1
        elif _begins(first, rest):
            begun, saved = at, {}
        elif first in {"commit", "end"}:
            begun = -1
        elif first == "savepoint" and rest:
            saved[rest[-1]] = at
        elif first in {"rollback", "abort"} and begun >= 0:
            to_savepoint = "to" in rest
            since = saved.get(rest[-1], at) if to_savepoint else begun
            undone[since] += 1
            undone[at] -= 1
            begun = begun if to_savepoint else -1
    level = 0
    for at, change in enumerate(undone[:-1]):
        level += change
        statements[at] = statements[at].but(undone=True) if level else statements[at]
    return statements


def _begins(first: str, rest: Sequence[str]) -> bool:
    if first == "set":
        return "autocommit" in rest[:2] and rest[-1] in {"0", "off"}
    return first == "begin" or (first == "start" and rest[:1] == ("transaction",))


def _split(text: str, *, block: bool) -> Iterator[tuple[list[str], str, str, int]]:
    """Yield the words, text, code block and end of each statement; `block`: the text is itself such a block."""
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
    """Return whether a statement begins at a word without a semicolon: after `begin`, or after `then` in a block."""
    if word not in DOING:
        return False
    return words[-1] in OPENS if block else (words[0] == "begin" and words[1:] in ([], ["tran"], ["transaction"]))


def _is_lone(text: str, begin: int, end: int) -> bool:
    """Return whether a word begins a line that ends the statement before it: `GO`, `COMMIT`."""
    word = text[begin:end].lower()
    return word in {"go", "begin", "commit", "rollback"} and _line(text, begin) in LONE | LONE_AFTER


def _line(text: str, at: int) -> str:
    """Return the short line that begins at a position, in lower case; "" if the line begins before it."""
    if text[max(at - LONGEST_LONE, 0) : at].rpartition("\n")[2].strip():
        return ""
    return text[at : at + LONGEST_LONE].partition("\n")[0].strip(" \t\r;").lower()


def _code_in(words: list[str], quoted: str) -> str:
    """Return the code of `do $$ … $$`, or the statement that `execute '…'` runs, or ""."""
    if words[:1] == ["do"] and quoted[:1] == "$":
        tag = quoted[: quoted.find("$", 1) + 1]
        return quoted.removeprefix(tag).removesuffix(tag)
    return quoted.strip("'$").replace("''", "'") if _dynamic(words) and quoted[:1] in {"'", "$"} else ""


def _dynamic(words: list[str]) -> bool:
    return words in (["execute"], ["execute", "format"], ["execute", "immediate"], ["exec"], ["exec", "sp_executesql"])


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield words, marks and strings with their positions; quoted names, comments and client lines are skipped."""
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
        elif text.startswith("@@", at):  # a server variable; the name after it is read as a word
            at += 2
        elif char == "\\":
            at, ends = _client_line(text, at)
            if ends:
                yield "mark", ends - 1, ends
        else:
            end = _skip(text, at)
            if end == at + 1 and char in "();":
                yield "mark", at, end
            elif char in "'$" and end > at + 1:
                yield "string", at, end
            at = end


def _client_line(text: str, at: int) -> tuple[int, int]:
    r"""Return the positions after a line for the client (`\set x 1`), and after a mark that ends a statement (`\g`)."""
    if text[at + 1 : at + 2] in {"g", "G", ";"}:
        return at + 2, at + 2
    if text[max(at - LONGEST_LONE, 0) : at].rpartition("\n")[2].strip():
        return at + 1, 0
    end = _after(text, "\n", at)
    follows = text.find("\\\\", at, end)
    return (follows + 2 if follows >= 0 else end), 0


def _skip(text: str, at: int) -> int:
    """Return the position after the string, comment or single character at `at`."""
    char = text[at]
    if text.startswith("--", at) or (char == "#" and text[at + 1 : at + 2] in {" ", "!"}):
        return _after(text, "\n", at)
    if text.startswith("/*!", at):  # MySQL runs the content of such a comment
        return at + 3
    if text.startswith("/*", at):
        return _after(text, "*/", at + 2)
    if char == "$":
        tag = text.find("$", at + 1, at + 64)
        body = text[at : tag + 1]
        is_tag = tag > 0 and (body == "$$" or body[1:-1].replace("_", "a").isalnum())
        return _after(text, body, tag + 1) if is_tag else at + 1
    return _quoted(text, at) if char in QUOTES else at + 1


def _quoted(text: str, at: int) -> int:
    """Return the position after a string or quoted name; a bracket that quotes nothing is one character."""
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
        elif text[end + 1 : end + 2] == QUOTES[char]:  # a doubled quote is an escaped one
            end += 2
        else:
            return end + 1


def _after(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end + len(mark)


def matches_statement(template: Sequence[str], statement: Statement) -> bool:
    """Return whether a statement begins with the words of a template, which may have gaps.

    A template that ends with `without where` matches only a statement without a condition.
    """
    whole = tuple(template[-2:]) == WHOLE
    if whole and statement.bounded:
        return False
    at = 0
    free = False
    for word in template[:-2] if whole else template:
        if word == GAP:
            free = True
            continue
        while free and at < len(statement.words) and statement.words[at] != word:
            at += 1
        if at >= len(statement.words) or statement.words[at] != word:
            return False
        at, free = at + 1, False
    return True
