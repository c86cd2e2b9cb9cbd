"""Long command lines: reduce one to its beginning and its end.

The bodies of here-documents are cut first, because they are what makes a call long and commands may follow them.
"""

from __future__ import annotations

MOST_BODY = 20_000  # characters of a here-document
MOST_TAIL = 8_000
MOST_HERE = 200  # here-documents
QUOTES = "'\"\\"


def shortened(command: str, most: int) -> str:
    """Return a command line in about `most` characters, cut at the end of a line or command if there is one."""
    command = _without_bodies(command)
    if len(command) <= most:
        return command
    tail = command[-MOST_TAIL:]
    cuts = [at for at in (tail.find("\n"), tail.find(";"), tail.find("&&")) if at >= 0]
    return f"{command[: most - MOST_TAIL]}\n{tail[min(cuts) + 1 :] if cuts else tail}"


def _without_bodies(command: str) -> str:
    parts: list[str] = []
    done = at = 0
    unclosed: set[str] = set()  # words that close no here-document from here on
    for _ in range(MOST_HERE):
        at = command.find("<<", at)
        if at < 0:
            break
        at, word = _word(command, at + 2)
        if not word or word in unclosed:
            continue
        begin = command.find("\n", at)
        end = command.find(f"\n{word}\n", begin) if begin >= 0 else -1
        if end < 0:
            unclosed.add(word)
            continue
        if end - begin > MOST_BODY:
            parts.append(command[done : command.rfind("\n", begin, begin + MOST_BODY)])
            done = end
        at = end
    return "".join((*parts, command[done:]))


def _word(command: str, at: int) -> tuple[int, str]:
    """Return the position after the word that closes a here-document, and the word; it is empty after `<<<`."""
    while at < len(command) and command[at] in "- \t" + QUOTES:
        at += 1
    first = at
    while at < len(command) and (command[at].isalnum() or command[at] in "_-."):
        at += 1
    return at, command[first:at]
