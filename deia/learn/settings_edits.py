"""An edit of `deia.toml`: one line of `[forms]` changes, and everything else stays as it is, comments included.

What comes out is parsed and compared, so a file in a form that the edit does not understand is refused, not damaged.
"""

from __future__ import annotations

import tomllib

from deia.fast_json import Json, dumps
from deia.learn.changes import FORMS
from deia.problems import CommonsError
from deia.records import ACTIONS

PATH = "deia.toml"
STRENGTH = ("off", *ACTIONS)


def with_form(text: str, trigger: str, action: str) -> str:
    """Return the settings with the most that a trigger may do.

    Raise CommonsError if the file is broken, or `forms` is written in a way that this edit cannot change.
    """
    before = _parsed(text)
    forms = before.get(FORMS, {})
    line = f"{trigger} = {dumps(action)}"
    after = _with_line(text, trigger, line)
    try:
        is_meant = isinstance(forms, dict) and _parsed(after) == {**before, FORMS: {**forms, trigger: action}}
    except CommonsError:
        is_meant = False
    if not is_meant:
        fix = f"Write it there yourself: in the table {FORMS}, {line}"
        raise CommonsError(f"{PATH} has {FORMS} in a form that deia learn does not change.", fix=fix)
    return after


def _with_line(text: str, trigger: str, line: str) -> str:
    """Return the settings with a line in the table of forms, in place of the one about the same trigger."""
    lines = text.split("\n")
    header = next((at for at, text in enumerate(lines) if _bare(text) == f"[{FORMS}]"), -1)
    if header < 0:
        return "\n".join([*([text.rstrip("\n"), ""] if text.strip() else []), f"[{FORMS}]", line, ""])
    end = next((at for at in range(header + 1, len(lines)) if lines[at].lstrip().startswith("[")), len(lines))
    known = next((at for at in range(header + 1, end) if _bare(lines[at].partition("=")[0]) == trigger), -1)
    if known >= 0:
        _, mark, comment = lines[known].partition("#")
        lines[known] = f"{line}  #{comment}" if mark else line
    else:
        last = max(at for at in range(header, end) if lines[at].strip())
        lines.insert(last + 1, line)
    return "\n".join(lines)


def _bare(text: str) -> str:
    return text.partition("#")[0].strip().strip("\"'").replace(" ", "")


def _parsed(text: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CommonsError(f"{PATH} is not valid TOML: {error}", fix="Correct it by hand first.") from error


def is_undone_form(now: bytes | None, then: bytes | None) -> bool:
    """Return whether taking back a change of the settings would do no more than make triggers stronger again."""
    try:
        before, after = (
            _parsed((data or b"").decode("utf-8", "replace").replace("\r\n", "\n")) for data in (now, then)
        )
    except CommonsError:
        return False
    old, new = (values.pop(FORMS, {}) for values in (before, after))
    if before != after or not isinstance(old, dict) or not isinstance(new, dict):
        return False
    return all(_strength(new.get(name)) >= _strength(old.get(name)) for name in {*old, *new})


def _strength(action: Json) -> int:
    """Return how strong a form is: none at all bounds nothing, and an unknown one counts as the mildest."""
    if action is None:
        return len(STRENGTH)
    return STRENGTH.index(action) if isinstance(action, str) and action in STRENGTH else -1
