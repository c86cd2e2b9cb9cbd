"""Write docs/HOSTS.md and the pages in docs/hosts/ from the hosts' own tables, or check that they are up to date.

    python docs/make_hosts.py           writes the files
    python docs/make_hosts.py --check   exits with 1 if one differs in more than line breaks

Each host's module in deia/serve/hosts/ says what it carries, deia/serve/setup/host_settings/hosts.toml says how to
connect it, and docs/hosts/runs what runs in real hosts showed; nothing is added here.
"""
# ruff: noqa: INP001 - a script beside the documents, not a package

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from host_runs import (
    BEHAVIOURS,
    COSTS,
    NOT_SEEN,
    behaviour_cell,
    costs,
    runs_of,
    seen_cell,
    unseen,
    why_not,
)  # fmt: skip

from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts.event import BEFORE
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.host_settings.command import CMD
from deia.serve.setup.host_settings.hook_file import entry_of, file_text, with_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PLUGIN, SCRIPT, SETUPS, USER
from deia.serve.setup.host_settings.launcher import NAME, launched_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.serve.setup.host_settings.hosts_table import Place, Setup

PAGE = Path(__file__).resolve().parent / "HOSTS.md"
FOLDER = PAGE.with_name("hosts")
# An example machine: `deia install` writes the paths of its own interpreter and hook.
HOME = {"HOME": "/home/you"}
DIRECT = ("/usr/bin/python3.13", "-I", "-S", "/usr/lib/python3.13/site-packages/deia/serve/hook.py")
WINDOWS = (
    "C:\\Program Files\\Python313\\python.exe",
    "-I",
    "-S",
    "C:\\Users\\you\\AppData\\Local\\deia\\deia-hook.py",
)
IN_TIME, LATER, NEVER = "✓", "✓ late", "✗"
MOMENTS = ("prompt", "before_tool", "after_tool", "tool_error", "stop", "session")
FORMS = {
    "prompt": ("context", "note"),
    "before_tool": ("context", "hold", "ask", "note"),
    "after_tool": ("context", "note"),
    "tool_error": ("context", "note"),
    "stop": ("context",),
    "session": ("context", "note"),
}
LEGEND = "✓ before the act that it is about, ✓ late with its result or at the next moment that carries it, ✗ never."
BEHAVIOUR_HEAD = """\
What else was tried in these versions. "Untrusted folder" says whether the hooks of a project run where nobody has said
that the folder is trusted; "not seen" has its reason in the host's section.\
"""
COST_HEAD = """\
What deia adds to a call of a tool in the real host, which is two events: the time from the model's answer to the host's
next request, median of 20 calls, beside the same calls without deia, one run after the other on the same machine.\
"""
HEAD = """\
# The hosts

Written by `python3 do.py docs` from the tables in `deia/serve/hosts/`; change it there.

Every host runs the same hook with its event on standard input. Its command starts the *launcher*, `deia-hook` in the
state folder (`~/.local/state/deia`), which starts `python -I -S …/deia/serve/hook.py HOST`; see
[below](#when-deia-is-gone).
`deia install HOST…` enters it, `deia uninstall HOST…` removes it, `deia install --list` shows which hosts are here,
and `deia doctor` runs what is installed as the host would. `deia doctor --live HOST` runs the
host itself once, in a home folder of its own, against a scripted model on this machine, and says what reached that.
With `--json`, `deia install --list` and `deia doctor` report to programs
([schema/hosts.schema.json](schema/hosts.schema.json), [schema/doctor.schema.json](schema/doctor.schema.json)).
OpenCode and Amp run plugins in their own process; for them, deia installs one that starts the hook.

The first table shows what the model reads (context, hold) and what the person reads (ask, note) at each moment:
✓ before the act that it is about, ✓ late with that act's result or at the next moment that carries it, ✗ never, for a
reason that stands in the host's section. "Seen in" a version means that the host's own program was run without a
person, in a fresh home folder and repository, against a scripted model on loopback, and that the model read it, or the
program showed it; "by contract only" means that the host's documents say so and no run backs it. `python3 do.py hosts
--all` repeats the runs; what they showed is kept in [hosts/runs](hosts/runs).

- A trigger's `hold` blocks the call once, with its reason; repeating it goes through, and another call is held for
  itself. If a host has no questions, `ask` becomes a hold, whose reason the model can put to the person.
- What is recognised at a moment that carries nothing waits for the next one that does. Until then, a call that it is
  about is held, so that nothing dangerous runs before the model has read about it.
- Hosts that support only a hold (Windsurf, Kiro) get exit code 2, with the reason on standard error. There, what a
  prompt or a result brought up is said when a call does what it is about, if its trigger holds or asks; otherwise it
  is not said. Every other answer to every host has exit code 0.
- An event that arrives twice, because a host also runs another's hooks (Cursor and Copilot run Claude Code's), is
  judged once.
"""


FAILING = """\
## When deia is gone

Some hosts stop a call if its hook fails, or cannot open a file. So no installed command starts deia or Python itself.
It asks a shell to run the launcher if that is there, and the launcher exits with 0 whatever happens: if the package
was removed or moved, its Python is gone or does not start, or an upgrade stopped halfway. It then says what is wrong
and how to mend it, once for each host until the hook works again. Two exit codes are passed on: 0, and the hold of
Windsurf and Kiro. Compiled files of another version and a full disk are dealt with by the hook itself: it compiles
anew, and holds no call if it cannot remember that it did.

Each cell is a test in `tests/serve/setup/test_fail_open.py`, which breaks an installation and runs its command as the
host does. Hooks that earlier versions entered work as before; `deia install HOST` moves them to the launcher, and
`deia doctor` says which need that.

On Windows nothing of this was run. There, hosts start Python with a launcher written in Python, which is tested on
Linux; if Python itself is gone, the host says so, and Copilot may stop calls until
`%USERPROFILE%\\.copilot\\hooks\\deia-copilot.json` is removed.
"""
BREAKAGES = ("package gone", "Python gone or broken", "half upgraded", "compiled by a newer version", "disk full")
SAID = {"systemMessage": "in the session", "contextModification": "to the model"}


def cell(host: str, moment: str, form: str) -> str:
    """Return when a form at a moment reaches the model or the person, and what shows it."""
    return seen_cell(host, label(moment, form), by_contract(host, moment, form))


def by_contract(host: str, moment: str, form: str) -> str:
    """Return when a form at a moment reaches the model or the person by the host's documents."""
    carries = host_module(host).CARRIES
    when = carries.get(moment, {}).get(form)
    if when is not None:
        return IN_TIME if when == BEFORE else LATER
    waits = form == "context" and moment != "session" and any("context" in forms for forms in carries.values())
    return LATER if waits and is_watched(host, moment) else NEVER


def is_watched(host: str, moment: str) -> bool:
    """Return whether a host has an event for a moment."""
    return sample(host, Happening(moment=moment)) is not None


def columns() -> Iterator[tuple[str, str]]:
    """Yield every moment with every form that makes sense there."""
    for moment in MOMENTS:
        for form in FORMS[moment]:
            yield moment, form


def rows() -> Iterator[tuple[str, list[str]]]:
    """Yield every host with its cells."""
    for host in HOSTS:
        yield host, [cell(host, moment, form) for moment, form in columns()]


def page() -> str:
    """Return the page about all hosts."""
    moments = [label(moment, form) for moment, form in columns()]
    tables = [
        *table(["host", *moments], [[link(host), *cells] for host, cells in rows()]),
        "", BEHAVIOUR_HEAD, "", *table(["host", *BEHAVIOURS], [behaviours(host) for host in tried()]),
        "", COST_HEAD, "", *table(["host", *COSTS], [[link(host), *costs(host)] for host in tried() if costs(host)]),
    ]  # fmt: skip
    sections = (f"## {host}\n\n{about(host)}\n" for host in HOSTS)
    return "\n".join([HEAD, *tables, "", *failing(), "", *sections])


def failing() -> Iterator[str]:
    """Yield what each host gets to see when deia does not work."""
    yield FAILING
    yield f"| host | {' | '.join(BREAKAGES)} | where it is said |"
    yield "|---|" + "---|" * (len(BREAKAGES) + 1)
    for setup in SETUPS:
        said = (
            "by `deia doctor` alone" if setup.shape == PLUGIN else SAID.get(setup.tells, "in the host's log of hooks")
        )
        cells = [*["goes on, said once"] * 3, *["goes on"] * 2]
        yield f"| [`{setup.host}`](hosts/{setup.host}.md) | {' | '.join(cells)} | {said} |"


def table(names: list[str], lines: list[list[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(line)} |" for line in (names, ["---"] * len(names), *lines)]


def label(moment: str, form: str) -> str:
    """Return what people read for a moment and a form."""
    return f"{moment}: {form}".replace("_", " ")


def link(host: str) -> str:
    """Return a host's name with its page."""
    return f"[`{host}`](hosts/{host}.md)"


def tried() -> list[str]:
    """Return the hosts that were run."""
    return [host for host in HOSTS if runs_of(host)]


def behaviours(host: str) -> list[str]:
    """Return the line of a host about everything besides the moments."""
    return [f"{link(host)} {runs_of(host)['version']}", *(behaviour_cell(host, name) for name in BEHAVIOURS)]


def about(host: str) -> str:
    """Return what a host's module says about it, what no run backs, and why something does not work, as Markdown."""
    return "\n\n".join([(host_module(host).__doc__ or "").strip(), backing(host), *missing(host)]).strip()


def backing(host: str) -> str:
    """Return what stands behind the claims about a host."""
    runs = runs_of(host)
    if runs:
        return f"Run in version {runs['version']} on {runs['day']}, with deia {runs['deia']}."
    return why_not(host, "run") or "No run backs any of this: it is what the host's documents say."


def missing(host: str) -> list[str]:
    """Return why something does not work in a host, one line for each ✗ that has a reason of its own."""
    cells = {label(moment, form): cell(host, moment, form) for moment, form in columns()}
    cells |= {name: behaviour_cell(host, name) for name in BEHAVIOURS if runs_of(host)}
    why: dict[str, list[str]] = {}
    for name, text in cells.items():
        if text.startswith("✗") or text == NOT_SEEN:
            why.setdefault(why_not(host, name) or unseen(host, name), []).append(name)
    return ["\n".join(f"- {', '.join(names)}: {reason}" for reason, names in why.items())] if why else []


def host_page(host: str) -> str:
    """Return the page about one host."""
    setup = BY_NAME.get(host)
    title = setup.title if setup else "A host of one's own"
    parts = [f"# {title}", "Written by `python3 do.py docs` from the tables in `deia/serve/hosts/`; change it there."]
    parts += [about(host), *(connecting(setup) if setup else standing_alone()), "## What is carried, and when"]
    parts += [carried(host), *(rest(setup) if setup else [])]
    return "\n\n".join(parts) + "\n"


def connecting(setup: Setup) -> Iterator[str]:
    """Yield how a host is connected, with exactly the settings that `deia install` writes."""
    yield "## Connect it"
    yield fence("sh", f"deia install {setup.host} --dry-run\ndeia install {setup.host}\ndeia doctor")
    table = ["| scope | file |", "|---|---|"]
    table += [f"| `--{scope}` | {named(setup, place, scope)} |" for scope, place in setup.places.items()]
    yield "\n".join(table)
    yield f"`deia uninstall {setup.host}` removes it again. {setup.after.rstrip('.')}."
    yield "## What it writes"
    yield from written(setup)


def named(setup: Setup, place: Place, scope: str) -> str:
    """Return the file of a scope, and what moves it."""
    file = "EVENT" if setup.shape == SCRIPT else place.file
    told = [f"`{'~/' if scope == USER else ''}{place.folder}/{file}`"]
    told += ["one file for each event"] if setup.shape == SCRIPT else []
    told += [f"`{place.before}` beside it if there is one"] if place.before else []
    told += [f"`{place.new}` if there is none"] if place.new else []
    told += [f"also `{'~/' if scope == USER else ''}{place.also}/{file}`"] if place.also else []
    told += [f"moved by `{variable}`" for variable in place.variables]
    return "; ".join(told)


def written(setup: Setup) -> Iterator[str]:
    """Yield the settings on Linux and macOS and on Windows, with the paths of the example machine."""
    command, elsewhere = launched_command("", setup.host, environ=HOME), [*WINDOWS, setup.host]
    if setup.shape == PLUGIN:
        own = next(line for line in file_text(setup, "", command).split("\n") if NAME in line and "return" in line)
        yield f"The plugin `deia/serve/hosts/plugins/{setup.host}.ts`, in which one line names the command:"
        yield fence("js", own.strip())
    elif setup.shape == SCRIPT:
        yield f"One executable for each of {', '.join(setup.events)}:"
        yield fence("sh", file_text(setup, "", command).rstrip())
        yield "On Windows their names end in `.ps1`:"
        yield fence("powershell", file_text(setup, ".ps1", elsewhere).rstrip())
    else:
        yield fence("json", with_hooks("", setup, command, path="", windows=False).rstrip())
        event = next(iter(setup.events))
        entry = entry_of(setup, event, elsewhere, windows=True)
        bare = "; the plain command line if no path contains a space" if setup.windows == CMD else ""
        yield f"On Windows, for instance for {event}{bare}:"
        yield fence("json", json.dumps(entry, indent=2))


def standing_alone() -> Iterator[str]:
    """Yield how a bot of one's own runs the hook."""
    yield "## Connect it"
    yield "Start this for every event, with the event on its standard input; there is nothing to install."
    yield fence("sh", " ".join((*DIRECT, "generic")))


def carried(host: str) -> str:
    """Return the table of a host's moments."""
    forms = ("context", "hold", "ask", "note")
    table = ["| moment | " + " | ".join(forms) + " |", "|---|" + "---|" * len(forms)]
    for moment in MOMENTS:
        cells = [cell(host, moment, form) if form in FORMS[moment] else "" for form in forms]
        table.append(f"| {moment.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join([*table, "", LEGEND])


def rest(setup: Setup) -> Iterator[str]:
    """Yield what a host cannot do and its pitfalls."""
    yield "## Limits and traps"
    yield "\n".join(f"- {limit}" for limit in setup.limits)
    yield f"Source, read in the second half of 2026: {setup.source}."


def fence(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"


def pages() -> dict[Path, str]:
    """Return every file with its text."""
    return {PAGE: page(), **{FOLDER / f"{host}.md": host_page(host) for host in HOSTS}}


def is_current(place: Path, text: str) -> bool:
    """Return whether a file is what it should be, apart from line breaks."""
    return place.is_file() and place.read_text(encoding="utf-8").split() == text.split()


def main() -> int:
    """Write the pages or check them; return the exit code."""
    if sys.argv[1:] == ["--check"]:
        return int(not all(is_current(place, text) for place, text in pages().items()))
    FOLDER.mkdir(exist_ok=True)
    for place, text in pages().items():
        place.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
