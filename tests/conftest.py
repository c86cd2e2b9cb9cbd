"""Settings for all tests."""

from __future__ import annotations

import gc
import glob
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.derived import private

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from pathlib import Path

# On a build machine the same examples every time: a new one is a finding for a person, not for somebody else's change.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, which takes a third longer, nor later in what that has made."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests with generated examples out of what is measured for coverage: they would take twice as long."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep all tests out of the state and the cache of the person who runs them."""
    folder = tmp_path_factory.mktemp("person")
    caches = [f"{place}/.cache/deia" for place in (os.path.expanduser("~"), "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIA_STATE", str(folder / "state"))
        patch.setenv("DEIA_CACHE", str(folder / "cache"))
        patch.setenv("DEIA_TRUST", "*")
        yield
    strays = [path for cache in caches for path in glob.glob(f"{glob.escape(cache)}/*-*/*pytest-*")]
    assert not strays, f"a test compiled into a person's cache; give it an environment with DEIA_CACHE: {strays}"


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Return the environment of a person with a state and a cache of the test's own, which is set meanwhile."""
    own = private(tmp_path / "person")
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **own}
