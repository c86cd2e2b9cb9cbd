"""Split a Markdown text into metadata and body.

Metadata is YAML between `---` lines, TOML between `+++` lines, or bold lines at the top.

Invalid metadata is reported with its line, and the document remains usable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Value, read_yaml
from deia.problems import Problem
from deia.records import Record

FENCE, TOML_FENCE = "---", "+++"
MOST_DEPTH = 8  # of TOML; what is deeper is text
FENCES_END = ("---", "...")
HEAD_LINES = 40  # bold lines are metadata only this far down, and only above the first section
FRONT_LINES = 400
BOLD = re.compile(r"\*\*([A-Za-z][\w /-]{0,40})(?::\*\*|\*\*:)(.*)")
QUOTED = re.compile(r"`([^`]{1,200})`")
LISTS = ("tags", "keywords", "audience", "related_docs", "quick_tips")
CODE = ("```", "~~~")
LINE = re.compile(r"([A-Za-z_][\w -]{0,60}):(?: (.*))?")
OPENING = ("[", "{", '"', "'", "|", ">")  # begin a value that only YAML can read


class FrontMatter(Record):
    """A Markdown text, split into metadata and body."""

    metadata: Map
    body: str
    first_line: int  # the line of the file on which the body begins
    problems: tuple[Problem, ...] = ()


def split(text: str, *, path: str) -> FrontMatter:
    """Split a Markdown text into metadata and body."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    findings = Findings(path)
    if toml_end(lines):
        return _with_toml(lines, toml_end(lines), findings)
    if lines[0].rstrip() != FENCE:
        return FrontMatter(metadata=_bold_fields(text, lines), body=text, first_line=1)
    end = metadata_end(lines)
    if not end:
        message = "The front matter that begins here has no end."
        findings.warning(1, "front-matter", message, "Close it with a `---` line.")
        return FrontMatter(metadata=Map(line=1), body=text, first_line=1, problems=tuple(findings.problems))
    return _with_fields(lines, end, findings)


def metadata_end(lines: Sequence[str]) -> int:
    """Return the number, from 0, of the line that ends the metadata between `---` lines; 0 if there is none."""
    rest = lines[1:FRONT_LINES] if lines[0].rstrip() == FENCE else ()
    return next((number for number, line in enumerate(rest, 1) if line.rstrip() in FENCES_END), 0)


def toml_end(lines: Sequence[str]) -> int:
    """Return the number, from 0, of the line that ends the metadata between `+++` lines; 0 if there is none."""
    rest = lines[1:FRONT_LINES] if lines[0].rstrip() == TOML_FENCE else ()
    return next((number for number, line in enumerate(rest, 1) if line.rstrip() == TOML_FENCE), 0)


def _with_toml(lines: list[str], end: int, findings: Findings) -> FrontMatter:
    import tomllib  # noqa: PLC0415 - few notes have TOML

    metadata = Map(line=2)
    try:
        source = "\n".join(
            ["", *(line.rstrip("\r") for line in lines[1:end])]
        )  # so that messages name lines of the file
        for name, value in tomllib.loads(source, parse_float=str).items():
            metadata[name] = _toml_value(value, MOST_DEPTH)
    except (ValueError, RecursionError) as error:
        message = f"The front matter is not valid TOML: {error}."
        findings.warning(2, "front-matter", message, "Correct the line, or remove the `+++` lines.")
    body = "\n".join(lines[end + 1 :])
    return FrontMatter(metadata=metadata, body=body, first_line=end + 2, problems=tuple(findings.problems))


def _toml_value(value: object, depth: int) -> Value:
    """Return a value of TOML as YAML would have it: dates are text."""
    if depth and isinstance(value, dict):
        return Map({name: _toml_value(item, depth - 1) for name, item in value.items()})
    if depth and isinstance(value, list):
        return Items(_toml_value(item, depth - 1) for item in value)
    return value if isinstance(value, str | int) else str(value)


def _with_fields(lines: list[str], end: int, findings: Findings) -> FrontMatter:
    source = "\n".join(line.rstrip("\r") for line in lines[1:end])
    parsed = read_yaml(source, path=findings.path, first_line=2)
    findings.problems += parsed.problems
    body, first_line = "\n".join(lines[end + 1 :]), end + 2
    if isinstance(parsed.value, Map):
        metadata = parsed.value
    else:
        metadata, is_whole = _by_line(source)
        if is_whole:
            findings.problems.clear()
        elif source.strip() and not parsed.problems:
            message = f"The front matter is {quote(parsed.value)} instead of fields."
            findings.warning(2, "front-matter", message, "Write `name: value` lines, or remove the `---` lines.")
    return FrontMatter(metadata=metadata, body=body, first_line=first_line, problems=tuple(findings.problems))


def _by_line(source: str) -> tuple[Map, bool]:
    """Read front matter that is not YAML line by line; return its fields, and whether each line is `name: value`.

    People write `title: Fix: the cache` and `globs: *.ts`, and other programs take the line as it is.
    """
    fields = Map(line=2)
    lines = source.split("\n")
    is_whole = bool(source.strip()) and len(lines) < FRONT_LINES
    for number, line in enumerate(lines if is_whole else (), 2):
        match = LINE.fullmatch(line.rstrip())
        value = (match[2] or "").strip() if match else ""
        if match and match[1] not in fields and not value.startswith(OPENING):
            fields[match[1]] = value
            fields.lines[match[1]] = number
        elif line.strip() and not line.startswith("#"):
            is_whole = False
    return fields, is_whole


def _bold_fields(text: str, lines: list[str]) -> Map:
    """Parse the `**Name:** value` lines above the first section."""
    fields = Map(line=1)
    if "**" not in text:
        return fields
    for number, line in enumerate(lines[:HEAD_LINES], 1):
        if line.startswith(("## ", *CODE)):
            break
        match = BOLD.match(line.rstrip("\r")) if line.startswith("**") else None
        name = match[1].strip().lower().replace(" ", "_") if match else ""
        if match and name not in fields and match[2].strip():
            fields[name] = _bold_value(name, match[2].strip())
            fields.lines[name] = number
    return fields


def _bold_value(name: str, written: str) -> Value:
    code_spans = QUOTED.findall(written)
    if name not in LISTS:
        return code_spans[0] if len(code_spans) == 1 and written == f"`{code_spans[0]}`" else written
    return Items(part.strip().lstrip("#") for part in (code_spans or written.split(",")) if part.strip())


def title_of(metadata: Map) -> str:
    """Return the title in the metadata, which may be written `Title`, or an empty text if there is none."""
    title = next((metadata[name] for name in sorted(metadata, reverse=True) if name.lower() == "title"), None)
    if isinstance(title, str | int | float) and str(title).strip():
        return str(title).strip()
    return ""


def first_heading(body: str) -> str:
    """Return the text of the first `# ` heading outside code blocks."""
    inside_code = False
    for line in body.split("\n"):
        if line.lstrip().startswith(CODE):
            inside_code = not inside_code
        elif line.startswith("# ") and not inside_code:
            return line[2:].strip().rstrip("#").strip()
    return ""


def name_in_words(path: str) -> str:
    """Return a file name as a title: `hugo-version_requirement.md` becomes `Hugo version requirement`."""
    name = path.rsplit("/", 1)[-1].lstrip(".").rsplit(".", 1)[0]
    words = re.sub(r"[-_\s]+", " ", name).strip()
    return words[:1].upper() + words[1:]
