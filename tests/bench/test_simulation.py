"""The made-up world of `bench/simulate.py`, in which learning from use is measured."""

from __future__ import annotations

import random

import pytest
from simulation.plot import panels
from simulation.rounds import ARMS, FIGURES, simulated
from simulation.world import ASKED, World

pytestmark = pytest.mark.slow


def test_learning_climbs_in_a_world_with_a_known_truth_and_harms_nothing() -> None:
    found = simulated(rounds=2, seed=3, questions=100, drift=0.0)["figures"]
    learned, still, naive = (found[arm] for arm in ("learning", "none", "naive"))
    assert [found[arm]["hit@1"][0] for arm in found] == [still["hit@1"][0]] * len(found)
    assert still["hit@1"] == [still["hit@1"][0]] * 3
    assert learned["hit@1"] == sorted(learned["hit@1"])
    assert learned["hit@1"][-1] > still["hit@1"][-1] + 0.15
    assert learned["hit@1"][-1] > naive["hit@1"][-1] + 0.15
    assert learned["untouched"][-1] >= still["untouched"][-1]
    assert learned["precision"][-1] >= still["precision"][-1]
    assert learned["recall"][-1] == 1.0
    assert learned["abstention"][-1] >= still["abstention"][-1] > naive["abstention"][-1]


def test_things_that_get_new_names_are_lost_to_whoever_does_not_learn() -> None:
    world = World(5)
    asked = [world.questions(random.Random(1), 80, moved=moved, asked=ASKED) for moved in (0.0, 0.5)]  # noqa: S311
    assert [one.document for one in asked[0]] == [one.document for one in asked[1]]
    assert sum(one.untouched for one in asked[1]) < sum(one.untouched for one in asked[0])
    known = " ".join(world.files.values())
    lost = [one.text for one, before in zip(asked[1], asked[0], strict=True) if one.text != before.text]
    assert lost
    assert all(any(word not in known for word in text.split() if word not in " ".join(ASKED)) for text in lost)


def test_the_plot_is_one_drawing_that_loads_nothing() -> None:
    drawn = panels(
        {"a <b>": {name: [0.0, 1.0] for name in ARMS.values()}}, below="rounds", turn=1, from_then="then <c>"
    )
    assert "then &lt;c&gt;" in drawn
    assert drawn.startswith("<svg")
    assert "a &lt;b&gt;" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert len(FIGURES) == 5
