"""Calls in inline code that delete something of a service: methods of a client, and requests with the method DELETE.

Methods of a program's own data (`Map.delete`, `set.delete`) do not count. The words are in `deletions_in_code.txt`.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables
from deia.watch.clauses.deletion_words import OWN_MACHINE, TRIED, host_of, parts_of, plain, posted_to_delete

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = Tables(__file__)
MILD = TABLES.words("mild methods")
METHODS, SIGNS, ASKED = TABLES.words("methods"), TABLES.listed("remote"), TABLES.listed("asked")
MOCKS, FILE_CALLS, PLACES = TABLES.listed("mocks"), TABLES.words("file calls"), TABLES.listed("places")
MADE = TABLES.listed("made")
CLIENTS, OWN, OWN_TYPES = TABLES.words("clients"), TABLES.words("own"), TABLES.phrases("own types")
PYTHON = frozenset(("python", "python3", "pypy", "py"))
PLAIN = "delete"  # a method that a program's own data have, too
MOST_CODE = 20_000  # characters
ROUTERS = frozenset(("app", "router", "server", "api_router", "blueprint"))  # which a path is only told to
REQUESTING = ("request(", "send(", "open(", "call(", "api(", "method:", "method=", "method=>", "customrequest,")
TO_ADDRESS = tuple(f"({mark}{begin}" for mark in ('"', "'", 'f"', "f'", "`") for begin in ("/", "http"))
OWN_ROOTS = frozenset(("self", "this", "document", "window", "asyncio", "$", "os", "fs", "process", "event", "e"))
OWN_CLASSES = frozenset(("File", "Dir", "FileUtils", "Storage", "Cache", "Session", "Cookie", "Map", "Set"))
ASKING = frozenset(("estimate", "estimates", "preview", "simulate", "simulation"))  # parts of a client that only reckon
CONNECTING = ("client", "://", "environ", ".env.", "getenv", "env[", "connect", "api_key", "apikey", "token")
STATES = ("deleted=true", "archived=true", "is_deleted=true", "is_archived=true")  # which a request sets
MADE_OF = 200  # characters of what a variable is made of
NEAR = 60  # characters before a call in which its object is looked for


def call_that_deletes(code: str, program: str) -> str:
    """Return the call in code that deletes something of a service, "" if there is none."""
    code = code[:MOST_CODE]
    lowered = code.lower()
    if any(sign in lowered for sign in (*TRIED, *MOCKS)):
        return ""
    if not any(sign in lowered for sign in SIGNS):
        named = (
            (start, end)
            for start, end in _names(code, METHODS)
            if len(parts_of(code[start:end])) > 1 or _is_of_module(code, start, program)
        )
        called = next((code[start:end] for start, end in named if _deletes(code, start, end, program)), "")
        return called or _file_deletion(code)
    addresses = [part.split(maxsplit=1)[0] if part.strip() else "" for part in code.split("://")[1:]]
    hosts = [host_of(f"://{address.lower()}") for address in addresses]
    if (hosts and all(host.startswith(OWN_MACHINE) for host in hosts)) or (not hosts and "localhost" in lowered):
        return ""
    called = next((code[start:end] for start, end in _names(code) if _deletes(code, start, end, program)), "")
    if called:
        return called
    spelled = code.replace("'", '"')
    ends = (address.replace("'", '"').replace("`", '"').partition('"')[0] for address in addresses)
    paths = [address.partition("/")[2] for address in ends] if "post" in lowered else []
    posted = next(filter(None, map(posted_to_delete, paths)), "")
    asked = posted or next((sign for sign in ASKED if sign in spelled), "") or _request_method(spelled)
    is_change = ".patch(" in lowered or ".put(" in lowered
    return asked or next((sign for sign in STATES if is_change and sign in plain(spelled.lower())), "")


def _request_method(code: str) -> str:
    """Return DELETE if it is the method of a request in code: `request("DELETE", …`, `method: "DELETE"`."""
    *parts, _ = code.lower().split('"delete"')
    befores = (part[-NEAR:].replace(" ", "").replace('"', "") for part in parts)
    return "DELETE" if any(before.endswith(REQUESTING) for before in befores) else ""


def _file_deletion(code: str) -> str:
    """Return the call that deletes files, if the code names a place on a mounted disk or of a server; else ""."""
    spelled = code.replace("'", '"')
    if not any(f"{mark}{place}" in spelled for place in PLACES for mark in '"<'):
        return ""
    if '("unlink"' in spelled or any(f'.rm("{place}' in spelled for place in PLACES):
        return "rm"
    return next((code[start:end] for start, end in _names(code, FILE_CALLS) if not _is_text(code, start)), "")


def _is_quoted(line: str) -> bool:
    """Return whether the beginning of a line of code ends inside a string."""
    quote, escaped = "", False
    for char in line:
        if escaped or char == "\\":
            escaped = not escaped
        elif not quote:
            quote = char if char in "\"'`" else ""
        elif char == quote:
            quote = ""
    return bool(quote)


def _names(code: str, verbs: frozenset[str] = METHODS | MILD) -> Iterator[tuple[int, int]]:
    """Yield where the names begin and end that contain one of some verbs, in the order of the verbs."""
    lowered = code.lower()
    for verb in sorted(verbs):
        at = lowered.find(verb)
        while at >= 0:
            start = end = at
            while start and _is_of_name(code[start - 1]):
                start -= 1
            while end < len(code) and _is_of_name(code[end]):
                end += 1
            yield start, end
            at = lowered.find(verb, end)


def _is_of_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def _deletes(code: str, start: int, end: int, program: str) -> bool:
    """Return whether a name in code is a method that deletes something of a service, and is called."""
    name, before = code[start:end], code[max(start - NEAR, 0) : start]
    parts = parts_of(name)
    first = parts[1] if parts[0] == "batch" and len(parts) > 1 else parts[0]
    is_last = first not in METHODS and parts[-1] in METHODS  # `conversations_archive`
    is_mild = is_last or first in MILD or parts[0] in MILD
    if not (first in METHODS or is_mild) or _is_harmless(code, start, before, parts):
        return False
    if before.endswith("new ") or not before.endswith((".", "->", "::")):
        return before.endswith("new ") and name.endswith("Command")
    following = code[end : end + 1]
    if following == "(" and ((is_last and before[-2:] == ").") or (len(parts) > 1 and _is_made_client(code, before))):
        return True
    if is_mild and (
        not before.endswith((".", "::")) or not _is_part_of_client(before) or code[end:].startswith(("()", "(function"))
    ):
        return following == "(" and parts[-1] == "all" and _is_part_of_client(before)
    is_called = following in {"(", "!"} or (before[-2:-1] in {")", "]"} and following in {"", " ", "\n", ";", "}"})
    return is_called and (name != PLAIN or _deletes_plainly(code, end, before, program))


def _is_harmless(code: str, start: int, before: str, parts: list[str]) -> bool:
    """Return whether a call is only text, only reckons, or acts on what the code itself made."""
    is_asked = not ASKING.isdisjoint(_chain(before).lower().split("."))
    return is_asked or _is_text(code, start) or _is_own_data(code, before) or _is_made_here(code, parts)


def _deletes_plainly(code: str, end: int, before: str, program: str) -> bool:
    """Return whether `.delete` that ends at a place is called on a service, not on data of the program itself."""
    owner = _chain(before.removesuffix("::")) if before.endswith("::") else ""
    if owner[:1].isupper() and owner not in OWN_CLASSES:  # of a class of records: `Invoice::delete(7)`
        return True
    if code[end:].startswith(TO_ADDRESS):
        return ROUTERS.isdisjoint(before.lower().rstrip(".").replace(".", " ").split()[-1:])
    # A program's own data are told what to delete; Python's have no such method.
    is_told = program not in PYTHON and not code[end:].startswith(("()", "(true", "(force"))
    is_client = _is_made_client(code, before, itself=True)
    return is_client or code[end : end + 1] == "!" or _is_of_service(before, is_told=is_told)


def _is_text(code: str, at: int) -> bool:
    """Return whether a place in code is in a comment or a string of its line."""
    line = code[code.rfind("\n", 0, at) + 1 : at]
    is_comment = "# " in line or " // " in line or line.lstrip().startswith(("#", "//"))
    return is_comment or _is_quoted(line) or code.count('"""', 0, at) % 2 == 1 or _is_only_defined(code, at)


def _is_only_defined(code: str, at: int) -> bool:
    """Return whether a place in Python code is in a function that the code defines and never calls."""
    start = f"\n{code}".rfind("\ndef ", 0, at + 1)
    first, *others = code[max(start, 0) : at].split("\n")
    if start < 0 or any(line and not line[0].isspace() for line in others):
        return False
    return code.count(first.removeprefix("def ").partition("(")[0]) == 1


def _chain(before: str) -> str:
    """Return the names, joined by dots, on which what follows is called: `a.b` before `.c(`."""
    chain = before.rstrip(".")
    start = len(chain)
    while start and (_is_of_name(chain[start - 1]) or chain[start - 1] in ".$"):
        start -= 1
    return chain[start:]


def _is_of_module(code: str, start: int, program: str) -> bool:
    """Return whether a method belongs to a part of a module that Python code imports: `acme.models.delete(`."""
    names = _chain(code[max(start - NEAR, 0) : start]).split(".")
    return program in PYTHON and len(names) > 1 and names[0] not in OWN_ROOTS and f"import {names[0]}" in code


def _is_made_client(code: str, before: str, *, itself: bool = False) -> bool:
    """Return whether a method is called on a variable that the code makes of a key, an address or a connection.

    The client `itself` is what the code calls by that name: `createClient({…})`, not what one of its methods returns.
    """
    root, spelled = _chain(before), code.replace(" = ", "=")
    at = spelled.find(f"{root}=") if root and "." not in root and before[-1:] == "." else -1
    if at < 0 or _is_of_name(spelled[at - 1 : at] or " "):
        return False
    made = spelled[at + len(root) + 1 :].partition("\n")[0].partition("; ")[0][:MADE_OF].lower()
    if itself:
        return "client" in made.partition("(")[0] and ")." not in made
    return any(sign in made for sign in CONNECTING)


def _is_made_here(code: str, parts: list[str]) -> bool:
    """Return whether the same code creates what a method deletes: `createUser(…)`, then `deleteUser(…)`."""
    kind = "".join(parts[1:])
    return bool(kind) and f"create{kind}(" in code.lower().replace("_", "")


def _is_own_data(code: str, before: str) -> bool:
    """Return whether what a method is called on was made by the code itself: a list, a map, parsed JSON."""
    root = _chain(before).partition(".")[0]
    spelled = code.replace(" = ", "=").replace("\n", " ").replace(";", " ").replace("{", "{ ")
    return bool(root) and any(f" {root}={made}" in f" {spelled}" for made in MADE)


def _is_part_of_client(before: str) -> bool:
    """Return whether a method is called on a part of something that is no object of the program itself: `x.part.`."""
    names = _chain(before.replace("::", ".")).split(".")
    if len(names) > 1 and names[0].lower() in CLIENTS:
        return True
    return len(names) > 1 and names[0] not in OWN_ROOTS and OWN.isdisjoint(name.lower() for name in names)


def _is_of_service(before: str, *, is_told: bool) -> bool:
    """Return whether what a plain `.delete` is called on belongs to a service, by its name and what that hangs on."""
    chain = before.rstrip(".>:-")
    if chain.endswith((")", "]")):
        starts = (chain.find(kind) for kind in OWN_TYPES)
        return not any(at == 0 or (at > 0 and not _is_of_name(chain[at - 1])) for at in starts)
    start = len(chain)
    while start and _is_of_name(chain[start - 1]):
        start -= 1
    receiver = chain[start:].lower()
    if chain[:start].endswith((".", "->", "::")):
        return receiver not in OWN
    return (not is_told and receiver not in OWN) or receiver in CLIENTS or receiver.endswith(("client", "api"))
