"""The grammar of POSIX-like shells: the simple commands that a text would run, in order, in one pass.

Commands in `$(…)`, backticks and unquoted here-documents are included. Nothing is expanded and no text is refused: one
that no shell would accept gives the best guess, in time linear in its length.
"""

from __future__ import annotations

from deia.watch.shell.nodes import Simple, is_assignment
from deia.watch.shell.posix_words import MAX_DEPTH, Words

MAX_COMMANDS = 1_000  # of one text; more are surely generated, and judging them would delay the turn
LAST_COMMANDS = 200  # of them are the last of the text, as a dangerous one may come after a thousand harmless ones
LAST_CHARACTERS = 50_000  # at the end of a text with more commands, which are read for its last ones

_BLANKS = " \t\r"
_SKIPPED_WORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "coproc")
)
_HEADERS = frozenset(("for", "select", "case", "function", "[["))
_KINDS_TO_LIST = frozenset(("", "[[", "for", "select"))  # a loop is no command, but its values are needed
_OPERATORS = ("<<<", "<<-", "&>>", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "<", ">")


def read_bash(text: str) -> list[Simple]:
    """Return the simple commands of a script, in the order in which they would start."""
    out: list[Simple] = []
    _Reader(text, out, 0).read_list(closed=False)
    drop_middle(out, 0)
    return out


def drop_middle(out: list[Simple], slack: int = LAST_COMMANDS) -> bool:
    """Drop the middle of too many commands, once there are `slack` more; return whether there are too many."""
    if len(out) > MAX_COMMANDS + slack:
        del out[MAX_COMMANDS - LAST_COMMANDS : -LAST_COMMANDS]
    return len(out) >= MAX_COMMANDS


def last_stretch(text: str, at: int) -> int:
    """Return where to read on in a text with too many commands: at `at`, or where its last part begins."""
    begin = len(text) - LAST_CHARACTERS
    if at >= begin:
        return at
    return next((end for mark in "\n;" if (end := text.find(mark, begin) + 1)), begin)


class _Document:
    """A here-document that waits for the end of its line."""

    __slots__ = ("delimiter", "quoted", "simple", "strip")

    def __init__(self, simple: Simple, delimiter: str, *, quoted: bool, strip: bool) -> None:
        self.simple = simple
        self.delimiter = delimiter
        self.quoted = quoted
        self.strip = strip


class _List:
    """What is open in one list of commands: the whole text, or one substitution."""

    __slots__ = ("cases", "closed", "documents", "fed", "level", "pattern", "simple")

    def __init__(self, *, closed: bool) -> None:
        self.closed = closed  # whether a parenthesis ends it
        self.simple: Simple | None = None
        self.fed: Simple | None = None
        self.level = 0
        self.cases = 0
        self.pattern = False  # between `in` or `;;` and the parenthesis of a case's pattern
        self.documents: list[_Document] = []


class _Reader(Words):
    """A reader of lists of commands; `Words` reads the words."""

    __slots__ = ()

    # Lists of commands

    def read_list(self, *, closed: bool) -> None:
        """Read commands until the end of the text, or of the parenthesis that contains the list."""
        scope = _List(closed=closed)
        text = self.text
        while self.at < self.size:
            char = text[self.at]
            if char in _BLANKS:
                self.at += 1
            elif char in ";&|\n":
                self._separate(scope, char)
            elif char in "()":
                if self._parenthesis(scope, char):
                    return
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = self.size if end < 0 else end
            elif char in "<>" and text[self.at + 1 : self.at + 2] != "(":
                self._redirect(scope, "")
            else:
                self._take_word(scope)
        self._finish(scope)

    def read_inside(self, body: str) -> None:
        """Read the commands of a text inside this one, such as the content of backticks."""
        _Reader(body, self.out, self.depth + 1).read_list(closed=False)

    def _finish(self, scope: _List, *, piped: bool = False) -> None:
        simple = scope.simple
        if simple is None:
            return
        scope.simple = None
        scope.fed = None
        if simple.kind not in _KINDS_TO_LIST:
            return
        simple.text = self.text[simple.start : simple.end]
        self.out.append(simple)
        if piped:
            scope.fed = simple
        at = last_stretch(self.text, self.at) if drop_middle(self.out) else self.at
        if at > self.at:  # near the end of the text, with nothing open
            self.at, scope.fed, scope.pattern, scope.documents = at, None, False, []

    def _separate(self, scope: _List, char: str) -> None:
        two = self.text[self.at : self.at + 2]
        if scope.simple is not None and scope.simple.kind == "[[" and char in "&|":
            self.at += 1
        elif two == "&>":
            self._redirect(scope, "")
        elif scope.pattern:
            self.at += 1
        else:
            self._finish(scope, piped=char == "|" and two != "||")
            if char == ";" and scope.cases and two in (";;", ";&"):
                scope.pattern = True
            self.at += 1 + (two in ("&&", "||", "|&", ";;", ";&"))
            if char == "\n" and scope.documents:
                self._take_documents(scope)

    def _parenthesis(self, scope: _List, char: str) -> bool:
        """Read a parenthesis, and return whether it ends the list."""
        simple = scope.simple
        begin = self.at
        self.at += 1
        if simple is not None and simple.kind == "[[":
            return False
        if scope.pattern:
            scope.pattern = char == "("
            return False
        if char == ")":
            self._finish(scope)
            if not scope.level:
                return scope.closed
            scope.level -= 1
        elif self.text.startswith("((", begin) and (simple is None or simple.kind == "for") and self._computes():
            self.balanced()
        elif (
            simple is not None
            and len(simple.words) == 1
            and self.text[self.at : self.at + 8].lstrip(_BLANKS)[:1] == ")"
        ):
            scope.simple = None  # the name of a function, whose body follows
            self.at = self.text.index(")", self.at) + 1
            self._mark_bomb(simple)
        else:
            self._finish(scope)
            scope.level += 1
        return False

    def _computes(self) -> bool:
        """Return whether `((` opens arithmetic; some shells read `(( rm -rf / ))` as a list of commands."""
        name, _, rest = self.text[self.at + 1 : self.at + 40].strip().partition(" ")
        option = rest.lstrip()
        return not (name.isidentifier() and option[:1] == "-" and option[1:2].isalpha())

    def _mark_bomb(self, simple: Simple) -> None:
        """List a function that starts itself twice, `f(){ f|f& };f`, as the command `fork-bomb`."""
        name = simple.words[0]
        body = self.text[self.at : self.at + 200].partition("}")[0]
        if f"{name}|{name}&" in body.replace(" ", "").replace("\n", ""):
            simple.words = ["fork-bomb"]
            simple.text = self.text[simple.start : self.at + len(body)]
            self.out.append(simple)

    # Words in their places

    def _take_word(self, scope: _List) -> None:
        """Read one word into the open command, or open one with it."""
        start = self.at
        before = len(self.out)
        word = self.word()
        quoted = self.quoted
        if not word and not quoted:
            return  # a continued line
        if not quoted and word.isdigit() and self.text[self.at : self.at + 1] in ("<", ">"):
            self._redirect(scope, word)
            return
        simple = scope.simple
        if simple is None:
            if scope.pattern or (not quoted and self._keyword(scope, word, start)):
                if word == "esac" and not quoted:
                    scope.pattern, scope.cases = False, max(0, scope.cases - 1)
                return
            simple = self._open(scope, start)
        if len(self.out) > before:
            simple.live.extend(self.out[before:])
        simple.end = self.at
        if not simple.words and "=" in word and is_assignment(word):
            simple.assignments.append(word)
        else:
            simple.words.append(word)
            if simple.kind:
                self._end_header(scope, simple, word)

    def _open(self, scope: _List, start: int) -> Simple:
        """Return the open command, which is opened at `start` if there is none."""
        if scope.simple is None:
            scope.simple = Simple(start, scope.fed, self.depth * 100 + scope.level)
        return scope.simple

    def _keyword(self, scope: _List, word: str, start: int) -> bool:
        """Return whether a word is a reserved word; one that has a header opens a command of that kind."""
        if word in _HEADERS:
            simple = self._open(scope, start)
            simple.kind = word
            simple.words.append(word)
            simple.end = self.at
            return True
        return word in _SKIPPED_WORDS or (word == "esac" and scope.cases > 0)

    @staticmethod
    def _end_header(scope: _List, simple: Simple, word: str) -> None:
        """Close the header of `[[`, `function` or `case` if this word ends it."""
        if simple.kind == "[[" and word == "]]":
            simple.kind = ""
        elif simple.kind == "function":
            scope.simple = None
        elif simple.kind == "case" and word == "in" and len(simple.words) > 2:
            scope.simple = None
            scope.cases += 1
            scope.pattern = True

    # Redirections and here-documents

    def _redirect(self, scope: _List, number: str) -> None:
        start = self.at
        operator = next(mark for mark in _OPERATORS if self.text.startswith(mark, start))
        self.at += len(operator)
        while self.at < self.size and self.text[self.at] in _BLANKS:
            self.at += 1
        before = len(self.out)
        target = self.word()
        simple = self._open(scope, start - len(number))
        simple.live.extend(self.out[before:])
        simple.end = self.at
        if operator in ("<<", "<<-"):
            scope.documents.append(_Document(simple, target, quoted=self.quoted, strip=operator == "<<-"))
        elif operator == "<<<":
            simple.stdin = target
        else:
            simple.redirects.append((number + operator, target))

    def _take_documents(self, scope: _List) -> None:
        """Read the here-documents that the line just ended has opened."""
        for document in scope.documents:
            body = self._body(document)
            document.simple.stdin = body
            if not document.quoted and self.depth < MAX_DEPTH and ("$(" in body or "`" in body):
                before = len(self.out)
                _Reader(body, self.out, self.depth + 1).read_text()
                document.simple.live.extend(self.out[before:])
        scope.documents = []

    def _body(self, document: _Document) -> str:
        """Return the lines of a here-document, up to its delimiter."""
        lines: list[str] = []
        while self.at < self.size:
            end = self.text.find("\n", self.at)
            end = self.size if end < 0 else end
            line = self.text[self.at : end]
            self.at = min(end + 1, self.size)
            if document.strip:
                line = line.lstrip("\t")
            if line == document.delimiter or line.rstrip("\r") == document.delimiter:
                break
            lines.append(line)
        return "\n".join(lines)
