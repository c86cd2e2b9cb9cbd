"""Offers the person to read what there is about a platform or topic that their task names, if no trigger fires.

Only with the setting `offers`, which is off by default. Each topic is offered once in a conversation.
"""

from __future__ import annotations

from itertools import takewhile

from deia.records import TYPE_CHECKING
from deia.serve.hosts.delivery_form import Said
from deia.watch.memory.log import FileLog, LogEntry, log_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MOST_CHARS = 400  # of a task; a longer prompt brings its own material, in which words are no topics
# What a person asks for who has a task, as the first word of a sentence but for those that lead to it ("please", "we
# need to"). A question, a report, a wish to know and "do not …" begin otherwise.
TASKS = frozenset(
    """add apply archive automate back backup build bump change clean clear configure connect convert copy create debug
    delete deploy destroy disable downgrade drop edit enable expose extend fix generate harden implement import improve
    install integrate introduce launch lower make merge migrate modify move patch point port provision publish purge
    push raise rebuild recreate redeploy refactor reinstall release remove rename repair replace reset resize restart
    restore revert rewrite roll rollback rotate run scale schedule secure set setup ship shrink split start stop switch
    sync tune uninstall unlock update upgrade wipe wire write""".split()
)
LEADS = frozenset(
    """also and asap first go have help hey hi i i'd i'll i'm going just lets let's like me must need next now ok okay
    please quickly so then to today todo us want we we'll you""".split()
)
# What follows one of these is what the task is not about.
NEGATIONS = frozenset("but don't dont except instead leave leaving never no not nothing unless without".split())
MODALS = frozenset(("can", "could", "will", "would"))  # "can you …" asks for something, "can we …" asks whether
SHORT = {"dns": "DNS", "aws": "AWS", "gcp": "GCP", "sql": "SQL", "ssh": "SSH", "tls": "TLS"}  # as people write them


USUAL_LIMIT = 5  # documents that a search shows unless it says how many; an overview of a platform shows all


def topic_of(topics: Mapping[str, Sequence[Any]], text: str) -> str:
    """Return the topic that a task names, the one with the fewest documents, or ""."""
    tasks = filter(_is_task, _sentences(text)) if len(text) <= MOST_CHARS else ()
    words = (word for task in tasks for word in takewhile(lambda word: word not in NEGATIONS, task))
    return min((word for word in words if word in topics), key=lambda word: topics[word][1], default="")


def _sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence and line, in lower case and without punctuation."""
    ended = text.replace("\n", ". ").replace("!", ".").replace("?", ".").replace(";", ".").replace(":", ".")
    sentences = ([word.strip(".,()'\"`*-").lower() for word in part.split()] for part in ended.split(". "))
    return [[word for word in words if word] for words in sentences]


def _is_task(sentence: Sequence[str]) -> bool:
    """Return whether a sentence tells somebody to do something."""
    for word, following in zip(sentence, [*sentence[1:], ""], strict=False):
        if word in MODALS and following != "you":
            return False
        if word in TASKS or word not in LEADS | MODALS:
            return word in TASKS
    return False


def offer(topics: Mapping[str, Sequence[Any]], text: str, log: FileLog) -> Said | None:
    """Return the offer for a prompt and remember it, or None if it names no topic or one that was offered before.

    `topics` says of each which filter of a search shows its documents, and how many there are.
    """
    topic = topic_of(topics, text)
    line = log_line(LogEntry(aside=True, stale=f"offer {topic}"))
    if not topic or line.strip() in log.read():
        return None
    log.append(line)
    name = SHORT.get(topic, topic.capitalize())
    kind, count = topics[topic]
    limit = f" --limit {count}" if kind == "tag" and count > USUAL_LIMIT else ""
    return Said(
        note=f"deia: I found {count} relevant documents about {name}. Review them before proceeding?"
        f" To see them, type: deia search --{kind} {topic}{limit}"
    )
