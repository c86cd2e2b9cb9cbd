"""A table of stances: the same act announced, requested, running, denied, reported, done, asked about, tried dry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import STANCES, Turn
from deia.watch.prose.intent import is_order
from deia.watch.prose.stance import act_of, judge_act
from deia.watch.turn.parsed_turn import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.watch.conftest import Fires, Make

# Each sentence holds one act: a form of delete, drop, wipe or overwrite.
VERBS = ("delet", "drop", "wip", "overwr", "destroy", "rewr")
TABLE = """
announced | I'm going to delete the site
announced | I\u2019m going to delete the site
announced | I'll delete the site now
announced | I\u2019ll delete the site now
announced | Let me delete the site and start over
announced | We need to delete the site first
announced | Next, I will drop the table
running | Deleting the site now
announced | I'd rather delete the site
announced | To stop the outage I'll delete the site
announced | Instead of waiting I'll delete the site
announced | Since nobody uses it I'll delete the site
announced | It doesn't work this way so I'll delete the site
negated | I don't think I'll delete the site
negated | no way I'll delete the site
negated | I never said I'll delete the site
running | That doesn't matter: I'm deleting the site
running | Nothing works, I'm now deleting the site
negated | I'm not deleting the site
supposed | If I'm deleting the site, the domain is lost
supposed | will deleting the site cost anything
announced | maybe easiest: delete the site
announced | Simplest fix: drop the table
running | On to deleting the site
running | Deleting the site since nobody is using it
reported | Deleting the site is dangerous
reported | Deleting a site removes its domain
reported | Deleting the site failed
running | I am deleting the site
announced | I'm about to wipe the disk
announced | Plan: delete the site, then recreate it
announced | The plan is to delete the site
requested | First delete the site, then recreate it
announced | Let's delete the site
announced | I decided to go ahead and delete the site
announced | If that fails I'll delete the site
requested | please delete the site
requested | can you delete the site?
requested | Could you delete the site and recreate it?
requested | should I delete the site?
requested | Should we just delete the site?
requested | I want you to delete the site
requested | would you please delete the site?
requested | delete the site
requested | just delete the site
requested | ok, delete the site
announced | The site will be deleted
running | The table is being dropped
requested | Don't forget to delete the site
requested | do not hesitate to delete the site
requested | Not only delete the site, recreate it too
negated | don't delete the site
negated | don\u2019t delete the site
negated | Do not delete the site
negated | never delete the site
negated | please don't delete the site
negated | We won't delete the site
negated | I will not delete the site
negated | You shouldn't delete the site
negated | avoid deleting the site
negated | instead of deleting the site, rename it
negated | without deleting the site
negated | we must never drop the table
negated | it cannot delete the site
negated | I refuse to delete the site
negated | Under no circumstances delete the site
negated | Nobody deletes the site
reported | someone deleted the site last year
done | I deleted the site
reported | The site was deleted yesterday
done | The site has been deleted
reported | we had deleted the site by mistake
reported | He tried to delete the site
reported | The script overwrote the file last week
done | I overwrote the file as you asked
reported | This job deletes the site every night
reported | after deleting the site we lost the domain
reported | We were deleting the site when it failed
reported | the risk of deleting the site is high
asked | what happens if I delete the site?
asked | How do I delete the site?
asked | why did you delete the site?
asked | what does deleting the site do?
asked | Is it safe to delete the site?
asked | does this delete the site?
supposed | if we delete the site, the domain is lost
supposed | When you delete the site, the domain is lost
supposed | what would delete the site
asked | explain how to delete the site
supposed | anyone might delete the site
asked | \u5220\u9664 delete the site\uff1f
announced | I have no choice but to delete the site
announced | Once CI is green I'll delete the site
announced | - [ ] Step 3: I will delete the site
announced | gonna delete the site
requested | why don't we just delete the site?
requested | why dont you delete the site
requested | how about deleting the site?
requested | It would be great if you could delete the site
requested | could u delete the site
requested | The disk is full again, can you delete the site?
requested | You have my permission to delete the site
requested | do you want me to delete the site?
requested | if it still exists, delete the site
requested | nobody minds, delete the site
running | I'm currently deleting the site
running | I'm in the middle of deleting the site
running | the agent is deleting the site right now
negated | dont delete the site
negated | wont delete the site
negated | DO NOT delete the site
negated | let's fix it without deleting the site
negated | I'll push it without deleting the site
reported | To delete the site you need the owner role
announced | To delete the site I'll run the script
requested | shred everything, delete the site
requested | please delete everything the site doesn't need
negated | the site shouldn't be there, never delete it
reported | a function that deletes the site
supposed | Users can delete the site from the dashboard, that is documented
reported | I'm writing docs about deleting the site
done | I went ahead and deleted the site
done | I've already deleted the site
done | Done. Deleted the site and recreated it
asked | do i need to delete the site first
asked | I wonder whether we should delete the site
supposed | let's say we delete the site: then what
supposed | Should anyone delete the site, page me.
supposed | one could delete the site
dry_run | do a dry run: delete the site
dry_run | run it with --dry-run to delete the site
dry_run | simulate: delete the site
dry_run | preview what we would delete from the site
asked | can you explain what deleting the site and making it anew does?
asked | would you tell me whether to delete the site
asked | can you tell me if deleting the site works
asked | I'd like to know what deleting the site does
asked | could you show me how to make and delete the site
asked | please describe what happens to what the team made when others delete the site
requested | explain why it fails and delete the site
requested | can you explain why it fails and delete the site
requested | can you explain why it fails and then delete the site?
announced | Let me check what is in there and delete the site
reported | please write a test for deleting the site
reported | can you add a section about how users delete the site
requested | please write a test for the form and delete the site
requested | please write a story and delete the site
announced | let me try deleting the site and making a new one \u2014 that usually resolves it
announced | we'll try dropping the table
requested | you know what just delete the site
announced | Ready to delete the site
announced | Let me delete the records of the failed release
"""
ROWS = [tuple(part.strip() for part in line.split("|", 1)) for line in TABLE.strip().splitlines()]


def test_a_thing_after_the_object_does_not_name_the_act() -> None:
    reading = Reading(Turn(role="assistant", text="Ready to push the tag to start the release workflow."))
    assert reading.stance_at(9, 13, reading.turn.text.index(" workflow"))[0] == "announced"


def stance_of(text: str) -> str:
    lowered = text.lower()
    start = min(at for verb in VERBS if (at := lowered.find(verb)) >= 0)
    end = next((at for at in range(start, len(text)) if not text[at].isalpha()), len(text))
    return Reading(Turn(role="user", text=text)).stance_at(start, end)[0]


@pytest.mark.parametrize(("stance", "text"), ROWS, ids=[row[1] for row in ROWS])
def test_the_stance_of_a_sentence(stance: str, text: str) -> None:
    assert stance_of(text) == stance


@pytest.mark.parametrize(
    ("stance", "text"),
    [
        ("announced", "It is not slow. I'll delete the site."),
        ("announced", "Nobody uses it, so I will delete the site"),
        ("announced", "What a mess! I'll delete the site"),
        ("announced", "Was it v1.2? I'll delete the site."),
        ("negated", "I would rather rename it: never delete the site"),
        ("negated", "I renamed it. Don't delete the site! I'll archive it."),
        ("done", "Shall I go on? I've deleted the site. Next I will tell the team."),
        ("running", "Never push to main. I'm deleting the site right now. Did you see the mail?"),
        ("announced", 'He said "never do that again", and now I\'ll delete the site'),
        ("announced", "## DO NOT panic\nI'll delete the site"),
        ("negated", "## DO NOT delete the site\nI'll archive it."),
    ],
)
def test_only_its_own_sentence_colours_an_act(stance: str, text: str) -> None:
    assert stance_of(text) == stance


@pytest.mark.parametrize(
    ("said", "fired"),
    [
        ("I'm going to delete the site", True),
        ("can you delete the site?", True),
        ("don't delete the site", False),
        ("someone deleted the site last year", False),
        ("how do I delete the site?", False),
        ("simulate deleting the site", False),
        ("Never delete the site. OK, now I will delete the site.", True),
        ("delete the shop but not the site", False),
        ("the site must not be deleted", False),
    ],
)
def test_only_an_act_that_is_meant_fires(make: Make, fires: Fires, said: str, *, fired: bool) -> None:
    assert fires(make(("phrase", "delete … site"), ("phrase", "site … deleted")), said) is fired


@pytest.mark.parametrize(
    ("stance", "said"),
    [
        ("negated", "don't delete the site"),
        ("reported", "someone deleted the site"),
        ("asked", "how do I delete the site?"),
        ("dry_run", "simulate deleting the site"),
    ],
)
def test_a_trigger_may_ask_for_another_stance(make: Make, fires: Fires, stance: str, said: str) -> None:
    assert fires(make(("phrase", "delete site"), stance=(stance,)), said)
    assert not fires(make(("phrase", "delete site"), stance=(stance,)), "I will delete the site")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("announced", "I'm deleting the site right now"),
        ("running", "I'm deleting the site right now"),
        ("reported", "I've already deleted the site"),
        ("done", "I've already deleted the site"),
        ("asked", "one could delete the site"),
        ("supposed", "one could delete the site"),
    ],
)
def test_an_older_wider_stance_still_means_what_is_told_apart_now(
    make: Make, fires: Fires, listed: str, said: str
) -> None:
    trigger = make(("phrase", "delete site"), ("phrase", "deleting site"), ("phrase", "deleted site"), stance=(listed,))
    assert fires(trigger, said)
    assert not fires(trigger, "never delete the site")


@pytest.mark.parametrize(
    ("said", "fired"),
    [
        ("I'll run `terraform destroy` now", True),
        ("Run this:\n```bash\nterraform destroy\n```", True),
        ("I will run:\n\n```\n$ terraform destroy\n```", True),
        ("terraform destroy -auto-approve", True),
        ("$ terraform destroy", True),
        ('terraform destroy -var "a=b c"', True),
        ("can you run `terraform destroy`?", True),
        ("what does `terraform destroy` do?", False),
        ("`terraform destroy` removes everything", False),
        ("never run `terraform destroy`", False),
        ("Never run this:\n```bash\nterraform destroy\n```", False),
        ("The docs say:\n```bash\nterraform destroy\n```", False),
        ("Here is the CI file:\n```yaml\nrun: 'terraform destroy'\n```", False),
        ("Run the linter on it:\n```python\nprint('terraform destroy')\n```", False),
        ("> terraform destroy", False),
        ('he said "terraform destroy" is fine', False),
        ("I'll run `terraform destroy --help`", False),
    ],
)
def test_a_command_in_prose_counts_when_it_is_about_to_run(make: Make, fires: Fires, said: str, *, fired: bool) -> None:
    assert fires(make(("command", "terraform destroy")), said) is fired


def test_what_only_shows_what_it_would_do_does_not_fire(make: Make, fires: Fires, call: Callable[[str], Turn]) -> None:
    trigger = make(("command", "kubectl delete ns"))
    assert fires(trigger, call("kubectl delete ns shop"))
    assert not fires(trigger, call("kubectl delete ns shop --dry-run=server"))
    assert not fires(make(("command", "kubectl delete ns"), unless=("--wait",)), call("kubectl delete ns shop --wait"))
    assert not fires(make(("command", "kubectl delete ns"), unless=("staging",)), call("kubectl delete ns staging"))


@pytest.mark.parametrize("line", ["k delete ns shop", "sudo k -n db delete ns shop", "tf destroy", "dc down -v"])
def test_a_program_is_known_by_the_short_name_that_people_give_it(
    make: Make, fires: Fires, call: Callable[[str], Turn], line: str
) -> None:
    trigger = make(
        ("command", "kubectl delete ns"), ("command", "terraform destroy"), ("command", "docker compose down -v")
    )
    assert fires(trigger, call(line))
    assert fires(trigger, f"I'll run `{line}` now")
    assert not fires(trigger, call(f"echo {line}"))


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("adn 'tob.?!,\n\u2019\ud800é"), max_size=60),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_every_act_has_a_stance(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    known = set(STANCES) - {"quoted"}
    assert judge_act(text, (0, len(text)), (start, end), end) in known
    assert Reading(Turn(role="user", text=text)).stance_at(start, end)[0] in known


@pytest.mark.parametrize(
    ("said", "verb", "orders"),
    [
        ("just delete it, nobody needs it", "delete", True),
        ("ok, drop it", "drop", True),
        ("please delete the site", "delete", True),
        ("embed the video", "embed", True),
        ("delete it?", "delete", False),
        ("deleted it", "deleted", False),
        ("deleting it takes long", "deleting", False),
        ("we delete it", "delete", False),
        ("the plan is to delete it", "delete", False),
    ],
)
def test_an_order_opens_its_sentence_with_the_bare_verb(said: str, verb: str, *, orders: bool) -> None:
    start = said.index(verb)
    end = start + len(verb)
    assert is_order(act_of(said, (0, len(said)), (start, end), end)) is orders


@pytest.mark.parametrize("verb", ["put", "let", "write"])
def test_what_looks_like_an_order_is_one_where_a_person_says_it(verb: str) -> None:
    text = f"{verb} a rule in every zone"
    assert Reading(Turn(role="user", text=text)).stance_at(0, len(verb), len(text))[0] == "requested"
    assert Reading(Turn(role="user", text=f"we {text}")).stance_at(3, 3 + len(verb), len(text))[0] != "requested"


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Force pushed.", False),
        ("Force-pushed.", False),
        ("I've force-pushed to main.", False),
        ("ok force pushed now", False),
        ("Committed with --no-verify.", False),
        ("I've committed it with --no-verify", False),
        ("Force pushing.", True),
        ("Let me force push.", True),
        ("I'll commit with --no-verify", True),
        ("We need this force pushed today", True),
    ],
)
def test_a_past_act_is_a_report_and_not_an_announcement(make: Make, fires: Fires, said: str, *, heard: bool) -> None:
    trigger = make(("phrase", "force push"), ("phrase", "with --no-verify"))
    assert [fires(trigger, Turn(role=role, text=said)) for role in ("assistant", "user")] == [heard, heard]
