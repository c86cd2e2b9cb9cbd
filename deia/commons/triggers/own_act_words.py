"""Read the words that a commons adds for its `act` clauses, `triggers/act_words.yaml`, and check them completely.

They count for the triggers of this commons alone. What is wrong is reported with its line and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deia.commons.source_files import fields
from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.yaml_reader import Items, Map, Value
from deia.knowledge import OwnActWords, Trigger
from deia.text import words

PATH = "triggers/act_words.yaml"
SECTIONS = ("verbs", "objects")  # mappings from classes to words
VESSELS = "vessels"  # a list of words
CLASS = re.compile(r"[a-z][a-z0-9-]{0,39}")
MOST = 500  # words of all sections
MOST_WORDS = {"verbs": 4, "objects": 2, VESSELS: 1}  # that an entry may consist of
LONGEST = 60  # characters of an entry


def names_acts(trigger: Trigger) -> bool:
    """Return whether a trigger has an `act` clause, and so depends on the words for acts."""
    before = (*trigger.earlier.any, *trigger.earlier.until) if trigger.earlier else ()
    return any(clause.kind == "act" for clause in (*trigger.any, *trigger.all, *before))


def read_own_words(value: Value, findings: Findings) -> OwnActWords:
    """Return the words that a file adds; all its problems are added to the findings."""
    if not isinstance(value, Map):
        if value is not None:
            example = "Write sections such as `verbs: {destroy: [yeet]}`."
            findings.error(1, "wrong-type", "The file is not a mapping.", example)
        return OwnActWords()
    fields.report_unknown(value, (*SECTIONS, VESSELS), findings)
    own = OwnActWords(
        **{section: tuple(_classes(value, section, findings)) for section in SECTIONS if section in value},
        vessels=tuple(_plain(fields.texts(value, VESSELS, findings), value.at(VESSELS), VESSELS, findings)),
    )
    count = sum(len(listed) for section in SECTIONS for _, listed in getattr(own, section)) + len(own.vessels)
    if count > MOST:
        findings.error(1, "too-many-words", f"The file has {count} words; at most {MOST} are read.", "Remove some.")
        return OwnActWords()
    return own


def _classes(source: Map, section: str, findings: Findings) -> Iterator[tuple[str, tuple[str, ...]]]:
    classes = source[section]
    if not isinstance(classes, Map):
        message = f"`{section}` is not a mapping from classes to words."
        findings.error(source.at(section), "wrong-type", message, f"Write {section}: {{CLASS: [WORD, …]}}.")
        return
    for name in classes:
        if not CLASS.fullmatch(name):
            fix = "Use lower-case letters, digits and `-`, at most 40."
            findings.error(classes.at(name), "bad-class", f"{quote(name)} is no name for a class.", fix)
            continue
        if not isinstance(classes[name], Items):
            message = f"The words of {quote(name)} are not a list."
            findings.error(classes.at(name), "wrong-type", message, f"Write {name}: [WORD, …].")
            continue
        listed = tuple(_plain(fields.texts(classes, name, findings), classes.at(name), section, findings))
        if listed:
            yield name, listed


def _plain(listed: tuple[str, ...], line: int, section: str, findings: Findings) -> Iterator[str]:
    """Yield the words in lower case, without signs; a text that is not a word, or is too long, is reported."""
    for text in dict.fromkeys(listed):
        parts = words(text)
        if not parts or len(text) > LONGEST or len(parts) > MOST_WORDS[section] or not " ".join(parts).isascii():
            message = f"{quote(text)} cannot be one of the {section}."
            fix = f"Write 1 to {MOST_WORDS[section]} English words." if MOST_WORDS[section] > 1 else "Write one word."
            findings.error(line, "bad-word", message, fix)
            continue
        yield " ".join(parts)
