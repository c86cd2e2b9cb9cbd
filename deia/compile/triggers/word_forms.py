"""Word forms of a base form: rules for -s, -ed and -ing, lists of what is irregular, spaCy's tables where installed.

Every word gets verb and noun forms alike: a form that no one uses costs one line of the artefact and matches nothing.
So the rules may give too much (`commited`), but they refuse what would be a form of another word (`scraped`: `scrap`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module

VOWELS = "aeiou"
# The irregular verbs of English that people still use, each with its past tense and participle (and what else is odd).
VERBS = {
    line.split()[0]: " ".join(line.split()[1:])
    for line in """
    arise arose arisen|awake awoke awoken|be is are was were been being am|bear bore borne|beat beaten|become became
    begin began begun|bend bent|bet|bid|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken
    breed bred|bring brought|build built|burn burnt|burst|buy bought|cast|catch caught|choose chose chosen
    cling clung|come came|cost|creep crept|cut|deal dealt|dig dug|do does did done doing|draw drew drawn
    drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
    flee fled|fling flung|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
    freeze froze frozen|get got gotten|give gave given|go goes went gone going|grind ground|grow grew grown
    hang hung|have has had having|hear heard|hide hid hidden|hit|hold held|hurt|keep kept|know knew known|lay laid
    lead led|leap leapt|learn learnt|leave left|lend lent|let|lie lay lain|light lit|lose lost|make made|mean meant
    meet met|pay paid|prove proven|put|quit|read|rid|ride rode ridden|ring rang rung|rise rose risen|run ran
    say said|see saw seen|seek sought|sell sold|send sent|set|shake shook shaken|shed|shine shone|shoot shot
    show shown|shrink shrank shrunk|shut|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|slit
    speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|spit spat|split|spoil spoilt|spread
    spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|stride strode stridden
    strike struck stricken|string strung|strive strove striven|swear swore sworn|sweep swept|swell swollen
    swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
    throw threw thrown|thrust|tread trod trodden|wake woke woken|wear wore worn|weave wove woven|wed|weep wept
    win won|wind wound|withdraw withdrew withdrawn|wring wrung|write wrote written
    """.replace("|", "\n").split("\n")
    if line.strip()
}
# What may stand before one of them: rebuild, undo, overwrite, foresee, broadcast, offset.
PREFIXES = tuple("re un over out under mis up with fore broad off pre co in".split())
NOUNS = dict(
    pair.split(":")
    for pair in """
    addendum:addenda appendix:appendices automaton:automata child:children corpus:corpora criterion:criteria datum:data
    foot:feet formula:formulae half:halves index:indices knife:knives leaf:leaves life:lives man:men matrix:matrices
    medium:media nucleus:nuclei person:people phenomenon:phenomena radius:radii schema:schemata self:selves
    shelf:shelves stimulus:stimuli thief:thieves tooth:teeth vertex:vertices wife:wives wolf:wolves woman:women
    """.split()
)
# They end like a plural, or nobody does anything by their names.
NAMES = frozenset("dns aws gcs tls sms css cors ios eks ecs gke aks kubernetes postgres redis sentry".split())
TABLES = "spacy-lookups-data"


@lru_cache(maxsize=50_000)
def forms(word: str) -> frozenset[str]:
    """Give the forms of a word, itself included; one with digits, or short and not irregular, has only itself."""
    if not word.isascii() or not word.isalpha() or word in NAMES:
        return frozenset((word,))
    return by_rule(word) | looked_up(word)


def forms_source() -> str:
    """Name what the forms come from besides the rules, with its version; empty where nothing else is installed."""
    return _tables()[0]


def looked_up(word: str) -> frozenset[str]:
    """Give the irregular forms that spaCy's tables know; empty where the `nlp` extra is not installed."""
    return _tables()[1].get(word, frozenset())


def by_rule(word: str) -> frozenset[str]:
    """Give what the rules and the lists make of a word of letters."""
    verb = _irregular(word)
    listed = {word, *verb.split(), *NOUNS.get(word, "").split()}
    if len(word) < 3:
        return frozenset(listed)
    # Not every irregular verb is one to everybody ("splitted"), but `seed` is no form of `see`.
    past = () if verb and word.endswith("ee") else _with_ed(word)
    regular = {*_with_s(word), *past, *_with_ing(word)}
    return frozenset(listed | regular | {other for form in (word, *regular) for other in _other_spelling(form)})


def _irregular(word: str) -> str:
    """Give the forms of an irregular verb, also behind a prefix: of `rewrite` those of `write`."""
    if word in VERBS:
        return VERBS[word]
    for prefix in PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and rest in VERBS and rest not in {"be", "have"}:
            return " ".join(prefix + form for form in VERBS[rest].split())
    return ""


# --- rules ---


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
    """Give what -ed and -ing are put to: the last consonant doubles after a short vowel that is stressed.

    Where there is one vowel there is no choice, and the other spelling belongs to another word (scrap, scrape); where
    there are several, stress decides and spelling differs between countries, so both are given (cancel, commit).
    """
    if word.endswith("c") and word[-2] in VOWELS:  # panicked
        return (word + "k",)
    if word[-1] in VOWELS + "wxy" or word[-2] not in VOWELS or _is_vowel(word, len(word) - 3):
        return (word,)
    vowels = sum(_is_vowel(word, at) and not _is_vowel(word, at - 1) for at in range(len(word)))
    if vowels == 1 and word[-1] != "s":  # bused, bussed
        return (word + word[-1],)
    return (word + word[-1], word)


def _is_vowel(word: str, at: int) -> bool:
    """Say whether the letter at a place sounds as a vowel: `u` after `q` does not, `y` does, but not at the start."""
    if at < 0:
        return False
    if word[at] == "y":
        return at > 0
    return word[at] in VOWELS and not (word[at] == "u" and at > 0 and word[at - 1] == "q")


def _ends_in_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS


def _other_spelling(form: str) -> tuple[str, ...]:
    """Give the spelling of another country: `initialise` for `initialize`, and the other way round."""
    for one, other in (("iz", "is"), ("is", "iz"), ("yz", "ys"), ("ys", "yz")):
        for end in ("e", "es", "ed", "ing"):
            if form.endswith(one + end) and len(form) - len(end) > 5:
                return (form[: -len(one + end)] + other + end,)
    return ()


# --- spaCy's tables ---


@cache
def _tables() -> tuple[str, Mapping[str, frozenset[str]]]:
    """Read which irregular forms belong to which lemma, from the tables of spaCy's lemmatizer (WordNet's exceptions).

    The tables are a package of their own; spaCy itself would cost 0.6 s and 300 MB, and look up the other way round.
    """
    try:
        tables = import_module("spacy_lookups_data")
    except ImportError:
        return "", {}
    with gzip.open(f"{tables.en['lemma_exc']}.gz", "rt", encoding="utf-8") as file:
        exceptions: Mapping[str, Mapping[str, list[str]]] = json.load(file)
    found: dict[str, set[str]] = {}
    for kind in ("verb", "noun"):
        for form, lemmas in exceptions[kind].items():
            for lemma in lemmas:
                if form.isascii() and form.isalpha() and form.islower():
                    found.setdefault(lemma, set()).add(form)
    return f"{TABLES} {tables.__version__}", {lemma: frozenset(known) for lemma, known in found.items()}
