"""Train the vectors of words of code, so that the sum of a function's words is near to its docstring.

    python tools/train_code_words.py [--out deia/models] [--most 700] [--epochs 1.5] WHEEL…

The wheels are packages from PyPI; nothing is downloaded. A package whose licence is not permissive is left out, and so
is what is also in the standard library, which bench/functions.py judges on, or has its docstring. Of a docstring the
first paragraph counts, encoded by the word vectors that deia has. The vectors are trained by telling each docstring's
function from the others of a batch (InfoNCE), most of which are of the same package, where words alone (BM25) are added
to the similarity: what is learned is what words do not tell. Only vectors of single words are kept, of words that four
packages or more have. Needs torch and scipy. Writes `code_words.bin`, which `deia/compile/catalog/code_vectors.py`
reads, and `code_words.provenance.json`, which names the packages.
"""
# ruff: noqa: S311 - to be repeated, not to be secret

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn import functional

from deia.compile.catalog.code_vectors import FILE, MOST, fields_of
from deia.compile.catalog.vectors import WordSums
from deia.match.keyword import analyser
from deia.match.static_vectors import Static, open_static
from deia.match.tokeniser import STOP_WORDS, distinct, question_words, spelled_out
from deia.search.ranking.code_sentences import sentence_of_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|Unlicense|HPND)\b", re.IGNORECASE)
COPYLEFT = re.compile(r"GPL|General Public|MPL|Mozilla|EUPL|CC-BY", re.IGNORECASE)
TESTS = re.compile(r"(^|/)(tests?|testing|conftest)(/|\.py$)|(^|/)test_|_test\.py$|_pb2|\.data/")
COPIES = re.compile(r"(^|/)_?(vendor(ed)?|backports?|externals?|extern|distutils|compat|six)(/|\.py$)")
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)
MOST_READ = 1_300  # characters of a function that the sentence model reads
LEAST_WORDS, MOST_CHARACTERS = 3, 600  # of a docstring's first paragraph
LEAST_PACKAGES, LEAST_FUNCTIONS = 4, 8  # that have a word
WORTH_COMPARING = 120  # characters of a body, from which the same one is a copy
REPEATS = (2, 2, 5, 1, 1)  # of the fields, for BM25
SATURATION, BY_LENGTH = 1.2, 0.75
BATCH, TOGETHER, RUN = 1024, 192, 12  # functions: of a batch, of one package in it, of one file in a row
RATE, WARM = 4e-3, 30
SEED = 7


class Function(NamedTuple):
    """A documented function: its package, the words of its fields, and the beginning of its docstring."""

    package: str
    fields: list[list[str]]
    body: str
    said: str
    sentence: str  # what the sentence model reads of it


def first_paragraph(docstring: str) -> str:
    """Return the first paragraph of a docstring on one line, or "" if it says too little."""
    paragraph = " ".join(re.split(r"\n\s*\n", docstring.strip())[0].split())[:MOST_CHARACTERS]
    return paragraph if len({word[0] for word in question_words(paragraph)} - STOP_WORDS) >= LEAST_WORDS else ""


def functions_in(source: str, path: str, package: str) -> Iterator[Function]:
    """Yield the documented functions of a file."""
    lines = source.split("\n")
    inside: list[tuple[ast.AST, str]] = [(ast.parse(source), "")]
    while inside:
        node, around = inside.pop()
        for child in ast.iter_child_nodes(node):
            name = getattr(child, "name", "") if isinstance(child, (ast.ClassDef, *DEFINED)) else ""
            symbol = f"{around}.{name}".strip(".") if name else around
            inside.append((child, symbol))
            said = first_paragraph(ast.get_docstring(child) or "") if isinstance(child, DEFINED) else ""
            if said and isinstance(child, DEFINED):
                docstring = child.body[0]
                head = lines[child.lineno - 1 : docstring.lineno - 1] or [lines[child.lineno - 1]]
                body = "\n".join(lines[docstring.end_lineno or 0 : child.end_lineno])
                signature = " ".join(" ".join(head).split())
                place, heading, text = path.removesuffix(".py"), signature[:160], f"{signature}\n{body[:4000]}"
                sentence = sentence_of_code(place, symbol, heading, text)[:MOST_READ]
                yield Function(package, fields_of(place, symbol, heading, text), body, said, sentence)


def key(text: str) -> bytes:
    """Return what is the same for texts that differ in blanks and signs only."""
    return hashlib.blake2b(" ".join(re.findall(r"\w+", text.lower())).encode(), digest_size=8).digest()


def of_the_standard_library() -> set[bytes]:
    """Return the keys of the docstrings and longer bodies of the standard library."""
    known = set()
    for path in Path(os.__file__).parent.rglob("*.py"):
        if "site-packages" in path.parts:
            continue
        try:
            for one in functions_in(path.read_text("utf-8"), path.name, ""):
                known |= {key(one.said), *([key(one.body)] if len(one.body) > WORTH_COMPARING else [])}
        except (SyntaxError, ValueError, RecursionError):
            continue
    return known


def licence_of(archive: zipfile.ZipFile) -> str:
    """Return what a wheel says about its licence if that is permissive, else ""."""
    name = next((name for name in archive.namelist() if name.endswith(".dist-info/METADATA")), "")
    head = archive.read(name).decode("utf-8", "replace").split("\n\n")[0] if name else ""
    told = re.findall(
        r"^(License-Expression|License-File|License|Classifier: License) ?:{1,2}(.*)$", head, re.MULTILINE
    )
    said = {" ".join(value.split())[:60]: field for field, value in told}
    is_free = PERMISSIVE.search(" ".join(said)) and not COPYLEFT.search(" ".join(said))
    return "; ".join(value for value, field in said.items() if field != "License-File") if is_free else ""


def functions_of(wheel: Path, known: set[bytes], most: int) -> tuple[list[Function], str]:
    """Return documented functions of a package, in the order of their files, and its licence."""
    package, found = wheel.name.partition("-")[0].lower(), []
    with zipfile.ZipFile(wheel) as archive:
        if not (licence := licence_of(archive)):
            return [], ""
        names = [name for name in archive.namelist() if name.endswith(".py") and not TESTS.search(name)]
        for name in random.Random(SEED).sample(sorted(names), len(names)):
            if COPIES.search(name) or archive.getinfo(name).file_size > 400_000 or len(found) >= most:
                continue
            try:
                some = list(functions_in(archive.read(name).decode().replace("\r\n", "\n"), name, package))
            except (SyntaxError, ValueError, RecursionError):
                continue
            own = [one for one in some if known.isdisjoint((key(one.said), key(one.body)))]
            if len(own) > 0.85 * len(some) - 1:  # else it is a copy of a file of the standard library
                found += own
    return list({one.said: one for one in found}.values())[:most], licence


# --- training ---


class Data(NamedTuple):
    """What is trained with: for each function its words by number, their fields and shares, and more in rows."""

    numbers: list[NDArray[np.int64]]
    fields: list[NDArray[np.int64]]
    shares: list[Floats]
    said: torch.Tensor
    words: sp.csr_matrix  # BM25 of each function's words
    asked: sp.csr_matrix


def encoded(static: Static, texts: Sequence[str]) -> Floats:
    """Return the unit vectors of texts by the word vectors."""
    sums = WordSums(static).of([spelled_out(text) for text in texts])
    unit: Floats = sums / (np.linalg.norm(sums, axis=1, keepdims=True) + 1e-9)
    return unit


def vocabulary(functions: Sequence[Function]) -> list[str]:
    """Return the words that enough packages and functions have, the most frequent first."""
    counts, packages = Counter[str](), dict[str, set[str]]()
    for one in functions:
        for word in {word for field in one.fields for word in field}:
            counts[word] += 1
            packages.setdefault(word, set()).add(one.package)
    listed = counts.most_common()
    return [word for word, n in listed if n >= LEAST_FUNCTIONS and len(packages[word]) >= LEAST_PACKAGES and word]


def matrix(rows: Iterable[Counter[str]], columns: dict[str, int]) -> sp.csr_matrix:
    """Return counts of words as a matrix; words that have no column yet get one."""
    cells = [(at, columns.setdefault(word, len(columns)), n) for at, row in enumerate(rows) for word, n in row.items()]
    at, words, counts = zip(*cells, strict=True)
    return sp.csr_matrix((np.array(counts, "f4"), (at, words)), shape=(max(at) + 1, 1_000_000))


def weighed(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Return BM25's weights of counted words."""
    lengths = np.asarray(counts.sum(1)).ravel()
    seen = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log(1 + (counts.shape[0] - seen + 0.5) / (seen + 0.5)).astype("f4")
    norms = np.repeat(SATURATION * (1 - BY_LENGTH + BY_LENGTH * lengths / lengths.mean()), np.diff(counts.indptr))
    counts.data = (counts.data * (SATURATION + 1) / (counts.data + norms) * rarity[counts.indices]).astype("f4")
    return counts


def data_of(functions: Sequence[Function], vocabulary: Sequence[str], static: Static) -> Data:
    """Return what is trained with."""
    numbers_of = {word: number for number, word in enumerate(vocabulary)}
    numbers, fields, shares = [], [], []
    for one in functions:
        rows = [[numbers_of[word] for word in field if word in numbers_of] for field in one.fields]
        numbers.append(np.array([number for row in rows for number in row], "i8"))
        fields.append(np.array([at for at, row in enumerate(rows) for _ in row], "i8"))
        shares.append(np.array([len(row) ** -0.5 for row in rows for _ in row], "f4"))
    columns: dict[str, int] = {}
    counted = (_repeated(one.fields) for one in functions)
    words = weighed(matrix(counted, columns))
    stem = analyser().analyze
    stems = ({"".join(stem(word)) for word in distinct(question_words(one.said))} for one in functions)
    asked = matrix((Counter(words) for words in stems), columns)
    return Data(
        numbers, fields, shares, torch.from_numpy(encoded(static, [one.said for one in functions])), words, asked
    )


def _repeated(fields: Sequence[Sequence[str]]) -> Counter[str]:
    counts = Counter[str]()
    for field, repeats in zip(fields, REPEATS, strict=True):
        for word in field:
            counts[word] += repeats
    return counts


def batches(functions: Sequence[Function], steps: int) -> Iterator[list[int]]:
    """Yield the numbers of functions in batches, many of one package and some of one file together."""
    chance, waiting = random.Random(SEED), list[int]()
    packages: dict[str, list[int]] = {}
    for at, one in enumerate(functions):
        packages.setdefault(one.package, []).append(at)
    for _ in range(steps):
        if len(waiting) < BATCH:
            blocks = []
            for own in packages.values():
                runs = [own[at : at + RUN] for at in range(0, len(own), RUN)]
                mixed = [number for run in chance.sample(runs, len(runs)) for number in run]
                blocks += [mixed[at : at + TOGETHER] for at in range(0, len(mixed), TOGETHER)]
            waiting = [number for block in chance.sample(blocks, len(blocks)) for number in block]
        yield waiting[:BATCH]
        waiting = waiting[BATCH:]


def trained(functions: Sequence[Function], data: Data, table: Floats, epochs: float) -> tuple[Floats, list[float]]:
    """Return the trained table, and how much each field counts."""
    torch.manual_seed(SEED)
    words, counts = torch.nn.Parameter(torch.from_numpy(table)), torch.nn.Parameter(torch.zeros(len(MOST)))
    scales = torch.nn.Parameter(torch.tensor([2.7, 0.3]))  # of the cosine (its logarithm), and of BM25
    optimiser = torch.optim.Adam([{"params": [words]}, {"params": [counts, scales], "lr": 1e-2}], betas=(0.9, 0.99))
    steps = int(epochs * len(functions) / BATCH)
    for step, batch in enumerate(batches(functions, steps)):
        optimiser.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARM) * (1 - step / steps) ** 0.7
        numbers, fields, shares = (
            torch.from_numpy(np.concatenate([part[at] for at in batch]))
            for part in (data.numbers, data.fields, data.shares)
        )
        starts = torch.tensor(np.cumsum([0, *(len(data.numbers[at]) for at in batch[:-1])]))
        weights = shares * torch.exp(counts)[fields]
        sums = functional.embedding_bag(numbers, words, starts, mode="sum", per_sample_weights=weights)
        lexical = torch.from_numpy((data.asked[batch] @ data.words[batch].T).toarray())
        near = data.said[batch] @ functional.normalize(sums, dim=1).T
        loss = functional.cross_entropy(near * torch.exp(scales[0]) + scales[1] * lexical, torch.arange(len(batch)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if not step % 20:
            print(f"{step} of {steps}: {loss.item():.3f}", flush=True)
    return words.detach().numpy(), torch.exp(counts).tolist()


def packed(vocabulary: Sequence[str], table: Floats, fields: Sequence[float]) -> bytes:
    """Return the file: a header of JSON, the words, and their vectors as signed bytes."""
    step = float(np.quantile(abs(table), 0.9999)) / 127
    codes = np.clip(np.rint(table / step), -127, 127).astype("i1")
    header = {"dimensions": table.shape[1], "fields": [round(each, 4) for each in fields], "step": step}
    return json.dumps(header).encode() + b"\n" + "\n".join(vocabulary).encode() + b"\n\n" + codes.tobytes()


def main() -> None:
    """Read the wheels, train, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "deia" / "models")
    parser.add_argument("--most", type=int, default=700, help="functions of a package")
    parser.add_argument("--epochs", type=float, default=1.5)
    parser.add_argument("wheels", nargs="+", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known, functions, packages = of_the_standard_library(), list[Function](), []
    for wheel in options.wheels:
        some, licence = functions_of(wheel, known, options.most)
        functions += some
        if some:
            name, version = wheel.name.split("-")[:2]
            packages.append({"package": name, "version": version, "licence": licence, "functions": len(some)})
    words, static = vocabulary(functions), open_static()
    print(f"{len(functions):,} functions of {len(packages)} packages, {len(words):,} words", flush=True)
    data = data_of(functions, words, static)
    kept = [at for at, numbers in enumerate(data.numbers) if len(numbers)]
    if len(kept) < len(functions):
        functions = [functions[at] for at in kept]
        data = data_of(functions, words, static)
    table, fields = trained(functions, data, encoded(static, words), options.epochs)
    made = packed(words, table, fields)
    (options.out / FILE).write_bytes(made)
    about = {
        "made_by": "tools/train_code_words.py", "sha256": hashlib.sha256(made).hexdigest(), "words": len(words),
        "functions": len(functions), "epochs": options.epochs, "seed": SEED, "static": static.digest,
        "versions": {"numpy": np.__version__, "torch": torch.__version__}, "packages": packages,
    }  # fmt: skip
    (options.out / FILE).with_suffix(".provenance.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
