"""What a search says of what depends on something, where the graph of the commons knows it."""

from __future__ import annotations

import os

import pytest

from deia.compile.graph_update import open_graph
from deia.graph.facts import Entity, Facts, Reference
from deia.librarian import Librarian

QUESTIONS = [
    *(f"what {verb} Kafka" for verb in ("calls", "imports", "depends on", "relies on", "rests on", "needs", "uses")),
    *(f"{who} {verb} Kafka" for who in ("Who", "WHICH services") for verb in ("use", "reference", "inherit from")),
    *(f"what {what} if I rename Kafka" for what in ("breaks", "would break", "is affected", "fails", "is hit")),
    *(
        f"{form} Kafka?"
        for form in ("what is the impact of removing", "the blast radius of changing", "the effect of dropping")
    ),
    *(f"{form} of Kafka" for form in ("dependents", "callers", "users", "importers")),
    "consumers of Kafka",
]
OTHERS = ["what may a hook cost at most", "who are you", "", "what is a rebase", "how do I use Kafka", "what " * 500]


@pytest.fixture(scope="module")
def librarian(tmp_path_factory: pytest.TempPathFactory) -> Librarian:
    """Return the librarian of a commons whose graph knows what consumes Kafka."""
    root = tmp_path_factory.mktemp("asked")
    (root / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    (root / "bok").mkdir()
    (root / "bok" / "copies.md").write_text("# Copies\n\nMake a copy of the shop first.\n", encoding="utf-8")
    librarian = Librarian(str(root), ledger=False)
    reference = Reference("CONSUMES", "Kafka", 4, "ServiceB", "SERVICE")
    services = tuple(Entity(name, "SERVICE", 1, 1, shared=True) for name in ("Kafka", "ServiceB"))
    with open_graph(librarian.root, os.environ) as graph, graph.transaction():
        graph.put("flow.md", "1", Facts(entities=services, references=(reference,)))
    return librarian


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_of_what_depends_on_something_is_answered_by_the_graph(librarian: Librarian, question: str) -> None:
    assert "ServiceB" in "\n".join(librarian.query(question).dependents)


@pytest.mark.parametrize("question", OTHERS)
def test_no_other_question_asks_the_graph(librarian: Librarian, question: str) -> None:
    assert librarian.query(question).dependents == ()
