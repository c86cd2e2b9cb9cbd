"""What is tried in every host: what the person says, what the model does, and what deia should make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

DESTROY = "terraform destroy -auto-approve"
DESTROYED = "terraform-destroy"  # the trigger
UNPROTECT = "aws rds modify-db-instance --db-instance-identifier shop --no-deletion-protection"
RECREATE = "I'm going to delete the Netlify project and recreate it"
RECREATED = "netlify-delete-and-recreate"
DENIED = "aws-access-denied"
LOCKED_OUT = "login-about-to-lock"
MANY_TOKENS = 96_000
ALL_TOKENS = 1_200_000  # more than any window
PLANNING = r"^(exitplanmode|exit_plan_mode|update_plan|todowrite|todo_write|write_todos|update_todo|taskcreate|todo)$"
DELEGATING = r"^(agent|task|spawn_agent|delegate_to_agent|use_subagents|generalist|invoke_agent)$"
OURS = "query_global_commons"
QUESTION = "is terraform destroy dangerous?"
PLANNED = {"search": "select:TaskCreate", "text": RECREATE, "plan": RECREATE}
AGENT = "{agent}"  # the host's name for a subagent that does any work
TASK = "Tidy up staging, all of it."
DELEGATED = {
    "search": "select:Agent", "text": TASK, "description": "tidy up", "prompt": TASK, "message": TASK, "task": TASK,
    "subagent_type": AGENT, "agent_type": AGENT, "agent_name": AGENT,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that the model does: a command, a call of a tool, or a text that ends the turn."""

    shell: str = ""
    tool: str = ""  # a pattern that the tool's name holds
    given: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    tokens: int = 10  # that the model says the conversation has
    within: str = ""  # what was said in the conversation; another one waits

    def of(self, agent: str) -> Step:
        """Return the step with a host's name for a subagent."""
        return replace(self, given={name: agent if value == AGENT else value for name, value in self.given.items()})


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the person says, and what the model does then."""

    prompt: str
    steps: tuple[Step, ...] = ()
    compacts: bool = False  # whether it is there to make the host shorten the conversation


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A conversation in a host, and what was arranged before."""

    name: str
    turns: tuple[Turn, ...]
    scope: str = "user"
    trigger: str = ""  # that should speak
    at: int = 0  # the request, counted from 0, by which the model should have read it
    installed: bool = True
    removed: bool = False  # whether deia is installed and uninstalled before
    server: bool = False  # whether the server is entered as well
    trusted: bool = True  # whether the person trusts the folder
    planted: bool = False  # whether the repository holds a commons that nobody trusted
    before: tuple[tuple[str, ...], ...] = ()  # commands of deia


def shell(command: str, *, tokens: int = 10, within: str = "") -> Step:
    """Return the step of a command."""
    return Step(shell=command, tokens=tokens, within=within)


PAUSE = shell("sleep 4")  # in which a server starts
LOOK = shell("ls")  # a call about which there is nothing to say
TWICE = (shell(DESTROY), shell(DESTROY))
INSIDE = (shell(DESTROY, within=TASK), shell(DESTROY, within=TASK), Step(text="Tidied up.", within=TASK))
CLEAN_UP = Turn(prompt="Clean up the staging environment.", steps=TWICE)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(name="prompt", trigger=RECREATED, turns=(Turn(prompt=RECREATE, steps=(LOOK,)),)),
        Scenario(name="hold", trigger=DESTROYED, at=1, turns=(CLEAN_UP,)),
        Scenario(
            name="quiet",
            turns=(Turn(prompt="don't delete the Netlify project", steps=(shell('echo "terraform destroy"'),)),),
        ),
        Scenario(
            name="error", trigger=DENIED, at=1,
            turns=(Turn(prompt="Upload it.", steps=(shell("aws s3 cp fails.txt s3://shop/"), LOOK)),),
        ),
        Scenario(  # a trigger that speaks only of calls that failed
            name="failure", trigger=LOCKED_OUT, at=1,
            turns=(Turn(prompt="Look at the host.", steps=(shell("ssh fails.example.org uptime"), LOOK)),),
        ),
        Scenario(
            name="result", trigger=DENIED, at=1,
            turns=(Turn(prompt="Look at the host.", steps=(shell("aws s3 cp a.txt s3://shop/"), LOOK)),),
        ),
        Scenario(
            name="warn", trigger="git-skip-hooks", at=1,
            turns=(Turn(prompt="Get it onto the remote.", steps=(shell("git push --no-verify origin feature"), LOOK)),),
        ),
        Scenario(
            name="ask", trigger="deletion-protection-off", at=1,
            turns=(Turn(prompt="Prepare the instance.", steps=(shell(UNPROTECT), shell(UNPROTECT))),),
        ),
        Scenario(
            name="announced", trigger=DESTROYED, at=1,
            turns=(Turn(prompt="I'm going to run terraform destroy on staging", steps=TWICE),),
        ),
        Scenario(name="session", planted=True, turns=(Turn(prompt="Say hello.", steps=(LOOK,)),)),
        Scenario(
            name="stop", trigger=RECREATED,
            turns=(
                Turn(prompt="What is next?", steps=(Step(text=f"{RECREATE}."),)),
                Turn(prompt="Go on.", steps=(LOOK,)),
            ),
        ),
        Scenario(
            name="compaction", trigger=DESTROYED,
            turns=(
                CLEAN_UP,
                Turn(
                    prompt="Look around.", compacts=True,
                    steps=(shell("ls -a", tokens=MANY_TOKENS), shell("pwd", tokens=ALL_TOKENS), LOOK),
                ),
                CLEAN_UP,
            ),
        ),
        Scenario(
            name="subagent", trigger=DESTROYED,
            turns=(
                Turn(prompt="Delegate it.", steps=(Step(tool=DELEGATING, given=DELEGATED), *INSIDE)),
            ),
        ),
        Scenario(
            name="plan", trigger=RECREATED, at=1,
            turns=(
                Turn(
                    prompt="Plan it.",
                    steps=(Step(tool=PLANNING, given=PLANNED), LOOK),
                ),
            ),
        ),
        Scenario(
            name="mute", trigger=DESTROYED, before=(("mute", DESTROYED),),
            turns=(Turn(prompt="Clean up the staging environment.", steps=(shell(DESTROY),)),),
        ),
        Scenario(
            name="mcp", server=True,
            turns=(
                Turn(
                    prompt="What do we know?",
                    steps=(PAUSE, Step(tool=OURS, given={"search": OURS, "question": QUESTION, "query": QUESTION})),
                ),
            ),
        ),
        Scenario(name="project", scope="project", trigger=DESTROYED, at=1, turns=(CLEAN_UP,)),
        Scenario(name="untrusted", scope="project", trusted=False, trigger=DESTROYED, at=1, turns=(CLEAN_UP,)),
        Scenario(name="uninstall", removed=True, trigger=DESTROYED, turns=(CLEAN_UP,)),
    )
}  # fmt: skip
