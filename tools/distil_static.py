"""Rebuild the static vectors: distil all-MiniLM-L6-v2 into one vector per token, train them, pack them.

    python -m tools.distil_static MODEL TEXTS [--out deia/models] [--cache FOLDER] [--dimensions 192]

MODEL is a folder with `model.safetensors` and `tokenizer.json`; TEXTS holds unpacked documentation packages, each in a
folder `package_version`. The vectors learn to imitate the transformer, and to tell the passage that says what somebody
looks for from others (tools/static_pairs.py). Needs sentence-transformers. Downloads nothing, and refuses other weights
than the known ones and texts whose licence is not listed. The same seed, texts and versions of the libraries give the
same vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sentence_transformers
import tokenizers
import torch
from torch.nn import functional

from deia.match.static_vectors import FILE, HEADER, MAGIC, WHOLE, Static, bucket, words
from tools import static_pairs, static_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256, as published
NAME = "static-minilm-{dimensions}"
FROM_EACH = 2200  # sentences of a package
FROM_LISTS = {"wordnet-base": 40_000, "debian-descriptions": 50_000}
SPANS, SAID, MIXTURES = 45_000, 8_000, 12_000
HELD_OUT = 1500
SMOOTHING = 1e-3  # Arora et al. 2017, "A simple but tough-to-beat baseline": a / (a + p(token))
BATCH = 512
RATE = 5e-4  # four times as much agrees better with the texts it saw and worse with others
PAIRS_WEIGHT = 10.0  # of the batch's similarity matrix against the single sentences' targets
LOOKED_FOR = 0.05  # weight of telling each pair's passage from the others of a batch (InfoNCE), over LIKENESS
LIKENESS = 20.0  # the inverse temperature of that
CLIP = 0.99995  # share of the components that the 8-bit range holds; clipping the rest halves the step


def check_model(folder: Path) -> None:
    """Refuse weights that are not the authentic ones.

    Raises:
        ValueError: the hash differs.
    """
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != WEIGHTS:
        raise ValueError(f"{folder / 'model.safetensors'}: SHA-256 is {found}, wanted {WEIGHTS}")


def tokens_of(tokenizer: tokenizers.Tokenizer) -> dict[str, int]:
    """Return the WordPiece vocabulary without the special and unused tokens: piece → id, in the order of the ids."""
    vocabulary = tokenizer.get_vocab()
    kept = [piece for piece in vocabulary if not (piece.startswith("[") and piece.endswith("]") and len(piece) > 2)]
    return {piece: vocabulary[piece] for piece in sorted(kept, key=vocabulary.__getitem__)}


def read(folder: Path) -> dict[str, list[str]]:
    """Return the sentences of every package in the folder."""
    places = sorted(path for path in folder.iterdir() if path.is_dir())
    return {place.name: static_texts.sentences(place) for place in places}


def gather(
    texts_of: Mapping[str, list[str]], pieces: Sequence[str], chance: random.Random
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the texts to learn from, sentences first and shuffled, and what was taken from where."""
    taken: list[str] = []
    sources = []
    for place, found in texts_of.items():
        package, version = static_texts.package_of(place)
        chosen = chance.sample(found, min(FROM_LISTS.get(package, FROM_EACH), len(found)))
        taken += chosen
        licence = static_texts.LICENCES[package]
        sources.append({"package": package, "version": version, "licence": licence, "sentences": len(chosen)})
        print(f"{package} {version}: {len(chosen)} of {len(found)} sentences")
    taken = list(dict.fromkeys(taken))
    chance.shuffle(taken)
    single = [piece for piece in pieces if piece.isascii() and piece.isalpha()]
    made = static_texts.spans(taken[HELD_OUT:], SPANS, chance) + static_texts.said(SAID, chance)
    made += static_texts.mixtures(single, MIXTURES, chance)
    return taken + list(dict.fromkeys(made)), sources


def taught(model: Path, texts: Sequence[str], cache: Path | None) -> Floats:
    """Return the transformer's vector of each text: rows of unit length; kept in `cache` if there is one."""
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    kept = cache / f"taught-{key}.npy" if cache else None
    if kept and kept.exists():
        return np.asarray(np.load(kept), dtype=np.float32)
    teacher = sentence_transformers.SentenceTransformer(str(model), device="cpu")
    with torch.autocast("cpu", dtype=torch.bfloat16):  # twice as fast, and nearer than 8-bit vectors can imitate
        rows = teacher.encode(list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    if kept:
        np.save(kept, rows)
    return np.asarray(rows, dtype=np.float32)


def taught_alone(model: Path, tokens: Sequence[int], cache: Path | None) -> Floats:
    """Return the transformer's vector of each token alone, between the start and end tokens."""
    kept = cache / "alone.npy" if cache else None
    if kept and kept.exists():
        return np.asarray(np.load(kept), dtype=np.float32)
    teacher = sentence_transformers.SentenceTransformer(str(model), device="cpu")
    first, last = teacher.tokenizer.cls_token_id, teacher.tokenizer.sep_token_id
    parts = []
    for batch in torch.tensor(tokens).split(BATCH):
        ends = torch.ones_like(batch)
        numbers = torch.stack((first * ends, batch, last * ends), dim=1)
        with torch.inference_mode():
            said = teacher({"input_ids": numbers, "attention_mask": torch.ones_like(numbers)})
        parts.append(functional.normalize(said["sentence_embedding"]).numpy())
    rows = np.concatenate(parts)
    if kept:
        np.save(kept, rows)
    return np.asarray(rows, dtype=np.float32)


class Bags:
    """Texts as the numbers of their tokens, ready for an embedding bag."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, numbers: Mapping[str, int], texts: Sequence[str]) -> None:
        """Number the whole words and pieces of every text as `Static.rows` does."""
        known: dict[str, list[int]] = {}
        for word in {word for text in texts for word in words(text)}:
            cut = [WHOLE + word] if WHOLE + word in numbers else tokenizer.encode(word, add_special_tokens=False).tokens
            known[word] = [numbers[piece] for piece in cut if piece in numbers]
        coded = [[number for word in words(text) for number in known[word]] for text in texts]
        self.runs = [np.array(run, dtype=np.int64) for run in coded]

    def take(self, which: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tokens of some texts and where each text begins."""
        runs = [self.runs[number] for number in which]
        starts = np.cumsum([0, *map(len, runs[:-1])])
        return torch.from_numpy(np.concatenate(runs)), torch.from_numpy(starts.astype(np.int64))


def gather_pairs(
    folder: Path, tokenizer: tokenizers.Tokenizer, numbers: Mapping[str, int], chance: random.Random
) -> tuple[dict[str, int], Pairs]:
    """Return how many pairs each package gave, and the pairs; those without a known token are left out."""
    counts, blocks = static_pairs.blocks_of_pairs(folder, chance)
    every = [pair for block in blocks for pair in block]
    asked, passages = (Bags(tokenizer, numbers, [pair[side] for pair in every]) for side in (0, 1))
    known = [len(left) and len(right) for left, right in zip(asked.runs, passages.runs, strict=True)]
    rows = iter(range(len(every)))
    listed = [[number for _, number in zip(block, rows, strict=False) if known[number]] for block in blocks]
    print(f"{len(every)} pairs")
    return counts, Pairs(asked, passages, listed)


def plain(alone: Floats, bags: Bags, projection: Floats) -> Floats:
    """Return the vectors before training: the transformer's of each token alone, frequent tokens weighing less."""
    counts = np.bincount(np.concatenate(bags.runs), minlength=len(alone)) + 1.0
    weights = SMOOTHING / (SMOOTHING + counts / counts.sum())
    centred = alone - alone.mean(0)  # what all tokens have in common says nothing
    return np.asarray((centred @ projection) * weights[:, None], dtype=np.float32)


class Pairs(NamedTuple):
    """What is looked for and the passages that say it, and the numbers of the pairs of each kind and package."""

    asked: Bags
    passages: Bags
    blocks: list[list[int]]


def train(
    start: Floats, bags: Bags, targets: Floats, projection: Floats, pairs: Pairs, *, epochs: int, seed: int
) -> Floats:
    """Return token vectors whose normalised sums imitate the targets, and tell what answers what is looked for."""
    generator = torch.Generator().manual_seed(seed)
    table = torch.nn.Parameter(torch.from_numpy(start.copy()))
    wanted, low = torch.from_numpy(targets), functional.normalize(torch.from_numpy(targets @ projection))
    usable = torch.tensor([number for number, run in enumerate(bags.runs) if len(run)])
    optimiser = torch.optim.Adam([table], lr=RATE)
    steps = epochs * (len(usable) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.1)
    looked_for = static_pairs.batches(pairs.blocks, BATCH, random.Random(seed))  # noqa: S311 - to be repeated
    for epoch in range(epochs):
        losses = []
        order = usable[torch.randperm(len(usable), generator=generator)]
        for batch in order[: len(order) // BATCH * BATCH].view(-1, BATCH):
            made = functional.normalize(functional.embedding_bag(*_bag(bags, batch.tolist(), table), mode="sum"))
            apart = (made @ made.T - wanted[batch] @ wanted[batch].T).square().mean()
            loss = (1 - (made * low[batch]).sum(1)).mean() + PAIRS_WEIGHT * apart
            loss += LOOKED_FOR * _confusion(pairs, next(looked_for), table)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)
    return np.asarray(table.detach().numpy(), dtype=np.float32)


def _confusion(pairs: Pairs, which: Sequence[int], table: torch.Tensor) -> torch.Tensor:
    """Return how badly the pairs of a batch are told apart, from both sides (van den Oord and others, 2018)."""
    asked, passages = (
        functional.normalize(functional.embedding_bag(*_bag(bags, which, table), mode="sum"))
        for bags in (pairs.asked, pairs.passages)
    )
    alike, right = LIKENESS * asked @ passages.T, torch.arange(len(which))
    return (functional.cross_entropy(alike, right) + functional.cross_entropy(alike.T, right)) / 2


def _bag(bags: Bags, which: Sequence[int], table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tokens, starts = bags.take(which)
    return tokens, table, starts


def encoded(table: Floats, bags: Bags) -> Floats:
    """Return the normalised sums of the token vectors of each text."""
    rows = np.stack([table[run].sum(0) if len(run) else np.zeros(table.shape[1]) for run in bags.runs])
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def agreement(ours: Floats, theirs: Floats) -> float:
    """Return Spearman's rank correlation of the similarities of all pairs."""
    upper = np.triu_indices(len(ours), 1)
    ranks = [np.argsort(np.argsort((rows @ rows.T)[upper])) for rows in (ours, theirs)]
    return float(np.corrcoef(*ranks)[0, 1])


def quantised(table: Floats, seed: int) -> NDArray[np.uint8]:
    """Return the vectors as bytes around 128, rotated at random first.

    A rotation changes no similarity and spreads the variance evenly, so that one step serves all rows and columns and
    the sum of the bytes needs no scale.
    """
    turn, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((table.shape[1], table.shape[1])))
    turned = table @ turn
    step = np.quantile(np.abs(turned), CLIP) / 127
    return np.asarray(np.clip(np.rint(turned / step), -127, 127) + 128, dtype=np.uint8)


def packed(pieces: Sequence[str], codes: NDArray[np.uint8], name: str) -> bytes:
    """Lay out the file that `static_vectors` maps: header, buckets, pieces bucket by bucket, rows likewise."""
    keys = [piece.encode() for piece in pieces]
    count = next(number for number in range(len(keys) | 1, 2 * len(keys), 2) if _prime(number))
    order = sorted(range(len(keys)), key=lambda row: (bucket(keys[row], count), keys[row]))
    held: list[list[bytes]] = [[] for _ in range(count)]
    for row in order:
        held[bucket(keys[row], count)].append(keys[row])
    table, texts, rows = bytearray(), bytearray(), 0
    for some in held:
        table += len(texts).to_bytes(4, "little") + rows.to_bytes(4, "little")
        texts += b"\0" + b"\0".join(some) + b"\0" if some else b""
        rows += len(some)
    table += len(texts).to_bytes(4, "little") + rows.to_bytes(4, "little")
    body = bytes(table) + bytes(texts) + codes[order].tobytes()
    fields = (HEADER + len(body), len(keys), codes.shape[1], count, max(map(len, keys)))
    start = MAGIC + b"".join(field.to_bytes(4, "little") for field in fields) + name.encode().ljust(20, b"\0")
    return start + hashlib.sha256(start + body).digest() + body


def _prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def main() -> None:
    """Read, learn, pack, and print the quality."""
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    check_model(options.model)
    tokenizer = tokenizers.Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    pieces = tokens_of(tokenizer)
    texts_of = read(options.texts)
    chance = random.Random(options.seed)  # noqa: S311 - to be repeated, not to be secret
    texts, sources = gather(texts_of, list(pieces), chance)
    whole = static_texts.common_words(texts_of, pieces, options.words)
    print(f"{len(whole)} whole words: {' '.join(whole[:60])} …")
    alone = taught_alone(options.model, list(pieces.values()), options.cache)
    if whole:
        alone = np.concatenate((alone, taught(options.model, whole, options.cache)))
    targets = taught(options.model, texts, options.cache)
    print(f"{len(texts)} texts and {len(alone)} tokens seen through the transformer")
    names = [*pieces, *(WHOLE + word for word in whole)]
    numbers = {name: row for row, name in enumerate(names)}
    bags, held = Bags(tokenizer, numbers, texts[HELD_OUT:]), Bags(tokenizer, numbers, texts[:HELD_OUT])
    projection = np.linalg.svd(targets[HELD_OUT:], full_matrices=False)[2][: options.dimensions].T
    start = plain(alone, bags, projection)
    counts, pairs = gather_pairs(options.texts, tokenizer, numbers, chance)
    sources = [{**source, "pairs": counts.get(str(source["package"]), 0)} for source in sources]
    table = train(start, bags, targets[HELD_OUT:], projection, pairs, epochs=options.epochs, seed=options.seed)
    codes = quantised(table, options.seed)
    stages = {"plain": start, "trained": table, "quantised": codes.astype(np.float32) - 128}
    agreed = {stage: round(agreement(encoded(rows, held), targets[:HELD_OUT]), 4) for stage, rows in stages.items()}
    print(f"rank correlation with the transformer over all pairs of {HELD_OUT} held-out sentences: {agreed}")
    data = packed(names, codes, NAME.format(dimensions=options.dimensions))
    (options.out / FILE).write_bytes(data)
    _write_provenance(options, sources, agreed, data)
    print(f"{options.out / FILE}: {len(data):,} bytes, {len(names):,} vectors")


def _write_provenance(
    options: argparse.Namespace, sources: list[dict[str, Any]], agreed: dict[str, float], data: bytes
) -> None:
    value = {
        "made_by": "tools/distil_static.py",
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "model_licence": "Apache-2.0",
        "model_sha256": WEIGHTS,
        "digest": Static(data).digest,
        "dimensions": options.dimensions,
        "whole_words": options.words,
        "epochs": options.epochs,
        "seed": options.seed,
        "versions": {each.__name__: each.__version__ for each in (np, torch, sentence_transformers, tokenizers)},
        "rank_correlation_held_out": agreed,
        "made_up": {"spans": SPANS, "grammar": SAID, "mixtures": MIXTURES},
        "texts": sources,
    }
    path = options.out / "static.provenance.json"
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--out", type=Path, default=Path("deia/models"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--dimensions", type=int, default=192)
    parser.add_argument("--words", type=int, default=8000, help="whole words beside the WordPieces")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
