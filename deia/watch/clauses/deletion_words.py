"""What names and addresses say of a deletion: their words, their hosts, and the verb of a path."""

from __future__ import annotations

from deia.tables import Tables
from deia.text import words

TABLES = Tables(__file__)
POSTING, LOOKING, LISTING = TABLES.words("posting"), TABLES.words("looking"), TABLES.words("listing")
VERBS, LAST, TELLING = TABLES.words("verbs"), TABLES.words("last"), TABLES.words("telling")
UNDOING, ABOUT = TABLES.words("undoing"), TABLES.words("about")
NOUNS = TABLES.words("nouns")
LONGEST_NAME = 60  # characters of a sub-command
OWN_MACHINE = ("localhost", "127.", "[::1]", "::1", "0.0.0.0", "host.docker.internal")  # noqa: S104 - looked for
OWN_HOSTS = (".test", ".localhost", ".invalid")  # endings that name no machine of anybody else
TRIED = TABLES.listed("tried")


def parts_of(name: str) -> list[str]:
    """Return the words of a name: `deleteByNameType`, `repo-delete` and `delete_all` have several."""
    spaced = "".join(
        f" {char}" if char.isupper() and before.islower() else char
        for before, char in zip(f" {name}", name, strict=False)
    )
    return words(spaced)


def is_name(word: str) -> bool:
    """Return whether a word may be a sub-command: no path, no sentence, no file."""
    return len(word) <= LONGEST_NAME and all(char.isalnum() or char in "-_:." for char in word)


def host_of(word: str) -> str:
    """Return the host that a word names, as an address, as `HOST:PORT`, or as the value of an option or variable."""
    value = word.rpartition("=")[2] if "=" in word and "://" not in word.partition("=")[0] else word
    if "://" in value:
        value = value.partition("://")[2]
    return value.rpartition("@")[2].lstrip("/")


def posted_to_delete(path: str) -> str:
    """Return the segment of a path by which a request that is posted there deletes, or ""."""
    deleting, previous = "", ""
    for segment in path.split("/"):
        parts = parts_of(segment) if is_name(segment) else []
        if not NOUNS.isdisjoint(parts[-1:]) and (POSTING | LISTING | LOOKING).isdisjoint(parts[:-1]):
            deleting, previous = segment, segment
            continue
        verbs = _verbs_of(segment)
        if deleting in NOUNS and not POSTING.isdisjoint(verbs):
            return ""  # `deletions/7/cancel`
        if not (LOOKING | LISTING).isdisjoint(verbs[:2]) or not UNDOING.isdisjoint(verbs):
            return ""
        if not POSTING.isdisjoint(verbs[:2]) or not LAST.isdisjoint(verbs):
            deleting = deleting or ("" if previous == "password" else segment)
        previous = segment
    return deleting


def _verbs_of(segment: str) -> tuple[str, ...]:
    """Return the words of a segment of an address that can be its verb: the first, the whole, or the last."""
    parts = parts_of(segment) if is_name(segment) else []
    if len(parts) > 1 and (parts[0] == "do" or any(map(str.isdigit, parts[0]))):
        parts = parts[1:]  # `doFlush`, `b2_delete_file`
    if not parts or (len(parts) > 1 and not ABOUT.isdisjoint(parts)):
        return ()
    return (parts[-1] if "." in segment else parts[0], "".join(parts), parts[-1])


def plain(word: str) -> str:
    """Return JSON without quotation marks and spaces, a colon as `=`: `"dry_run": true` is `dry_run=true`."""
    return word.replace('"', "").replace(" ", "").replace(":", "=")
