"""An unknown name gets the names that were probably meant."""

from __future__ import annotations

import pytest

from deia.suggestions import did_you_mean, nearest

TRIGGERS = ("restart-job-queue", "git-force-push", "terraform-destroy")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("job-queue-restart", "restart-job-queue"),
        ("git-force-psuh", "git-force-push"),
        ("force-push", "git-force-push"),
        ("destroy-terraform", "terraform-destroy"),
    ],
)
def test_the_words_of_a_name_may_have_another_order(name: str, meant: str) -> None:
    assert did_you_mean(name, TRIGGERS) == f"Did you mean {meant}?"


def test_without_a_near_name_some_are_listed() -> None:
    assert did_you_mean("zzz", TRIGGERS) == ""
    assert nearest("zzz", TRIGGERS) == "Known are: git-force-push, restart-job-queue, terraform-destroy."
    assert nearest("zzz", ()) == "There is none yet."
