"""What inline code of another language (`python -c`, `node -e`, a program on standard input) may do to files it names.

Nothing is executed and no grammar is known: quoted strings are the paths, and a few calls say what happens to them.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.shell.nodes import Command, unescape
from deia.watch.shell.prefixes import key_of
from deia.watch.shell.programs import CODE_OPTIONS
from deia.watch.silence.file_effects import CODED, GONE, WHOLE, Effect
from deia.watch.silence.protected_places import HOST_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
OWN_CALLS = ("write_mute", "grant(", "uninstall", "mute", "allow", "trust", "switch_path")


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
    """Return whether code imports deia and calls what silences it."""
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
