"""Run the commands in the starter's documents, where that is safe, and record which ran and which did not.

    python tools/document_commands.py [--write] [DOCUMENT…]

The commands are those in shell blocks and in code spans that begin with a program. Each runs separately in a fresh copy
of a temporary scene (a repository with a remote, branches, tags and a stash, also clean, and in the middle of a merge
or a rebase; a SQLite database and dumps; a Django project, if there is Django; a Terraform folder without providers;
servers of PostgreSQL and Redis, if they are installed), without a network and with words in capitals filled in. A
command that needs a network, another system or rights over this machine is never started. Clients of clouds and
clusters are started only without network, permissions and account, so that they parse their command line and then give
up: that shows that the options are known, and no more. If a program answers that it does not know an option, the
document is wrong, and the exit code is 1.

`--write` records the results in tools/document_commands.tsv, and updates the line of each document that names what was
not run here. tests/starter/test_commands.py checks that both match the documents.
"""

# ruff: noqa: S103, S603, S607 - it starts the commands that documents name, within the bounds below

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deia.folders import STARTER
from deia.watch.shell.parse import parse_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from deia.watch.shell.nodes import Command

RECORD = Path(__file__).resolve().parent / "document_commands.tsv"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINE = re.compile(r"Commands checked against documentation, not run here: [^\n]*\.\n?")
SHELL = ("sh", "bash")
NEEDS_NETWORK = "needs a network or an account"
GONE = frozenset("http.server venv build COMMAND PROGRAM".split())
EXAMPLES = frozenset("COMMAND PROGRAM TOOL store-command fetch".split())  # names that stand for a program
SECONDS = 20
NEWLINE = "\u2424"  # how a command of several lines stands in one
HEADING = "document\tcommand\toutcome\tdetail\n"
RAN, REFUSED, READ, UNKNOWN, NOT_RUN = "ran", "refused", "read", "fault", "not run"

LOOKING = frozenset(
    "ls stat df du file cat head tail wc grep find namei realpath readlink ps lsof ss getent diff hostname".split()
)
TEXTS = frozenset(
    ": [ awk basename cd cut date dirname echo env exit export false iconv jq local printf pwd read realpath return "
    "set sha256sum shopt sort test tr true type uniq unset xargs timeout".split()
)
CHANGING = frozenset(
    "bash chmod cp gzip ln mkdir mktemp mv python python3 rm rmdir rsync sed sh tar tee touch truncate".split()
)
TOOLS = frozenset(
    "createdb dropdb git node npm openssl pg_dump pg_restore pip psql redis-cli sqlite3 terraform vacuumdb".split()
)
RUNNABLE = LOOKING | TEXTS | CHANGING | TOOLS
# Clients that do nothing without an account or a server: started where there is neither, to see that they know options.
CLIENTS = frozenset(
    "aws az dig docker drizzle-kit firebase gcloud gh gsutil helm heroku kubectl mongodump mongorestore mongosh mysql "
    "mysqldump netlify prisma pulumi rclone supabase twine vercel wrangler".split()
)
# Named in documents and not to be started here: they need an account, a network, another system, or for the machine.
NEVER = (
    frozenset(
        "alembic ansible ansible-inventory ansible-playbook apt-get brew cargo cdk certbot claude cmd codex "
        "crontab curl dd ddrescue diskutil dnf fly flyway gitleaks go "
        "hugo iptables journalctl kafka-topics.sh kill killall lsblk "
        "mount mysqlbinlog nc net netplan netsh netstat nft nginx npx nvm nats pacman passwd "
        "pg_amcheck pg_dumpall pgrep pipx pkill pnpm poetry powershell pre-commit promtool pwsh pytest "
        "rabbitmqctl railway rails reg robocopy rpm ruff salt scp sequelize-cli sgdisk shellcheck shutdown ssh "
        "ssh-add ssh-keygen sshd sudo systemctl taskkill testdisk timedatectl tmutil typeorm udisksctl "
        "ufw usermod uv visudo vssadmin whois wipefs yarn zypper".split()
    )
    | CLIENTS
)
# What the words in capitals stand for in the scene.
MEANT = {
    "BRANCH": "feature", "COMMIT": "HEAD~1", "SHA": "HEAD~1", "ID": "HEAD~1",
    "OLD": "HEAD~1", "NEW": "HEAD", "TAG": "v1.0",
    "FILE": "app.py", "FILES": "app.py", "PATH": "app.py", "PATHS": "app.py", "REMOTE": "origin", "NAME": "feature",
    "DIR": "src", "FOLDER": "src", "DB": "app.db", "DATABASE": "shop", "TABLE": "orders", "N": "3", "PORT": "8000",
    "MESSAGE": "message", "TEXT": "print", "URL": "../origin.git", "PID": "1", "SOURCE": "src", "TARGET": "copy",
    "REPO": "../origin.git", "HASH": "HEAD~1",
    "MERGE": "HEAD", "OTHERBRANCH": "feature", "ADDRESS": "terraform_data.main", "SRC": "src", "DST": "copy",
}  # fmt: skip
SAFE_ABSOLUTE = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr")
NETWORKED = re.compile(
    r"https?://|\bgit@|s_client|\bpip3? (?:install|download|index)|npm (?:publish|unpublish|install|ci|i\b|view|login|"
    r"deprecate|owner|access|audit|whoami|token|dist-tag|outdated|update|explain)|\bgh\b|--upgrade|"
    r"\bgit (?:lfs|filter-repo)|"
    r"\bpython3? -m (?:build|pip|twine)|git daemon"
)
MEANS_OPTION = re.compile(
    r"unknown (?:option|switch|flag|command|subcommand)|unrecognized (?:option|argument)|invalid option|illegal option|"
    r"is not a \w+ command|no such option|flag provided but not defined|syntax error near|command not found|"
    r"nonexistent flag|unrecognized command|invalid choice|unknown shorthand flag|no such command",
    re.IGNORECASE,
)
# What the clients that are common on a machine lack: plugins, and what came with a later version.
LACKING = re.compile(r"\bdocker (?:compose|buildx|build)\b|\bheroku builds:|\baws sso\b")
NO_SERVER = re.compile(
    r"connection to server|could not connect|Can't connect|Connection refused|Could not resolve", re.IGNORECASE
)
# Nobody's rights and no network, where this machine lets us.
ALONE = ("unshare", "--net", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SCENE = r"""
git init -q --bare origin.git -b main
git init -q work -b main && cd work
git config user.name A && git config user.email a@example.com && git remote add origin ../origin.git
mkdir -p src tests docs && printf 'print(1)\n' > app.py && printf 'x\n' > src/a.txt && printf 'KEY=1\n' > .env
printf 'import app\n' > tests/test_app.py && printf '.env\n' > .gitignore && printf '# T\n' > README.md
printf '{"name":"shop","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"shop"}}}' > package-lock.json
printf '{"name":"shop","version":"1.0.0"}' > package.json
git add . && git commit -qm one && printf 'print(2)\n' > app.py && git commit -qam two
git push -q -u origin main && git tag v1.0 && git push -q origin v1.0
git switch -qc feature && printf 'y\n' > src/b.txt && git add . && git commit -qm three && git push -q -u origin feature
git switch -q main && printf 'print(3)\n' > app.py && git stash -q && printf 'print(4)\n' > app.py
printf '37\n38\n' > ids.txt && cp app.py app.py.bak
git tag v1.2.0 HEAD~1 && git branch -q fix HEAD~1 && git push -q origin feature:rescue-main && git fetch -q
sqlite3 app.db 'create table orders(id integer primary key, at text); insert into orders(at) values (1)'
printf 'resource "terraform_data" "main" {\n  input = 1\n}\n' > main.tf
mkdir -p copy target storage/app data old new source .github/workflows images
printf 'x\n' > storage/app/a
printf 'x\n' > old/a && printf 'x\n' > source/a && printf 'x\n' > data/a && printf 'x\n' > a.png
printf '22\n' > .nvmrc
printf 'on: push\njobs: {}\n' > .github/workflows/ci.yml && printf 'KEY=\n' > .env.example && printf 'x\n' > dump.bin
printf 'CREATE DATABASE shop;\nDROP TABLE x;\n' > shop.sql && printf -- '-- dump\n' > dump.sql && cp shop.sql backup.sql
printf 'echo ok\n' > script.sh && cp script.sh install.sh && cp script.sh script && printf 'a\n' > A && printf 'b\n' > B
printf '{"Variables": {}}' > env.before.json && printf 'caf\351\n' > export.csv && printf '\377\376a\000' > notes.txt
printf '0 2 * * * true\n' > crontab.before && cp crontab.before crontab.new && printf 'x\n' > nul && printf 'x\n' > X
printf '{"name":"shop","version":"1.0.0","scripts":{"build":"true","test":"true"}}' > package.json
git clone -q --mirror ../origin.git backup.git && git clone -q ../origin.git path
if [ -n "$PGHOST" ]; then pg_dump --format=custom --file=shop.dump shop; fi
if command -v terraform > /dev/null; then
  terraform init && terraform apply -auto-approve && terraform plan -out tfplan &&
    terraform plan -destroy -out destroy.tfplan && cp terraform.tfstate backup.tfstate
fi
if command -v django-admin > /dev/null; then mkdir django && (cd django && django-admin startproject shop .) &&
  cp -r django/shop shop && cp django/manage.py manage.py; fi
"""
# The same scene in the states that other commands are for; the first in which a command runs counts.
STATES = {
    "": ":",
    "clean": "git add -A && git commit -qm all",
    "tracked": "git add -f .env dump.bin app.py && git commit -qm tracked && printf 'y\n' >> dump.bin",
    "staged": "git add -f dump.bin src .env && printf 'z\n' > src/cart.py && git add src",
    "merging": "git add -A && git commit -qm mine && git switch -qc theirs HEAD~1 && printf 'print(9)\n' > app.py && "
    "git commit -qam theirs && git switch -q main && ! git merge -q theirs",
    "rebasing": "git add -A && git commit -qm mine && git switch -qc theirs HEAD~1 && printf 'print(9)\n' > app.py && "
    "git commit -qam theirs && ! git rebase -q main",
    "merged": "git add -A && git commit -qm mine && git merge -q --no-ff -m merge feature",
    "shallow": "cd .. && mv work full && git clone -q --depth 1 file://$PWD/origin.git work",
}


class Named(NamedTuple):
    """A command as a document names it."""

    document: str
    command: str


class Happened(NamedTuple):
    """What happened to a command."""

    named: Named
    outcome: str
    detail: str = ""


def programs(command: str) -> list[str]:
    """Return the programs that a command line would start, in order."""
    return [one.program for one in parse_commands(command) if one.program]


def named_commands(document: str, text: str) -> Iterator[Named]:
    """Yield every command of a document: of its shell blocks, and the code spans that begin with a known program."""
    for language, block in FENCE.findall(text):
        if language in SHELL:
            yield from (Named(document, line) for line in block_lines(block))
    for span in SPAN.findall(FENCE.sub("", text)):
        first = span.split()[0] if span.split() else ""
        if " " in span.strip() and first in RUNNABLE | NEVER and "…" not in span:
            yield Named(document, span.strip())


def block_lines(block: str) -> list[str]:
    """Cut a block into parts that can run alone: its lines, with continued ones joined; or the whole if it branches."""
    lines: list[str] = []
    for line in block.replace("\\\n", " ").splitlines():
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if lines and (re.search(r"(?:\||&&|\bdo|\bthen|\{|\()\s*$", lines[-1]) or _open(lines[-1])):
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return [line.strip() for line in lines]


def _open(text: str) -> bool:
    """Return whether a construct or a quotation is not closed yet."""
    words = re.findall(r"\b(?:for|while|until|if|case|done|fi|esac)\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", text))
    depth = sum(1 if word in {"for", "while", "until", "if", "case"} else -1 for word in words)
    here = re.search(r"<<-?\s*['\"]?(\w+)", text)
    unended = bool(here) and not re.search(rf"^{here[1]}$", text, re.MULTILINE) if here else False
    return depth > 0 or unended


def why_not(command: str) -> str:
    """Return why a command is not started here; nothing if it may be."""
    called = [name for name in programs(command) if f"-m {name}" not in command]
    stopped = [name for name in called if name not in RUNNABLE]
    if stopped or not called:
        return f"{stopped[0]} is not started here" if stopped else "no program"
    missing = [name for name in called if not shutil.which(name) and name not in TEXTS]
    if missing:
        return f"{missing[0]} is not installed here"
    if re.search(r"\bsudo\b", command):
        return "asks for rights over the machine"
    if NETWORKED.search(re.sub(r"\s#\s.*", "", command)):
        return NEEDS_NETWORK
    if any(leaves_scene(one) for one in parse_commands(command)):
        return "could reach beyond the scene"
    return ""


def leaves_scene(command: Command) -> bool:
    """Return whether a command could touch anything outside the scene: by an absolute path, its home, or a variable."""
    words = [*command.arguments, *(target for _, target in command.redirects)]
    if any(word.startswith(("/", "~", "$HOME", "${HOME")) and word not in SAFE_ABSOLUTE for word in words):
        return command.program not in LOOKING or bool({"-delete", "-exec", "-execdir"} & set(words))
    changes = command.program in CHANGING or "-delete" in words or "-exec" in words
    return changes and any("$" in word or ".." in word or "{}" in word for word in words)


def filled(command: str) -> str:
    """Replace the words in capitals by what is in the scene."""
    return re.sub(r"(?<![\w$({/.-])[A-Z]+(?![\w=])", lambda word: MEANT.get(word[0], word[0]), command)


def run(named: Named, scenes: Mapping[str, str], environ: Mapping[str, str]) -> Happened:
    """Run a command in a fresh copy of the scene in each of its states until it runs, if it may be run."""
    called = programs(named.command)
    client = next((name for name in called if name in CLIENTS), "")
    reason = why_not(named.command) if not client else why_not_read(named.command, client, environ)
    if reason:
        return Happened(named, NOT_RUN, reason)
    if client:
        return _read(named, scenes[""], environ)
    tried: list[Happened] = []
    for scene in scenes.values():
        tried.append(_run_in(named, scene, environ))
        if tried[-1].outcome != REFUSED:
            break
    return tried[-1] if tried[-1].outcome == RAN else tried[0]


def why_not_read(command: str, client: str, environ: Mapping[str, str]) -> str:
    """Return why a client is not started to parse its command line; nothing if it may be: alone, with nothing else."""
    if not environ.get("ALONE"):
        return f"{client} is not started where there is a network"
    if any(name not in CLIENTS | TEXTS | LOOKING for name in programs(command)) or re.search(r"\bsudo\b", command):
        return "more than a client would be started"
    if any(leaves_scene(one) for one in parse_commands(command) if one.program not in CLIENTS):
        return "could reach beyond the scene"
    if LACKING.search(command):
        return "needs a plugin or a later version of the client"
    return "" if shutil.which(client, path=environ["PATH"]) else f"{client} is not installed here"


def _read(named: Named, scene: str, environ: Mapping[str, str]) -> Happened:
    """Start a client without network, permissions and account; its output shows whether it knows its options."""
    code, told, folder = _started(named.command, scene, environ)
    first = _first_line(told, folder)
    if code is None:
        return Happened(named, NOT_RUN, f"did not end within {SECONDS} s")
    if MEANS_OPTION.search(told):
        return Happened(named, UNKNOWN, next(line for line in told.splitlines() if MEANS_OPTION.search(line))[:120])
    return Happened(named, READ if not code or first else NOT_RUN, first)


def _run_in(named: Named, scene: str, environ: Mapping[str, str]) -> Happened:
    code, told, folder = _started(named.command, scene, environ)
    if code is None:
        return Happened(named, NOT_RUN, f"did not end within {SECONDS} s")
    if not code or not told:
        return Happened(named, RAN)
    if NO_SERVER.search(told):
        return Happened(named, NOT_RUN, "no server of it here")
    return Happened(named, UNKNOWN if MEANS_OPTION.search(told) else REFUSED, _first_line(told, folder))


def _started(command: str, scene: str, environ: Mapping[str, str]) -> tuple[int | None, str, str]:
    """Start a command in a fresh copy of a scene; return its exit code, None if it took too long, and its output."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shutil.copytree(scene, os.path.join(folder, "scene"), symlinks=True)
        if environ.get("ALONE"):
            subprocess.run(["chown", "-R", "65534:65534", folder], check=True)
        shell = [*(ALONE if environ.get("ALONE") else ()), "bash", "-c", filled(command)]
        try:
            done = subprocess.run(
                shell, cwd=os.path.join(folder, "scene", "work"), env={**environ, "HOME": folder},
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, "", folder
        return done.returncode, done.stderr.decode("utf-8", "replace"), folder


def _first_line(told: str, folder: str) -> str:
    lines = [line for line in re.sub(r"\x1b\[\d*m|[│╷╵]", "", told).splitlines() if line.strip()]
    return lines[0].replace("\t", " ").replace(folder, "").strip()[:120] if lines else ""


def environment(root: str) -> dict[str, str]:
    """Return an environment without anything of the person's own."""
    mine = os.path.join(root, "bin")
    os.mkdir(mine)
    os.chmod(root, 0o755)
    outside_home = [each for each in os.environ["PATH"].split(os.pathsep) if not each.startswith(str(Path.home()))]
    caller = Path(mine) / "python"  # a link would not find the packages beside what it leads to
    caller.write_text(
        f'#!/bin/sh\nexec {shutil.which("python3", path=os.pathsep.join(outside_home)) or sys.executable} "$@"\n'
    )
    caller.chmod(0o755)
    bare = {
        "PATH": os.pathsep.join([mine, *outside_home]),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    # Nothing that a client could reach: no socket, no cluster, no account, and no question about usage data.
    bare |= {"DOCKER_HOST": "tcp://127.0.0.1:1", "KUBECONFIG": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true"}
    bare |= {"AWS_DEFAULT_REGION": "eu-central-1", "DO_NOT_TRACK": "1", "CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "CI": "1"}
    bare |= {"EDITOR": "true", "GIT_EDITOR": "true", "PAGER": "cat", "HOME": root, "TF_IN_AUTOMATION": "1"}
    if shutil.which("unshare") and not subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        bare["ALONE"] = "1"
    return bare


def made_scenes(root: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Make the scene in each of its states; return their folders."""
    folders = {}
    for state, change in STATES.items():
        folders[state] = os.path.join(root, f"scene-{state}")
        os.mkdir(folders[state])
        made = f"{SCENE}\n{change}"
        subprocess.run(["bash", "-ec", made], cwd=folders[state], env=environ, check=True, capture_output=True)
    return folders


def serve(root: str, environ: dict[str, str]) -> Callable[[], None]:
    """Start the servers that are installed, in the folder and for it alone; return what stops them again."""
    ends: list[list[str]] = []
    who = ALONE[2:] if environ.get("ALONE") else ()
    found = [
        *sorted(Path("/usr/lib/postgresql").glob("*/bin")),
        *[Path(each).parent for each in (shutil.which("initdb"),) if each],
    ]
    data, place = os.path.join(root, "data"), os.path.join(root, "sockets")
    os.mkdir(place)
    if who:
        subprocess.run(["chown", "65534:65534", root, place], check=True)
    if found:
        control = [*who, str(found[0] / "pg_ctl"), "-D", data, "-w", "-s"]
        options = f"-k {place} -c listen_addresses=''"
        subprocess.run(
            [*who, str(found[0] / "initdb"), "-D", data, "-U", "shop", "-A", "trust"],
            env=environ,
            check=True,
            capture_output=True,
        )
        subprocess.run([*control, "-o", options, "-l", os.path.join(root, "log"), "start"], env=environ, check=True)
        environ |= {"PGHOST": place, "PGUSER": "shop", "PGDATABASE": "shop"}
        subprocess.run([*who, str(found[0] / "createdb")], env=environ, check=True)
        ends.append([*control, "-m", "immediate", "stop"])
    if shutil.which("redis-server"):
        socket = os.path.join(place, "redis")
        command = [*who, "redis-server", "--port", "0", "--unixsocket", socket, "--daemonize", "yes", "--dir", place]
        subprocess.run(command, env=environ, check=True, capture_output=True)
        caller = os.path.join(root, "bin", "redis-cli")
        Path(caller).write_text(f'#!/bin/sh\nexec {shutil.which("redis-cli")} -s {socket} "$@"\n', encoding="utf-8")
        os.chmod(caller, 0o755)
        ends.append([caller, "shutdown", "nosave"])
    return partial(_stop, ends, environ)


def _stop(ends: Sequence[Sequence[str]], environ: Mapping[str, str]) -> None:
    for end in ends:
        subprocess.run(end, env=environ, check=False, capture_output=True)


def not_run_programs(happened: Sequence[Happened], *, before: Sequence[str] = ()) -> list[str]:
    """Return what a document must list as not run: a program, or its sub-command if the program itself did run.

    What the document named `before` stays, unless it ran.
    """
    idle = (NOT_RUN, READ)
    began = {name for each in happened if each.outcome not in idle for name in programs(each.named.command)[:1]}
    names: dict[str, None] = {}
    for each in happened:
        if each.outcome in idle:
            names |= dict.fromkeys(_culprits(each, began))
    kept = [name for name in before if name not in began | GONE]
    return sorted({*names, *kept})


def _culprits(each: Happened, began: Collection[str]) -> list[str]:
    words = each.named.command.split()
    called = [
        name
        for name in programs(each.named.command)
        if name in words and name not in EXAMPLES and f"-m {name}" not in each.named.command
    ]
    foreign = [name for name in called if name not in RUNNABLE]
    if foreign or not called:
        return foreign
    name = called[0]
    if name not in began and name in TOOLS:
        return [name]
    if each.detail != NEEDS_NETWORK or name not in TOOLS:
        return []  # the program did run, only not there
    pairs = [f"{one} {other}" for one, other in pairwise(words) if one in TOOLS]
    return [pair for pair in pairs if NETWORKED.search(pair) and pair.replace(" ", "").replace("-", "").isalpha()]


def line_of(names: Sequence[str]) -> str:
    """Return the line with which a document says so."""
    return f"Commands checked against documentation, not run here: {', '.join(names)}.\n" if names else ""


def said_before(text: str) -> list[str]:
    """Return what a document's line names."""
    said = LINE.search(text)
    return said[0].split(": ", 1)[1].strip().removesuffix(".").split(", ") if said else []


def with_line(text: str, names: Sequence[str]) -> str:
    """Return a document's text with its line brought up to date."""
    line = line_of(names)
    if LINE.search(text):
        changed = LINE.sub(lambda _: line, text)
        return changed if line else changed.rstrip() + "\n"
    return text.rstrip() + f"\n\n{line}" if line else text


def documents() -> dict[str, str]:
    """Return the starter's documents by their path."""
    root = Path(STARTER)
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / "bok").rglob("*.md"))
    }


def read_record() -> list[Happened]:
    """Return the record."""
    rows = [line.split("\t") for line in RECORD.read_text(encoding="utf-8").splitlines()[1:]]
    return [Happened(Named(row[0], row[1].replace(NEWLINE, "\n")), row[2], row[3]) for row in rows]


def write(found: Mapping[str, list[Happened]], texts: Mapping[str, str]) -> None:
    """Keep what happened, and bring the documents' lines up to date."""
    kept = [each for each in (read_record() if RECORD.exists() else []) if each.named.document not in found]
    every = sorted([*kept, *(each for group in found.values() for each in group)])
    rows = [
        f"{each.named.document}\t{each.named.command.replace(chr(10), NEWLINE)}\t{each.outcome}\t{each.detail}\n"
        for each in every
        if each.named.document in texts
    ]
    RECORD.write_text(HEADING + "".join(rows), encoding="utf-8")
    for name, group in found.items():
        changed = with_line(texts[name], not_run_programs(group, before=said_before(texts[name])))
        if changed != texts[name]:
            (Path(STARTER) / name).write_text(changed, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the commands of all documents, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers are stopped
    texts = documents()
    chosen = {name: text for name, text in texts.items() if not given.documents or name in given.documents}
    found: dict[str, list[Happened]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        environ = environment(root)
        stop = serve(root, environ)
        try:
            scenes = made_scenes(root, environ)
            for name, text in chosen.items():
                once = dict.fromkeys(named_commands(name, text))
                found[name] = [run(named, scenes, environ) for named in once]
        finally:
            stop()
    every = [each for group in found.values() for each in group]
    for each in every:
        if each.outcome == UNKNOWN:
            print(f"{each.named.document}: {each.named.command}\n  {each.detail}")
    outcomes = (RAN, REFUSED, READ, UNKNOWN, NOT_RUN)
    counts = {outcome: sum(each.outcome == outcome for each in every) for outcome in outcomes}
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    if given.write:
        write(found, texts)
    return int(bool(counts[UNKNOWN]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
