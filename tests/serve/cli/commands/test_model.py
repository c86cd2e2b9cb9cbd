"""`deia config model`, and the setting that it writes."""

from __future__ import annotations

import json
import tomllib
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.problems import SettingsError
from deia.serve.setup.toml_text import with_setting, write_setting

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


def test_models_are_listed_with_what_the_commons_was_compiled_with(deia: Deia) -> None:
    before = json.loads(deia("config", "model", "list", "--json").out)
    assert {row["name"] for row in before["models"]} == {"compact", "static", "keyword", "transformer"}
    assert all("nothing is compiled yet" in row["state"] for row in before["models"] if row["bytes"])
    deia("compile")
    static = next(line for line in deia("config", "model", "list").out.splitlines() if line.startswith("static"))
    assert "the commons was compiled with it" in static
    assert " MB" in static


def test_a_model_is_set_in_the_settings_file(deia: Deia, commons: Path) -> None:
    deia("compile")
    assert deia("config", "model", "use", "keyword").code == 0
    assert tomllib.loads((commons / "deia.toml").read_text()) == {"tier": "keyword"}
    assert "tier = keyword (deia.toml)" in deia("config", "model", "list").out
    assert deia("config", "model", "use", "auto").code == 0
    assert deia("config", "model", "use", "unheard-of").code == 2
    refused = deia("config", "model", "use", "transformer")
    assert (refused.code, "deia config model use MODEL" in refused.err) == (2, True)
    assert tomllib.loads((commons / "deia.toml").read_text()) == {"tier": "auto"}


def test_a_model_that_is_set_but_not_compiled_is_told_and_the_search_goes_on(deia: Deia, commons: Path) -> None:
    deia("compile")
    (commons / "deia.toml").write_text('tier = "transformer"\nmodel = "one/model"\n')
    found = deia("search", "how do I delete a site safely", "--format", "json")
    assert found.code == 0
    audit = json.loads(found.out)["audit"]
    assert audit["tier"] in {"static", "compact"}
    assert "the commons was compiled without one/model; type: deia compile" in " ".join(audit["warnings"])
    assert "one/model" in deia("config", "model", "list").out


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra is installed")
def test_fetching_a_model_names_the_extra_and_the_command(deia: Deia) -> None:
    refused = deia("config", "model", "pull", "all-MiniLM-L6-v2")
    assert refused.code == 2
    assert "transformers" in refused.err
    assert "pip install 'deia[transformers]'" in refused.err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'tier = "static"\n'),
        ("# mine\nlimit = 7", '# mine\nlimit = 7\ntier = "static"\n'),
        ("tier = 'auto'  # best\nlimit = 7\n", 'tier = "static"  # best\nlimit = 7\n'),
        ("limit = 7\n\n[forms]\nhigh = 'note'\n", "limit = 7\ntier = \"static\"\n\n[forms]\nhigh = 'note'\n"),
        ("[forms]\ntier = 'note'\n", "tier = \"static\"\n[forms]\ntier = 'note'\n"),
    ],
)
def test_a_setting_is_written_and_everything_else_stays(before: str, after: str) -> None:
    assert with_setting(before, "tier", "static") == after


@pytest.mark.parametrize("text", ["x = [\n", '"tier" = "auto"\n', "x = '''\ntier = 1\n'''\n", "a = " + "[" * 100_000])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    with pytest.raises(SettingsError):
        with_setting(text, "tier", "static")


@given(st.text(max_size=60) | st.text("tier=[]#'\"\n axb1", max_size=60))
@settings(max_examples=100)
def test_whatever_is_written_reads_back(text: str) -> None:
    try:
        after = with_setting(text, "tier", "static")
    except SettingsError:
        return
    assert tomllib.loads(after) == {**tomllib.loads(text), "tier": "static"}


def test_a_setting_that_cannot_be_written_is_told_with_what_to_do(commons: Path) -> None:
    (commons / "deia.toml").unlink(missing_ok=True)
    (commons / "deia.toml").mkdir()
    with pytest.raises(SettingsError, match=r"deia\.toml: cannot be written: .*DEIA_TIER="):
        write_setting(commons.as_posix(), "tier", "keyword")
