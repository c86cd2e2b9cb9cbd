"""A person's mutes: a trigger silenced for a while, once, in a folder or conversation, for some paths, or for good.

Also where the off switch is. The file is append-only, one JSON line a decision; the last line about a trigger, a
folder, a path and a conversation wins.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps, loads
from deia.folders import MUTES
from deia.records import TYPE_CHECKING, Record
from deia.watch.memory.log import belongs_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

EVERY_TRIGGER = "*"


class Mute(Record):
    """One decision about a trigger."""

    trigger: str
    until: float = 0.0  # seconds since the epoch; 0 is for good
    folder: str = ""  # only at and under this folder; "" is everywhere
    lifted: bool = False
    path: str = ""  # only where a turn touches nothing but what this glob leads to, read from `base`
    base: str = ""
    once: bool = False  # lifted as soon as it silenced something
    conversation: str = ""  # only in this one, and in those of agents that work for it


def switch_path(state: str) -> str:
    """Give the file whose presence silences deia altogether."""
    return f"{state}/off"


def _path(state: str) -> str:
    return f"{state}/{MUTES}"


def write_mute(state: str, mute: Mute) -> bool:
    """Remember a mute, or that it is lifted; say whether it could be written."""
    return files.append(_path(state), b"\n" + dumps(mute.values()).encode() + b"\n")


def read_mutes(state: str, *, now: float) -> list[Mute]:
    """Give the mutes in force; broken lines are passed over."""
    latest: dict[tuple[str, ...], Mute] = {}
    for mute in _lines(files.read(_path(state)) or b""):
        latest[mute.trigger, mute.folder, mute.base, mute.path, mute.conversation] = mute
    return [mute for mute in latest.values() if not mute.lifted and (mute.until == 0 or mute.until > now)]


def _lines(content: bytes) -> Iterator[Mute]:
    for line in content.split(b"\n"):
        try:
            value = loads(line.decode("utf-8", "replace")) if line else None
            mute = Mute(**value) if isinstance(value, dict) else None
        except (ValueError, TypeError):
            continue
        if mute is not None and _is_sound(mute):
            yield mute


def _is_sound(mute: Mute) -> bool:
    texts = all(isinstance(text, str) for text in (mute.trigger, mute.folder, mute.path, mute.base, mute.conversation))
    return texts and isinstance(mute.until, (int, float))


def muted_triggers(
    state: str, *, folder: str, now: float, touched: Any = None, conversation: str = ""
) -> frozenset[str]:
    """Give the ids of the triggers that are muted for somebody working in `folder`.

    `touched` (an `exceptions.Touched`) knows what the turn is about; without it a mute of a path counts for nothing.
    """
    mutes = read_mutes(state, now=now)
    return frozenset(mute.trigger for mute in mutes if _covers(mute, folder, touched, conversation))


def _covers(mute: Mute, folder: str, touched: Any, conversation: str) -> bool:
    muted = mute.folder
    here = not muted or folder == muted or folder.startswith(muted.rstrip("/") + "/")
    here = here and (not mute.conversation or belongs_to(conversation, mute.conversation))
    return here and (not mute.path or (touched is not None and touched.lies_in((mute.path,), mute.base)))


def use_up(
    state: str, silenced: Collection[str], *, folder: str, now: float, touched: Any = None, conversation: str = ""
) -> None:
    """Lift the mutes that were meant for one time and have silenced one of these triggers."""
    for mute in read_mutes(state, now=now):
        if mute.once and mute.trigger in silenced and _covers(mute, folder, touched, conversation):
            write_mute(state, mute.but(lifted=True))
