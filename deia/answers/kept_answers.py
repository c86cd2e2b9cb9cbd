"""Answers that were given before, for whoever asks the same of the same documents.

They are kept by all that an answer depends on, the catalogs that an asker answers from among it. These are of what the
asker may read and are named by their content, so people share an answer only if they may read the same, and what was
compiled meanwhile is asked anew.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from deia.answers.librarian_answer import LibrarianResponse

MOST = 256  # answers of a process
LONGEST = 2_000  # characters of a question whose answer is kept
_answers: OrderedDict[str, LibrarianResponse] = OrderedDict()  # the one that was asked for last is last
_lock = Lock()


def key_of(*basis: object) -> str:
    """Return the key of an answer, from all that it depends on."""
    return blake2b(repr(basis).encode("utf-8", "replace"), digest_size=32).hexdigest()


def kept_answer(key: str) -> LibrarianResponse | None:
    """Return the answer that was given before, or None."""
    with _lock:
        if key in _answers:
            _answers.move_to_end(key)
        return _answers.get(key)


def keep_answer(key: str, response: LibrarianResponse) -> None:
    """Keep an answer, instead of the one that was not asked for the longest time if there are too many."""
    if len(response.question) > LONGEST:
        return
    with _lock:
        _answers[key] = response
        while len(_answers) > MOST:
            _answers.popitem(last=False)
