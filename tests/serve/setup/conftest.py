"""Every host's hook over a compiled commons."""

from tests.serve.hosted import contract, hosted

__all__ = ["contract", "hosted"]
