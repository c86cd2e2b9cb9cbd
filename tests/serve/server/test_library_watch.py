"""A server follows what changes in the sources of the library, and no answer waits for that."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from deia.compile.take_in import take_in
from deia.folders import library_folder
from deia.ingest.checked_source import checked
from deia.ingest.source import FolderSource, GitSource, UrlSource, described
from deia.ingest.source_kinds.from_folder import FolderFiles
from deia.serve.server.library_watch import Watch
from tests.serve.server.conftest import end_server, start_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deia.ingest.source import Sources
    from tests.serve.server.conftest import Place, Served

PATIENCE = 90.0  # seconds: after work the watch rests four times as long, and a busy machine makes it long
LONG_AGO = 1_600_000_000.0


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "pump.md").write_text("# Pump\n\nThe impeller turns left.\n", encoding="utf-8")
    return folder


@pytest.fixture
def home(place: Place, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in ("HOME", "DEIA_STATE", "DEIA_CACHE", "DEIA_STARTER", "DEIA_TRUST"):
        monkeypatch.setenv(name, place.environ[name])
    return place.environ


@pytest.fixture
def served(place: Place, docs: Path, home: dict[str, str]) -> Iterator[Served]:
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    running = start_server(place, "--rate", "0")
    yield running
    assert end_server(running) == 0


def found(served: Served, question: str) -> set[str]:
    """Return the paths of what answers a question."""
    query = urlencode({"q": question, "collection": "docs"})
    status, body, _ = served.ask(f"/search?{query}")
    assert status in (200, 400), body  # 400: nothing was taken in yet, so there is no such collection
    documents = json.loads(body).get("documents", {})
    return {one["path"] for part in documents.values() for one in part}


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_new_a_changed_and_a_deleted_file_are_in_the_answers_soon(served: Served, docs: Path) -> None:
    assert "library:docs/pump.md" in found(served, "which way does the impeller turn")
    (docs / "deep/valve.md").write_text("# Valve\n\nThe spindle has a left-hand thread.\n", encoding="utf-8")
    wait_for(lambda: "library:docs/deep/valve.md" in found(served, "thread of the spindle"))
    (docs / "pump.md").write_text("# Pump\n\nThe gasket is made of graphite.\n", encoding="utf-8")
    wait_for(lambda: "library:docs/pump.md" in found(served, "gasket of graphite"))
    (docs / "new/folder").mkdir(parents=True)
    time.sleep(3)  # the folder is known before there is anything in it
    (docs / "new/folder/motor.md").write_text("# Motor\n\nThe brushes wear down.\n", encoding="utf-8")
    wait_for(lambda: "library:docs/new/folder/motor.md" in found(served, "worn brushes of the motor"))
    (docs / "pump.md").unlink()
    wait_for(lambda: "library:docs/pump.md" not in found(served, "gasket of graphite"))


@pytest.mark.slow
def test_what_is_taken_in_first_while_the_server_runs_is_watched_too(
    place: Place, docs: Path, home: dict[str, str]
) -> None:
    served = start_server(place, "--rate", "0")
    assert not found(served, "impeller")
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    wait_for(lambda: "library:docs/pump.md" in found(served, "impeller"))
    (docs / "pump.md").write_text("# Pump\n\nThe gasket is made of graphite.\n", encoding="utf-8")
    wait_for(lambda: "library:docs/pump.md" in found(served, "gasket of graphite"))
    assert end_server(served) == 0


def watching(place: Place) -> list[str]:
    """Return the processes that watch this library."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            commands.append(path.read_text(encoding="utf-8", errors="replace"))
    return [line for line in commands if "library_watch" in line and str(place.root) in line]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes cannot be looked at here")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_watch_ends_with_the_server_however_that_ends(
    place: Place, docs: Path, home: dict[str, str], how: signal.Signals
) -> None:
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    served = start_server(place)
    wait_for(lambda: bool(watching(place)))
    served.process.send_signal(how)
    served.process.communicate(timeout=PATIENCE)
    wait_for(lambda: not watching(place))


# --- when to look at what ---


def test_only_what_changed_is_due(place: Place, docs: Path, home: dict[str, str]) -> None:
    other = docs.parent / "other"
    other.mkdir()
    take_in(str(place.root), [described(FolderSource(path=str(folder))) for folder in (docs, other)], home)
    watch = Watch(str(place.root))
    assert watch.due() == ["docs", "other"]  # nobody watched before
    assert watch.due() == []
    (other / "new.md").write_text("# New\n", encoding="utf-8")
    assert (watch.due(), watch.due()) == (["other"], [])
    docs.rename(docs.parent / "elsewhere")
    assert (watch.due(), watch.due()) == (["docs"], [])


@pytest.mark.slow
def test_a_source_that_is_tracked_is_due_as_often_as_it_says(place: Place, home: dict[str, str]) -> None:
    sources: list[Sources] = [
        GitSource(url="https://nowhere.invalid/x.git", name="often", track="1s"),
        GitSource(url="https://nowhere.invalid/y.git", name="seldom", track="7d"),
        UrlSource(url="https://nowhere.invalid/z", name="never"),
    ]
    take_in(str(place.root), [described(source) for source in sources], home)
    watch = Watch(str(place.root))
    time.sleep(2.1)  # what is kept is whole seconds
    assert watch.due() == ["often"]


def test_looking_does_not_read_the_registry_again_unless_it_changed(
    place: Place, docs: Path, home: dict[str, str]
) -> None:
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    watch = Watch(str(place.root))
    watch.due()
    known = watch.sources()
    assert watch.sources() is known
    take_in(str(place.root), [described(FolderSource(path=str(docs.parent), name="all"))], home)
    assert [one.source.name for one in watch.sources()] == ["all", "docs"]


def test_an_untrusted_commons_is_not_looked_at(
    place: Place, docs: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    monkeypatch.setenv("DEIA_TRUST", "")
    assert Watch(str(place.root)).due() == []


@pytest.mark.slow
def test_a_git_repository_that_is_tracked_is_fetched_again(place: Place, tmp_path: Path, home: dict[str, str]) -> None:
    origin = tmp_path / "shop"
    origin.mkdir()

    def commit(text: str) -> None:
        (origin / "guide.md").write_text(text, encoding="utf-8")
        who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        for words in (("add", "."), (*who, "commit", "-qm", "x")):
            subprocess.run(["git", *words], cwd=origin, check=True)

    subprocess.run(["git", "init", "-q"], cwd=origin, check=True)
    commit("# Guide\n\nThe impeller turns left.\n")
    source = described(GitSource(url=str(origin), name="docs", track="1s"))
    take_in(str(place.root), [checked(source)], home)
    served = start_server(place, "--rate", "0")
    commit("# Guide\n\nThe gasket is made of graphite.\n")
    wait_for(lambda: "library:docs/guide.md" in found(served, "gasket of graphite"))
    assert end_server(served) == 0


def test_places_hold_whatever_can_change(docs: Path) -> None:
    (docs / ".gitignore").write_text("*.log\nignored/\n", encoding="utf-8")
    (docs / "ignored").mkdir()
    (docs / "a.log").write_text("x", encoding="utf-8")
    places = {os.path.relpath(place, docs) for place in FolderFiles(described(FolderSource(path=str(docs)))).places()}
    assert places == {".", ".gitignore", "deep", "pump.md"}


@pytest.mark.slow
def test_a_library_of_this_commons_has_one_watch(place: Place, docs: Path, home: dict[str, str]) -> None:
    take_in(str(place.root), [described(FolderSource(path=str(docs)))], home)
    both = [start_server(place, "--rate", "0") for _ in range(2)]
    (docs / "valve.md").write_text("# Valve\n\nThe spindle has a left-hand thread.\n", encoding="utf-8")
    for served in both:
        wait_for(lambda served=served: "library:docs/valve.md" in found(served, "thread of the spindle"))  # type: ignore[misc]
    assert Path(library_folder(str(place.root), home), "watch").exists()
    assert end_server(both[0]) == 0
    (docs / "motor.md").write_text("# Motor\n\nThe brushes wear down.\n", encoding="utf-8")
    wait_for(lambda: "library:docs/motor.md" in found(both[1], "worn brushes of the motor"))
    assert end_server(both[1]) == 0
