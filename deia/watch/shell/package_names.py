"""Names of packages that are one letter away from a popular one, where a command installs them.

Such names are registered for people who mistype. A name that is itself in wide use does not count, nor does one that
differs only by digits, hyphens, dots or underscores. The lists in `package_names.txt` are short: of PyPI, npm and
crates.io the names that people type themselves.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deia.watch.shell.nodes import Command

TABLES = Tables(__file__)
CLIENTS = TABLES.lists("clients")
VALUED = TABLES.words("valued")
POPULAR = {"pypi": TABLES.words("pypi"), "npm": TABLES.words("npm"), "cargo": TABLES.words("cargo")}
NEIGHBOURS = {
    "pypi": TABLES.words("pypi neighbours"), "npm": TABLES.words("npm neighbours"),
    "cargo": TABLES.words("cargo neighbours"),
}  # fmt: skip
SCOPES, SCOPE_NEIGHBOURS = TABLES.words("scopes"), TABLES.words("scope neighbours")
LEAST = 5  # letters of a name, as of the popular one; shorter ones have too many honest neighbours
MOST = 40  # names of one command
ENDS = "[=<>!~;@ "  # what begins the version or the extras behind a name
SIGNS = ("install ", " add ", " i ", "npx ", "uvx ", "bunx ", " dlx ", "tool run ", "pipx run ", " download ")
MOST_SIGNS, MOST_LOOKED = 10, 600  # how often a sign is looked at, and how many characters after it
RUNNING = frozenset(("npx", "bunx", "uvx", "dlx", "run"))  # they take one name, and then its arguments


def mistyped(command: Command) -> Iterator[tuple[str, str]]:
    """Yield each name that a command installs and that is nearly that of a popular package, with the popular name."""
    registry, names = _installed(command)
    for name in names[:MOST]:
        popular = nearly(name, registry)
        if popular:
            yield name, popular


def may_mistype(command: str) -> bool:
    """Return whether a command line may install such a package; the gate asks this before anything is parsed."""
    text = command.replace("\\", "").replace('"', "").replace("'", "")
    for sign in SIGNS:
        for part in text.split(sign)[1:MOST_SIGNS]:
            line = part[:MOST_LOOKED].partition("\n")[0]
            names = "".join(char if char.isalnum() or char in "-_./@" else " " for char in line).split()
            if any(nearly(_name(name), registry) for name in names for registry in POPULAR):
                return True
    return False


def nearly(name: str, registry: str) -> str:
    """Return the popular package of a registry whose name is one letter away from this one, or ""."""
    scope, slash, bare = name.lower().removeprefix("@").partition("/")
    if name[:1] == "@":
        near = _neighbour(scope, SCOPES, SCOPE_NEIGHBOURS, least=LEAST - 1) if slash else ""
        return f"@{near}/{bare}" if near else ""
    plain = scope.replace("_", "-").replace(".", "-") if registry == "pypi" else scope
    return _neighbour(plain, POPULAR[registry], NEIGHBOURS[registry], least=LEAST)


def _neighbour(name: str, popular: frozenset[str], known: frozenset[str], *, least: int) -> str:
    if len(name) < least or name in popular or name in known:
        return ""
    ends = name[0], name[-1]  # one of them stays the same
    alike = (other for other in popular if len(other) >= LEAST and (other[0] == ends[0] or other[-1] == ends[1]))
    near = (other for other in alike if is_one_apart(name, other))
    return min((other for other in near if _letters(other) != _letters(name)), default="")


def _letters(name: str) -> str:
    return "".join(char for char in name if char.isalpha())


def is_one_apart(name: str, other: str) -> bool:
    """Return whether two names differ by one letter: added, left out, replaced, or swapped with its neighbour."""
    if name == other or abs(len(name) - len(other)) > 1:
        return False
    at = next((at for at, (mine, theirs) in enumerate(zip(name, other, strict=False)) if mine != theirs), len(name))
    rests = name[at:], other[at:]
    if len(name) == len(other):
        return rests[0][1:] == rests[1][1:] or (rests[0][:2] == rests[1][1::-1] and rests[0][2:] == rests[1][2:])
    shorter, longer = sorted(rests, key=len)
    return longer[1:] == shorter


def _installed(command: Command) -> tuple[str, list[str]]:
    """Return the registry that a command installs from, and the names of the packages."""
    program = command.program.lower().removesuffix(".exe")
    registry, *ways = CLIENTS.get(program, ("",))
    words = list(_without_options(command.arguments))
    taken = 0
    if registry and ways:
        way = next((parts for parts in (way.split("+") for way in ways) if words[: len(parts)] == parts), None)
        taken = len(way) if way else len(words)
    runs = {program, *words[:taken]} & RUNNING
    names = words[taken : taken + 1] if runs else words[taken:]
    return registry, [name for name in map(_name, names) if name] if registry else []


def _without_options(arguments: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in arguments:
        if not is_value and word[:1] != "-":
            yield word
        is_value = word in VALUED


def _name(word: str) -> str:
    """Return the name in what is to be installed, without version and extras; "" for a path or an address."""
    scope = word[:1] if word[:1] == "@" else ""
    bare = word[len(scope) :]
    end = min((at for at in map(bare.find, ENDS) if at >= 0), default=len(bare))
    name = scope + bare[:end]
    is_plain = all(char.isalnum() or char in "-_./@" for char in name) and name.count("/") == len(scope)
    return (
        name if is_plain and name[:1] not in {".", "/"} and not name.endswith((".whl", ".tgz", ".gz", ".zip")) else ""
    )
