"""Meaning by any sentence transformer that a person likes: for those who installed the extra for it.

The same questions as `deia.match.minilm` answers, asked of sentence-transformers, from a local folder or by the name
under which its hub knows a model. Loading takes seconds; it is never chosen for anybody. Refuses to run code that
comes with a model, to unpickle weights, and to fetch anything unless it is told to.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from deia.errors import ArtefactError
from deia.match.numerics import np
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

EXTRA = "Type: pip install 'deia[transformers]'"
NAMED = "Name a folder that holds a model, or check the name and the connection."
PULL = "Type: deia model pull {}"
BATCH = 32
BITS = 8  # a catalog keeps a bit a dimension, in whole bytes
# What unrelated sentences look like to a model: some hold any two for near, and cosines of two models do not compare.
UNRELATED = (
    "The certificate of the web server expires next week.",
    "She bakes bread with rye and caraway seeds.",
    "Two teams drew in the final match of the season.",
    "The query planner chose a sequential scan.",
    "Glaciers carve valleys over thousands of years.",
    "Invoices are paid within thirty days.",
    "The violin is tuned in fifths.",
    "A pod was evicted because the node ran out of memory.",
    "The patient has had a fever since Monday.",
    "Merge the branch once the review is done.",
    "Penguins breed on sea ice in winter.",
    "The tenant may end the lease with three months' notice.",
)
MOST_UNRELATED = 0.95  # beyond, a model tells nothing apart
# What loading raises, depending on what is missing or torn; no connection is an OSError.
REFUSALS = (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, ImportError)


class Transformer:
    """The open model. `name`, `dimensions` and `digest` say which it is: vectors of two models do not compare."""

    __slots__ = ("_model", "digest", "dimensions", "name", "unrelated")

    def __init__(self, model: Any, name: str) -> None:
        """Take a loaded SentenceTransformer."""
        self._model = model
        self.name = name
        self.dimensions = len(self.encode([""])[0])
        self.unrelated = _unrelated(self.encode(UNRELATED))  # the mean cosine of sentences on different subjects
        self.digest = _digest(model)

    def encode_query(self, text: str) -> list[float]:
        """Give the vector of one text, of unit length; a model that knows a prompt for queries is given it."""
        vector: list[float] = self._vectors([text], ("query",))[0].tolist()
        return vector

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Floats:  # noqa: ARG002 - torch has its own
        """Give the vectors of texts, one a row, of unit length; with the prompt for documents where there is one."""
        if not texts:
            return np.empty((0, self.dimensions), "f4")
        return self._vectors(texts, ("document", "passage"))

    def _vectors(self, texts: Sequence[str], prompts: Sequence[str]) -> Floats:
        prompt = next((name for name in prompts if name in self._model.prompts), None)
        clean = [text.encode("utf-8", "ignore").decode() for text in texts]  # its tokenizers refuse lone surrogates
        made = self._model.encode(
            clean, prompt_name=prompt, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(made, "f4")


def open_transformer(model: str, *, fetch: bool = False) -> Transformer:
    """Load a model from a folder or by its name; with `fetch` its hub's client gets one that is not on this machine.

    Raises:
        ArtefactError: the extra is not installed, there is no such model, or it is none that a search can use.
    """
    if not model or "\0" in model:
        raise ArtefactError("there is no model without a name", fix=NAMED)
    try:
        from safetensors import SafetensorError  # type: ignore[import-not-found]  # noqa: PLC0415 - of the extra
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415 - an extra
        from transformers.utils.logging import (  # type: ignore[import-not-found]  # noqa: PLC0415 - of the extra
            disable_progress_bar,
        )
    except ImportError as error:
        raise ArtefactError(f"the model {model!r} needs the extra `transformers`", fix=EXTRA) from error
    disable_progress_bar()  # of reading weights from the disk
    try:
        loaded = SentenceTransformer(
            model,
            device="cpu",
            trust_remote_code=False,
            local_files_only=not fetch,
            model_kwargs={"use_safetensors": True},
        )
    except (*REFUSALS, SafetensorError) as error:
        told = (str(error).splitlines() or ["no reason given"])[0][:200]
        fix = NAMED if fetch or os.path.isdir(model) else PULL.format(model)
        raise ArtefactError(f"the model {model!r} cannot be loaded: {told}", fix=fix) from error
    found = Transformer(loaded, model)
    if found.dimensions % BITS or found.unrelated > MOST_UNRELATED:
        wrong = f"{found.dimensions} dimensions" if found.dimensions % BITS else "all sentences mean the same to it"
        raise ArtefactError(f"the model {model!r} is of no use for a search: {wrong}", fix=NAMED)
    return found


def _unrelated(vectors: Floats) -> float:
    count = len(vectors)
    return float((np.linalg.norm(vectors.sum(0)) ** 2 - count) / (count * (count - 1)))  # of unit vectors


def _digest(model: Any) -> str:
    """Give the SHA-256 of all weights by name, wherever they came from, and of how many tokens are read."""
    import hashlib  # noqa: PLC0415 - of use only here

    content = hashlib.sha256(str(model.max_seq_length).encode())
    for name, weights in sorted(model.state_dict().items()):
        content.update(name.encode())
        content.update(np.ascontiguousarray(weights.float().numpy()).data)
    return content.hexdigest()
