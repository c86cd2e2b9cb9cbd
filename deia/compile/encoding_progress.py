"""How far the library is encoded for the sentence model, in a file that searches, lists and the doctor read."""

from __future__ import annotations

import time

from deia import fast_json, files
from deia.records import Record
from deia.typed_json import read_record

NAME = "encoding"  # the file, in the folder of the library's compiled files
SILENT = 120.0  # seconds without a word after which nobody seems to be at work
EVERYTHING = "to encode all of it, type: deia compile --tier compact"
BEGUN = "a process of its own encodes it for the sentence model now"


class Encoding(Record):
    """How many of the library's passages are encoded, and what is known about the rest."""

    done: int = 0
    of: int = 0
    left: float = 0.0  # seconds, at the rate so far; 0 before there is one
    at: float = 0.0  # when this was written
    reason: str = ""  # why the library keeps to word vectors

    def sentence(self, now: float) -> str:
        """Return the progress in words, or "" if all is encoded."""
        if self.reason:
            return self.reason
        if not self.of or self.done >= self.of:
            return ""
        done = f"{self.done} of {self.of} titles and passages of the library are encoded for the sentence model"
        if now - self.at > SILENT:
            return f"{done}; {EVERYTHING}"
        return f"{done}, {about(self.left - (now - self.at))} left" if self.left else done


def write_encoding(folder: str, encoding: Encoding) -> None:
    """Write how far it is; raise OSError if the folder cannot be written."""
    files.replace(f"{folder}/{NAME}", fast_json.dumps(encoding.but(at=encoding.at or time.time()).values()).encode())


def read_encoding(folder: str) -> Encoding:
    """Return what was written last, or the beginning if there is nothing that can be read."""
    try:
        return read_record(
            Encoding, fast_json.loads((files.read(f"{folder}/{NAME}") or b"").decode("utf-8", "replace"))
        )
    except (ValueError, TypeError):
        return Encoding()


def library_warning(folder: str) -> str:
    """Return what to say about an answer from a library that has no vectors of the sentence model, or "" if it should.

    A library that keeps to word vectors says so where sources are listed, not at every answer.
    """
    encoding, now = read_encoding(folder), time.time()
    # Whoever starts to encode writes that, and counts later; whoever has encoded all of it still compiles it.
    progress = encoding.sentence(now) or (BEGUN if now - encoding.at <= SILENT else EVERYTHING)
    return "" if encoding.reason else f"the library was searched with word vectors only; {progress}"


def about(seconds: float) -> str:
    """Return a duration as a person would say it."""
    return f"about {max(1, seconds):.0f} s" if seconds < 100 else f"about {seconds / 60:.0f} minutes"
