"""The grammars of PowerShell and cmd.exe, as far as they decide which commands would run.

That is separators, quotes, escapes, script blocks and here-strings. Expressions, hash tables and types are skipped;
program names, including aliases, stay as typed. Text that neither shell would accept gives the best guess, in time
linear in its length.
"""

from __future__ import annotations

from deia.watch.shell.nodes import Simple
from deia.watch.shell.posix import drop_middle, last_stretch
from deia.watch.shell.posix_words import MAX_DEPTH

_ENDS = frozenset(" \t\r\n;|&(){}<>\"'`$@")
_CMD_ENDS = frozenset(' \t\r\n&|()<>"^')
_KEYWORDS = frozenset((
    "if", "elseif", "else", "foreach", "for", "while", "do", "until", "switch", "try", "catch", "finally", "return",
    "throw", "begin", "process", "end", "in", "data", "trap",
))  # fmt: skip
_NAMED = frozenset(("function", "filter", "param", "class", "enum"))
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "??="))
_BACKTICKS = {"n": "\n", "t": "\t", "r": "\r", "0": ""}


def read_powershell(text: str) -> list[Simple]:
    """Return the simple commands of a PowerShell script, including those of script blocks and `$(…)`."""
    reader = _PowerShell(text)
    while reader.at < reader.size:
        reader.read_list("")
    drop_middle(reader.out, 0)
    return reader.out


def read_cmd(text: str) -> list[Simple]:
    """Return the simple commands of a cmd.exe line or batch file."""
    reader = _Cmd(text)
    reader.read()
    drop_middle(reader.out, 0)
    return reader.out


class _Reader:
    """The position in a text, and the command that is open there."""

    __slots__ = ("at", "out", "simple", "size", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self.at = 0
        self.out: list[Simple] = []
        self.simple: Simple | None = None

    def finish(self) -> Simple | None:
        """Close the open command, and return it if it would run."""
        simple, self.simple = self.simple, None
        if simple is None or not (simple.words or simple.redirects):
            return None
        simple.text = self.text[simple.start : simple.end]
        self.out.append(simple)
        if drop_middle(self.out):
            self.at = last_stretch(self.text, self.at)
        return simple

    def run_of(self, ends: frozenset[str]) -> str:
        """Return the plain characters up to the next special one."""
        begin = self.at
        text = self.text
        while self.at < self.size and text[self.at] not in ends:
            self.at += 1
        return text[begin : self.at]

    def skip_blanks(self) -> None:
        """Step over spaces and tabs."""
        while self.at < self.size and self.text[self.at] in " \t":
            self.at += 1

    def word(self) -> str:
        """Read one word and return it without its quotes."""
        raise NotImplementedError

    def redirect(self, stream: str) -> None:
        """Read a redirection and its target into the open command; `stream` is the number before it."""
        start = self.at
        while self.at < self.size and self.text[self.at] in "<>" and self.at - start < 2:
            self.at += 1
        self.at += self.text[self.at : self.at + 1] == "&"
        operator = self.text[start : self.at]
        self.skip_blanks()
        target = self.word()
        if self.simple is None:
            self.simple = Simple(start)
        self.simple.redirects.append((stream + operator, target))
        self.simple.end = self.at

    def skip_line(self) -> None:
        """Step to the end of the line, as after a comment mark."""
        end = self.text.find("\n", self.at)
        self.at = self.size if end < 0 else end


class _PowerShell(_Reader):
    __slots__ = ("called", "depth", "quoted")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.called = False  # after `&` or `.`, where a string names a program
        self.quoted = False

    def read_list(self, closing: str) -> None:
        """Read commands until a closing bracket or the end of the text."""
        outer, self.simple = self.simple, None
        fed: Simple | None = None
        level = 0
        while self.at < self.size:
            char = self.text[self.at]
            if char in " \t\r":
                self.at += 1
            elif char in ";|&\n":
                fed = self._separate(char, fed)
            elif char in "{}":
                self.at += 1
                self.finish()
                level += 1 if char == "{" else -1
                if char == "}" and (level < 0 or closing == "}") and level < 1:
                    break
            elif char == ")":
                self.at += 1
                if closing == ")":
                    break
            elif char == "#" or self.text.startswith("<#", self.at):
                self._skip_comment()
            elif char in "<>":
                self.redirect("")
            else:
                self._take_word(fed)
        self.finish()
        self.simple = outer

    def _separate(self, char: str, fed: Simple | None) -> Simple | None:
        """Read a separator, and return the command that is piped into the next one."""
        two = self.text[self.at : self.at + 2]
        if char == "&" and self.simple is None and two != "&&":
            self.called = True
            self.at += 1
            return fed
        self.at += 2 if two in ("&&", "||") else 1
        closed = self.finish()
        self.called = False
        return closed if char == "|" and two != "||" else None

    def _skip_comment(self) -> None:
        if self.text[self.at] == "#":
            self.skip_line()
            return
        end = self.text.find("#>", self.at)
        self.at = self.size if end < 0 else end + 2

    def _take_word(self, fed: Simple | None) -> None:
        start = self.at
        first = self.text[start]
        word = self.word()
        if not word and not self.quoted:
            return
        if word in ("2", "1", "3", "*") and self.text[self.at : self.at + 1] == ">":
            self.redirect(word)
            return
        if self.simple is None:
            lower = word.lower()
            if not self.quoted and (lower in _KEYWORDS or (word == "." and not self.called)):
                self.called = word == "."
                return
            self.simple = Simple(start, fed)
            expression = (first in "$'\"([@-+!,%" and word not in ("%", "?")) or word[0:1].isdigit()
            if lower in _NAMED or (expression and not self.called):
                self.simple.kind = "expression"
        simple = self.simple
        simple.end = self.at
        if simple.kind and word in _ASSIGNS:
            self.simple = None  # what is assigned may be a command
        elif not simple.kind:
            simple.words.append(word)
        self.called = False

    def word(self) -> str:
        """Read one word, with the quotes inside it removed."""
        parts: list[str] = []
        self.quoted = False
        while True:
            plain = self.run_of(_ENDS)
            if plain:
                parts.append(plain)
            char = self.text[self.at : self.at + 1]
            if char in ("'", '"'):
                self.quoted = True
                self._string(char, parts)
            elif char == "@":
                self._at_sign(parts)
            elif char == "`" and char:
                parts.append(self._escaped())
            elif char in ("$", "(") and char:
                self._dollar(parts)
            elif char == "{" and parts and parts[-1] == "$":
                begin, end = self.at, self.text.find("}", self.at)
                self.at = self.size if end < 0 else end + 1
                parts.append(self.text[begin : self.at])
            else:
                return "".join(parts)

    def _escaped(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        self.at = min(self.at + 2, self.size)
        if following == "\r" and self.text[self.at : self.at + 1] == "\n":
            self.at += 1
        return "" if following in ("\n", "\r") else _BACKTICKS.get(following, following)

    def _dollar(self, parts: list[str]) -> None:
        """Read `$(…)` or `(…)`, listing its commands, or the `$` of a variable."""
        begin = self.at
        self.at += 1
        opened = self.text[begin] == "("
        if not opened and self.text[self.at : self.at + 1] == "(":
            self.at += 1
            opened = True
        if opened and self.depth < MAX_DEPTH:
            self.depth += 1
            quoted, called, self.called = self.quoted, self.called, False
            self.read_list(")")
            self.quoted, self.called = quoted, called
            self.depth -= 1
        parts.append(self.text[begin : self.at])

    def _at_sign(self, parts: list[str]) -> None:
        """Read what begins with `@`: a here-string, a hash table, or the sign alone."""
        following = self.text[self.at + 1 : self.at + 2]
        if following in ("'", '"') and self.text[self.at + 2 : self.at + 4].lstrip("\r")[:1] == "\n":
            begin = self.text.index("\n", self.at) + 1
            end = self.text.find("\n" + following + "@", begin - 1)
            parts.append(self.text[begin : self.size if end < 0 else max(begin, end)])
            self.at = self.size if end < 0 else end + 3
            self.quoted = True
        else:
            parts.append("@")
            self.at += 1
            if following == "{":
                self._table(parts)

    def _table(self, parts: list[str]) -> None:
        """Step over a hash table, whose keys look like programs."""
        begin = self.at
        level = 0
        skipped: list[str] = []
        while self.at < self.size:
            char = self.text[self.at]
            if char in ("'", '"'):
                self._string(char, skipped)
                continue
            self.at += 1
            level += (char == "{") - (char == "}")
            if not level:
                break
        parts.append(self.text[begin : self.at])

    def _string(self, quote: str, parts: list[str]) -> None:
        self.at += 1
        marks = frozenset("'") if quote == "'" else frozenset('"`$')
        while True:
            parts.append(self.run_of(marks))
            char = self.text[self.at : self.at + 1]
            if not char:
                return
            if char == "`":
                parts.append(self._escaped())
            elif char == "$" and not self.text.startswith("$(", self.at):
                parts.append("$")
                self.at += 1
            elif char == "$":
                self._dollar(parts)
            elif self.text.startswith(quote * 2, self.at):
                parts.append(quote)
                self.at += 2
            else:
                self.at += 1
                return


class _Cmd(_Reader):
    __slots__ = ()

    def read(self) -> None:
        """Read the whole text."""
        fed: Simple | None = None
        while self.at < self.size:
            char = self.text[self.at]
            if char in " \t\r":
                self.at += 1
            elif char in "&|\n()":
                two = self.text[self.at : self.at + 2]
                self.at += 2 if two in ("&&", "||") else 1
                closed = self.finish()
                fed = closed if char == "|" and two != "||" else None
            elif char in "<>":
                self.redirect("")
            else:
                self._take_word(fed)
        self.finish()

    def _take_word(self, fed: Simple | None) -> None:
        start = self.at
        word = self.word()
        if word in ("1", "2") and self.text[self.at : self.at + 1] == ">":
            self.redirect(word)
            return
        if self.simple is None:
            if self._skip_prefix(word.lower().lstrip("@")):
                return
            self.simple = Simple(start, fed)
            word = word.lstrip("@") or word
        self.simple.words.append(word)
        self.simple.end = self.at

    def _skip_prefix(self, word: str) -> bool:
        """Step over what may precede a command, such as `if exist x` or `call`; return whether `word` does."""
        if word == "rem" or word.startswith("::"):
            self.skip_line()
        elif word == "if":
            self._skip_condition()
        elif word == "for":
            end = self.text[self.at : self.at + 512].lower().find(" do ")
            self.at += max(end, 0)
        else:
            return word in ("do", "else", "call", "")
        return True

    def _skip_condition(self) -> None:
        for _ in range(4):
            self.skip_blanks()
            word = self.word().lower()
            if word in ("exist", "defined", "errorlevel"):
                self.skip_blanks()
                self.word()
                return
            if word not in ("not", "/i"):
                break

    def word(self) -> str:
        """Read one word of a cmd line, with its carets and quotes removed."""
        parts: list[str] = []
        while True:
            parts.append(self.run_of(_CMD_ENDS))
            char = self.text[self.at : self.at + 1]
            if char == "^":
                following = self.text[self.at + 1 : self.at + 2]
                parts.append("" if following in ("\n", "\r") else following)
                self.at = min(self.at + 2 + (self.text[self.at + 1 : self.at + 3] == "\r\n"), self.size)
            elif char == '"':
                end = self.text.find('"', self.at + 1)
                end = self.size if end < 0 else end
                parts.append(self.text[self.at + 1 : end])
                self.at = min(end + 1, self.size)
            else:
                return "".join(parts)
