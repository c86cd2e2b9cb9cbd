"""What one shell command does to files, by its words: deletions, copies, redirections, edits in place, inline code.

Of inline code of another language (`python -c`, `node -e`, a program on standard input) nothing is executed and no
grammar is known: quoted strings are the paths, and a few calls say what happens to them.
"""

from __future__ import annotations

from itertools import pairwise

from deia.records import TYPE_CHECKING
from deia.watch.shell.file_writes import CMDLETS, IN_PLACE, LAST, written_by
from deia.watch.shell.nodes import Command, options_end, unescape
from deia.watch.shell.programs import CODE_OPTIONS
from deia.watch.shell.runners import key_of
from deia.watch.silence.file_effects import ADDED, CODED, GONE, PART, SEALED, WHOLE, Effect, patched, printed
from deia.watch.silence.protected_places import HOST_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DELETERS = frozenset(
    "rm unlink rmdir shred trash trash-put srm rimraf del erase rd ri remove-item del-cli rmtree removedirs rmSync"
    " rmdirSync removeSync rm_rf rm_r remove_dir remove_entry_secure remove_tree wipe scrub".lower().split()
)
MOVERS = frozenset("mv move ren rename move-item rename-item mi rni".split())
COPIERS = frozenset((*LAST, "copy", "copy-item", "xcopy", "robocopy", "cpi")) - {"mv"}
EDITORS = frozenset("vim vi nvim ex ed nano emacs patch sponge".split())
SEALERS = frozenset("chmod chattr setfacl icacls chown chflags".split())
MAKERS = frozenset("mkdir touch md new-item ni".split())
EXTRACTORS = {"tar": ("-C", "--directory"), "bsdtar": ("-C", "--directory"), "unzip": ("-d",)}
SUBSTITUTED = frozenset("^$.*[")  # what makes a pattern of sed more than a plain text
QUOTES = frozenset("'\"`")
MOST_LITERALS = 400
READS = ("load", ".read", "readfile", "json.parse", "slurp", "read_text")
WRITES = (
    "write", "dump(", "'w'", '"w"', "'a'", '"a"', "'wb'", '"wb"', "touch(", "w+", "file_put_contents", "os.replace(",
    "appendfile", "mkdir", "copy(", "copyfile", "symlink",
)  # fmt: skip
DELETES = (
    "os.remove", "unlink", "os.rename", ".rename(", "renamesync", "shutil.move", "rmtree", "rmsync", "truncate",
    "rm_rf", "file.delete", "fs.rm(", "chmod",
)  # fmt: skip
DROPS = (
    "pop(", "del ", "delete ", "clear(", "filter", " if ", "= {}", "={}", "= []", "=[]", ": {}", "re.sub", ".sub(",
    "replace(", "true", "false",
)  # fmt: skip
HOOK_WORDS = ("hook", "deia", "plugin")
# How code of deia's own is called in the person's name.
OWN_CALLS = (
    "write_mute",
    "grant(",
    "uninstall",
    "mute",
    "allow",
    "trust",
    "switch_path",
    "change_team",
    "commands.user",
)
OF_PAGE = ("make_once", "serve.page", "commands.page", "commands import page")  # what signs in to the page


def command_effects(command: Command) -> Iterator[Effect]:
    """Yield what a command does to files."""
    program = command.program.lower().removesuffix(".exe")
    text = printed(program, command.arguments, command.stdin)
    for operator, target in command.redirects:
        if ">" in operator and target and not target.isdigit():
            yield Effect(path=target, kind=ADDED if ">>" in operator else WHOLE, new=text)
    words = [word for at, word in enumerate(command.arguments) if at not in command.data]
    handler = HANDLERS.get(program)
    if handler is not None:
        yield from handler(command, words)
    elif program in CMDLETS:
        yield from _cmdlet(program, command)
    else:
        redirected = {target for _, target in command.redirects}
        paths = (path for path in written_by(command) if path not in redirected)
        yield from (Effect(path=path, kind=WHOLE, new="" if program == "truncate" else None) for path in paths)


def _tee(command: Command, words: list[str]) -> Iterator[Effect]:
    kind = ADDED if {"-a", "--append"} & set(words) else WHOLE
    yield from (Effect(path=word, kind=kind, new=command.stdin or None) for word in _plain(words))


def _edited(command: Command, words: list[str]) -> Iterator[Effect]:
    """Yield what an editor does that is told what to do, and what a patch changes."""
    yield from patched(command.stdin)
    if command.stdin or command.program == "sponge" or any(word[:1] in {"-", "+"} for word in words):
        yield from (Effect(path=word, kind=WHOLE, new=None) for word in _plain(words))


def _extracted(command: Command, words: list[str]) -> Iterator[Effect]:
    """Yield the folder into which an archive is unpacked."""
    into = EXTRACTORS[command.program.lower()]
    yield from (Effect(path=path, kind=ADDED) for option, path in pairwise(words) if option in into)


def _plain(words: list[str]) -> list[str]:
    return [word for word in words if word[:1] != "-" and not (len(word) == 2 and word[0] == "/")]


def _git(command: Command, words: list[str]) -> Iterator[Effect]:
    """Yield what git takes out of the working tree, and what a patch that it is given changes."""
    at = options_end(words, 0, "-C -c --git-dir --work-tree --namespace")
    folder = words[words.index("-C") + 1] + "/" if "-C" in words[:at] and words.index("-C") + 1 < len(words) else ""
    name, rest = "".join(words[at : at + 1]), words[at + 1 :]
    plain = _plain(rest)
    if name in {"apply", "am"}:
        yield from patched(command.stdin)
    elif name == "rm" and "--cached" not in rest:
        yield from (Effect(path=folder + word, kind=GONE) for word in plain)
    elif name == "mv":
        yield from _moved([folder + word for word in plain], keeps=False)
    elif (name == "restore" and not ("--staged" in rest and "--worktree" not in rest)) or (
        name == "checkout" and (len(plain) > 1 or "--" in rest)
    ):
        yield from (Effect(path=folder + word, kind=WHOLE, new=None) for word in plain if word != ".")


def _moved(plain: list[str], *, keeps: bool) -> Iterator[Effect]:
    """Yield what a copy or a move does: the sources go, the target gets the text of a source."""
    sources, target = plain[:-1], "".join(plain[-1:])
    if not keeps:
        yield from (Effect(path=word, kind=GONE) for word in sources or plain)
    if not sources:
        return
    yield Effect(path=target, kind=WHOLE, new=None, source=sources[0])
    for source in sources:
        name = source.replace("\\", "/").rstrip("/").rpartition("/")[2]
        yield Effect(path=f"{target}/{name}", kind=WHOLE, new=None, source=source)


def _found(command: Command, _: list[str]) -> Iterator[Effect]:
    """Yield what `find` deletes, moves or writes: the folders that it looks in, narrowed by `-name`."""
    words = list(command.arguments)
    runs = [after for word, after in pairwise(words) if word in {"-exec", "-execdir", "-ok"}]
    if "-delete" not in words and not any(_changes(run, words) for run in runs):
        return
    end = next((at for at, word in enumerate(words) if word[:1] in "-(!"), len(words))
    names = [after for word, after in pairwise(words) if word in {"-name", "-iname"}]
    for folder in words[:end] or ["."]:
        yield from (Effect(path=f"{folder}/{name}", kind=GONE) for name in names)
        if not names:
            yield Effect(path=folder, kind=GONE)


def _changes(run: str, words: list[str]) -> bool:
    name = run.rpartition("/")[2]
    return name in DELETERS | MOVERS | SEALERS or name == "truncate" or (name in IN_PLACE and "-i" in words)


def _in_place(command: Command, _: list[str]) -> Iterator[Effect]:
    """Yield the edits of `sed -i`: plain substitutions with their texts, anything else as unknown."""
    words = list(command.arguments)
    paths = list(dict.fromkeys(written_by(command)))
    scripts = [word for word in words if word[:1] != "-" and word not in paths]
    halves = [pair for script in scripts for pair in _substitutions(script)]
    is_plain = bool(scripts) and command.program in {"sed", "gsed"} and len(halves) == sum(map(bool, scripts))
    for path in paths:
        if is_plain:
            yield from (Effect(path=path, kind=PART, old=old, new=new, every=True) for old, new in halves)
        else:
            yield Effect(path=path, kind=WHOLE, new=None, old="\n".join(scripts))


def _substitutions(script: str) -> Iterator[tuple[str, str]]:
    """Yield the two halves of `s/old/new/`, if the pattern is a plain text."""
    parts = script.replace("\\/", "\0").split(script[1]) if len(script) > 3 and script[0] == "s" else []
    if len(parts) != 4 or script[1].isalnum() or parts[3].strip("gI"):
        return
    plain = parts[1].replace("\\.", "").replace("\\[", "").replace("\\$", "").replace("\\*", "")
    if SUBSTITUTED.isdisjoint(plain) and "\\" not in plain:
        yield tuple(part.replace("\\n", "\n").replace("\\", "").replace("\0", "/") for part in parts[1:3])  # type: ignore[misc]


def _sealed(command: Command, words: list[str]) -> Iterator[Effect]:
    """Yield the files that can no longer be read or run."""
    mode = next((word for word in words if word[:1] != "-" or word[1:2] in set("rwxs")), "")
    if command.program.lower() == "chmod":
        numeric = mode.isdigit()
        harmless = mode[-3:-2] in set("4567") if numeric else "-" not in mode and "=" not in mode
        if harmless:
            return
    yield from (Effect(path=word, kind=SEALED) for word in _plain(words) if word != mode)


def _cmdlet(program: str, command: Command) -> Iterator[Effect]:
    """Yield what a cmdlet of PowerShell does to the files it names."""
    words = list(command.arguments)
    low = [word.lower() for word in words]
    value = words[low.index("-value") + 1] if "-value" in low[:-1] else command.stdin or None
    kind = GONE if program in {"remove-item", "rename-item"} else ADDED if program == "add-content" else WHOLE
    new = "" if program == "clear-content" else value
    yield from (Effect(path=path, kind=kind, new=new) for path in written_by(command))


def harmless_filter(words: Sequence[str]) -> bool:
    """Return whether a program of jq or yq adds or sets something and leaves hooks alone."""
    filters = [word for word in words if word[:1] == "." and "=" in word]
    text = " ".join(words).lower().replace("|=", "=")
    drops = ("hook", "plugin", "del(", "delpaths", "entries", "deia", "empty", "|", ".env")
    return bool(filters) and not any(word in text for word in drops)


HANDLERS: dict[str, Callable[[Command, list[str]], Iterator[Effect]]] = {
    **dict.fromkeys(DELETERS, lambda _, words: (Effect(path=word, kind=GONE) for word in _plain(words))),
    **dict.fromkeys(MOVERS, lambda _, words: _moved(_plain(words), keeps=False)),
    **dict.fromkeys(COPIERS, lambda _, words: _moved(_plain(words), keeps=True)),
    **dict.fromkeys(IN_PLACE, _in_place),
    **dict.fromkeys(EDITORS, _edited),
    **dict.fromkeys(SEALERS, _sealed),
    **dict.fromkeys(MAKERS, lambda _, words: (Effect(path=word, kind=ADDED, new="") for word in _plain(words))),
    **dict.fromkeys(EXTRACTORS, _extracted),
    "git": _git,
    "find": _found,
    "tee": _tee,
    "apply_patch": lambda command, _: patched("\n".join((command.stdin, *command.arguments))),
}


def code_of(command: Command) -> str:
    """Return the code that an interpreter is given on its command line or standard input, or ""."""
    key = key_of(command.program)
    if key not in CODE_OPTIONS or any(word in {"-m", "--version"} for word in command.arguments[:1]):
        return ""
    return "\n".join((*(word for word in command.arguments if word[:1] != "-"), command.stdin))


def code_effects(code: str) -> Iterator[Effect]:
    """Yield what code may do to each path that it names."""
    texts = literals(code)
    for path in dict.fromkeys((*texts, *_joined(texts))):
        effect = _effect(code, path, texts) if path and len(path) < 400 and "\n" not in path else None
        if effect is not None:
            yield effect


def calls_deia(code: str) -> bool:
    """Return whether code imports deia and calls what silences it, or signs in to its page in any way."""
    if "deia" in code and "import" in code and any(name in code for name in OF_PAGE):
        return True
    return ("from deia" in code or "import deia" in code) and any(name in code for name in OWN_CALLS)


def literals(code: str) -> list[str]:
    """Return the quoted strings of a piece of code."""
    result: list[str] = []
    at = 0
    while at < len(code) and len(result) < MOST_LITERALS:
        quote = code[at]
        at += 1
        if quote in QUOTES:
            end = code.find(quote, at)
            while end > 0 and code[end - 1] == "\\":
                end = code.find(quote, end + 1)
            if end < 0:
                break
            result.append(unescape(code[at:end]))
            at = end + 1
    return result


def _joined(texts: Sequence[str]) -> Iterator[str]:
    """Yield the settings files whose names a piece of code joins from strings: `home / ".claude" / "settings.json"`."""
    names = {name.lower() for text in texts for name in text.replace("\\", "/").split("/")}
    for ending in HOST_FILES:
        if "*" not in ending and names.issuperset(ending.lower().split("/")):
            yield f"$code/{ending}"


def _effect(code: str, path: str, texts: Sequence[str]) -> Effect | None:
    """Return what code may do to a path, or None if it only reads."""
    # Code that loads a file, changes something and writes it back is taken for an edit that leaves the hooks alone, if
    # it neither names them nor takes anything out.
    low = code.lower()
    if any(word in low for word in DELETES):
        return Effect(path=path, kind=GONE)
    if not any(word in low for word in WRITES):
        return None
    loads = any(word in low for word in READS)
    drops = any(word in low for word in HOOK_WORDS) and any(word in low for word in DROPS)
    text = "\n".join(text for text in texts if text != path)
    return Effect(path=path, kind=CODED, new=text) if loads and not drops else Effect(path=path, kind=WHOLE, new=text)
