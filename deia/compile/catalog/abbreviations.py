"""Words for one thing: what a commons declares, what its texts define in brackets, and what the field abbreviates.

The short list of the field is for words that the commons itself may never use; it holds only what nearly always means
one thing. Nothing is guessed from words that merely stand near each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deia.commons.index.index_records import Concept
from deia.match.keyword import analyser
from deia.match.tokeniser import STOP_WORDS, question_words

MOST_DEFINED = 2_000  # abbreviations that are kept, the most often defined first
MOST_WORDS = 8  # of a long form
SHORT_IN_BRACKETS = re.compile(r"\(([A-Z][A-Za-z0-9]{1,7}?)s?\)")
LONG_IN_BRACKETS = re.compile(r"\b([A-Z][A-Z0-9]{1,7})s? \(([A-Za-z][A-Za-z \-]{3,80})\)")
WORD = re.compile(r"[A-Za-z0-9]+")
LEAST_LETTERS = 2
ORDINARY = 4  # letters of an abbreviation that may be a word: TIME

COMMON = tuple(
    tuple(member.strip() for member in line.split("|"))
    for line in """
    k8s | kubernetes | kube
    db | database
    prod | production
    env | environment
    repo | repository
    auth | authentication
    auth | authorization
    authn | authentication
    authz | authorization
    pg | postgres | postgresql
    tf | terraform
    gh | github
    js | javascript
    ts | typescript
    py | python
    ci | continuous integration
    pr | pull request
    mr | merge request
    config | configuration
    creds | credentials
    perms | permissions
    deps | dependencies
    pkg | package
    dir | directory
    lib | library
    docs | documentation
    msg | message
    err | error
    vm | virtual machine
    lb | load balancer
    cert | certificate
    ns | namespace
    svc | service
    pvc | persistent volume claim
    pv | persistent volume
    hpa | horizontal pod autoscaler
    pdb | pod disruption budget
    crd | custom resource definition
    iac | infrastructure as code
    rbac | role based access control
    sso | single sign on
    mfa | multi factor authentication
    2fa | two factor authentication
    mfa | 2fa
    xss | cross site scripting
    csrf | xsrf | cross site request forgery
    ssrf | server side request forgery
    xxe | xml external entity
    sqli | sql injection
    rce | remote code execution
    dos | denial of service
    ddos | distributed denial of service
    csp | content security policy
    cors | cross origin resource sharing
    jwt | json web token
    idor | insecure direct object reference
    pii | personally identifiable information
    mitm | man in the middle
    oom | out of memory
    regex | regular expression
    perf | performance
    mem | memory
    admin | administrator
    async | asynchronous
    passwd | password
    i18n | internationalization
    a11y | accessibility
    o11y | observability
    cdn | content delivery network
    pitr | point in time recovery
    rca | root cause analysis
    poc | proof of concept
    ttl | time to live
    tz | timezone | time zone
    ssg | static site generator
    ssr | server side rendering
    """.strip().splitlines()
)


def defined(text: str) -> list[tuple[str, str]]:
    """Give the abbreviations that a text defines with what they stand for: "Horizontal Pod Autoscaler (HPA)".

    The other way round is read as well. What the same text uses as an ordinary word is none.
    """
    found: list[tuple[str, str]] = []
    if "(" not in text:
        return found
    for match in SHORT_IN_BRACKETS.finditer(text):
        before = WORD.findall(text[max(0, match.start() - 120) : match.start()].rpartition("\n\n")[2])
        long = _long_form(match[1], before)
        found += [(match[1].lower(), long)] if long else []
    for match in LONG_IN_BRACKETS.finditer(text):
        words = WORD.findall(match[2])
        long = _long_form(match[1], words)
        found += [(match[1].lower(), long)] if long and len(long.split()) == len(words) else []
    return [(short, long) for short, long in found if not _is_word(short, text)]


def _is_word(short: str, text: str) -> bool:
    return short in STOP_WORDS or (len(short) >= ORDINARY and re.search(rf"\b{short}\b", text) is not None)


def _long_form(short: str, before: Sequence[str]) -> str:
    """Give the words at whose beginnings the letters stand, the last of them at the end, or nothing.

    Small words between them may stand for no letter: "point in time recovery (PITR)" and "(PTR)".
    """
    letters = [letter.lower() for letter in short if letter.isalpha()]
    words = [word.lower() for word in before[-MOST_WORDS:]]
    at = len(words)
    while letters and at:
        at -= 1
        if words[at][0] == letters[-1]:
            letters.pop()
        elif words[at] not in STOP_WORDS or at == len(words) - 1:
            return ""
    found = " ".join(words[at:])
    return found if not letters and len(words) - at >= LEAST_LETTERS and found != short.lower() else ""


def concepts_source(declared: Iterable[Concept], counts: Mapping[str, int]) -> dict[str, Any]:
    """Give the groups of words for one thing as the catalog holds them, with where to find which.

    `counts` says how often each "short|long form" is defined in the texts.
    """
    kept = sorted(counts, key=lambda pair: (-counts[pair], pair))[:MOST_DEFINED]
    groups = [tuple(concept.words) for concept in declared]
    groups += [tuple(pair.split("|")) for pair in kept]
    groups += list(COMMON)
    by: dict[str, list[int]] = {}
    made: list[list[list[str]]] = []
    stemmer = analyser()
    for group in groups:
        members = {key: word for word in group if (key := stem_key(stemmer, word))}
        if len(members) > 1:
            for key in members:
                by.setdefault(key, []).append(len(made))
            made.append([[word, key] for key, word in members.items()])
    return {"groups": made, "by": by, "defined": {pair: counts[pair] for pair in kept}}


def stem_key(stemmer: Any, text: str) -> str:
    """Give the stems of a word or of several, without stop words, as one text."""
    parts = [part for word in question_words(text) for part in (word[1:] or word)]
    return " ".join(stemmer.analyze(" ".join(parts))) if parts else ""


def counted(texts: Iterable[str]) -> Counter[str]:
    """Count the definitions in texts, each pair once a text."""
    counts = Counter[str]()
    for text in texts:
        counts.update({f"{short}|{long}" for short, long in defined(text)})
    return counts
