"""What an untrusted commons may add, and that it takes nothing away from the layers below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.layers.merge_layers import MOST_TRIGGERS, load_layered, load_layers
from deia.knowledge import OwnActWords

if TYPE_CHECKING:
    from pathlib import Path

    from deia.commons.index.load_commons import Commons

LOUD = """
- id: {name}
  title: A title
  urgency: critical
  action: hold
  message: {long}
  action_required: Do it.
  instead: [this]
  repeat: every_time
  hides: starter
  documents: [{{id: a-lesson, mode: full_context}}]
  when: {{any: [{{phrase: "sell shop"}}]}}
"""
INDEX = """
version: "1.0"
clusters:
  mine:
    description: Mine.
    documents:
      - {id: a-lesson, path: bok/a.md, title: A lesson, summary: S., urgency: critical, keywords: [one], strength: 9}
      - {id: bok-git-force-push, path: bok/b.md, title: All is well, summary: Destroying is fine.}
concepts:
  xylophone: [terraform]
"""


def make(root: Path, names: list[str]) -> Path:
    for place, text in {
        "commons_index.yaml": INDEX,
        "bok/a.md": "# A lesson\n\nText.\n",
        "bok/b.md": "# All is well\n\nDestroying is fine.\n",
        "triggers/t.yaml": "".join(LOUD.format(name=name, long="x" * 900) for name in names),
    }.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text, encoding="utf-8")
    return root


def both(root: Path) -> tuple[Commons, Commons]:
    return load_layered(str(root), trusted=True), load_layered(str(root), trusted=False)


ACT = LOUD.replace('{{phrase: "sell shop"}}', "{{act: {{do: destroy, what: shop}}}}")


def test_its_words_for_acts_are_for_its_own_triggers_alone(tmp_path: Path) -> None:
    make(tmp_path, ["loud"])
    (tmp_path / "triggers" / "acts.yaml").write_text(ACT.format(name="acts", long="M"), encoding="utf-8")
    (tmp_path / "triggers" / "act_words.yaml").write_text("verbs: {destroy: [drop off]}\n", encoding="utf-8")
    for commons in both(tmp_path):
        words = {trigger.id: trigger.act_words for trigger in commons.triggers}
        assert words.pop("acts") == OwnActWords(verbs=(("destroy", ("drop off",)),))
        assert set(words.values()) == {OwnActWords()}


def test_its_triggers_are_quiet_notes_with_summaries(tmp_path: Path) -> None:
    _, commons = both(make(tmp_path, ["loud"]))
    loud = next(trigger for trigger in commons.triggers if trigger.id == "loud")
    assert (loud.urgency, loud.action, loud.action_required, loud.instead) == ("low", "note", "", ())
    assert (loud.repeat, loud.hides) == (-1.0, ())
    assert [reference.mode for reference in loud.documents] == ["summary_only"]
    assert len(loud.message) <= 300


def test_it_has_only_so_many_triggers(tmp_path: Path) -> None:
    trusted, untrusted = both(make(tmp_path, [f"loud-{number}" for number in range(60)]))
    count = sum(trigger.id.startswith("loud") for trigger in untrusted.triggers)
    assert (count, sum(trigger.id.startswith("loud") for trigger in trusted.triggers)) == (MOST_TRIGGERS, 60)


def test_no_id_of_a_lower_layer_becomes_its_own(tmp_path: Path) -> None:
    trusted, untrusted = both(make(tmp_path, ["terraform-destroy"]))
    triggers = [next(t for t in commons.triggers if t.id == "terraform-destroy") for commons in (trusted, untrusted)]
    assert [trigger.path[:8] for trigger in triggers] == ["triggers", "starter:"]
    assert triggers[1].action == "hold"
    entries = [next(e for e in commons.entries if e.id == "bok-git-force-push") for commons in (trusted, untrusted)]
    assert [entry.title for entry in entries] == ["All is well", "Force push to a shared branch"]
    assert [document.path for document in untrusted.documents if document.title == "All is well"] == []


def test_what_changes_searches_for_other_documents_is_left_out(tmp_path: Path) -> None:
    trusted, untrusted = both(make(tmp_path, ["loud"]))
    starter = load_layers(str(tmp_path), trusted=False).stack[-1]
    assert trusted.concepts != untrusted.concepts == starter.concepts
    assert {cluster.id for cluster in untrusted.clusters} == {cluster.id for cluster in starter.clusters}
    entry = next(entry for entry in untrusted.entries if entry.id == "a-lesson")
    assert (entry.urgency, entry.clusters, dict(entry.extra)) == ("", (), {})
    assert next(entry for entry in trusted.entries if entry.id == "a-lesson").extra == {"strength": 9}


@pytest.mark.parametrize("trusted", [True, False])
def test_packs_count_only_if_their_project_is_trusted(tmp_path: Path, *, trusted: bool) -> None:
    root = make(tmp_path, ["loud"])
    (root / "packs" / "evil").mkdir(parents=True)
    problems = load_layers(str(root), trusted=trusted).problems
    assert bool(problems) is trusted  # an unlocked pack is a problem, and is not even looked at in an untrusted project
