"""The last proposals, kept between the command that makes them and the one that applies them.

They are in the person's own state folder, not in the commons, so that nobody else sees the questions.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from deia import fast_json, files, spool
from deia.folders import state_folder
from deia.learn.proposals import Proposal
from deia.problems import CommonsError
from deia.typed_json import read_record

FOLDER = "learn"


def _path(root: str, environ: Mapping[str, str]) -> str:
    mark = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return f"{state_folder(environ)}/{FOLDER}/{mark}.json"


def store_proposals(root: str, proposals: Sequence[Proposal], *, environ: Mapping[str, str], at: float) -> bool:
    """Store proposals for `deia learn apply`, and return whether that was possible."""
    path = _path(root, environ)
    data = fast_json.dumps(
        {"at": spool.timestamp(at), "proposals": [proposal.to_dict() for proposal in proposals]}
    ).encode()
    return files.keep(path, data)


def load_proposals(root: str, *, environ: Mapping[str, str]) -> list[Proposal]:
    """Return the proposals that were made last; raise CommonsError if there are none, or they cannot be read."""
    fix = "Type: deia learn propose"
    data = files.read(_path(root, environ))
    if data is None:
        raise CommonsError("There are no proposals yet.", fix=fix)
    try:
        return [
            read_record(Proposal, values) for values in fast_json.loads(data.decode("utf-8", "replace"))["proposals"]
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise CommonsError("The proposals cannot be read.", fix=fix) from error
