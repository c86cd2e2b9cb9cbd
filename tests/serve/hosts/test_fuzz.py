"""Bent events of every host: nothing raises, and nothing comes out that a host could not read."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.serve.hooks.place import Place
from deia.serve.hooks.run import HOSTS
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

pytestmark = pytest.mark.slow

BENCH = ROOT / "bench"


@pytest.fixture(scope="module")
def fuzz_hosts() -> Any:
    """Load the long fuzzing run, of which this is a short one."""
    spec = importlib.util.spec_from_file_location("fuzz_hosts", BENCH / "fuzz_hosts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


@pytest.fixture
def place(hosted: Hosts) -> Place:
    """Return a hook's place over the small commons, wherever an event says that it works."""
    it = hosted("generic")
    place = Place(["generic"])
    place.environ, place.state = {**it.environ, "DEIA_COMMONS": it.folder}, it.environ["DEIA_STATE"]
    place.settle(it.folder)
    return place


def test_bent_events_break_nothing(fuzz_hosts: Any, place: Place) -> None:
    assert fuzz_hosts.fuzz(place, 7, range(1_500)) == []


@pytest.mark.parametrize("host", HOSTS)
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_an_event_or_none(fuzz_hosts: Any, place: Place, host: str, data: st.DataObject) -> None:
    simple = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    keys = st.sampled_from([*fuzz_hosts.KEYS, *fuzz_hosts.TEXTS])
    nested = st.recursive(simple | keys, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner))
    event = data.draw(nested)
    assert fuzz_hosts.wrong(host, fuzz_hosts.answered(place, host, json.dumps(event).encode())) == ""


@pytest.mark.parametrize("host", HOSTS)
def test_bent_events_break_no_process(fuzz_hosts: Any, hosted: Hosts, host: str) -> None:
    it = hosted(host)
    numbers = [number for number in range(400) if fuzz_hosts.made(3, number)[0] == host][:3]
    for number in numbers:
        done = it.run(fuzz_hosts.made(3, number)[1])
        assert done.returncode == 0 or (done.returncode == 2 and done.stderr and host in fuzz_hosts.BY_CODE)
        assert not done.stdout or json.loads(done.stdout)
