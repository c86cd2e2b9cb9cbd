"""Taking fields out of a mapping that somebody wrote: text, lists of text, one of several words.

Refuses nothing silently. What has the wrong type becomes a problem with its line, and the field counts as empty.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from deia.commons.source_files.findings import Findings, quote, suggestion
from deia.commons.source_files.yaml_reader import Items, Map

TRUE = ("true", "yes", "on")
FALSE = ("false", "no", "off", "")


def as_text(value: Any) -> str:
    """Give a scalar as text; nothing is empty text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def text(source: Map, name: str, findings: Findings) -> str:
    """Take a field that is text (or a number); a list or mapping is a problem."""
    value = source.get(name)
    if isinstance(value, dict | list):
        found = f"`{name}` is a {'mapping' if isinstance(value, dict) else 'list'}; text is wanted."
        findings.error(source.at(name), "wrong-type", found, "Quote the text if it holds `: `, `[` or `{`.")
        return ""
    return as_text(value)


def texts(source: Map, name: str, findings: Findings) -> tuple[str, ...]:
    """Take a field that is a list of text, or one text standing for a list of one."""
    value = source.get(name)
    if isinstance(value, dict):
        findings.error(source.at(name), "wrong-type", f"`{name}` is a mapping; a list of text is wanted.")
        return ()
    if not isinstance(value, list):
        one = as_text(value)
        return (one,) if one else ()
    return _list_of_text(value, name, source, findings)


def _list_of_text(value: list[Any], name: str, source: Map, findings: Findings) -> tuple[str, ...]:
    found = []
    for position, item in enumerate(value):
        if isinstance(item, dict | list):
            line = value.at(position) if isinstance(value, Items) else source.at(name)
            findings.error(line, "wrong-type", f"An item of `{name}` is not text.", "Quote it if it holds `: `.")
        elif as_text(item):
            found.append(as_text(item))
    return tuple(found)


def choice(source: Map, name: str, allowed: Sequence[str], findings: Findings, *, default: str) -> str:
    """Take a field that is one of several words; an unknown word is a problem, and the default is given."""
    given = text(source, name, findings)
    if not given:
        return default
    if given.lower() in allowed:
        return given.lower()
    found = f"`{name}` is {quote(given)}; one of {', '.join(allowed)} is wanted."
    findings.error(source.at(name), f"bad-{name}", found, _near(given, allowed))
    return default


def choices(source: Map, name: str, allowed: Sequence[str], findings: Findings) -> tuple[str, ...]:
    """Take a field that is a list of known words; unknown ones are problems and left out."""
    given = texts(source, name, findings)
    for word in given:
        if word not in allowed:
            found = f"`{name}` holds {quote(word)}; only {', '.join(allowed)} are known."
            findings.error(source.at(name), f"bad-{name}", found, _near(word, allowed))
    return tuple(dict.fromkeys(word for word in given if word in allowed))


def _near(given: str, allowed: Sequence[str]) -> str:
    hint = suggestion(given, allowed)
    return hint if hint.startswith("Did") else ""


def boolean(source: Map, name: str, findings: Findings) -> bool:
    """Take a field that is true or false; in old files also yes and no."""
    given = text(source, name, findings).lower()
    if given not in (*TRUE, *FALSE):
        findings.error(source.at(name), "wrong-type", f"`{name}` is {quote(given)}; true or false is wanted.")
    return given in TRUE


def mappings(source: Map, name: str, findings: Findings) -> list[Map]:
    """Take a field that is a list of mappings; other items are problems and left out."""
    value = source.get(name)
    if value is None:
        return []
    if not isinstance(value, Items):
        findings.error(source.at(name), "wrong-type", f"`{name}` is not a list.", "Begin each item with `- `.")
        return []
    for position, item in enumerate(value):
        if not isinstance(item, Map):
            found = f"Item {position + 1} of `{name}` is {quote(item)}; a mapping is wanted."
            findings.error(value.at(position), "wrong-type", found)
    return [item for item in value if isinstance(item, Map)]


def mapping(source: Map, name: str, findings: Findings) -> Map:
    """Take a field that is a mapping; anything else but nothing is a problem."""
    value = source.get(name)
    if value is not None and not isinstance(value, Map):
        findings.error(
            source.at(name), "wrong-type", f"`{name}` is not a mapping.", "Write `name: value` lines below it."
        )
    return value if isinstance(value, Map) else Map(line=source.at(name))


def report_unknown(source: Map, known: Collection[str], findings: Findings) -> None:
    """Report the fields that nobody reads, with the name that was probably meant."""
    for name in source:
        if name not in known:
            hint = suggestion(name, known)
            if source[name] is None and " " in name:  # what a comma in unquoted text between braces leaves
                hint = "If it is the rest of a text in { }, quote the whole text: a comma ends it there."
            findings.error(source.at(name), "unknown-field", f"The field {quote(name)} is unknown.", hint)
