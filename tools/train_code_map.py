"""Train the map that brings the sentence model's vectors of code near to those of docstrings.

    python tools/train_code_map.py [--out deia/models] [--most 700] [--epochs 6] [--kept FOLDER] WHEEL…

Data, licences and what is left out are those of tools/train_code_words.py. The sentence model encodes each documented
function as compiles do (`sentence_of_code`), and the first paragraph of its docstring. One matrix and one shift are
trained by telling each docstring's function from the others of a batch (InfoNCE), where the similarity by words (BM25)
is added; what they change is kept small. Sixteen packages are left out for a test, and then all are trained with.
Needs torch and scipy. Writes `code_map.bin`, which `deia/search/ranking/code_sentences.py` reads, and
`code_map.provenance.json`. `--kept` keeps the vectors from one run to the next: encoding takes ten minutes.
"""
# ruff: noqa: S311 - to be repeated, not to be secret

from __future__ import annotations

import argparse
import hashlib
import json
import random
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn import functional
from train_code_words import (
    BATCH,
    SEED,
    Function,
    _repeated,
    batches,
    functions_of,
    matrix,
    of_the_standard_library,
    weighed,
)

from deia.compile.catalog.effort import TIER
from deia.match.encoding import encoded_by
from deia.match.keyword import analyser
from deia.match.tiers import open_tier
from deia.match.tokeniser import distinct, question_words
from deia.search.ranking.weights import CODE_MAP

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TESTED = 16  # packages
RATE, WARM = 1e-3, 10
SMALL = 1e-3  # what the square of each change of the matrix costs
TOGETHER = 256  # texts encoded at once
DEPTHS = (1, 10)
WORDS = 0.02  # weight of BM25 in the test


class Data(NamedTuple):
    """What is trained with: a row of each function."""

    code: torch.Tensor
    said: torch.Tensor
    words: sp.csr_matrix
    asked: sp.csr_matrix


def encoded(texts: Sequence[str], kept: Path | None) -> Floats:
    """Return the sentence model's vectors, those of texts of the same length together; `kept` is where they stay."""
    if kept and kept.exists():
        known: Floats = np.load(kept)
        return known
    tier, order = open_tier(TIER), sorted(range(len(texts)), key=lambda at: len(texts[at]))
    vectors: Floats = np.zeros((len(texts), tier.dimensions), "f4")
    for start in range(0, len(order), TOGETHER):
        some = order[start : start + TOGETHER]
        vectors[some] = encoded_by(tier, [texts[at] for at in some], most=len(texts))
        if not start % (20 * TOGETHER):
            print(f"{start:,} of {len(texts):,} encoded", flush=True)
    if kept:
        np.save(kept, vectors)
    return vectors


def data_of(functions: Sequence[Function], kept: Path | None) -> Data:
    """Return what is trained with."""
    columns: dict[str, int] = {}
    words = weighed(matrix((_repeated(function.fields) for function in functions), columns))
    stem = analyser().analyze
    stems = ({"".join(stem(word)) for word in distinct(question_words(function.said))} for function in functions)
    asked = matrix((Counter(words) for words in stems), columns)
    code = encoded([function.sentence for function in functions], kept and kept / "code.npy")
    said = encoded([function.said for function in functions], kept and kept / "said.npy")
    return Data(torch.from_numpy(code), torch.from_numpy(said), words, asked)


def trained(functions: Sequence[Function], data: Data, rows: Sequence[int], epochs: float) -> torch.Tensor:
    """Return what the map adds to a vector, trained with some functions: a matrix, and a row for every vector."""
    torch.manual_seed(SEED)
    size = data.code.shape[1]
    change = torch.nn.Parameter(torch.zeros(size + 1, size))
    scales = torch.nn.Parameter(torch.tensor([3.0, 0.3]))  # of the cosine (its logarithm), and of BM25
    optimiser = torch.optim.Adam([{"params": [change]}, {"params": [scales], "lr": 1e-2}], betas=(0.9, 0.99))
    steps = int(epochs * len(rows) / BATCH)
    for step, batch in enumerate(batches([functions[row] for row in rows], steps)):
        some = [rows[at] for at in batch]
        optimiser.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARM) * (1 - step / steps)
        lexical = torch.from_numpy((data.asked[some] @ data.words[some].T).toarray())
        near = data.said[some] @ mapped(data.code[some], change).T * torch.exp(scales[0])
        loss = functional.cross_entropy(near + scales[1] * lexical, torch.arange(len(some)))
        loss = loss + SMALL * (change[:-1] ** 2).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if not step % 50:
            print(f"{step} of {steps}: {loss.item():.3f}", flush=True)
    return change.detach()


def mapped(vectors: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Return vectors as the map has them, at the length 1."""
    return functional.normalize(vectors + vectors @ change[:-1] + change[-1], dim=1)


def tested(data: Data, rows: Sequence[int], change: torch.Tensor) -> dict[str, float]:
    """Return how many docstrings find their function among others, by the vectors and with BM25."""
    near = data.said[rows] @ mapped(data.code[rows], change).T
    both = near + WORDS * torch.from_numpy((data.asked[rows] @ data.words[rows].T).toarray())
    return {
        f"{name}_{depth}": round(((scores > scores.diag()[:, None]).sum(1) < depth).float().mean().item(), 3)
        for name, scores in (("vectors", near), ("both", both))
        for depth in DEPTHS
    }


def packed(change: Floats) -> bytes:
    """Return the file: a header of JSON, and the rows as signed bytes."""
    step = float(np.quantile(abs(change), 0.99995)) / 127
    codes = np.clip(np.rint(change / step), -127, 127).astype("i1")
    return json.dumps({"dimensions": change.shape[1], "step": step}).encode() + b"\n" + codes.tobytes()


def main() -> None:
    """Read the wheels, encode, test, train, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "deia" / "models")
    parser.add_argument("--most", type=int, default=700, help="functions of a package")
    parser.add_argument("--epochs", type=float, default=6)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("wheels", nargs="+", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known, functions = of_the_standard_library(), list[Function]()
    for wheel in options.wheels:
        functions += functions_of(wheel, known, options.most)[0]
    data = data_of(functions, options.kept)
    packages = sorted({function.package for function in functions})
    left_out = set(random.Random(SEED).sample(packages, TESTED))
    rows = [
        [at for at, function in enumerate(functions) if (function.package in left_out) is is_out]
        for is_out in (False, True)
    ]
    none = torch.zeros(data.code.shape[1] + 1, data.code.shape[1])
    test = {
        "packages": sorted(left_out), "functions": len(rows[1]), "without": tested(data, rows[1], none),
        "with": tested(data, rows[1], trained(functions, data, rows[0], options.epochs)),
    }  # fmt: skip
    print(test, flush=True)
    made = packed(trained(functions, data, range(len(functions)), options.epochs).numpy())
    (options.out / CODE_MAP).write_bytes(made)
    about = {
        "made_by": "tools/train_code_map.py", "sha256": hashlib.sha256(made).hexdigest(),
        "functions": len(functions), "packages": "those of code_words.provenance.json", "epochs": options.epochs,
        "seed": SEED, "sentence_model": open_tier(TIER).digest, "test": test,
        "versions": {"numpy": np.__version__, "torch": torch.__version__},
    }  # fmt: skip
    (options.out / CODE_MAP).with_suffix(".provenance.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
