"""Offers the person to read what there is about a platform or topic that their task names, if no trigger fires.

Only with the setting `offers`, which is off by default. Each topic is offered once in a conversation.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.delivery_form import Said
from deia.watch.memory.log import FileLog, LogEntry, log_line

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CHARS = 400  # of a task; a longer prompt brings its own material, in which words are no topics
# What a person asks for who has a task: a question or a report is none.
TASKS = frozenset(
    """add change configure connect create debug deploy enable fix implement install integrate migrate move point
    publish rename replace restore rotate set setup switch update upgrade""".split()
)
SHORT = {"dns": "DNS", "aws": "AWS", "gcp": "GCP", "sql": "SQL", "ssh": "SSH", "tls": "TLS"}  # as people write them


def topic_of(topics: Mapping[str, int], text: str) -> str:
    """Return the topic that a task names, that with the fewest documents, or ""."""
    words = [word.strip(".,:;!?()'\"`").lower() for word in text.split()] if len(text) <= MOST_CHARS else []
    if TASKS.isdisjoint(words):
        return ""
    return min((word for word in words if word in topics), key=lambda word: topics[word], default="")


def offer(topics: Mapping[str, int], text: str, log: FileLog) -> Said | None:
    """Return the offer for a prompt and remember it, or None if it names no topic or one that was offered before."""
    topic = topic_of(topics, text)
    line = log_line(LogEntry(aside=True, stale=f"offer {topic}"))
    if not topic or line.strip() in log.read():
        return None
    log.append(line)
    name = SHORT.get(topic, topic.capitalize())
    return Said(
        note=f"deia: I found {topics[topic]} relevant documents about {name}. Review them before proceeding?"
        f" To see them, type: deia search {topic}"
    )
