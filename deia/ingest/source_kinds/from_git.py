"""A git repository as a source: one branch, fetched by the git program into a bare repository of the person's own.

Nothing is checked out. A stamp is the id of a blob, so what git knows to be unchanged is not even read.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

from deia.git_command import SHORT_SSH, GitError, check_address, command, is_revision, run_git, variables
from deia.ingest.source import MOST_BYTES, Found, Source, SourceError
from deia.ingest.source_kinds.globs_of_source import Selection
from deia.ingest.source_kinds.safe_fetch import check_host

REGULAR = (b"100644", b"100755")  # modes of files; the others are those of links and submodules
NO_REDIRECTS = ("-c", "http.followRedirects=false")


class GitFiles:
    """The files of one commit."""

    def __init__(self, source: Source, folder: str) -> None:
        """Fetch the branch; raise SourceError if that is refused or fails."""
        self._selection = Selection(source)
        self._folder = folder
        self._sizes: dict[str, int] = {}
        self._reader: subprocess.Popen[bytes] | None = None
        pinned = checked_address(source)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if not os.path.isdir(f"{folder}/objects"):
                self._git("init", "--quiet", "--bare", "--template=")
            self._git(
                *NO_REDIRECTS, *pinned, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--",
                source.place, source.branch or "HEAD",
            )  # fmt: skip
            self.mark = self._git("rev-parse", "FETCH_HEAD").decode().strip()
            self._modified = float(self._git("log", "-1", "--format=%ct", self.mark).decode().strip() or 0)
        except GitError as error:
            raise SourceError(error.message, where=source.place, fix=error.fix) from error

    def _git(self, *words: str) -> bytes:
        return run_git(words, self._folder, os.environ)

    def files(self) -> Iterator[Found]:
        """Yield the files that count."""
        for row in self._git("ls-tree", "-r", "-z", "--long", self.mark).split(b"\0"):
            attributes, tab, name = row.partition(b"\t")
            if not tab or not attributes.startswith(REGULAR):
                continue
            _, _, blob, size = attributes.decode("ascii").split()
            path = name.decode("utf-8", "backslashreplace")  # "replace" could give two names one path
            if self._selection.takes(path):
                self._sizes[blob] = int(size)
                yield Found(path=path, stamp=blob, modified=self._modified)

    def read(self, file: Found) -> bytes | None:
        """Return the content of a file, or None if it is too large."""
        if self._sizes.get(file.stamp, MOST_BYTES + 1) > MOST_BYTES:
            return None
        if self._reader is None:
            self._reader = subprocess.Popen(  # noqa: S603 - a fixed program
                command("cat-file", "--batch"), cwd=self._folder, env=variables(os.environ), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        requests, replies = self._reader.stdin, self._reader.stdout
        if requests is None or replies is None:
            return None
        requests.write(f"{file.stamp}\n".encode())
        requests.flush()
        head = replies.readline().split()
        if len(head) != 3:
            return None
        return replies.read(int(head[2]) + 1)[:-1]

    def close(self) -> None:
        """End the process that reads blobs."""
        if self._reader is not None:
            self._reader.kill()
            for pipe in (self._reader.stdin, self._reader.stdout):
                with contextlib.suppress(OSError):
                    pipe and pipe.close()
            self._reader.wait()


def checked_address(source: Source) -> tuple[str, ...]:
    """Return options that bind git to the addresses that were checked; raise SourceError if it may not fetch there."""
    address = source.place
    if source.branch and not is_revision(source.branch):
        raise SourceError(f"{source.branch!r} is not the name of a branch", fix="Use --branch main, or a tag.")
    try:
        check_address(address)
    except GitError as error:
        raise SourceError(error.message, fix=error.fix) from error
    if os.path.isabs(address) and os.path.isdir(address):
        return ()
    if address.startswith("https://"):
        ips, parts = check_host(address, private=source.private), urlsplit(address)
        is_name = ips and ":" not in str(parts.hostname)
        addresses = ",".join(f"[{ip}]" if ":" in ip else ip for ip in ips)
        resolved = f"http.curloptResolve={parts.hostname}:{parts.port or 443}:{addresses}"
        return ("-c", resolved) if is_name else ()
    if address.startswith("ssh://"):
        check_host(address, private=source.private)
    elif SHORT_SSH.fullmatch(address):
        check_host(f"ssh://{address.partition(':')[0]}", private=source.private)
    else:
        fix = "Use an address that begins with https:// or ssh://, or the folder of a repository."
        raise SourceError(f"git repositories are not fetched from {address[:200]!r}", fix=fix)
    return ()
