"""An edit of `deia.toml`: the list `documents` gets more globs, and everything else stays as it is, comments included.

What comes out is parsed and compared, so a file in a form that the edit does not understand is refused, not damaged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from deia.fast_json import Json, dumps
from deia.problems import CommonsError

PATH = "deia.toml"
NAME = "documents"


def with_globs(text: str, globs: Sequence[str]) -> str:
    """Return the settings with `globs` as the notes that are documents.

    Raise CommonsError if the file is broken, or the setting is written in a way that this edit cannot change.
    """
    before = _parsed(text)
    line = f"{NAME} = [{', '.join(map(dumps, globs))}]"
    lines = text.split("\n")
    table = next((at for at, old in enumerate(lines) if old.lstrip().startswith("[")), len(lines))
    known = next((at for at in range(table) if lines[at].partition("=")[0].strip() == NAME), -1)
    if known >= 0:
        after = "\n".join([*lines[:known], line, *lines[known + 1 :]])
    else:
        end = max((at + 1 for at in range(table) if lines[at].strip()), default=0)
        after = "\n".join([*lines[:end], line, *(lines[end:] or [""])])
    try:
        is_meant = "#" not in lines[known] if known >= 0 else True
        is_meant = is_meant and _parsed(after) == {**before, NAME: list(globs)}
    except CommonsError:
        is_meant = False
    if not is_meant:
        fix = f"Write it there yourself: {line}"
        raise CommonsError(f"{PATH} has {NAME} in a form that deia import does not change.", fix=fix)
    return after


def _parsed(text: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommonsError(f"{PATH} is not valid TOML: {error}", fix="Correct it by hand first.") from error
