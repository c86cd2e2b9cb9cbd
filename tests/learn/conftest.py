"""The ledger fixtures of `tests.ledger`, for the tests of what is learned from ledgers."""

from tests.ledger.conftest import write

__all__ = ["write"]
