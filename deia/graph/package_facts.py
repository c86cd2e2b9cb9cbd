"""Which packages a project depends on according to its manifests and lock files, and which of them depend on which.

Each kind of file, recognised by its name, has a function that yields dependencies. A package is shared: the same name
means the same package in every document.
"""

from __future__ import annotations

import bisect
import itertools
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from deia.graph.facts import PACKAGE, Alias, Entity, Facts, Reference
from deia.graph.import_paths import place_of
from deia.graph.marked_data import Map, read_marked

LONGEST = 8_000_000
MOST = 50_000
TOKEN = re.compile(r"[A-Za-z0-9@_][\w@/.:+-]*")
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]\n]*\])?\s*([^;#\n]*)")
GO_MODULE = re.compile(r"(?m)^\s*module\s+\"?([^\s\"]+)")
GO_REQUIRED = re.compile(r"(?m)^(?:require)?[ \t]+\"?([a-z0-9][\w.-]{0,80}\.[a-z][\w.~/-]{0,200})\"?[ \t]+(v\d\S*)")
GEM = re.compile(r"(?m)^[ \t]*gem[ \t(]+[\"']([\w.-]+)[\"'](?:,[ \t]*[\"']([^\"'\n]*)[\"'])?")
GEM_LOCKED = re.compile(r"(?m)^( {4}| {6})([\w.-]+)(?: \(([^)\n]*)\))?!?$")
MAVEN = re.compile(r"<(/?)(dependency|plugin|parent|exclusion)>|<(groupId|artifactId|version)>\s*([^<\s]+)\s*<")
GRADLE = re.compile(
    r"[ \t]*(?:\w*[iI]mplementation|\w*[aA]pi|\w*[cC]ompile(?:Only)?|runtimeOnly)"
    r"[ \t(]+[\"']([\w.-]+:[\w.-]+)(?::([\w.+-]+))?[\"']"
)
YARN = re.compile(r"(?m)^(\S[^\n]*):$|^  version:? \"?([^\"\n]+)|^    \"?(@?[\w./-]+)\"?:? \"?([^\"\n]*)")
PNPM = re.compile(r"^/?(@?[^@(]+)[@/]([^(@/]+)")


class Needed(NamedTuple):
    """A package that something depends on, or one that is locked."""

    name: str
    version: str = ""
    by: str = ""  # the package that depends on it; "" for the project
    line: int = 0  # 0: the line on which the name stands


class _Lines:
    """The lines on which names stand in a text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, list[int]] = {}
        for number, line in enumerate(text.split("\n"), 1):
            for token in TOKEN.findall(line[:1000]):
                self._lines.setdefault(token.casefold(), []).append(number)

    def of(self, name: str, after: int = 0) -> int:
        """Return the first line, not before `after`, on which a name stands; its very first line if there is none."""
        lines = self._lines.get(name.casefold(), [])
        place = bisect.bisect_left(lines, after)
        return lines[place] if place < len(lines) else lines[0] if lines else 0


def reads_packages(document: str) -> bool:
    """Return whether a document's name is that of a manifest or a lock file."""
    return _reader(document) is not None


def package_facts(document: str, text: str) -> Facts:
    """Return the packages that a manifest or a lock file names."""
    reader = _reader(document)
    if reader is None or len(text) > LONGEST:
        return Facts()
    try:
        needed = list(itertools.islice(reader(text), MOST))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return Facts()
    lines = _Lines(text)
    entities: dict[str, Entity] = {}
    references = []
    for name, version, by, line in needed:
        at = line or lines.of(name, entities[by].first if by in entities else 0)
        if name and by == OWN:
            entities[name] = Entity(name, PACKAGE, at, at, fields={"version": version} if version else {}, shared=True)
        elif name and by == LOCKED:
            entities.setdefault(name, Entity(name, PACKAGE, at, at, fields={"version": version}, shared=True))
        elif name and name != by:
            source = by if by in entities else ""
            references.append(Reference("DEPENDS_ON", name, at, source, PACKAGE, description=version[:100]))
    if reader is not _requirements:
        own = {name for name, _, by, _ in needed if by == OWN}
        return Facts("", tuple(entities.values()), tuple(dict.fromkeys(references)), tuple(_aliases(document, own)))
    return Facts("", tuple(entities.values()), tuple(dict.fromkeys(references)))


OWN, LOCKED = "\0own", "\0locked"  # for `Needed.by`: the project itself, and a package locked to a version


def _reader(document: str) -> Callable[[str], Iterator[Needed]] | None:
    name = posixpath.basename(document).rpartition(":")[2].lower()
    if re.fullmatch(r"(?:.*[-_.])?requirements?(?:[-_.].*)?\.(?:txt|in)|constraints\.txt", name):
        return _requirements
    return READERS.get(name)


def _aliases(document: str, own: Iterable[str]) -> Iterator[Alias]:
    """Yield the names by which code imports the project itself, as a crate or a Go module."""
    place = place_of(document, "")
    folder = place.folder
    for name in own:
        if place.path.endswith("go.mod"):
            yield Alias(f"go/{name}", place.source + (folder or "."))
        elif place.path.endswith("Cargo.toml"):
            yield Alias(f"crate/{name.replace('-', '_')}", place.source + posixpath.join(folder, "src/crate"))


# --- Python ---


def _requirement(text: str) -> Iterator[Needed]:
    match = REQUIREMENT.match(text[:1000])
    if match:
        yield Needed(_python_name(match[1]), match[2].strip())


def _python_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(text: str) -> Iterator[Needed]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(("-", "#", "http:", "https:", ".", "/")):
            yield from (needed._replace(line=number) for needed in _requirement(line))


def _pyproject(text: str) -> Iterator[Needed]:
    data = tomllib.loads(text)
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    for own in (project, poetry):
        if own.get("name"):
            yield Needed(_python_name(own["name"]), str(own.get("version", "")), OWN)
    groups = [project.get("dependencies", []), data.get("build-system", {}).get("requires", [])]
    groups += [*project.get("optional-dependencies", {}).values(), *data.get("dependency-groups", {}).values()]
    for requirement in itertools.chain(*groups):
        if isinstance(requirement, str):
            yield from _requirement(requirement)
    tables = [poetry, *poetry.get("group", {}).values()]
    for table in tables:
        for key in ("dependencies", "dev-dependencies"):
            for name, version in table.get(key, {}).items():
                if name != "python":
                    yield Needed(_python_name(name), _version(version))


def _version(value: object) -> str:
    return str(value.get("version", "")) if isinstance(value, dict) else str(value)


def _toml_lock(text: str) -> Iterator[Needed]:
    """Read the lock files of Poetry, uv and Cargo."""
    packages = tomllib.loads(text).get("package", [])
    declared = [number for number, line in enumerate(text.split("\n"), 1) if re.match(r"name\s*=", line)]
    for number, package in enumerate(packages):
        line = declared[number] if number < len(declared) else 0
        yield Needed(package["name"], str(package.get("version", "")), LOCKED, line)
    for package in packages:
        dependencies = package.get("dependencies", [])
        for dependency in dependencies:
            if isinstance(dependency, dict):
                yield Needed(dependency["name"], "", package["name"])
            else:
                version = _version(dependencies[dependency]) if isinstance(dependencies, dict) else ""
                yield Needed(str(dependency).split(" ")[0], version, package["name"])


# --- JavaScript ---


def _package_json(text: str) -> Iterator[Needed]:
    data = json.loads(text)
    if data.get("name"):
        yield Needed(data["name"], data.get("version", ""), OWN)
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from (Needed(name, str(version)) for name, version in data.get(key, {}).items())


def _package_lock(text: str) -> Iterator[Needed]:
    data = json.loads(text)
    packages = data.get("packages") or {
        f"node_modules/{name}": package for name, package in data["dependencies"].items()
    }
    lines = {line.strip().split('"')[1]: number for number, line in enumerate(text.split("\n"), 1)
             if line.lstrip().startswith('"') and line.rstrip().endswith("{")}  # fmt: skip
    named = {path: path.rpartition("node_modules/")[2] if path else "" for path in packages}
    for path, name in named.items():
        if name:
            line = lines.get(path) or lines.get(name, 0)
            yield Needed(name, str(packages[path].get("version", "")), LOCKED, line)
    for path, name in named.items():
        for key in ("dependencies", "requires"):
            for other, version in (packages[path].get(key) or {}).items():
                yield Needed(other, version if isinstance(version, str) else "", name)


def _yarn_lock(text: str) -> Iterator[Needed]:
    name, line, at, dependencies = "", 1, 0, []
    for match in YARN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match[1]:
            spec = match[1].strip('"').split(",")[0].strip('" ')
            name = "" if spec.startswith(("__", "#")) else spec[0] + spec[1:].partition("@")[0]
            head = line
        elif match[2] and name:
            yield Needed(name, match[2].strip('"'), LOCKED, head)
        elif match[3] and name:
            dependencies.append(Needed(match[3], match[4], name, line))
    yield from dependencies


def _pnpm_lock(text: str) -> Iterator[Needed]:
    data = next((document for document in read_marked(text) if isinstance(document, Map)), Map())
    importers = data.map("importers")
    for project in [data, *(importers.map(name) for name in importers)]:
        for key in ("dependencies", "devDependencies", "optionalDependencies"):
            listed = project.map(key)
            for name in listed:
                yield Needed(name, listed.map(name).text("version") or listed.text(name), "", listed.lines[name])
    dependencies = []
    for section in ("packages", "snapshots"):
        packages = data.map(section)
        for spec, line in packages.lines.items():
            if match := PNPM.match(spec):
                yield Needed(match[1], match[2], LOCKED, line)
                listed = packages.map(spec).map("dependencies")
                dependencies += [Needed(name, listed.text(name), match[1], listed.lines[name]) for name in listed]
    yield from dependencies


# --- Rust, Go, Ruby, Java ---


def _cargo(text: str) -> Iterator[Needed]:
    data = tomllib.loads(text)
    if "package" in data:
        yield Needed(data["package"]["name"], _text(data["package"].get("version")), OWN)
    for table in [data, data.get("workspace", {}), *data.get("target", {}).values()]:
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, value in table.get(key, {}).items():
                real = value.get("package", name) if isinstance(value, dict) else name
                yield Needed(real, _version(value))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _go_mod(text: str) -> Iterator[Needed]:
    if module := GO_MODULE.search(text):
        yield Needed(module[1], "", OWN)
    text = re.sub(r"//[^\n]*", "", text)
    yield from (Needed(requirement[1], requirement[2]) for requirement in GO_REQUIRED.finditer(text))


def _gemfile(text: str) -> Iterator[Needed]:
    yield from (Needed(gem[1], gem[2] or "") for gem in GEM.finditer(text))


def _gemfile_lock(text: str) -> Iterator[Needed]:
    name, dependencies, at, line = "", [], 0, 1
    for match in GEM_LOCKED.finditer(text.replace("\r", "")):
        line += text.count("\n", at, match.start())
        at = match.start()
        if len(match[1]) == 4:
            name = match[2]
            yield Needed(name, match[3] or "", LOCKED, line)
        else:
            dependencies.append(Needed(match[2], match[3] or "", name, line))
    yield from dependencies


def _pom(text: str) -> Iterator[Needed]:
    """Read Maven's file: an artifact is a dependency, a plugin or the parent, otherwise the project itself."""
    bare = "".join("\n" * part.partition("-->")[0].count("\n") + part.partition("-->")[2] if number else part
                   for number, part in enumerate(text.split("<!--")))  # fmt: skip
    own: dict[str, str] = {}
    fields, line, at = own, 1, 0
    for tag in MAVEN.finditer(bare):
        line += bare.count("\n", at, tag.start())
        at = tag.start()
        if tag[2] and not tag[1]:
            fields, head = {}, line
        elif tag[2]:
            if "artifactId" in fields and fields is not own:
                yield Needed(_artifact(fields), fields.get("version", ""), "", head)
                own = own if tag[2] != "parent" else {"groupId": fields.get("groupId", "")} | own
            fields = own
        elif tag[3]:
            fields.setdefault(tag[3], tag[4])
    if "artifactId" in own:
        yield Needed(_artifact(own), own.get("version", ""), OWN)


def _artifact(fields: Mapping[str, str]) -> str:
    return f"{fields.get('groupId', '')}:{fields['artifactId']}".lstrip(":")


def _gradle(text: str) -> Iterator[Needed]:
    for number, line in enumerate(text.split("\n"), 1):
        if match := GRADLE.match(line[:1000]):
            yield Needed(match[1], match[2] or "", "", number)


READERS: dict[str, Callable[[str], Iterator[Needed]]] = {
    "pyproject.toml": _pyproject,
    "poetry.lock": _toml_lock,
    "uv.lock": _toml_lock,
    "cargo.lock": _toml_lock,
    "cargo.toml": _cargo,
    "package.json": _package_json,
    "package-lock.json": _package_lock,
    "yarn.lock": _yarn_lock,
    "pnpm-lock.yaml": _pnpm_lock,
    "go.mod": _go_mod,
    "gemfile": _gemfile,
    "gemfile.lock": _gemfile_lock,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
}
