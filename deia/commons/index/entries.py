"""Making an `Entry` out of the fields of an index or of a document's own metadata.

Refuses an entry without a usable path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia.commons.source_files import fields, safe_files
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.slugs import id_from_path
from deia.commons.source_files.yaml_reader import Map, plain
from deia.knowledge import Document, Entry
from deia.records import URGENCIES

TEXTS = ("title", "summary", "category", "action", "why_relevant", "status", "created", "updated", "verified")
LISTS = ("keywords", "audience", "tags", "related_docs", "quick_tips")
TAKEN = {**dict.fromkeys(TEXTS, fields.text), **dict.fromkeys(LISTS, fields.texts)}
OWN = frozenset(("id", "path", "urgency", "platform", *TEXTS, *LISTS))
# Front-matter and the older shapes say the same under other names (FORMATS, section 1).
OLD_NAMES = {"date": "created", "severity": "urgency"}
ID_LENGTH = 200


def read_entry(source: Map, findings: Findings, *, clusters: tuple[str, ...] = ()) -> Entry | None:
    """Read one entry of an index, which some clusters list; without a path inside the commons there is none."""
    source = rename_old_fields(source)
    path = fields.text(source, "path", findings)
    if not path:
        named = quote(source.get("id", source.get("title", "")))
        findings.error(source.line, "missing-field", f"The entry {named} has no `path`.", "Add the document's path.")
        return None
    if safe_files.leaves_commons(path):
        found = f"The path {quote(path)} leaves the commons."
        findings.error(source.at("path"), "path-leaves-commons", found, "Write it relative to the index.")
        return None
    path = safe_files.normalise(path)
    return Entry(
        id=_id(source, path, findings),
        path=path,
        clusters=clusters,
        line=source.line,
        **{"title": "", **_described(source, findings)},
    )


def derived_entry(document: Document, findings: Findings) -> Entry:
    """Make the entry of a document that the index does not list, from its metadata and text."""
    source = rename_old_fields(document.metadata if isinstance(document.metadata, Map) else Map())
    described = _described(source, findings)
    described["title"] = described.get("title") or document.title
    described["summary"] = described.get("summary") or first_paragraph(document.text)
    given = source.get("id")
    ident = given.strip() if isinstance(given, str) and _sound_id(given.strip()) else id_from_path(document.path)
    return Entry(id=ident, path=document.path, **described)


def complete_entry(entry: Entry, derived: Entry) -> Entry:
    """Fill what an entry leaves open from what its document says of itself; what the entry says, stays."""
    missing = {
        name: getattr(derived, name)
        for name in (*TEXTS, *LISTS, "urgency", "platforms")
        if not getattr(entry, name) and getattr(derived, name)
    }
    extra = {**derived.extra, **entry.extra} if derived.extra else entry.extra
    return entry.but(**missing, extra=extra) if missing or extra != entry.extra else entry


def rename_old_fields(source: Map) -> Map:
    """Give the fields under the names of v1.0; a new name that is already there wins."""
    if not any(name in source for name in OLD_NAMES):
        return source
    result = Map(line=source.line)
    for name, value in source.items():
        new = OLD_NAMES.get(name, name)
        target = name if new != name and new in source else new
        result[target] = value
        result.lines[target] = source.at(name)
    return result


def _described(source: Map, findings: Findings) -> dict[str, Any]:
    """Give the fields that somebody wrote."""
    described: dict[str, Any] = {name: TAKEN[name](source, name, findings) for name in source if name in TAKEN}
    if "urgency" in source:
        described["urgency"] = fields.choice(source, "urgency", URGENCIES, findings, default="")
    if "platform" in source:
        described["platforms"] = fields.texts(source, "platform", findings)
    extra = _extra(source)
    return {**described, "extra": extra} if extra else described


def _extra(source: Map) -> Mapping[str, Any]:
    return {name: plain(value) for name, value in source.items() if name not in OWN}


def _id(source: Map, path: str, findings: Findings) -> str:
    given = fields.text(source, "id", findings)
    if _sound_id(given):
        return given
    made = id_from_path(path)
    found = f"The id {quote(given)} cannot be used." if given else "The entry has no `id`."
    fix = f"Write `id: {made}`, which is what it is called meanwhile."
    findings.error(source.at("id"), "bad-id" if given else "missing-field", found, fix)
    return made


def _sound_id(given: str) -> bool:
    return 0 < len(given) <= ID_LENGTH and given.isprintable() and not any(letter.isspace() for letter in given)


def first_paragraph(text: str, *, limit: int = 300) -> str:
    """Give the first paragraph of prose as one line: what stands in for a summary that nobody wrote."""
    lines: list[str] = []
    inside_code = False
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            inside_code = not inside_code
        prose = bool(bare) and not inside_code and not bare.startswith(("#", "```", "~~~", "---", "**", "|", "<", ">"))
        if prose:
            lines.append(bare.lstrip("-*+ "))
        elif lines:
            break
    joined = " ".join(" ".join(lines).split())
    return (
        joined
        if len(joined) <= limit
        else joined[: joined.rfind(" ", 0, limit) if " " in joined[:limit] else limit] + "…"
    )
