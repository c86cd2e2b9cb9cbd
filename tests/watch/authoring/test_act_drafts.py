"""A verb and an object of known classes become an `act` clause, and its cases say the act in other words."""

from __future__ import annotations

import pytest

from deia.watch.authoring.act_drafts import WordClasses, known_act

CLASSES = WordClasses(
    verbs={"destroy": ("delete", "remove", "drop"), "skip": ("skip", "bypass", "ignore", "turn off", "drop"),
           "look": ("see", "view", "read", "watch", "drop by", "glance")},
    nouns={"table": ("table", "schema"), "site": ("site", "website", "netlify site"), "key": ("api key",)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("verbs", "thing", "clause"),
    [
        (["drop"], "table", {"do": "destroy", "what": "table"}),
        (["drop"], "events table", {"do": "destroy", "what": "table", "where": ["events"]}),
        (["drop", "skip"], "table", {"do": ["destroy", "skip"], "what": "table"}),
        (["turn"], "off table", {"do": "skip", "what": "table"}),
        (["turn"], "table off", {"do": "skip", "what": "table"}),
        (["delete"], "netlify site", {"do": "destroy", "what": "site", "where": ["netlify"]}),
        (["delete"], "api key", {"do": "destroy", "what": "key"}),
        (["delete"], "old api key", {"do": "destroy", "what": "key", "where": ["old"]}),
    ],
)
def test_a_known_verb_and_object_become_their_classes(verbs: list[str], thing: str, clause: dict[str, object]) -> None:
    act = known_act(verbs, thing.split(), CLASSES)
    assert act is not None
    assert act.clause == clause


@pytest.mark.parametrize(
    ("verbs", "thing"),
    [(["feed"], "table"), (["drop"], "llama"), (["drop"], ""), (["drop", "feed"], "table"), (["glance"], "table")],
)
def test_a_word_of_no_class_or_at_the_end_of_one_makes_no_act(verbs: list[str], thing: str) -> None:
    assert known_act(verbs, thing.split(), CLASSES) is None


def test_its_cases_use_other_words_of_the_classes() -> None:
    act = known_act(["drop"], ["events", "table"], CLASSES)
    assert act is not None
    assert act.fires[2:] == ["let me delete the events table", "can you drop our events schema?"]
    assert act.silent == [
        "I'll look at the events table before I go on", "I'll drop the events table icon", "I'll drop another table",
    ]  # fmt: skip
