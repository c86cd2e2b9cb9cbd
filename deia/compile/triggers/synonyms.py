"""A small thesaurus of words that people who build software use for one another: acts and things.

Spelling does not show that `nuke` means `delete`, and word vectors hardly know such slang. An act may be a verb with
its particle (`blow_away`), which stand together or a little apart.
"""

from __future__ import annotations

from functools import cache, lru_cache

from deia.compile.triggers.word_forms import forms
from deia.tables import Tables

TABLES = Tables(__file__)
ALIKE = "~"  # begins the name of a class of words that replace one another


@cache
def synonym_classes() -> tuple[list[str], list[str]]:
    """Return the classes of acts and those of things, each as a line of words."""
    return TABLES.lines("acts"), TABLES.lines("things")


@cache
def _classes() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    acts, things = synonym_classes()
    return _by_member(acts), _by_member(things)


def _by_member(lines: list[str]) -> dict[str, frozenset[str]]:
    """Return, for each form of each member, the members of all its classes in their base forms."""
    members_of: dict[str, frozenset[str]] = {}
    for line in lines:
        members = frozenset(line.split())
        for form in {form for member in members for form in _forms_of(member)}:
            members_of[form] = members_of.get(form, frozenset()) | members
    return members_of


@lru_cache(maxsize=5000)
def _forms_of(member: str) -> frozenset[str]:
    """Return the forms of a word; of `blow_away` those of the verb, each with the particle."""
    verb, mark, particle = member.partition("_")
    return frozenset(f"{form}{mark}{particle}" for form in forms(verb))


@lru_cache(maxsize=5000)
def replacements(word: str, *, act: bool) -> frozenset[str]:
    """Return the words that may replace a word as an act or as a thing, in their base forms, itself among them.

    The word may be inflected. Acts and things have separate classes: a verb has no replacements as a thing. A verb with
    a particle is two words, as argument and in the result: `blow away`.
    """
    members = _classes()[0 if act else 1].get(word.replace(" ", "_"), frozenset())
    return frozenset(member.replace("_", " ") for member in members)
