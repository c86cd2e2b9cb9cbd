"""The list of notes in the settings is changed without touching anything else."""

from __future__ import annotations

import tomllib

import pytest

from deia.commons.write.import_notes import with_globs
from deia.problems import CommonsError


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# only a comment\n",
        "hold = false  # mine\n\n[forms]\ncritical = 'ask'\n",
        "[forms]\ncritical = 'ask'\n",
        'documents = ["old/**"]\nhold = false\n',
        "hold = true\r\n[forms]\r\nlow = 'note'\r\n",
    ],
)
def test_the_list_is_set_and_every_other_line_stays(before: str) -> None:
    after = with_globs(before, ["docs/**", 'a "b".md'])
    assert tomllib.loads(after) == {**tomllib.loads(before), "documents": ["docs/**", 'a "b".md']}
    kept = [line for line in before.split("\n") if line.strip() and not line.startswith("documents")]
    assert [line for line in after.split("\n") if line in kept] == kept


@pytest.mark.parametrize(
    "before", ['documents = [\n  "a/**", # why\n]\n', 'documents = ["a"]  # why\n', "documents = [\n"]
)
def test_a_form_that_is_not_understood_is_refused_with_what_to_write(before: str) -> None:
    with pytest.raises(CommonsError) as raised:
        with_globs(before, ["docs/**"])
    assert "deia.toml" in str(raised.value)
