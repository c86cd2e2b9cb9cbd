"""What an import in source code names: a path in the same source, or a package from elsewhere.

For each kind of import in `code_facts.txt`, a function reads the names from its text and its place. Documents are named
`source:folder/file`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

SCRIPTS = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")
NOT_RUST_MODULES = ("lib", "main", "mod")
OWN_CRATES = ("tests", "examples", "benches", "bin")  # folders where each file is a crate of its own
RUST_STANDARD = ("std", "core", "alloc")
MOST_USED = 2_000  # names in one `use`
MOST_ENDS = 6  # trailing parts of a path by which a header can be included
OUTSIDE = re.compile(r"[a-z][a-z0-9+.]*:|[/#]")
DOTTED = re.compile(r"^(?:global\s+)?(?:import|using|use)\s+|[;`\s]+$")
KEYWORD = re.compile(r"^(?:static|function|const|type)\s+")
LOWER, CAPITAL = re.compile(r"[a-z_]"), re.compile(r"[A-Z]")


class Import(NamedTuple):
    """The target of an import, and the package that is meant if the target is not in the library."""

    target: str  # "" if the import can only mean the package
    package: str = ""
    elsewhere: str = ""  # another name for the target, by which other files may include it


class Place(NamedTuple):
    """Where an import stands."""

    source: str  # with its colon, or ""
    path: str
    language: str
    inner: tuple[str, ...] = ()  # the modules within the file that enclose it
    own: frozenset[str] = frozenset()  # the modules and other things that the file declares

    @property
    def folder(self) -> str:
        """The folder of the file, "" for the outermost."""
        return posixpath.dirname(self.path)

    def beside(self, path: str) -> str:
        """Return the document name that a path relative to the file leads to."""
        return self.source + posixpath.normpath(posixpath.join(self.folder, path))


def place_of(document: str, language: str) -> Place:
    """Return the place of a document, whose name contains its source."""
    source, colon, path = document.partition(":") if ":" in document.partition("/")[0] else ("", "", document)
    return Place(source + colon, path, language)


def module_name(place: Place) -> str:
    """Return the path by which other files import a file, or "" if they import what it declares instead."""
    naming = {"javascript": _script, "rust": _rust, "go": _go, "c": _whole, "cpp": _whole}
    for language in ("typescript", "tsx"):
        naming[language] = _script
    for language in ("ruby", "php", "objc", "cuda"):
        naming[language] = _whole
    return place.source + naming[place.language](place.path) if place.language in naming else ""


def _script(path: str) -> str:
    bare = SCRIPTS.sub("", path)
    return bare.removesuffix("/index") if bare != "index" else "."


def _go(path: str) -> str:
    return posixpath.dirname(path) or "."


def _whole(path: str) -> str:
    return path


def _rust(path: str) -> str:
    root, inner = _crate(path)
    return ".".join((root, *inner))


def _crate(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the path of a Rust file's crate, and the modules that lead from it to the file."""
    parts = path.removesuffix(".rs").split("/")
    ends_of = [number + 1 for number, part in enumerate(parts[:-1]) if part == "src"]
    own = [number + 2 for number, part in enumerate(parts[:-1]) if part in OWN_CRATES and not ends_of]
    own += [number + 1 for number in ends_of if parts[number] == "bin"]
    end = (own or ends_of or [len(parts) - 1])[-1] + (1 if own and ends_of else 0)
    inner = parts[end:] if parts[-1] not in NOT_RUST_MODULES else parts[end:-1]
    return "/".join((*parts[:end], "crate")), tuple(inner)


def ends(place: Place) -> Iterator[str]:
    """Yield the trailing parts of a file's path, by which any file can include it."""
    parts = place.path.split("/")
    for count in range(1, min(len(parts), MOST_ENDS) + 1):
        yield f"{place.source}*/{'/'.join(parts[-count:])}"


# --- what the kinds of imports name ---


def _path(place: Place, text: str) -> Iterator[Import]:
    """Read an import of JavaScript."""
    path = text.removeprefix("node:").partition("?")[0]
    if path.startswith(("./", "../")) or path in {".", ".."}:
        name = place.beside(path)
        yield Import(place.source + _script(name.removeprefix(place.source)))
    elif path.startswith(("@/", "~/")):
        yield Import(f"{place.source}@/{_script(path[2:])}")
    elif path and not OUTSIDE.match(path):
        yield Import("", "/".join(path.split("/")[: 2 if path[0] == "@" else 1]))


def _include(place: Place, text: str) -> Iterator[Import]:
    """Read an `#include` of C."""
    path = posixpath.normpath(text.strip('<>"'))
    anywhere = f"{place.source}*/{path.removeprefix('../')}"
    if text[:1] == "<":
        yield Import(anywhere, path.split("/")[0])
    else:
        yield Import(place.beside(path), elsewhere=anywhere)


def _beside(place: Place, text: str) -> Iterator[Import]:
    """Read a path relative to the importing file."""
    path = text.removeprefix("/")
    yield Import(place.beside(f"{path}.rb" if place.language == "ruby" and not path.endswith(".rb") else path))


def _required(place: Place, text: str) -> Iterator[Import]:
    """Read a `require` of Ruby."""
    yield Import(f"{place.source}*/{text.removesuffix('.rb')}.rb", text.partition("/")[0])


def _import_path(_place: Place, text: str) -> Iterator[Import]:
    """Read an import of Go."""
    yield Import(f"go/{text}", text)


def _dotted(place: Place, text: str) -> Iterator[Import]:
    """Read an import of Java, Kotlin, Scala, C# or PHP."""
    name = DOTTED.sub("", " ".join(text.split())).replace("\\", ".").replace(" .", ".").replace(". ", ".")
    is_member = bool(KEYWORD.match(name)) and place.language != "csharp"
    name, renamed = KEYWORD.sub("", name), "=" in name
    name = re.split(r" as | = ", name)[-1 if place.language == "csharp" else 0].strip(" .")
    base, brace, rest = name.partition("{")
    for member in rest.rstrip("} ").split(",") if brace else ("",):
        whole = f"{base.rstrip('. ')}.{re.split(r' as |=>', member)[0].strip()}" if brace else name
        above, _, last = whole.rpartition(".")
        if place.language == "csharp" and not renamed and "static " not in text:
            yield Import("", whole)
        elif last in {"*", "_"}:
            is_class = CAPITAL.match(above.rpartition(".")[2])
            yield Import(above, above.rpartition(".")[0]) if is_class else Import("", above)
        elif is_member and place.language == "java":
            yield Import(above, above.rpartition(".")[0])
        elif above:
            yield Import(whole, above)
        elif whole:
            yield Import("", whole)


def _module(place: Place, text: str) -> Iterator[Import]:
    """Read a `mod` of Rust whose body is in another file."""
    yield Import(".".join((place.source + _rust(place.path), *place.inner, text)))


def _use(place: Place, text: str) -> Iterator[Import]:
    """Read a `use` of Rust."""
    for path in _used(text):
        parts = [part for part in path.split("::") if part]
        capitals = [number for number, part in enumerate(parts) if CAPITAL.match(part)]
        parts = parts[: capitals[0] + 1] if capitals else parts
        if parts:
            yield from _of_crate(place, parts)


def _of_crate(place: Place, parts: list[str]) -> Iterator[Import]:
    root, inner = _crate(place.path)
    here = [*inner, *place.inner]
    first = parts[0]
    if first in {"self", "super"}:
        above = len([part for part in parts if part == "super"])
        rest = [part for part in parts if part not in {"self", "super"}]
        yield Import(".".join((place.source + root, *here[: max(len(here) - above, 0)], *rest)))
    elif first in {"crate", "$crate"}:
        yield Import(".".join((place.source + root, *parts[1:])))
    elif first in place.own:
        yield Import(".".join((place.source + root, *here, *parts)))
    elif first in RUST_STANDARD:
        yield Import("", first)
    elif LOWER.match(first):
        yield Import(".".join((f"crate/{first}", *parts[1:])), first)


def _used(text: str) -> list[str]:
    """Return the paths in the tree of a `use`, without a final `*` or `self` and without `as` names."""
    text = re.sub(r"//[^\n]*|/\*[^*]*\*/|\s+as\s+[\w#]+|\s+|r#", "", text)
    paths, above, last = [], [""], ""
    for piece in re.findall(r"[^{},]+|[{},]", text)[:MOST_USED]:
        if piece == "{":
            above.append(last)
        elif piece == "}":
            above.pop()
            above = above or [""]
        elif piece != ",":
            last = above[-1] + piece
            if not piece.endswith("::"):
                paths.append(last.removesuffix("*").removesuffix("::self"))
    return paths


KINDS: dict[str, Callable[[Place, str], Iterable[Import]]] = {
    "path": _path,
    "include": _include,
    "beside": _beside,
    "required": _required,
    "import_path": _import_path,
    "dotted": _dotted,
    "module": _module,
    "use": _use,
}
