"""Write docs/HOSTS.md from the hosts' own tables, or say whether it is up to date.

    python docs/make_hosts.py           writes the file
    python docs/make_hosts.py --check   exits with 1 where it differs, in anything but line breaks

What a host carries stands in its module in deia/serve/hosts/; nothing here adds to it.
"""
# ruff: noqa: INP001 - a script beside the documents, not a package

from __future__ import annotations

import sys
from pathlib import Path

from deia.serve.hook_run import HOSTS, host_module
from deia.serve.hosts.matrix import columns, rows

PAGE = Path(__file__).resolve().parent / "HOSTS.md"
HEAD = """\
# The hosts

Written by `python3 do.py docs` from the tables in `deia/serve/hosts/`; change it there.

Every host runs the same hook, `python -I -S …/deia/serve/hook.py HOST`, with its event on standard input.
`deia install` enters it for Claude Code; elsewhere it is entered by hand, in the place that the host's own documents
name. For OpenCode and Amp, whose plugins run in the host, `deia/serve/hosts/plugins/` holds one that starts it.

The table says what the model reads (context, hold) and what the person reads (ask, note), at which moment: ✓ before the
act that it is about, ✓ late with that act's result or at the next moment that carries it, ✗ never.

- A trigger's `hold` stops the call once, with its reason; the same call passes when it is made again. Where a host
  knows no question, `ask` becomes a hold, whose reason the model can put to the person.
- What is recognised at a moment that carries nothing waits for the next one that does. Until then a call that it is
  about is held, so that nothing dangerous runs before the model has read of it.
- A host that knows nothing but a hold (Windsurf, Kiro) says it by exit code 2 with the reason on standard error. What
  a prompt or a result brought up there holds the next call, if its trigger holds or asks; else it is not said. Every
  other answer of every host comes with exit code 0.
- An event that arrives twice, since a host runs another's hooks besides its own (Cursor and Copilot run Claude Code's),
  is judged once.
"""


def page() -> str:
    """Give the whole page."""
    named = [f"{moment}: {form}".replace("_", " ") for moment, form in columns()]
    table = ["| host | " + " | ".join(named) + " |", "|---|" + "---|" * len(named)]
    table += [f"| `{host}` | " + " | ".join(cells) + " |" for host, cells in rows()]
    return "\n".join([HEAD, *table, "", *(f"## {host}\n\n{about(host)}\n" for host in HOSTS)])


def about(host: str) -> str:
    """Give what a host's module says of it, as Markdown."""
    return (host_module(host).__doc__ or "").strip()


def main() -> int:
    """Write the page or check it; give the exit code."""
    if sys.argv[1:] == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8").split() != page().split())
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
