"""The informative lines of a failed program's output: a stack trace, a log, a compiler's or a shell's message.

Stack frames, code excerpts, log prefixes and everything that differs between runs (paths, addresses, times, line
numbers) are dropped; names and error codes stay. The formats of Python, Node, Java, Go, Rust, .NET, shells, databases,
Terraform and kubectl are recognised, but a line that reports a failure counts in any format. Every step is linear in
the text; of long texts only both ends are read.
"""

from __future__ import annotations

from deia.records import Record
from deia.tables import Tables

HEAD, TAIL = 400, 400  # lines read at the beginning and at the end of a long text
LONGEST_LINE = 600
MOST_LINES = 3  # that are searched for
MOST_WORDS = 60
# How informative a line is: the root cause of a chain, an exception, an error message, a hint.
ROOT, RAISED, REPORTED, HINTED = 4, 3, 2, 1

DECORATION = " \t│╷╵┃║|>\u276f✖✗\u00d7✘•*#=-─"
TAGS = ("npm err!", "npm error", "e ", "stderr:", "stderr |", "error info", "##[error]", "::error::")
TABLES = Tables(__file__)
LEVELS = TABLES.words("levels")
FRAMES = (
    "at ", "in file ", 'file "', "from ", "goroutine ", "created by ", "traceback (", "during handling of",
    "the above exception", "stack backtrace", "--> ", "line ", "on ", "exit status", "exit code", "errno", "syscall",
    "code ", "process finished", "compilation failed", "... ", "with module.", "stack trace",
)  # fmt: skip
ADVICE = ("for more information", "a complete log of this run", "note: ", "hint: ", "help: ", "run with ", "see also ")
# Endings of the names of exceptions.
KINDS = ("error", "exception", "failure", "fault", "interrupt", "iteration", "warning", "exit")
HINTS = (*TABLES.phrases("hints"), "is not a ")
OPENERS = TABLES.listed("openers")
CHAINS = ("caused by:", "caused by ", "root cause", "[cause]:", "inner exception")


class Failure(Record):
    """What a text reports as failed: its most informative lines, cleaned, and how certain the report is."""

    lines: tuple[str, ...] = ()
    score: int = 0
    frames: int = 0

    @property
    def text(self) -> str:
        """The text to search for."""
        return " ".join(" ".join(self.lines).split()[:MOST_WORDS])


def read_failure(text: str) -> Failure:
    """Return the most informative lines of a text."""
    lines = text.splitlines()
    if len(lines) > HEAD + TAIL:
        lines = lines[:HEAD] + lines[-TAIL:]
    scored: list[tuple[int, str]] = []
    frames = 0
    for before, line in zip(["", *lines], lines, strict=False):
        bare = undecorated(line[:LONGEST_LINE])
        score = informativeness(bare, before=before)
        frames += is_frame(line, bare)
        if score:
            scored.append((score, cleaned(bare)))
    best = max((score for score, _ in scored), default=0)
    kept = [line for score, line in scored if score == best and line]
    if best == ROOT:
        kept = kept[-1:]
    return Failure(lines=tuple(dict.fromkeys(kept))[:MOST_LINES], score=best, frames=frames)


def informativeness(bare: str, *, before: str = "") -> int:
    """Return the score of an undecorated line; `before` is the line before it."""
    low = bare.lower()
    if low.startswith(ADVICE):
        return 0
    if low.startswith(CHAINS):
        return ROOT
    if "panicked at" in before and not is_frame(bare, bare):  # Rust prints the place first and the reason below it
        return RAISED
    first = low.split(":", 1)[0]
    if _raises(first, bare) or low.startswith(("panic:", "error[", "thread '")) or _error_code(bare):
        return RAISED
    if is_frame(bare, bare):
        return 0
    if low.startswith(OPENERS) and _is_opener(low):
        return REPORTED
    return HINTED if any(hint in low for hint in HINTS) else 0


def _is_opener(low: str) -> bool:
    """Return whether a line such as "Error: …" or "ERROR 1045 (28000)" is a report, and not prose beginning so."""
    word = low.split(None, 1)[0]
    start = low[:60]
    return word.rstrip("!")[-1:] in ":]" or ": " in start or start.rstrip().endswith(":") or "(" in start


def _raises(first: str, bare: str) -> bool:
    """Return whether a line begins with an exception's name, perhaps after words such as "Uncaught"."""
    words = first.replace('exception in thread "main"', "").split()
    named = words[-1].rsplit(".", 1)[-1] if words else ""
    few = len(words) <= 3
    ends = named.endswith(KINDS) and named not in KINDS
    at = len(first)
    return few and ends and (at == len(bare) or bare[at : at + 1] == ":")


def _error_code(bare: str) -> bool:
    """Return whether a line contains a code used only for errors: ERR_…, ORA-00942, TS2304, SQLSTATE, E0308."""
    return any(is_error_code(word.strip("[](){}:,;.'\"`")) for word in bare.split()[:12])


def is_error_code(word: str) -> bool:
    """Return whether a word is an error code."""
    letters = word.rstrip("0123456789")
    digits = len(word) - len(letters)
    if word.startswith(("ERR_", "SQLSTATE", "SIG", "CVE-")) and len(word) > SHORTEST_CODE:
        return word.isupper()
    if word.isupper() and word.isalpha() and word.startswith("E") and word in ERRNO:
        return True
    return (
        (digits >= 3 and letters in CODES)
        or (digits >= 4 and 1 <= len(letters) <= 3 and letters.isalpha() and letters.isupper() and letters not in NORMS)
        or (digits >= 3 and letters == "E")
    )


SHORTEST_CODE = 5
NORMS = ("RFC", "ISO", "DIN", "EN", "RHEL", "CY", "FY", "Q")
CODES = frozenset(("ORA-", "TS", "CS", "MSB", "NU", "NETSDK", "SQL", "JSC", "PLS-", "PG-", "TNS-", "HY"))
ERRNO = TABLES.words("errno")


def is_frame(line: str, bare: str) -> bool:
    """Return whether a line only names a place in the code, or is an excerpt of the code there."""
    low = bare.lower()
    if not low or low.startswith(("~", "^")):
        return True
    if low.startswith("at ") and line[:1].isspace():
        return True
    if "goroutine " in low[:10] or low.startswith(("traceback (", "stack backtrace", 'file "')):
        return True
    return low.startswith(FRAMES) and not low.startswith(CHAINS) and (line[:1] in " \t│|" or "(" in low or "." in low)


def undecorated(line: str) -> str:
    """Return a line without what precedes the message: boxes, times, levels, a program's name."""
    bare = line.strip(DECORATION)
    words = bare.split()
    start = 0
    while start < len(words) - 1 and start < 6 and _is_prefix(words[start]):
        start += 1
    bare = bare if not start else " ".join(words[start:])
    low = bare.lower()
    prefix = next((tag for tag in TAGS if low.startswith(tag) and not (tag == "e " and line[:2] != "E ")), "")
    return bare[len(prefix) :].strip() or bare


def _is_prefix(word: str) -> bool:
    """Return whether a word of a log line is a time, a level or a process id, which nobody would search for."""
    inside = word.strip("[](){}<>:,|-")
    if not inside:
        return True
    if inside[0].isdigit() and sum(character.isdigit() for character in inside) >= 4 and _is_stamp(inside):
        return True
    return word[0] in "[(<" and (inside.isdigit() or inside.lower() in LEVELS - {"error", "panic", "fatal"})


def _is_stamp(word: str) -> bool:
    return all(character.isdigit() or character in "-:.,/TZ+_" for character in word) and any(
        mark in word for mark in "-:./"
    )


def cleaned(line: str) -> str:
    """Return a line without what differs between runs: paths, addresses, line numbers, times, long numbers."""
    words = [_without_place(word) for word in _unquoted_paths(line).split()]
    kept = [word for word in words if word and not varies(word)]
    pairs = zip(["", *kept], kept, [*kept[1:], ""], strict=False)
    return " ".join(
        word
        for before, word, after in pairs
        if not (before == "line" and _is_number(word)) and not (word == "line" and _is_number(after))
    )


def _is_number(word: str) -> bool:
    return word.rstrip(":,.)").isdigit()


def _unquoted_paths(line: str) -> str:
    for mark in "'\"`":
        line = line.replace(f"{mark}/", f"{mark} /").replace(f"{mark}:", f"{mark} :")
    return line


def _without_place(word: str) -> str:
    """Return a word without a line number or a folder: app.py:12:3 and /srv/app.py both become app.py."""
    bare = word.strip("\"'`()[]{}<>,;:")
    pieces = bare.split(":")
    while len(pieces) > 1 and pieces[-1].isdigit():
        pieces.pop()
    placed = ":".join(pieces)
    if _is_path(placed):
        return placed.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    return placed if placed != bare else word


def _is_path(word: str) -> bool:
    return (word.startswith(("/", "~/", "./", "../", "file://")) and len(word) > 1) or word[1:3] in (":\\", ":/")


def varies(word: str) -> bool:
    """Return whether a word differs between runs: an address, a hash, a time, an IP, a long number."""
    inside = word.strip("\"'`()[]{}<>,;:.=+").rpartition("=")[2]
    if inside.lower().startswith("0x") and len(inside) > 3:
        return True
    digits = sum(character.isdigit() for character in inside)
    if not digits:
        return False
    if all(character.isdigit() or character in "-:.,/TZ+" for character in inside):
        return digits > 5 or any(mark in inside for mark in ":/")
    hexadecimal = all(character in "0123456789abcdef-" for character in inside.lower())
    return hexadecimal and len(inside) >= 7 and digits > 1
