"""Relations between named things that sentences state: "A uses B", "B is owned by team A" and so on, by patterns.

A sentence that denies, supposes or asks states nothing. Words are a name if they look like one: capitalised, in a code
span, joined by signs (`order-service`), or followed by their kind (`the ledger database`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from deia.graph.spacy_matchers import WordForms, word_forms
from deia.tables import Tables

TABLES = Tables(__file__)
LONGEST_SENTENCE = 600
MOST_NAMES = 12  # in one list
CONCEPT = "CONCEPT"
# The words that say of what kind a named thing is, each with the type.
KIND_TYPES = {
    "service": "SERVICE", "services": "SERVICE", "database": "DATABASE", "databases": "DATABASE", "team": "TEAM",
    "squad": "TEAM",
}  # fmt: skip
SENTENCE = re.compile(r"[^.!?;\n|]+(?:[.!?;](?!\s)[^.!?;\n|]*|\n(?!\s*(?:\n|[-*+>|]\s|\d+[.)]\s))[^.!?;\n|]*)*+[.!?;]?")
CLAUSES = re.compile(r"\s+(?:but|whereas|while)\s+")
WORD = re.compile(r"[\w'-]+")
CAPITALISED = r"[A-Z][\w+#]*(?:-[\w]+)*(?:\.[\w]+)*(?:[ \n](?:[A-Z0-9][\w+#]*(?:[-.][\w]+)*))*"
JOINED = r"[a-zA-Z]\w*(?:[-_.:/]\w+)+"
ONE_NAME = rf"(?:`[^`\n]{{1,60}}`|{CAPITALISED}|{JOINED})"
NAME = (
    rf"(?:(?:[Tt]he|[Aa]n?|[Oo]ur|its|their|[Tt]his|[Ee]very|[Ee]ach)\s+)?(?:(?:team|service|database|topic|queue)\s+)?"
    rf"(?:{ONE_NAME}(?:\s+@KINDS@\b)?|[a-z][\w-]*\s+@KINDS@\b)"
)
COMMON = re.compile(r"[A-Z][a-z]+(?:s|ing|tion|ment|ness|ity|ly)")  # such a first word of a sentence may not be a name
ADJECTIVE = re.compile(
    r"^(?:non|pre|multi|self|cross|per|re|read|long|high|low|real|one|two|well|open|third|full|auto|built|end|out|up)-"
    r"|-(?:in|time|level|based|specific|only|wide|up|out|to|off|on|like|side|free|\w*ed|\w*ing|made|safe|aware|ready|line)$"
)
WITHIN = re.compile(r"[a-z,;][ \n]([A-Z]\w+)")
JOINT = r"(?:\s*,\s*(?:and\s+|or\s+|as\s+well\s+as\s+)?|\s+(?:and|&|as\s+well\s+as)\s+)"
LIST = re.compile(rf"{JOINT}(?=(?:[^`]*`[^`]*`)*[^`]*$)")  # not within a code span
START = (
    r"(?:^\s*(?:[-+>|]\s+|\d+[.)]\s+)?\[?|[,:(\u2013\u2014]\s*|\b(?:and|that|because|since|so|where|which\s+means)\s+)"
)


class Relation(NamedTuple):
    """A relation that a sentence states, from one thing to another, each with its name and type."""

    type: str
    source: tuple[str, str]
    target: tuple[str, str]
    offset: int  # of the verb in the text
    sentence: str


class _Patterns(NamedTuple):
    verbs: dict[str, tuple[str, bool]]  # by phrase: the relation's type, and whether the subject comes last
    verb: re.Pattern[str]
    subject: re.Pattern[str]
    ellipsis: re.Pattern[str]
    objects: re.Pattern[str]
    forms: WordForms | None


@functools.cache
def _patterns(custom: tuple[str, ...]) -> _Patterns:
    verbs: dict[str, tuple[str, bool]] = {}
    for kind, forms in TABLES.pairs("verbs").items():
        active, _, passive = forms.partition("|")
        verbs |= {form.strip(): (kind, False) for form in active.split(",")}
        verbs |= {f"{be} {form.strip()}": (kind, True) for form in passive.split(",") if form.strip()
                  for be in ("is", "are", "being")}  # fmt: skip
    for kind in custom:
        verbs |= _forms(kind)
    kinds = f"(?:{'|'.join(TABLES.listed('kinds'))})"
    adverbs = rf"(?:(?:{'|'.join(TABLES.listed('adverbs'))})\s+)*"
    name = NAME.replace("@KINDS@", kinds)
    phrases = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(verbs, key=len, reverse=True))
    passive_adverb = phrases.replace("is\\s+", rf"is\s+{adverbs}").replace("are\\s+", rf"are\s+{adverbs}")
    return _Patterns(
        verbs,
        re.compile(rf"\b(?:{passive_adverb})\b", re.IGNORECASE),
        re.compile(rf"{START}((?:{name})(?:{JOINT}(?:{name}))*)(?:\s*,?\s+(?:which|that))?,?\s+{adverbs}$"),
        re.compile(rf"(?:,|\band|\bor)\s+{adverbs}$"),
        re.compile(rf"\s+{adverbs}((?:{name})(?:{JOINT}(?:{name}))*)"),
        word_forms(tuple(verbs), frozenset(TABLES.listed("adverbs"))),
    )


def _forms(kind: str) -> dict[str, tuple[str, bool]]:
    """Return the forms of a relation type that a commons adds: ENCRYPTS gives `encrypts`, `is encrypted by`."""
    first, *rest = kind.lower().split("_")
    stem = first.removesuffix("es") if first.endswith(("ches", "shes", "sses", "xes")) else first.removesuffix("s")
    participle = stem + ("d" if stem.endswith("e") else "ed")
    active = {" ".join((verb, *rest)): (kind, False) for verb in (first, stem)}
    return active | {f"{be} {participle} by": (kind, True) for be in ("is", "are", "being") if not rest}


def relations_in(text: str, custom: Iterable[str] = ()) -> Iterator[Relation]:
    """Yield the relations that a text's sentences state; `custom` are relation types beside those of the table."""
    patterns = _patterns(tuple(custom))
    guards = TABLES.words("guards")
    plain = text.replace("*", " ").replace("\u2019", "'")
    known = set(WITHIN.findall(plain))
    if patterns.forms and known:
        plain = patterns.forms.in_one_spelling(plain, known)
    for match in SENTENCE.finditer(plain):
        sentence = match[0]
        if len(sentence) > LONGEST_SENTENCE or sentence.rstrip().endswith("?"):
            continue
        at = 0
        for clause in [*CLAUSES.split(sentence)]:
            at = sentence.index(clause, at)
            words = {word.casefold() for word in WORD.findall(clause)}
            if not words & guards and "no longer" not in clause:
                for relation in _of_clause(clause, match.start() + at, patterns):
                    first = clause.lstrip("-+>| \n").split(" ")[0]
                    if not (COMMON.fullmatch(first) and first in {relation.source[0], relation.target[0]} - known):
                        yield relation


def _of_clause(clause: str, start: int, patterns: _Patterns) -> Iterator[Relation]:
    subjects: list[tuple[str, str]] = []
    for first, end, written in _verbs(clause, patterns):
        before = clause[:first]
        if match := patterns.subject.search(before):
            subjects = _names(match[1])
        elif not patterns.ellipsis.search(before):
            continue
        following = patterns.objects.match(clause, end)
        if not following or not subjects:
            continue
        phrase = " ".join(word for word in written.lower().split() if word not in TABLES.words("adverbs"))
        kind, is_passive = patterns.verbs.get(phrase) or patterns.verbs[" ".join(written.lower().split())]
        sentence = " ".join(clause.split()).replace(" .", ".")[:200]
        for subject in subjects:
            for other in _names(following[1]):
                if subject[0].casefold() != other[0].casefold():
                    source, target = (other, subject) if is_passive else (subject, other)
                    yield Relation(kind, source, target, start + first, sentence)


def _verbs(clause: str, patterns: _Patterns) -> list[tuple[int, int, str]]:
    """Return the start, end and phrase of each verb in a clause, in order."""
    verbs = [(verb.start(), verb.end(), verb[0]) for verb in patterns.verb.finditer(clause)]
    for verb in patterns.forms.verbs_in(clause) if patterns.forms else ():
        if all(verb[1] <= first or end <= verb[0] for first, end, _ in verbs):
            verbs.append(verb)
    return sorted(verbs)


def _names(text: str) -> list[tuple[str, str]]:
    """Return the names in an enumeration, each with its type."""
    return [name for part in LIST.split(text)[:MOST_NAMES] if (name := _name(part)) is not None]


def _name(text: str) -> tuple[str, str] | None:
    """Return a name without the words around it, and its type; None if it is only a word such as `This`."""
    words = re.sub(r"^(?i:the|a|an|our|its|their|this|every|each)\s+", "", " ".join(text.split())).split(" ")
    all_words, kinds = words, TABLES.words("kinds")
    kind_word = words[-1].lower() if words[-1].lower() in KIND_TYPES else words[0].lower()
    if len(words) > 1 and (words[0] in kinds or words[0].lower() in KIND_TYPES):
        words = words[1:]
    rest = words[:-1]
    if rest and words[-1] in kinds and (kind_word in KIND_TYPES or re.search(r"[A-Z`_-]", " ".join(rest))):
        words = rest
    name = " ".join(words).strip("`'\" ").rstrip(".,")
    if "`" not in text and name.islower() and ADJECTIVE.search(name):
        return None
    if (
        not re.search("[A-Za-z]", name)
        or (len(words) == 1 and name.casefold() in kinds and not name.istitle())
        or name.casefold() in TABLES.words("no_names")
        or words[0].casefold() in TABLES.words("no_names")
    ):
        return None
    kind = KIND_TYPES.get(kind_word, CONCEPT) if len(words) < len(all_words) else CONCEPT
    return (name, kind) if len(name) > 1 else None
