"""The ledgers of the tests of `deia.ledger`, for what is learned from them."""

from tests.ledger.conftest import write

__all__ = ["write"]
