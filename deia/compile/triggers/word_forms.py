"""Word forms of a base form: rules for -s, -ed and -ing, lists of irregular words, and spaCy's tables if installed.

Every word gets the forms of a verb and of a noun, because a form that nobody uses costs one line of the artefact and
matches nothing. So the rules may return too many (`commited`), but never a form of another word (`scraped` for
`scrap`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module

from deia.tables import Tables

TABLES = Tables(__file__)
VOWELS = "aeiou"
# Prefixes of irregular verbs: rebuild, undo, overwrite, foresee, broadcast, offset.
PREFIXES = tuple("re un over out under mis up with fore broad off pre co in".split())
# Names without other forms: they only look like plurals, and nobody uses them as verbs.
NAMES = frozenset("dns aws gcs tls sms css cors ios eks ecs gke aks kubernetes postgres redis sentry".split())
SPACY_TABLES = "spacy-lookups-data"


@cache
def irregular_verbs() -> dict[str, list[str]]:
    """Return the irregular forms of verbs."""
    return {verb: forms for verb, *forms in map(str.split, TABLES.lines("irregular verbs"))}


@cache
def irregular_nouns() -> dict[str, list[str]]:
    """Return the irregular plurals of nouns."""
    return {noun: plurals for noun, *plurals in map(str.split, TABLES.lines("irregular nouns"))}


@lru_cache(maxsize=50_000)
def forms(word: str) -> frozenset[str]:
    """Return the forms of a word and the word itself; a word with digits, or a short regular one, has no others."""
    if not word.isascii() or not word.isalpha() or word in NAMES:
        return frozenset((word,))
    return by_rule(word) | looked_up(word)


def forms_source() -> str:
    """Return the name and version of the installed tables of irregular forms, or ""."""
    return _tables()[0]


def looked_up(word: str) -> frozenset[str]:
    """Return the irregular forms in spaCy's tables; empty if the `nlp` extra is not installed."""
    return _tables()[1].get(word, frozenset())


def by_rule(word: str) -> frozenset[str]:
    """Return the forms of a word of letters by the rules and the lists."""
    verb = _irregular(word)
    listed = {word, *verb, *irregular_nouns().get(word, ())}
    if len(word) < 3:
        return frozenset(listed)
    # Some people use irregular verbs as regular ones ("splitted"), but `seed` is no form of `see`.
    past = () if verb and word.endswith("ee") else _with_ed(word)
    regular = {*_with_s(word), *past, *_with_ing(word)}
    return frozenset(listed | regular | {spelling for form in (word, *regular) for spelling in _other_spelling(form)})


def _irregular(word: str) -> list[str]:
    """Return the forms of an irregular verb, also after a prefix: for `rewrite` from those of `write`."""
    verbs = irregular_verbs()
    if word in verbs:
        return verbs[word]
    for prefix in PREFIXES:
        verb = word.removeprefix(prefix)
        if verb != word and verb in verbs and verb not in {"be", "have"}:
            return [prefix + form for form in verbs[verb]]
    return []


def _with_s(word: str) -> tuple[str, ...]:
    if word.endswith(("sis", "xis")) and len(word) > 3:  # analysis, axis
        return (word[:-2] + "es",)
    if word.endswith("z") and word[-2] in VOWELS:
        return (word + "es", word + "zes")  # waltzes, quizzes
    if word.endswith(("s", "x", "z", "sh")):
        return (word + "es",)
    if word.endswith("ch"):  # batches, epochs
        return (word + "es", word + "s")
    if word.endswith("o") and word[-2] not in VOWELS:  # repos, vetoes
        return (word + "s", word + "es")
    return (word[:-1] + "ies",) if _ends_in_y(word) else (word + "s",)


def _with_ed(word: str) -> tuple[str, ...]:
    if word.endswith("e"):
        return (word + "d",)
    return (word[:-1] + "ied",) if _ends_in_y(word) else tuple(stem + "ed" for stem in _stems(word))


def _with_ing(word: str) -> tuple[str, ...]:
    if word.endswith("ie"):  # dying, untying
        return (word[:-2] + "ying",)
    if word.endswith(("ue", "ge")):  # queuing, queueing; aging, ageing
        return (word[:-1] + "ing", word + "ing")
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return (word[:-1] + "ing",)
    return tuple(stem + "ing" for stem in _stems(word))


def _stems(word: str) -> tuple[str, ...]:
    """Return the stems to which -ed and -ing are added: the last consonant doubles after a short, stressed vowel."""
    # If the word has one vowel, only one spelling is right, and the other belongs to another word (scrap, scrape). If
    # it has several, stress decides and countries differ, so both are returned (cancel, commit).
    if word.endswith("c") and word[-2] in VOWELS:  # panicked
        return (word + "k",)
    if word[-1] in VOWELS + "wxy" or word[-2] not in VOWELS or _is_vowel(word, len(word) - 3):
        return (word,)
    vowels = sum(_is_vowel(word, at) and not _is_vowel(word, at - 1) for at in range(len(word)))
    if vowels == 1 and word[-1] != "s":  # bused, bussed
        return (word + word[-1],)
    return (word + word[-1], word)


def _is_vowel(word: str, at: int) -> bool:
    """Return whether the letter at a position is a vowel; `u` after `q` is none, and `y` is one except at the start."""
    if at < 0:
        return False
    if word[at] == "y":
        return at > 0
    return word[at] in VOWELS and not (word[at] == "u" and at > 0 and word[at - 1] == "q")


def _ends_in_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS


def _other_spelling(form: str) -> tuple[str, ...]:
    """Return the British or American spelling of the other: `initialise` for `initialize`."""
    for own, other in (("iz", "is"), ("is", "iz"), ("yz", "ys"), ("ys", "yz")):
        for end in ("e", "es", "ed", "ing"):
            if form.endswith(own + end) and len(form) - len(end) > 5:
                return (form[: -len(own + end)] + other + end,)
    return ()


@cache
def _tables() -> tuple[str, Mapping[str, frozenset[str]]]:
    """Return the name of spaCy's lemmatizer tables (WordNet's exceptions), and the irregular forms of each lemma."""
    # The tables are a separate package. spaCy itself would take 0.6 s and 300 MB, and only looks up lemmas of forms.
    try:
        tables = import_module("spacy_lookups_data")
    except ImportError:
        return "", {}
    with gzip.open(f"{tables.en['lemma_exc']}.gz", "rt", encoding="utf-8") as file:
        exceptions: Mapping[str, Mapping[str, list[str]]] = json.load(file)
    forms_of: dict[str, set[str]] = {}
    for kind in ("verb", "noun"):
        for form, lemmas in exceptions[kind].items():
            for lemma in lemmas:
                if form.isascii() and form.isalpha() and form.islower():
                    forms_of.setdefault(lemma, set()).add(form)
    return f"{SPACY_TABLES} {tables.__version__}", {lemma: frozenset(forms) for lemma, forms in forms_of.items()}
