"""Zip archives of XML, as office programs write them, with limits on what they may expand to.

An archive is untrusted: its entries are read up to a limit whatever their headers say. XML that declares a document
type is refused, since only a document type can define entities that expand without end.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.etree import ElementTree as ET  # without a document type there are no entities

from deia.ingest.reading import ReadingError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_PART = 48 * 1024 * 1024  # bytes; its tree takes ten times as much
LARGEST_PACKAGE = 256 * 1024 * 1024
MOST_PARTS = 20_000


class Package:
    """The parts of an office file by name."""

    def __init__(self, path: str, content: bytes) -> None:
        self._path = path
        self._left = LARGEST_PACKAGE
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise ReadingError("it is no whole office file", where=path) from error
        self.names = {info.filename: info for info in self._zip.infolist()[:MOST_PARTS]}

    def refuse_bombs(self) -> None:
        """Raise ReadingError if the archive would expand beyond the limit; for readers that expand it themselves."""
        if sum(info.file_size for info in self.names.values()) > LARGEST_PACKAGE:
            raise ReadingError("it would expand to more than 256 MB", where=self._path)

    def part(self, name: str) -> bytes:
        """Return the bytes of a part, empty if there is no such part."""
        return self._read(name) if name in self.names else b""

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a part."""
        return self._begun(name, size) if name in self.names else b""

    def with_parts(self, content: bytes, parts: Mapping[str, bytes]) -> bytes:
        """Return the archive, whose bytes are given, with other contents of some parts."""
        file = io.BytesIO(content)
        with zipfile.ZipFile(file, "a") as archive:
            for name, data in parts.items():
                archive.filelist.remove(archive.NameToInfo.pop(name))
                archive.writestr(name, data)
        return file.getvalue()

    def xml(self, name: str) -> ET.Element | None:
        """Return the root element of a part, or None if there is no such part."""
        if name not in self.names:
            return None
        data = self._read(name)
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            data = data.decode("utf-16", "replace").encode()
        if b"<!DOCTYPE" in data or b"\0" in data[:64]:
            raise ReadingError(f"{name} declares a document type, which no office program writes", where=self._path)
        try:
            return ET.fromstring(data)  # noqa: S314 - as above
        except (ET.ParseError, ValueError, LookupError) as error:
            raise ReadingError(f"{name} is no whole XML", where=self._path) from error

    def relations(self, part: str) -> dict[str, str]:
        """Return the names of the parts that a part refers to, by the ids of the references."""
        folder, _, name = part.rpartition("/")
        root = self.xml(f"{folder}/_rels/{name}.rels")
        elements = [] if root is None else list(root)
        return {element.get("Id", ""): _resolved(folder, element.get("Target", "")) for element in elements}

    def _read(self, name: str) -> bytes:
        limit = min(LARGEST_PART, self._left)
        data = self._begun(name, limit + 1)
        if len(data) > limit:
            raise ReadingError(f"{name} in it expands to more than {limit >> 20} MB", where=self._path)
        self._left -= len(data)
        return data

    def _begun(self, name: str, size: int) -> bytes:
        try:
            with self._zip.open(name) as part:
                return part.read(size)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,
            NotImplementedError,
            ValueError,
        ) as error:
            raise ReadingError(f"{name} in it is damaged or encrypted", where=self._path) from error


def _resolved(folder: str, target: str) -> str:
    """Return the name of the part that a reference in a folder of the archive points to."""
    parts: list[str] = [] if target.startswith("/") else folder.split("/")
    for step in target.strip("/").split("/"):
        if step == "..":
            del parts[-1:]
        elif step != ".":
            parts.append(step)
    return "/".join(parts)
