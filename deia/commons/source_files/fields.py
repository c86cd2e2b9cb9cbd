"""Read fields of a mapping that somebody wrote: text, lists of text, one of several words.

A value of the wrong type is reported with its line, and the field counts as empty.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import TypeVar

from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Scalar
from deia.suggestions import did_you_mean, nearest

Word = TypeVar("Word", bound=str)
Default = TypeVar("Default")

TRUE = ("true", "yes", "on")
FALSE = ("false", "no", "off", "")
DAY_FIX = "Write it as 2026-01-31; until then it does not count."


def as_text(value: Scalar) -> str:
    """Return a scalar as text; None becomes the empty text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def text(source: Map, name: str, findings: Findings) -> str:
    """Return a field that is text or a number; a list or mapping is reported."""
    value = source.get(name)
    if isinstance(value, Map | Items):
        message = f"`{name}` is a {'mapping' if isinstance(value, Map) else 'list'}; write a text."
        findings.error(source.at(name), "wrong-type", message, "Quote the text if it contains `: `, `[` or `{`.")
        return ""
    return as_text(value)


def texts(source: Map, name: str, findings: Findings) -> tuple[str, ...]:
    """Return a field that is a list of text; a single text counts as a list with one item."""
    value = source.get(name)
    if isinstance(value, Map):
        findings.error(source.at(name), "wrong-type", f"`{name}` is a mapping; write a list of texts.")
        return ()
    if not isinstance(value, Items):
        single = as_text(value)
        return (single,) if single else ()
    items = []
    for position, item in enumerate(value):
        if isinstance(item, Map | Items):
            message = f"An item of `{name}` is not text."
            findings.error(value.at(position), "wrong-type", message, "Quote it if it contains `: `.")
        elif as_text(item):
            items.append(as_text(item))
    return tuple(items)


def words(source: Map, name: str, findings: Findings) -> tuple[str, ...]:
    """Return a field that is a list of words; in a single text, commas separate them."""
    value = source.get(name)
    return tuple(split_words(as_text(value))) if not isinstance(value, Map | Items) else texts(source, name, findings)


def split_words(text: str) -> list[str]:
    """Return the parts of a text that commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def day(source: Map, name: str, findings: Findings) -> str:
    """Return a field that is a day, as 2026-01-31; anything else is reported."""
    written = text(source, name, findings)
    if not written or is_day(written):
        return written
    findings.warning(source.at(name), "bad-day", f"`{name}` is {quote(written)}, which is no day.", DAY_FIX)
    return ""


def is_day(text: str) -> bool:
    """Return whether a text is a day that there is, as 2026-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def choice(source: Map, name: str, allowed: Sequence[Word], findings: Findings, *, default: Default) -> Word | Default:
    """Return a field that is one of several words; an unknown word is reported, and `default` is returned."""
    word = text(source, name, findings)
    if not word:
        return default
    for option in allowed:
        if word.lower() == option:
            return option
    message = f"`{name}` is {quote(word)}; it must be one of {', '.join(allowed)}."
    findings.error(source.at(name), f"bad-{name}", message, did_you_mean(word, allowed))
    return default


def choices(source: Map, name: str, allowed: Sequence[Word], findings: Findings) -> tuple[Word, ...]:
    """Return a field that is a list of known words; unknown words are reported and left out."""
    words = texts(source, name, findings)
    for word in words:
        if word not in allowed:
            message = f"`{name}` contains {quote(word)}; the known values are {', '.join(allowed)}."
            findings.error(source.at(name), f"bad-{name}", message, did_you_mean(word, allowed))
    return tuple(dict.fromkeys(option for word in words for option in allowed if option == word))


def boolean(source: Map, name: str, findings: Findings) -> bool:
    """Return a field that is true or false; old files may also say yes and no."""
    word = text(source, name, findings).lower()
    if word not in (*TRUE, *FALSE):
        findings.error(source.at(name), "wrong-type", f"`{name}` is {quote(word)}; write true or false.")
    return word in TRUE


def mappings(source: Map, name: str, findings: Findings) -> list[Map]:
    """Return a field that is a list of mappings; other items are reported and left out."""
    value = source.get(name)
    if value is None:
        return []
    if not isinstance(value, Items):
        findings.error(source.at(name), "wrong-type", f"`{name}` is not a list.", "Begin each item with `- `.")
        return []
    for position, item in enumerate(value):
        if not isinstance(item, Map):
            message = f"Item {position + 1} of `{name}` is {quote(item)}; it must be a mapping."
            findings.error(value.at(position), "wrong-type", message)
    return [item for item in value if isinstance(item, Map)]


def mapping(source: Map, name: str, findings: Findings) -> Map:
    """Return a field that is a mapping, empty if there is none; anything else is reported."""
    value = source.get(name)
    if value is not None and not isinstance(value, Map):
        findings.error(
            source.at(name), "wrong-type", f"`{name}` is not a mapping.", "Write `name: value` lines below it."
        )
    return value if isinstance(value, Map) else Map(line=source.at(name))


def report_unknown(source: Map, known: Collection[str], findings: Findings) -> None:
    """Report the fields that are not known, with the name that was probably meant."""
    for name in source:
        if name not in known:
            hint = nearest(name, known)
            if source[name] is None and " " in name:  # the part after a comma, in an unquoted text inside braces
                hint = "If it is part of a text inside { }, quote the whole text: a comma ends an unquoted text there."
            findings.error(source.at(name), "unknown-field", f"The field {quote(name)} is unknown.", hint)
