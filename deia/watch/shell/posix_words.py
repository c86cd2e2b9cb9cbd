"""The words of POSIX-like shells: quotes, escapes, `$…`, backticks, process substitution.

A word is returned without its quotes, with variables and substitutions as written; nothing is expanded. The content of
a substitution is passed to the reader of lists of commands. The time is linear in the length of any text: each position
is read a bounded number of times, and nesting deeper than `MAX_DEPTH` is skipped.
"""

from __future__ import annotations

from deia.watch.shell.nodes import Simple, unescape

MAX_DEPTH = 12
MAX_REREADS = 1

_SPECIAL = frozenset(" \t\r\n'\"\\$`;&|()<>")
_LONGEST_BLANK = 24  # characters of `${IFS}` with what may follow the name, as in `${IFS:0:1}`


def closing_quote(text: str, begin: int, quote: str) -> int:
    """Return the position of the closing quote that no backslash escapes, or the end of the text."""
    at = text.find(quote, begin)
    while at >= 0:
        slashes = 0
        while at - slashes > begin and text[at - slashes - 1] == "\\":
            slashes += 1
        if not slashes % 2:
            return at
        at = text.find(quote, at + 1)
    return len(text)


class Words:
    """A reader that steps from special character to special character; a grammar of lists completes it."""

    __slots__ = ("at", "depth", "next", "out", "quoted", "rereads", "size", "specials", "text")

    def __init__(self, text: str, out: list[Simple], depth: int) -> None:
        self.text = text
        self.out = out
        self.depth = depth
        self.at = 0
        self.size = len(text)
        self.specials = [at for at, char in enumerate(text) if char in _SPECIAL]
        self.specials.append(self.size)
        self.next = 0  # the index in `specials` of the next one
        self.quoted = False  # whether the last word had quotes or escapes
        self.rereads = MAX_REREADS

    def read_list(self, *, closed: bool) -> None:
        """Read commands until the end of the text, or of the parenthesis that contains the list."""
        raise NotImplementedError

    def read_inside(self, body: str) -> None:
        """Read the commands of a text inside this one, such as the content of backticks."""
        raise NotImplementedError

    def _special(self) -> int:
        """Return the position of the next special character, or the end of the text."""
        specials = self.specials
        ahead = self.next
        at = self.at
        while specials[ahead] < at:
            ahead += 1
        self.next = ahead
        return specials[ahead]

    def word(self) -> str:
        """Read one word and return it without its quotes; a blank or an operator ends it."""
        text = self.text
        parts: list[str] = []
        self.quoted = quoted = False
        while True:
            special = self._special()
            if special > self.at:
                parts.append(text[self.at : special])
                self.at = special
            char = text[special : special + 1]
            if char in ("'", '"', "\\"):
                quoted = self._quote(char, parts) or quoted
            elif char == "$" and self._blank(parts):
                if parts or quoted:
                    self.quoted = quoted
                    return "".join(parts)
            elif char == "$":
                self._dollar(parts)
            elif char == "`":
                self._backtick(parts)
            elif not char or not self._join_parenthesis(char, parts):
                self.quoted = quoted
                return "".join(parts)

    def _blank(self, parts: list[str]) -> bool:
        """Step over a variable that stands for a blank and return whether there is one; a value keeps it as written."""
        end = self._blank_end()
        if end < 0 or (parts and parts[-1][-1:] == "="):
            return False
        self.at = end
        return True

    def _blank_end(self) -> int:
        """Return the end of a `$IFS`, `${IFS}` or `${IFS%?}` here, with an empty `$9` after it; -1 if there is none."""
        text, begin = self.text, self.at
        if text.startswith("${IFS", begin):
            end = text.find("}", begin, begin + _LONGEST_BLANK) + 1
            name_end = begin + 5
        elif text.startswith("$IFS", begin):
            end = name_end = begin + 4
        else:
            return -1
        following = text[name_end : name_end + 1]
        if not end or following.isalnum() or following == "_":
            return -1
        return end + 2 if text[end : end + 1] == "$" and text[end + 1 : end + 2].isdigit() else end

    def _quote(self, char: str, parts: list[str]) -> bool:
        """Read a quotation or an escape, and return whether it is one; an escaped line end is not."""
        begin = self.at + 1
        if char == '"':
            self.at = begin
            self._double(parts)
        elif char == "'":
            end = self.text.find("'", begin)
            end = self.size if end < 0 else end
            parts.append(self.text[begin:end])
            self.at = min(end + 1, self.size)
        else:
            following = self.text[begin : begin + 2]
            if following[:1] == "\n" or following == "\r\n":
                self.at = begin + following.index("\n") + 1
                return False
            parts.append(following[:1])
            self.at = min(begin + 1, self.size)
        return True

    def _join_parenthesis(self, char: str, parts: list[str]) -> bool:
        """Read a parenthesis that belongs to the word, as in `<(…)`, `name=(…)`, `!(…)`; return whether it does."""
        begin = self.at
        if char in "<>":
            if self.text[begin + 1 : begin + 2] != "(" or (len(parts) == 1 and parts[0].isdigit()):
                return False
            self.at += 2
            self._nested()
        elif char == "(" and parts and parts[-1][-1:] in ("=", "?", "*", "+", "@", "!"):
            self.at += 1
            self.balanced()
        else:
            return False
        parts.append(self.text[begin : self.at])
        return True

    def _double(self, parts: list[str]) -> None:
        begin = self.at
        end = self.text.find('"', begin)
        inside = self.text[begin:end] if end >= 0 else ""
        if end >= 0 and "$" not in inside and "\\" not in inside and "`" not in inside:
            parts.append(inside)
            self.at = end + 1
        else:
            self.read_text(parts, '"')

    def read_text(self, parts: list[str] | None = None, closing: str = "") -> None:
        """Read text in which only `$`, a backtick and a backslash are special, up to a closing character."""
        text = self.text
        kept: list[str] = [] if parts is None else parts
        while True:
            special = self._special()
            kept.append(text[self.at : special])
            self.at = special
            char = text[special : special + 1]
            if not char:
                return
            if char == closing:
                self.at += 1
                return
            if char == "$":
                self._dollar(kept, inside=True)
            elif char == "`":
                self._backtick(kept)
            else:
                self._plain(char, kept)

    def _plain(self, char: str, parts: list[str]) -> None:
        """Read one character, or the character that a backslash escapes."""
        following = self.text[self.at + 1 : self.at + 2]
        if char == "\\" and following and following in '$`"\\\n':
            parts.append("" if following == "\n" else following)
            self.at += 2
        else:
            parts.append(char)
            self.at += 1

    # Expansions

    def _dollar(self, parts: list[str], *, inside: bool = False) -> None:
        begin = self.at
        following = self.text[begin + 1 : begin + 2]
        self.at += 1
        if following == "(":
            self.at += 1
            self._parenthesized()
        elif following == "{" and self.depth < MAX_DEPTH:
            self.at += 1
            self.depth += 1
            self._brace()
            self.depth -= 1
        elif following == "'" and not inside:
            self._ansi(parts)
            return
        elif following == '"' and not inside:
            return
        parts.append(self.text[begin : self.at])

    def _parenthesized(self) -> None:
        """Step over `$(…)` or `$((…))`, listing the commands inside; only the end distinguishes the two."""
        if not self.text.startswith("(", self.at) or self.rereads < 1:
            self._nested()
            return
        begin, ahead, before = self.at, self.next, len(self.out)
        self.balanced()
        if self.rereads > 0 and self.text[self.at - 2 : self.at] != "))":
            self.rereads -= 1
            self.at, self.next = begin, ahead
            del self.out[before:]
            self._nested()

    def _nested(self) -> None:
        """Read the commands of a substitution; skip it if it is nested too deep."""
        if self.depth >= MAX_DEPTH:
            self.balanced()
            return
        self.depth += 1
        self.read_list(closed=True)
        self.depth -= 1

    def balanced(self) -> None:
        """Step over everything up to the closing parenthesis; quotes count, and substitutions are read."""
        level = 1
        skipped: list[str] = []
        deep = self.depth >= MAX_DEPTH
        while level:
            self.at = special = self._special()
            char = self.text[special : special + 1]
            if not char:
                return
            if char in ("'", "\\") or (char == '"' and not deep):
                self._quote(char, skipped)
            elif char == "$" and not deep:
                self.depth += 1
                self._dollar(skipped)
                self.depth -= 1
            elif char == "`":
                self._backtick(skipped)
            else:
                level += (char == "(") - (char == ")")
                self.at += 1

    def _brace(self) -> None:
        text = self.text
        skipped: list[str] = []
        while self.at < self.size and text[self.at] != "}":
            char = text[self.at]
            if char in ("'", '"', "\\"):
                self._quote(char, skipped)
            elif char == "$":
                self._dollar(skipped)
            elif char == "`":
                self._backtick(skipped)
            else:
                self.at += 1
        self.at = min(self.at + 1, self.size)

    def _ansi(self, parts: list[str]) -> None:
        """Read `$'…'`, with its escapes undone."""
        begin = self.at + 1
        end = closing_quote(self.text, begin, "'")
        parts.append(unescape(self.text[begin:end]))
        self.at = min(end + 1, self.size)

    def _backtick(self, parts: list[str]) -> None:
        """Read a substitution in backticks, and list its commands."""
        begin = self.at
        end = self.text.find("`", begin + 1)
        while end > 0 and self.text[end - 1] == "\\":
            end = self.text.find("`", end + 1)
        self.at = begin + 1 if end < 0 else end + 1
        parts.append(self.text[begin : self.at])
        if end > begin + 1 and self.depth < MAX_DEPTH:
            body = self.text[begin + 1 : end].replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\")
            self.read_inside(body)
