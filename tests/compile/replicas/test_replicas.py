"""What is published arrives elsewhere, only what changed is moved, and nobody but the publisher changes anything."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.compiler import compile_commons
from deia.compile.replicas.bucket import open_bucket
from deia.compile.replicas.publish import publish
from deia.compile.replicas.pull import pull
from deia.compile.replicas.seal import signed
from deia.compile.replicas.version import HEAD, OBJECTS, ReplicaError, read_head
from deia.compile.take_in import keep_upload, take_in, update
from deia.folders import LIBRARY_STATE, library_folder
from deia.ingest.source import FolderSource, described
from deia.librarian import Librarian
from deia.problems import CommonsError
from tests.derived import derived, private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PARTS = ("impeller", "spindle", "gasket", "bearing", "flange", "rotor", "stator", "nozzle", "piston", "valve")


def current(folder: Path) -> dict[str, bytes]:
    catalog = folder / (folder / "catalog").read_text()
    paths = [path for path in catalog.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {path.relative_to(catalog).as_posix(): path.read_bytes() for path in paths}


class Two:
    """A publisher and a replica, each with a commons, a state and a cache of its own."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder, self.place = folder, f"file://{folder}/bucket"
        self.bucket = folder / "bucket"
        self.here, self.there = str(folder / "here"), str(folder / "there")
        self.environ = environ
        self.away = {**environ, **private(folder / "other")}
        for root, own in ((self.here, self.environ), (self.there, self.away)):
            (Path(root) / "bok").mkdir(parents=True)
            (Path(root) / "deia.toml").write_text("", encoding="utf-8")
            compile_commons(root, environ=own, requested=True)
        self.manuals = folder / "manuals"
        self.manuals.mkdir()
        for part in PARTS:
            self.write(part, f"The {part} turns left, and it is made of steel.")
        take_in(self.here, [described(FolderSource(path=str(self.manuals), name="manuals"))], self.environ)

    def write(self, part: str, text: str) -> None:
        (self.manuals / f"{part}.md").write_text(f"# The {part}\n\n{text}\n", encoding="utf-8")

    def change(self, part: str, text: str) -> None:
        self.write(part, text)
        update(self.here, (), self.environ)

    def publish(self) -> str:
        return publish(self.here, self.environ, self.place).key

    def files(self) -> dict[str, bytes]:
        """Return the current catalog of the replica."""
        return current(derived(self.there, self.away) / "library")

    def published_files(self) -> dict[str, bytes]:
        return current(derived(self.here, self.environ) / "library")

    def name(self) -> str:
        return (derived(self.here, self.environ) / "library/catalog").read_text()

    def found(self, question: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        with monkeypatch.context() as patch:
            for name, value in self.away.items():
                patch.setenv(name, value)
            answer = Librarian(self.there).query(question, layer="library", tier="static")
        return [result.path for result in answer.documents]


@pytest.fixture
def two(tmp_path: Path, environ: Mapping[str, str]) -> Two:
    return Two(tmp_path, environ)


def test_a_replica_answers_what_was_published_and_takes_only_what_changed(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = two.publish()
    first = pull(two.there, two.away, two.place, key=key)
    assert two.files() == two.published_files()
    assert two.found("which way does the impeller turn", monkeypatch)[0].endswith("impeller.md")
    assert not pull(two.there, two.away).is_new

    two.change("impeller", "The impeller turns right, and it is made of brass, as the zygote was.")
    assert not publish(two.here, two.environ, two.place).is_whole
    second = pull(two.there, two.away)
    assert second.moved < first.moved / 2
    assert two.files() == two.published_files()
    assert two.found("brass zygote", monkeypatch)[0].endswith("impeller.md")
    assert not publish(two.here, two.environ, two.place).is_new


def test_several_steps_are_taken_at_once_and_by_whoever_is_new(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    for number in range(3):
        two.change("valve", f"The valve closes {number} times.")
        two.publish()
    pull(two.there, two.away)
    assert two.files() == two.published_files()
    shutil.rmtree(derived(two.there, two.away) / "library")
    pull(two.there, two.away, two.place, key=key)
    assert two.files() == two.published_files()


def age(catalog: Path) -> None:
    """Give a catalog the header of an old format; the file that it is a link to stays."""
    header = catalog / "catalog.json"
    old = {**json.loads(header.read_text()), "format": 3}
    header.unlink()
    header.write_text(json.dumps(old))


def test_a_replica_in_an_old_format_is_pulled_anew(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    age(derived(two.there, two.away) / "library" / two.name())
    assert pull(two.there, two.away).is_new
    assert two.files() == two.published_files()


def test_what_was_published_in_an_old_format_is_published_anew(two: Two) -> None:
    two.publish()
    age(derived(two.here, two.environ) / "library" / two.name())
    key = two.publish()
    assert pull(two.there, two.away, two.place, key=key).is_new


def test_a_publisher_that_lost_its_cache_publishes_everything_again(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    shutil.rmtree(derived(two.here, two.environ) / "library/published")
    two.change("valve", "The valve closes.")
    published = publish(two.here, two.environ, two.place)
    assert published.is_whole
    assert published.sequence == 2
    pull(two.there, two.away)
    assert two.files() == two.published_files()


def spoil_signature(two: Two) -> None:
    value = json.loads((two.bucket / HEAD).read_bytes())
    value["head"]["sequence"] += 1
    (two.bucket / HEAD).write_text(json.dumps(value))


def sign_by_somebody_else(two: Two) -> None:
    other = {**two.environ, **private(two.folder / "third")}
    head, _ = read_head((two.bucket / HEAD).read_bytes())
    value = {"head": head.values(), "signature": signed(head.signed, other)[0]}
    (two.bucket / HEAD).write_text(json.dumps(value))


def spoil_objects(two: Two) -> None:
    for path in (two.bucket / OBJECTS).iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"?")


def empty_objects(two: Two) -> None:
    for path in (two.bucket / OBJECTS).iterdir():
        path.write_bytes(b"")


def remove_objects(two: Two) -> None:
    shutil.rmtree(two.bucket / OBJECTS)


def remove_head(two: Two) -> None:
    (two.bucket / HEAD).unlink()


def fill_head(two: Two) -> None:
    (two.bucket / HEAD).write_bytes(b"[" * 9_000)


WAYS = (spoil_signature, sign_by_somebody_else, spoil_objects, empty_objects, remove_objects, remove_head, fill_head)


@pytest.mark.parametrize("is_first", [True, False])
def test_what_somebody_else_writes_into_the_bucket_changes_nothing(two: Two, *, is_first: bool) -> None:
    key = two.publish()
    before = None
    if not is_first:
        pull(two.there, two.away, two.place, key=key)
        before = two.files()
        two.change("valve", "The valve closes.")
        two.publish()
    shutil.copytree(two.bucket, two.folder / "sound")
    for spoil in WAYS:
        spoil(two)
        with pytest.raises(ReplicaError):
            pull(two.there, two.away, two.place, key=key)
        shutil.rmtree(two.bucket)
        shutil.copytree(two.folder / "sound", two.bucket)
        if before:
            assert two.files() == before
    pull(two.there, two.away, two.place, key=key)
    assert two.files() == two.published_files()


def test_an_old_version_does_not_come_back(two: Two) -> None:
    key = two.publish()
    old = (two.bucket / HEAD).read_bytes()
    two.change("valve", "The valve closes.")
    two.publish()
    pull(two.there, two.away, two.place, key=key)
    now = two.files()
    (two.bucket / HEAD).write_bytes(old)
    with pytest.raises(ReplicaError, match="has version 1, after version 2"):
        pull(two.there, two.away, two.place, key=key)
    assert two.files() == now


@pytest.mark.parametrize("spoil", [spoil_objects, empty_objects, remove_objects])
def test_publishing_everything_again_mends_a_bucket(two: Two, spoil: Callable[[Two], None]) -> None:
    key = two.publish()
    spoil(two)
    with pytest.raises(ReplicaError, match="deia publish --whole"):
        pull(two.there, two.away, two.place, key=key)
    assert publish(two.here, two.environ, two.place, whole=True).is_whole
    assert pull(two.there, two.away, two.place, key=key).sequence == 2
    assert two.files() == two.published_files()


def test_whoever_writes_into_the_bucket_cannot_set_the_publisher_s_numbers_back(two: Two) -> None:
    key = two.publish()
    old = (two.bucket / HEAD).read_bytes()
    two.change("valve", "The valve closes.")
    two.publish()
    pull(two.there, two.away, two.place, key=key)
    for spoil in (lambda: (two.bucket / HEAD).write_bytes(old), (two.bucket / HEAD).unlink):
        spoil()
        shutil.rmtree(derived(two.here, two.environ) / "library/published")
        number = publish(two.here, two.environ, two.place).sequence
        assert pull(two.there, two.away).sequence == number > 2


def test_two_versions_of_one_number_are_not_both_taken(two: Two) -> None:
    key = two.publish()
    old = (two.bucket / HEAD).read_bytes()
    two.change("valve", "The valve closes.")
    two.publish()
    pull(two.there, two.away, two.place, key=key)
    (two.bucket / HEAD).write_bytes(old)
    shutil.rmtree(derived(two.here, two.environ) / "library/published")
    for path in Path(library_folder(two.here, two.environ)).glob("published-*"):
        path.unlink()
    two.change("valve", "The valve opens.")
    assert publish(two.here, two.environ, two.place).sequence == 2
    with pytest.raises(ReplicaError, match="another version 2"):
        pull(two.there, two.away)


def test_nothing_is_taken_in_where_a_replica_is(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    with pytest.raises(CommonsError, match="replica"):
        keep_upload(two.there, "note.md", b"# A note", two.away)
    shutil.rmtree(derived(two.there, two.away))
    with pytest.raises(CommonsError, match="replica"):
        update(two.there, (), two.away)
    pull(two.there, two.away, two.place, key=key)
    assert two.files() == two.published_files()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_switch_that_fails_half_way_is_made_up_for(two: Two, *, is_first: bool) -> None:
    key = two.publish()
    if not is_first:
        pull(two.there, two.away, two.place, key=key)
        two.change("valve", "The valve closes.")
        two.publish()
    state = Path(library_folder(two.there, two.away)) / LIBRARY_STATE
    state.unlink(missing_ok=True)
    state.mkdir(parents=True)
    with pytest.raises(ReplicaError):
        pull(two.there, two.away, two.place, key=key)
    state.rmdir()
    assert pull(two.there, two.away, two.place, key=key).is_new
    assert state.read_bytes()
    assert two.files() == two.published_files()


def test_a_version_of_the_same_name_is_taken_after_a_switch_that_failed(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    catalog = derived(two.here, two.environ) / "library" / two.name()
    (catalog / "extra").write_bytes(b"as another version of deia would compile it")
    two.publish()
    state = Path(library_folder(two.there, two.away)) / LIBRARY_STATE
    state.unlink()
    state.mkdir()
    with pytest.raises(ReplicaError):
        pull(two.there, two.away)
    state.rmdir()
    assert pull(two.there, two.away).is_new
    assert two.files() == two.published_files()


def test_a_library_of_one_s_own_is_not_hidden(two: Two) -> None:
    key = two.publish()
    with pytest.raises(ReplicaError, match="a library of its own"):
        pull(two.here, two.environ, two.place, key=key)


@pytest.mark.parametrize("place", ["", "ftp://x/y", "file://host/x", "s3://", "bucket", "file://[", "s3://["])
def test_a_place_that_is_none_is_refused_by_name(place: str) -> None:
    with pytest.raises(ReplicaError, match="is no place to publish to"):
        open_bucket(place)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_version_on_both_sides(two: Two) -> None:
    key = two.publish()
    pull(two.there, two.away, two.place, key=key)
    publishing = "from deia.compile.replicas.publish import publish as go"
    pulling = "from deia.compile.replicas.pull import pull as go"
    for number in range(12):
        two.change("valve", f"The valve closes {number} times.")
        for code, root, own in ((publishing, two.here, two.environ), (pulling, two.there, two.away)):
            command = [sys.executable, "-c", f"import os, sys; {code}; go(sys.argv[1], os.environ, sys.argv[2])"]
            process = subprocess.Popen([*command, root, two.place], env=own, stderr=subprocess.DEVNULL)
            time.sleep(0.25 + number * 0.05)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        head, _ = read_head((two.bucket / HEAD).read_bytes())
        assert head.listing
        assert pull(two.there, two.away).sequence == head.sequence
    two.publish()
    pull(two.there, two.away)
    assert two.files() == two.published_files()
