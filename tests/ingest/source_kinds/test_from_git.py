"""Repositories as sources: what of a branch is taken in, and what git is kept from doing."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.ingest.checked_source import checked
from deia.ingest.ingesting import Outcome, ingest
from deia.ingest.library_store import Library
from deia.ingest.source import GitSource, SourceError, UrlSource, described, typed
from deia.ingest.source_kinds.from_git import GitFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def git(folder: Path, *words: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environ = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_COMMITTER_DATE": "2024-05-06T12:00:00Z"}
    done = subprocess.run(["git", *words], cwd=folder, env=environ, capture_output=True, check=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "occt"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "master")
    commit(
        folder,
        {"src/a/Point.cxx": "int point() { return 1; }\n", "docs/über.md": "# Über\n\nPoints.\n", "x.txt": "x\n"},
    )
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(str(tmp_path / "library")) as opened:
        yield opened


def take_in(library: Library, folder: Path, **fields: object) -> Outcome:
    source = described(GitSource(url=str(folder), branch="master", name="occt"))
    return ingest(library, library.register(checked(source.but(**fields))))


def paths(library: Library) -> list[str]:
    return [shelved.id.removeprefix("library:occt/") for shelved in library.documents()]


def test_the_files_of_a_branch_are_taken_in(library: Library, repository: Path) -> None:
    outcome = take_in(library, repository)
    assert (outcome.error, paths(library)) == ("", ["docs/über.md", "src/a/Point.cxx", "x.txt"])
    assert library.documents()[1].updated == "2024-05-06"
    assert library.sources()[0].mark == git(repository, "rev-parse", "HEAD")


def test_a_repository_may_be_named_from_the_working_folder(
    library: Library, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.parent)
    assert take_in(library, Path(repository.name)).error == ""
    monkeypatch.chdir("/")
    (registered,) = library.registry()
    assert ingest(library, registered).error == ""
    with pytest.raises(SourceError, match="there is no repository at 'nowhere'"):
        take_in(library, Path("nowhere"))


def test_only_what_another_commit_changed_is_read(library: Library, repository: Path) -> None:
    take_in(library, repository, filter=("src/**/*.cxx",))
    assert paths(library) == ["src/a/Point.cxx"]
    commit(repository, {"src/b/Line.cxx": "int line() { return 2; }\n"})
    git(repository, "mv", "src/a/Point.cxx", "src/b/Point.cxx")
    git(repository, "commit", "-qm", "move")
    outcome = take_in(library, repository, filter=("src/**/*.cxx",))
    assert (paths(library), outcome.removed) == (["src/b/Line.cxx", "src/b/Point.cxx"], 1)
    assert take_in(library, repository, filter=("src/**/*.cxx",)).read == 0


def test_links_and_modules_of_a_repository_are_left_out(library: Library, repository: Path) -> None:
    (repository / "passwd.md").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    git(repository, "commit", "-qm", "link")
    take_in(library, repository)
    assert paths(library) == ["docs/über.md", "src/a/Point.cxx", "x.txt"]


def test_what_a_repository_configures_runs_nothing(
    library: Library, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    commit(repository, {".gitattributes": "* filter=bad\n", ".gitmodules": '[submodule "m"]\npath=m\nurl=ext::sh\n'})
    for hook in ("post-checkout", "pre-auto-gc", "reference-transaction", "post-merge"):
        (repository / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch '{mark}'\n", encoding="utf-8")
        (repository / ".git/hooks" / hook).chmod(0o755)
    git(repository, "config", "filter.bad.smudge", f"touch '{mark}'")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    take_in(library, repository)
    assert not mark.exists()
    assert "x.txt" in paths(library)


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c touch% x", "ext::sh", "file:///tmp/x", "git://example.org/x", "--upload-pack=touch x", "http://example.org/x",
        "https://127.0.0.1/x.git", "ssh://localhost/x", "git@localhost:x.git", "fd::3", "/nowhere/at/all", "https://a\nb/x",
    ],
)  # fmt: skip
def test_other_transports_and_inner_addresses_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        GitFiles(described(GitSource(url=address)), str(tmp_path / "git"))


@pytest.mark.parametrize("source", [GitSource, UrlSource])
@pytest.mark.parametrize(
    "place", ["user:hunter2@example.org/x.git", ":hunter2@example.org/x", f"ghp_{5 * 'hunter2'}2@example.org/x"]
)  # fmt: skip
def test_an_address_with_a_password_is_neither_kept_nor_shown(
    place: str, source: Callable[..., GitSource | UrlSource]
) -> None:
    with pytest.raises(SourceError, match="holds a password") as error:
        checked(described(source(url=f"https://{place}")))
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    "place",
    ["https://me@a.org/x.git", "ssh://git@a.org:22/x.git", "git@a.org:x.git", "https://a.org:8443/npm/@me/x"],
)  # fmt: skip
def test_an_address_may_name_a_person_and_a_port(place: str) -> None:
    assert checked(described(GitSource(url=place))).place == place


@pytest.mark.parametrize("branch", ["--upload-pack=x", "a..b", "a b", "-x"])
def test_a_branch_that_could_be_an_option_is_refused(branch: str, repository: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not the name of a branch"):
        GitFiles(described(GitSource(url=str(repository), branch=branch)), str(tmp_path / "git"))


def test_a_branch_that_is_not_there_fails_and_says_so(library: Library, repository: Path) -> None:
    outcome = take_in(library, repository, branch="nothing")
    assert "git failed" in outcome.error
    assert library.sources()[0].status == "failed"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://github.com/a/b.git", "git"), ("git@github.com:a/b", "git"), ("https://example.org/a.html", "url"),
        ("s3://bucket/x", "s3"), (".", "folder"),
    ],
)  # fmt: skip
def test_what_is_typed_is_told_apart(text: str, kind: str) -> None:
    assert typed(text).kind == kind


def test_git_goes_to_the_address_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the name means by the time when git asks."""
    heard = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            listener.accept()[0].close()
            heard.set()

        threading.Thread(target=listen, daemon=True).start()
        port = listener.getsockname()[1]
        answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: answer)  # the network's, which changes
        source = checked(described(GitSource(url=f"https://shop.invalid:{port}/x.git", private=True)))
        with pytest.raises(SourceError, match="git failed"):
            GitFiles(source, str(tmp_path / "bare"))
        assert heard.wait(10)


def test_a_commit_outside_of_every_calendar_is_taken_in_without_a_day(library: Library, repository: Path) -> None:
    who = "a <a@b> 999999999999999999999 +0000"
    text = f"tree {git(repository, 'rev-parse', 'HEAD^{tree}')}\nauthor {who}\ncommitter {who}\n\nchange\n"
    (repository.parent / "commit").write_text(text, encoding="utf-8")
    ident = git(repository, "hash-object", "-t", "commit", "-w", "--literally", str(repository.parent / "commit"))
    git(repository, "update-ref", "refs/heads/master", ident)
    outcome = take_in(library, repository)
    assert (outcome.error, {document.updated for document in library.documents()}) == ("", {""})


def test_names_that_are_no_text_stay_different_paths(library: Library, repository: Path) -> None:
    for name in (b"a\xff.txt", b"a\xfe.txt"):
        with open(os.path.join(os.fsencode(repository), name), "wb") as file:
            file.write(b"words in " + name[1:2].hex().encode())
    commit(repository, {})
    assert take_in(library, repository, filter=("*.txt",)).documents == 3
    assert paths(library) == [r"a\xfe.txt", r"a\xff.txt", "x.txt"]
