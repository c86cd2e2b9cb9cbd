"""What the watcher knows about the command lines of common programs. Nothing is decided here.

The tables are in `programs.txt`, which says what each is for. Options stay one string, as people write them, because
only those of the programs that occur in a command are ever split.
"""

from __future__ import annotations

from deia.tables import Tables

TABLES = Tables(__file__)
# Programs that run other programs.
PREFIXES = TABLES.pairs("prefixes")
GLOBALS = TABLES.pairs("sub-command prefixes")
RUNNERS = TABLES.pairs("runners")
ONE_WORD_FIRST = frozenset(TABLES.phrases("one word first"))
SAME_AS = TABLES.pairs("same as")
OWN = TABLES.lists("own commands")
SHORT_NAMES = TABLES.lists("short names")
NESTED = frozenset(("docker compose", "uv tool", "git bisect"))
FETCHERS = TABLES.pairs("fetchers")
VERSIONED = frozenset(("npx", "bunx", "pnpx", "uvx", "pnpm dlx", "yarn dlx", "npm exec", "bun x", "pipx run"))
SCRIPT_OPTIONS = TABLES.pairs("script options")
VALUE_OPTIONS = TABLES.pairs("value options")
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash", "$SHELL", "${SHELL}"))
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"))
EDITORS = frozenset(("vi", "vim", "nvim", "view", "vimdiff", "gvim", "ex"))
LINES = TABLES.pairs("lines")
# Wrappers that are not listed themselves if what they run is found; every other wrapper is listed too.
TRANSPARENT = SHELLS.union(PREFIXES, TABLES.words("transparent"))
CODE_OPTIONS = TABLES.pairs("code options")
CODE_LETTERS = TABLES.pairs("code letters")
AWKS = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk"))

# Arguments that are only text.
TEXT_PROGRAMS = TABLES.words("text programs")
PATTERN_PROGRAMS = TABLES.pairs("pattern programs")
PATTERN_OPTIONS = TABLES.pairs("pattern options")
PATTERN_TEXTS = TABLES.pairs("pattern texts")
TEXT_OPTIONS = TABLES.pairs("text options")
