"""The classifier of stance: how it judges whole sentences, that it never raises, and what it costs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deia
from deia.errors import ArtefactError
from deia.records import STANCES
from deia.watch.prose.stance import settle
from deia.watch.prose.stance_classifier import DOING, FILE, MOST_READ, Model, features, form_of, probabilities_of
from deia.watch.prose.stance_names import ASKED, REPORTED, RUNNING, counts

SHIPPED = (Path(deia.__file__).parent / "models" / FILE).read_bytes()
TEXTS = st.text(alphabet=st.sampled_from("adi fnotulw'-,:;.?!()[]\n\u2019\ud800é删"), max_size=80)
# Sentences that the classifier was not trained on: the act's verb between asterisks.
MEANT = """
I'll *prune* the volumes on the build host now
Could you *expire* those sessions for me?
Okay, *recompiling* the kernel module at the moment
Next I'm going to *sign* the installer with the new certificate
Please *hand* over the domain to the agency
we should just *sell* the remaining stock
"""
NOT_MEANT = """
Do not *sign* anything before legal has looked at it
The manual explains how the pump *drains* the tank
My predecessor *sold* the domain years ago
What happens when the sensor *expires*?
If the broker *sold* everything, we would be broke
I've already *signed* and returned the contract
Add a unit test for *expiring* sessions
"""


def cut(line: str) -> tuple[str, tuple[int, int]]:
    before, verb, after = line.split("*")
    return before + verb + after, (len(before), len(before) + len(verb))


def judged(sentence: str, verb: tuple[int, int] | None = None) -> tuple[str, float]:
    """Return the likeliest stance of a sentence's act, and how probable it is that the act is done or asked for."""
    probabilities = probabilities_of(sentence, verb)
    return max(probabilities, key=probabilities.__getitem__), sum(probabilities[name] for name in DOING)


@pytest.mark.parametrize("line", MEANT.strip().splitlines())
def test_an_act_that_is_meant_is_probable(line: str) -> None:
    stance, probable = judged(*cut(line))
    assert stance in DOING
    assert probable > 0.5


@pytest.mark.parametrize("line", NOT_MEANT.strip().splitlines())
def test_an_act_that_is_only_spoken_of_is_not(line: str) -> None:
    stance, probable = judged(*cut(line))
    assert stance not in DOING
    assert probable < 0.5


@pytest.mark.parametrize(
    ("meant", "mentioned"),
    [
        ("I'll wipe the disk now", "never wipe the disk"),
        ("please move the domain to the new host", "someone moved the domain last year"),
        ("Now I'm sending the invoices", "how do I send the invoices?"),
    ],
)
def test_a_sentence_can_be_judged_without_knowing_its_verb(meant: str, mentioned: str) -> None:
    assert judged(meant)[1] > 0.5 > judged(mentioned)[1]


def test_what_an_act_is_about_does_not_matter() -> None:
    one, other = "I'm going to drop the ledgers quickly", "I'm going to wind the clocks quickly"
    assert judged(one, (13, 17)) == judged(other, (13, 17))


@pytest.mark.parametrize(
    "text",
    ["Vou apagar o repositório remoto agora", "Ich werde die Datenbank jetzt löschen", "删除 remote repository 吗"],
)
def test_another_language_is_not_judged(text: str) -> None:
    assert probabilities_of(text, (4, 9)) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I don't want to delete it", "I dont want to delete it"),
        ("I\u2019m going to delete it", "Im gonna delete it"),
        ("let's delete it", "lets delete it"),
    ],
)
def test_sloppy_spelling_has_the_same_form(one: str, other: str) -> None:
    known = Model(SHIPPED).known
    forms = [form_of(text, (text.index("del"), text.index("del") + 6), known) for text in (one, other)]
    assert forms[0].words == forms[1].words


def test_the_wider_name_of_a_stance_means_the_narrower_too() -> None:
    assert counts("running", ("announced",))
    assert counts("done", ("reported",))
    assert counts("supposed", ("asked",))
    assert not counts("announced", ("running",))
    assert not counts("reported", ("done",))
    assert not counts("running", ("negated", "requested"))


def test_a_rule_is_overruled_only_where_the_classifier_is_sure() -> None:
    unsure = dict.fromkeys(STANCES, 0.02) | {"running": 0.5, "reported": 0.3}
    sure = dict.fromkeys(STANCES, 0.002) | {"running": 0.95}
    assert settle(REPORTED, unsure) == REPORTED
    assert settle(REPORTED, sure) == RUNNING
    assert settle("negated", sure) == "negated"
    assert settle("", unsure) == RUNNING
    assert settle(ASKED, sure) == ASKED


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(0, 90), st.integers(0, 20))
def test_every_text_has_a_stance_and_always_the_same(text: str, start: int, length: int) -> None:
    verb = (start, start + length)
    probabilities = probabilities_of(text, verb)
    assert set(probabilities) <= set(STANCES)
    assert sum(probabilities.values()) == pytest.approx(1.0 if probabilities else 0.0)
    assert probabilities_of(text, verb) == probabilities


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.integers(0, 200))
def test_no_text_raises(text: str, start: int) -> None:
    assert list(features(form_of(text, (start, start + 1), frozenset())))
    assert set(probabilities_of(text, (start, start + 1))) <= set(STANCES)


def test_only_what_stands_near_the_act_is_read() -> None:
    long = "we do not know " * 40_000
    started = time.process_time()
    judged(f"{long}I'll delete it {long}", (len(long) + 5, len(long) + 11))
    judged(long)
    assert time.process_time() - started < 1.0  # a pass over all of it takes longer
    assert len(form_of(long, (len(long) // 2,) * 2, frozenset()).words) < MOST_READ


@pytest.mark.parametrize("data", [b"", SHIPPED[:100], SHIPPED[:-1], b"x" + SHIPPED, SHIPPED.replace(b"\n", b" ", 3)])
def test_a_torn_file_is_refused(data: bytes) -> None:
    with pytest.raises(ArtefactError):
        Model(data)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_not_raised_over(data: bytes) -> None:
    for torn in (data, SHIPPED[:14] + data, SHIPPED[:200] + b"\n" + data):
        with pytest.raises(ArtefactError):
            Model(torn)


def test_the_shipped_file_is_small_and_knows_every_stance() -> None:
    assert len(SHIPPED) < 32 * 1024
    assert set(probabilities_of("I will delete it", (7, 13))) == set(STANCES) - {"quoted"}
