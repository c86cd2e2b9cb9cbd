"""Command lines typed instead of a question: the program, its sub-commands, and the arguments worth searching for.

Common programs are known by name. Lines are not parsed as a shell would: what matters is what the line is about, and
values that occur in this one line only (hashes, addresses, long numbers) are left out.
"""

from __future__ import annotations

from deia.match.tokeniser import STOP_WORDS
from deia.records import Record
from deia.search.question.error_text import cleaned, varies

LONGEST = 2_000  # characters of a command line
MOST_WORDS = 60
MARKS = ("|", "&&", "||", ";", ">", "<", ">>", "2>&1", "\\", "&")
BEFORE = frozenset("sudo doas time nohup nice env command exec npx bunx pnpx uvx watch xargs".split())
PROGRAMS = frozenset(
    """
    git gh glab hub svn hg docker podman docker-compose kubectl helm kustomize k9s minikube kind oc istioctl argocd flux
    terraform tofu terragrunt pulumi ansible ansible-playbook packer vault consul nomad aws gcloud gsutil az eksctl
    doctl flyctl fly heroku netlify vercel wrangler firebase supabase railway npm pnpm yarn bun node deno npx tsc eslint
    prettier jest vitest webpack vite next nx turbo pip pip3 pipenv poetry uv python python3 pytest ruff mypy black tox
    conda cargo rustc rustup go gofmt java javac mvn gradle sbt dotnet nuget ruby gem bundle rails rake php composer
    artisan perl make cmake ninja bazel gcc g++ clang psql pg_dump pg_restore createdb dropdb mysql mysqldump mongo
    mongosh mongodump redis-cli sqlite3 sqlcmd cqlsh clickhouse-client duckdb prisma alembic flyway liquibase rm cp mv
    ls cd mkdir rmdir chmod chown ln touch cat head tail less grep rg egrep sed awk cut tr sort uniq wc find fd xargs
    tar zip unzip gzip gunzip dd mkfs fdisk parted mount umount df du free top htop ps kill killall pkill systemctl
    service journalctl crontab curl wget ssh scp sftp rsync nc netstat ss dig nslookup ping traceroute ip ifconfig
    iptables ufw nginx apachectl certbot openssl gpg apt apt-get dpkg yum dnf rpm apk pacman brew choco winget snap bash
    sh zsh pwsh powershell echo export source tee truncate shred rclone restic borg etcdctl kafka-topics jq yq ffmpeg
    convert pm2 supervisorctl tmux screen launchctl diskutil defaults reg sfc dism get-childitem remove-item
    """.split()
)
# Sub-commands. A program whose name is also an English word or a topic must be followed by one, or by an option.
SUB_COMMANDS = frozenset(
    """
    add am apply archive attach auth bisect blame branch build bundle bump cat check checkout cherry-pick clean clone
    commit compose config connect console container cordon cp create db delete deploy deployments describe destroy dev
    diff down drain drop edit env exec explain export expose fetch fmt force-unlock format gc generate get grep history
    image images import info init inspect install instances internal kill label link list lint log login logout logs ls
    merge migrate mv network new operator output pack patch plan port-forward prune publish pull push rebase reflog
    refresh release remote remove reset restart restore resume revert rm rmi rollback rollout run s3 scale secrets
    serve set show sites sites:delete start stash state status stop submodule switch sync tag taint test top uncordon
    undo uninstall unlink untaint up update upgrade validate version view volume watch workspace worktree audit ci
    dedupe outdated rebuild env:set env:list deploy:list functions flush flushall flushdb bulk-delete terminate
    """.split()
)
# Words after a command's name that show that somebody writes about it and does not run it.
PROSE = STOP_WORDS | frozenset(
    """
    fails failed failing fail error errors failure rejected denied slow slowly hangs hanging stuck timeout problem
    problems issue issues vs versus tutorial best practice practices explained example examples guide guides docs
    documentation meaning safe safely without after before using broken crash crashes wrong lost instead again lesson
    lessons every everything never always warning disaster mistake accidentally accident recovery checklist
    """.split()
)
MOST_ARGUMENTS = 2  # bare words after a sub-command, in a line without options, paths or shell operators


class Line(Record):
    """A command line in the form in which it is searched for."""

    text: str
    strong: tuple[str, ...]  # the program and its sub-commands, folded


def read_line(text: str) -> Line | None:
    """Parse a command line; return None if the text is not one."""
    bare = text.strip()
    if not bare or len(bare) > LONGEST or "\n" in bare.replace("\\\n", " "):
        return None
    prompted = bare.startswith(("$ ", "# ", "% ", "> "))
    words = bare.replace("\\\n", " ")[2 * prompted :].split()
    at = _program(words)
    if at is None or bare.endswith("?"):
        return None
    program, rest = words[at], words[at + 1 :]
    if not (prompted or at > 0 or _runs(rest)) or not _is_named(program, rest):
        return None
    strong = [_file_name(program), *_sub_commands(rest)]
    kept = [_file_name(program), *(word for word in cleaned(" ".join(rest)).split()[:MOST_WORDS] if not varies(word))]
    return Line(text=" ".join(kept), strong=tuple(dict.fromkeys(word.casefold() for word in strong)))


def _program(words: list[str]) -> int | None:
    """Return the position of the program, after `sudo` and environment settings."""
    for at, word in enumerate(words):
        known = _file_name(word).casefold() in PROGRAMS or word.startswith("./")
        if known and not (word in BEFORE and words[at + 1 :]):
            return at
        if word not in BEFORE and not ("=" in word and word.split("=")[0].isidentifier()):
            return None
    return None


def _file_name(program: str) -> str:
    return program.rpartition("/")[2]


def _runs(rest: list[str]) -> bool:
    """Return whether the words after a program's name look as if typed into a shell."""
    if any(word.casefold() in PROSE and not word.startswith("-") for word in rest[:1]):
        return False
    signs = sum(_is_sign(word) for word in rest)
    prose_words = sum(word.casefold().strip(".,!") in PROSE for word in rest)
    if signs:
        return prose_words <= 1 + signs
    begins = bool(rest) and rest[0].casefold() in SUB_COMMANDS
    return begins and not prose_words and len(rest) <= 1 + MOST_ARGUMENTS


def _is_sign(word: str) -> bool:
    option = word.startswith("-") and len(word) > 1 and not word[1:2].isspace() and word.strip("-") != ""
    placed = word.startswith(("/", "./", "../", "~/", "$", "s3://", "http://", "https://", "*.")) or word in (".", "..")
    return option or placed or word in MARKS or word.endswith(";") or ("=" in word and len(word) > 2)


def _is_named(program: str, rest: list[str]) -> bool:
    """Return whether a name means the program and not the English word: make, go, find, next, sort, watch."""
    english = program in ENGLISH
    return not english or any(_is_sign(word) for word in rest) or (bool(rest) and rest[0] in SUB_COMMANDS)


ENGLISH = frozenset(
    "make go find next sort watch time cut head tail top kill less screen service source reg kind".split()
)


def _sub_commands(rest: list[str]) -> list[str]:
    sub_commands = []
    for word in rest:
        if word.startswith("-"):
            break
        if word.casefold() not in SUB_COMMANDS:
            break
        sub_commands.append(word)
    return sub_commands
