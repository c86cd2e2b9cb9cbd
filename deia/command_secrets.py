"""Secrets among the arguments of programs: what follows `sshpass -p`, `mysql -p`, `htpasswd -b`, `IDENTIFIED BY`.

Which option of a program takes a password is a table. A text is read as a command line only if it names one of these
programs, so ordinary talk costs one look at a set.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = Tables(__file__)
_OPTIONS = TABLES.lists("options")
LOGINS = TABLES.pairs("logins")
ARGUMENTS = {name: dict(zip(words[::2], map(int, words[1::2]), strict=True))
             for name, words in TABLES.lists("arguments").items()}  # fmt: skip
SETTERS = TABLES.phrases("setters")
READERS = TABLES.phrases("readers")
PRINTERS = frozenset(("echo", "printf", "print", "write-output"))
ACCOUNTS = TABLES.words("accounts")
DOMAIN_USERS = TABLES.words("domain users")

PROGRAMS = frozenset(
    (
        *_OPTIONS, *ACCOUNTS, *DOMAIN_USERS, *PRINTERS,
        "htpasswd", *ARGUMENTS, *(words.split()[0] for words in (*LOGINS, *SETTERS)),
    )
)  # fmt: skip
ENDS = frozenset("|;&\n")
SPACED = str.maketrans(dict.fromkeys("\"'`()|;&/\\+", " "))  # what may stand beside the name of a program
NOT_VALUES = ("-", "$", "<", "{", "[", "\0")  # another option, a variable, a placeholder


class _Word:
    """A word of a command line, and where its text begins and ends."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end


def secret_spans(text: str, lowered: str) -> list[tuple[int, int]]:
    """Return the spans of secrets among the arguments of commands, in order; `lowered` is the text in lower case."""
    spans = list(_in_sql(lowered)) if "identified" in lowered or "password" in lowered else []
    if not PROGRAMS.isdisjoint(f"\n{lowered}".replace("\n-", " ").translate(SPACED).split()):
        for view in _views(text):
            spans += _in_text(view)
    return _apart(spans)


def _views(text: str) -> Iterator[str]:
    """Yield a text as it is and, if quotes in it are escaped as in JSON, as it reads without the escapes."""
    # Every character keeps its place.
    yield text
    if '\\"' in text:
        yield text.replace('"', " ").replace("\\ ", "' ")
        yield text.replace('\\\\\\"', "'   ").replace('\\"', "  ").replace('"', " ")


def _in_text(text: str) -> Iterator[tuple[int, int]]:
    previous: list[_Word] = []
    for command in _commands(text):
        yield from _in_command(command)
        for word in command:
            if " " in word.text and len(word.text) < len(text):  # `bash -c "mysql -pX"`
                for start, end in secret_spans(word.text, word.text.lower()):
                    yield word.start + start, word.start + end
        yield from _printed(previous, command)
        previous = command


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order without those that lie within another, or are too short to be a secret."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if end - start > 2 and (not kept or start >= kept[-1][1]):
            kept.append((start, end))
    return kept


def _commands(text: str) -> Iterator[list[_Word]]:
    """Yield the words of each simple command, without quotation marks."""
    words: list[_Word] = []
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char in ENDS:
            if words:
                yield words
            words = []
            at += 1
        elif char.isspace():
            at += 1
        else:
            word = _word(text, at)
            if word.end > word.start:
                words.append(word)
            at = max(word.end, at) + 1 if char in "'\"" or word.end == at else word.end
    if words:
        yield words


def _word(text: str, at: int) -> _Word:
    """Return the word that begins at a place: a quotation whole, or everything to the next space or end."""
    if text[at] in "'\"":
        close = text.find(text[at], at + 1)
        if close > 0 and "\n" not in text[at:close]:
            return _Word(text[at + 1 : close], at + 1, close)
        return _Word("", at, at)
    end = at
    quote = ""
    while end < len(text) and (quote or not (text[end].isspace() or text[end] in ENDS)):
        if text[end] in "'\"" and (quote or not _is_apostrophe(text, at, end)):
            quote = "" if text[end] == quote else quote or text[end]
        end += 1
    word = text[at:end]
    return _Word(word, at, end)


def _is_apostrophe(text: str, start: int, at: int) -> bool:
    """Return whether a quotation mark within a word opens no quotation: that of `I'll`, or one that nothing closes."""
    close = text.find(text[at], at + 1)
    return close < 0 or (text[at] == "'" and text[start:at].isalpha()) or "\n" in text[at:close]


def is_placeholder(text: str) -> bool:
    """Return whether a word stands for a value: `$NAME`, `<key>`, `{key}`, `%s`, `%NAME%`; or is another option."""
    return text.startswith(NOT_VALUES) or (text[:1] == "%" and (len(text) < 4 or text[-1] == "%"))


def _in_command(words: list[_Word]) -> Iterator[tuple[int, int]]:
    lowered = [word.text.lower() for word in words]
    done = set()
    for at, name in enumerate(lowered):
        program = _program(name if at else name.lstrip("-"))
        if program not in PROGRAMS or program in done:  # the options of its first mention are looked for to the end
            continue
        done.add(program)
        rest = words[at + 1 :]
        following = set(lowered[at + 1 :])
        options = list(_OPTIONS.get(program, ()))
        for login, more in LOGINS.items():
            first, *others = login.split()
            if first == program and following.issuperset(others):
                options += more.split()
        yield from _option_values(rest, options)
        yield from _argument_values(program, lowered[at + 1 :], rest)
        yield from _accounts(program, rest)


def _program(word: str) -> str:
    return word.strip("'\"`($+").rpartition("/")[2].removesuffix(".exe")


def _option_values(words: list[_Word], options: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the values of some options: joined (`-pX`, `--password=X`) or in the next word."""
    for at, word in enumerate(words):
        for option in options:
            kind = option[-1] if option[-1] in "=@," else ""
            name = option.removesuffix(kind)
            if word.text == name and kind != "=" and at + 1 < len(words):
                yield from _value(words[at + 1], kind)
            elif word.text.startswith(name) and len(word.text) > len(name) and _joins(name, word.text):
                cut = len(name) + (word.text[len(name)] in "=:")
                yield from _value(_Word(word.text[cut:], word.start + cut, word.end), kind)


def _joins(name: str, text: str) -> bool:
    """Return whether a value may be joined to an option: `-pX`, `--pass=X`, `/p:X`."""
    return name.endswith(":") or text[len(name)] == "=" or (len(name) == 2 and name[0] == "-" and name[1] != "-")


def _value(word: _Word, kind: str = "") -> Iterator[tuple[int, int]]:
    """Yield the place of a value unless it is another option or a placeholder; after a user's name, only the rest."""
    text, start = word.text, word.start
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        text, start = text[1:-1], start + 1
    if text.startswith(("env:", "file:", "fd:", "stdin")):
        return
    if text.startswith("pass:"):
        text, start = text[5:], start + 5
    if kind in ("@", ","):
        sign = next((char for char in (text if kind == "@" else "") if char in ":="), ",")
        user, sign, text = text.partition(sign)
        start += len(user) + len(sign)
    if text and not is_placeholder(text):
        yield start, start + len(text)


def _argument_values(program: str, lowered: list[str], words: list[_Word]) -> Iterator[tuple[int, int]]:
    """Yield the arguments that are secrets by their place after a sub-command or after a word that names a secret."""
    if program == "htpasswd" and any(name[0] == "-" and "b" in name for name in lowered):
        yield from _argument(words, 2 if any(name[0] == "-" and "n" in name for name in lowered) else 3)
    for part, number in ARGUMENTS.get(program, {}).items():
        at = next((at for at, name in enumerate(lowered) if part in name), len(lowered))
        yield from _argument(words[at + 1 :], number)
    if program == "net" and lowered[:1] == ["user"] and len(words) > 2 and not words[2].text.startswith("/"):
        yield from _value(words[2])
    for setter in SETTERS:
        first, *others = setter.split()
        if first == program and lowered[: len(others)] == others:
            for name, word in zip(lowered, words[1:], strict=False):
                if any(part in name for part in ("secret", "password", "token", "_pass", "api_key", "apikey")):
                    yield from _value(word)


def _argument(words: list[_Word], number: int) -> Iterator[tuple[int, int]]:
    """Yield the place of the argument with a number, options not counted."""
    plain = [word for word in words if word.text[:1] != "-"]
    if len(plain) >= number:
        yield from _value(plain[number - 1])


def _accounts(program: str, words: list[_Word]) -> Iterator[tuple[int, int]]:
    """Yield the password of `scott/X@host` and of `-U user%X`."""
    for word in words:
        if program in ACCOUNTS and "/" in word.text[1:] and word.text[0] not in "-/@.":
            user, _, rest = word.text.partition("/")
            secret = rest.rpartition("@")[0] or rest
            connects = "@" in rest or program == "sqlplus"
            if connects and user.isidentifier() and secret and "/" not in secret.partition("@")[0]:
                yield word.start + len(user) + 1, word.start + len(user) + 1 + len(secret)
        if program in DOMAIN_USERS and "%" in word.text[1:]:
            yield word.start + word.text.index("%") + 1, word.end


def _printed(before: list[_Word], reader: list[_Word]) -> Iterator[tuple[int, int]]:
    """Yield what one command prints and the next reads as a secret."""
    reader_text = " ".join(word.text for word in reader)
    if not any(name in reader_text for name in READERS):
        return
    names = [_program(word.text.lower().lstrip("-")) for word in before]
    printer = next((at for at, name in enumerate(names) if name in PRINTERS), len(before))
    for word in before[printer + 1 :]:
        if not is_placeholder(word.text):
            user, sign, secret = word.text.partition(":")
            cut = len(user) + 1 if sign and "chpasswd" in reader_text else 0
            yield word.start + cut, word.start + cut + len(secret if cut else word.text)


def _in_sql(lowered: str) -> Iterator[tuple[int, int]]:
    """Yield quoted passwords of SQL statements: `IDENTIFIED BY 'X'`, `PASSWORD 'X'`, `PASSWORD('X')`."""
    for quote in "'\"":
        start = lowered.find(quote)
        while start >= 0:
            close = lowered.find(quote, start + 1)
            if close < 0:
                break
            before = lowered[max(0, start - 40) : start].rstrip("\\")
            words = before.rstrip(" (=")
            named = words != before and words.endswith("password") and words[-9:-8] != "_"
            named = named or ("identified" in words and words.endswith(" by"))
            if named and not (quote == '"' and _is_variable(lowered[start + 1 : close].rstrip("\\"))):
                yield start + 1, close
            start = lowered.find(quote, start + 1)


def _is_variable(text: str) -> bool:
    """Return whether a text is nothing but a shell's variable: `$NAME`, `${NAME}`."""
    return text[:1] == "$" and text[1:].strip("{}").isidentifier()
