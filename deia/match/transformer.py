"""Meaning by any sentence transformer that a person likes: for those who installed the extra for it.

The same questions as `deia.match.compact` answers, asked of sentence-transformers, from a local folder or by the name
under which its hub knows a model. Loading takes seconds; it is never chosen for anybody. Refuses to run code that
comes with a model.
"""

from __future__ import annotations

from deia.errors import ArtefactError
from deia.match.numerics import np
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

EXTRA = "Type: pip install 'deia[transformers]'"
NAMED = "Name a folder that holds a model, or check the name and the connection."
BATCH = 32
# What loading raises, depending on what is missing or torn; no connection is an OSError.
REFUSALS = (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, ImportError)


class Transformer:
    """The open model. `name`, `dimensions` and `digest` say which it is: vectors of two models do not compare."""

    __slots__ = ("_model", "digest", "dimensions", "name")

    def __init__(self, model: Any, name: str) -> None:
        """Take a loaded SentenceTransformer."""
        self._model = model
        self.name = name
        self.dimensions = len(self.encode([""])[0])
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


def open_transformer(model: str) -> Transformer:
    """Load a model from a folder or by its name; one that is not on this machine is fetched by its hub's client.

    Raises:
        ArtefactError: the extra is not installed, or there is no such model.
    """
    if not model or "\0" in model:
        raise ArtefactError("there is no model without a name", fix=NAMED)
    try:
        from safetensors import SafetensorError  # type: ignore[import-not-found]  # noqa: PLC0415 - of the extra
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ArtefactError(f"the model {model!r} needs the extra `transformers`", fix=EXTRA) from error
    try:
        loaded = SentenceTransformer(model, device="cpu", trust_remote_code=False)
    except (*REFUSALS, SafetensorError) as error:
        told = (str(error).splitlines() or ["no reason given"])[0][:200]
        raise ArtefactError(f"the model {model!r} cannot be loaded: {told}", fix=NAMED) from error
    return Transformer(loaded, model)


def _digest(model: Any) -> str:
    """Give the SHA-256 of all weights by name, wherever they came from, and of how many tokens are read."""
    import hashlib  # noqa: PLC0415 - of use only here

    content = hashlib.sha256(str(model.max_seq_length).encode())
    for name, weights in sorted(model.state_dict().items()):
        content.update(name.encode())
        content.update(np.ascontiguousarray(weights.float().numpy()).data)
    return content.hexdigest()
