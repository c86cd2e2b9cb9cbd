"""Semantic vectors from any sentence-transformers model, for people who installed that extra.

The interface is that of `deia.match.minilm`. The model is a local folder or a name on the model hub. Loading takes
seconds, so this tier is used only if a person chose it. Code that comes with a model is never run, pickled weights are
never loaded, and nothing is downloaded unless `fetch` is set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from deia.errors import ArtefactError
from deia.match.numerics import Floats, np
from deia.tables import Tables

EXTRA = "Type: pip install 'deia[transformers]'"
NAMED = "Name a folder that holds a model, or check the name and the connection."
PULL = "Type: deia config model pull {}"
BATCH = 32
BITS = 8  # a catalog keeps one bit per dimension, in whole bytes
TABLES = Tables(__file__)
MOST_UNRELATED = 0.95  # above this, a model cannot tell texts apart
Model: TypeAlias = Any  # a SentenceTransformer, of an extra
# What loading can raise, depending on what is missing or damaged; a lost connection is an OSError.
REFUSALS = (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, ImportError)


class Transformer:
    """An open model; `name`, `dimensions` and `digest` identify it, as vectors of two models cannot be compared."""

    __slots__ = ("_model", "digest", "dimensions", "name", "unrelated")

    def __init__(self, model: Model, name: str) -> None:
        """Wrap a loaded SentenceTransformer."""
        self._model = model
        self.name = name
        self.dimensions = len(self.encode([""])[0])
        self.unrelated = _unrelated(
            self.encode(TABLES.lines("unrelated"))
        )  # the mean cosine of sentences on different subjects
        self.digest = _digest(model)

    def encode_query(self, text: str) -> list[float]:
        """Return the unit vector of one text, with the model's prompt for queries if it has one."""
        vector: list[float] = self._vectors([text], ("query",))[0].tolist()
        return vector

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Floats:  # noqa: ARG002 - torch has its own
        """Return the unit vectors of texts, one per row, with the model's prompt for documents if it has one."""
        if not texts:
            return np.empty((0, self.dimensions), "f4")
        return self._vectors(texts, ("document", "passage"))

    def _vectors(self, texts: Sequence[str], prompts: Sequence[str]) -> Floats:
        prompt = next((name for name in prompts if name in self._model.prompts), None)
        clean = [text.encode("utf-8", "ignore").decode() for text in texts]  # its tokenizers reject lone surrogates
        made = self._model.encode(
            clean, prompt_name=prompt, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(made, "f4")


def open_transformer(model: str, *, fetch: bool = False) -> Transformer:
    """Load a model from a folder or by name; with `fetch`, download it if it is not on this machine."""
    if not model or "\0" in model:
        raise ArtefactError("no model was named", fix=NAMED)
    try:
        from safetensors import SafetensorError  # type: ignore[import-not-found]  # noqa: PLC0415 - of the extra
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415 - an extra
        from transformers.utils.logging import (  # type: ignore[import-not-found]  # noqa: PLC0415 - of the extra
            disable_progress_bar,
        )
    except ImportError as error:
        raise ArtefactError(f"the model {model!r} needs the extra `transformers`", fix=EXTRA) from error
    disable_progress_bar()  # shown while weights are read from disk
    try:
        loaded = SentenceTransformer(
            model,
            device="cpu",
            trust_remote_code=False,
            local_files_only=not fetch,
            model_kwargs={"use_safetensors": True},
        )
    except (*REFUSALS, SafetensorError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0][:200]
        fix = NAMED if fetch or os.path.isdir(model) else PULL.format(model)
        raise ArtefactError(f"the model {model!r} cannot be loaded: {reason}", fix=fix) from error
    transformer = Transformer(loaded, model)
    if transformer.dimensions % BITS or transformer.unrelated > MOST_UNRELATED:
        alike = "it gives all sentences nearly the same vector"
        problem = f"{transformer.dimensions} dimensions" if transformer.dimensions % BITS else alike
        raise ArtefactError(f"the model {model!r} cannot be used for search: {problem}", fix=NAMED)
    return transformer


def _unrelated(vectors: Floats) -> float:
    count = len(vectors)
    return float((np.linalg.norm(vectors.sum(0)) ** 2 - count) / (count * (count - 1)))  # of unit vectors


def _digest(model: Model) -> str:
    """Return the SHA-256 of all weights, by name, and of the number of tokens that the model reads."""
    import hashlib  # noqa: PLC0415 - of use only here

    content = hashlib.sha256(str(model.max_seq_length).encode())
    for name, weights in sorted(model.state_dict().items()):
        content.update(name.encode())
        content.update(np.ascontiguousarray(weights.float().numpy()).data)
    return content.hexdigest()
