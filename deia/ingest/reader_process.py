"""Read and cut untrusted files in a process of its own; see `limited_process`."""

from __future__ import annotations

import binascii

from deia.ingest.custom.cutting import CustomChunker, component_runner, custom_chunker
from deia.ingest.limited_process import Fields, LimitedProcess, answer_questions, watched
from deia.ingest.reading import DEFAULT, ChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk

CUT_SECONDS, CUT_SECONDS_A_CHARACTER = 0.25, 1e-6  # of CPU time, for a chunker of the person's own


class ReaderProcess(LimitedProcess):
    """A process that reads and cuts files."""

    module = "deia.ingest.reader_process"

    def read(self, path: str, content: bytes) -> Reading:
        """Return what a file says, as `deia.ingest.read.read` does; raise `ReadingError` also if it breaks a limit."""
        return self.ask(path, {"path": path, "size": len(content)}, content, _reading)

    def chunk(
        self,
        reading: Reading,
        *,
        id: str,  # noqa: A002
        config: ChunkerConfig = DEFAULT,
        custom: CustomChunker | None = None,
    ) -> list[Chunk]:
        """Return the chunks of a reading, as `deia.ingest.chunk.chunk` does, or by a chunker of the person's own."""
        question = {"path": reading.path, "id": id, "config": config.values(), "reading": reading.values()}
        asked = {**question, "custom": custom.values()} if custom else question
        return self.ask(reading.path, asked, b"", _chunks)

    def native_code(self, name: str, module: bytes) -> bytes:
        """Return the native code of a component; raise `ReadingError` if it is not a chunker."""
        return self.ask(name, {"module": name, "size": len(module)}, module, binascii.a2b_base64)


def _reading(fields: Fields) -> Reading:
    return Reading(**{**fields, "pages": tuple(fields["pages"]), "notes": tuple(fields["notes"])})


def _chunks(rows: list[Fields]) -> list[Chunk]:
    return [Chunk(**{**row, "lines": (row["lines"][0], row["lines"][1])}) for row in rows]


def answer_of(question: Fields, content: bytes) -> object:
    """Return what a question is answered with in the other process, which alone imports parsers."""
    from deia.ingest.chunk import chunk  # noqa: PLC0415 - likewise
    from deia.ingest.read import read  # noqa: PLC0415 - likewise

    if "module" in question:
        return binascii.b2a_base64(component_runner().compiled(content).serialize(), newline=False).decode("ascii")
    if "reading" not in question:
        return read(question["path"], content).values()
    reading, config = _reading(question["reading"]), ChunkerConfig(**question["config"])
    if "custom" in question:
        return _cut(CustomChunker(**question["custom"]), reading, question["id"], config)
    return [passage.values() for passage in chunk(reading, id=question["id"], config=config)]


def _cut(custom: CustomChunker, reading: Reading, document: str, config: ChunkerConfig) -> object:
    try:
        cut = custom_chunker(custom)
        with watched(CUT_SECONDS + CUT_SECONDS_A_CHARACTER * len(reading.text)):
            return [passage.values() for passage in cut(reading, document, config)]
    except ReadingError as error:
        message = f"the chunker {custom.name} cannot cut it: {error.message}"
        raise ReadingError(message, where=reading.path, fix=error.fix) from error


if __name__ == "__main__":
    answer_questions(answer_of)
