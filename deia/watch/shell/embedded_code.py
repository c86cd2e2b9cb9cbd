"""The shell commands that code in other languages starts: `os.system("…")`, `execSync('…')`, backticks.

Only string literals that are passed directly to a known call are found. A call that is assembled from pieces is not.
"""

from __future__ import annotations

from deia.tables import Tables
from deia.watch.shell.nodes import unescape
from deia.watch.shell.posix_words import closing_quote

TABLES = Tables(__file__)
_CALLS = {language: calls.split(", ") for language, calls in TABLES.pairs("calls").items()}
_SIGNS = TABLES.lists("signs")
_DELETES = TABLES.lists("deletes")
_REACH = 120  # characters after the call in which the path is looked for
_CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}
_PREFIX_LETTERS = "rRbBfFuU"
MAX_CALLS = 256


def commands_in(code: str, language: str) -> list[list[str]]:
    """Return the commands that code starts, in order: one string is a line for a shell, several are ready words."""
    signs = _SIGNS.get(language)
    commands: list[tuple[int, list[str]]] = []
    if not signs or any(sign in code for sign in signs):
        for call in _CALLS.get(language, ()):
            _find_calls(code, call, commands)
    if language in ("ruby", "perl", "php"):
        _find_backticks(code, commands)
    if language == "awk":
        _find_pipes(code, commands)
    for call in _DELETES.get(language, ()):
        _find_deletes(code, call, commands)
    commands.sort(key=lambda place: place[0])
    return [words for _, words in commands if words]


def _find_calls(code: str, call: str, commands: list[tuple[int, list[str]]]) -> None:
    """Add the commands passed to a call, each with its position; `$0` if the input decides."""
    at = code.find(call)
    while at >= 0 and len(commands) < MAX_CALLS:
        end = at + len(call)
        before = code[at - 1] if at else " "
        if not (before.isalnum() or before == "_") and not code[end : end + 1].isalnum() and code[end : end + 1] != "_":
            words = _arguments(code, end, quoting=call in ("qx", "%x"))
            unknown = not words and code[_skip_blank(code, end) :].replace(" ", "")[:2] == "($"
            commands.append((at, ["$0"] if unknown else words))  # awk's system($0): the line decides
        at = code.find(call, end)


def _find_deletes(code: str, call: str, commands: list[tuple[int, list[str]]]) -> None:
    """Add the calls that delete a tree, each as the call's name and the path."""
    at = code.find(call)
    while at >= 0 and len(commands) < MAX_CALLS:
        end = at + len(call)
        rest = code[end : end + _REACH].partition("\n")[0]
        places = [place for quote in "'\"`" if (place := rest.find(quote)) >= 0]
        words: list[str] = []
        if rest.lstrip()[:1] in ("(", "'", '"') and places:
            _literal(rest, min(places), words)
        if words:
            commands.append((at, [call, *words]))
        at = code.find(call, end)


def _arguments(code: str, at: int, *, quoting: bool) -> list[str]:
    """Return the string literals that are the arguments of a call at `at`."""
    at = _skip_blank(code, at)
    if quoting:
        end = code.find(_CLOSING.get(code[at : at + 1], code[at : at + 1] or " "), at + 1)
        return [code[at + 1 : end]] if end > 0 else []
    if code[at : at + 1] == "(":
        at = _skip_blank(code, at + 1)
    words: list[str] = []
    at = _literals(code, at, words)
    if len(words) == 1 and code[at : at + 1] == ",":
        following = _skip_blank(code, at + 1)
        if code[following : following + 1] in ("[", "'", '"'):
            _literals(code, following, words)
    return words


def _literals(code: str, at: int, words: list[str]) -> int:
    """Read one literal, or a list of them, and return the position after it."""
    bracket = code[at : at + 1] in ("[", "(")
    at = _skip_blank(code, at + bracket)
    before = -1
    while at != before:
        before = at
        at = _skip_blank(code, _literal(code, at, words))
        if at == before:
            break
        if code[at : at + 1] != "," or not (bracket or code[_skip_blank(code, at + 1) :][:1] in ("'", '"')):
            break
        at = _skip_blank(code, at + 1)
    return _skip_blank(code, at + (bracket and code[at : at + 1] in ("]", ")")))


def _literal(code: str, at: int, words: list[str]) -> int:
    """Append the string literal at `at`, and return the position after it; `at` itself if there is none."""
    begin = at
    while code[at : at + 1] and code[at] in _PREFIX_LETTERS and at - begin < 3:
        at += 1
    quote = code[at : at + 1]
    if quote not in ("'", '"', "`") or not quote:
        return begin
    triple = quote * 3
    if code.startswith(triple, at):
        quote = triple
    end = closing_quote(code, at + len(quote), quote)
    body = code[at + len(quote) : end]
    words.append(body if "r" in code[begin:at].lower() else unescape(body))
    return min(end + len(quote), len(code))


def _skip_blank(code: str, at: int) -> int:
    while at < len(code) and code[at] in " \t\r\n":
        at += 1
    return at


def _find_backticks(code: str, commands: list[tuple[int, list[str]]]) -> None:
    at = code.find("`")
    while at >= 0 and len(commands) < MAX_CALLS:
        end = code.find("`", at + 1)
        if end < 0:
            return
        commands.append((at, [code[at + 1 : end]]))
        at = code.find("`", end + 1)


def _find_pipes(code: str, commands: list[tuple[int, list[str]]]) -> None:
    """Add the commands of awk's `"command" | getline` and `print | "command"`."""
    at = code.find("|")
    while at >= 0 and len(commands) < MAX_CALLS:
        after = _skip_blank(code, at + 1)
        before = code[:at].rstrip() if code.startswith("getline", after) else ""
        if code[after : after + 1] == '"':
            words: list[str] = []
            _literal(code, after, words)
            commands.append((at, words))
        elif before.endswith('"'):
            commands.append((at, [unescape(before[before.rfind('"', 0, -1) + 1 : -1])]))
        at = code.find("|", at + 1)
