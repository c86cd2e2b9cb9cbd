"""A person's mutes: a trigger is silenced for a while, once, in a folder or conversation, for some paths, or for good.

The off switch is here too. The file is append-only, with one JSON line for each decision. The last line about the same
trigger, folder, path and conversation counts.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps, loads
from deia.folders import MUTES
from deia.records import TYPE_CHECKING, Record
from deia.watch.memory.log import belongs_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from deia.watch.silence.exceptions import Touched

EVERY_TRIGGER = "*"


class Mute(Record):
    """One decision about a trigger."""

    trigger: str
    until: float = 0.0  # seconds since the epoch; 0 means for good
    folder: str = ""  # only in and below this folder; "" means everywhere
    lifted: bool = False
    path: str = ""  # only for turns all of whose paths match this glob, relative to `base`
    base: str = ""
    once: bool = False  # lifted as soon as it has silenced something
    conversation: str = ""  # only in this conversation and in those of agents that work for it


def switch_path(state: str) -> str:
    """Return the file whose existence switches deia off."""
    return f"{state}/off"


def _path(state: str) -> str:
    return f"{state}/{MUTES}"


def write_mute(state: str, mute: Mute) -> bool:
    """Store a mute, or the lifting of one; return whether it worked."""
    return files.append(_path(state), b"\n" + dumps(mute.values()).encode() + b"\n")


def read_mutes(state: str, *, now: float) -> list[Mute]:
    """Return the mutes in force; malformed lines are skipped."""
    latest: dict[tuple[str, ...], Mute] = {}
    for mute in _lines(files.read(_path(state)) or b""):
        latest[mute.trigger, mute.folder, mute.base, mute.path, mute.conversation] = mute
    return [mute for mute in latest.values() if not mute.lifted and (mute.until == 0 or mute.until > now)]


def muted_for_good(state: str, *, now: float) -> frozenset[str]:
    """Return the triggers that are muted everywhere, without an end."""
    return frozenset(mute.trigger for mute in read_mutes(state, now=now) if mute == Mute(trigger=mute.trigger))


def _lines(content: bytes) -> Iterator[Mute]:
    for line in content.split(b"\n"):
        try:
            value = loads(line.decode("utf-8", "replace")) if line else None
            mute = Mute(**value) if isinstance(value, dict) else None
        except (ValueError, TypeError):
            continue
        if mute is not None and _is_valid(mute):
            yield mute


def _is_valid(mute: Mute) -> bool:
    texts: tuple[object, ...] = (mute.trigger, mute.folder, mute.path, mute.base, mute.conversation)
    return all(isinstance(text, str) for text in texts) and isinstance(mute.until, (int, float))


def muted_triggers(
    state: str, *, folder: str, now: float, touched: Touched | None = None, conversation: str = ""
) -> frozenset[str]:
    """Return the ids of the triggers that are muted for somebody who works in `folder`.

    `touched` knows the paths of the turn; without it a mute for a path has no effect.
    """
    mutes = read_mutes(state, now=now)
    return frozenset(mute.trigger for mute in mutes if _covers(mute, folder, touched, conversation))


def _covers(mute: Mute, folder: str, touched: Touched | None, conversation: str) -> bool:
    if mute.folder and folder != mute.folder and not folder.startswith(mute.folder.rstrip("/") + "/"):
        return False
    if mute.conversation and not belongs_to(conversation, mute.conversation):
        return False
    return not mute.path or (touched is not None and touched.lies_in((mute.path,), mute.base))


def use_up(
    state: str,
    silenced: Collection[str],
    *,
    folder: str,
    now: float,
    touched: Touched | None = None,
    conversation: str = "",
) -> None:
    """Lift the one-time mutes that have silenced one of these triggers."""
    for mute in read_mutes(state, now=now):
        if mute.once and mute.trigger in silenced and _covers(mute, folder, touched, conversation):
            write_mute(state, mute.but(lifted=True))
